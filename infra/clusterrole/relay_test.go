package clusterrole

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/infra/specs"
	"rollcall/shared/relay"
)

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
