package slackapi

import (
	"context"
	"errors"
	"strings"
)

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
