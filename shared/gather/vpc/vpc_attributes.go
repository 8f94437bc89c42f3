package vpc

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// Attributes describes the attributes of a VPC.
type Attributes interface {
	DescribeVpcAttribute(context.Context, *ec2.DescribeVpcAttributeInput, ...func(*ec2.Options)) (*ec2.DescribeVpcAttributeOutput, error)
}

// vpcAttributes are the switches of the VPCs' DNS.
func vpcAttributes(api Attributes) source.Source {
	return source.Source{
		Name: snapshot.VPCDNS,
		Calls: []source.Call{
			{Action: "ec2:DescribeVpcAttribute", Resources: []string{"arn:${Partition}:ec2:${Region}:*:vpc/*"}}, // a shared VPC bears its owner's account
		},
		Read: source.List(func(ctx context.Context, v *source.View) ([]snapshot.VPCAttributes, error) {
			return readVPCDNS(ctx, api, v.VPCs)
		}, func(x snapshot.VPCAttributes) string { return x.VPC }, func(s *snapshot.Snapshot) *[]snapshot.VPCAttributes { return &s.VPCAttributes }),
	}
}

func readVPCDNS(ctx context.Context, api Attributes, vpcs []string) ([]snapshot.VPCAttributes, error) {
	var list []snapshot.VPCAttributes
	for _, vpc := range vpcs {
		a, err := readDNS(ctx, api, vpc)
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}

// readDNS asks for one switch at a time: the call gives no more.
func readDNS(ctx context.Context, api Attributes, vpc string) (snapshot.VPCAttributes, error) {
	out := snapshot.VPCAttributes{VPC: vpc}
	for _, name := range []types.VpcAttributeName{types.VpcAttributeNameEnableDnsSupport, types.VpcAttributeNameEnableDnsHostnames} {
		got, err := api.DescribeVpcAttribute(ctx, &ec2.DescribeVpcAttributeInput{VpcId: aws.String(vpc), Attribute: name})
		if err != nil {
			return out, fmt.Errorf("describe %s of %s: %w", name, vpc, err)
		}
		value := got.EnableDnsSupport
		if name == types.VpcAttributeNameEnableDnsHostnames {
			value = got.EnableDnsHostnames
		}
		if value == nil || value.Value == nil {
			return out, fmt.Errorf("describe %s of %s: the answer does not hold it", name, vpc)
		}
		if name == types.VpcAttributeNameEnableDnsHostnames {
			out.DNSHostnames = *value.Value
		} else {
			out.DNSSupport = *value.Value
		}
	}
	return out, nil
}
