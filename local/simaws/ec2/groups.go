package ec2

import (
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/state"
	"rollcall/local/simaws/table"
)

// DescribeSecurityGroups lists security groups.
func (s API) DescribeSecurityGroups(in *ec2.DescribeSecurityGroupsInput) (*ec2.DescribeSecurityGroupsOutput, error) {
	defer s.w.Enter()()
	want := slices.Clone(in.Filters)
	if len(in.GroupNames) > 0 {
		want = append(want, ec2types.Filter{Name: aws.String("group-name"), Values: in.GroupNames})
	}
	list, next, err := table.Selection[ec2types.SecurityGroup]{
		Table: s.w.SecurityGroups, ID: func(v *ec2types.SecurityGroup) *string { return v.GroupId }, IDs: in.GroupIds,
		Missing: notFound("InvalidGroup.NotFound", "security group"), Filters: want,
		Known: table.Filters[ec2types.SecurityGroup]{
			"group-id":    func(v *ec2types.SecurityGroup) []string { return table.One(v.GroupId) },
			"group-name":  func(v *ec2types.SecurityGroup) []string { return table.One(v.GroupName) },
			"vpc-id":      func(v *ec2types.SecurityGroup) []string { return table.One(v.VpcId) },
			"owner-id":    func(v *ec2types.SecurityGroup) []string { return table.One(v.OwnerId) },
			"description": func(v *ec2types.SecurityGroup) []string { return table.One(v.Description) },
			"ip-permission.cidr": func(v *ec2types.SecurityGroup) []string {
				var out []string
				for _, p := range v.IpPermissions {
					out = append(out, table.Each(p.IpRanges, func(r ec2types.IpRange) *string { return r.CidrIp })...)
				}
				return out
			},
			"ip-permission.group-id": func(v *ec2types.SecurityGroup) []string {
				var out []string
				for _, p := range v.IpPermissions {
					out = append(out, table.Each(p.UserIdGroupPairs, func(u ec2types.UserIdGroupPair) *string { return u.GroupId })...)
				}
				return out
			},
		},
		Tags: func(v *ec2types.SecurityGroup) []ec2types.Tag { return v.Tags },
		Size: in.MaxResults, Token: in.NextToken, Min: ec2MinPage, Max: ec2MaxPage,
	}.Run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeSecurityGroupsOutput{SecurityGroups: deepcopy.Each(list), NextToken: next}, nil
}

func securityGroup(w *state.State, id *string) (*ec2types.SecurityGroup, error) {
	if g := w.SecurityGroups.Get(aws.ToString(id)); g != nil {
		return g, nil
	}
	return nil, notFound("InvalidGroup.NotFound", "security group")([]string{aws.ToString(id)})
}

// AuthorizeSecurityGroupIngress lets traffic in.
func (s API) AuthorizeSecurityGroupIngress(in *ec2.AuthorizeSecurityGroupIngressInput) (*ec2.AuthorizeSecurityGroupIngressOutput, error) {
	defer s.w.Enter()()
	g, err := securityGroup(s.w, in.GroupId)
	if err != nil {
		return nil, err
	}
	rules := in.IpPermissions
	if len(rules) == 0 {
		rules = flatRule(in.IpProtocol, in.FromPort, in.ToPort, in.CidrIp)
	}
	if err := authorize(s.w, g, &g.IpPermissions, rules, in.DryRun); err != nil {
		return nil, err
	}
	return &ec2.AuthorizeSecurityGroupIngressOutput{Return: aws.Bool(true)}, nil
}

// AuthorizeSecurityGroupEgress lets traffic out.
func (s API) AuthorizeSecurityGroupEgress(in *ec2.AuthorizeSecurityGroupEgressInput) (*ec2.AuthorizeSecurityGroupEgressOutput, error) {
	defer s.w.Enter()()
	g, err := securityGroup(s.w, in.GroupId)
	if err != nil {
		return nil, err
	}
	rules := in.IpPermissions
	if len(rules) == 0 {
		rules = flatRule(in.IpProtocol, in.FromPort, in.ToPort, in.CidrIp)
	}
	if err := authorize(s.w, g, &g.IpPermissionsEgress, rules, in.DryRun); err != nil {
		return nil, err
	}
	return &ec2.AuthorizeSecurityGroupEgressOutput{Return: aws.Bool(true)}, nil
}

