// Package slackapi sends messages to Slack: a thin client over slack-go that
// waits as Slack asks, tells each failure's kind, and keeps the token out of
// every error. docs.slack.dev/apis/web-api.
package slackapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	slackgo "github.com/slack-go/slack"

	"rollcall/shared/lazyregexp"
	"rollcall/shared/report"
	"rollcall/shared/slack/hook"
	"rollcall/shared/slack/slacktext"
)

// Message is one message, or one reply in a thread, ready to be sent.
type Message struct {
	// Text is one line for notifications and for clients that cannot show
	// blocks. It is escaped for Slack.
	Text   string
	Blocks []slackgo.Block
	// Sum is the digest of all but the stamp of when it was last checked; empty where there
	// is no such stamp.
	Sum string
	// Tag marks the message in Slack, so that Find can tell it again.
	Tag Tag
}

// Tag is the metadata that every message of Rollcall carries.
type Tag struct {
	// Key names the incident (see KeyOf).
	Key string
	// Note is the reply's id; empty for the incident's own message.
	Note string
}

// EventType is the metadata's event_type.
const EventType = "rollcall_incident"

// The fields of the metadata's payload.
const (
	payloadKey  = "key"
	payloadNote = "note"
)

// KeyOf writes an incident's key as one string.
func KeyOf(k report.Key) string {
	return strings.Join([]string{k.SpokeCluster().String(), string(k.Check), k.Resource}, "|")
}

func (t Tag) Metadata() slackgo.SlackMetadata {
	return slackgo.SlackMetadata{
		EventType:    EventType,
		EventPayload: map[string]any{payloadKey: t.Key, payloadNote: t.Note},
	}
}

// Stamp is when Slack took a message: its timestamp is its time, in seconds
// (docs.slack.dev/messaging/retrieving-messages); zero for what is none.
func Stamp(ts string) time.Time {
	seconds, _, _ := strings.Cut(ts, ".")
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(n, 0)
}

// matches reports whether a message's metadata is this tag.
func (t Tag) matches(m slackgo.SlackMetadata) bool {
	key, _ := m.EventPayload[payloadKey].(string)
	note, _ := m.EventPayload[payloadNote].(string)
	return m.EventType == EventType && key == t.Key && note == t.Note
}

