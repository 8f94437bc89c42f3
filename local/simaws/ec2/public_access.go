package ec2

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/table"
)

// DescribeVpcBlockPublicAccessOptions gives the account's mode in the Region.
func (s API) DescribeVpcBlockPublicAccessOptions(*ec2.DescribeVpcBlockPublicAccessOptionsInput) (*ec2.DescribeVpcBlockPublicAccessOptionsOutput, error) {
	defer s.w.Enter()()
	return &ec2.DescribeVpcBlockPublicAccessOptionsOutput{VpcBlockPublicAccessOptions: deepcopy.Of(s.w.File.EC2.VpcBlockPublicAccessOptions)}, nil
}

// DescribeVpcBlockPublicAccessExclusions lists what is exempt from it.
func (s API) DescribeVpcBlockPublicAccessExclusions(in *ec2.DescribeVpcBlockPublicAccessExclusionsInput) (*ec2.DescribeVpcBlockPublicAccessExclusionsOutput, error) {
	defer s.w.Enter()()
	all := table.New[ec2types.VpcBlockPublicAccessExclusion]()
	for i := range s.w.File.EC2.VpcBlockPublicAccessExclusions {
		e := &s.w.File.EC2.VpcBlockPublicAccessExclusions[i]
		all.Put(aws.ToString(e.ExclusionId), e)
	}
	list, next, err := table.Selection[ec2types.VpcBlockPublicAccessExclusion]{
		Table: all, ID: func(v *ec2types.VpcBlockPublicAccessExclusion) *string { return v.ExclusionId },
		Filters: in.Filters,
		Known: table.Filters[ec2types.VpcBlockPublicAccessExclusion]{
			"resource-arn": func(v *ec2types.VpcBlockPublicAccessExclusion) []string { return table.One(v.ResourceArn) },
			"state":        func(v *ec2types.VpcBlockPublicAccessExclusion) []string { return []string{string(v.State)} },
		},
		Tags: func(v *ec2types.VpcBlockPublicAccessExclusion) []ec2types.Tag { return v.Tags },
		Size: in.MaxResults, Token: in.NextToken, Min: ec2MinPage, Max: ec2MaxPage,
	}.Run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeVpcBlockPublicAccessExclusionsOutput{VpcBlockPublicAccessExclusions: deepcopy.Each(list), NextToken: next}, nil
}

// DescribeSecurityGroupVpcAssociations lists the further VPCs of security groups.
func (s API) DescribeSecurityGroupVpcAssociations(in *ec2.DescribeSecurityGroupVpcAssociationsInput) (*ec2.DescribeSecurityGroupVpcAssociationsOutput, error) {
	defer s.w.Enter()()
	all := table.New[ec2types.SecurityGroupVpcAssociation]()
	for i := range s.w.File.EC2.SecurityGroupVpcAssociations {
		a := &s.w.File.EC2.SecurityGroupVpcAssociations[i]
		all.Put(aws.ToString(a.GroupId)+" "+aws.ToString(a.VpcId), a)
	}
	list, next, err := table.Selection[ec2types.SecurityGroupVpcAssociation]{
		Table: all, ID: func(v *ec2types.SecurityGroupVpcAssociation) *string {
			return aws.String(aws.ToString(v.GroupId) + " " + aws.ToString(v.VpcId))
		},
		Filters: in.Filters,
		Known: table.Filters[ec2types.SecurityGroupVpcAssociation]{
			"group-id":       func(v *ec2types.SecurityGroupVpcAssociation) []string { return table.One(v.GroupId) },
			"group-owner-id": func(v *ec2types.SecurityGroupVpcAssociation) []string { return table.One(v.GroupOwnerId) },
			"state":          func(v *ec2types.SecurityGroupVpcAssociation) []string { return []string{string(v.State)} },
			"vpc-id":         func(v *ec2types.SecurityGroupVpcAssociation) []string { return table.One(v.VpcId) },
			"vpc-owner-id":   func(v *ec2types.SecurityGroupVpcAssociation) []string { return table.One(v.VpcOwnerId) },
		},
		Size: in.MaxResults, Token: in.NextToken, Min: ec2MinPage, Max: ec2MaxPage,
	}.Run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeSecurityGroupVpcAssociationsOutput{SecurityGroupVpcAssociations: deepcopy.Each(list), NextToken: next}, nil
}
