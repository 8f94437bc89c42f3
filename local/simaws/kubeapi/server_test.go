package kubeapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/local/platform/wire"
)

var testNow = time.Date(2026, 11, 20, 21, 5, 30, 0, time.UTC)

// stage is a server with five nodes and two pods. The token is the verb that
// the caller may use on everything.
func stage(t *testing.T) (*Server, *[]wire.Call, *error) {
	t.Helper()
	var calls []wire.Call
	var fault error
	objects := map[string][]json.RawMessage{"pods": {raw(t, "b", "x", ""), raw(t, "a", "y", "")}}
	for i := range 5 {
		objects["nodes"] = append(objects["nodes"], raw(t, "", fmt.Sprintf("n%d", 4-i), fmt.Sprintf("i=%d", i%2)))
	}
	s := New(Config{
		Version: "1.33",
		Authenticate: func(_ context.Context, token string) (User, error) {
			if token == "forged" {
				return User{}, errors.New("forged")
			}
			return User{Name: "arn:x", Principal: wire.Principal{Name: "join-check"},
				Rules: []Rule{{Groups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{token}}}}, nil
		},
		Objects: func(plural string) ([]json.RawMessage, string, error) { return objects[plural], "42", nil },
		Faults:  wire.FaultFunc(func(context.Context, *wire.Call) error { return fault }),
		Record:  func(c wire.Call) { calls = append(calls, c) },
		Now:     func() time.Time { return testNow }, Wall: func() time.Time { return testNow },
	})
	return s, &calls, &fault
}

func get(s http.Handler, token, target, accept string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, target, nil)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	r.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// list is what a client reads of a list or an error.
type list struct {
	Kind     string
	Metadata struct {
		ResourceVersion, Continue string
		RemainingItemCount        *int
	}
	Items []struct {
		Kind, APIVersion string
		Metadata         struct{ Name string }
	}
	Code            int
	Reason, Message string
}

func read(t *testing.T, w *httptest.ResponseRecorder) list {
	t.Helper()
	var l list
	if err := json.Unmarshal(w.Body.Bytes(), &l); err != nil {
		t.Fatalf("body %q: %v", w.Body, err)
	}
	return l
}

func (l list) names() string {
	var out []string
	for _, i := range l.Items {
		out = append(out, i.Metadata.Name)
	}
	return strings.Join(out, " ")
}

func TestPages(t *testing.T) {
	s, calls, _ := stage(t)
	var got []string
	next := ""
	for page := 0; ; page++ {
		l := read(t, get(s, "list", "/api/v1/nodes?limit=2&continue="+next, "application/json"))
		if l.Kind != "NodeList" || l.Metadata.ResourceVersion != "42" || l.Items[0].Kind != "" || l.Items[0].APIVersion != "" {
			t.Errorf("list = %+v, want a NodeList at version 42, whose items do not say what they are", l)
		}
		remaining := -1
		if l.Metadata.RemainingItemCount != nil {
			remaining = *l.Metadata.RemainingItemCount
		}
		got = append(got, fmt.Sprintf("%s (%d)", l.names(), remaining))
		if next = l.Metadata.Continue; next == "" {
			break
		}
	}
	if diff := cmp.Diff(got, []string{"n0 n1 (3)", "n2 n3 (1)", "n4 (-1)"}); diff != "" {
		t.Errorf("pages (-got +want):\n%s", diff)
	}
	if len(*calls) != 3 {
		t.Errorf("recorded %d calls, want 3", len(*calls))
	}
	want := wire.Call{Service: "kubernetes", Operation: "list nodes", Caller: "join-check",
		Principal: wire.Principal{Name: "join-check"}, Time: testNow, Status: 200}
	if diff := cmp.Diff((*calls)[0], want); diff != "" {
		t.Errorf("call (-got +want):\n%s", diff)
	}
	selected := read(t, get(s, "list", "/api/v1/nodes?limit=1&labelSelector="+url.QueryEscape("i=1"), ""))
	if selected.names() != "n1" || selected.Metadata.RemainingItemCount != nil || selected.Metadata.Continue == "" {
		t.Errorf("page with a selector = %+v, want n1, more, and no count", selected)
	}
}

// TestNoLimit: lists that the API server does not cut.
func TestNoLimit(t *testing.T) {
	s, _, _ := stage(t)
	for _, query := range []string{"limit=0", "limit=-1", "limit=2&resourceVersion=0"} {
		l := read(t, get(s, "list", "/api/v1/nodes?"+query, ""))
		if l.names() != "n0 n1 n2 n3 n4" || l.Metadata.Continue != "" {
			t.Errorf("%s: %q, continue %q; want all nodes", query, l.names(), l.Metadata.Continue)
		}
	}
}

