package vpc

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// vpcs are those to look into.
func vpcs(api ec2.DescribeVpcsAPIClient) source.Source {
	return source.Source{
		Name:  snapshot.VPCs,
		Calls: []source.Call{{Action: "ec2:DescribeVpcs"}},
		Read: source.List(func(ctx context.Context, v *source.View) ([]snapshot.VPC, error) {
			return readVPCs(ctx, api, v.VPCs)
		}, func(x snapshot.VPC) string { return x.ID }, func(s *snapshot.Snapshot) *[]snapshot.VPC { return &s.VPCs }),
	}
}

func readVPCs(ctx context.Context, api ec2.DescribeVpcsAPIClient, vpcs []string) ([]snapshot.VPC, error) {
	out, err := api.DescribeVpcs(ctx, &ec2.DescribeVpcsInput{VpcIds: vpcs})
	if err != nil {
		return nil, fmt.Errorf("describe vpcs: %w", err)
	}
	return source.Each(out.Vpcs, vpcOf), nil
}

// blockMode is the mode that EC2 reports of a VPC or subnet.
func blockMode(s *types.BlockPublicAccessStates) snapshot.BlockMode {
	if s == nil {
		return ""
	}
	return snapshot.BlockMode(s.InternetGatewayBlockMode)
}

func vpcOf(v types.Vpc) snapshot.VPC {
	out := snapshot.VPC{ID: aws.ToString(v.VpcId), DHCP: aws.ToString(v.DhcpOptionsId), Owner: aws.ToString(v.OwnerId), BlockMode: blockMode(v.BlockPublicAccessStates)}
	if e := v.EncryptionControl; e != nil {
		// Mode is what was asked for, and counts once the state is available (VPC user
		// guide, "Enforce VPC encryption in transit").
		out.Encrypts = e.Mode == types.VpcEncryptionControlModeEnforce && e.State == types.VpcEncryptionControlStateAvailable
	}
	for _, a := range v.CidrBlockAssociationSet {
		// A block that is being taken away still stands in the list.
		if a.CidrBlockState != nil && a.CidrBlockState.State != types.VpcCidrBlockStateCodeAssociated {
			continue
		}
		if p := source.Prefix(a.CidrBlock); p.IsValid() {
			out.CIDRs = append(out.CIDRs, p)
		}
	}
	if p := source.Prefix(v.CidrBlock); p.IsValid() && !slices.Contains(out.CIDRs, p) {
		out.CIDRs = append(out.CIDRs, p)
	}
	for _, a := range v.Ipv6CidrBlockAssociationSet {
		if a.Ipv6CidrBlockState != nil && a.Ipv6CidrBlockState.State != types.VpcCidrBlockStateCodeAssociated {
			continue
		}
		if p := source.Prefix(a.Ipv6CidrBlock); p.IsValid() {
			out.IPv6 = append(out.IPv6, p)
		}
	}
	return out
}
