package hook

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"
	"github.com/google/go-cmp/cmp"
)

func TestWhereAnswersMayGo(t *testing.T) {
	const slackAPI, stageAPI = "https://slack.com/api/", "http://127.0.0.1:8080/api/"
	for _, test := range []struct {
		api, to string
		want    bool
	}{
		{slackAPI, "https://hooks.slack.com/actions/T1/2/3", true},
		{slackAPI, "https://hooks.slack-gov.com/actions/T1/2/3", true},
		{slackAPI, "http://hooks.slack.com/actions/T1/2/3", false},
		{slackAPI, "https://hooks.slack.com.example.com/actions", false},
		{slackAPI, "https://example.com/hooks.slack.com", false},
		{slackAPI, "https://hooks.slack.com@example.com/", false},
		{slackAPI, "https://user@hooks.slack.com/", false},
		{slackAPI, "https://hooks.slack.com:444/", false},
		{slackAPI, "https://HOOKS.slack.com/", false},
		{slackAPI, "https://slack.com/api/chat.postMessage", false},
		{slackAPI, "http://169.254.169.254/latest/meta-data/", false},
		{slackAPI, "http://127.0.0.1:8080/response/1", false},
		{slackAPI, "file:///etc/passwd", false},
		{slackAPI, "https:hooks.slack.com", false},
		{slackAPI, "//hooks.slack.com/", false},
		{slackAPI, "", false},
		{slackAPI, "https://%zz", false},
		{stageAPI, "http://127.0.0.1:8080/response/1", true},
		{stageAPI, "http://127.0.0.1:8081/response/1", false},
		{stageAPI, "https://127.0.0.1:8080/response/1", false},
		{stageAPI, "http://x@127.0.0.1:8080/response/1", false},
		{"http://10.0.0.1/api/", "http://10.0.0.1/response/1", false}, // plain HTTP on this machine only
	} {
		if got := NewResponder(test.api, nil).ours(test.to); got != test.want {
			t.Errorf("with %s: %s: %v, want %v", test.api, test.to, got, test.want)
		}
	}
}

func TestTell(t *testing.T) {
	status, elsewhere := http.StatusOK, 0
	var got map[string]any
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/response/SECRET" {
			elsewhere++
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil || json.Unmarshal(body, &got) != nil {
			t.Errorf("the answer is %q, %v", body, err)
		}
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
	}))
	t.Cleanup(s.Close)
	r := NewResponder(s.URL+"/api/", nil)
	if err := r.Tell(t.Context(), s.URL+"/response/SECRET", "Nothing was done."); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(map[string]any{"response_type": "ephemeral", "replace_original": false, "text": "Nothing was done."}, got); diff != "" {
		t.Errorf("the answer (-want +got):\n%s", diff)
	}
	for _, status = range []int{302, 307, 404, 500} {
		if err := r.Tell(t.Context(), s.URL+"/response/SECRET", "x"); !errors.Is(err, ErrNotTaken) || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%d: %v", status, err)
		}
	}
	if elsewhere > 0 {
		t.Errorf("%d redirects were followed", elsewhere)
	}
	if err := r.Tell(t.Context(), "https://example.com/SECRET", "x"); !errors.Is(err, ErrElsewhere) || strings.Contains(err.Error(), "SECRET") {
		t.Errorf("elsewhere: %v", err)
	}
	s.Close()
	if err := r.Tell(t.Context(), s.URL+"/response/SECRET", "x"); !errors.Is(err, ErrNotTaken) || strings.Contains(err.Error(), "SECRET") {
		t.Errorf("nobody there: %v", err)
	}
}

// TestTellDoesNotWaitForever: a Slack that does not answer must not use up the
// three seconds of whoever pressed.
func TestTellDoesNotWaitForever(t *testing.T) {
	done := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-done }))
	t.Cleanup(s.Close)
	t.Cleanup(func() { close(done) })
	r := NewResponder(s.URL, nil)
	r.client.Timeout = 20 * time.Millisecond
	if err := r.Tell(t.Context(), s.URL+"/response/1", "x"); !errors.Is(err, ErrNotTaken) {
		t.Errorf("got %v", err)
	}
}

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

