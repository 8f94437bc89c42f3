package gather

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/snapshot"
)

// Peerings describes VPC peering connections.
type Peerings interface {
	DescribeVpcPeeringConnections(context.Context, *ec2.DescribeVpcPeeringConnectionsInput, ...func(*ec2.Options)) (*ec2.DescribeVpcPeeringConnectionsOutput, error)
}

// beyond reads how further VPCs route, of the sources that were read of the
// cluster's own. What cannot be read is noted by VPC: the cluster's own
// network is known all the same.
func (l *look) beyond(ctx context.Context, vpcs []string) store {
	var (
		subnets []snapshot.Subnet
		tables  []snapshot.RouteTable
		nats    []snapshot.NATGateway
		acls    []snapshot.NetworkACL
		lacks   = map[snapshot.Source]map[string]snapshot.Failure{}
	)
	for _, vpc := range vpcs {
		add := func(source snapshot.Source, err error) {
			if err != nil {
				if lacks[source] == nil {
					lacks[source] = map[string]snapshot.Failure{}
				}
				lacks[source][vpc] = *failure(source, call(source), err)
			}
		}
		if l.s.Has(snapshot.Subnets) {
			list, err := l.r.readSubnets(ctx, []string{vpc})
			add(snapshot.Subnets, err)
			subnets = append(subnets, list...)
		}
		list, err := l.r.readRouteTables(ctx, []string{vpc})
		add(snapshot.RouteTables, err)
		tables = append(tables, list...)
		if l.s.Has(snapshot.NATGateways) {
			list, err := l.r.readNATGateways(ctx, []string{vpc})
			add(snapshot.NATGateways, err)
			nats = append(nats, list...)
		}
		if l.s.Has(snapshot.NetworkACLs) {
			list, err := l.r.readNetworkACLs(ctx, []string{vpc})
			add(snapshot.NetworkACLs, err)
			acls = append(acls, list...)
		}
	}
	return func(s *snapshot.Snapshot) {
		s.Subnets = unique(append(s.Subnets, subnets...), func(x snapshot.Subnet) string { return x.ID })
		s.RouteTables = unique(append(s.RouteTables, tables...), func(x snapshot.RouteTable) string { return x.ID })
		s.NATGateways = unique(append(s.NATGateways, nats...), func(x snapshot.NATGateway) string { return x.ID })
		s.NetworkACLs = unique(append(s.NetworkACLs, acls...), func(x snapshot.NetworkACL) string { return x.ID })
		for source, list := range lacks {
			lackAll(s, source, list)
		}
	}
}

// peerings reads the peering connections that routes lead to.
func (l *look) peerings(ctx context.Context) (store, error) {
	if !l.s.Has(snapshot.RouteTables) {
		return nil, unread(snapshot.RouteTables)
	}
	ids := targets(l.s, snapshot.ToPeering)
	if len(ids) == 0 {
		return func(*snapshot.Snapshot) {}, nil
	}
	p := ec2.NewDescribeVpcPeeringConnectionsPaginator(l.r.peerings, &ec2.DescribeVpcPeeringConnectionsInput{Filters: anyOf("vpc-peering-connection-id", ids)})
	list, err := pages(ctx, "vpc peering connections", p.HasMorePages, p.NextPage, func(out *ec2.DescribeVpcPeeringConnectionsOutput) []snapshot.Peering {
		return each(out.VpcPeeringConnections, peering)
	})
	return keep(list, err, func(x snapshot.Peering) string { return x.ID }, func(s *snapshot.Snapshot) *[]snapshot.Peering { return &s.Peerings })
}

func peering(c types.VpcPeeringConnection) snapshot.Peering {
	out := snapshot.Peering{ID: aws.ToString(c.VpcPeeringConnectionId), Requester: peerVPC(c.RequesterVpcInfo), Accepter: peerVPC(c.AccepterVpcInfo)}
	if c.Status != nil {
		out.State = string(c.Status.Code)
	}
	return out
}

func peerVPC(v *types.VpcPeeringConnectionVpcInfo) snapshot.PeerVPC {
	if v == nil {
		return snapshot.PeerVPC{}
	}
	out := snapshot.PeerVPC{VPC: aws.ToString(v.VpcId), Account: aws.ToString(v.OwnerId), Region: aws.ToString(v.Region)}
	for _, b := range v.CidrBlockSet {
		out.CIDRs = appendValid(out.CIDRs, prefix(b.CidrBlock))
	}
	if p := prefix(v.CidrBlock); len(out.CIDRs) == 0 {
		out.CIDRs = appendValid(out.CIDRs, p)
	}
	for _, b := range v.Ipv6CidrBlockSet {
		out.CIDRs = appendValid(out.CIDRs, prefix(b.Ipv6CidrBlock))
	}
	return out
}

// targets are the ids that routes of one kind lead to.
func targets(s *snapshot.Snapshot, kind snapshot.TargetKind) []string {
	var ids []string
	for _, t := range s.RouteTables {
		for _, r := range t.Routes {
			if r.Target.Kind == kind {
				ids = append(ids, r.Target.ID)
			}
		}
	}
	return distinct(ids)
}
