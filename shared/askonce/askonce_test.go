package askonce

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/google/go-cmp/cmp"

	"rollcall/tools/expect"
)

// script answers requests in the order in which they come.
type script struct {
	asked   []string
	answers []func(*http.Request) (*http.Response, error)
}

func (s *script) RoundTrip(req *http.Request) (*http.Response, error) {
	body := ""
	if req.Body != nil {
		raw, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		body = string(raw)
	}
	s.asked = append(s.asked, req.Method+" "+req.URL.Path+" "+body)
	return s.answers[min(len(s.asked), len(s.answers))-1](req)
}

func respondWith(status int, body string) func(*http.Request) (*http.Response, error) {
	return func(req *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: req}, nil
	}
}

func get(ctx context.Context, t *testing.T, by http.RoundTripper, method, path, target, body string) (int, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, "https://ec2.invalid"+path, strings.NewReader(body))
	expect.OK(t, err)
	req.Header.Set("X-Amz-Target", target)
	req.Header.Set("X-Amz-Date", time.Now().String()) // no part of what is asked
	resp, err := by.RoundTrip(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if resp.Request != req {
		t.Error("the answer is of another request")
	}
	return resp.StatusCode, string(raw), err
}

// Each question is asked once, however many want to know.
func TestEachQuestionIsAskedOnce(t *testing.T) {
	s := &script{answers: []func(*http.Request) (*http.Response, error){respondWith(200, "one"), respondWith(200, "two"), respondWith(200, "three"), respondWith(200, "four")}}
	by := way{&Once{}, s, false}
	for _, q := range [][3]string{{"/a", "", "x"}, {"/a", "", "x"}, {"/a", "", "y"}, {"/b", "", "x"}, {"/a", "t", "x"}, {"/a", "", "y"}} {
		if _, _, err := get(t.Context(), t, by, http.MethodPost, q[0], q[1], q[2]); err != nil {
			t.Error(err)
		}
	}
	if got := by.once.Asked(); got != 4 {
		t.Errorf("%d questions, want 4", got)
	}
	if _, _, err := get(t.Context(), t, by, http.MethodGet, "/a", "", "y"); err != nil || len(s.asked) != 5 {
		t.Errorf("%v, asked %q: another method is another question", err, s.asked)
	}
	s.asked = s.asked[:4]
	expect.Same(t, "asked", s.asked, []string{"POST /a x", "POST /a y", "POST /b x", "POST /a x"})
	if _, body, _ := get(t.Context(), t, by, http.MethodPost, "/a", "", "y"); body != "two" {
		t.Errorf("answered %q, want what this was answered with", body)
	}
}

// A refusal stays one; what may be otherwise the next time is asked again.
func TestWhatMayChangeIsAskedAgain(t *testing.T) {
	for status, want := range map[int]int{200: 1, 403: 1, 404: 1, 400: 2, 429: 2, 500: 2, 503: 2} {
		s := &script{answers: []func(*http.Request) (*http.Response, error){respondWith(status, "x")}}
		by := way{&Once{}, s, false}
		for range 2 {
			if got, _, err := get(t.Context(), t, by, http.MethodGet, "/a", "", ""); err != nil || got != status {
				t.Errorf("answered %d, %v, want %d", got, err, status)
			}
		}
		if len(s.asked) != want {
			t.Errorf("%d was asked for %d times, want %d", status, len(s.asked), want)
		}
	}
}

// Who waits for another's question gets its answer, also one that is not kept; that
// the other gave up is none.
func TestWhoWaitsGetsTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(next func(*http.Request) (*http.Response, error)) func(*http.Request) (*http.Response, error) {
			return func(req *http.Request) (*http.Response, error) {
				select {
				case <-time.After(time.Second):
					return next(req)
				case <-req.Context().Done():
					return nil, req.Context().Err()
				}
			}
		}
		s := &script{answers: []func(*http.Request) (*http.Response, error){slow(respondWith(503, "later")), slow(respondWith(200, "never")), slow(respondWith(200, "now"))}}
		by := way{&Once{}, s, false}
		var bodies [2]string
		both := func(first context.Context) (errs [2]error) {
			done := make(chan struct{})
			go func() {
				defer close(done)
				_, bodies[0], errs[0] = get(first, t, by, http.MethodGet, "/a", "", "")
			}()
			synctest.Wait()
			_, bodies[1], errs[1] = get(t.Context(), t, by, http.MethodGet, "/a", "", "")
			<-done
			return errs
		}
		if errs := both(t.Context()); errs != [2]error{} || bodies != [2]string{"later", "later"} || len(s.asked) != 1 {
			t.Errorf("answered %q, %v after %d questions, want one answer for both", bodies, errs, len(s.asked))
		}
		impatient, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if errs := both(impatient); !errors.Is(errs[0], context.DeadlineExceeded) || errs[1] != nil || bodies[1] != "now" || len(s.asked) != 3 {
			t.Errorf("answered %q, %v after %d questions, want an answer for who waited", bodies, errs, len(s.asked))
		}
		// Nor does who waits wait for longer than it would by itself.
		waiting := make(chan struct{})
		go func() {
			defer close(waiting)
			_, _, _ = get(t.Context(), t, by, http.MethodGet, "/b", "", "")
		}()
		synctest.Wait()
		brief, end := context.WithTimeout(t.Context(), time.Millisecond)
		defer end()
		if _, _, err := get(brief, t, by, http.MethodGet, "/b", "", ""); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want that its own time was over", err)
		}
		<-waiting
	})
}

