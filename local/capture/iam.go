package capture

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
)

// lastPart is the name at the end of an ARN or a path.
func lastPart(arn string) string { return arn[strings.LastIndex(arn, "/")+1:] }

// GetInstanceProfile answers with a profile and its roles.
func (a API) GetInstanceProfile(in *iam.GetInstanceProfileInput) (*iam.GetInstanceProfileOutput, error) {
	out, err := read[iam.GetInstanceProfileOutput](a.c, "iam-get-instance-profile", aws.ToString(in.InstanceProfileName))
	if err != nil || out.InstanceProfile == nil {
		return out, err
	}
	profile := *out.InstanceProfile
	profile.Roles = nil
	for _, r := range out.InstanceProfile.Roles {
		r.AssumeRolePolicyDocument = urlEncoded(r.AssumeRolePolicyDocument)
		profile.Roles = append(profile.Roles, r)
	}
	return &iam.GetInstanceProfileOutput{InstanceProfile: &profile}, nil
}

// GetRole answers with a role.
func (a API) GetRole(in *iam.GetRoleInput) (*iam.GetRoleOutput, error) {
	out, err := read[iam.GetRoleOutput](a.c, "iam-get-role", aws.ToString(in.RoleName))
	if err != nil || out.Role == nil {
		return out, err
	}
	role := *out.Role
	role.AssumeRolePolicyDocument = urlEncoded(role.AssumeRolePolicyDocument)
	return &iam.GetRoleOutput{Role: &role}, nil
}

// ListAttachedRolePolicies answers with the managed policies of a role.
func (a API) ListAttachedRolePolicies(in *iam.ListAttachedRolePoliciesInput) (*iam.ListAttachedRolePoliciesOutput, error) {
	return read[iam.ListAttachedRolePoliciesOutput](a.c, "iam-list-attached-role-policies", aws.ToString(in.RoleName))
}

// ListRolePolicies answers with the names of a role's inline policies.
func (a API) ListRolePolicies(in *iam.ListRolePoliciesInput) (*iam.ListRolePoliciesOutput, error) {
	return read[iam.ListRolePoliciesOutput](a.c, "iam-list-role-policies", aws.ToString(in.RoleName))
}

// GetRolePolicy answers with an inline policy.
func (a API) GetRolePolicy(in *iam.GetRolePolicyInput) (*iam.GetRolePolicyOutput, error) {
	all, err := read[iam.GetRolePolicyOutput](a.c, "iam-get-role-policy", aws.ToString(in.RoleName), aws.ToString(in.PolicyName))
	if err != nil {
		return nil, err
	}
	out := *all
	out.RoleName, out.PolicyName = in.RoleName, in.PolicyName
	out.PolicyDocument = urlEncoded(out.PolicyDocument)
	return &out, nil
}

// GetPolicy is made from the file of the policy's default version: a capture
// has no file of its own for it.
func (a API) GetPolicy(in *iam.GetPolicyInput) (*iam.GetPolicyOutput, error) {
	name := lastPart(aws.ToString(in.PolicyArn))
	out, err := read[iam.GetPolicyVersionOutput](a.c, "iam-get-policy-version", name)
	if err != nil {
		return nil, err
	}
	p := &iamtypes.Policy{Arn: in.PolicyArn, PolicyName: &name, IsAttachable: true, DefaultVersionId: aws.String("v1")}
	if v := out.PolicyVersion; v != nil && v.VersionId != nil {
		p.DefaultVersionId = v.VersionId
	}
	return &iam.GetPolicyOutput{Policy: p}, nil
}

// GetPolicyVersion answers with the default version of a policy.
func (a API) GetPolicyVersion(in *iam.GetPolicyVersionInput) (*iam.GetPolicyVersionOutput, error) {
	out, err := read[iam.GetPolicyVersionOutput](a.c, "iam-get-policy-version", lastPart(aws.ToString(in.PolicyArn)))
	if err != nil || out.PolicyVersion == nil {
		return out, err
	}
	v := *out.PolicyVersion
	v.Document = urlEncoded(v.Document)
	return &iam.GetPolicyVersionOutput{PolicyVersion: &v}, nil
}