func TestFaults(t *testing.T) {
	tests := []struct {
		fault  error
		code   int
		reason string
	}{
		{wire.Denied, 403, "Forbidden"},
		{wire.Throttled, 429, "TooManyRequests"},
		{wire.Broken, 500, "InternalError"},
	}
	s, calls, fault := stage(t)
	for _, tt := range tests {
		*fault = tt.fault
		if l := read(t, get(s, "list", "/api/v1/nodes", "")); l.Code != tt.code || l.Reason != tt.reason {
			t.Errorf("%v: answer = %+v, want %d %q", tt.fault, l, tt.code, tt.reason)
		}
		if c := (*calls)[len(*calls)-1]; c.Code != tt.reason || c.Status != tt.code {
			t.Errorf("%v: call = %+v, want %q", tt.fault, c, tt.reason)
		}
	}
	*fault = wire.Reset
	ts := httptest.NewServer(s)
	defer ts.Close()
	req, err := http.NewRequest(http.MethodGet, ts.URL+"/api/v1/nodes", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer list")
	if res, err := http.DefaultClient.Do(req); err == nil {
		res.Body.Close()
		t.Errorf("status = %d, want no answer", res.StatusCode)
	}
}

func TestNamespaces(t *testing.T) {
	s, _, _ := stage(t)
	for target, want := range map[string]string{
		"/api/v1/pods":                                      "y x",
		"/api/v1/namespaces/a/pods":                         "y",
		"/api/v1/namespaces/c/pods":                         "",
		"/api/v1/pods?fieldSelector=metadata.namespace%3Db": "x",
	} {
		if got := read(t, get(s, "list", target, "")).names(); got != want {
			t.Errorf("%s: names = %q, want %q", target, got, want)
		}
	}
}

func TestNodeTable(t *testing.T) {
	const node = `{"metadata":{"name":"ip-10-42-0-9","creationTimestamp":"2026-11-20T21:00:00Z","labels":{"node-role.kubernetes.io/infra":""}},
		"spec":{"unschedulable":true},"status":{"conditions":[{"type":"Ready","status":"False"}],
		"addresses":[{"type":"InternalIP","address":"10.42.0.9"}],"nodeInfo":{"kubeletVersion":"v1.33.1-eks-1","osImage":"Amazon Linux 2023"}}}`
	k, _ := findKind("", "v1", "nodes")
	o, err := newObject(k, json.RawMessage(node))
	if err != nil {
		t.Fatal(err)
	}
	want := []any{"ip-10-42-0-9", "NotReady,SchedulingDisabled", "infra", "5m30s", "v1.33.1-eks-1", "10.42.0.9", "<none>", "Amazon Linux 2023", "", ""}
	if diff := cmp.Diff(nodeCells(o, testNow), want); diff != "" {
		t.Errorf("cells (-got +want):\n%s", diff)
	}
	s, _, _ := stage(t)
	const accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
	var got struct {
		Kind              string
		ColumnDefinitions []struct{ Name string }
		Rows              []struct {
			Cells  []any
			Object struct{ Kind string }
		}
	}
	if err := json.Unmarshal(get(s, "list", "/api/v1/nodes?limit=2", accept).Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Kind != "Table" || len(got.Rows) != 2 || len(got.Rows[0].Cells) != len(got.ColumnDefinitions) || got.Rows[0].Object.Kind != "PartialObjectMetadata" {
		t.Errorf("table = %+v, want two rows with a cell for each column", got)
	}
}

func TestAge(t *testing.T) {
	created := func(d time.Duration) object {
		var o object
		o.meta.Metadata.CreationTimestamp = testNow.Add(-d).Format(time.RFC3339)
		return o
	}
	for d, want := range map[time.Duration]string{
		58 * time.Second: "58s", 119 * time.Second: "119s", 2 * time.Minute: "2m", 9*time.Minute + 5*time.Second: "9m5s",
		11 * time.Minute: "11m", 179 * time.Minute: "179m", 5 * time.Hour: "5h", 5*time.Hour + 3*time.Minute: "5h3m", 10*time.Hour + 3*time.Minute: "10h",
		50 * time.Hour: "2d2h", 240 * time.Hour: "10d", -time.Minute: "0s",
	} {
		if got := age(created(d), testNow); got != want {
			t.Errorf("age after %v = %q, want %q", d, got, want)
		}
	}
}

func TestRuleAllows(t *testing.T) {
	nodes := Attributes{Verb: "list", Resource: "nodes"}
	pods := Attributes{Verb: "list", Resource: "pods", Namespace: "a"}
	tests := []struct {
		name string
		rule Rule
		want Attributes
		ok   bool
	}{
		{"all", Rule{Groups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}}, nodes, true},
		{"exact", Rule{Groups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"list"}}, nodes, true},
		{"another verb", Rule{Groups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"get"}}, nodes, false},
		{"another group", Rule{Groups: []string{"apps"}, Resources: []string{"nodes"}, Verbs: []string{"list"}}, nodes, false},
		{"in the namespace", Rule{Groups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list"}, Namespaces: []string{"a"}}, pods, true},
		{"in another namespace", Rule{Groups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list"}, Namespaces: []string{"b"}}, pods, false},
		{"nodes are in no namespace", Rule{Groups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"list"}, Namespaces: []string{"a"}}, nodes, false},
	}
	for _, tt := range tests {
		if got := tt.rule.Allows(tt.want); got != tt.ok {
			t.Errorf("%s: allows = %v, want %v", tt.name, got, tt.ok)
		}
	}
}
