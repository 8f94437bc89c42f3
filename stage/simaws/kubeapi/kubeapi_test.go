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

	"rollcall/stage/platform/wire"
)

// A kind whose definition is not installed is not there: neither to list nor in
// what the API says that it has.
func TestCustomKinds(t *testing.T) {
	s, _, _ := stage(t)
	objects := s.cfg.Objects
	for _, installed := range []bool{true, false} {
		s.cfg.Objects = func(plural string) ([]json.RawMessage, string, error) {
			switch {
			case plural != "eniconfigs":
				return objects(plural)
			case !installed:
				return nil, "", NotInstalled()
			}
			return []json.RawMessage{json.RawMessage(`{"metadata":{"name":"us-west-2a"},"spec":{"subnet":"subnet-1"}}`)}, "42", nil
		}
		list := get(s, "list", "/apis/crd.k8s.amazonaws.com/v1alpha1/eniconfigs", "application/json")
		want := http.StatusNotFound
		if installed {
			want = http.StatusOK
		}
		if list.Code != want || installed && !strings.Contains(list.Body.String(), `"kind":"ENIConfigList","apiVersion":"crd.k8s.amazonaws.com/v1alpha1"`) {
			t.Errorf("installed %t: the list is %d %s", installed, list.Code, list.Body)
		}
		if apis := get(s, "list", "/apis", "application/json").Body.String(); strings.Contains(apis, "crd.k8s.amazonaws.com/v1alpha1") != installed {
			t.Errorf("installed %t: the groups are %s", installed, apis)
		}
		if code := get(s, "list", "/apis/crd.k8s.amazonaws.com/v1alpha1", "application/json").Code; code != want {
			t.Errorf("installed %t: the group's resources are %d", installed, code)
		}
	}
}

// By itself an object says what it is; in a list only a custom resource does.
func TestWhatAnObjectIs(t *testing.T) {
	node, pool := Kind{Kind: "Node", Version: "v1"}, Kind{Kind: "NodePool", Group: "karpenter.sh", Version: "v1", Custom: true}
	csr := Kind{Kind: "CertificateSigningRequest", Group: "certificates.k8s.io", Version: "v1"}
	for name, tt := range map[string]struct {
		kind        Kind
		raw         string
		alone, item string
	}{
		"a node without":         {node, `{"metadata":{"name":"a"}}`, `{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"}}`, `{"metadata":{"name":"a"}}`},
		"a node with":            {node, `{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"}}`, `{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"}}`, `{"metadata":{"name":"a"}}`},
		"a kind of an own group": {csr, `{"metadata":{"name":"a"}}`, `{"apiVersion":"certificates.k8s.io/v1","kind":"CertificateSigningRequest","metadata":{"name":"a"}}`, `{"metadata":{"name":"a"}}`},
		"a custom resource":      {pool, `{"metadata":{"name":"a"}}`, `{"apiVersion":"karpenter.sh/v1","kind":"NodePool","metadata":{"name":"a"}}`, `{"apiVersion":"karpenter.sh/v1","kind":"NodePool","metadata":{"name":"a"}}`},
	} {
		o, err := newObject(tt.kind, json.RawMessage(tt.raw))
		if err != nil {
			t.Fatal(err)
		}
		alone, err := o.alone()
		if err != nil || string(alone) != tt.alone {
			t.Errorf("%s, alone: %s, %v", name, alone, err)
		}
		item, err := o.item(tt.kind)
		if err != nil || string(item) != tt.item {
			t.Errorf("%s, in a list: %s, %v", name, item, err)
		}
	}
}

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

// raw makes an object with labels ("a=1,b=").
func raw(t testing.TB, namespace, name, labels string) json.RawMessage {
	t.Helper()
	m := map[string]string{}
	for pair := range strings.SplitSeq(labels, ",") {
		if k, v, ok := strings.Cut(pair, "="); ok {
			m[k] = v
		}
	}
	b, err := json.Marshal(map[string]any{"metadata": map[string]any{"name": name, "namespace": namespace, "labels": m,
		"creationTimestamp": "2026-11-20T21:00:00Z"}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestLabelSelector(t *testing.T) {
	nodes := []json.RawMessage{
		raw(t, "", "c", "eks.amazonaws.com/nodegroup=spot,zone=us-west-2c,i=9"),
		raw(t, "", "a", "eks.amazonaws.com/nodegroup=workers,zone=us-west-2a,i=10"),
		raw(t, "", "b", "zone=us-west-2b,special=,i=x"),
	}
	tests := []struct {
		selector, want string
	}{
		{"", "a b c"},
		{"eks.amazonaws.com/nodegroup=workers", "a"},
		{"eks.amazonaws.com/nodegroup==workers", "a"},
		{"eks.amazonaws.com/nodegroup = workers", "a"},
		{"eks.amazonaws.com/nodegroup!=workers", "b c"},
		{"zone in (us-west-2a, us-west-2b)", "a b"},
		{"zone in (us-west-2a,us-west-2b),eks.amazonaws.com/nodegroup", "a"},
		{"eks.amazonaws.com/nodegroup notin (workers)", "b c"},
		{"!eks.amazonaws.com/nodegroup", "b"},
		{"special", "b"},
		{"special=", "b"},
		{"zone,!special", "a c"},
		{"zone=nowhere", ""},
		{"i>9", "a"},
		{"i > 8", "a c"},
		{"i<10", "c"},
		{"nothing<10", ""},
	}
	for _, tt := range tests {
		t.Run(tt.selector, func(t *testing.T) {
			rs, err := parseSelector(tt.selector)
			if err != nil {
				t.Fatal(err)
			}
			got, err := selectObjects(request{kind: kinds()[2]}, nodes, rs, nil)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, o := range got {
				names = append(names, o.name())
			}
			if got := strings.Join(names, " "); got != tt.want {
				t.Errorf("selected %q, want %q", got, tt.want)
			}
		})
	}
}

func TestBrokenSelectors(t *testing.T) {
	for _, text := range []string{",", "a,", "a in b", "a=b c", "-a", "a=(", "a in (b", "=x", "a in (b c)", "über=1", "a>b", "a<", ">1"} {
		if rs, err := parseSelector(text); err == nil {
			t.Errorf("selector %q was read as %+v, want an error", text, rs)
		}
	}
	node, _ := findKind("", "v1", "nodes")
	for _, text := range []string{"spec.providerID=aws:///a/i-1", "metadata.name", "metadata.namespace=x"} {
		if rs, err := parseFields(node, text); err == nil {
			t.Errorf("field selector %q was read as %+v, want an error", text, rs)
		}
	}
}

func FuzzParseSelector(f *testing.F) {
	for _, text := range []string{"a=b,c!=d", "a in (b,c),!d", "a notin ()", "((,))"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rs, err := parseSelector(text)
		if err != nil {
			return
		}
		for _, r := range rs {
			if !labelKey.MatchString(r.key) {
				t.Errorf("selector %q gave the key %q", text, r.key)
			}
			r.matches(map[string]string{"a": "b"})
		}
	})
}

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
