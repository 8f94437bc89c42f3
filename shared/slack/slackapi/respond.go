package slackapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// respondWithin is how long Slack may take to accept an answer: whoever pressed
// waits for three seconds in all.
const respondWithin = time.Second

// Responder answers people by the address that Slack gave for it, the
// response_url. It needs no token.
type Responder struct {
	client *http.Client
	// stage is the address of the local stage's Slack, "http://127.0.0.1:1234";
	// empty for Slack itself.
	stage string
}

// NewResponder takes the address of Slack's Web API, and by which way requests go;
// nil is net/http's own.
func NewResponder(api string, via http.RoundTripper) Responder {
	r := Responder{client: &http.Client{
		Transport:     via,
		Timeout:       respondWithin,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	// Plain HTTP is the stage's alone, on this machine.
	if u, err := url.Parse(api); err == nil && u.Scheme == "http" && loopback(u.Hostname()) {
		r.stage = "http://" + u.Host
	}
	return r
}

// The ways in which an answer does not get there. They do not quote the address: whoever has it can write into the
// channel.
var (
	ErrElsewhere = errors.New("the response_url is no address of Slack's: it was not called")
	ErrNotTaken  = errors.New("the answer was not taken by Slack")
)

// ours tells that an address is one by which Slack takes answers.
func (r Responder) ours(to string) bool {
	u, err := url.Parse(to)
	if err != nil || u.User != nil || u.Opaque != "" {
		return false
	}
	if r.stage != "" && u.Scheme+"://"+u.Host == r.stage {
		return true
	}
	// Slack, and GovSlack (docs.slack.dev/govslack): Host holds a port too, and
	// there is to be none.
	return u.Scheme == "https" && (u.Host == "hooks.slack.com" || u.Host == "hooks.slack-gov.com")
}

// Tell says something to whoever pressed, and to nobody else.
func (r Responder) Tell(ctx context.Context, to, text string) error {
	return r.send(ctx, to, map[string]any{"response_type": "ephemeral", "replace_original": false, "text": text})
}

// Answer tells whoever typed a command, and nobody else, a message with blocks. An address
// takes five answers within half an hour
// (docs.slack.dev/interactivity/handling-user-interaction).
func (r Responder) Answer(ctx context.Context, to string, m Message) error {
	return r.send(ctx, to, map[string]any{"response_type": "ephemeral", "replace_original": false, "text": m.Text, "blocks": m.Blocks})
}

func (r Responder) send(ctx context.Context, to string, what map[string]any) error {
	if !r.ours(to) {
		return ErrElsewhere
	}
	body, err := json.Marshal(what)
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return ErrElsewhere // its error quotes the address
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	resp, err := r.client.Do(req)
	if err != nil {
		var quoting *url.Error
		if errors.As(err, &quoting) {
			err = quoting.Err
		}
		return fmt.Errorf("%w: %w", ErrNotTaken, err)
	}
	defer resp.Body.Close()
	// What Slack says to it is of no use, but read, so that the connection is kept.
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 4<<10))
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%w: status %d", ErrNotTaken, resp.StatusCode)
	}
	return nil
}
