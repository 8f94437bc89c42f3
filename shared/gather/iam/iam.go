// Package iam holds the sources that are read of IAM.
package iam

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// Sources are all of them.
func Sources(api *iam.Client) []source.Source { return []source.Source{profiles(api), roles(api)} }

// Alias is the account's alias; empty where it has none. An account has one at most (IAM API
// reference, ListAccountAliases), so there is no second page. IAM has no regions: the SDK
// asks its one endpoint of the partition whatever the region is.
func Alias(ctx context.Context, api iam.ListAccountAliasesAPIClient) (string, error) {
	out, err := api.ListAccountAliases(ctx, &iam.ListAccountAliasesInput{})
	if err != nil || len(out.AccountAliases) == 0 {
		return "", err
	}
	return out.AccountAliases[0], nil
}

// ClassRoles looks up the roles of NodeClasses, without their policies.
type ClassRoles struct {
	API interface {
		iam.GetInstanceProfileAPIClient
		GetRole(context.Context, *iam.GetRoleInput, ...func(*iam.Options)) (*iam.GetRoleOutput, error)
	}
}

// Role is the ARN of a role and when it was created.
func (r ClassRoles) Role(ctx context.Context, name string) (arn string, created time.Time, err error) {
	out, err := r.API.GetRole(ctx, &iam.GetRoleInput{RoleName: aws.String(name)})
	if err != nil {
		return "", time.Time{}, fmt.Errorf("get role %s: %w", name, err)
	}
	if out.Role == nil {
		return "", time.Time{}, fmt.Errorf("get role %s: %w", name, source.ErrHalf)
	}
	return aws.ToString(out.Role.Arn), aws.ToTime(out.Role.CreateDate), nil
}

// RoleOfProfile is the name of the role that an instance profile holds.
func (r ClassRoles) RoleOfProfile(ctx context.Context, name string) (string, error) {
	out, err := r.API.GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: aws.String(name)})
	if err != nil {
		return "", fmt.Errorf("get instance profile %s: %w", name, err)
	}
	if out.InstanceProfile == nil || len(out.InstanceProfile.Roles) == 0 {
		return "", fmt.Errorf("get instance profile %s: %w", name, source.ErrHalf)
	}
	return aws.ToString(out.InstanceProfile.Roles[0].RoleName), nil
}

// profiles are the instance profiles of the scope's instances.
func profiles(api iam.GetInstanceProfileAPIClient) source.Source {
	return source.Source{
		Name: snapshot.Profiles,
		Calls: []source.Call{
			{Action: "iam:GetInstanceProfile", Resources: []string{"arn:${Partition}:iam::${Account}:instance-profile/*"}},
		},
		Read: source.Through(api, readProfiles),
	}
}

// maxProfiles bounds the instance profiles that are read in one look.
const maxProfiles = 10

func readProfiles(ctx context.Context, api iam.GetInstanceProfileAPIClient, v *source.View) (source.Store, error) {
	var arns []string
	for _, in := range v.InScope() {
		arns = append(arns, in.Profile)
	}
	var list []snapshot.Profile
	lacks := map[string]snapshot.Failure{}
	for i, arn := range source.Distinct(arns) {
		if i >= maxProfiles {
			lacks[arn] = v.Source.Skipped(fmt.Sprintf("%d other instance profiles were read in this look", maxProfiles))
			continue
		}
		out, err := api.GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: aws.String(NameOf(arn))})
		if err != nil {
			f := *v.Source.Failure(err)
			if f.Reason == snapshot.Denied {
				return nil, err
			}
			lacks[arn] = f
			continue
		}
		if out.InstanceProfile == nil {
			lacks[arn] = *v.Source.Failure(fmt.Errorf("get instance profile %s: the answer holds none", arn))
			continue
		}
		p := profile(*out.InstanceProfile)
		p.ARN = arn // as the instance has it, which is how it is looked for
		list = append(list, p)
	}
	list = source.Sorted(list, func(p snapshot.Profile) string { return p.ARN })
	return func(s *snapshot.Snapshot) {
		s.Profiles = list
		source.LackAll(s, snapshot.Profiles, lacks)
	}, nil
}

func profile(p types.InstanceProfile) snapshot.Profile {
	out := snapshot.Profile{ARN: aws.ToString(p.Arn), Name: aws.ToString(p.InstanceProfileName)}
	for _, r := range p.Roles {
		out.Roles = append(out.Roles, aws.ToString(r.Arn))
	}
	slices.Sort(out.Roles)
	return out
}

// NameOf is the name at the end of the ARN of a role or an instance profile,
// after its path.
func NameOf(arn string) string { return arn[strings.LastIndex(arn, "/")+1:] }

