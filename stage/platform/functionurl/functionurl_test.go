package functionurl

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rollcall/stage/platform/lambdaruntime"
)

// program is a function in memory.
type program struct {
	events []events.LambdaFunctionURLRequest
	answer string
	failed bool
	err    error
}

func (p *program) Invoke(_ context.Context, _ string, raw []byte) (lambdaruntime.Result, error) {
	var e events.LambdaFunctionURLRequest
	if err := json.Unmarshal(raw, &e); err != nil {
		return lambdaruntime.Result{}, err
	}
	p.events = append(p.events, e)
	r := lambdaruntime.Result{Payload: []byte(p.answer)}
	if p.failed {
		r.FunctionError = "Unhandled"
	}
	return r, p.err
}

func serve(t *testing.T, p *program) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(&Handler{
		Function: "f", Invoker: p, NewID: func() string { return "id" },
		Now: func() time.Time { return time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC) },
	})
	t.Cleanup(s.Close)
	return s
}

func send(t *testing.T, method, to, kind, body string, headers ...string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequest(method, to, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(text)
}

func TestTheRequestAsAnEvent(t *testing.T) {
	p := &program{answer: `{"statusCode":200}`}
	s := serve(t, p)
	send(t, "POST", s.URL+"/a%20b?x=1&x=2", "application/x-www-form-urlencoded", "payload=x", "X-Slack-Signature", "v0=1", "X-Slack-Signature", "v0=2", "Cookie", "c=1", "User-Agent", "Slackbot")
	host := strings.TrimPrefix(s.URL, "http://")
	prefix, _, _ := strings.Cut(host, ".")
	want := events.LambdaFunctionURLRequest{
		Version: "2.0", RawPath: "/a%20b", RawQueryString: "x=1&x=2", Cookies: []string{"c=1"}, QueryStringParameters: map[string]string{"x": "1,2"},
		Headers: map[string]string{
			"host": host, "content-type": "application/x-www-form-urlencoded", "content-length": "9", "x-slack-signature": "v0=1,v0=2", "user-agent": "Slackbot",
			"x-forwarded-for": "127.0.0.1", "x-forwarded-proto": "https", "x-forwarded-port": "443", "accept-encoding": "gzip",
		},
		RequestContext: events.LambdaFunctionURLRequestContext{
			AccountID: "anonymous", RequestID: "id", APIID: prefix, DomainName: host, DomainPrefix: prefix, Time: "20/Nov/2026:15:00:00 +0000", TimeEpoch: 1795186800000,
			HTTP: events.LambdaFunctionURLRequestContextHTTPDescription{Method: "POST", Path: "/a b", Protocol: "HTTP/1.1", SourceIP: "127.0.0.1", UserAgent: "Slackbot"},
		},
		Body: "cGF5bG9hZD14", IsBase64Encoded: true,
	}
	if diff := cmp.Diff([]events.LambdaFunctionURLRequest{want}, p.events, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
}

func TestWhichBodiesAreInBase64(t *testing.T) {
	for kind, want := range map[string]bool{
		"application/x-www-form-urlencoded": true, "application/octet-stream": true, "": true, "multipart/form-data; boundary=x": true,
		"application/json": false, "application/json; charset=utf-8": false, "text/plain": false, "application/xml": false,
	} {
		p := &program{answer: `{"statusCode":200}`}
		send(t, "POST", serve(t, p).URL, kind, "body")
		if len(p.events) != 1 || p.events[0].IsBase64Encoded != want {
			t.Errorf("%q: %+v, want base64 %v", kind, p.events, want)
		}
	}
}

func TestTheAnswerAsAResponse(t *testing.T) {
	for _, test := range []struct {
		name   string
		p      program
		status int
		body   string
	}{
		{"a response", program{answer: `{"statusCode":401,"headers":{"x-y":"z"},"body":"no"}`}, 401, "no"},
		{"in base64", program{answer: `{"statusCode":200,"body":"aGk=","isBase64Encoded":true}`}, 200, "hi"},
		{"not in base64", program{answer: `{"statusCode":200,"body":"%","isBase64Encoded":true}`}, 502, `{"Message":"Internal Server Error"}`},
		{"anything else", program{answer: `{"a":1}`}, 200, `{"a":1}`},
		{"a text", program{answer: `"hi"`}, 200, `"hi"`},
		{"no status", program{answer: `{"statusCode":"x"}`}, 502, `{"Message":"Internal Server Error"}`},
		{"a failure", program{answer: `{"errorMessage":"secret"}`, failed: true}, 502, `{"Message":"Internal Server Error"}`},
		{"no function", program{err: errors.New("closed")}, 503, `{"Message":"Service Unavailable"}`},
	} {
		status, headers, body := send(t, "POST", serve(t, &test.p).URL, "text/plain", "x")
		if status != test.status || body != test.body {
			t.Errorf("%s: %d %q, want %d %q", test.name, status, body, test.status, test.body)
		}
		if test.name == "a response" && headers.Get("X-Y") != "z" {
			t.Errorf("headers: %v", headers)
		}
	}
}

func TestLargeRequestsAreNotHandedOver(t *testing.T) {
	for _, test := range []struct {
		size, status, calls int
	}{{4 << 20, 200, 1}, {5 << 20, 413, 0}, {7 << 20, 413, 0}} { // in base64 a third larger
		p := &program{answer: `{"statusCode":200}`}
		if status, _, _ := send(t, "POST", serve(t, p).URL, "application/octet-stream", strings.Repeat("x", test.size)); status != test.status || len(p.events) != test.calls {
			t.Errorf("%d MB: %d, %d calls; want %d, %d", test.size>>20, status, len(p.events), test.status, test.calls)
		}
	}
}
