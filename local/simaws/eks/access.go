package eks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/defaults"
	"rollcall/local/simaws/state"
	"rollcall/local/simaws/table"
)

// accessCluster says whether the cluster has access entries at all.
func accessCluster(w *state.State, name *string) error {
	c, err := eksCluster(w, name)
	if err != nil {
		return err
	}
	if a := c.AccessConfig; a != nil && a.AuthenticationMode == ekstypes.AuthenticationModeConfigMap {
		return wire.Errorf("InvalidRequestException", "The cluster's authentication mode must be set to one of [API, API_AND_CONFIG_MAP] to perform this operation.")
	}
	return nil
}

// ListAccessEntries lists the principals that a cluster knows.
func (s API) ListAccessEntries(in *eks.ListAccessEntriesInput) (*eks.ListAccessEntriesOutput, error) {
	defer s.w.Enter()()
	if err := accessCluster(s.w, in.ClusterName); err != nil {
		return nil, err
	}
	var all []string
	for _, a := range s.w.AccessEntries.All() {
		if aws.ToString(a.ClusterName) == *in.ClusterName {
			all = append(all, *a.PrincipalArn)
		}
	}
	list, next, err := names(all, in.MaxResults, in.NextToken)
	if err != nil {
		return nil, err
	}
	return &eks.ListAccessEntriesOutput{AccessEntries: list, NextToken: next}, nil
}

func accessEntry(w *state.State, cluster, principal *string) (*ekstypes.AccessEntry, error) {
	if err := accessCluster(w, cluster); err != nil {
		return nil, err
	}
	if a := w.AccessEntries.Get(state.NodegroupKey(*cluster, aws.ToString(principal))); a != nil {
		return a, nil
	}
	return nil, errEKSMissing("The specified principalArn could not be found. You can view your available access entries with 'list-access-entries'.")
}

// DescribeAccessEntry shows what a cluster knows of a principal.
func (s API) DescribeAccessEntry(in *eks.DescribeAccessEntryInput) (*eks.DescribeAccessEntryOutput, error) {
	defer s.w.Enter()()
	a, err := accessEntry(s.w, in.ClusterName, in.PrincipalArn)
	if err != nil {
		return nil, err
	}
	return &eks.DescribeAccessEntryOutput{AccessEntry: deepcopy.Of(a)}, nil
}

// CreateAccessEntry makes a principal known to a cluster.
func (s API) CreateAccessEntry(in *eks.CreateAccessEntryInput) (*eks.CreateAccessEntryOutput, error) {
	defer s.w.Enter()()
	if err := accessCluster(s.w, in.ClusterName); err != nil {
		return nil, err
	}
	if s.w.AccessEntries.Get(state.NodegroupKey(*in.ClusterName, aws.ToString(in.PrincipalArn))) != nil {
		return nil, &wire.Error{Code: "ResourceInUseException", Message: "The specified access entry resource is already in use on this cluster.", Status: 409}
	}
	if !strings.HasPrefix(aws.ToString(in.PrincipalArn), "arn:") {
		return nil, wire.Errorf("InvalidParameterException", "The specified principalArn is invalid: invalid principal.")
	}
	if err := checkEntryType(in); err != nil {
		return nil, err
	}
	a := deepcopy.Of(ekstypes.AccessEntry{
		ClusterName: in.ClusterName, PrincipalArn: in.PrincipalArn, KubernetesGroups: in.KubernetesGroups, Tags: in.Tags, Type: in.Type, Username: in.Username,
	})
	PutAccessEntry(s.w, &a)
	return &eks.CreateAccessEntryOutput{AccessEntry: deepcopy.Of(&a)}, nil
}

// checkEntryType says whether an entry's type fits the rest of it: an entry of
// nodes has the user name and the groups that EKS gives it, and no others.
func checkEntryType(in *eks.CreateAccessEntryInput) error {
	kind := aws.ToString(in.Type)
	switch kind {
	case "", "STANDARD":
		return nil
	case "EC2_LINUX", "EC2_WINDOWS", "FARGATE_LINUX", "EC2", "HYBRID_LINUX", "HYPERPOD_LINUX":
	default:
		return wire.Errorf("InvalidParameterException", "The type %s is not a supported access entry type.", kind)
	}
	if !strings.Contains(*in.PrincipalArn, ":role/") {
		return wire.Errorf("InvalidParameterException", "The type %s only supports IAM roles as principals.", kind)
	}
	if len(in.KubernetesGroups) > 0 || in.Username != nil {
		return wire.Errorf("InvalidParameterException", "The username and kubernetesGroups can't be specified for access entries of type %s.", kind)
	}
	return nil
}

// DeleteAccessEntry makes a principal unknown to a cluster.
func (s API) DeleteAccessEntry(in *eks.DeleteAccessEntryInput) (*eks.DeleteAccessEntryOutput, error) {
	defer s.w.Enter()()
	if _, err := accessEntry(s.w, in.ClusterName, in.PrincipalArn); err != nil {
		return nil, err
	}
	s.w.AccessEntries.Remove(state.NodegroupKey(*in.ClusterName, *in.PrincipalArn))
	delete(s.w.EntryIDs, state.NodegroupKey(*in.ClusterName, *in.PrincipalArn))
	delete(s.w.AccessPolicies, state.NodegroupKey(*in.ClusterName, *in.PrincipalArn))
	return &eks.DeleteAccessEntryOutput{}, nil
}

