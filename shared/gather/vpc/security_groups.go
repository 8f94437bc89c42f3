package vpc

import (
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/gather/ec2api"
	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// securityGroups are those of the VPCs, and those of other VPCs that something here
// uses: a group can be associated with further VPCs of its Region (EC2 API,
// AssociateSecurityGroupVpc).
func securityGroups(api ec2.DescribeSecurityGroupsAPIClient) source.Source {
	return source.Source{
		Name:  snapshot.SecurityGroups,
		After: []snapshot.Source{snapshot.LaunchTemplates, snapshot.Endpoints, snapshot.EC2NodeClassesOf},
		Calls: []source.Call{{Action: "ec2:DescribeSecurityGroups"}},
		Read: source.List(func(ctx context.Context, v *source.View) ([]snapshot.SecurityGroup, error) {
			list, err := readSecurityGroups(ctx, api, "vpc-id", v.VPCs)
			other := otherGroups(v, list)
			if err != nil || len(other) == 0 {
				return list, err
			}
			more, err := readSecurityGroups(ctx, api, "group-id", other)
			return append(list, more...), err
		}, func(x snapshot.SecurityGroup) string { return x.ID }, func(s *snapshot.Snapshot) *[]snapshot.SecurityGroup { return &s.SecurityGroups }),
	}
}

// groupAssociations are the VPCs in which security groups of other VPCs may be used.
func groupAssociations(api ec2.DescribeSecurityGroupVpcAssociationsAPIClient) source.Source {
	return source.Source{
		Name:  snapshot.GroupAssociations,
		Needs: []snapshot.Source{snapshot.SecurityGroups},
		Calls: []source.Call{{Action: "ec2:DescribeSecurityGroupVpcAssociations"}},
		Read: func(ctx context.Context, v *source.View) (source.Store, error) {
			if !v.Snapshot.Has(snapshot.SecurityGroups) {
				return nil, v.Unread(snapshot.SecurityGroups)
			}
			var ids []string
			for _, g := range v.Snapshot.SecurityGroups {
				if !slices.Contains(v.VPCs, g.VPC) {
					ids = append(ids, g.ID)
				}
			}
			if len(ids) == 0 {
				return source.Nothing, nil
			}
			p := ec2.NewDescribeSecurityGroupVpcAssociationsPaginator(api, &ec2.DescribeSecurityGroupVpcAssociationsInput{Filters: ec2api.AnyOf("group-id", ids)})
			found, err := ec2api.Pages(ctx, "security group vpc associations", p.HasMorePages, p.NextPage, func(out *ec2.DescribeSecurityGroupVpcAssociationsOutput) []types.SecurityGroupVpcAssociation {
				return out.SecurityGroupVpcAssociations
			})
			return func(s *snapshot.Snapshot) {
				for i := range s.SecurityGroups {
					g := &s.SecurityGroups[i]
					g.Associated = map[string]string{}
					for _, a := range found {
						if aws.ToString(a.GroupId) == g.ID {
							g.Associated[aws.ToString(a.VpcId)] = string(a.State)
						}
					}
				}
			}, err
		},
	}
}

// otherGroups are the groups in use, or planned, that are not in the list.
func otherGroups(v *source.View, list []snapshot.SecurityGroup) []string {
	s := v.Snapshot
	ids := slices.Concat([]string{s.Cluster.SecurityGroup}, s.Cluster.SecurityGroups, v.SecurityGroups)
	for _, i := range s.Instances {
		ids = append(ids, i.Groups...)
	}
	for _, t := range s.LaunchTemplates {
		ids = append(ids, t.Groups...)
	}
	for _, c := range s.EC2NodeClasses {
		for _, t := range c.Groups {
			ids = append(ids, t.ID)
		}
	}
	for _, e := range s.Endpoints {
		ids = append(ids, e.Groups...)
	}
	ids = slices.DeleteFunc(source.Distinct(ids), func(id string) bool {
		return !strings.HasPrefix(id, "sg-") || slices.ContainsFunc(list, func(g snapshot.SecurityGroup) bool { return g.ID == id })
	})
	return ids[:min(len(ids), ec2api.MaxFilterValues)]
}

func readSecurityGroups(ctx context.Context, api ec2.DescribeSecurityGroupsAPIClient, filter string, values []string) ([]snapshot.SecurityGroup, error) {
	p := ec2.NewDescribeSecurityGroupsPaginator(api, &ec2.DescribeSecurityGroupsInput{Filters: ec2api.AnyOf(filter, values)})
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
