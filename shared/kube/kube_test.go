package kube

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"rollcall/tools/expect"
)

func server(t *testing.T, handle http.HandlerFunc) *Client {
	t.Helper()
	s := httptest.NewTLSServer(handle)
	t.Cleanup(s.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	c, err := New(s.URL, ca, "k8s-aws-v1.secret")
	expect.OK(t, err)
	t.Cleanup(c.Close)
	return c
}

func item(n int) string {
	return fmt.Sprintf(`{"metadata":{"name":"node-%d","creationTimestamp":"2026-11-20T15:00:00Z"},"spec":{"providerID":"aws:///us-west-2a/i-%d"},
		"status":{"conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-11-20T15:00:58Z"}]}}`, n, n)
}

func TestNodesTakesAllPages(t *testing.T) {
	var asked []string
	c := server(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Query().Get("limit")+"/"+r.URL.Query().Get("continue"))
		expect.Equal(t, "authorization", r.Header.Get("Authorization"), "Bearer k8s-aws-v1.secret")
		switch r.URL.Query().Get("continue") {
		case "":
			fmt.Fprintf(w, `{"metadata":{"continue":"more"},"items":[%s]}`, item(1))
		case "more":
			fmt.Fprintf(w, `{"metadata":{},"items":[%s,%s]}`, item(2), item(3))
		}
	})
	nodes, err := c.Nodes(context.Background())
	expect.OK(t, err)
	var names []string
	for _, n := range nodes {
		names = append(names, n.Metadata.Name+" "+n.Spec.ProviderID+" "+n.Status.Conditions[0].LastTransitionTime.Format(time.RFC3339))
	}
	want := []string{
		"node-1 aws:///us-west-2a/i-1 2026-11-20T15:00:58Z",
		"node-2 aws:///us-west-2a/i-2 2026-11-20T15:00:58Z",
		"node-3 aws:///us-west-2a/i-3 2026-11-20T15:00:58Z",
	}
	expect.Same(t, "nodes", names, want)
	expect.Same(t, "requests", asked, []string{"500/", "500/more"})
}

func TestNodesBeginsAgainWhenPagesExpire(t *testing.T) {
	expired := false
	c := server(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Query().Get("continue") == "":
			fmt.Fprintf(w, `{"metadata":{"continue":"more"},"items":[%s]}`, item(1))
		case !expired:
			expired = true
			w.WriteHeader(http.StatusGone)
			fmt.Fprint(w, `{"kind":"Status","reason":"Expired","message":"The provided continue parameter is too old"}`)
		default:
			fmt.Fprintf(w, `{"metadata":{},"items":[%s]}`, item(2))
		}
	})
	nodes, err := c.Nodes(context.Background())
	if err != nil || len(nodes) != 2 {
		t.Errorf("got %d nodes, %v; want the 2 of the second try", len(nodes), err)
	}
}

func TestNodesSaysWhatTheAPISays(t *testing.T) {
	for _, test := range []struct {
		name   string
		code   int
		body   string
		reason string
		say    string
	}{
		{"forbidden", 403, `{"kind":"Status","reason":"Forbidden","message":"nodes is forbidden: User \"rollcall\" cannot list resource \"nodes\""}`, "Forbidden", "cannot list resource"},
		{"unauthorised", 401, `{"kind":"Status","reason":"Unauthorized","message":"Unauthorized"}`, "Unauthorized", "Unauthorized"},
		{"a proxy's page", 502, `<html>bad gateway</html>`, "", "Bad Gateway"},
		{"a redirect", 302, ``, "", "Found"},
	} {
		c := server(t, func(w http.ResponseWriter, _ *http.Request) {
			if test.code == 302 {
				w.Header().Set("Location", "https://elsewhere.example/")
			}
			w.WriteHeader(test.code)
			fmt.Fprint(w, test.body)
		})
		_, err := c.Nodes(context.Background())
		var status *StatusError
		if !errors.As(err, &status) || status.Code != test.code || status.Reason != test.reason || !strings.Contains(status.Message, test.say) {
			t.Errorf("%s: error %v; want a status %d %q saying %q", test.name, err, test.code, test.reason, test.say)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the token is in the error: %v", test.name, err)
		}
	}
}

