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
	"github.com/google/go-cmp/cmp"
)

func server(t *testing.T, handle http.HandlerFunc) *Client {
	t.Helper()
	s := httptest.NewTLSServer(handle)
	t.Cleanup(s.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	c, err := New(s.URL, ca, "k8s-aws-v1.secret")
	if err != nil {
		t.Fatal(err)
	}
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
		if got := r.Header.Get("Authorization"); got != "Bearer k8s-aws-v1.secret" {
			t.Errorf("authorization %q", got)
		}
		switch r.URL.Query().Get("continue") {
		case "":
			fmt.Fprintf(w, `{"metadata":{"continue":"more"},"items":[%s]}`, item(1))
		case "more":
			fmt.Fprintf(w, `{"metadata":{},"items":[%s,%s]}`, item(2), item(3))
		}
	})
	nodes, err := c.Nodes(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, n := range nodes {
		names = append(names, n.Metadata.Name+" "+n.Spec.ProviderID+" "+n.Status.Conditions[0].LastTransitionTime.Format(time.RFC3339))
	}
	want := []string{
		"node-1 aws:///us-west-2a/i-1 2026-11-20T15:00:58Z",
		"node-2 aws:///us-west-2a/i-2 2026-11-20T15:00:58Z",
		"node-3 aws:///us-west-2a/i-3 2026-11-20T15:00:58Z",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"500/", "500/more"}, asked); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	encoded, ok := strings.CutPrefix(token, "k8s-aws-v1.")
	if !ok {
		t.Fatalf("token %q has no k8s-aws-v1 prefix", token)
	}
	raw, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(string(raw))
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	for key, want := range map[string]string{
		"Action": "GetCallerIdentity", "X-Amz-Expires": "60", "X-Amz-SignedHeaders": "host;x-k8s-aws-id",
	} {
		if got := q.Get(key); got != want {
			t.Errorf("%s = %q, want %q", key, got, want)
		}
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
