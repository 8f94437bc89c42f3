//go:build kube

package kubetest

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// testAnswers compares what is said instead of a list.
func testAnswers(t *testing.T, real, stage *place) {
	for _, token := range []string{wrongToken, strangerToken} {
		if diff := cmp.Diff(stage.refusal(t, token), real.refusal(t, token)); diff != "" {
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
		{rollcallToken, http.MethodGet, "/api/v1/pods?watch=true", 403},
		{rollcallToken, http.MethodGet, "/api/v1/namespaces/kube-system/pods/one", 403},
		{rollcallToken, http.MethodGet, "/api/v1/secrets", 403},
		{rollcallToken, http.MethodGet, "/api/v1/namespaces", 403},
		{rollcallToken, http.MethodGet, "/api/v1/namespaces/kube-system", 403},
		{rollcallToken, http.MethodGet, "/api/v1/namespaces/kube-system/configmaps", 403},
		{rollcallToken, http.MethodGet, "/api/v1/namespaces/kube-system/configmaps/aws-auth", 404},
		{rollcallToken, http.MethodGet, "/apis/apps/v1/daemonsets", 403},
		{rollcallToken, http.MethodGet, "/apis/apps/v1/namespaces/kube-system/daemonsets", 403},
		{rollcallToken, http.MethodGet, "/apis/apps/v1/namespaces/kube-system/daemonsets/aws-node", 404},
		{rollcallToken, http.MethodGet, "/apis/apps/v1/namespaces/default/daemonsets/aws-node", 403},
		{rollcallToken, http.MethodGet, "/api/v1/widgets", 403},
		{rollcallToken, http.MethodGet, "/apis/example.com/v1/widgets", 403},
		{rollcallToken, http.MethodGet, "/apis/example.com/v1", 404},
		{rollcallToken, http.MethodGet, "/api/v1/secrets?fieldSelector=metadata.name%3Dbare", 403},
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
		if diff := cmp.Diff(onStage, inReal); diff != "" {
			t.Errorf("%s %s (-stage +kube-apiserver):\n%s", r.method, r.target, diff)
		}
	}
	// What is wrong with a request, each API says in its own words.
	for _, query := range []string{"labelSelector=a+in+b", "labelSelector=-a", "labelSelector=a%3Db+c", "fieldSelector=spec.providerID%3Dx", "limit=x", "labelSelector=i%3Eone", "fieldSelector=metadata.name", "continue=x&limit=1"} {
		type said struct {
			Code   int
			Reason string
		}
		var got []said
		for _, p := range []*place{stage, real} {
			s := p.ask(t, adminToken, http.MethodGet, "/api/v1/nodes?"+query, nil).status()
			got = append(got, said{s.Code, s.Reason})
		}
		if diff := cmp.Diff(got[0], got[1]); diff != "" {
			t.Errorf("%s (-stage +kube-apiserver):\n%s", query, diff)
		}
	}
}
