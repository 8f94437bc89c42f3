// Package iam is the account's IAM API: one method for each operation, and the
// policies that AWS manages.
package iam

import (
	"net/url"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/state"
	"rollcall/local/simaws/table"
	"rollcall/local/simaws/worldfile"
)

// API is the world's IAM API, one method for each operation.
type API struct{ w *state.State }

// New is the IAM API of an account.
func New(w *state.State) API { return API{w} }

// iamPage is the page without a size.
const iamPage = 100

func errNoEntity(format string, args ...any) *wire.Error {
	e := wire.Errorf("NoSuchEntity", format, args...)
	e.Status = 404
	return e
}

func role(w *state.State, name *string) (*worldfile.RoleFile, error) {
	if r := w.Roles.Get(aws.ToString(name)); r != nil {
		return r, nil
	}
	return nil, errNoEntity("The role with name %s cannot be found.", aws.ToString(name))
}

// GetRole shows a role.
func (s API) GetRole(in *iam.GetRoleInput) (*iam.GetRoleOutput, error) {
	defer s.w.Enter()()
	r, err := role(s.w, in.RoleName)
	if err != nil {
		return nil, err
	}
	return &iam.GetRoleOutput{Role: deepcopy.Of(&r.Role)}, nil
}

// GetInstanceProfile shows an instance profile with its role.
func (s API) GetInstanceProfile(in *iam.GetInstanceProfileInput) (*iam.GetInstanceProfileOutput, error) {
	defer s.w.Enter()()
	p := s.w.Profiles.Get(aws.ToString(in.InstanceProfileName))
	if p == nil {
		return nil, errNoEntity("Instance Profile %s cannot be found.", aws.ToString(in.InstanceProfileName))
	}
	return &iam.GetInstanceProfileOutput{InstanceProfile: deepcopy.Of(p)}, nil
}

// iamPageOf is one page, IAM's way: a marker and whether more follow.
func iamPageOf[T any](list []*T, id func(*T) *string, size *int32, marker *string) ([]*T, bool, *string, error) {
	n := int32(iamPage)
	if size != nil {
		n = *size
	}
	if n < 1 || n > 1000 {
		return nil, false, nil, wire.Errorf("ValidationError", "1 validation error detected: Value '%d' at 'maxItems' failed to satisfy constraint: Member must have value between 1 and 1000", n)
	}
	list, next, err := table.Page(list, id, marker, int(n), func() *wire.Error { return wire.Errorf("ValidationError", "Invalid Marker.") })
	return list, next != nil, next, err
}

// ListAttachedRolePolicies lists a role's managed policies.
func (s API) ListAttachedRolePolicies(in *iam.ListAttachedRolePoliciesInput) (*iam.ListAttachedRolePoliciesOutput, error) {
	defer s.w.Enter()()
	r, err := role(s.w, in.RoleName)
	if err != nil {
		return nil, err
	}
	rows := make([]*iamtypes.AttachedPolicy, len(r.AttachedManagedPolicies))
	for i := range rows {
		rows[i] = &r.AttachedManagedPolicies[i]
	}
	rows, more, marker, err := iamPageOf(rows, func(p *iamtypes.AttachedPolicy) *string { return p.PolicyArn }, in.MaxItems, in.Marker)
	if err != nil {
		return nil, err
	}
	return &iam.ListAttachedRolePoliciesOutput{AttachedPolicies: deepcopy.Each(rows), IsTruncated: more, Marker: marker}, nil
}

// ListRolePolicies lists the names of a role's inline policies.
func (s API) ListRolePolicies(in *iam.ListRolePoliciesInput) (*iam.ListRolePoliciesOutput, error) {
	defer s.w.Enter()()
	r, err := role(s.w, in.RoleName)
	if err != nil {
		return nil, err
	}
	rows := make([]*string, len(r.RolePolicyList))
	for i := range rows {
		rows[i] = new(aws.ToString(r.RolePolicyList[i].PolicyName))
	}
	rows, more, marker, err := iamPageOf(rows, func(p *string) *string { return p }, in.MaxItems, in.Marker)
	if err != nil {
		return nil, err
	}
	return &iam.ListRolePoliciesOutput{PolicyNames: deepcopy.Each(rows), IsTruncated: more, Marker: marker}, nil
}

// GetRolePolicy shows an inline policy.
func (s API) GetRolePolicy(in *iam.GetRolePolicyInput) (*iam.GetRolePolicyOutput, error) {
	defer s.w.Enter()()
	r, err := role(s.w, in.RoleName)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(r.RolePolicyList, func(p iamtypes.PolicyDetail) bool { return aws.ToString(p.PolicyName) == aws.ToString(in.PolicyName) })
	if i < 0 {
		return nil, errNoEntity("The role policy with name %s cannot be found.", aws.ToString(in.PolicyName))
	}
	return &iam.GetRolePolicyOutput{RoleName: in.RoleName, PolicyName: in.PolicyName, PolicyDocument: deepcopy.Of(r.RolePolicyList[i].PolicyDocument)}, nil
}

func Policy(w *state.State, arn *string) (*iamtypes.ManagedPolicyDetail, error) {
	if p := w.Policies.Get(aws.ToString(arn)); p != nil {
		return p, nil
	}
	if p := managedPolicy(aws.ToString(arn)); p != nil {
		return p, nil
	}
	return nil, errNoEntity("Policy %s does not exist or is not attachable.", aws.ToString(arn))
}

// Document is the text of a managed policy that is in force; false where there is
// no such policy.
func Document(w *state.State, arn *string) (string, bool) {
	p, err := Policy(w, arn)
	if err != nil {
		return "", false
	}
	for _, v := range p.PolicyVersionList {
		if v.IsDefaultVersion {
			return Plain(v.Document), true
		}
	}
	return "", false
}

// Plain is a document as it was written: IAM's API carries it URL-encoded.
func Plain(text *string) string {
	if plain, err := url.PathUnescape(aws.ToString(text)); err == nil {
		return plain
	}
	return aws.ToString(text)
}

// GetPolicy shows a managed policy.
func (s API) GetPolicy(in *iam.GetPolicyInput) (*iam.GetPolicyOutput, error) {
	defer s.w.Enter()()
	p, err := Policy(s.w, in.PolicyArn)
	if err != nil {
		return nil, err
	}
	return &iam.GetPolicyOutput{Policy: deepcopy.Of(&iamtypes.Policy{
		Arn: p.Arn, AttachmentCount: p.AttachmentCount, CreateDate: p.CreateDate, DefaultVersionId: p.DefaultVersionId, Description: p.Description,
		IsAttachable: p.IsAttachable, Path: p.Path, PermissionsBoundaryUsageCount: p.PermissionsBoundaryUsageCount, PolicyId: p.PolicyId,
		PolicyName: p.PolicyName, UpdateDate: p.UpdateDate,
	})}, nil
}

// GetPolicyVersion shows a version of a managed policy.
func (s API) GetPolicyVersion(in *iam.GetPolicyVersionInput) (*iam.GetPolicyVersionOutput, error) {
	defer s.w.Enter()()
	p, err := Policy(s.w, in.PolicyArn)
	if err != nil {
		return nil, err
	}
	for _, v := range p.PolicyVersionList {
		if aws.ToString(v.VersionId) == aws.ToString(in.VersionId) {
			return &iam.GetPolicyVersionOutput{PolicyVersion: deepcopy.Of(&v)}, nil
		}
	}
	return nil, errNoEntity("Policy %s version %s does not exist or is not attachable.", aws.ToString(in.PolicyArn), aws.ToString(in.VersionId))
}
