package look

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// Once asks each question once: of several functions that want the same answer
// within one look the first has it asked, and all get it. It is thrown away with the
// look, for what it knows ages.
type Once struct {
	mu      sync.Mutex
	answers map[string]*answer
	asked   int
}

// Asked is how many questions went out so far.
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
}

// Client is a configuration whose clients ask once.
func (o *Once) Client(cfg aws.Config) aws.Config {
	var next aws.HTTPClient = http.DefaultClient
	if cfg.HTTPClient != nil {
		next = cfg.HTTPClient
	}
	cfg.HTTPClient = asker{way{o, doer{next}, false}}
	return cfg
}

// endpoints are ways to clusters that are asked once. Where there is no other way than
// EKS's own the reader goes it alone.
func (o *Once) endpoints(of Endpoints) Endpoints {
	if of == nil {
		return nil
	}
	return func(cluster string) (endpoint string, ca []byte, via http.RoundTripper, ok bool) {
		endpoint, ca, via, ok = of(cluster)
		if via != nil {
			// Nobody tries again: who is not there for one is not there for the next.
			via = way{o, via, true}
		}
		return endpoint, ca, via, ok
	}
}

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
	// final tells that a connection that fails is an answer, too.
	final bool
}

// RoundTrip gives the answer to a request like this one, if there is one.
func (w way) RoundTrip(req *http.Request) (*http.Response, error) {
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
	if a, asked = o.answers[key]; asked {
		return a, true
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
		a.body, a.err = io.ReadAll(a.response.Body)
		a.response.Body.Close()
	}
	if a.err != nil {
		a.kept = w.final && req.Context().Err() == nil
	} else {
		a.kept = stays(a.response.StatusCode)
	}
	if !a.kept {
		o.mu.Lock()
		defer o.mu.Unlock()
		delete(o.answers, key)
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
	return strings.Join([]string{req.Method, req.URL.String(), req.Header.Get("X-Amz-Target"), string(body)}, "\n"), nil
}

// CloseIdleConnections closes those of the way.
func (w way) CloseIdleConnections() {
	if c, ok := w.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}