// AssociateAccessPolicy gives a principal the rules of an access policy, or
// changes their scope.
func (s API) AssociateAccessPolicy(in *eks.AssociateAccessPolicyInput) (*eks.AssociateAccessPolicyOutput, error) {
	defer s.w.Enter()()
	if _, err := accessEntry(s.w, in.ClusterName, in.PrincipalArn); err != nil {
		return nil, err
	}
	if !strings.Contains(aws.ToString(in.PolicyArn), ":cluster-access-policy/") {
		return nil, wire.Errorf("InvalidParameterException", "The policyArn parameter format is not valid")
	}
	p := ekstypes.AssociatedAccessPolicy{
		PolicyArn: deepcopy.Of(in.PolicyArn), AccessScope: deepcopy.Of(in.AccessScope), AssociatedAt: aws.Time(s.w.Now), ModifiedAt: aws.Time(s.w.Now),
	}
	AssociatePolicy(s.w, state.NodegroupKey(*in.ClusterName, *in.PrincipalArn), p)
	return &eks.AssociateAccessPolicyOutput{ClusterName: in.ClusterName, PrincipalArn: in.PrincipalArn, AssociatedAccessPolicy: deepcopy.Of(&p)}, nil
}

// AssociatePolicy gives an access entry a policy.
func AssociatePolicy(w *state.State, key string, p ekstypes.AssociatedAccessPolicy) {
	w.AccessPolicies[key] = append(withoutPolicy(w.AccessPolicies[key], aws.ToString(p.PolicyArn)), p)
}

func withoutPolicy(list []ekstypes.AssociatedAccessPolicy, arn string) []ekstypes.AssociatedAccessPolicy {
	return slices.DeleteFunc(list, func(p ekstypes.AssociatedAccessPolicy) bool { return aws.ToString(p.PolicyArn) == arn })
}

// DisassociateAccessPolicy takes the rules of an access policy away.
func (s API) DisassociateAccessPolicy(in *eks.DisassociateAccessPolicyInput) (*eks.DisassociateAccessPolicyOutput, error) {
	defer s.w.Enter()()
	if _, err := accessEntry(s.w, in.ClusterName, in.PrincipalArn); err != nil {
		return nil, err
	}
	key := state.NodegroupKey(*in.ClusterName, *in.PrincipalArn)
	s.w.AccessPolicies[key] = withoutPolicy(s.w.AccessPolicies[key], aws.ToString(in.PolicyArn))
	return &eks.DisassociateAccessPolicyOutput{}, nil
}

// ListAssociatedAccessPolicies lists the access policies of a principal.
func (s API) ListAssociatedAccessPolicies(in *eks.ListAssociatedAccessPoliciesInput) (*eks.ListAssociatedAccessPoliciesOutput, error) {
	defer s.w.Enter()()
	if _, err := accessEntry(s.w, in.ClusterName, in.PrincipalArn); err != nil {
		return nil, err
	}
	all := s.w.AccessPolicies[state.NodegroupKey(*in.ClusterName, *in.PrincipalArn)]
	arns, next, err := names(table.Each(all, func(p ekstypes.AssociatedAccessPolicy) *string { return p.PolicyArn }), in.MaxResults, in.NextToken)
	if err != nil {
		return nil, err
	}
	out := &eks.ListAssociatedAccessPoliciesOutput{ClusterName: in.ClusterName, PrincipalArn: in.PrincipalArn, NextToken: next, AssociatedAccessPolicies: []ekstypes.AssociatedAccessPolicy{}}
	for _, p := range all {
		if slices.Contains(arns, aws.ToString(p.PolicyArn)) {
			out.AssociatedAccessPolicies = append(out.AssociatedAccessPolicies, deepcopy.Of(p))
		}
	}
	return out, nil
}

// PutAccessEntry fills in what an access entry leaves out and keeps it.
func PutAccessEntry(w *state.State, a *ekstypes.AccessEntry) {
	principal := aws.ToString(a.PrincipalArn)
	role := principal[strings.LastIndex(principal, "/")+1:]
	defaults.Set(&a.Type, "STANDARD")
	defaults.Set(&a.CreatedAt, w.Now)
	defaults.Set(&a.ModifiedAt, w.Now)
	defaults.Set(&a.AccessEntryArn, w.ARN("eks", fmt.Sprintf("access-entry/%s/role/%s/%s/%s", aws.ToString(a.ClusterName), w.Account, role, w.IDs.UUID())))
	if *a.Type == "EC2_LINUX" {
		defaults.Set(&a.Username, "system:node:{{EC2PrivateDNSName}}")
		if a.KubernetesGroups == nil {
			a.KubernetesGroups = []string{"system:nodes"}
		}
	}
	defaults.Set(&a.Username, principal)
	key := state.NodegroupKey(aws.ToString(a.ClusterName), principal)
	w.AccessEntries.Put(key, a)
	w.EntryIDs[key] = w.IDOfRole(principal)
	if r := w.Roles.Get(role); r != nil && a.CreatedAt.Before(aws.ToTime(r.CreateDate)) {
		w.EntryIDs[key] = "of a role that was there before"
	}
}
