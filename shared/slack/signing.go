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

// The ways in which a secret can be no signing secret. Neither quotes it.
var (
	ErrNoSigning  = errors.New("the signing secret is empty: put the Slack app's Signing Secret (Basic Information, App Credentials) into it; the stack's output SlackSigningSecretCommand does")
	ErrNotSigning = errors.New("the secret does not hold a Slack app's Signing Secret: put it in as it is, or as {\"signingSecret\": \"…\"}")
)

// SigningSecret reads the secret by which Slack signs: either the secret itself,
// or a JSON object with the field "signingSecret".
func SigningSecret(ctx context.Context, r SecretReader, arn string) (string, error) {
	out, err := r.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: aws.String(arn)})
	var missing *types.ResourceNotFoundException
	if errors.As(err, &missing) {
		// Also what a secret without any value answers.
		err = errors.Join(ErrNoSigning, err)
	}
	if err != nil {
		return "", fmt.Errorf("read the signing secret from %s: %w", arn, err)
	}
	secret, err := parseSigning(aws.ToString(out.SecretString))
	if err != nil {
		return "", fmt.Errorf("read the signing secret from %s: %w", arn, err)
	}
	return secret, nil
}

// parseSigning finds the signing secret in a secret's text.
func parseSigning(text string) (string, error) {
	secret := strings.TrimSpace(text)
	if strings.HasPrefix(secret, "{") {
		var fields struct {
			Secret string `json:"signingSecret"`
		}
		if json.Unmarshal([]byte(secret), &fields) != nil {
			return "", ErrNotSigning // the parser's error would quote it
		}
		secret = strings.TrimSpace(fields.Secret)
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
