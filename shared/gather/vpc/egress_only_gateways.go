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

// egressOnlyGateways are all of the region's: the call has no filter by VPC.
func egressOnlyGateways(api ec2.DescribeEgressOnlyInternetGatewaysAPIClient) source.Source {
	return source.Source{
		Name:  snapshot.EgressOnly,
		Calls: []source.Call{{Action: "ec2:DescribeEgressOnlyInternetGateways"}},
		Read: source.List(func(ctx context.Context, v *source.View) ([]snapshot.EgressOnlyGateway, error) {
			return readEgressOnly(ctx, api)
		}, func(x snapshot.EgressOnlyGateway) string { return x.ID }, func(s *snapshot.Snapshot) *[]snapshot.EgressOnlyGateway { return &s.EgressOnly }),
	}
}

func readEgressOnly(ctx context.Context, api ec2.DescribeEgressOnlyInternetGatewaysAPIClient) ([]snapshot.EgressOnlyGateway, error) {
	p := ec2.NewDescribeEgressOnlyInternetGatewaysPaginator(api, &ec2.DescribeEgressOnlyInternetGatewaysInput{})
	return ec2api.Pages(ctx, "egress-only internet gateways", p.HasMorePages, p.NextPage, func(out *ec2.DescribeEgressOnlyInternetGatewaysOutput) []snapshot.EgressOnlyGateway {
		return source.Each(out.EgressOnlyInternetGateways, egressOnly)
	})
}

func egressOnly(g types.EgressOnlyInternetGateway) snapshot.EgressOnlyGateway {
	return snapshot.EgressOnlyGateway{ID: aws.ToString(g.EgressOnlyInternetGatewayId), Attached: internetGateway(types.InternetGateway{Attachments: g.Attachments}).Attached}
}
