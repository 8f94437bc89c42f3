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

// securityGroups are those of the VPCs.
func securityGroups(api ec2.DescribeSecurityGroupsAPIClient) source.Source {
	return source.Source{
		Name:  snapshot.SecurityGroups,
		Calls: []source.Call{{Action: "ec2:DescribeSecurityGroups"}},
		Read: source.List(func(ctx context.Context, v *source.View) ([]snapshot.SecurityGroup, error) {
			return readSecurityGroups(ctx, api, v.VPCs)
		}, func(x snapshot.SecurityGroup) string { return x.ID }, func(s *snapshot.Snapshot) *[]snapshot.SecurityGroup { return &s.SecurityGroups }),
	}
}

func readSecurityGroups(ctx context.Context, api ec2.DescribeSecurityGroupsAPIClient, vpcs []string) ([]snapshot.SecurityGroup, error) {
	p := ec2.NewDescribeSecurityGroupsPaginator(api, &ec2.DescribeSecurityGroupsInput{Filters: ec2api.AnyOf("vpc-id", vpcs)})
	return ec2api.Pages(ctx, "security groups", p.HasMorePages, p.NextPage, func(out *ec2.DescribeSecurityGroupsOutput) []snapshot.SecurityGroup {
		return source.Each(out.SecurityGroups, securityGroup)
	})
}

func securityGroup(g types.SecurityGroup) snapshot.SecurityGroup {
	return snapshot.SecurityGroup{
		ID:      aws.ToString(g.GroupId),
		VPC:     aws.ToString(g.VpcId),
		Name:    aws.ToString(g.GroupName),
		Ingress: source.Each(g.IpPermissions, rule),
		Egress:  source.Each(g.IpPermissionsEgress, rule),
		Tags:    ec2api.Tags(g.Tags),
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
		out.CIDRs = ec2api.AppendValid(out.CIDRs, source.Prefix(r.CidrIp))
	}
	for _, r := range p.Ipv6Ranges {
		out.CIDRs = ec2api.AppendValid(out.CIDRs, source.Prefix(r.CidrIpv6))
	}
	for _, l := range p.PrefixListIds {
		out.PrefixLists = append(out.PrefixLists, aws.ToString(l.PrefixListId))
	}
	for _, g := range p.UserIdGroupPairs {
		out.Groups = append(out.Groups, aws.ToString(g.GroupId))
	}
	return out
}
