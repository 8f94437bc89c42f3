package kubeapi

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestAnswers(t *testing.T) {
	tests := []struct {
		name, token, target string
		code                int
		reason, message     string
	}{
		{"no token", "", "/api/v1/nodes", 401, "Unauthorized", "Unauthorized"},
		{"forged token", "forged", "/api/v1/nodes", 401, "Unauthorized", "Unauthorized"},
		{"no token for discovery", "", "/api", 401, "Unauthorized", "Unauthorized"},
		{"may not list", "get", "/api/v1/nodes", 403, "Forbidden", `nodes is forbidden: User "arn:x" cannot list resource "nodes" in API group "" at the cluster scope`},
		{"may not list in a namespace", "get", "/apis/apps/v1/namespaces/a/daemonsets", 403, "Forbidden",
			`daemonsets.apps is forbidden: User "arn:x" cannot list resource "daemonsets" in API group "apps" in the namespace "a"`},
		{"may not get", "list", "/api/v1/nodes/n1", 403, "Forbidden", `nodes "n1" is forbidden: User "arn:x" cannot get resource "nodes" in API group "" at the cluster scope`},
		{"no such node", "get", "/api/v1/nodes/n9", 404, "NotFound", `nodes "n9" not found`},
		{"no such kind", "list", "/api/v1/secrets", 404, "NotFound", "the server could not find the requested resource"},
		{"broken selector", "list", "/api/v1/nodes?labelSelector=a+in+b", 400, "BadRequest", `unable to parse requirement: invalid label key "a in b"`},
		{"no index", "list", "/api/v1/nodes?fieldSelector=spec.providerID%3Dx", 400, "BadRequest", "field label not supported: spec.providerID"},
		{"broken limit", "list", "/api/v1/nodes?limit=x", 400, "BadRequest", `limit: "x" is not a valid limit`},
		{"broken continue", "list", "/api/v1/nodes?continue=x", 400, "BadRequest", `continue key is not valid: "x"`},
		{"no such kind of a group", "list", "/apis/apps/v1/widgets", 404, "NotFound", "the server could not find the requested resource"},
		{"may not list what is not there", "get", "/api/v1/widgets", 403, "Forbidden", `widgets is forbidden: User "arn:x" cannot list resource "widgets" in API group "" at the cluster scope`},
		{"may not get a subresource", "list", "/api/v1/nodes/n1/proxy", 403, "Forbidden", `nodes "n1" is forbidden: User "arn:x" cannot get resource "nodes/proxy" in API group "" at the cluster scope`},
		{"may not list one", "get", "/api/v1/nodes?fieldSelector=metadata.name%3Dn1", 403, "Forbidden", `nodes "n1" is forbidden: User "arn:x" cannot list resource "nodes" in API group "" at the cluster scope`},
		{"may not see a namespace", "list", "/api/v1/namespaces/a", 403, "Forbidden", `namespaces "a" is forbidden: User "arn:x" cannot get resource "namespaces" in API group "" in the namespace "a"`},
		{"may not watch", "list", "/api/v1/nodes?watch=true", 403, "Forbidden", `nodes is forbidden: User "arn:x" cannot watch resource "nodes" in API group "" at the cluster scope`},
		{"watch", "watch", "/api/v1/nodes?watch=true", 405, "MethodNotAllowed", "the server does not allow this method on the requested resource"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, _, _ := stage(t)
			w := get(s, tt.token, tt.target, "application/json")
			l := read(t, w)
			if w.Code != tt.code || l.Kind != "Status" || l.Code != tt.code || l.Reason != tt.reason || l.Message != tt.message {
				t.Errorf("answer = %d %+v, want %d %q %q", w.Code, l, tt.code, tt.reason, tt.message)
			}
		})
	}
}

func TestWriting(t *testing.T) {
	tests := []struct {
		method, target, token string
		code                  int
		operation             string
	}{
		{http.MethodPost, "/api/v1/nodes", "list", 403, "create nodes"},
		{http.MethodPut, "/api/v1/nodes/n1", "list", 403, "update nodes"},
		{http.MethodPatch, "/api/v1/nodes/n1", "list", 403, "patch nodes"},
		{http.MethodDelete, "/api/v1/nodes/n1", "list", 403, "delete nodes"},
		{http.MethodDelete, "/api/v1/nodes", "list", 403, "deletecollection nodes"},
		{http.MethodDelete, "/api/v1/nodes/n1", "delete", 405, "delete nodes"},
		{http.MethodDelete, "/api/v1/nodes/n1", "forged", 401, "delete nodes"},
	}
	for _, tt := range tests {
		s, calls, _ := stage(t)
		r := httptest.NewRequest(tt.method, tt.target, nil)
		r.Header.Set("Authorization", "Bearer "+tt.token)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != tt.code {
			t.Errorf("%s %s by %q = %d, want %d", tt.method, tt.target, tt.token, w.Code, tt.code)
		}
		if got := (*calls)[0].Operation; got != tt.operation {
			t.Errorf("%s %s was recorded as %q, want %q", tt.method, tt.target, got, tt.operation)
		}
	}
}

// TestNoPath: where there is no API, the answer is not the API's.
func TestNoPath(t *testing.T) {
	s, _, _ := stage(t)
	for _, target := range []string{"/nothing/here", "/apis/example.com/v1", "/apis/example.com/v1/widgets"} {
		w := get(s, "list", target, "application/json")
		if got := w.Header().Get("Content-Type"); w.Code != 404 || w.Body.String() != "404 page not found\n" || got != "text/plain; charset=utf-8" {
			t.Errorf("%s: %d %q %q, want 404 page not found as text", target, w.Code, got, w.Body)
		}
	}
}
