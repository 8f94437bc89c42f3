package ec2

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/gather/ec2api"
	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// CapacityReservations describes capacity reservations and capacity blocks.
type CapacityReservations interface {
	DescribeCapacityReservations(context.Context, *ec2.DescribeCapacityReservationsInput, ...func(*ec2.Options)) (*ec2.DescribeCapacityReservationsOutput, error)
}

// capacityReservations are those that launch templates name.
func capacityReservations(api CapacityReservations) source.Source {
	return source.Source{
		Name:  snapshot.CapacityReservations,
		Needs: []snapshot.Source{snapshot.LaunchTemplates},
		Calls: []source.Call{{Action: "ec2:DescribeCapacityReservations"}},
		Read: func(ctx context.Context, v *source.View) (source.Store, error) {
			if !v.Snapshot.Has(snapshot.LaunchTemplates) {
				return nil, v.Unread(snapshot.LaunchTemplates)
			}
			return readReservations(ctx, api, v.Snapshot.LaunchTemplates)
		},
	}
}

// readReservations asks by ids: there is no filter for them (EC2 API reference,
// DescribeCapacityReservations, "Filter.N"). EC2 refuses the whole request for one that is
// there no more (InvalidCapacityReservationId.NotFound), and describes those that are over,
// for some time: of several each is asked for by itself then.
func readReservations(ctx context.Context, api CapacityReservations, templates []snapshot.LaunchTemplate) (source.Store, error) {
	var ids []string
	for _, t := range templates {
		if strings.HasPrefix(t.Reservation, "cr-") { // else a parameter, or none
			ids = append(ids, t.Reservation)
		}
	}
	ids = source.Distinct(ids)
	if len(ids) == 0 {
		return func(*snapshot.Snapshot) {}, nil
	}
	list, err := reservations(ctx, api, ids)
	if source.Gone(err) {
		list = nil
		for _, id := range ids {
			one, err := reservations(ctx, api, []string{id})
			if err != nil && !source.Gone(err) {
				return nil, err
			}
			list = append(list, one...)
		}
	} else if err != nil {
		return nil, err
	}
	list = source.Unique(list, func(r snapshot.CapacityReservation) string { return r.ID })
	return func(s *snapshot.Snapshot) { s.CapacityReservations = list }, nil
}

func reservations(ctx context.Context, api CapacityReservations, ids []string) ([]snapshot.CapacityReservation, error) {
	p := ec2.NewDescribeCapacityReservationsPaginator(api, &ec2.DescribeCapacityReservationsInput{CapacityReservationIds: ids})
	return ec2api.Pages(ctx, "capacity reservations", p.HasMorePages, p.NextPage, func(out *ec2.DescribeCapacityReservationsOutput) []snapshot.CapacityReservation {
		return source.Each(out.CapacityReservations, capacityReservation)
	})
}

func capacityReservation(r types.CapacityReservation) snapshot.CapacityReservation {
	return snapshot.CapacityReservation{
		ID: aws.ToString(r.CapacityReservationId), State: string(r.State), Type: aws.ToString(r.InstanceType), Zone: aws.ToString(r.AvailabilityZone),
		Total: int(aws.ToInt32(r.TotalInstanceCount)), Free: int(aws.ToInt32(r.AvailableInstanceCount)), Block: r.ReservationType == types.CapacityReservationTypeCapacityBlock,
		Start: aws.ToTime(r.StartDate), End: aws.ToTime(r.EndDate),
	}
}

// Placements describes placement groups.
type Placements interface {
	DescribePlacementGroups(context.Context, *ec2.DescribePlacementGroupsInput, ...func(*ec2.Options)) (*ec2.DescribePlacementGroupsOutput, error)
}

// placementGroups are all of the region, where a group or a launch template names one.
// The call has no pages, and no filter for ids (API reference); an account has at most
// 500.
func placementGroups(api Placements) source.Source {
	return source.Source{
		Name:  snapshot.PlacementGroups,
		Needs: []snapshot.Source{snapshot.Groups, snapshot.LaunchTemplates},
		Calls: []source.Call{{Action: "ec2:DescribePlacementGroups"}},
		Read: source.List(func(ctx context.Context, v *source.View) ([]snapshot.PlacementGroup, error) {
			s := v.Snapshot
			if !slices.ContainsFunc(s.Groups, func(g snapshot.Group) bool { return g.PlacementGroup != "" }) &&
				!slices.ContainsFunc(s.LaunchTemplates, func(t snapshot.LaunchTemplate) bool { return t.PlacementGroup != "" }) {
				return nil, nil
			}
			out, err := api.DescribePlacementGroups(ctx, &ec2.DescribePlacementGroupsInput{})
			if err != nil {
				return nil, fmt.Errorf("describe placement groups: %w", err)
			}
			return source.Each(out.PlacementGroups, func(p types.PlacementGroup) snapshot.PlacementGroup {
				return snapshot.PlacementGroup{
					ID: aws.ToString(p.GroupId), Name: aws.ToString(p.GroupName), Strategy: string(p.Strategy), State: string(p.State), Level: string(p.SpreadLevel),
					Partitions: int(aws.ToInt32(p.PartitionCount)),
				}
			}), nil
		}, func(p snapshot.PlacementGroup) string { return p.ID }, func(s *snapshot.Snapshot) *[]snapshot.PlacementGroup { return &s.PlacementGroups }),
	}
}
