package slackapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"rollcall/shared/slack/slacktext"
)

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

// Retryable tells whether the same call may succeed later by itself.
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

var plainWord = regexp.MustCompile(`^[a-z][a-z0-9_]{0,79}$`)

// word passes what looks like an error code. Anything else could be anything.
func word(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "unknown_error"
}

var scopeList = regexp.MustCompile(`^[a-z:._,\- ]{1,200}$`)

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
