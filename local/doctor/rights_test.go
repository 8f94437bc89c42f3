package doctor

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/local/simaws"
)

// older takes something out of the roles that are installed.
func (p *deployed) older(without string) {
	p.t.Helper()
	manifest, err := os.ReadFile("../../deploy/clusterrole.yaml")
	if err != nil || !strings.Contains(string(manifest), without) {
		p.t.Fatalf("%v: the manifest has no %q", err, without)
	}
	with := ""
	if strings.Contains(without, "name: rollcall") {
		with = strings.Replace(without, "name: rollcall", "name: others", 1)
	}
	p.must(nil, p.RBAC.Replace([]byte(strings.Replace(string(manifest), without, with, 1))))
}

// What the cluster does not let the caller see is not known, and named.
func TestRightsThatMayNotBeRead(t *testing.T) {
	for _, call := range []string{"list clusterrolebindings", "list rolebindings", "get clusterroles", "get roles"} {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			p := deploy(t, &deployed{refused: []simaws.FaultRule{{Call: "kubernetes:" + call, Deny: true}}})
			list := p.examined(false)
			want := []string{"ClusterRole eks-workshop " + call + ".rbac.authorization.k8s.io was refused"}
			if diff := cmp.Diff(want, of(list, Unknown)); diff != "" || len(of(list, Wrong)) > 0 {
				t.Errorf("wrong %q, not seen (-want +got):\n%s", of(list, Wrong), diff)
			}
		})
	}
}

// A right is given by a rule of its group, its namespace and its name.
func TestMissing(t *testing.T) {
	list := right{"", "", "nodes", "list", ""}
	one := right{"kube-system", "", "configmaps", "get", "aws-auth"}
	for name, tt := range map[string]struct {
		want  right
		grant grant
		given bool
	}{
		"the rule":               {list, grant{"", []string{""}, []string{"nodes"}, []string{"list"}, nil}, true},
		"everything":             {one, grant{"", []string{"*"}, []string{"*"}, []string{"*"}, nil}, true},
		"another verb":           {list, grant{"", []string{""}, []string{"nodes"}, []string{"get"}, nil}, false},
		"another group":          {list, grant{"", []string{"apps"}, []string{"nodes"}, []string{"list"}, nil}, false},
		"another kind":           {list, grant{"", []string{""}, []string{"pods"}, []string{"list"}, nil}, false},
		"in a namespace alone":   {list, grant{"kube-system", []string{""}, []string{"nodes"}, []string{"list"}, nil}, false},
		"of some names alone":    {list, grant{"", []string{""}, []string{"nodes"}, []string{"list"}, []string{"a"}}, false},
		"in its namespace":       {one, grant{"kube-system", []string{""}, []string{"configmaps"}, []string{"get"}, []string{"aws-auth"}}, true},
		"another one's name":     {one, grant{"kube-system", []string{""}, []string{"configmaps"}, []string{"get"}, []string{"coredns"}}, false},
		"in all namespaces, all": {one, grant{"", []string{""}, []string{"configmaps"}, []string{"get"}, nil}, true},
	} {
		if got := missing([]right{tt.want}, []grant{tt.grant}); (len(got) == 0) != tt.given {
			t.Errorf("%s: missing %q, want given %t", name, got, tt.given)
		}
	}
}
