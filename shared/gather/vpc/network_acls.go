package vpc

import (
	"cmp"
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/gather/ec2api"
	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// networkACLs are those of the VPCs.
func networkACLs(api ec2.DescribeNetworkAclsAPIClient) source.Source {
	return source.Source{
		Name:  snapshot.NetworkACLs,
		Calls: []source.Call{{Action: "ec2:DescribeNetworkAcls"}},
		Read: source.List(func(ctx context.Context, v *source.View) ([]snapshot.NetworkACL, error) {
			return readNetworkACLs(ctx, api, v.VPCs)
		}, func(x snapshot.NetworkACL) string { return x.ID }, func(s *snapshot.Snapshot) *[]snapshot.NetworkACL { return &s.NetworkACLs }),
	}
}

func readNetworkACLs(ctx context.Context, api ec2.DescribeNetworkAclsAPIClient, vpcs []string) ([]snapshot.NetworkACL, error) {
	p := ec2.NewDescribeNetworkAclsPaginator(api, &ec2.DescribeNetworkAclsInput{Filters: ec2api.AnyOf("vpc-id", vpcs)})
	return ec2api.Pages(ctx, "network acls", p.HasMorePages, p.NextPage, func(out *ec2.DescribeNetworkAclsOutput) []snapshot.NetworkACL {
		return source.Each(out.NetworkAcls, networkACL)
	})
}

func networkACL(a types.NetworkAcl) snapshot.NetworkACL {
	out := snapshot.NetworkACL{
		ID:      aws.ToString(a.NetworkAclId),
		VPC:     aws.ToString(a.VpcId),
		Default: aws.ToBool(a.IsDefault),
		Entries: source.Each(a.Entries, aclEntry),
	}
	for _, s := range a.Associations {
		if id := aws.ToString(s.SubnetId); id != "" {
			out.Subnets = append(out.Subnets, id)
		}
	}
	slices.Sort(out.Subnets)
	slices.SortStableFunc(out.Entries, func(a, b snapshot.ACLEntry) int {
		if a.Egress != b.Egress {
			if a.Egress {
				return 1
			}
			return -1
		}
		return cmp.Compare(a.Number, b.Number)
	})
	return out
}

func aclEntry(e types.NetworkAclEntry) snapshot.ACLEntry {
	out := snapshot.ACLEntry{
		Number:   int(aws.ToInt32(e.RuleNumber)),
		Egress:   aws.ToBool(e.Egress),
		Allow:    e.RuleAction == types.RuleActionAllow,
		Protocol: aws.ToString(e.Protocol),
		To:       65535, // a rule without a range is about all ports
		CIDR:     source.Prefix(e.CidrBlock),
	}
	if !out.CIDR.IsValid() {
		out.CIDR = source.Prefix(e.Ipv6CidrBlock)
	}
	if r := e.PortRange; r != nil && r.From != nil && r.To != nil {
		out.From, out.To = int(*r.From), int(*r.To)
	}
	return out
}
