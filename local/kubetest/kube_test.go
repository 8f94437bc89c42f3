//go:build kube

package kubetest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	"gopkg.in/yaml.v3"

	"rollcall/shared/kube"
)

// TestKubernetes starts one API for all tests.
func TestKubernetes(t *testing.T) {
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt)
	defer stop()
	if deadline, ok := t.Deadline(); ok {
		// End before the test tool does, which would leave the servers behind.
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-30*time.Second))
		defer cancel()
	}
	servers, err := build(ctx, os.Stderr)
	if err != nil {
		t.Fatalf("this test needs a real API server and cannot build it: %v", err)
	}
	real, etcd := startAPI(t, ctx, servers)
	created := time.Now().Add(-time.Second) // the API's times are whole seconds
	var creating errgroup.Group
	creating.SetLimit(16)
	for _, s := range samples() {
		creating.Go(func() error { return real.create(ctx, "/api/v1/nodes", s.json()) })
	}
	if err := creating.Wait(); err != nil {
		t.Fatal(err)
	}
	stage := startStage(t, real)

	t.Run("rights", func(t *testing.T) { testRights(t, real) })
	t.Run("nodes", func(t *testing.T) { testNodes(t, real, stage, created) })
	t.Run("pages", func(t *testing.T) { testPages(t, real, stage) })
	t.Run("selectors", func(t *testing.T) { testSelectors(t, real, stage) })
	t.Run("answers", func(t *testing.T) { testAnswers(t, real, stage) })
	t.Run("expired pages", func(t *testing.T) { testExpiredPages(t, real, etcd) })
}

// testRights applies the manifest. Before, Rollcall may nothing.
func testRights(t *testing.T, real *place) {
	const want = `nodes is forbidden: User "arn:aws:iam::123456789012:role/join-check" cannot list resource "nodes" in API group "" at the cluster scope`
	if diff := gocmp.Diff(real.refusal(t, rollcallToken), kube.StatusError{Code: 403, Reason: "Forbidden", Message: want}); diff != "" {
		t.Errorf("before the manifest is applied (-got +want):\n%s", diff)
	}
	applyManifest(t, real)
	// The authorizer learns of a binding by a watch of its own.
	for until := time.Now().Add(startTime); ; time.Sleep(50 * time.Millisecond) {
		_, err := real.nodes(t.Context(), rollcallToken)
		if err == nil {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("the manifest's rights do not let Rollcall list the nodes: %v", err)
		}
	}
	for _, r := range []struct{ method, target, reason string }{
		{http.MethodGet, "/api/v1/nodes?limit=1", ""},
		{http.MethodGet, "/api/v1/nodes/bare", "Forbidden"},
		{http.MethodGet, "/api/v1/nodes?watch=true", "Forbidden"},
		{http.MethodGet, "/api/v1/pods", "Forbidden"},
		{http.MethodGet, "/api/v1/secrets", "Forbidden"},
		{http.MethodGet, "/api/v1/namespaces/kube-system/configmaps", "Forbidden"},
		{http.MethodPatch, "/api/v1/nodes/bare", "Forbidden"},
		{http.MethodDelete, "/api/v1/nodes/bare", "Forbidden"},
		{http.MethodDelete, "/api/v1/nodes", "Forbidden"},
	} {
		got := real.ask(t, rollcallToken, r.method, r.target, nil)
		if s := got.status(); r.reason != s.Reason && got.code != http.StatusOK || (r.reason == "") != (got.code == http.StatusOK) {
			t.Errorf("%s %s = %d %q, want the reason %q", r.method, r.target, got.code, s.Reason, r.reason)
		}
	}
}