// Roles gets roles and their policies.
type Roles interface {
	GetRole(context.Context, *iam.GetRoleInput, ...func(*iam.Options)) (*iam.GetRoleOutput, error)
	ListAttachedRolePolicies(context.Context, *iam.ListAttachedRolePoliciesInput, ...func(*iam.Options)) (*iam.ListAttachedRolePoliciesOutput, error)
	GetPolicy(context.Context, *iam.GetPolicyInput, ...func(*iam.Options)) (*iam.GetPolicyOutput, error)
	GetPolicyVersion(context.Context, *iam.GetPolicyVersionInput, ...func(*iam.Options)) (*iam.GetPolicyVersionOutput, error)
	ListRolePolicies(context.Context, *iam.ListRolePoliciesInput, ...func(*iam.Options)) (*iam.ListRolePoliciesOutput, error)
	GetRolePolicy(context.Context, *iam.GetRolePolicyInput, ...func(*iam.Options)) (*iam.GetRolePolicyOutput, error)
}

// roles are those of nodes, and the role that aws-node has for itself.
func roles(api Roles) source.Source {
	return source.Source{
		Name:  snapshot.Roles,
		Needs: []snapshot.Source{snapshot.Profiles},
		After: []snapshot.Source{
			snapshot.Nodegroups, // and what else names roles
			snapshot.PodIdentities,
			snapshot.AWSNode,
			snapshot.Addons,
		},
		Calls: []source.Call{
			{Action: "iam:GetRole", Resources: []string{"arn:${Partition}:iam::${Account}:role/*"}},
			{Action: "iam:ListAttachedRolePolicies", Resources: []string{"arn:${Partition}:iam::${Account}:role/*"}},
			{Action: "iam:ListRolePolicies", Resources: []string{"arn:${Partition}:iam::${Account}:role/*"}},
			{Action: "iam:GetRolePolicy", Resources: []string{"arn:${Partition}:iam::${Account}:role/*"}},
			{Action: "iam:GetPolicy", Resources: []string{"arn:${Partition}:iam::${Account}:policy/*", "arn:${Partition}:iam::aws:policy/*"}},
			{Action: "iam:GetPolicyVersion", Resources: []string{"arn:${Partition}:iam::${Account}:policy/*", "arn:${Partition}:iam::aws:policy/*"}},
		},
		Read: source.Through(api, readRoles),
	}
}

// maxRoles bounds the roles that are read in one look.
const maxRoles = 10

func readRoles(ctx context.Context, api Roles, v *source.View) (source.Store, error) {
	reading := roleReading{api: api, managed: map[string]snapshot.Policy{}}
	var list []snapshot.Role
	lacks := map[string]snapshot.Failure{}
	for i, arn := range rolesNamed(v.Snapshot) {
		if i >= maxRoles {
			lacks[arn] = v.Source.Skipped(fmt.Sprintf("%d other roles were read in this look", maxRoles))
			continue
		}
		if owner := AccountOf(arn); owner != "" && v.Account != "" && owner != v.Account {
			lacks[arn] = v.Source.Skipped("the role belongs to account " + owner)
			continue
		}
		role, err := reading.role(ctx, arn)
		if err != nil {
			f := *v.Source.Failure(err)
			if f.Reason == snapshot.Denied {
				return nil, err
			}
			lacks[arn] = f
			continue
		}
		list = append(list, role)
	}
	list = source.Sorted(list, func(r snapshot.Role) string { return r.ARN })
	return func(s *snapshot.Snapshot) {
		s.Roles = list
		source.LackAll(s, snapshot.Roles, lacks)
	}, nil
}

// rolesNamed are the roles that matter, those of nodes first.
func rolesNamed(s *snapshot.Snapshot) []string {
	nodes := NodeRoles(s)
	var own []string
	for _, p := range s.PodIdentities {
		if p.ServiceAccount == "aws-node" {
			own = append(own, p.Role, p.Target)
		}
	}
	if s.CNI != nil {
		own = append(own, s.CNI.Role)
	}
	for _, a := range s.Addons {
		if a.Name == "vpc-cni" {
			own = append(own, a.Role)
		}
	}
	own = slices.DeleteFunc(source.Distinct(own), func(arn string) bool { return slices.Contains(nodes, arn) })
	return append(nodes, own...)
}

// NodeRoles are the roles of the scope's instances and of the node groups.
func NodeRoles(s *snapshot.Snapshot) []string {
	var arns []string
	for _, p := range s.Profiles {
		arns = append(arns, p.Roles...)
	}
	for _, n := range s.Nodegroups {
		arns = append(arns, n.Role)
	}
	return source.Distinct(arns)
}

// AccountOf is the account in an ARN, empty for what is none.
func AccountOf(arn string) string {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) < 6 {
		return ""
	}
	return parts[4]
}

// roleReading reads roles and remembers the managed policies, which most roles
// share.
type roleReading struct {
	api     Roles
	managed map[string]snapshot.Policy
}

