package slackapi

import (
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"
)

func TestSigningSecret(t *testing.T) {
	const right = "8f742231b10e8888abcd99a0a1a285a5"
	refused := errors.New("AccessDeniedException")
	for _, tt := range []struct {
		name   string
		secret secret
		want   string
		err    error
	}{
		{"plain", secret{value: aws.String(right)}, right, nil},
		{"with a line break", secret{value: aws.String(" " + right + "\n")}, right, nil},
		{"json", secret{value: aws.String(`{"signingSecret": "` + right + `"}`)}, right, nil},
		{"empty", secret{value: aws.String("")}, "", ErrNoSigning},
		{"blank", secret{value: aws.String(" \n")}, "", ErrNoSigning},
		{"empty object", secret{value: aws.String("{}")}, "", ErrNoSigning},
		{"binary", secret{}, "", ErrNoSigning},
		{"no value yet", secret{err: &types.ResourceNotFoundException{Message: aws.String("x")}}, "", ErrNoSigning},
		{"the token", secret{value: aws.String("xoxb-12345678-SECRET")}, "", ErrNotSigning},
		{"another token", secret{value: aws.String("xapp-1-SECRETSECRET")}, "", ErrNotSigning},
		{"a webhook", secret{value: aws.String("https://hooks.slack.com/services/SECRET")}, "", ErrNotSigning},
		{"a placeholder", secret{value: aws.String("<your SECRET here>")}, "", ErrNotSigning},
		{"short", secret{value: aws.String("SECRET")}, "", ErrNotSigning},
		{"broken json", secret{value: aws.String(`{"signingSecret": SECRET`)}, "", ErrNotSigning},
		{"denied", secret{err: refused}, "", refused},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := SigningSecret(t.Context(), &tt.secret, arn)
			if got != tt.want || !errors.Is(err, tt.err) || tt.err == nil && err != nil {
				t.Errorf("got %q, %v; want %q, %v", got, err, tt.want, tt.err)
			}
			if err != nil && (strings.Contains(err.Error(), "SECRET") || !strings.Contains(err.Error(), arn)) {
				t.Errorf("the error quotes the secret, or does not name it: %v", err)
			}
			if tt.secret.asked != arn {
				t.Errorf("asked for %q", tt.secret.asked)
			}
		})
	}
}