func TestNodesRefusesHalfAnAnswer(t *testing.T) {
	c := server(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"items":[{"metadata":`) })
	if nodes, err := c.Nodes(context.Background()); err == nil {
		t.Errorf("half an answer gave %d nodes and no error", len(nodes))
	}
}

func TestNewRefuses(t *testing.T) {
	for name, args := range map[string][2]string{
		"no https":       {"http://x.example", "x"},
		"no host":        {"https://", "x"},
		"no certificate": {"https://x.example", "not PEM"},
	} {
		if _, err := New(args[0], []byte(args[1]), "t"); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestAnotherNameIsRefused(t *testing.T) {
	s := httptest.NewTLSServer(http.NotFoundHandler())
	defer s.Close()
	c := server(t, func(http.ResponseWriter, *http.Request) {})
	c.base, _ = url.Parse(s.URL)
	c.base.Host = strings.Replace(c.base.Host, "127.0.0.1", "localhost", 1) // not a name of the certificate
	if _, err := c.Nodes(context.Background()); err == nil {
		t.Error("a certificate for another name was accepted")
	}
}

func TestTokenIsForOneCluster(t *testing.T) {
	cfg := aws.Config{Region: "us-west-2", Credentials: credentials.NewStaticCredentialsProvider("AKID", "SECRET", "")}
	token, err := Token(context.Background(), sts.NewPresignClient(sts.NewFromConfig(cfg)), "prod")
	expect.OK(t, err)
	encoded, ok := strings.CutPrefix(token, "k8s-aws-v1.")
	if !ok {
		t.Fatalf("token %q has no k8s-aws-v1 prefix", token)
	}
	raw, err := base64.RawURLEncoding.DecodeString(encoded)
	expect.OK(t, err)
	u, err := url.Parse(string(raw))
	expect.OK(t, err)
	q := u.Query()
	for key, want := range map[string]string{
		"Action": "GetCallerIdentity", "X-Amz-Expires": "60", "X-Amz-SignedHeaders": "host;x-k8s-aws-id",
	} {
		expect.Equal(t, fmt.Sprint(key), q.Get(key), want)
	}
	if u.Host != "sts.us-west-2.amazonaws.com" {
		t.Errorf("host %q is not the regional one", u.Host)
	}
	if strings.Contains(string(raw), "SECRET") {
		t.Error("the secret key is in the token")
	}
}

func FuzzNodeList(f *testing.F) {
	f.Add([]byte(`{"metadata":{},"items":[` + item(1) + `]}`))
	f.Add([]byte(`{"items":null}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var list page[Node]
		_ = json.Unmarshal(raw, &list) // must not panic
	})
}

// A cluster that does not know the kind has none; a refusal is no such answer.
func TestENIConfigs(t *testing.T) {
	for name, test := range map[string]struct {
		code  int
		body  string
		want  int
		fails bool
	}{
		"two":            {200, `{"items":[{"metadata":{"name":"us-west-2a"},"spec":{"subnet":"subnet-a","securityGroups":["sg-a"]}},{"metadata":{"name":"us-west-2b"}}]}`, 2, false},
		"no such kind":   {404, `404 page not found`, 0, false},
		"refused":        {403, `{"reason":"Forbidden","message":"eniconfigs is forbidden"}`, 0, true},
		"half an answer": {200, `{"items":[{"metadata":`, 0, true},
	} {
		c := server(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/apis/crd.k8s.amazonaws.com/v1alpha1/eniconfigs" {
				t.Errorf("asked for %s", r.URL.Path)
			}
			w.WriteHeader(test.code)
			fmt.Fprint(w, test.body)
		})
		list, err := c.ENIConfigs(context.Background())
		if len(list) != test.want || (err != nil) != test.fails {
			t.Errorf("%s: %+v, %v", name, list, err)
		}
	}
}

