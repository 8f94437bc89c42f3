package vpc

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/gather/ec2api"
	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// internetGateways are all of the region's: one that a route leads to may be
// detached, and then no filter by VPC finds it.
func internetGateways(api ec2.DescribeInternetGatewaysAPIClient) source.Source {
	return source.Source{
		Name:  snapshot.InternetGateways,
		Calls: []source.Call{{Action: "ec2:DescribeInternetGateways"}},
		Read: source.List(func(ctx context.Context, v *source.View) ([]snapshot.InternetGateway, error) {
			return readInternetGateways(ctx, api)
		}, func(x snapshot.InternetGateway) string { return x.ID }, func(s *snapshot.Snapshot) *[]snapshot.InternetGateway { return &s.InternetGateways }),
	}
}

func readInternetGateways(ctx context.Context, api ec2.DescribeInternetGatewaysAPIClient) ([]snapshot.InternetGateway, error) {
	p := ec2.NewDescribeInternetGatewaysPaginator(api, &ec2.DescribeInternetGatewaysInput{})
	return ec2api.Pages(ctx, "internet gateways", p.HasMorePages, p.NextPage, func(out *ec2.DescribeInternetGatewaysOutput) []snapshot.InternetGateway {
		return source.Each(out.InternetGateways, internetGateway)
	})
}

func internetGateway(g types.InternetGateway) snapshot.InternetGateway {
	out := snapshot.InternetGateway{ID: aws.ToString(g.InternetGatewayId)}
	for _, a := range g.Attachments {
		// EC2 answers "available" for attached internet gateways, though the
		// enum documents only "attached".
		switch a.State {
		case types.AttachmentStatusAttaching, types.AttachmentStatusDetaching, types.AttachmentStatusDetached:
		default:
			// "available", or nothing known: what lists the VPC is not accused of
			// being off it.
			out.Attached = append(out.Attached, aws.ToString(a.VpcId))
		}
	}
	slices.Sort(out.Attached)
	return out
}
