package clusterrole

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/infra/specs"
	"rollcall/shared/relay"
	"rollcall/shared/spec"
	"rollcall/tools/testfile"
)

func TestCommittedManifest(t *testing.T) {
	want, err := Manifest(specs.All())
	if err != nil {
		t.Fatal(err)
	}
	got := testfile.Read(t, "../../deploy/clusterrole.yaml")
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("deploy/clusterrole.yaml is stale; run `make generate` (-want +got):\n%s", diff)
	}
}

func TestManifest(t *testing.T) {
	got, err := Manifest([]spec.Spec{
		{Kube: []spec.KubeRule{
			{Group: "", Resources: []string{"pods", "nodes"}, Verbs: []string{"list", "get"}},
			{Group: "storage.k8s.io", Resources: []string{"storageclasses"}, Verbs: []string{"list"}},
			{Namespace: "kube-system", Group: "", Resources: []string{"configmaps"}, Names: []string{"aws-auth"}, Verbs: []string{"get"}},
		}},
		{},
		{Kube: []spec.KubeRule{{Group: "", Resources: []string{"nodes", "pods"}, Verbs: []string{"get", "list"}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	const want = header + `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: rollcall
rules:
  - apiGroups: [""]
    resources: [nodes, pods]
    verbs: [get, list]
  - apiGroups: [storage.k8s.io]
    resources: [storageclasses]
    verbs: [list]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: rollcall
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: rollcall
subjects:
  - apiGroup: rbac.authorization.k8s.io
    kind: Group
    name: rollcall
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: rollcall
  namespace: kube-system
rules:
  - apiGroups: [""]
    resources: [configmaps]
    resourceNames: [aws-auth]
    verbs: [get]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: rollcall
  namespace: kube-system
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: rollcall
subjects:
  - apiGroup: rbac.authorization.k8s.io
    kind: Group
    name: rollcall
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("manifest (-want +got):\n%s", diff)
	}
}

// The rights are to read, and never secrets; a config map may hold anything,
// so only the one that is read is named.
func TestRightsAreNarrow(t *testing.T) {
	for _, namespace := range namespaces(specs.All()) {
		for _, r := range rules(specs.All(), namespace) {
			for _, verb := range r.Verbs {
				if verb != "get" && verb != "list" {
					t.Errorf("verb %q on %v", verb, r.Resources)
				}
			}
			for _, name := range r.Resources {
				if name == "secrets" || name == "*" {
					t.Errorf("resource %q", name)
				}
				if name == "configmaps" && (len(r.Names) == 0 || namespace == "") {
					t.Errorf("all config maps of %q may be read", namespace)
				}
			}
		}
	}
}

// TestRelayAsksWhatTheRolesGive: the paths of a relay are the rules of the roles, no more and
// no less.
func TestRelayAsksWhatTheRolesGive(t *testing.T) {
	type one struct{ namespace, group, resource, name, verb string }
	var want, got []one
	for _, namespace := range namespaces(specs.All()) {
		for _, r := range rules(specs.All(), namespace) {
			for _, group := range r.APIGroups {
				for _, resource := range r.Resources {
					for _, verb := range r.Verbs {
						names := r.Names
						if len(names) == 0 {
							names = []string{""}
						}
						for _, name := range names {
							want = append(want, one{namespace, group, resource, name, verb})
						}
					}
				}
			}
		}
	}
	for _, p := range relay.Paths() {
		verb := "list"
		if p.Name != "" {
			verb = "get"
		}
		got = append(got, one{p.Namespace, p.Group, p.Resource, p.Name, verb})
	}
	order := func(list []one) {
		slices.SortFunc(list, func(a, b one) int {
			return slices.Compare([]string{a.namespace, a.group, a.resource, a.name}, []string{b.namespace, b.group, b.resource, b.name})
		})
	}
	order(want)
	order(got)
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(one{})); diff != "" {
		t.Errorf("shared/relay, Paths (-granted +asked):\n%s", diff)
	}
}
