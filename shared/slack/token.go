package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"
)

// SecretReader reads a secret.
type SecretReader interface {
	GetSecretValue(context.Context, *secretsmanager.GetSecretValueInput, ...func(*secretsmanager.Options)) (*secretsmanager.GetSecretValueOutput, error)
}

var _ SecretReader = (*secretsmanager.Client)(nil)

// The ways in which a secret can be no token. None of them quotes the secret.
var (
	ErrNoToken    = errors.New("the secret is empty: put the bot token (xoxb-…) of the Slack app into it")
	ErrNotToken   = errors.New("the secret does not hold a bot token: put the one that starts with xoxb- into it, as it is or as {\"token\": \"xoxb-…\"}")
	ErrWrongToken = errors.New("the secret holds another kind of Slack token: the bot token starts with xoxb-")
)

// Token reads the bot token from the secret: either the token itself, or a
// JSON object with the field "token".
func Token(ctx context.Context, r SecretReader, arn string) (string, error) {
	out, err := r.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: aws.String(arn)})
	var missing *types.ResourceNotFoundException
	if errors.As(err, &missing) {
		// Also what a secret without any value answers.
		return "", fmt.Errorf("read the Slack token from %s: %w", arn, errors.Join(ErrNoToken, err))
	}
	if err != nil {
		return "", fmt.Errorf("read the Slack token from %s: %w", arn, err)
	}
	token, err := parseToken(aws.ToString(out.SecretString))
	if err != nil {
		return "", fmt.Errorf("read the Slack token from %s: %w", arn, err)
	}
	return token, nil
}

// parseToken finds the token in a secret's text.
func parseToken(secret string) (string, error) {
	token := strings.TrimSpace(secret)
	if strings.HasPrefix(token, "{") {
		var fields struct {
			Token string `json:"token"`
		}
		if json.Unmarshal([]byte(token), &fields) != nil {
			// The parser's error would quote the secret.
			return "", ErrNotToken
		}
		token = strings.TrimSpace(fields.Token)
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
