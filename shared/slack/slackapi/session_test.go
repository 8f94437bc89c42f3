package slackapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
)

// rotating is a Secrets Manager with one secret, whose value changes.
func rotating(t *testing.T, value *string) *secretsmanager.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		if *value == "" {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"__type":"ResourceNotFoundException","Message":"Secrets Manager can't find the specified secret value for staging label: AWSCURRENT"}`)
			return
		}
		fmt.Fprintf(w, `{"SecretString":%q}`, *value)
	}))
	t.Cleanup(server.Close)
	return secretsmanager.New(secretsmanager.Options{
		Region: "us-west-2", BaseEndpoint: aws.String(server.URL), Retryer: aws.NopRetryer{},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "a", SecretAccessKey: "b"}, nil
		}),
	})
}

// takes is a Slack that takes one token.
func takes(t *testing.T, token *string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.FormValue("token") != *token && r.Header.Get("Authorization") != "Bearer "+*token {
			fmt.Fprint(w, `{"ok":false,"error":"invalid_auth"}`)
			return
		}
		fmt.Fprint(w, `{"ok":true,"channel":"C0123456789","ts":"1700000000.000100","message":{"text":"x"},"messages":[],"has_more":false}`)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/api/"
}

// A secret that is empty at first, and rotated later, needs no new deployment.
func TestSession(t *testing.T) {
	const first, second = "xoxb-first-1234567890", "xoxb-second-1234567890"
	value, valid := "", first
	s := &Session{secret: rotating(t, &value), arn: "arn:secret", api: takes(t, &valid), http: &http.Client{}}
	post := func() error {
		_, err := s.Post(t.Context(), "C0123456789", Message{Text: "x"})
		return err
	}
	if err := post(); !errors.Is(err, ErrNoToken) {
		t.Errorf("with an empty secret: %v, want %v", err, ErrNoToken)
	}
	value = first
	if err := post(); err != nil {
		t.Errorf("after the secret was filled in: %v", err)
	}
	valid = second
	var e *Error
	if err := post(); !errors.As(err, &e) || e.Kind != Auth {
		t.Errorf("with the old token: %v, want not allowed", err)
	}
	value = second
	for name, call := range map[string]func() error{
		"post":   post,
		"update": func() error { return s.Update(t.Context(), "C0123456789", "1.2", Message{Text: "x"}) },
		"reply": func() error {
			_, err := s.Reply(t.Context(), "C0123456789", "1.2", Message{Text: "x"})
			return err
		},
		"find": func() error { _, err := s.Find(t.Context(), Search{Channel: "C0123456789"}); return err },
	} {
		if err := call(); err != nil {
			t.Errorf("%s with the new token: %v", name, err)
		}
	}
	for name, call := range map[string]func(*Session) error{
		"update": func(s *Session) error { return s.Update(t.Context(), "C", "1.2", Message{}) },
		"reply":  func(s *Session) error { _, err := s.Reply(t.Context(), "C", "1.2", Message{}); return err },
		"find":   func(s *Session) error { _, err := s.Find(t.Context(), Search{}); return err },
	} {
		empty := ""
		if err := call(&Session{secret: rotating(t, &empty), arn: "arn:secret", api: s.api, http: &http.Client{}}); !errors.Is(err, ErrNoToken) {
			t.Errorf("%s without a token: %v, want %v", name, err, ErrNoToken)
		}
	}
}