func FuzzENIConfigList(f *testing.F) {
	f.Add([]byte(`{"metadata":{},"items":[{"metadata":{"name":"us-west-2a"},"spec":{"subnet":"subnet-a","securityGroups":["sg-a"]}}]}`))
	f.Add([]byte(`{"items":[{"spec":{"securityGroups":null}}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var list page[ENIConfig]
		_ = json.Unmarshal(raw, &list) // must not panic
	})
}

// Limits are numbers or texts, and a condition says which generation it is about.
func TestNodePools(t *testing.T) {
	const answer = `{"items":[{"metadata":{"name":"gpu","generation":3},
		"spec":{"limits":{"cpu":100,"memory":"400Gi","nodes":"7"},"template":{"spec":{"nodeClassRef":{"group":"karpenter.k8s.aws","kind":"EC2NodeClass","name":"gpu"}}}},
		"status":{"resources":{"cpu":"96"},"conditions":[{"type":"NodeClassReady","status":"False","reason":"UnhealthyDependents","message":"SubnetsReady=False","observedGeneration":2,"lastTransitionTime":"2026-11-20T14:00:00Z"}]}}]}`
	c := server(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/apis/karpenter.sh/v1/nodepools" {
			t.Errorf("asked for %s", r.URL.Path)
		}
		fmt.Fprint(w, answer)
	})
	list, err := c.NodePools(context.Background())
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	p := list[0]
	expect.Same(t, "limits", p.Spec.Limits, map[string]Quantity{"cpu": "100", "memory": "400Gi", "nodes": "7"})
	if got := p.Status.Conditions[0]; got.ObservedGeneration != 2 || got.Type != "NodeClassReady" || got.Message != "SubnetsReady=False" || got.LastTransitionTime.IsZero() || p.Metadata.Generation != 3 {
		t.Errorf("condition %+v of generation %d", got, p.Metadata.Generation)
	}
}

// A cluster without Karpenter has none of its objects; a refusal, or half an
// answer, is no such answer.
func TestKarpenterObjects(t *testing.T) {
	lists := map[string]func(*Client) (int, error){
		"/apis/karpenter.sh/v1/nodepools":                 func(c *Client) (int, error) { l, err := c.NodePools(context.Background()); return len(l), err },
		"/apis/karpenter.sh/v1/nodeclaims":                func(c *Client) (int, error) { l, err := c.NodeClaims(context.Background()); return len(l), err },
		"/apis/karpenter.k8s.aws/v1/ec2nodeclasses":       func(c *Client) (int, error) { l, err := c.EC2NodeClasses(context.Background()); return len(l), err },
		"/apis/eks.amazonaws.com/v1/nodeclasses":          func(c *Client) (int, error) { l, err := c.AutoNodeClasses(context.Background()); return len(l), err },
		"/apis/crd.k8s.amazonaws.com/v1alpha1/eniconfigs": func(c *Client) (int, error) { l, err := c.ENIConfigs(context.Background()); return len(l), err },
	}
	for path, read := range lists {
		for name, tt := range map[string]struct {
			code   int
			body   string
			want   int
			status int // of the refusal
			fails  bool
		}{
			"two":            {200, `{"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}`, 2, 0, false},
			"none":           {200, `{"items":null}`, 0, 0, false},
			"no such kind":   {404, `404 page not found`, 0, 0, false},
			"refused":        {403, `{"reason":"Forbidden","message":"forbidden"}`, 0, 403, true},
			"half an answer": {200, `{"items":[{"metadata":`, 0, 0, true},
		} {
			c := server(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != path {
					t.Errorf("asked for %s, want %s", r.URL.Path, path)
				}
				w.WriteHeader(tt.code)
				fmt.Fprint(w, tt.body)
			})
			got, err := read(c)
			var s *StatusError
			if got != tt.want || (err != nil) != tt.fails || errors.As(err, &s) != (tt.status != 0) || s != nil && s.Code != tt.status {
				t.Errorf("%s, %s: %d, %v", path, name, got, err)
			}
		}
	}
}