// AWS's clients try again by themselves: what cut one attempt off is not kept.
func TestClientsAndClustersAskOnce(t *testing.T) {
	s := &script{answers: []func(*http.Request) (*http.Response, error){respondWith(200, "x")}}
	o := &Once{}
	ask := func(by aws.HTTPClient, path string) error {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://ec2.invalid"+path, nil)
		expect.OK(t, err)
		_, err = by.Do(req)
		return err
	}
	for range 2 {
		if _, _, err := get(t.Context(), t, o.Cluster(s), http.MethodGet, "/nodes", "", ""); err != nil {
			t.Error(err)
		}
		if err := ask(o.Client(aws.Config{HTTPClient: &http.Client{Transport: s}}).HTTPClient, "/subnets"); err != nil {
			t.Error(err)
		}
	}
	expect.Same(t, "asked", s.asked, []string{"GET /nodes ", "GET /subnets "})
	cut := errors.New("cut")
	tries := &script{answers: []func(*http.Request) (*http.Response, error){func(*http.Request) (*http.Response, error) { return nil, cut }}}
	for range 2 {
		if err := ask(o.Client(aws.Config{HTTPClient: &http.Client{Transport: tries}}).HTTPClient, "/cut"); !errors.Is(err, cut) {
			t.Errorf("error %v, want that it was cut", err)
		}
	}
	if len(tries.asked) != 2 {
		t.Errorf("asked %d times, want each attempt", len(tries.asked))
	}
}

// A fresh request is sent, whatever is known, and its answer is kept for no other.
func TestFreshGoesPast(t *testing.T) {
	s := &script{answers: []func(*http.Request) (*http.Response, error){respondWith(200, "one"), respondWith(200, "two"), respondWith(200, "three")}}
	by := way{&Once{}, s, false}
	var got []string
	for _, fresh := range []bool{false, true, false, true} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://ec2.invalid/a", nil)
		expect.OK(t, err)
		if fresh {
			req.Header.Set("Cache-Control", "no-cache")
		}
		resp, err := by.RoundTrip(req)
		expect.OK(t, err)
		body, err := io.ReadAll(resp.Body)
		expect.OK(t, err)
		got = append(got, string(body))
	}
	expect.Same(t, "answers", got, []string{"one", "two", "one", "three"})
}

// An answer is given again for a while, and what has no room is not kept.
func TestWhatIsKeptIsBounded(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	s := &script{answers: []func(*http.Request) (*http.Response, error){respondWith(200, "12345678")}}
	by := way{&Once{Most: 20, For: time.Minute, Now: func() time.Time { return now }}, s, false}
	ask := func(path string, asked int) {
		t.Helper()
		if _, body, err := get(t.Context(), t, by, http.MethodGet, path, "", ""); err != nil || body != "12345678" || len(s.asked) != asked {
			t.Errorf("%s: answered %q, %v after %d questions, want %d", path, body, err, len(s.asked), asked)
		}
	}
	ask("/a", 1)
	ask("/b", 2)
	ask("/c", 3) // would be the 24th byte
	ask("/a", 3)
	ask("/c", 4)
	now = now.Add(time.Minute)
	ask("/a", 5) // is old, and makes room for itself alone
	ask("/a", 5)
	ask("/c", 6)
	ask("/b", 7)
	ask("/c", 8)
}

