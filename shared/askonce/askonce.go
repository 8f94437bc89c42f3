// Package askonce gives the same answer to all who read the same of AWS or of a
// cluster at one moment: several detectors look at one cluster in a sweep, and what
// two of them need is read once.
//
// It is for reads alone. What must be as it is right now is asked with the request
// header Cache-Control: no-cache (RFC 9111, section 5.2.1.4), which goes past it.
package askonce

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// Once asks each question once: of several functions that want the same answer
// within one look the first has it asked, and all get it. It is thrown away with the
// look, for what it knows ages. The zero Once is ready.
type Once struct {
	// Most is how many bytes of answers are kept; 0 is no bound. What has no room is
	// given to those who wait for it, and asked again by who comes later.
	Most int
	// For is how long an answer is given again; 0 is as long as the Once.
	For time.Duration
	// Now is needed where For is set.
	Now func() time.Time

	mu      sync.Mutex
	answers map[string]*answer
	asked   int
	held    int
}

// Asked is how many questions went out so far, but for those that must be fresh.
func (o *Once) Asked() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.asked
}

// answer is what a question was answered with; done is closed when it is there.
type answer struct {
	done     chan struct{}
	response *http.Response // its body was read
	body     []byte
	err      error
	kept     bool
	// until is the end of its time; zero has none.
	until time.Time
}

// maxBody guards the memory of a function against a broken answer: that of package
// kube, whose pages are the largest.
const maxBody = 64 << 20

var errTooLong = errors.New("the answer is too long to be one")

// Client is a configuration whose clients ask once.
func (o *Once) Client(cfg aws.Config) aws.Config {
	var next aws.HTTPClient = http.DefaultClient
	if cfg.HTTPClient != nil {
		next = cfg.HTTPClient
	}
	cfg.HTTPClient = asker{way{o, doer{next}, false}}
	return cfg
}

// Cluster is a way to a cluster's Kubernetes API by which each question is asked once.
// There is no second attempt: what is not there for one is not there for the next.
func (o *Once) Cluster(next http.RoundTripper) http.RoundTripper { return way{o, next, true} }

// asker is a way as the SDK's clients take it, and doer the other way round.
type (
	asker struct{ http.RoundTripper }
	doer  struct{ aws.HTTPClient }
)

func (a asker) Do(req *http.Request) (*http.Response, error)       { return a.RoundTrip(req) }
func (d doer) RoundTrip(req *http.Request) (*http.Response, error) { return d.Do(req) }

type way struct {
	once *Once
	next http.RoundTripper
	// final is set where a connection that fails is an answer, too.
	final bool
}

// RoundTrip gives the answer to a request like this one, if there is one.
func (w way) RoundTrip(req *http.Request) (*http.Response, error) {
	if strings.Contains(req.Header.Get("Cache-Control"), "no-cache") {
		return w.next.RoundTrip(req)
	}
	key, err := question(req)
	if err != nil {
		return nil, err
	}
	for {
		a, asked := w.once.ask(key)
		if !asked {
			w.once.have(key, a, w, req)
			return a.to(req)
		}
		select {
		case <-a.done:
		case <-req.Context().Done():
			return nil, req.Context().Err()
		}
		if a.err == nil || a.kept {
			return a.to(req)
		}
	}
}

// ask finds the answer to a question, or makes the caller the one who asks it.
func (o *Once) ask(key string) (a *answer, asked bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if a, asked = o.answers[key]; asked && (a.until.IsZero() || o.Now().Before(a.until)) {
		return a, true
	}
	if asked { // it has become old
		o.held -= len(a.body)
	}
	if o.answers == nil {
		o.answers = map[string]*answer{}
	}
	a = &answer{done: make(chan struct{})}
	o.answers[key] = a
	o.asked++
	return a, false
}

// have asks, and keeps what will be answered again in the same way. Who waits gets
// any other answer too, but not that the one who asked had no more time; who asks
// later asks anew.
func (o *Once) have(key string, a *answer, w way, req *http.Request) {
	defer close(a.done)
	a.response, a.err = w.next.RoundTrip(req)
	if a.err == nil {
		a.body, a.err = io.ReadAll(io.LimitReader(a.response.Body, maxBody+1))
		a.response.Body.Close()
	}
	switch {
	case a.err != nil:
		a.kept = w.final && req.Context().Err() == nil
	case len(a.body) > maxBody:
		a.body, a.err = nil, errTooLong
	default:
		a.kept = stays(a.response.StatusCode)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if a.kept = a.kept && (o.Most == 0 || o.held+len(a.body) <= o.Most); !a.kept {
		delete(o.answers, key)
		return
	}
	o.held += len(a.body)
	if o.For > 0 {
		a.until = o.Now().Add(o.For)
	}
}

// stays tells answers that the same question gets again: what reads answer with, and who is refused
// or asks for what is not there. EC2, EKS and IAM refuse with 403, and are throttled
// with 400, 429 and 503 (their API references, "Common errors").
func stays(status int) bool {
	return status == http.StatusOK || status == http.StatusForbidden || status == http.StatusNotFound
}

// to is the answer as one of its own.
func (a *answer) to(req *http.Request) (*http.Response, error) {
	if a.err != nil {
		return nil, a.err
	}
	r := *a.response
	r.Header, r.Request = a.response.Header.Clone(), req
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(a.body)), int64(len(a.body))
	return &r, nil
}

// question is what a request asks: not when, nor by which connection. All requests of
// one look are of one caller.
func question(req *http.Request) (string, error) {
	var body []byte
	if req.Body != nil && req.Body != http.NoBody {
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return "", fmt.Errorf("read the request: %w", err)
		}
		req.Body.Close()
		req.Body = io.NopCloser(bytes.NewReader(body))
	}
	return strings.Join([]string{signer(req), req.Method, req.URL.String(), req.Header.Get("X-Amz-Target"), string(body)}, "\n"), nil
}

// signer is the access key by which a request to AWS is signed: accounts have the same
// endpoints, and what one is answered is not another's (IAM user guide, "Elements of an AWS
// API request signature", Authorization). Another way to a cluster is another URL.
func signer(req *http.Request) string {
	_, rest, _ := strings.Cut(req.Header.Get("Authorization"), "Credential=")
	key, _, _ := strings.Cut(rest, "/")
	return key
}

// CloseIdleConnections closes those of the way.
func (w way) CloseIdleConnections() {
	if c, ok := w.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}
