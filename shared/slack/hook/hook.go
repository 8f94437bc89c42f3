// Package hook is what of Slack needs neither its client nor a token: answers to people by the
// address that Slack gives for them, and the secrets as they are read from Secrets Manager.
package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"
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
	if u, err := url.Parse(api); err == nil && u.Scheme == "http" && Loopback(u.Hostname()) {
		r.stage = "http://" + u.Host
	}
	return r
}

// The ways in which an answer does not get there. They do not quote the address: whoever has it can write into the
// channel.
var (
	ErrElsewhere = errors.New("the response_url is not a Slack address: it was not called")
	ErrNotTaken  = errors.New("rejected by Slack")
)

// ours reports whether an address is one by which Slack takes answers.
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

// Tell says something to the person who pressed, and only to them.
func (r Responder) Tell(ctx context.Context, to, text string) error {
	return r.send(ctx, to, map[string]any{"response_type": "ephemeral", "replace_original": false, "text": text})
}

// Answer sends the person who typed a command, and only them, a message with blocks, which are
// written as JSON. An address
// takes five answers within half an hour
// (docs.slack.dev/interactivity/handling-user-interaction).
func (r Responder) Answer(ctx context.Context, to, text string, blocks any) error {
	return r.send(ctx, to, map[string]any{"response_type": "ephemeral", "replace_original": false, "text": text, "blocks": blocks})
}

func Loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
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

// SecretReader reads a secret.
type SecretReader interface {
	GetSecretValue(context.Context, *secretsmanager.GetSecretValueInput, ...func(*secretsmanager.Options)) (*secretsmanager.GetSecretValueOutput, error)
}

var _ SecretReader = (*secretsmanager.Client)(nil)

// The ways in which a secret can be no signing secret. Neither quotes it.
var (
	ErrNoSigning  = errors.New("the signing secret is empty: put the Slack app's Signing Secret (Basic Information, App Credentials) into it; the stack's output SlackSigningSecretCommand does")
	ErrNotSigning = errors.New("the secret does not hold a Slack app's Signing Secret: put it in as it is, or as {\"signingSecret\": \"…\"}")
)

// SigningSecret reads the secret by which Slack signs: either the secret itself,
// or a JSON object with the field "signingSecret".
func SigningSecret(ctx context.Context, r SecretReader, arn string) (string, error) {
	return secretOf(ctx, r, arn, "the signing secret", ErrNoSigning, parseSigning)
}

// parseSigning finds the signing secret in a secret's text.
func parseSigning(text string) (string, error) {
	secret, ok := plainOr("signingSecret", text)
	if !ok {
		return "", ErrNotSigning
	}
	if secret == "" {
		return "", ErrNoSigning
	}
	// Slack's are 32 hexadecimal digits. A token or an address in its place is
	// the most common mistake; a short text could be guessed.
	if len(secret) < 16 || strings.HasPrefix(secret, "xox") || strings.HasPrefix(secret, "xapp-") ||
		strings.ContainsFunc(secret, func(r rune) bool { return r < '0' || r > 'z' || strings.ContainsRune(":;<=>?@[\\]^`", r) }) {
		return "", ErrNotSigning
	}
	return secret, nil
}

// The ways in which a secret can be no token. None of them quotes the secret.
var (
	ErrNoToken    = errors.New("the secret is empty: put the bot token (xoxb-…) of the Slack app into it")
	ErrNotToken   = errors.New("the secret does not hold a bot token: put the one that starts with xoxb- into it, as it is or as {\"token\": \"xoxb-…\"}")
	ErrWrongToken = errors.New("the secret holds another kind of Slack token: the bot token starts with xoxb-")
)

// Token reads the bot token from the secret: either the token itself, or a
// JSON object with the field "token".
func Token(ctx context.Context, r SecretReader, arn string) (string, error) {
	return secretOf(ctx, r, arn, "the Slack token", ErrNoToken, parseToken)
}

// parseToken finds the token in a secret's text.
func parseToken(secret string) (string, error) {
	token, ok := plainOr("token", secret)
	if !ok {
		return "", ErrNotToken
	}
	switch {
	case token == "":
		return "", ErrNoToken
	case strings.HasPrefix(token, "xoxp-"), strings.HasPrefix(token, "xapp-"), strings.HasPrefix(token, "xoxa-"),
		strings.HasPrefix(token, "xoxs-"), strings.HasPrefix(token, "xoxr-"), strings.HasPrefix(token, "https://hooks."):
		return "", ErrWrongToken
	}
	// Rotated bot tokens start with xoxe.xoxb-: docs.slack.dev/authentication/using-token-rotation.
	rest, bot := strings.CutPrefix(strings.TrimPrefix(token, "xoxe."), "xoxb-")
	if !bot || len(rest) < 8 || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) || strings.ContainsAny(token, "…<>\"'") {
		return "", ErrNotToken
	}
	return token, nil
}

// secretOf reads a secret and finds in its text what is wanted. No error quotes
// the text. None says that there is nothing in it.
func secretOf(ctx context.Context, r SecretReader, arn, what string, none error, parse func(text string) (string, error)) (string, error) {
	out, err := r.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: aws.String(arn)})
	var missing *types.ResourceNotFoundException
	if errors.As(err, &missing) {
		// Also what a secret without any value answers.
		err = errors.Join(none, err)
	}
	if err != nil {
		return "", fmt.Errorf("read %s from %s: %w", what, arn, err)
	}
	found, err := parse(aws.ToString(out.SecretString))
	if err != nil {
		return "", fmt.Errorf("read %s from %s: %w", what, arn, err)
	}
	return found, nil
}

// plainOr is a secret's text as it is, or the field of the JSON object that it
// is; false for what is no such object: the parser's error would quote it.
func plainOr(field, text string) (string, bool) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") {
		return text, true
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &fields) != nil {
		return "", false
	}
	value := ""
	for name, raw := range fields {
		if strings.EqualFold(name, field) && json.Unmarshal(raw, &value) != nil {
			return "", false
		}
	}
	return strings.TrimSpace(value), true
}
