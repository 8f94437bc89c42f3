package world

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/ids"
	"rollcall/local/simaws/table"
	"rollcall/local/simaws/worldfile"
)

// zoneFault is what is wrong with a zone now, nil where nothing is.
func (w *World) zoneFault(zone string) *worldfile.ZoneFault {
	for i := range w.file.EC2.ZoneFaults {
		f := &w.file.EC2.ZoneFaults[i]
		from := w.start.Add(f.From)
		if f.Zone == zone && !w.now.Before(from) && (f.For == 0 || w.now.Before(from.Add(f.For))) {
			return f
		}
	}
	return nil
}

// refusedByZone is why a zone takes no launch, nil where it does.
func (w *World) refusedByZone(zone, instanceType string) error {
	f := w.zoneFault(zone)
	if f == nil || f.Launches == "" {
		return nil
	}
	if f.Launches == "InsufficientInstanceCapacity" {
		return wire.Errorf(f.Launches, "We currently do not have sufficient %s capacity in the Availability Zone you requested (%s). Our system will be working on provisioning additional capacity.", instanceType, zone)
	}
	return wire.Errorf(f.Launches, "Your requested launch in the Availability Zone %s cannot be fulfilled at the moment.", zone)
}

// zones are those in which the world has subnets, and those that the file lists.
func (w *World) zones() *table.Table[ec2types.AvailabilityZone] {
	zones := table.New[ec2types.AvailabilityZone]()
	add := func(name, id *string) {
		if zones.Get(aws.ToString(name)) != nil {
			return
		}
		z := &ec2types.AvailabilityZone{
			ZoneName: deepcopy.Of(name), ZoneId: deepcopy.Of(id), RegionName: aws.String(w.region),
			State: ec2types.AvailabilityZoneStateAvailable, OptInStatus: ec2types.AvailabilityZoneOptInStatusOptInNotRequired,
			GroupName: aws.String(w.region + "-zg-1"), NetworkBorderGroup: aws.String(w.region), ZoneType: aws.String("availability-zone"),
			Messages: []ec2types.AvailabilityZoneMessage{},
		}
		if f := w.zoneFault(aws.ToString(name)); f != nil {
			if f.State != "" {
				z.State = ec2types.AvailabilityZoneState(f.State)
			}
			for _, text := range f.Messages {
				z.Messages = append(z.Messages, ec2types.AvailabilityZoneMessage{Message: aws.String(text)})
			}
		}
		zones.Put(aws.ToString(name), z)
	}
	for _, sub := range w.subnets.All() {
		add(sub.AvailabilityZone, sub.AvailabilityZoneId)
	}
	for _, name := range w.file.EC2.Zones {
		add(aws.String(name), aws.String(ids.ZoneID(name)))
	}
	return zones
}

// DescribeAvailabilityZones lists the region's zones with their state.
func (s EC2) DescribeAvailabilityZones(in *ec2.DescribeAvailabilityZonesInput) (*ec2.DescribeAvailabilityZonesOutput, error) {
	defer s.w.enter()()
	want := slices.Clone(in.Filters)
	if len(in.ZoneIds) > 0 {
		want = append(want, ec2types.Filter{Name: aws.String("zone-id"), Values: in.ZoneIds})
	}
	list, _, err := table.Selection[ec2types.AvailabilityZone]{
		Table: s.w.zones(), ID: func(v *ec2types.AvailabilityZone) *string { return v.ZoneName }, IDs: in.ZoneNames,
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
