package stage

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"rollcall/local/simaws/kubeapi"
)

func TestRightsOfTheManifest(t *testing.T) {
	group, rules, err := Options{Rights: "../../deploy/clusterrole.yaml"}.rights()
	if err != nil {
		t.Fatal(err)
	}
	if group != "rollcall" {
		t.Errorf("the group is %q", group)
	}
	may := func(a kubeapi.Attributes) bool {
		return slices.ContainsFunc(rules, func(r kubeapi.Rule) bool { return r.Allows(a) })
	}
	for _, a := range []kubeapi.Attributes{
		{Verb: "list", Resource: "nodes"},
		{Verb: "list", Resource: "pods", Namespace: "default"}, // those that wait
		{Verb: "list", Group: "certificates.k8s.io", Resource: "certificatesigningrequests"},
		{Verb: "get", Group: "apps", Resource: "daemonsets", Namespace: "kube-system", Name: "aws-node"},
	} {
		if !may(a) {
			t.Errorf("the manifest does not allow %+v", a)
		}
	}
	for _, a := range []kubeapi.Attributes{
		{Verb: "list", Resource: "secrets", Namespace: "default"},
		{Verb: "delete", Resource: "pods", Namespace: "default"},
		{Verb: "get", Resource: "configmaps", Namespace: "kube-system", Name: "another"},
		{Verb: "delete", Resource: "nodes"},
	} {
		if may(a) {
			t.Errorf("the manifest allows %+v", a)
		}
	}
}

func TestRightsThatAreNotOneGroups(t *testing.T) {
	for name, text := range map[string]string{
		"nobody's":    "kind: ClusterRole\nrules: [{apiGroups: [\"\"], resources: [nodes], verbs: [list]}]\n",
		"a user's":    "kind: ClusterRoleBinding\nsubjects: [{kind: User, name: a}]\n",
		"two groups'": "kind: RoleBinding\nsubjects: [{kind: Group, name: a}, {kind: Group, name: b}]\n",
		"no YAML":     "kind: [",
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "rights.yaml")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, _, err := (Options{Rights: path}).rights(); err == nil {
				t.Error("it is taken for a group's rights")
			}
		})
	}
	if _, _, err := (Options{Rights: "nowhere.yaml"}).rights(); err == nil {
		t.Error("a file that is not there gives rights")
	}
}
