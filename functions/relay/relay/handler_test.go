package relay

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/functions/relay/spec"
	"rollcall/shared/config"
	"rollcall/shared/kube"
	"rollcall/shared/lambda"
	"rollcall/shared/relay"
	"rollcall/tools/testfile"
)

const cluster = "arn:aws:eks:eu-west-1:222233334444:cluster/prod"

type asker struct {
	handler
	log    *bytes.Buffer
	counts map[string]int
}

func relayTo(endpoint string, api http.RoundTripper) asker {
	a := asker{log: &bytes.Buffer{}, counts: map[string]int{}}
	a.handler = handler{
		own: relay.Own{Cluster: cluster, Endpoint: endpoint}, api: api, log: slog.New(slog.NewJSONHandler(a.log, nil)),
		count: func(name string, n int) { a.counts[name] += n },
	}
	return a
}

func (a asker) ask(t *testing.T, change func(*relay.Request)) relay.Answer {
	t.Helper()
	r := relay.Request{Cluster: cluster, Endpoint: a.own.Endpoint, Path: "/api/v1/nodes", Query: map[string]string{"limit": "500"}, Token: "k8s-aws-v1.secret"}
	if change != nil {
		change(&r)
	}
	out, err := a.handle(t.Context(), testfile.JSON(t, r))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(a.log.String(), "secret") {
		t.Errorf("the token is in the log: %s", a.log)
	}
	return out.(relay.Answer)
}

func unpacked(t *testing.T, body []byte) string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// api is a cluster's API behind TLS, and its authority.
func api(t *testing.T, h http.HandlerFunc) (endpoint string, ca []byte) {
	t.Helper()
	s := httptest.NewTLSServer(h)
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	t.Cleanup(s.Close)
	return s.URL, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
}

func transport(t *testing.T, ca []byte) *http.Transport {
	t.Helper()
	out, err := kube.Transport(ca)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(out.CloseIdleConnections)
	return out
}

// TestHandsOn: what the API says, as it says it, to the token that it is given.
func TestHandsOn(t *testing.T) {
	var asked []string
	endpoint, ca := api(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.RequestURI()+" "+r.Header.Get("Authorization"))
		switch {
		case r.URL.Path == "/api/v1/pods":
			w.WriteHeader(http.StatusForbidden)
			io.WriteString(w, `{"reason":"Forbidden"}`)
		case r.Header.Get("Accept-Encoding") == "gzip" && r.URL.Path == "/api/v1/persistentvolumes":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			io.WriteString(z, `{"items":["packed"]}`)
			z.Close()
		default:
			io.WriteString(w, `{"items":[]}`)
		}
	})
	a := relayTo(endpoint, transport(t, ca))
	for path, want := range map[string]struct {
		status int
		body   string
	}{"/api/v1/nodes": {200, `{"items":[]}`}, "/api/v1/pods": {403, `{"reason":"Forbidden"}`}, "/api/v1/persistentvolumes": {200, `{"items":["packed"]}`}} {
		asked = nil
		got := a.ask(t, func(r *relay.Request) { r.Path = path })
		if got.Refused != nil || got.Failed != nil || got.Status != want.status || unpacked(t, got.Body) != want.body {
			t.Errorf("%s: %+v", path, got)
		}
		if diff := cmp.Diff([]string{"GET " + path + "?limit=500 Bearer k8s-aws-v1.secret"}, asked); diff != "" {
			t.Errorf("asked (-want +got):\n%s", diff)
		}
	}
	if len(a.counts) > 0 {
		t.Errorf("counted: %v", a.counts)
	}
}

// TestRefuses: nothing is requested, and each is counted. Which requests are refused, and why,
// shared/relay has.
func TestRefuses(t *testing.T) {
	a := relayTo("https://a.test", none(t))
	if got := a.ask(t, func(r *relay.Request) { r.Path = "/api/v1/secrets" }); got.Refused == nil || got.Refused.Reason != relay.ForbiddenPath {
		t.Errorf("secrets: %+v", got)
	}
	if out, err := a.handle(t.Context(), json.RawMessage(`{"method":"POST","path":"/api/v1/pods"}`)); err != nil || out.(relay.Answer).Refused.Reason != relay.Malformed {
		t.Errorf("a POST: %+v, %v", out, err)
	}
	if diff := cmp.Diff(map[string]int{"RefusedRequests": 2}, a.counts); diff != "" {
		t.Errorf("counted (-want +got):\n%s", diff)
	}
}

type way func(*http.Request) (*http.Response, error)

func (w way) RoundTrip(r *http.Request) (*http.Response, error) { return w(r) }

// none is where no request is allowed.
func none(t *testing.T) http.RoundTripper {
	return way(func(r *http.Request) (*http.Response, error) {
		t.Errorf("asked for %s", r.URL)
		return nil, io.EOF
	})
}

// TestFollowsNoRedirect: wherever the API points, nothing there is requested, and the token stays.
func TestFollowsNoRedirect(t *testing.T) {
	elsewhere, _ := api(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("the relay went elsewhere: %s", r.URL) })
	for _, status := range []int{301, 302, 303, 307, 308} {
		endpoint, ca := api(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere+"/api/v1/nodes", status) })
		a := relayTo(endpoint, transport(t, ca))
		if got := a.ask(t, nil); got.Failed == nil || got.Failed.Reason != relay.Redirected || len(got.Body) > 0 {
			t.Errorf("%d: %+v", status, got)
		}
		if a.counts["UnansweredRequests"] != 1 {
			t.Errorf("counted: %v", a.counts)
		}
	}
}

