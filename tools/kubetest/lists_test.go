//go:build kube

package kubetest

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/kube"
)

// testNodes reads all nodes with Rollcall's reader and rights.
func testNodes(t *testing.T, real, stage *place, created time.Time) {
	var want []kube.Node
	for _, s := range samples() {
		want = append(want, s.node())
	}
	slices.SortFunc(want, func(a, b kube.Node) int { return strings.Compare(a.Metadata.Name, b.Metadata.Name) })
	inReal, err := real.nodes(t.Context(), rollcallToken)
	if err != nil {
		t.Fatal(err)
	}
	onStage, err := stage.nodes(t.Context(), rollcallToken)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(onStage, inReal); diff != "" {
		t.Errorf("nodes (-stage +kube-apiserver):\n%s", diff)
	}
	for i := range inReal {
		made := &inReal[i].Metadata.CreationTimestamp
		if made.Before(created) || made.After(time.Now()) {
			t.Errorf("%s was created at %s, want between %s and now", inReal[i].Metadata.Name, made, created)
		}
		*made = time.Time{}
	}
	if diff := cmp.Diff(inReal, want); diff != "" {
		t.Errorf("nodes (-got +want):\n%s", diff)
	}
}

// testPages compares where the pages begin and end, and what they say is left.
func testPages(t *testing.T, real, stage *place) {
	type seen struct {
		kind        string
		count       int
		first, last string
		remaining   int
	}
	for _, query := range []string{"limit=500", "limit=1205", "limit=0", "limit=-1", "limit=600&resourceVersion=0", "limit=150&labelSelector=topology.kubernetes.io/zone%3Dus-west-2a"} {
		walk := func(p *place) []seen {
			var out []seen
			for next := ""; ; {
				l := p.ask(t, adminToken, http.MethodGet, "/api/v1/nodes?"+query+"&continue="+url.QueryEscape(next), nil).list(t)
				names := l.names()
				if len(names) == 0 {
					t.Fatalf("%s: %s: an empty page", p.name, query)
				}
				s := seen{kind: l.Kind, count: len(names), first: names[0], last: names[len(names)-1], remaining: -1}
				if l.Metadata.RemainingItemCount != nil {
					s.remaining = *l.Metadata.RemainingItemCount
				}
				out = append(out, s)
				if next = l.Metadata.Continue; next == "" {
					return out
				}
			}
		}
		if diff := cmp.Diff(walk(stage), walk(real), cmp.AllowUnexported(seen{})); diff != "" {
			t.Errorf("%s (-stage +kube-apiserver):\n%s", query, diff)
		}
	}
}

// testSelectors asks both for the same selections.
func testSelectors(t *testing.T, real, stage *place) {
	const zone = "topology.kubernetes.io/zone"
	for _, s := range []struct {
		label, field string
		count        int // what both must find
	}{
		{label: zone + "=us-west-2a", count: 400},
		{label: zone + "==us-west-2b", count: 400},
		{label: zone + "!=us-west-2c", count: 805},
		{label: zone + " in (us-west-2a, us-west-2b)", count: 800},
		{label: zone + " notin (us-west-2a,us-west-2b)", count: 405},
		{label: "!" + zone, count: 5},
		{label: zone + ",i in (0,1,2,3)", count: 4},
		{label: zone + "=us-west-2a,i=3", count: 1},
		{label: "special", count: 1},
		{label: "special=", count: 1},
		{label: "special in ()", count: 1},
		{label: "special notin ()", count: 1204},
		{label: "i>1197", count: 2},
		{label: "i<3", count: 3},
		{label: " " + zone + " = us-west-2a ", count: 400},
		{label: zone + "=nowhere", count: 0},
		{field: "metadata.name=bare", count: 1},
		{field: "metadata.name!=bare", count: 1204},
		{field: "spec.unschedulable=true", count: 1},
		{field: "spec.unschedulable=false", count: 1204},
		{field: "metadata.name=bare,spec.unschedulable=false", count: 0},
		{label: "special", field: "spec.unschedulable=false", count: 1},
	} {
		target := "/api/v1/nodes?" + url.Values{"labelSelector": {s.label}, "fieldSelector": {s.field}}.Encode()
		inReal, onStage := real.ask(t, adminToken, http.MethodGet, target, nil), stage.ask(t, adminToken, http.MethodGet, target, nil)
		if inReal.code != http.StatusOK || onStage.code != http.StatusOK {
			t.Errorf("%q %q: kube-apiserver: %v, stage: %v; want two lists", s.label, s.field, inReal.status(), onStage.status())
			continue
		}
		names := inReal.list(t).names()
		if len(names) != s.count {
			t.Errorf("%q %q: kube-apiserver found %d nodes, want %d", s.label, s.field, len(names), s.count)
		}
		if diff := cmp.Diff(onStage.list(t).names(), names); diff != "" {
			t.Errorf("%q %q (-stage +kube-apiserver):\n%s", s.label, s.field, diff)
		}
	}
}
