// Package loopback is a network inside one process: requests go to the handler of
// their host without a connection, so that nothing waits for anything but timers and
// other goroutines, and testing/synctest can tell when all do.
package loopback

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"syscall"
	"time"
)

// timeout is how long an answer may take: as long as the functions' clients wait
// for its head (packages awsconf and kube).
const timeout = 10 * time.Second

// Network is a set of hosts. It is an http.RoundTripper, and safe for concurrent use.
type Network struct {
	mu    sync.Mutex
	hosts map[string]http.Handler
}

var _ http.RoundTripper = (*Network)(nil)

// New makes a network without hosts.
func New() *Network { return &Network{hosts: map[string]http.Handler{}} }

// Serve lets a host, with its port if it has one, be answered by a handler; nil ends
// that.
func (n *Network) Serve(host string, h http.Handler) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.hosts[host] = h; h == nil {
		delete(n.hosts, host)
	}
}

// refused is what a host that does not listen answers.
func refused(host string) error {
	return &net.OpError{Op: "dial", Net: "tcp", Err: fmt.Errorf("%s: %w", host, syscall.ECONNREFUSED)}
}

// RoundTrip gives a request to the handler of its host. Who no longer waits leaves
// the handler to itself, with its request's context ended, as net/http does.
func (n *Network) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	if req.Body != nil {
		defer req.Body.Close()
	}
	n.mu.Lock()
	h, ok := n.hosts[req.URL.Host]
	n.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case !ok:
		return nil, refused(req.URL.Host)
	}
	in, err := received(req)
	if err != nil {
		return nil, err
	}
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	in = in.WithContext(ctx)
	type answer struct {
		response *http.Response
		err      error
	}
	done := make(chan answer, 1)
	go func() {
		w := httptest.NewRecorder()
		a := answer{err: io.EOF} // as net/http's Transport has it
		defer func() {
			// A handler that aborts has cut the connection; any other panic is one.
			if p := recover(); p != nil && p != http.ErrAbortHandler {
				panic(p)
			}
			done <- a
		}()
		h.ServeHTTP(w, in)
		a = answer{response: w.Result()}
		a.response.Request = req
	}()
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case a := <-done:
		return a.response, a.err
	case <-timer.C:
		return nil, &net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// received is a request as its server sees it: with all of its body, which the
// client may close before it is read.
func received(req *http.Request) (*http.Request, error) {
	in := req.Clone(req.Context())
	var body []byte
	if req.Body != nil {
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, fmt.Errorf("read the request: %w", err)
		}
	}
	in.Body, in.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	in.Proto, in.ProtoMajor, in.ProtoMinor = "HTTP/1.1", 1, 1
	in.RemoteAddr, in.RequestURI = "127.0.0.1:1", in.URL.RequestURI()
	if in.Host == "" {
		in.Host = in.URL.Host
	}
	u := *in.URL
	u.Scheme, u.Host, u.User = "", "", nil // a server is asked for a path
	in.URL = &u
	return in, nil
}
