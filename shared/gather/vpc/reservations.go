package vpc

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"golang.org/x/sync/errgroup"

	"rollcall/shared/gather/ec2api"
	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// Reservations lists the CIDR reservations of a subnet.
type Reservations interface {
	GetSubnetCidrReservations(context.Context, *ec2.GetSubnetCidrReservationsInput, ...func(*ec2.Options)) (*ec2.GetSubnetCidrReservationsOutput, error)
}

// reservations are the CIDR reservations of the subnets in which nodes may be
// launched, and of those of pods: a call for each.
func reservations(api Reservations) source.Source {
	return source.Source{
		Name:  snapshot.CIDRsKept,
		Needs: []snapshot.Source{snapshot.Subnets},
		After: []snapshot.Source{
			snapshot.ENIConfigsOf,    // which name subnets of pods
			snapshot.TransitGateways, // behind which are further subnets
		},
		Calls: []source.Call{{Action: "ec2:GetSubnetCidrReservations"}},
		Read: func(ctx context.Context, v *source.View) (source.Store, error) {
			return readReservations(ctx, api, v)
		},
	}
}

// roleCNI is the tag of subnets from which the VPC CNI may take addresses for
// pods beside the node's own (amazon-vpc-cni-k8s, subnet discovery).
const roleCNI = "kubernetes.io/role/cni"

func readReservations(ctx context.Context, api Reservations, v *source.View) (source.Store, error) {
	if !v.Snapshot.Has(snapshot.Subnets) {
		return nil, v.Unread(snapshot.Subnets)
	}
	subnets := addressed(v)
	lists := make([][]snapshot.Reservation, len(subnets))
	failures := make([]error, len(subnets))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(source.Parallel)
	for i, subnet := range subnets {
		g.Go(func() error {
			list, err := reservationsOf(gctx, api, subnet.ID)
			if err != nil && shared(v, subnet) {
				failures[i] = err // its owner may have them to itself
				return nil
			}
			lists[i] = list
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	list := source.Unique(slices.Concat(lists...), func(r snapshot.Reservation) string { return r.Subnet + " " + r.ID })
	return func(s *snapshot.Snapshot) {
		s.Reservations = list
		for i, err := range failures {
			if err != nil {
				s.Lack(snapshot.CIDRsKept, subnets[i].ID, *v.Source.Failure(err))
			}
		}
	}, nil
}

// addressed are the subnets whose addresses nodes and their pods take.
func addressed(v *source.View) []snapshot.Subnet {
	return slices.DeleteFunc(slices.Clone(v.Snapshot.Subnets), func(n snapshot.Subnet) bool {
		_, ofPods := n.Tags[roleCNI]
		ofConfig := slices.ContainsFunc(v.Snapshot.ENIConfigs, func(c snapshot.ENIConfig) bool { return c.Subnet == n.ID })
		return !n.CIDR.IsValid() || !ofPods && !ofConfig && !slices.Contains(v.Snapshot.Scope.Launchable, n.ID)
	})
}

// shared tells that a subnet is another account's: its ARN names the owner.
func shared(v *source.View, n snapshot.Subnet) bool {
	const account = 4
	parts := strings.Split(n.ARN, ":")
	return len(parts) > account && v.Snapshot.Account != "" && parts[account] != "" && parts[account] != v.Snapshot.Account
}

func reservationsOf(ctx context.Context, api Reservations, subnet string) ([]snapshot.Reservation, error) {
	var list []snapshot.Reservation
	input := &ec2.GetSubnetCidrReservationsInput{SubnetId: aws.String(subnet)}
	for {
		out, err := api.GetSubnetCidrReservations(ctx, input)
		if err != nil {
			return nil, fmt.Errorf("get the cidr reservations of %s: %w", subnet, err)
		}
		for _, v := range out.SubnetIpv4CidrReservations {
			if !source.Prefix(v.Cidr).IsValid() {
				return nil, fmt.Errorf("get the cidr reservations of %s: %w", subnet, source.ErrHalf)
			}
			list = append(list, reservation(subnet, v))
		}
		more, err := ec2api.TurnPage(&input.NextToken, out.NextToken)
		if err != nil {
			return nil, fmt.Errorf("get the cidr reservations of %s: %w", subnet, err)
		}
		if !more {
			return list, nil
		}
	}
}

// reservation takes a type that is not known for the one that gives nothing.
func reservation(subnet string, v types.SubnetCidrReservation) snapshot.Reservation {
	return snapshot.Reservation{
		ID: aws.ToString(v.SubnetCidrReservationId), Subnet: subnet, CIDR: source.Prefix(v.Cidr),
		Explicit: v.ReservationType != types.SubnetCidrReservationTypePrefix,
	}
}