// RevokeSecurityGroupIngress takes rules for traffic in away.
func (s API) RevokeSecurityGroupIngress(in *ec2.RevokeSecurityGroupIngressInput) (*ec2.RevokeSecurityGroupIngressOutput, error) {
	defer s.w.Enter()()
	g, err := securityGroup(s.w, in.GroupId)
	if err != nil {
		return nil, err
	}
	rules := in.IpPermissions
	if len(rules) == 0 {
		rules = flatRule(in.IpProtocol, in.FromPort, in.ToPort, in.CidrIp)
	}
	if err := revoke(&g.IpPermissions, rules, in.DryRun); err != nil {
		return nil, err
	}
	return &ec2.RevokeSecurityGroupIngressOutput{Return: aws.Bool(true)}, nil
}

// RevokeSecurityGroupEgress takes rules for traffic out away.
func (s API) RevokeSecurityGroupEgress(in *ec2.RevokeSecurityGroupEgressInput) (*ec2.RevokeSecurityGroupEgressOutput, error) {
	defer s.w.Enter()()
	g, err := securityGroup(s.w, in.GroupId)
	if err != nil {
		return nil, err
	}
	rules := in.IpPermissions
	if len(rules) == 0 {
		rules = flatRule(in.IpProtocol, in.FromPort, in.ToPort, in.CidrIp)
	}
	if err := revoke(&g.IpPermissionsEgress, rules, in.DryRun); err != nil {
		return nil, err
	}
	return &ec2.RevokeSecurityGroupEgressOutput{Return: aws.Bool(true)}, nil
}

// flatRule is a rule given by single parameters.
func flatRule(protocol *string, from, to *int32, cidr *string) []ec2types.IpPermission {
	if protocol == nil {
		return nil
	}
	p := ec2types.IpPermission{IpProtocol: protocol, FromPort: from, ToPort: to}
	if cidr != nil {
		p.IpRanges = []ec2types.IpRange{{CidrIp: cidr}}
	}
	return []ec2types.IpPermission{p}
}

// split makes rules of one peer each, which is how EC2 compares them.
func split(list []ec2types.IpPermission) []ec2types.IpPermission {
	var out []ec2types.IpPermission
	for _, p := range list {
		base := ec2types.IpPermission{IpProtocol: p.IpProtocol, FromPort: p.FromPort, ToPort: p.ToPort}
		for _, r := range p.IpRanges {
			one := deepcopy.Of(base)
			one.IpRanges = []ec2types.IpRange{deepcopy.Of(r)}
			out = append(out, one)
		}
		for _, r := range p.Ipv6Ranges {
			one := deepcopy.Of(base)
			one.Ipv6Ranges = []ec2types.Ipv6Range{deepcopy.Of(r)}
			out = append(out, one)
		}
		for _, r := range p.PrefixListIds {
			one := deepcopy.Of(base)
			one.PrefixListIds = []ec2types.PrefixListId{deepcopy.Of(r)}
			out = append(out, one)
		}
		for _, r := range p.UserIdGroupPairs {
			one := deepcopy.Of(base)
			one.UserIdGroupPairs = []ec2types.UserIdGroupPair{deepcopy.Of(r)}
			out = append(out, one)
		}
	}
	return out
}

// peer is what a rule of one peer is compared by.
func peer(p ec2types.IpPermission) [4]string {
	key := [4]string{aws.ToString(p.IpProtocol), strconv.Itoa(int(aws.ToInt32(p.FromPort))), strconv.Itoa(int(aws.ToInt32(p.ToPort)))}
	if key[0] == "-1" {
		key[1], key[2] = "", ""
	}
	switch {
	case len(p.IpRanges) > 0:
		key[3] = aws.ToString(p.IpRanges[0].CidrIp)
	case len(p.Ipv6Ranges) > 0:
		key[3] = aws.ToString(p.Ipv6Ranges[0].CidrIpv6)
	case len(p.PrefixListIds) > 0:
		key[3] = aws.ToString(p.PrefixListIds[0].PrefixListId)
	case len(p.UserIdGroupPairs) > 0:
		key[3] = aws.ToString(p.UserIdGroupPairs[0].GroupId)
	}
	return key
}

func revoke(have *[]ec2types.IpPermission, gone []ec2types.IpPermission, dry *bool) error {
	known := split(*have)
	for _, p := range split(gone) {
		i := slices.IndexFunc(known, func(k ec2types.IpPermission) bool { return peer(k) == peer(p) })
		if i < 0 {
			return wire.Errorf("InvalidPermission.NotFound", "The specified rule does not exist in this security group.")
		}
		known = slices.Delete(known, i, i+1)
	}
	if err := dryRun(dry); err != nil {
		return err
	}
	*have = known
	return nil
}
