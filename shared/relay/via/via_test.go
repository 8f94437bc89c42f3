package via

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/kube"
	"rollcall/shared/relay"
	"rollcall/shared/snapshot"
	"rollcall/tools/expect"
	"rollcall/tools/testfile"
)

type invoker func(function string, ask relay.Request) ([]byte, error)

func (i invoker) Invoke(_ context.Context, function string, payload []byte) ([]byte, error) {
	var ask relay.Request
	if err := json.Unmarshal(payload, &ask); err != nil {
		return nil, err
	}
	return i(function, ask)
}

const (
	arn      = "arn:aws:eks:eu-west-1:222233334444:cluster/prod"
	endpoint = "https://a.test"
)

func client(t *testing.T, by invoker) *kube.Client {
	t.Helper()
	c, err := kube.NewVia(&Relay{By: by, Function: "rollcall-relay-prod", Cluster: arn, Endpoint: endpoint}, endpoint, nil, "k8s-aws-v1.reader")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func said(t *testing.T, status int, body string) []byte {
	t.Helper()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte(body)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return written(t, relay.Answer{Status: status, Body: packed.Bytes()})
}

func written(t *testing.T, a relay.Answer) []byte {
	t.Helper()
	return testfile.JSON(t, a)
}

// TestReads: the client of a cluster's API cannot tell the relay from a connection: pages,
// and what is larger than the relay hands on.
func TestReads(t *testing.T) {
	var asked []string
	c := client(t, func(function string, ask relay.Request) ([]byte, error) {
		asked = append(asked, fmt.Sprintf("%s %s limit=%s continue=%s %s", function, ask.Path, ask.Query["limit"], ask.Query["continue"], ask.Token))
		if ask.Cluster != arn || ask.Endpoint != endpoint {
			t.Errorf("asked of %s, %s", ask.Cluster, ask.Endpoint)
		}
		switch {
		case ask.Query["continue"] == "":
			return said(t, 200, `{"metadata":{"continue":"more"},"items":[{}]}`), nil
		case ask.Query["limit"] != "125":
			return written(t, relay.Answer{Failed: &relay.Failure{Reason: relay.TooLarge, Says: "too large"}}), nil
		}
		return said(t, 200, `{"metadata":{},"items":[{},{}]}`), nil
	})
	list, err := c.Nodes(t.Context())
	if err != nil || len(list) != 3 {
		t.Fatalf("%d nodes, %v", len(list), err)
	}
	const head = "rollcall-relay-prod /api/v1/nodes limit="
	want := []string{
		head + "500 continue= k8s-aws-v1.reader", head + "500 continue=more k8s-aws-v1.reader",
		head + "250 continue=more k8s-aws-v1.reader", head + "125 continue=more k8s-aws-v1.reader",
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

// What no page is small enough for is an error that says so, and no list without end.
func TestNeverSmallEnough(t *testing.T) {
	calls := 0
	c := client(t, func(string, relay.Request) ([]byte, error) {
		calls++
		return written(t, relay.Answer{Failed: &relay.Failure{Reason: relay.TooLarge, Says: "more than the 4 MB"}}), nil
	})
	_, err := c.Nodes(t.Context())
	var status *kube.StatusError
	if !errors.As(err, &status) || status.Code != http.StatusRequestEntityTooLarge || status.Message != "more than the 4 MB" || calls > 10 {
		t.Errorf("%v after %d calls", err, calls)
	}
}

// TestErrors: what kept the relay from an answer is known by its type.
func TestErrors(t *testing.T) {
	for name, x := range map[string]struct {
		raw  string
		err  error
		want func(error) bool
	}{
		"no relay": {"", ErrNone, func(err error) bool {
			var e *relay.MissingError
			return errors.As(err, &e) && e.Function == "rollcall-relay-prod"
		}},
		"refused": {`{"refused":{"reason":"OtherEndpoint","says":"x"}}`, nil, func(err error) bool {
			var e *relay.Refusal
			return errors.As(err, &e) && e.Reason == relay.OtherEndpoint
		}},
		"silent":        {`{"failed":{"reason":"TimedOut","says":"x"}}`, nil, failure(relay.TimedOut)},
		"out of time":   {"", &FunctionError{Function: "f", Message: "Task timed out"}, failure(relay.Disconnected)},
		"no answer":     {`{}`, nil, failure(relay.Malformed)},
		"null":          {`null`, nil, failure(relay.Malformed)},
		"no JSON":       {`<html>`, nil, failure(relay.Malformed)},
		"odd status":    {`{"status":99999}`, nil, failure(relay.Malformed)},
		"not packed":    {`{"status":200,"body":"eyJ9"}`, nil, failure(relay.Malformed)},
		"an AWS error":  {"", errDenied, func(err error) bool { return errors.Is(err, errDenied) }},
		"a half answer": {`{"status":200,"bo`, nil, failure(relay.Malformed)},
	} {
		c := client(t, func(string, relay.Request) ([]byte, error) { return []byte(x.raw), x.err })
		if _, err := c.Nodes(t.Context()); !x.want(err) || strings.Contains(err.Error(), "k8s-aws-v1") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

var errDenied = errors.New("AccessDeniedException")

func failure(want relay.Reason) func(error) bool {
	return func(err error) bool {
		var f *relay.Failure
		return errors.As(err, &f) && f.Reason == want
	}
}

// A relay is asked for nothing that changes something.
func TestListsAlone(t *testing.T) {
	r := &Relay{By: invoker(func(string, relay.Request) ([]byte, error) { t.Error("asked"); return nil, nil })}
	for _, x := range []struct{ method, url string }{{"POST", endpoint + "/api/v1/pods"}, {"DELETE", endpoint + "/api/v1/pods"}, {"GET", endpoint + "/api/v1/pods?limit=1&limit=2"}} {
		req, err := http.NewRequestWithContext(t.Context(), x.method, x.url, strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.RoundTrip(req); !errors.Is(err, errNoList) {
			t.Errorf("%s %s: %v", x.method, x.url, err)
		}
	}
}

// TestNew: only a cluster that cannot be reached otherwise goes through a relay.
func TestNew(t *testing.T) {
	if New(nil, "rollcall", nil, nil) != nil {
		t.Error("no relay is used, and there is a way")
	}
	to := New(&aws.Config{Region: "eu-west-1"}, "rollcall", []string{"prod"}, nil)
	for _, x := range []struct{ public, private, want bool }{{true, false, false}, {true, true, false}, {false, true, true}, {false, false, false}} {
		got := to(snapshot.Cluster{Name: "prod", ARN: arn, Endpoint: endpoint, EndpointPublic: x.public, EndpointPrivate: x.private})
		if (got != nil) != x.want {
			t.Errorf("public %t, private %t: %v", x.public, x.private, got)
		}
		if r, ok := got.(*Relay); ok && (r.Function != "rollcall-relay-prod" || r.Cluster != arn || r.Endpoint != endpoint) {
			t.Errorf("%+v", r)
		}
	}
}

type uses func(cluster string) (bool, error)

func (u uses) RelayUsed(_ context.Context, cluster string) (bool, error) { return u(cluster) }

// The reader's token is handed to no function that has a relay's name alone: the setting
// names the cluster, or the relay was used before there was the setting.
func TestNotByNameAlone(t *testing.T) {
	used := uses(func(cluster string) (bool, error) { return cluster == "used", nil })
	for _, x := range []struct {
		cluster string
		named   []string
		uses    Uses
		may     bool
	}{
		{"prod", []string{"prod"}, used, true},
		{"prod", nil, used, false},
		{"used", nil, used, true},
		{"used", []string{"prod"}, used, false},
		{"used", nil, uses(func(string) (bool, error) { return true, errors.New("throttled") }), false},
	} {
		to := New(&aws.Config{Region: "eu-west-1"}, "rollcall", x.named, x.uses)
		r := to(snapshot.Cluster{Name: x.cluster, ARN: arn, Endpoint: endpoint, EndpointPrivate: true}).(*Relay)
		asked := false
		r.By = invoker(func(string, relay.Request) ([]byte, error) { asked = true; return []byte(`{"status":200}`), nil })
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, endpoint+"/api/v1/nodes", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer k8s-aws-v1.x")
		_, err = r.RoundTrip(req)
		var unnamed *relay.UnnamedError
		if asked != x.may || errors.As(err, &unnamed) == x.may {
			t.Errorf("%s, named %v: asked %t, %v", x.cluster, x.named, asked, err)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"status":200,"body":"H4sIAAAAAAAA/6uuBQBDv6ajAgAAAA=="}`))
	f.Add([]byte(`{"refused":{"reason":"x"}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		req, err := http.NewRequest(http.MethodGet, endpoint+"/api/v1/nodes", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := (&Relay{By: invoker(func(string, relay.Request) ([]byte, error) { return raw, nil })}).RoundTrip(req)
		if (resp == nil) == (err == nil) {
			t.Errorf("%v, %v", resp, err)
		}
	})
}

// TestRestricted: where the public endpoint is open to some ranges a relay is asked first, and
// without one the API itself, which may let the functions in; that it does not is reported with
// the ranges.
func TestRestricted(t *testing.T) {
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	shut := httptest.NewServer(nil)
	shut.Close()
	for name, tt := range map[string]struct {
		relay   error
		noRelay bool
		url     string
		invokes int
		status  int
		says    string
	}{
		"a relay":                  {nil, false, shut.URL, 2, 200, ""},
		"none, and it lets in":     {ErrNone, false, api.URL, 1, http.StatusTeapot, ""},
		"none, and it does not":    {ErrNone, false, shut.URL, 1, 0, "the API's public endpoint is open to 203.0.113.0/24 alone, and does not answer Rollcall; there is no function rollcall-relay-prod, its relay"},
		"it may not be invoked":    {errors.New("AccessDeniedException"), false, api.URL, 1, http.StatusTeapot, ""},
		"no private endpoint":      {nil, true, shut.URL, 0, 0, "open to 203.0.113.0/24 alone"},
		"no private, and it is in": {nil, true, api.URL, 0, http.StatusTeapot, ""},
	} {
		invokes := 0
		through := &Relay{Function: "rollcall-relay-prod", By: invoker(func(string, relay.Request) ([]byte, error) {
			invokes++
			return written(t, relay.Answer{Status: 200}), tt.relay
		})}
		way := &restricted{relay: through, direct: http.DefaultTransport, function: through.Function, openTo: []netip.Prefix{netip.MustParsePrefix("203.0.113.0/24")}, noRelay: tt.noRelay}
		for range 2 {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, tt.url+"/api/v1/nodes", nil)
			if err != nil {
				t.Fatal(err)
			}
			status := 0
			out, err := way.RoundTrip(req)
			if err == nil {
				status = out.StatusCode
				out.Body.Close()
			}
			missing := new(relay.MissingError)
			if status != tt.status || (tt.says != "") != errors.As(err, &missing) || tt.says != "" && !strings.Contains(missing.Error(), tt.says) {
				t.Errorf("%s: %d, %v; want %d, %q", name, status, err, tt.status, tt.says)
			}
		}
		if invokes != tt.invokes {
			t.Errorf("%s: invoked %d times, want %d", name, invokes, tt.invokes)
		}
	}
	api.Close()
}

// TestWays: which clusters are asked through a relay.
func TestWays(t *testing.T) {
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: tlsServer(t)})
	some := []netip.Prefix{netip.MustParsePrefix("203.0.113.0/24")}
	for name, tt := range map[string]struct {
		of   snapshot.Cluster
		want string
	}{
		"open to all":            {snapshot.Cluster{EndpointPublic: true, EndpointPrivate: true, PublicAccessCIDRs: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}}, "<nil>"},
		"no ranges":              {snapshot.Cluster{EndpointPublic: true}, "<nil>"},
		"to all by IPv6 alone":   {snapshot.Cluster{EndpointPublic: true, PublicAccessCIDRs: []netip.Prefix{netip.MustParsePrefix("::/0")}}, "*via.restricted"},
		"private":                {snapshot.Cluster{EndpointPrivate: true}, "*via.Relay"},
		"restricted":             {snapshot.Cluster{EndpointPublic: true, EndpointPrivate: true, PublicAccessCIDRs: some}, "*via.restricted"},
		"could not be described": {snapshot.Cluster{}, "<nil>"},
	} {
		tt.of.CA = ca
		if got := fmt.Sprintf("%T", New(&aws.Config{}, "rollcall", nil, nil)(tt.of)); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

func tlsServer(t *testing.T) []byte {
	s := httptest.NewTLSServer(nil)
	t.Cleanup(s.Close)
	return s.Certificate().Raw
}

func lambdaAt(t *testing.T, answer http.HandlerFunc) *Lambda {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return NewLambda(aws.Config{
		Region: "eu-west-1", BaseEndpoint: aws.String(server.URL), HTTPClient: server.Client(),
		Credentials: credentials.NewStaticCredentialsProvider("AKID", "SECRET", "TOKEN"),
	})
}

// The request is as the API reference has it, and so is what is read of the answer.
func TestInvoke(t *testing.T) {
	c := lambdaAt(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Method != "POST" || r.URL.Path != "/2015-03-31/functions/rollcall-relay-prod/invocations" || string(body) != `{"a":1}` ||
			r.Header.Get("X-Amz-Invocation-Type") != "RequestResponse" || !strings.Contains(r.Header.Get("Authorization"), "/eu-west-1/lambda/aws4_request") {
			t.Errorf("sent %s %s %q %v", r.Method, r.URL, body, r.Header)
		}
		io.WriteString(w, `{"b":2}`)
	})
	if got, err := c.Invoke(t.Context(), "rollcall-relay-prod", []byte(`{"a":1}`)); err != nil || string(got) != `{"b":2}` {
		t.Errorf("%s, %v", got, err)
	}
}

func TestInvokeFailures(t *testing.T) {
	for name, x := range map[string]struct {
		status       int
		header, body string
		want         func(error) bool
		calls        int
	}{
		"no function": {404, "ResourceNotFoundException:http://internal", `{"Type":"User","Message":"Function not found: x"}`, func(err error) bool { return errors.Is(err, ErrNone) }, 1},
		"denied": {403, "AccessDeniedException", `{"Message":"no"}`, func(err error) bool {
			var op *smithy.OperationError
			var api smithy.APIError
			return errors.As(err, &op) && op.Service() == "Lambda" && errors.As(err, &api) && api.ErrorCode() == "AccessDeniedException"
		}, 1},
		"throttled, twice": {429, "TooManyRequestsException", `{"Type":"User","message":"Rate Exceeded."}`, func(err error) bool {
			var api smithy.APIError
			return errors.As(err, &api) && api.ErrorCode() == "TooManyRequestsException"
		}, 2},
		"out of time": {200, "", `{"errorMessage":"2026-11-23T18:00:00Z x Task timed out after 10.00 seconds"}`, func(err error) bool {
			var f *FunctionError
			return errors.As(err, &f) && f.Function == "f" && strings.HasSuffix(f.Message, "after 10.00 seconds")
		}, 1},
		"without a word": {200, "", `null`, func(err error) bool {
			var f *FunctionError
			return errors.As(err, &f) && f.Message == "without a word"
		}, 1},
	} {
		calls := 0
		c := lambdaAt(t, func(w http.ResponseWriter, _ *http.Request) {
			calls++
			if x.status == 200 {
				w.Header().Set("X-Amz-Function-Error", "Unhandled")
			}
			w.Header().Set("X-Amzn-ErrorType", x.header)
			w.WriteHeader(x.status)
			io.WriteString(w, x.body)
		})
		if _, err := c.Invoke(t.Context(), "f", nil); !x.want(err) || calls != x.calls {
			t.Errorf("%s: %v, after %d calls", name, err, calls)
		}
	}
}

func TestHost(t *testing.T) {
	for region, want := range map[string]string{"eu-west-1": "https://lambda.eu-west-1.amazonaws.com", "cn-north-1": "https://lambda.cn-north-1.amazonaws.com.cn"} {
		expect.Equal(t, "got", NewLambda(aws.Config{Region: region}).host(), want)
	}
}
