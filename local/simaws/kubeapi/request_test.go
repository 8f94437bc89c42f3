package kubeapi

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseRequest(t *testing.T) {
	type want struct {
		verb, target, namespace, name string
		served                        bool
	}
	tests := []struct {
		path string
		want *want
	}{
		{"/api/v1/nodes", &want{"list", "nodes", "", "", true}},
		{"/api/v1/nodes/ip-10-0-0-1.ec2.internal", &want{"get", "nodes", "", "ip-10-0-0-1.ec2.internal", true}},
		{"/api/v1/pods", &want{"list", "pods", "", "", true}},
		{"/api/v1/namespaces/kube-system/pods/a%20b", &want{"get", "pods", "kube-system", "a b", true}},
		{"/apis/apps/v1/namespaces/kube-system/daemonsets", &want{"list", "daemonsets", "kube-system", "", true}},
		{"/api/v1/pods/x", &want{"get", "pods", "", "x", false}},
		{"/api/v1/namespaces/x/nodes", &want{"list", "nodes", "x", "", false}},
		{"/api/v1/namespaces", &want{"list", "namespaces", "", "", false}},
		{"/api/v1/namespaces/x", &want{"get", "namespaces", "x", "x", false}},
		{"/api/v1/secrets", &want{"list", "secrets", "", "", false}},
		{"/api/v1/nodes/x/proxy", &want{"get", "nodes/proxy", "", "x", false}},
		{"/apis/apps/v1", nil},
		{"/api//nodes", nil},
		{"/", nil},
	}
	for _, tt := range tests {
		r, ok := parseRequest(http.MethodGet, tt.path, nil)
		if ok != (tt.want != nil) {
			t.Errorf("%s: understood = %v, want %v", tt.path, ok, tt.want != nil)
			continue
		}
		if ok {
			if diff := cmp.Diff(want{r.verb, r.target(), r.namespace, r.name, r.served}, *tt.want, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("%s (-got +want):\n%s", tt.path, diff)
			}
		}
	}
}

func TestWatchIsAVerb(t *testing.T) {
	for query, want := range map[string]string{
		"": "list", "true": "watch", "1": "watch", "yes": "watch", "false": "list", "0": "list",
	} {
		values := map[string][]string{"limit": {"1"}}
		if query != "" {
			values["watch"] = []string{query}
		}
		if r, _ := parseRequest(http.MethodGet, "/api/v1/nodes", values); r.verb != want {
			t.Errorf("watch=%s: verb %q, want %q", query, r.verb, want)
		}
	}
}

func FuzzParseRequest(f *testing.F) {
	for _, path := range []string{"/api/v1/nodes/x/proxy", "/apis/apps/v1/namespaces/a/daemonsets/b", "/api/v1/namespaces/a", "/api/v1/%2e%zz", "//"} {
		f.Add(path, "metadata.name=a")
	}
	f.Fuzz(func(t *testing.T, path, fields string) {
		r, ok := parseRequest(http.MethodGet, path, url.Values{"fieldSelector": {fields}})
		if r.served && (!ok || r.kind.Plural != r.resource || r.kind.Group != r.group || r.subresource != "") {
			t.Errorf("%q is served as %+v", path, r)
		}
	})
}
