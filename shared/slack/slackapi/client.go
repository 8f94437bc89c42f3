package slackapi

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	slackgo "github.com/slack-go/slack"
)

// Client sends messages. It is safe for concurrent use.
type Client struct {
	api *slackgo.Client
	// files takes the bytes of files, which go to an address of their own.
	files *transport
	// sleep waits, or returns the context's error.
	sleep func(context.Context, time.Duration) error
}

// NewClient makes a client for Slack's Web API at an address such as
// "https://slack.com/api/". Plain HTTP is taken for this machine only.
func NewClient(api, token string, base *http.Client) (*Client, error) {
	u, err := url.Parse(api)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("address of Slack's API: %q is not a plain https URL", api)
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())) {
		return nil, fmt.Errorf("address of Slack's API: %q would send the token in the clear", api)
	}
	calls := newTransport(base, token)
	return &Client{
		api: slackgo.New(token,
			slackgo.OptionAPIURL(strings.TrimRight(u.String(), "/")+"/"),
			slackgo.OptionHTTPClient(calls)),
		files: calls,
		sleep: sleep,
	}, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Post sends a new message and returns its timestamp, its id in Slack. One
// with a picture that Slack has not taken in yet is sent a second time.
func (c *Client) Post(ctx context.Context, channel string, m Message) (ts string, err error) {
	ts, err = c.send(ctx, channel, m)
	if notTakenIn(m, err) && c.sleep(ctx, takingIn) == nil {
		return c.send(ctx, channel, m)
	}
	return ts, err
}

// Reply sends a message into a thread and returns its timestamp.
func (c *Client) Reply(ctx context.Context, channel, thread string, m Message) (ts string, err error) {
	return c.send(ctx, channel, m, slackgo.MsgOptionTS(thread))
}

// Update replaces what a message says. It waits for a picture as Post does.
func (c *Client) Update(ctx context.Context, channel, ts string, m Message) error {
	_, err := c.send(ctx, channel, m, slackgo.MsgOptionUpdate(ts))
	if notTakenIn(m, err) && c.sleep(ctx, takingIn) == nil {
		_, err = c.send(ctx, channel, m, slackgo.MsgOptionUpdate(ts))
	}
	return err
}

func (c *Client) send(ctx context.Context, channel string, m Message, more ...slackgo.MsgOption) (string, error) {
	options := append([]slackgo.MsgOption{
		slackgo.MsgOptionText(m.Text, false),
		slackgo.MsgOptionBlocks(m.Blocks...),
		slackgo.MsgOptionMetadata(m.Tag.Metadata()),
		slackgo.MsgOptionDisableLinkUnfurl(),
		slackgo.MsgOptionDisableMediaUnfurl(),
	}, more...)
	var ts string
	err := c.patiently(ctx, func() error {
		var err error
		_, ts, _, err = c.api.SendMessageContext(ctx, channel, options...)
		return err
	})
	if err != nil {
		return "", c.typed(err)
	}
	if ts == "" {
		return "", &Error{Kind: Unavailable, Method: "chat", Status: http.StatusOK, cause: errors.New("the answer has no timestamp")}
	}
	return ts, nil
}

// patiently calls again while Slack asks to wait and there is time to.
func (c *Client) patiently(ctx context.Context, call func() error) error {
	const (
		// attempts are made without a deadline.
		attempts = 3
		// reserve is left for the call itself after the wait.
		reserve = 2 * time.Second
		// longest is waited without a deadline.
		longest = time.Minute
	)
	for n := 1; ; n++ {
		err := call()
		var e *Error
		if !errors.As(err, &e) || e.Kind != RateLimited || e.RetryAfter > longest {
			return err
		}
		// Others may speak in the same channel and take each turn before us: it is
		// time that ends this, not a number of attempts.
		deadline, ends := ctx.Deadline()
		if ends && time.Until(deadline) < e.RetryAfter+reserve || !ends && n == attempts {
			return err
		}
		if c.sleep(ctx, e.RetryAfter) != nil {
			return err
		}
	}
}

// typed makes sure that every failure is an *Error.
func (c *Client) typed(err error) error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	// The transport took the answer for a good one and slack-go did not. What
	// it says may quote the answer, so it is not repeated.
	return &Error{Kind: Unavailable, Method: "call", cause: errors.New("the answer was not understood")}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
