package slackapi

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
