package ec2

import (
	"context"
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