// Digest is a hash of what a reader sees and of what each button does: two messages
// with the same digest need no edit. The ids of blocks are neither.
func (m Message) Digest() string {
	if m.Sum != "" {
		return m.Sum
	}
	shown := slices.Clone(m.Blocks)
	for i, b := range shown {
		if row, is := b.(*slackgo.ActionBlock); is {
			unnamed := *row
			unnamed.BlockID = ""
			shown[i] = &unnamed
		}
	}
	blocks, err := json.Marshal(shown)
	if err != nil {
		// Our blocks hold strings and numbers only; a digest that never
		// matches costs one edit too many, not a lost one.
		return "unknown: " + err.Error()
	}
	h := sha256.New()
	h.Write([]byte(m.Text))
	h.Write([]byte{0})
	h.Write(blocks)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

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
	if u.Scheme != "https" && (u.Scheme != "http" || !hook.Loopback(u.Hostname())) {
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

// Kind is what sort of failure a call ended in: it decides what to do next.
type Kind string

// The kinds.
const (
	// RateLimited: Slack asks us to wait. Nothing was sent.
	RateLimited Kind = "rate limited"
	// Unavailable: Slack or the network failed. A post may have been taken, so
	// Find comes before the next attempt.
	Unavailable Kind = "unavailable"
	// Auth: the token or its scopes are wrong. A person must act.
	Auth Kind = "not allowed"
	// Channel: the channel is wrong, or the bot is not in it. A person must act.
	Channel Kind = "channel"
	// MessageGone: the message to edit or to reply to is not there any more.
	MessageGone Kind = "message gone"
	// Refused: Slack does not take this content. Sending it again is no use.
	Refused Kind = "refused"
)

// Error is a failed call. It never holds the token.
type Error struct {
	Kind   Kind
	Method string // e.g. "chat.postMessage"
	Status int    // of HTTP; 0 if there was no answer
	// Code is Slack's error code; empty if the answer had none.
	Code string
	// Scope is the missing scope, for missing_scope.
	Scope string
	// RetryAfter is how long to wait, for RateLimited.
	RetryAfter time.Duration
	// Details are Slack's own explanations, e.g. which block is invalid.
	Details []string

	cause error
}

// Error tells what was called, what went wrong and what to do.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "slack %s: %s", e.Method, e.Kind)
	switch {
	case e.Code != "":
		fmt.Fprintf(&b, " (%s)", e.Code)
	case e.Status != 0 && e.Status != http.StatusOK:
		fmt.Fprintf(&b, " (HTTP %d)", e.Status)
	}
	if e.cause != nil {
		fmt.Fprintf(&b, ": %v", e.cause)
	}
	if len(e.Details) > 0 {
		fmt.Fprintf(&b, ": %s", strings.Join(e.Details, "; "))
	}
	return b.String() + ": " + e.Advice()
}

// Unwrap gives what the network said, if it was the network.
func (e *Error) Unwrap() error { return e.cause }

// Advice is what to do about it, for an operator.
func (e *Error) Advice() string {
	switch e.Kind {
	case RateLimited:
		return "wait " + slacktext.Span(e.RetryAfter)
	case Unavailable:
		return "try again later"
	case Auth:
		if e.Scope != "" {
			return "add the scope " + e.Scope + " to the Slack app and install it again"
		}
		return "put a valid bot token (xoxb-…) into the secret"
	case Channel:
		switch e.Code {
		case "not_in_channel", "channel_not_found":
			return "check the channel's id and invite the bot to it: /invite @Rollcall"
		case "is_archived", "is_inactive":
			return "unarchive the channel or set another one"
		}
		return "let the bot post in this channel or set another one"
	case MessageGone:
		return "post it anew"
	}
	if e.Status >= 300 && e.Status < 400 {
		return "check the address of Slack's API: it redirects"
	}
	return "this is a fault of Rollcall or of its settings, sending it again does not help"
}

// Retryable reports whether the same call may succeed later by itself.
func (e *Error) Retryable() bool { return e.Kind == RateLimited || e.Kind == Unavailable }

// kindOf is the kind of Slack's error codes, as docs.slack.dev lists them for
// the methods that we call. Codes that are not listed are Refused.
func kindOf(code string) Kind {
	switch code {
	case "ratelimited", "rate_limited", "message_limit_exceeded":
		return RateLimited
	case "internal_error", "fatal_error", "service_unavailable", "request_timeout", "accesslimited", "team_added_to_org":
		return Unavailable
	case "invalid_auth", "not_authed", "token_revoked", "token_expired", "account_inactive", "missing_scope",
		"not_allowed_token_type", "no_permission", "org_login_required", "ekm_access_denied", "access_denied",
		"two_factor_setup_required", "team_access_not_granted", "enterprise_is_restricted":
		return Auth
	case "channel_not_found", "not_in_channel", "is_archived", "restricted_action", "restricted_action_read_only_channel",
		"restricted_action_non_threadable_channel", "restricted_action_thread_locked", "restricted_action_thread_only_channel",
		"method_not_supported_for_channel_type", "messages_tab_disabled", "is_inactive":
		return Channel
	case "message_not_found", "thread_not_found", "cant_update_message", "edit_window_closed",
		"cannot_reply_to_message":
		return MessageGone
	}
	return Refused
}

// How long to wait when Slack does not say, and at most.
const (
	usualWait = 30 * time.Second
	mostWait  = time.Hour
)

// envelope is what every answer of the Web API has.
type envelope struct {
	OK       *bool  `json:"ok"`
	Error    string `json:"error"`
	Needed   string `json:"needed"`
	Metadata struct {
		Messages []string `json:"messages"`
	} `json:"response_metadata"`
}

// classify judges an answer: nil if Slack did what was asked.
func classify(method string, status int, header http.Header, body []byte) *Error {
	e := &Error{Kind: Refused, Method: method, Status: status}
	var env envelope
	parsed := json.Unmarshal(body, &env) == nil && env.OK != nil
	if parsed && *env.OK && status == http.StatusOK {
		return nil
	}
	if parsed && !*env.OK {
		e.Code = word(env.Error)
		e.Details = details(env.Metadata.Messages)
	}
	switch {
	case status == http.StatusTooManyRequests:
		e.Kind = RateLimited
	case status >= 500, status == http.StatusRequestTimeout:
		e.Kind = Unavailable
	case status >= 300 && status < 400:
		e.Kind = Refused
	case e.Code != "":
		e.Kind = kindOf(e.Code)
	case status == http.StatusOK:
		// Not an answer of Slack's API: a proxy's page, or one cut off.
		e.Kind = Unavailable
		e.cause = errors.New("the answer is not one of Slack's API")
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		e.Kind = Auth
	}
	if e.Code == "missing_scope" {
		e.Scope = scopes(env.Needed)
	}
	if e.Kind == RateLimited {
		e.RetryAfter = retryAfter(header)
	}
	return e
}

// retryAfter reads the header, in seconds.
func retryAfter(h http.Header) time.Duration {
	n, err := strconv.Atoi(strings.TrimSpace(h.Get("Retry-After")))
	if err != nil || n < 0 {
		return usualWait
	}
	return min(time.Duration(min(n, int(mostWait/time.Second)))*time.Second, mostWait)
}

var plainWord = lazyregexp.New(`^[a-z][a-z0-9_]{0,79}$`)

// word passes what looks like an error code. Anything else could be anything.
func word(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "unknown_error"
}

var scopeList = lazyregexp.New(`^[a-z:._,\- ]{1,200}$`)

func scopes(s string) string {
	if scopeList.MatchString(s) {
		return s
	}
	return ""
}

// details keeps a few of Slack's explanations, short.
func details(messages []string) []string {
	const most, longest = 3, 200
	var kept []string
	for _, m := range messages[:min(len(messages), most)] {
		if m = slacktext.Clip(slacktext.OneLine(m), longest); m != "" {
			kept = append(kept, m)
		}
	}
	return kept
}

// Search is what to look for in a channel.
type Search struct {
	Channel string
	// Thread is the parent's timestamp, to look among its replies.
	Thread string
	Tag    Tag
	// Since is the earliest time that the message can have.
	Since time.Time
}

// Found is what a search gave.
type Found struct {
	// TS is the message's timestamp; empty if it is not there.
	TS string
	// Unsure is set when the token may not read the channel: the message may
	// or may not be there, and whoever posts now may say it twice.
	Unsure *Error
}

// Find looks for a message that an earlier attempt may have sent. It needs the
// scope channels:history (groups:history in a private channel).
func (c *Client) Find(ctx context.Context, s Search) (Found, error) {
	// A page holds at most 1,000; Slack recommends no more than 200. Fifty pages
	// are more than any channel gets between two attempts.
	const perPage, mostPages = 200, 50
	cursor := ""
	for range mostPages {
		messages, next, err := c.pageOf(ctx, s, cursor, perPage)
		var e *Error
		if errors.As(err, &e) && e.Code == "missing_scope" {
			return Found{Unsure: e}, nil
		}
		if err != nil {
			return Found{}, fmt.Errorf("look for an earlier message: %w", err)
		}
		for _, m := range messages {
			if s.Tag.matches(m.Metadata) {
				return Found{TS: m.Timestamp}, nil
			}
		}
		if next == "" {
			return Found{}, nil
		}
		cursor = next
	}
	return Found{}, &Error{Kind: Refused, Method: "conversations.history",
		cause: fmt.Errorf("not found in %d messages since %s", perPage*mostPages, s.Since.UTC().Format(time.RFC3339))}
}

// pageOf reads one page of the channel or of the thread.
func (c *Client) pageOf(ctx context.Context, s Search, cursor string, limit int) (messages []slackgo.Message, next string, err error) {
	// Timestamps of messages are Slack's clock, ours may be ahead of it.
	const skew = 2 * time.Minute
	oldest := fmt.Sprintf("%d.000000", s.Since.Add(-skew).Unix())
	err = c.patiently(ctx, func() error {
		if s.Thread != "" {
			var err error
			messages, _, next, err = c.api.GetConversationRepliesContext(ctx, &slackgo.GetConversationRepliesParameters{
				ChannelID: s.Channel, Timestamp: s.Thread, Cursor: cursor, Limit: limit, Oldest: oldest, IncludeAllMetadata: true,
			})
			return err
		}
		resp, err := c.api.GetConversationHistoryContext(ctx, &slackgo.GetConversationHistoryParameters{
			ChannelID: s.Channel, Cursor: cursor, Limit: limit, Oldest: oldest, IncludeAllMetadata: true,
		})
		if err != nil {
			return err
		}
		messages, next = resp.Messages, resp.ResponseMetaData.NextCursor
		return nil
	})
	if err != nil {
		return nil, "", c.typed(err)
	}
	return messages, next, nil
}

// PublishHome draws the app's home page for a user. Hash is the state of the page in which
// they opened it, or pressed on it: where it was drawn anew since, it stays as it is, for
// that is newer; empty draws it whatever is there. views.publish needs no scope
// (docs.slack.dev/reference/methods/views.publish).
func (c *Client) PublishHome(ctx context.Context, user, hash string, page Message) error {
	request := slackgo.PublishViewContextRequest{
		UserID: user,
		View:   slackgo.HomeTabViewRequest{Type: slackgo.VTHomeTab, Blocks: slackgo.Blocks{BlockSet: page.Blocks}},
	}
	if hash != "" {
		request.Hash = &hash
	}
	err := c.patiently(ctx, func() error {
		_, err := c.api.PublishViewContext(ctx, request)
		return err
	})
	if err == nil {
		return nil
	}
	var e *Error
	if err = c.typed(err); errors.As(err, &e) && e.Code == "hash_conflict" {
		return nil
	}
	return err
}

// PublishHome draws the app's home page for a user.
func (s *Session) PublishHome(ctx context.Context, user, hash string, page Message) error {
	c, err := s.open(ctx)
	if err != nil {
		return err
	}
	return s.after(c.PublishHome(ctx, user, hash, page))
}

// Broadcast sends a message into a thread and shows it in the channel too.
func (c *Client) Broadcast(ctx context.Context, channel, thread string, m Message) (ts string, err error) {
	return c.send(ctx, channel, m, slackgo.MsgOptionTS(thread), slackgo.MsgOptionBroadcast())
}

// Ephemeral tells one person something that only they see, in a thread if one
// is given. Slack keeps nothing of it, so it cannot be found again: what is sent
// a second time is seen twice.
func (c *Client) Ephemeral(ctx context.Context, channel, user, thread string, m Message) error {
	options := []slackgo.MsgOption{
		slackgo.MsgOptionText(m.Text, false),
		slackgo.MsgOptionDisableLinkUnfurl(),
		slackgo.MsgOptionDisableMediaUnfurl(),
	}
	if len(m.Blocks) > 0 {
		options = append(options, slackgo.MsgOptionBlocks(m.Blocks...))
	}
	if thread != "" {
		options = append(options, slackgo.MsgOptionTS(thread))
	}
	err := c.patiently(ctx, func() error {
		_, err := c.api.PostEphemeralContext(ctx, channel, user, options...)
		return err
	})
	if err != nil {
		return c.typed(err)
	}
	return nil
}

// GroupMembers are the ids of the users of a user group. It needs the scope
// usergroups:read. A group that is disabled has no members.
func (c *Client) GroupMembers(ctx context.Context, group string) ([]string, error) {
	var users []string
	err := c.patiently(ctx, func() error {
		var err error
		users, err = c.api.GetUserGroupMembersContext(ctx, group)
		return err
	})
	if err != nil {
		return nil, c.typed(err)
	}
	return users, nil
}

// Guest reports whether a user is a guest of the workspace, of one channel or of several
// (docs.slack.dev/reference/objects/user-object, is_restricted and is_ultra_restricted). It
// needs the scope users:read.
func (c *Client) Guest(ctx context.Context, user string) (bool, error) {
	guest := false
	err := c.patiently(ctx, func() error {
		u, err := c.api.GetUserInfoContext(ctx, user)
		if err != nil {
			return err
		}
		guest = u.IsRestricted || u.IsUltraRestricted
		return nil
	})
	if err != nil {
		return false, c.typed(err)
	}
	return guest, nil
}

// Workspace is the workspace and the organization of the token's app. auth.test
// needs no scope, and tells the organization where there is one
// (docs.slack.dev/reference/methods/auth.test).
func (c *Client) Workspace(ctx context.Context) (report.Workspace, error) {
	var own report.Workspace
	err := c.patiently(ctx, func() error {
		who, err := c.api.AuthTestContext(ctx)
		if err != nil {
			return err
		}
		own = report.Workspace{ID: who.TeamID, Enterprise: who.EnterpriseID, URL: who.URL}
		return nil
	})
	if err != nil {
		return report.Workspace{}, c.typed(err)
	}
	return own, nil
}
