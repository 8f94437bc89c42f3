package simaws

import (
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/kubeapi"
)

// accessRules are the rules of a principal in a cluster: those of the access
// policies that its access entry has, and of the entry's Kubernetes groups. A
// principal without an entry is an error.
func accessRules(w World, admits func(cluster, principal string) bool, cluster, principal string, groups map[string][]kubeapi.Rule) ([]kubeapi.Rule, error) {
	entry, err := w.DescribeAccessEntry(&eks.DescribeAccessEntryInput{ClusterName: &cluster, PrincipalArn: &principal})
	if err != nil {
		return nil, fmt.Errorf("describe access entry: %w", err)
	}
	if admits != nil && !admits(cluster, principal) {
		return nil, &wire.Error{Code: "ResourceNotFoundException", Message: "the access entry is of a role with another id"}
	}
	var rules []kubeapi.Rule
	if entry.AccessEntry != nil {
		for _, g := range entry.AccessEntry.KubernetesGroups {
			rules = append(rules, groups[g]...)
		}
	}
	in := &eks.ListAssociatedAccessPoliciesInput{ClusterName: &cluster, PrincipalArn: &principal}
	for {
		out, err := w.ListAssociatedAccessPolicies(in)
		if err != nil {
			return nil, fmt.Errorf("list associated access policies: %w", err)
		}
		for _, p := range out.AssociatedAccessPolicies {
			rules = append(rules, scoped(policyRules(aws.ToString(p.PolicyArn)), p.AccessScope)...)
		}
		if aws.ToString(out.NextToken) == "" {
			return rules, nil
		}
		in.NextToken = out.NextToken
	}
}

// scoped narrows the rules of a policy to the namespaces that it was
// associated for. With such a scope nothing of the cluster itself, such as
// nodes, can be read.
func scoped(rules []kubeapi.Rule, scope *ekstypes.AccessScope) []kubeapi.Rule {
	if scope == nil || scope.Type != ekstypes.AccessScopeTypeNamespace {
		return rules
	}
	for i := range rules {
		rules[i].Namespaces = scope.Namespaces
	}
	return rules
}

func everything() kubeapi.Rule {
	return kubeapi.Rule{Groups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}}
}

// policyRules are the rules of EKS's access policies, as far as they are about
// what the stage serves. The lists are those of the EKS user guide
// (access-policy-permissions), and for AmazonAIOpsAssistantPolicy those of the
// CloudWatch guide: no nodes in the view policies, all but secrets' writers in
// the admin view.
func policyRules(arn string) []kubeapi.Rule {
	read := []string{"get", "list", "watch"}
	workloads := []kubeapi.Rule{
		{Groups: []string{""}, Verbs: read, Resources: []string{"configmaps", "endpoints", "events", "namespaces",
			"persistentvolumeclaims", "pods", "serviceaccounts", "services"}},
		{Groups: []string{"apps"}, Verbs: read, Resources: []string{"daemonsets", "deployments", "replicasets", "statefulsets"}},
	}
	switch arn[strings.LastIndex(arn, "/")+1:] {
	case "AmazonEKSClusterAdminPolicy":
		return []kubeapi.Rule{everything()}
	case "AmazonEKSAdminViewPolicy":
		return []kubeapi.Rule{{Groups: []string{"*"}, Resources: []string{"*"}, Verbs: read}}
	case "AmazonEKSViewPolicy", "AmazonEKSEditPolicy", "AmazonEKSAdminPolicy":
		return workloads
	case "AmazonAIOpsAssistantPolicy":
		getList := []string{"get", "list"}
		return []kubeapi.Rule{
			{Groups: []string{""}, Verbs: getList, Resources: []string{"configmaps", "events", "namespaces", "nodes",
				"persistentvolumeclaims", "persistentvolumes", "pods", "services"}},
			{Groups: []string{"apps"}, Verbs: getList, Resources: []string{"daemonsets", "deployments", "replicasets", "statefulsets"}},
		}
	}
	return nil
}