// TestImpostor: who has not the cluster's certificate is not told the token.
func TestImpostor(t *testing.T) {
	_, ca := api(t, func(http.ResponseWriter, *http.Request) {})
	endpoint := notTrusted(t)
	if got := relayTo(endpoint, transport(t, ca)).ask(t, nil); got.Failed == nil || got.Failed.Reason != relay.Impostor {
		t.Errorf("%+v", got)
	}
}

// notTrusted is a server of another name than its certificate has: httptest has one
// certificate for all of its servers.
func notTrusted(t *testing.T) string {
	endpoint, _ := api(t, func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("an impostor was asked: %s", r.Header.Get("Authorization"))
	})
	return strings.Replace(endpoint, "127.0.0.1", "localhost", 1)
}

// TestFailures: how the API does not answer, each in words for who must mend it.
func TestFailures(t *testing.T) {
	for name, x := range map[string]struct {
		err  error
		want relay.Reason
		says string
	}{
		"dropped":     {&net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}, relay.TimedOut, "security group"},
		"refused":     {&net.OpError{Op: "dial", Err: io.ErrUnexpectedEOF}, relay.Unreachable, "no connection to https://a.test from the relay's subnets"},
		"no name":     {&net.OpError{Op: "dial", Err: &net.DNSError{Name: "a.test", IsNotFound: true}}, relay.Unresolved, "does not resolve in the relay's VPC"},
		"cut":         {io.EOF, relay.Disconnected, "was cut before the answer"},
		"out of time": {context.DeadlineExceeded, relay.TimedOut, "from the relay's subnets"},
	} {
		got := relayTo("https://a.test", way(func(*http.Request) (*http.Response, error) { return nil, x.err })).ask(t, nil)
		if got.Failed == nil || got.Failed.Reason != x.want || !strings.Contains(got.Failed.Says, x.says) {
			t.Errorf("%s: %+v", name, got.Failed)
		}
	}
}

// TestHangs: an API that takes the request and says nothing more, or stops within its answer,
// is given up before who asked the relay gives up.
func TestHangs(t *testing.T) {
	for name, answers := range map[string]way{
		"no head": func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		},
		"half a body": func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(hanging{r.Context()})}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				got := relayTo("https://a.test", answers).ask(t, nil)
				if got.Failed == nil || got.Failed.Reason != relay.TimedOut || time.Since(began) != patience {
					t.Errorf("after %s: %+v", time.Since(began), got)
				}
			})
		})
	}
}

type hanging struct{ ctx context.Context }

func (h hanging) Read([]byte) (int, error) {
	<-h.ctx.Done()
	return 0, h.ctx.Err()
}

// TestTooLarge: what Lambda would not hand on is not tried, packed or not.
func TestTooLarge(t *testing.T) {
	noise := make([]byte, relay.MostBody+1) // which cannot be packed smaller
	if _, err := rand.Read(noise); err != nil {
		t.Fatal(err)
	}
	for name, header := range map[string]http.Header{"packed by the API": {"Content-Encoding": {"gzip"}}, "not packed": {}} {
		a := relayTo("https://a.test", way(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: header, Body: io.NopCloser(bytes.NewReader(noise))}, nil
		}))
		if got := a.ask(t, nil); got.Failed == nil || got.Failed.Reason != relay.TooLarge || len(got.Body) > 0 {
			t.Errorf("%s: %+v", name, got.Failed)
		}
	}
}

// Of a relay without the authority of its cluster nothing is made.
func TestBuild(t *testing.T) {
	metrics := lambda.NewMetrics("relay", "relay", io.Discard)
	_, ca := api(t, func(http.ResponseWriter, *http.Request) {})
	for _, x := range []struct {
		ca   []byte
		want bool
	}{{ca, true}, {[]byte("none"), false}} {
		c := config.Config{Relay: config.Relay{RelayCluster: cluster, RelayEndpoint: "https://a.test", RelayCA: x.ca}}
		if h, err := Build(t.Context(), lambda.Env{Config: c, Log: slog.New(slog.DiscardHandler), Metrics: metrics}); (err == nil) != x.want || (h != nil) != x.want {
			t.Errorf("with %d bytes: %v", len(x.ca), err)
		}
	}
}

// TestProgram: as it is deployed, from its environment to its metrics.
func TestProgram(t *testing.T) {
	endpoint, ca := api(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"items":[]}`) })
	env := map[string]string{
		string(config.RelayCluster): cluster, string(config.RelayEndpoint): endpoint, string(config.RelayCA): base64.StdEncoding.EncodeToString(ca),
		"AWS_REGION": "eu-west-1", "AWS_LAMBDA_FUNCTION_NAME": "rollcall-relay-prod",
	}
	var out bytes.Buffer
	f := lambda.New(spec.Name, spec.Environment(), Build, func(name string) string { return env[name] }, &out)
	for _, x := range []struct {
		path, want string
	}{{"/api/v1/nodes", `"status":200`}, {"/api/v1/secrets", `"reason":"ForbiddenPath"`}} {
		raw := testfile.JSON(t, relay.Request{Cluster: cluster, Endpoint: endpoint, Path: x.path, Token: "k8s-aws-v1.secret"})
		a, err := f.Invoke(t.Context(), raw)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := json.Marshal(a); err != nil || !strings.Contains(string(text), x.want) {
			t.Errorf("%s: %s, %v", x.path, text, err)
		}
	}
	if !strings.Contains(out.String(), `"RefusedRequests":1`) || strings.Contains(out.String(), "k8s-aws-v1") {
		t.Errorf("its log: %s", out.String())
	}
}
