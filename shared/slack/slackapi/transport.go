package slackapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"
)

// maxAnswer bounds what is read of an answer: a page of history with 200
// messages of full size is about 4 MB.
const maxAnswer = 16 << 20

// transport makes the calls of slack-go. It reads each answer to its end, so
// that connections are used again, follows no redirect, so that the token goes
// nowhere else, and turns every failure into an *Error without the token.
type transport struct {
	http  *http.Client
	token string
}

func newTransport(base *http.Client, token string) *transport {
	c := *base
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if c.Timeout == 0 {
		// Slack answers in well under a second; its clients use 30 s.
		c.Timeout = 30 * time.Second
	}
	return &transport{http: &c, token: token}
}

// Do makes one call. Answers that it returns are good ones.
func (t *transport) Do(r *http.Request) (*http.Response, error) {
	method := path.Base(r.URL.Path)
	resp, err := t.http.Do(r)
	if err != nil {
		return nil, &Error{Kind: Unavailable, Method: method, cause: t.redact(err)}
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	closeErr := resp.Body.Close()
	switch {
	case err != nil:
		return nil, &Error{Kind: Unavailable, Method: method, Status: resp.StatusCode, cause: t.redact(fmt.Errorf("read the answer: %w", err))}
	case closeErr != nil:
		return nil, &Error{Kind: Unavailable, Method: method, Status: resp.StatusCode, cause: t.redact(fmt.Errorf("close the answer: %w", closeErr))}
	case len(body) > maxAnswer:
		return nil, &Error{Kind: Unavailable, Method: method, Status: resp.StatusCode, cause: fmt.Errorf("the answer is larger than %d bytes", maxAnswer)}
	}
	if e := classify(method, resp.StatusCode, resp.Header, body); e != nil {
		for n, d := range e.Details {
			e.Details[n] = t.hide(d)
		}
		e.Code, e.Scope = t.hide(e.Code), t.hide(e.Scope)
		return nil, e
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// redact drops the address of the call, and the token should it be in there.
func (t *transport) redact(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	if s := err.Error(); t.hide(s) != s {
		return errors.New(t.hide(s))
	}
	return err
}

func (t *transport) hide(s string) string {
	if t.token == "" {
		return s
	}
	return strings.ReplaceAll(s, t.token, "<token>")
}
