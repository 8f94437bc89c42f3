package gather

import (
	"cmp"
	"context"
	"net/netip"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/snapshot"
)

// Filters describes what lets packets pass or not.
type Filters interface {
	DescribeSecurityGroups(context.Context, *ec2.DescribeSecurityGroupsInput, ...func(*ec2.Options)) (*ec2.DescribeSecurityGroupsOutput, error)
	DescribeNetworkAcls(context.Context, *ec2.DescribeNetworkAclsInput, ...func(*ec2.Options)) (*ec2.DescribeNetworkAclsOutput, error)
}

func (r *Reader) readSecurityGroups(ctx context.Context, vpcs []string) ([]snapshot.SecurityGroup, error) {
	p := ec2.NewDescribeSecurityGroupsPaginator(r.filters, &ec2.DescribeSecurityGroupsInput{Filters: anyOf("vpc-id", vpcs)})
	return pages(ctx, "security groups", p.HasMorePages, p.NextPage, func(out *ec2.DescribeSecurityGroupsOutput) []snapshot.SecurityGroup {
		return each(out.SecurityGroups, securityGroup)
	})
}

func (r *Reader) readNetworkACLs(ctx context.Context, vpcs []string) ([]snapshot.NetworkACL, error) {
	p := ec2.NewDescribeNetworkAclsPaginator(r.filters, &ec2.DescribeNetworkAclsInput{Filters: anyOf("vpc-id", vpcs)})
	return pages(ctx, "network acls", p.HasMorePages, p.NextPage, func(out *ec2.DescribeNetworkAclsOutput) []snapshot.NetworkACL {
		return each(out.NetworkAcls, networkACL)
	})
}

func securityGroup(g types.SecurityGroup) snapshot.SecurityGroup {
	return snapshot.SecurityGroup{
		ID:      aws.ToString(g.GroupId),
		VPC:     aws.ToString(g.VpcId),
		Name:    aws.ToString(g.GroupName),
		Ingress: each(g.IpPermissions, rule),
		Egress:  each(g.IpPermissionsEgress, rule),
		Tags:    tags(g.Tags),
	}
}

func rule(p types.IpPermission) snapshot.Rule {
	out := snapshot.Rule{Protocol: aws.ToString(p.IpProtocol), From: -1, To: -1}
	// EC2 leaves the ports out where the rule is about all of them.
	if p.FromPort != nil {
		out.From = int(*p.FromPort)
	}
	if p.ToPort != nil {
		out.To = int(*p.ToPort)
	}
	for _, r := range p.IpRanges {
		out.CIDRs = appendValid(out.CIDRs, prefix(r.CidrIp))
	}
	for _, r := range p.Ipv6Ranges {
		out.CIDRs = appendValid(out.CIDRs, prefix(r.CidrIpv6))
	}
	for _, l := range p.PrefixListIds {
		out.PrefixLists = append(out.PrefixLists, aws.ToString(l.PrefixListId))
	}
	for _, g := range p.UserIdGroupPairs {
		out.Groups = append(out.Groups, aws.ToString(g.GroupId))
	}
	return out
}

func appendValid(list []netip.Prefix, p netip.Prefix) []netip.Prefix {
	if !p.IsValid() {
		return list
	}
	return append(list, p)
}

func networkACL(a types.NetworkAcl) snapshot.NetworkACL {
	out := snapshot.NetworkACL{
		ID:      aws.ToString(a.NetworkAclId),
		VPC:     aws.ToString(a.VpcId),
		Default: aws.ToBool(a.IsDefault),
		Entries: each(a.Entries, aclEntry),
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
		CIDR:     prefix(e.CidrBlock),
	}
	if !out.CIDR.IsValid() {
		out.CIDR = prefix(e.Ipv6CidrBlock)
	}
	if r := e.PortRange; r != nil && r.From != nil && r.To != nil {
		out.From, out.To = int(*r.From), int(*r.To)
	}
	return out
}
