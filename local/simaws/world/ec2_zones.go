package world

import (
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/wire"
)

// ZoneFault is a time in which a zone is not well.
type ZoneFault struct {
	Zone string
	// State is what DescribeAvailabilityZones says: impaired, unavailable or
	// information; empty leaves it available.
	State string
	// Messages are its messages.
	Messages []string
	// Launches, if any, is the code that launches in the zone fail with, such as
	// InsufficientInstanceCapacity.
	Launches string
	// From and For bound it in stage time since the start; a zero For has no end.
	From time.Duration
	For  time.Duration
}

// zoneFault is what is wrong with a zone now, nil where nothing is.
func (w *World) zoneFault(zone string) *ZoneFault {
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
func (w *World) zones() *table[ec2types.AvailabilityZone] {
	zones := newTable[ec2types.AvailabilityZone]()
	add := func(name, id *string) {
		if zones.get(aws.ToString(name)) != nil {
			return
		}
		z := &ec2types.AvailabilityZone{
			ZoneName: clone(name), ZoneId: clone(id), RegionName: aws.String(w.region),
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
		zones.put(aws.ToString(name), z)
	}
	for _, sub := range w.subnets.all() {
		add(sub.AvailabilityZone, sub.AvailabilityZoneId)
	}
	for _, name := range w.file.EC2.Zones {
		add(aws.String(name), aws.String(zoneID(name)))
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
	list, _, err := selection[ec2types.AvailabilityZone]{
		table: s.w.zones(), id: func(v *ec2types.AvailabilityZone) *string { return v.ZoneName }, ids: in.ZoneNames,
		missing: func(ids []string) *wire.Error {
			return wire.Errorf("InvalidParameterValue", "Invalid availability zone: [%s]", ids[0])
		},
		filters: want,
		known: filters[ec2types.AvailabilityZone]{
			"zone-id":       func(v *ec2types.AvailabilityZone) []string { return one(v.ZoneId) },
			"zone-name":     func(v *ec2types.AvailabilityZone) []string { return one(v.ZoneName) },
			"region-name":   func(v *ec2types.AvailabilityZone) []string { return one(v.RegionName) },
			"group-name":    func(v *ec2types.AvailabilityZone) []string { return one(v.GroupName) },
			"opt-in-status": func(v *ec2types.AvailabilityZone) []string { return []string{string(v.OptInStatus)} },
			"state":         func(v *ec2types.AvailabilityZone) []string { return []string{string(v.State)} },
			"zone-type":     func(v *ec2types.AvailabilityZone) []string { return one(v.ZoneType) },
			"message": func(v *ec2types.AvailabilityZone) []string {
				return each(v.Messages, func(m ec2types.AvailabilityZoneMessage) *string { return m.Message })
			},
		},
	}.run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeAvailabilityZonesOutput{AvailabilityZones: clones(list)}, nil
}