func FuzzQuantity(f *testing.F) {
	for _, seed := range []string{`"100"`, `100`, `1.5`, `null`, `true`, `{}`, `"`, ``} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		var q struct{ Q Quantity }
		_ = json.Unmarshal([]byte(`{"Q":`+raw+`}`), &q) // must not panic
	})
}

// TestRequests holds what is asked for: it is what the rules allow.
func TestRequests(t *testing.T) {
	var asked []string
	c := server(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.Path+" "+r.URL.Query().Get("labelSelector")+r.URL.Query().Get("fieldSelector"))
		fmt.Fprint(w, `{"metadata":{},"items":[{}]}`)
	})
	ctx := context.Background()
	for name, call := range map[string]func() (int, error){
		"pods":   func() (int, error) { l, err := c.CNIPods(ctx); return len(l), err },
		"CSRs":   func() (int, error) { l, err := c.CSRs(ctx); return len(l), err },
		"events": func() (int, error) { l, err := c.NodeEvents(ctx); return len(l), err },
	} {
		if n, err := call(); err != nil || n != 1 {
			t.Errorf("%s: %d, %v", name, n, err)
		}
	}
	if _, err := c.CNIDaemonSet(ctx); err != nil {
		t.Error(err)
	}
	if _, err := c.CNIServiceAccount(ctx); err != nil {
		t.Error(err)
	}
	if _, err := c.AWSAuth(ctx); err != nil {
		t.Error(err)
	}
	want := map[string]bool{
		"GET /api/v1/namespaces/kube-system/pods k8s-app=aws-node":       true,
		"GET /apis/certificates.k8s.io/v1/certificatesigningrequests ":   true,
		"GET /api/v1/namespaces/default/events involvedObject.kind=Node": true,
		"GET /apis/apps/v1/namespaces/kube-system/daemonsets/aws-node ":  true,
		"GET /api/v1/namespaces/kube-system/serviceaccounts/aws-node ":   true,
		"GET /api/v1/namespaces/kube-system/configmaps/aws-auth ":        true,
	}
	got := map[string]bool{}
	for _, a := range asked {
		got[a] = true
	}
	expect.Same(t, "requests", got, want)
}

// TestListIsBounded holds that a list that is too long is refused, not cut:
// what is missing in it would look like what does not exist.
func TestListIsBounded(t *testing.T) {
	pagesGiven := 0
	c := server(t, func(w http.ResponseWriter, _ *http.Request) {
		pagesGiven++
		fmt.Fprintf(w, `{"metadata":{"continue":"more"},"items":[%s]}`, strings.TrimSuffix(strings.Repeat(`{},`, pageSize), ","))
	})
	_, err := c.NodeEvents(context.Background())
	var many *TooManyError
	if !errors.As(err, &many) || many.Most != maxEvents || many.What == "" {
		t.Fatalf("error %v, want that there are too many", err)
	}
	if want := maxEvents / pageSize; pagesGiven != want {
		t.Errorf("read %d pages, want %d", pagesGiven, want)
	}
}

