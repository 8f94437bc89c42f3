package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
	// One role is admitted, however many functions read in clusters.
	admitted := func(list ...entry) []entry {
		for i := range list {
			list[i].Role = "Rollcall's reader"
		}
		return list
	}
	tests := []struct {
		name    string
		context map[string]any
		want    []entry
		// role are the clusters in which an operator is told to apply the ClusterRole.
		role string
	}{
		{"all clusters: the stack cannot know them", map[string]any{}, nil, ""},
		{"named clusters", map[string]any{"clusters": "b,a"},
			admitted(entry{"", "a", policy, nil}, entry{"", "b", policy, nil}), ""},
		{"all clusters, some named for access", map[string]any{"accessClusters": "prod"},
			admitted(entry{"", "prod", policy, nil}), ""},
		{"by group", map[string]any{"clusters": "prod", "kubernetesAccess": "group"},
			admitted(entry{"", "prod", nil, []any{"rollcall"}}), "prod"},
		{"names that differ in a hyphen", map[string]any{"clusters": "a-b,ab", "kubernetesAccess": "group"},
			admitted(entry{"", "a-b", nil, []any{"rollcall"}}, entry{"", "ab", nil, []any{"rollcall"}}), "a-b ab"},
		{"none", map[string]any{"clusters": "prod", "kubernetesAccess": "none"}, nil, ""},
		// EKS would refuse an entry in old, and the stack would roll back.
		{"mode CONFIG_MAP", map[string]any{"clusters": "prod,old", "configMapClusters": "old"},
			admitted(entry{"", "prod", policy, nil}), "old"},
		{"mode CONFIG_MAP, by group", map[string]any{"clusters": "prod,old", "configMapClusters": "old", "kubernetesAccess": "group"},
			admitted(entry{"", "prod", nil, []any{"rollcall"}}), "old prod"},
		{"mode CONFIG_MAP everywhere", map[string]any{"clusters": "old", "configMapClusters": "old,older"}, nil, "old older"},
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
				if role := tpl.Resources[to(r.Properties["PrincipalArn"])]; flat(role.Properties["RoleName"]) == "rollcall-reader-${AWS::Region}" {
					e.Role = "Rollcall's reader"
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
			for _, list := range [][]entry{test.want, got} {
				slices.SortFunc(list, func(a, b entry) int { return strings.Compare(a.Role+"/"+a.Cluster, b.Role+"/"+b.Cluster) })
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
			command, told := tpl.Outputs["ClusterRoleCommand"]
			if want := "for cluster in " + test.role + "; do "; told != (test.role != "") || told && !strings.HasPrefix(flat(command.Value), want) {
				t.Errorf("ClusterRoleCommand: got %q, want %q", flat(command.Value), want)
			}
		})
	}
}
