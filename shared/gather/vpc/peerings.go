package vpc

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/gather/ec2api"
	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// peerings are the peering connections that routes lead to.
func peerings(api ec2.DescribeVpcPeeringConnectionsAPIClient) source.Source {
	return source.Source{
		Name:  snapshot.Peerings,
		Needs: []snapshot.Source{snapshot.RouteTables},
		After: []snapshot.Source{
			snapshot.TransitGateways, // whose far route tables lead to some too
		},
		Calls: []source.Call{{Action: "ec2:DescribeVpcPeeringConnections"}},
		Read: source.Through(api, readPeerings),
	}
}

func readPeerings(ctx context.Context, api ec2.DescribeVpcPeeringConnectionsAPIClient, v *source.View) (source.Store, error) {
	if !v.Snapshot.Has(snapshot.RouteTables) {
		return nil, v.Unread(snapshot.RouteTables)
	}
	ids := targets(v.Snapshot, snapshot.ToPeering)
	if len(ids) == 0 {
		return source.Nothing, nil
	}
	p := ec2.NewDescribeVpcPeeringConnectionsPaginator(api, &ec2.DescribeVpcPeeringConnectionsInput{Filters: ec2api.AnyOf("vpc-peering-connection-id", ids)})
	list, err := ec2api.Pages(ctx, "vpc peering connections", p.HasMorePages, p.NextPage, func(out *ec2.DescribeVpcPeeringConnectionsOutput) []snapshot.Peering {
		return source.Each(out.VpcPeeringConnections, peering)
	})
	return source.Keep(list, err, func(x snapshot.Peering) string { return x.ID }, func(s *snapshot.Snapshot) *[]snapshot.Peering { return &s.Peerings })
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
		out.CIDRs = ec2api.AppendValid(out.CIDRs, source.Prefix(b.CidrBlock))
	}
	if p := source.Prefix(v.CidrBlock); len(out.CIDRs) == 0 {
		out.CIDRs = ec2api.AppendValid(out.CIDRs, p)
	}
	for _, b := range v.Ipv6CidrBlockSet {
		out.CIDRs = ec2api.AppendValid(out.CIDRs, source.Prefix(b.Ipv6CidrBlock))
	}
	return out
}
