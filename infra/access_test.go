package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/infra/specs"
)

func TestAccessEntries(t *testing.T) {
	policy := []any{
		map[string]any{
			"AccessScope": map[string]any{"Type": "cluster"},
			"PolicyArn":   "arn:${AWS::Partition}:eks::aws:cluster-access-policy/AmazonAIOpsAssistantPolicy",
		},
		map[string]any{
			"AccessScope": map[string]any{"Type": "namespace", "Namespaces": []any{"kube-system"}},
			"PolicyArn":   "arn:${AWS::Partition}:eks::aws:cluster-access-policy/AmazonEKSViewPolicy",
		},
	}
	type entry struct {
		Role, Cluster    string
		Policies, Groups any
	}
	tests := []struct {
		name    string
		context map[string]any
		want    []entry
		command string
	}{
		{"all clusters: the stack cannot know them", map[string]any{}, nil, "associate-access-policy"},
		{"named clusters", map[string]any{"clusters": "b,a"},
			[]entry{{"join-check", "a", policy, nil}, {"join-check", "b", policy, nil}}, "associate-access-policy"},
		{"all clusters, some named for access", map[string]any{"accessClusters": "prod"},
			[]entry{{"join-check", "prod", policy, nil}}, "associate-access-policy"},
		{"by group", map[string]any{"clusters": "prod", "kubernetesAccess": "group"},
			[]entry{{"join-check", "prod", nil, []any{"rollcall"}}}, "--kubernetes-groups rollcall && kubectl apply -f deploy/clusterrole.yaml"},
		{"names that differ in a hyphen", map[string]any{"clusters": "a-b,ab", "kubernetesAccess": "group"},
			[]entry{{"join-check", "a-b", nil, []any{"rollcall"}}, {"join-check", "ab", nil, []any{"rollcall"}}}, "create-access-entry"},
		{"none", map[string]any{"clusters": "prod", "kubernetesAccess": "none"}, nil, "create-access-entry"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.context["slackChannel"] = channel
			tpl, err := synthesise(test.context)
			if err != nil {
				t.Fatal(err)
			}
			var got []entry
			for _, r := range tpl.all("AWS::EKS::AccessEntry") {
				e := entry{Cluster: flat(r.Properties["ClusterName"]), Groups: r.Properties["KubernetesGroups"]}
				for _, spec := range specs.All() {
					if to(lambdaOf(t, tpl, spec).Properties["Role"]) == to(r.Properties["PrincipalArn"]) {
						e.Role = spec.Name
					}
				}
				if list, ok := r.Properties["AccessPolicies"].([]any); ok {
					for _, p := range list {
						m := p.(map[string]any)
						m["PolicyArn"] = flat(m["PolicyArn"])
					}
					e.Policies = list
				}
				got = append(got, e)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
			if got := flat(tpl.Outputs["JoinCheckAccessCommand"].Value); !strings.Contains(got, test.command) {
				t.Errorf("command: got %q, want %q in it", got, test.command)
			}
		})
	}
}
