package ec2

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/ids"
	"rollcall/local/simaws/lifecycle"
	"rollcall/local/simaws/state"
	"rollcall/local/simaws/table"
)

// zones are those in which the world has subnets, and those that the file lists.
func zones(w *state.State) *table.Table[ec2types.AvailabilityZone] {
	zones := table.New[ec2types.AvailabilityZone]()
	add := func(name, id *string) {
		if zones.Get(aws.ToString(name)) != nil {
			return
		}
		z := &ec2types.AvailabilityZone{
			ZoneName: deepcopy.Of(name), ZoneId: deepcopy.Of(id), RegionName: aws.String(w.Region),
			State: ec2types.AvailabilityZoneStateAvailable, OptInStatus: ec2types.AvailabilityZoneOptInStatusOptInNotRequired,
			GroupName: aws.String(w.Region + "-zg-1"), NetworkBorderGroup: aws.String(w.Region), ZoneType: aws.String("availability-zone"),
			Messages: []ec2types.AvailabilityZoneMessage{},
		}
		if f := lifecycle.ZoneFault(w, aws.ToString(name)); f != nil {
			if f.State != "" {
				z.State = ec2types.AvailabilityZoneState(f.State)
			}
			for _, text := range f.Messages {
				z.Messages = append(z.Messages, ec2types.AvailabilityZoneMessage{Message: aws.String(text)})
			}
		}
		zones.Put(aws.ToString(name), z)
	}
	for _, sub := range w.Subnets.All() {
		add(sub.AvailabilityZone, sub.AvailabilityZoneId)
	}
	for _, name := range w.File.EC2.Zones {
		add(aws.String(name), aws.String(ids.ZoneID(name)))
	}
	return zones
}

// DescribeAvailabilityZones lists the region's zones with their state.
func (s API) DescribeAvailabilityZones(in *ec2.DescribeAvailabilityZonesInput) (*ec2.DescribeAvailabilityZonesOutput, error) {
	defer s.w.Enter()()
	want := slices.Clone(in.Filters)
	if len(in.ZoneIds) > 0 {
		want = append(want, ec2types.Filter{Name: aws.String("zone-id"), Values: in.ZoneIds})
	}
	list, _, err := table.Selection[ec2types.AvailabilityZone]{
		Table: zones(s.w), ID: func(v *ec2types.AvailabilityZone) *string { return v.ZoneName }, IDs: in.ZoneNames,
		Missing: func(ids []string) *wire.Error {
			return wire.Errorf("InvalidParameterValue", "Invalid availability zone: [%s]", ids[0])
		},
		Filters: want,
		Known: table.Filters[ec2types.AvailabilityZone]{
			"zone-id":       func(v *ec2types.AvailabilityZone) []string { return table.One(v.ZoneId) },
			"zone-name":     func(v *ec2types.AvailabilityZone) []string { return table.One(v.ZoneName) },
			"region-name":   func(v *ec2types.AvailabilityZone) []string { return table.One(v.RegionName) },
			"group-name":    func(v *ec2types.AvailabilityZone) []string { return table.One(v.GroupName) },
			"opt-in-status": func(v *ec2types.AvailabilityZone) []string { return []string{string(v.OptInStatus)} },
			"state":         func(v *ec2types.AvailabilityZone) []string { return []string{string(v.State)} },
			"zone-type":     func(v *ec2types.AvailabilityZone) []string { return table.One(v.ZoneType) },
			"message": func(v *ec2types.AvailabilityZone) []string {
				return table.Each(v.Messages, func(m ec2types.AvailabilityZoneMessage) *string { return m.Message })
			},
		},
	}.Run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeAvailabilityZonesOutput{AvailabilityZones: deepcopy.Each(list)}, nil
}
