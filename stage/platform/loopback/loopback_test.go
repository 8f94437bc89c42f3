package loopback

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRequestIsAnswered(t *testing.T) {
	n := New()
	var got []string
	n.Serve("a.invalid:1", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got = []string{r.Method, r.Host, r.URL.String(), r.Header.Get("X-Word"), string(body), r.Proto}
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "answer")
	}))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://a.invalid:1/path?q=1", strings.NewReader("body"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Word", "w")
	resp, err := (&http.Client{Transport: n}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(resp.Body)
	if diff := cmp.Diff([]string{"POST", "a.invalid:1", "/path?q=1", "w", "body", "HTTP/1.1"}, got); diff != "" || err != nil {
		t.Errorf("request (-want +got), %v:\n%s", err, diff)
	}
	if resp.StatusCode != http.StatusTeapot || string(answer) != "answer" {
		t.Errorf("answer %d %q", resp.StatusCode, answer)
	}
}

// TestNoAnswer: each way in which there is none is the one that a connection has.
func TestNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New()
		left := make(chan error, 1)
		n.Serve("abort.invalid", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
		n.Serve("slow.invalid", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			left <- r.Context().Err()
		}))
		n.Serve("gone.invalid", http.NotFoundHandler())
		n.Serve("gone.invalid", nil)
		ask := func(host string) error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+host, nil)
			if err != nil {
				t.Fatal(err)
			}
			_, err = (&http.Client{Transport: n}).Do(req)
			return err
		}
		for host, want := range map[string]error{
			"abort.invalid": io.EOF, "gone.invalid": syscall.ECONNREFUSED, "slow.invalid": context.DeadlineExceeded,
		} {
			if err := ask(host); !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", host, err, want)
			}
		}
		if err := <-left; err == nil {
			t.Error("the handler of a request that is gone was not canceled")
		}
		began := time.Now()
		_, err := (&http.Client{Transport: n}).Get("http://slow.invalid")
		var late net.Error
		if !errors.As(err, &late) || !late.Timeout() || time.Since(began) != timeout {
			t.Errorf("after %s: %v, want a timeout after %s", time.Since(began), err, timeout)
		}
		<-left
	})
}

// TestCutAsANetworkCuts: who is cut off hears the same as from a server on a port.
func TestCutAsANetworkCuts(t *testing.T) {
	abort := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	server := httptest.NewServer(abort)
	defer server.Close()
	n := New()
	n.Serve("cut.invalid", abort)
	_, real := server.Client().Get(server.URL)
	_, ours := (&http.Client{Transport: n}).Get("http://cut.invalid")
	if a, b := errors.Unwrap(real), errors.Unwrap(ours); a == nil || a != b {
		t.Errorf("a port: %v; here: %v", real, ours)
	}
}