// applyManifest creates what the file that the README tells people to apply
// holds.
func applyManifest(t *testing.T, real *place) {
	t.Helper()
	file, err := os.Open("../../deploy/clusterrole.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	paths := map[string]string{"ClusterRole": "clusterroles", "ClusterRoleBinding": "clusterrolebindings"}
	for documents := yaml.NewDecoder(file); ; {
		var object map[string]any
		if err := documents.Decode(&object); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		kind, _ := object["kind"].(string)
		if paths[kind] == "" {
			t.Fatalf("the manifest holds the kind %q", kind)
		}
		if err := real.create(t.Context(), "/apis/rbac.authorization.k8s.io/v1/"+paths[kind], object); err != nil {
			t.Fatal(err)
		}
		delete(paths, kind)
	}
	if len(paths) != 0 {
		t.Fatalf("the manifest lacks %v", paths)
	}
}

// testNodes reads all nodes with Rollcall's reader and rights.
func testNodes(t *testing.T, real, stage *place, created time.Time) {
	var want []kube.Node
	for _, s := range samples() {
		want = append(want, s.node())
	}
	slices.SortFunc(want, func(a, b kube.Node) int { return cmp.Compare(a.Metadata.Name, b.Metadata.Name) })
	inReal, err := real.nodes(t.Context(), rollcallToken)
	if err != nil {
		t.Fatal(err)
	}
	onStage, err := stage.nodes(t.Context(), rollcallToken)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(onStage, inReal); diff != "" {
		t.Errorf("nodes (-stage +kube-apiserver):\n%s", diff)
	}
	for i := range inReal {
		made := &inReal[i].Metadata.CreationTimestamp
		if made.Before(created) || made.After(time.Now()) {
			t.Errorf("%s was created at %s, want between %s and now", inReal[i].Metadata.Name, made, created)
		}
		*made = time.Time{}
	}
	if diff := gocmp.Diff(inReal, want); diff != "" {
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
	for _, query := range []string{"limit=500", "limit=1205", "limit=0", "limit=600&resourceVersion=0", "limit=150&labelSelector=topology.kubernetes.io/zone%3Dus-west-2a"} {
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
		if diff := gocmp.Diff(walk(stage), walk(real), gocmp.AllowUnexported(seen{})); diff != "" {
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
		if diff := gocmp.Diff(onStage.list(t).names(), names); diff != "" {
			t.Errorf("%q %q (-stage +kube-apiserver):\n%s", s.label, s.field, diff)
		}
	}
}

// testAnswers compares what is said instead of a list.
func testAnswers(t *testing.T, real, stage *place) {
	for _, token := range []string{wrongToken, strangerToken} {
		if diff := gocmp.Diff(stage.refusal(t, token), real.refusal(t, token)); diff != "" {
			t.Errorf("the reader with the %s (-stage +kube-apiserver):\n%s", token, diff)
		}
	}
	for _, r := range []struct {
		token, method, target string
		code                  int
	}{
		{"", http.MethodGet, "/api/v1/nodes", 401},
		{wrongToken, http.MethodGet, "/api/v1/nodes", 401},
		{wrongToken, http.MethodGet, "/api", 401},
		{wrongToken, http.MethodGet, "/nothing/here", 401},
		{wrongToken, http.MethodDelete, "/api/v1/nodes/bare", 401},

		{strangerToken, http.MethodGet, "/api/v1/nodes", 403},
		{strangerToken, http.MethodGet, "/api/v1/nodes?limit=500", 403},
		{strangerToken, http.MethodGet, "/api/v1/nodes/bare", 403},
		{strangerToken, http.MethodGet, "/api/v1/nodes/missing", 403},
		{strangerToken, http.MethodGet, "/api/v1/nodes?labelSelector=-broken", 403},
		{rollcallToken, http.MethodGet, "/api/v1/nodes/bare", 403},
		{rollcallToken, http.MethodGet, "/api/v1/nodes/bare/proxy", 403},
		{rollcallToken, http.MethodGet, "/api/v1/nodes/bare/status", 403},
		{rollcallToken, http.MethodGet, "/api/v1/nodes?watch=true", 403},
		{rollcallToken, http.MethodGet, "/api/v1/nodes?watch=1&fieldSelector=metadata.name%3Dbare", 403},
		{rollcallToken, http.MethodGet, "/api/v1/pods", 403},
		{rollcallToken, http.MethodGet, "/api/v1/secrets", 403},
		{rollcallToken, http.MethodGet, "/api/v1/namespaces", 403},
		{rollcallToken, http.MethodGet, "/api/v1/namespaces/kube-system", 403},
		{rollcallToken, http.MethodGet, "/api/v1/namespaces/kube-system/configmaps", 403},
		{rollcallToken, http.MethodGet, "/api/v1/namespaces/kube-system/configmaps/aws-auth", 403},
		{rollcallToken, http.MethodGet, "/apis/apps/v1/daemonsets", 403},
		{rollcallToken, http.MethodGet, "/apis/apps/v1/namespaces/kube-system/daemonsets", 403},
		{rollcallToken, http.MethodGet, "/apis/apps/v1/namespaces/kube-system/daemonsets/aws-node", 403},
		{rollcallToken, http.MethodGet, "/api/v1/widgets", 403},
		{rollcallToken, http.MethodGet, "/apis/example.com/v1/widgets", 403},
		{rollcallToken, http.MethodGet, "/nothing/here", 403},
		{rollcallToken, http.MethodPost, "/api/v1/nodes", 403},
		{rollcallToken, http.MethodPut, "/api/v1/nodes/bare", 403},
		{rollcallToken, http.MethodPatch, "/api/v1/nodes/bare", 403},
		{rollcallToken, http.MethodDelete, "/api/v1/nodes/bare", 403},
		{rollcallToken, http.MethodDelete, "/api/v1/nodes", 403},

		{adminToken, http.MethodGet, "/api/v1/nodes/missing", 404},
		{adminToken, http.MethodGet, "/api/v1/namespaces/kube-system/pods/missing", 404},
		{adminToken, http.MethodGet, "/apis/apps/v1/namespaces/kube-system/daemonsets/missing", 404},
		{adminToken, http.MethodGet, "/api/v1/widgets", 404},
		{adminToken, http.MethodGet, "/api/v1/widgets/one", 404},
		{adminToken, http.MethodGet, "/apis/apps/v1/widgets", 404},
		{adminToken, http.MethodGet, "/apis/example.com/v1/widgets", 404},
		{adminToken, http.MethodGet, "/apis/example.com/v1", 404},
		{adminToken, http.MethodGet, "/nothing/here", 404},
	} {
		var body any
		if r.method != http.MethodGet && r.method != http.MethodDelete {
			body = json.RawMessage(`{"metadata":{"name":"bare"}}`)
		}
		inReal, onStage := real.ask(t, r.token, r.method, r.target, body).status(), stage.ask(t, r.token, r.method, r.target, body).status()
		if inReal.Code != r.code {
			t.Errorf("%s %s: kube-apiserver answered %v, want %d", r.method, r.target, &inReal, r.code)
		}
		if diff := gocmp.Diff(onStage, inReal); diff != "" {
			t.Errorf("%s %s (-stage +kube-apiserver):\n%s", r.method, r.target, diff)
		}
	}
	// What is wrong with a request, each API says in its own words.
	for _, query := range []string{"labelSelector=a+in+b", "labelSelector=-a", "labelSelector=a%3Db+c", "fieldSelector=spec.providerID%3Dx", "limit=x", "limit=-1", "continue=x&limit=1"} {
		type said struct {
			Code   int
			Reason string
		}
		var got []said
		for _, p := range []*place{stage, real} {
			s := p.ask(t, adminToken, http.MethodGet, "/api/v1/nodes?"+query, nil).status()
			got = append(got, said{s.Code, s.Reason})
			t.Logf("%s: %s: %v", query, p.name, s)
		}
		if diff := gocmp.Diff(got[0], got[1]); diff != "" {
			t.Errorf("%s (-stage +kube-apiserver):\n%s", query, diff)
		}
	}
}