// secret answers with one value or one error.
type secret struct {
	value *string
	err   error
	asked string
}

func (s *secret) GetSecretValue(_ context.Context, in *secretsmanager.GetSecretValueInput, _ ...func(*secretsmanager.Options)) (*secretsmanager.GetSecretValueOutput, error) {
	s.asked = aws.ToString(in.SecretId)
	if s.err != nil {
		return nil, s.err
	}
	return &secretsmanager.GetSecretValueOutput{SecretString: s.value}, nil
}

const arn = "arn:aws:secretsmanager:us-west-2:111122223333:secret:rollcall-slack-AbCdEf"

func TestToken(t *testing.T) {
	refused := errors.New("AccessDeniedException")
	for _, tt := range []struct {
		name   string
		secret secret
		want   string
		err    error
	}{
		{"plain", secret{value: aws.String("xoxb-12345678-abcdef")}, "xoxb-12345678-abcdef", nil},
		{"with a line break", secret{value: aws.String(" xoxb-12345678-abcdef\n")}, "xoxb-12345678-abcdef", nil},
		{"json", secret{value: aws.String(`{"token": "xoxb-12345678-abcdef", "other": 1}`)}, "xoxb-12345678-abcdef", nil},
		{"rotated", secret{value: aws.String("xoxe.xoxb-1-abcdefgh")}, "xoxe.xoxb-1-abcdefgh", nil},
		{"empty", secret{value: aws.String("")}, "", ErrNoToken},
		{"blank", secret{value: aws.String(" \n")}, "", ErrNoToken},
		{"empty object", secret{value: aws.String("{}")}, "", ErrNoToken},
		{"empty field", secret{value: aws.String(`{"token":""}`)}, "", ErrNoToken},
		{"binary", secret{}, "", ErrNoToken},
		{"no value yet", secret{err: &types.ResourceNotFoundException{Message: aws.String("Secrets Manager can't find the specified secret value for staging label: AWSCURRENT")}}, "", ErrNoToken},
		{"generated by CloudFormation", secret{value: aws.String("kJ8$hunter2SECRET")}, "", ErrNotToken},
		{"placeholder", secret{value: aws.String("xoxb-…")}, "", ErrNotToken},
		{"placeholder to replace", secret{value: aws.String("xoxb-<SECRET>-token")}, "", ErrNotToken},
		{"two words", secret{value: aws.String("xoxb-12345678 SECRET")}, "", ErrNotToken},
		{"broken json", secret{value: aws.String(`{"token": SECRET`)}, "", ErrNotToken},
		{"number", secret{value: aws.String(`{"token": 5}`)}, "", ErrNotToken},
		{"user token", secret{value: aws.String("xoxp-12345678-SECRET")}, "", ErrWrongToken},
		{"app token", secret{value: aws.String("xapp-1-SECRET")}, "", ErrWrongToken},
		{"webhook", secret{value: aws.String("https://hooks.slack.com/services/SECRET")}, "", ErrWrongToken},
		{"denied", secret{err: refused}, "", refused},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Token(t.Context(), &tt.secret, arn)
			if got != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("Token gave %q, %v, want %q, %v", got, err, tt.want, tt.err)
			}
			if err != nil && (strings.Contains(err.Error(), "SECRET") || !strings.Contains(err.Error(), arn)) {
				t.Errorf("error %q: it must name the secret and not quote it", err)
			}
			if tt.secret.asked != arn {
				t.Errorf("asked for %q, want %q", tt.secret.asked, arn)
			}
		})
	}
}

func FuzzParseToken(f *testing.F) {
	for _, s := range []string{"", "xoxb-12345678-abcdef", `{"token":"xoxb-12345678-abcdef"}`, "{", "xoxe.xoxb-1-abcdefgh"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		token, err := parseToken(s)
		if (err == nil) != (token != "") {
			t.Errorf("parseToken(%q) gave %q, %v", s, token, err)
		}
		if err == nil && (!strings.Contains(token, "xoxb-") || strings.ContainsAny(token, " \r\n\t")) {
			t.Errorf("parseToken(%q) gave %q, which no header can carry", s, token)
		}
	})
}
