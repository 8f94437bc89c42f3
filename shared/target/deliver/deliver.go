// Package deliver sends to targets besides Slack what package message has made for them.
// Each send ends well, or with an *Error that says whether the same may succeed later.
package deliver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"rollcall/shared/target/message"
)

// Kind is what sort of failure a delivery ended in: it decides what to do next.
type Kind string

// The kinds.
const (
	// Later: the target asks to wait, is away, or its secret is not filled in. The same
	// may succeed later by itself, or when a person has done his part.
	Later Kind = "later"
	// Refused: it does not take this. Sending it again does not help.
	Refused Kind = "refused"
)

// Error is a delivery that failed. It holds no secret: no key and no address.
type Error struct {
	Target string
	Kind   Kind
	Status int // of HTTP; 0 if there was no answer
	// After is how long the target asks to wait; 0 where it does not.
	After time.Duration
	// Says is the target's own explanation, with the field that it does not take.
	Says  string
	cause error
}

func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "target %s", e.Target)
	if e.Kind == Refused {
		b.WriteString(" refuses it")
	}
	if e.Status != 0 {
		fmt.Fprintf(&b, " (HTTP %d)", e.Status)
	}
	if e.Says != "" {
		b.WriteString(": " + e.Says)
	}
	if e.cause != nil {
		b.WriteString(": " + e.cause.Error())
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.cause }

// Doer makes a request. *http.Client does, as Client makes it.
type Doer interface {
	Do(*http.Request) (*http.Response, error)
}

// Sender sends over HTTP.
type Sender struct {
	HTTP Doer
	// PagerDuty is the address of its Events API.
	PagerDuty string
	Now       func() time.Time
}

// Page sends an event to PagerDuty.
func (s Sender) Page(ctx context.Context, name, key string, event message.PagerDuty) error {
	if err := checkKey(name, key); err != nil {
		return err
	}
	event.RoutingKey = key
	body, err := json.Marshal(event)
	if err != nil {
		return fmt.Errorf("write the event for %s: %w", name, err)
	}
	return s.post(ctx, name, strings.TrimSuffix(s.PagerDuty, "/")+"/v2/enqueue", []string{key}, body, nil)
}

// Post sends a card to Teams.
func (s Sender) Post(ctx context.Context, name, address string, body []byte) error {
	return s.post(ctx, name, address, nil, body, nil)
}

// Hook sends an event as it is to a webhook, signed.
func (s Sender) Hook(ctx context.Context, name string, to Webhook, event string, body []byte) error {
	if err := checkHook(name, to); err != nil {
		return err
	}
	return s.post(ctx, name, to.Address, []string{to.Key}, body, message.Headers(to.Key, name, event, body, s.Now()))
}

// maxAnswer bounds what is read of an answer.
const maxAnswer = 64 << 10

func (s Sender) post(ctx context.Context, name, address string, secrets []string, body []byte, headers map[string]string) error {
	to, err := checkAddress(address, s.PagerDuty)
	if err != nil {
		return &Error{Target: name, Kind: Later, Says: "the address in its secret", cause: err}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return &Error{Target: name, Kind: Later, Says: "the address in its secret is none"} // the error quotes it
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "Rollcall")
	for key, value := range headers {
		req.Header.Set(key, value)
	}
	secrets = append(secrets, req.URL.String(), req.URL.RawQuery, req.URL.Path)
	resp, err := s.HTTP.Do(req)
	if err != nil {
		return &Error{Target: name, Kind: Later, cause: hidden(err, secrets)}
	}
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	// What could not be closed is read; what could not be read is no explanation.
	_ = resp.Body.Close()
	if err != nil {
		answer = nil
	}
	return judge(name, resp.StatusCode, resp.Header, answer, secrets, s.Now())
}

// judge is what an answer means. 429 and 5xx are tried again, all else that is no success
// is not (PagerDuty, "API Response Codes & Retry Logic"; Teams and webhooks are held to
// the same).
func judge(name string, status int, header http.Header, answer []byte, secrets []string, now time.Time) error {
	e := &Error{Target: name, Kind: Refused, Status: status, Says: hide(saysOf(answer), secrets)}
	switch {
	case status >= 200 && status < 300:
		return nil
	case status == http.StatusTooManyRequests, status == http.StatusRequestTimeout, status >= 500:
		if e.Kind, e.After = Later, retryAfter(header, now); status == http.StatusTooManyRequests && e.After == 0 {
			e.After = unsaidWait
		}
	case status >= 300 && status < 400:
		e.Says = "it redirects, which is not followed: put the address that it redirects to into its secret"
	}
	return e
}

// unsaidWait is how long a target waits for that has enough and does not say until when:
// PagerDuty asks for "a backoff of a few minutes"
// (developer.pagerduty.com/docs/events-api-v2/overview, "Rate Limits"), which follow.
const unsaidWait = time.Minute

// mostWait bounds what a target may ask for.
const mostWait = time.Hour

// retryAfter reads the header: seconds, or a time (RFC 9110, section 10.2.3).
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if n, err := strconv.Atoi(text); err == nil {
		return min(time.Duration(min(max(n, 0), int(mostWait/time.Second)))*time.Second, mostWait)
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(at.Sub(now), 0), mostWait)
	}
	return 0
}

// saysOf finds a target's explanation: PagerDuty's {"status", "message", "errors"}, the
// workflow's {"error": {"code", "message"}}; of anything else nothing, as it could be
// anything.
func saysOf(answer []byte) string {
	var a struct {
		Message string          `json:"message"`
		Errors  []string        `json:"errors"`
		Error   json.RawMessage `json:"error"`
	}
	if json.Unmarshal(answer, &a) != nil {
		return ""
	}
	parts := append([]string{a.Message}, a.Errors...)
	var inner struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	if json.Unmarshal(a.Error, &inner) == nil {
		parts = append(parts, inner.Code, inner.Message)
	}
	var said []string
	for _, p := range parts {
		if p = plain(p); p != "" && len(said) < 4 {
			said = append(said, p)
		}
	}
	return strings.Join(said, ": ")
}

// plain is a foreign text that may stand in a log: one line, short, without what turns or
// hides text.
func plain(s string) string {
	const most = 200
	s = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsGraphic(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "")))
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// hidden drops the address of a request from its error, and the secrets should they be in
// there.
func hidden(err error, secrets []string) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	if s := hide(err.Error(), secrets); s != err.Error() {
		return errors.New(s)
	}
	return err
}

func hide(s string, secrets []string) string {
	for _, secret := range secrets {
		if len(secret) > 3 {
			s = strings.ReplaceAll(s, secret, "<secret>")
		}
	}
	return s
}