// A Kubernetes API without an answer is not dialed again by each function; AWS's
// clients try again by themselves, and an own deadline says nothing of the API.
func TestWhoIsNotThereIsNotAskedAgain(t *testing.T) {
	refused := errors.New("connection refused")
	for name, tt := range map[string]struct {
		final bool
		err   error
		asked int
	}{
		"a cluster":              {true, refused, 1},
		"AWS":                    {false, refused, 2},
		"a cluster, out of time": {true, nil, 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := &script{answers: []func(*http.Request) (*http.Response, error){func(req *http.Request) (*http.Response, error) {
				if tt.err != nil {
					return nil, tt.err
				}
				return nil, req.Context().Err()
			}}}
			by := way{&Once{}, s, tt.final}
			ctx, cancel := context.WithCancel(t.Context())
			if tt.err == nil {
				cancel()
			}
			defer cancel()
			for range 2 {
				if _, _, err := get(ctx, t, by, http.MethodGet, "/nodes", "", ""); err == nil {
					t.Error("an answer came")
				}
			}
			if len(s.asked) != tt.asked {
				t.Errorf("asked %d times, want %d", len(s.asked), tt.asked)
			}
		})
	}
}

// closing is a body that records whether it was closed.
type closing struct {
	io.Reader
	closed bool
}

func (c *closing) Close() error { c.closed = true; return nil }

// broken is a body that cannot be read.
type broken struct{ error }

func (b broken) Read([]byte) (int, error) { return 0, b.error }

// Bodies are read and closed; a request that has none keeps none, and one that cannot
// be read is not sent.
func TestBodies(t *testing.T) {
	out := &closing{Reader: strings.NewReader("x")}
	var none bool
	s := &script{answers: []func(*http.Request) (*http.Response, error){func(req *http.Request) (*http.Response, error) {
		none = req.Body == http.NoBody
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: out}, nil
	}}}
	by := way{&Once{}, s, false}
	in := &closing{Reader: strings.NewReader("question")}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://ec2.invalid/", in)
	expect.OK(t, err)
	if _, err := by.RoundTrip(req); err != nil || !in.closed || !out.closed || s.asked[0] != "POST / question" {
		t.Errorf("%v, closed %v and %v, sent %q", err, in.closed, out.closed, s.asked)
	}
	if req, err = http.NewRequestWithContext(t.Context(), http.MethodGet, "https://ec2.invalid/", http.NoBody); err != nil {
		t.Fatal(err)
	}
	if _, err := by.RoundTrip(req); err != nil || !none {
		t.Errorf("%v, a request without a body has one", err)
	}
	failed := errors.New("disk")
	if req, err = http.NewRequestWithContext(t.Context(), http.MethodPost, "https://ec2.invalid/x", broken{failed}); err != nil {
		t.Fatal(err)
	}
	if _, err := by.RoundTrip(req); !errors.Is(err, failed) || len(s.asked) != 2 {
		t.Errorf("error %v after %d questions, want that it was not sent", err, len(s.asked))
	}
}

// idle is a way whose connections can be closed.
type idle struct {
	http.RoundTripper
	closed int
}

func (i *idle) CloseIdleConnections() { i.closed++ }

func TestConnectionsAreClosed(t *testing.T) {
	i := &idle{}
	(&http.Client{Transport: way{&Once{}, i, true}}).CloseIdleConnections()
	(&http.Client{Transport: way{&Once{}, &script{}, true}}).CloseIdleConnections()
	if i.closed != 1 {
		t.Errorf("closed %d times, want once", i.closed)
	}
}

// Two accounts have the same endpoint: what one was answered is not given to the other.
func TestAccountsAreApart(t *testing.T) {
	s := &script{answers: []func(*http.Request) (*http.Response, error){respondWith(200, "of the first"), respondWith(200, "of the second")}}
	by := way{&Once{}, s, false}
	ask := func(key string) string {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://ec2.us-west-2.amazonaws.com/", strings.NewReader("Action=DescribeSubnets"))
		expect.OK(t, err)
		req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+key+"/20261120/us-west-2/ec2/aws4_request, SignedHeaders=host, Signature="+time.Now().String())
		resp, err := by.RoundTrip(req)
		expect.OK(t, err)
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		expect.OK(t, err)
		return string(body)
	}
	got := []string{ask("ASIA1"), ask("ASIA2"), ask("ASIA1"), ask("ASIA2")}
	if diff := cmp.Diff([]string{"of the first", "of the second", "of the first", "of the second"}, got); diff != "" || len(s.asked) != 2 {
		t.Errorf("asked %d times (-want +got):\n%s", len(s.asked), diff)
	}
}