func (g roleReading) role(ctx context.Context, arn string) (snapshot.Role, error) {
	name := aws.String(NameOf(arn))
	out, err := g.api.GetRole(ctx, &iam.GetRoleInput{RoleName: name})
	if err != nil {
		return snapshot.Role{}, fmt.Errorf("get role %s: %w", *name, err)
	}
	if out.Role == nil {
		return snapshot.Role{}, fmt.Errorf("get role %s: the answer holds none", *name)
	}
	role := snapshot.Role{ARN: arn, Name: *name, Path: aws.ToString(out.Role.Path), Created: aws.ToTime(out.Role.CreateDate)}
	if role.Trust, err = document(out.Role.AssumeRolePolicyDocument); err != nil {
		return role, fmt.Errorf("trust policy of role %s: %w", *name, err)
	}
	var boundary []string
	if b := out.Role.PermissionsBoundary; b != nil && aws.ToString(b.PermissionsBoundaryArn) != "" {
		boundary = append(boundary, *b.PermissionsBoundaryArn)
	}
	read, err := source.AtOnce([]func() ([]snapshot.Policy, error){
		func() ([]snapshot.Policy, error) { return g.policies(ctx, "boundary", name, boundary) },
		func() ([]snapshot.Policy, error) { return g.attached(ctx, name) },
		func() ([]snapshot.Policy, error) { return g.inline(ctx, name) },
	}, func(list func() ([]snapshot.Policy, error)) ([]snapshot.Policy, error) { return list() })
	if err != nil {
		return role, err
	}
	if len(boundary) > 0 {
		role.Boundary = &read[0][0]
	}
	role.Policies = slices.Concat(read[1:]...)
	for _, p := range slices.Concat(read[:2]...) {
		g.managed[p.ARN] = p
	}
	return role, nil
}

func (g roleReading) attached(ctx context.Context, role *string) ([]snapshot.Policy, error) {
	var arns []string
	p := iam.NewListAttachedRolePoliciesPaginator(g.api, &iam.ListAttachedRolePoliciesInput{RoleName: role})
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list the policies attached to %s: %w", *role, changed(err))
		}
		for _, a := range page.AttachedPolicies {
			arns = append(arns, aws.ToString(a.PolicyArn))
		}
	}
	slices.Sort(arns)
	return g.policies(ctx, "policy", role, arns)
}

// policies reads managed policies, which are of that kind to a role.
func (g roleReading) policies(ctx context.Context, kind string, role *string, arns []string) ([]snapshot.Policy, error) {
	list, err := source.AtOnce(arns, func(arn string) (snapshot.Policy, error) { return g.policy(ctx, arn) })
	if err != nil {
		return nil, fmt.Errorf("%s of role %s: %w", kind, *role, err)
	}
	return list, nil
}

// policy reads the default version of a managed policy.
func (g roleReading) policy(ctx context.Context, arn string) (snapshot.Policy, error) {
	if p, ok := g.managed[arn]; ok {
		return p, nil
	}
	out, err := g.api.GetPolicy(ctx, &iam.GetPolicyInput{PolicyArn: aws.String(arn)})
	if err != nil {
		return snapshot.Policy{}, fmt.Errorf("get policy %s: %w", arn, changed(err))
	}
	if out.Policy == nil {
		return snapshot.Policy{}, fmt.Errorf("get policy %s: the answer holds none", arn)
	}
	version, err := g.api.GetPolicyVersion(ctx, &iam.GetPolicyVersionInput{PolicyArn: aws.String(arn), VersionId: out.Policy.DefaultVersionId})
	if err != nil {
		return snapshot.Policy{}, fmt.Errorf("get policy version of %s: %w", arn, changed(err))
	}
	p := snapshot.Policy{ARN: arn, Name: NameOf(arn)}
	if version.PolicyVersion == nil {
		return p, fmt.Errorf("get policy version of %s: the answer holds none", arn)
	}
	if p.Document, err = document(version.PolicyVersion.Document); err != nil {
		return p, fmt.Errorf("policy %s: %w", arn, err)
	}
	return p, nil
}

func (g roleReading) inline(ctx context.Context, role *string) ([]snapshot.Policy, error) {
	var names []string
	p := iam.NewListRolePoliciesPaginator(g.api, &iam.ListRolePoliciesInput{RoleName: role})
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list the inline policies of %s: %w", *role, changed(err))
		}
		names = append(names, page.PolicyNames...)
	}
	slices.Sort(names)
	return source.AtOnce(names, func(name string) (snapshot.Policy, error) {
		out, err := g.api.GetRolePolicy(ctx, &iam.GetRolePolicyInput{RoleName: role, PolicyName: aws.String(name)})
		if err != nil {
			return snapshot.Policy{}, fmt.Errorf("get policy %s of role %s: %w", name, *role, changed(err))
		}
		text, err := document(out.PolicyDocument)
		if err != nil {
			return snapshot.Policy{}, fmt.Errorf("policy %s of role %s: %w", name, *role, err)
		}
		return snapshot.Policy{Name: name, Document: text}, nil
	})
}

// changed hides that something listed before does not exist.
func changed(err error) error {
	if source.Gone(err) {
		return source.ErrChanged
	}
	return err
}

// document decodes a policy, which IAM gives as URL-encoded JSON (RFC 3986: a
// plus sign is itself).
func document(text *string) (string, error) {
	decoded, err := url.PathUnescape(aws.ToString(text))
	if err != nil {
		return "", fmt.Errorf("decode the policy document: %w", err)
	}
	return decoded, nil
}
