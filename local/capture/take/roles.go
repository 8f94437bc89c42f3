package take

import (
	"context"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"rollcall/shared/capture/filename"
)

// mostRoles is how many roles are taken with their policies: of nodes, of nodegroups and
// of add-ons.
const mostRoles = 200

// roles takes the roles of instances, nodegroups, classes and add-ons, with their policies.
func (t *taker) roles(ctx context.Context, found *region) {
	arns := slices.Clone(found.roles)
	profiles := slices.Clone(found.profiles)
	for _, arn := range picksOf(found.instances, "Reservations[].Instances[].IamInstanceProfile.Arn") {
		profiles = append(profiles, lastPart(arn))
	}
	profiles = present(profiles)
	of := make([][]string, len(profiles))
	list(t, profiles, func(i int, name string) {
		tree := t.take(ctx, filename.Of("iam-get-instance-profile", name),
			asks(t, "iam", t.iam.GetInstanceProfile, &iam.GetInstanceProfileInput{InstanceProfileName: aws.String(name)}))
		of[i] = picksOf(tree, "InstanceProfile.Roles[].RoleName")
	})
	var names []string
	for _, arn := range slices.Concat(arns, slices.Concat(of...)) {
		names = append(names, lastPart(arn))
	}
	names = present(names)
	if over := len(names) - mostRoles; over > 0 {
		for _, name := range names[mostRoles:] {
			t.leave(filename.Of("iam-get-role", name), "only %d roles are taken", mostRoles)
		}
		names = names[:mostRoles]
	}
	var mu sync.Mutex
	var policies []string
	list(t, names, func(_ int, name string) {
		attached := t.role(ctx, name)
		mu.Lock()
		defer mu.Unlock()
		policies = append(policies, attached...)
	})
	t.policies(ctx, present(policies))
}

// role takes a role, and gives the managed policies that it has.
func (t *taker) role(ctx context.Context, name string) []string {
	var boundary, attached []string
	t.parallel(
		func() {
			tree := t.take(ctx, filename.Of("iam-get-role", name), asks(t, "iam", t.iam.GetRole, &iam.GetRoleInput{RoleName: aws.String(name)}))
			boundary = picksOf(tree, "Role.PermissionsBoundary.PermissionsBoundaryArn")
		},
		func() {
			tree := t.take(ctx, filename.Of("iam-list-attached-role-policies", name),
				asks(t, "iam", t.iam.ListAttachedRolePolicies, &iam.ListAttachedRolePoliciesInput{RoleName: aws.String(name)}))
			attached = picksOf(tree, "AttachedPolicies[].PolicyArn")
		},
		func() {
			tree := t.take(ctx, filename.Of("iam-list-role-policies", name), asks(t, "iam", t.iam.ListRolePolicies, &iam.ListRolePoliciesInput{RoleName: aws.String(name)}))
			list(t, picksOf(tree, "PolicyNames[]"), func(_ int, policy string) {
				t.take(ctx, filename.Of("iam-get-role-policy", name, policy),
					asks(t, "iam", t.iam.GetRolePolicy, &iam.GetRolePolicyInput{RoleName: aws.String(name), PolicyName: aws.String(policy)}))
			})
		},
	)
	return slices.Concat(boundary, attached)
}

// policies takes the default versions of managed policies. A file has the policy's name
// alone: of two with one name the first is kept.
func (t *taker) policies(ctx context.Context, arns []string) {
	seen := map[string]bool{}
	var chosen []string
	for _, arn := range arns {
		file := filename.Of("iam-get-policy-version", lastPart(arn))
		if seen[file] {
			t.leave(file, "%s has the same name as another policy", arn)
			continue
		}
		seen[file] = true
		chosen = append(chosen, arn)
	}
	list(t, chosen, func(_ int, arn string) {
		t.take(ctx, filename.Of("iam-get-policy-version", lastPart(arn)), func(ctx context.Context) (map[string]any, error) {
			policy, err := asks(t, "iam", t.iam.GetPolicy, &iam.GetPolicyInput{PolicyArn: aws.String(arn)})(ctx)
			if err != nil {
				return nil, err
			}
			return asks(t, "iam", t.iam.GetPolicyVersion, &iam.GetPolicyVersionInput{
				PolicyArn: aws.String(arn), VersionId: aws.String(text(policy, "Policy.DefaultVersionId")),
			})(ctx)
		})
	})
}
