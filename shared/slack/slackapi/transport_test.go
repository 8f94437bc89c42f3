package slackapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestLeaksNoSecret holds every status and every kind of failure against the
// rule that the token is in no error.
func TestLeaksNoSecret(t *testing.T) {
	echo := `{"ok":false,"error":"` + secretToken + `","needed":"` + secretToken + `","response_metadata":{"messages":["token=` + secretToken + `"]}}`
	check := func(t *testing.T, c *Client) {
		t.Helper()
		for call, err := range every(c, t.Context()) {
			if err == nil {
				continue // missing_scope is not an error for Find
			}
			for e := err; e != nil; e = errors.Unwrap(e) {
				for _, s := range []string{e.Error(), fmt.Sprintf("%v %+v %q", e, e, e)} {
					if strings.Contains(s, "SECRET") {
						t.Errorf("%s leaks the token: %q", call, s)
					}
				}
			}
		}
	}
	for status := 100; status < 600; status++ {
		if http.StatusText(status) == "" || status < 200 {
			continue
		}
		for _, body := range []string{echo, secretToken, `{"ok":true,"ts":` + secretToken + `}`, `{"ok":true,"messages":"` + secretToken + `"}`, strings.Replace(echo, secretToken, "missing_scope", 1)} {
			c := must(NewClient("http://127.0.0.1:1/api/", secretToken, &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				return &http.Response{
					StatusCode: status, Status: fmt.Sprintf("%d %s", status, secretToken), Request: r,
					Header: http.Header{"Location": {"https://evil.example/?token=" + secretToken}, "Retry-After": {secretToken}},
					Body:   io.NopCloser(strings.NewReader(body)),
				}, nil
			})}))
			c.sleep = func(context.Context, time.Duration) error { return nil }
			check(t, c)
		}
	}
	t.Run("network", func(t *testing.T) {
		c, err := NewClient("http://127.0.0.1:1/api/", secretToken, &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			return nil, fmt.Errorf("proxy says: token=%s", secretToken)
		})})
		if err != nil {
			t.Fatal(err)
		}
		check(t, c)
	})
	t.Run("broken body", func(t *testing.T) {
		c := must(NewClient("http://127.0.0.1:1/api/", secretToken, &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Request: r, Body: io.NopCloser(io.MultiReader(strings.NewReader(`{"ok":`), broken{}))}, nil
		})}))
		check(t, c)
	})
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("cut off near " + secretToken) }

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
