package slackapi

import (
	"context"
	"errors"
	"strings"
)

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