// TestListOfTheLimit holds that a list that is just as long as is read of it
// is read.
func TestListOfTheLimit(t *testing.T) {
	c := server(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"items":[{},{}]}`) })
	if got, err := list[Event](context.Background(), c, "events", "/api/v1/events", nil, 2); err != nil || len(got) != 2 {
		t.Errorf("got %d, %v", len(got), err)
	}
	if _, err := list[Event](context.Background(), c, "events", "/api/v1/events", nil, 1); err == nil {
		t.Error("a list of two where one is read is taken for whole")
	}
}

// TestObjectThatDoesNotExist holds that this is an answer, and a refusal none.
func TestObjectThatDoesNotExist(t *testing.T) {
	code := http.StatusNotFound
	c := server(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		fmt.Fprint(w, `{"kind":"Status","reason":"x","message":"y"}`)
	})
	if m, err := c.AWSAuth(context.Background()); m != nil || err != nil {
		t.Errorf("aws-auth that does not exist: %v, %v", m, err)
	}
	code = http.StatusForbidden
	var status *StatusError
	if _, err := c.AWSAuth(context.Background()); !errors.As(err, &status) || status.Code != code {
		t.Errorf("aws-auth that may not be read: %v", err)
	}
}

const podJSON = `{"metadata":{"name":"aws-node-x","namespace":"kube-system"},"spec":{"nodeName":"n"},"status":{"phase":"Running","containerStatuses":[{"name":"aws-node","ready":false,"restartCount":3,
	"state":{"waiting":{"reason":"CrashLoopBackOff","message":"back-off 40s"}},"lastState":{"terminated":{"exitCode":1,"reason":"Error","finishedAt":"2026-11-20T15:00:00Z","message":"m"}}}]}}`

func FuzzPodList(f *testing.F) {
	f.Add([]byte(`{"metadata":{"continue":"c"},"items":[` + podJSON + `]}`))
	f.Add([]byte(`{"items":[{"status":{"containerStatuses":[null,{"state":{"running":{}}}]}}]}`))
	fuzzDecode[page[Pod]](f)
}

func FuzzDaemonSet(f *testing.F) {
	f.Add([]byte(`{"spec":{"template":{"spec":{"containers":[{"name":"aws-node","env":[{"name":"A","value":"1"},{"name":"B","valueFrom":{"fieldRef":{"fieldPath":"spec.nodeName"}}}]}]}}},"status":{"desiredNumberScheduled":2,"numberReady":1}}`))
	fuzzDecode[DaemonSet](f)
}

func FuzzCSRList(f *testing.F) {
	f.Add([]byte(`{"items":[{"metadata":{"name":"csr-x","creationTimestamp":"2026-11-20T15:00:00Z"},"spec":{"signerName":"kubernetes.io/kubelet-serving","username":"system:node:n","request":"LS0t"},"status":{"conditions":[{"type":"Approved"}]}}]}`))
	fuzzDecode[page[CSR]](f)
}

func FuzzEventList(f *testing.F) {
	f.Add([]byte(`{"items":[{"involvedObject":{"kind":"Node","name":"n"},"reason":"NodeReady","lastTimestamp":null,"eventTime":"2026-11-20T15:00:00.000001Z","series":{"count":2,"lastObservedTime":"2026-11-20T15:00:00.000001Z"}}]}`))
	fuzzDecode[page[Event]](f)
}

func fuzzDecode[T any](f *testing.F) {
	f.Fuzz(func(t *testing.T, raw []byte) {
		var v T
		_ = json.Unmarshal(raw, &v) // must not panic
	})
}

// TestRaw: an object as the API answers it, with what nothing here knows of it.
func TestRaw(t *testing.T) {
	c := server(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/apis/moon/v1/craters" && r.URL.Query().Get("limit") == "2" {
			fmt.Fprint(w, `{"items": [{"depth": 3.50}]}`)
			return
		}
		http.NotFound(w, r)
	})
	got, err := c.Raw(t.Context(), "/apis/moon/v1/craters", url.Values{"limit": {"2"}})
	if want := `{"items": [{"depth": 3.50}]}`; err != nil || string(got) != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
	var status *StatusError
	if _, err := c.Raw(t.Context(), "/apis/sun", nil); !errors.As(err, &status) || status.Code != http.StatusNotFound {
		t.Errorf("what is not there: %v, want 404", err)
	}
}
