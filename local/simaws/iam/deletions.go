package iam

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/nodegroup"
	"rollcall/local/simaws/state"
)

func errDeleteConflict(format string, args ...any) *wire.Error {
	e := wire.Errorf("DeleteConflict", format, args...)
	e.Status = 409
	return e
}

// DetachRolePolicy takes a managed policy from a role.
func (s API) DetachRolePolicy(in *iam.DetachRolePolicyInput) (*iam.DetachRolePolicyOutput, error) {
	defer s.w.Enter()()
	r, err := role(s.w, in.RoleName)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(r.AttachedManagedPolicies, func(p iamtypes.AttachedPolicy) bool {
		return aws.ToString(p.PolicyArn) == aws.ToString(in.PolicyArn)
	})
	if i < 0 {
		return nil, errNoEntity("Policy %s was not found.", aws.ToString(in.PolicyArn))
	}
	r.AttachedManagedPolicies = slices.Delete(r.AttachedManagedPolicies, i, i+1)
	return &iam.DetachRolePolicyOutput{}, nil
}

// DeleteRole takes a role away that has no policies and is in no profile.
func (s API) DeleteRole(in *iam.DeleteRoleInput) (*iam.DeleteRoleOutput, error) {
	defer s.w.Enter()()
	r, err := role(s.w, in.RoleName)
	if err != nil {
		return nil, err
	}
	name := aws.ToString(r.RoleName)
	switch {
	case slices.ContainsFunc(s.w.Profiles.All(), func(p *iamtypes.InstanceProfile) bool { return roleIndex(p, name) >= 0 }):
		return nil, errDeleteConflict("Cannot delete entity, must remove roles from instance profile first.")
	case len(r.AttachedManagedPolicies) > 0:
		return nil, errDeleteConflict("Cannot delete entity, must detach all policies first.")
	case len(r.RolePolicyList) > 0:
		return nil, errDeleteConflict("Cannot delete entity, must delete policies first.")
	}
	s.w.Roles.Remove(name)
	s.w.DeletedRoles[name] = true
	nodegroup.CheckHealthLater(s.w)
	return &iam.DeleteRoleOutput{}, nil
}

func roleIndex(p *iamtypes.InstanceProfile, role string) int {
	return slices.IndexFunc(p.Roles, func(r iamtypes.Role) bool { return aws.ToString(r.RoleName) == role })
}

func profile(w *state.State, name *string) (*iamtypes.InstanceProfile, error) {
	if p := w.Profiles.Get(aws.ToString(name)); p != nil {
		return p, nil
	}
	return nil, errNoEntity("Instance Profile %s cannot be found.", aws.ToString(name))
}

// RemoveRoleFromInstanceProfile leaves a profile without its role.
func (s API) RemoveRoleFromInstanceProfile(in *iam.RemoveRoleFromInstanceProfileInput) (*iam.RemoveRoleFromInstanceProfileOutput, error) {
	defer s.w.Enter()()
	p, err := profile(s.w, in.InstanceProfileName)
	if err != nil {
		return nil, err
	}
	i := roleIndex(p, aws.ToString(in.RoleName))
	if i < 0 {
		return nil, errNoEntity("The role with name %s cannot be found in Instance Profile %s.", aws.ToString(in.RoleName), *p.InstanceProfileName)
	}
	p.Roles = slices.Delete(p.Roles, i, i+1)
	return &iam.RemoveRoleFromInstanceProfileOutput{}, nil
}

// DeleteInstanceProfile takes a profile without a role away.
func (s API) DeleteInstanceProfile(in *iam.DeleteInstanceProfileInput) (*iam.DeleteInstanceProfileOutput, error) {
	defer s.w.Enter()()
	p, err := profile(s.w, in.InstanceProfileName)
	if err != nil {
		return nil, err
	}
	if len(p.Roles) > 0 {
		return nil, errDeleteConflict("Cannot delete entity, must remove roles from instance profile first.")
	}
	s.w.Profiles.Remove(*p.InstanceProfileName)
	nodegroup.CheckHealthLater(s.w)
	return &iam.DeleteInstanceProfileOutput{}, nil
}
