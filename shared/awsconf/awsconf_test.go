package awsconf

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"
)

// load makes the configuration as a function does, with nothing of this
// machine in it.
func load(t *testing.T, endpoint string, log *slog.Logger, calls *Calls) aws.Config {
	t.Helper()
	cfg, err := Load(t.Context(), log, calls)
	if err != nil {
		t.Fatal(err)
	}
	cfg.BaseEndpoint = aws.String(endpoint)
	return cfg
}

func environment(t *testing.T) {
	t.Helper()
	for name, value := range map[string]string{
		"AWS_REGION": "us-west-2", "AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "SECRET", "AWS_SESSION_TOKEN": "",
		"AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null", "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_MAX_ATTEMPTS": "", "AWS_RETRY_MODE": "", "AWS_ENDPOINT_URL": "", "AWS_PROFILE": "",
	} {
		t.Setenv(name, value)
	}
}

// service answers calls without a network, so that time can be the test's.
type service func(n int32) (status int, body string)

func (s service) client(attempts *atomic.Int32) *http.Client {
	return &http.Client{Transport: transport(func(*http.Request) *http.Response {
		status, body := s(attempts.Add(1))
		return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}}, Body: io.NopCloser(strings.NewReader(body))}
	})}
}

type transport func(*http.Request) *http.Response

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r), nil }

const throttled = `{"__type":"com.amazonaws.dynamodb.v20120810#ThrottlingException","message":"Rate exceeded"}`

func TestRetries(t *testing.T) {
	environment(t)
	for _, test := range []struct {
		name     string
		service  service
		attempts int32
		code     string
		failed   map[string]int
	}{
		{"at once", func(int32) (int, string) { return 200, `{"TableNames":[]}` }, 1, "", map[string]int{}},
		{"throttled twice", func(n int32) (int, string) {
			if n <= 2 {
				return 400, throttled
			}
			return 200, `{"TableNames":[]}`
		}, 3, "", map[string]int{}},
		{"throttled for ever", func(int32) (int, string) { return 400, throttled }, attempts, "ThrottlingException", map[string]int{"dynamodb:ListTables": 1}},
		{"broken for ever", func(int32) (int, string) { return 500, `{"__type":"InternalServerError","message":"x"}` }, attempts, "InternalServerError", map[string]int{"dynamodb:ListTables": 1}},
		{"denied", func(int32) (int, string) { return 400, `{"__type":"AccessDeniedException","message":"x"}` }, 1, "AccessDeniedException", map[string]int{"dynamodb:ListTables": 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var calls Calls
				var n atomic.Int32
				cfg := load(t, "http://service.test", slog.New(slog.DiscardHandler), &calls)
				cfg.HTTPClient = test.service.client(&n)
				began := time.Now()
				_, err := dynamodb.NewFromConfig(cfg).ListTables(t.Context(), &dynamodb.ListTablesInput{})
				if got := Code(err); got != test.code || (err == nil) != (test.code == "") {
					t.Errorf("code %q of %v, want %q", got, err, test.code)
				}
				if got := n.Load(); got != test.attempts {
					t.Errorf("%d attempts, want %d", got, test.attempts)
				}
				// A function has a minute for all it does.
				if took := time.Since(began); took > (attempts-1)*maxBackoff || test.attempts > 1 && took == 0 {
					t.Errorf("it took %s, with %d waits of at most %s", took, attempts-1, maxBackoff)
				}
				counts, failed := calls.Take()
				if diff := cmp.Diff(map[string]int{"dynamodb:ListTables": 1}, counts); diff != "" {
					t.Errorf("calls (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(test.failed, failed); diff != "" {
					t.Errorf("failed calls (-want +got):\n%s", diff)
				}
				if counts, failed = calls.Take(); len(counts)+len(failed) > 0 {
					t.Errorf("after Take there are still %v and %v", counts, failed)
				}
			})
		})
	}
}

func TestEachCallIsLogged(t *testing.T) {
	environment(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.UserAgent(); !strings.Contains(got, "app/rollcall") {
			t.Errorf("user agent %q does not say who calls", got)
		}
		// The SDK's transport cuts a connection whose answer comes while its
		// request is still being sent (aws-sdk-go-v2 issue 1825).
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"__type":"AccessDeniedException","message":"x"}`)
	}))
	defer server.Close()
	var out bytes.Buffer
	var calls Calls
	cfg := load(t, server.URL, slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})), &calls)
	_, err := dynamodb.NewFromConfig(cfg).ListTables(t.Context(), &dynamodb.ListTablesInput{})
	if err == nil {
		t.Fatal("the call succeeded")
	}
	for _, want := range []string{"level=DEBUG", "call=dynamodb:ListTables", "code=AccessDeniedException", "took="} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the log %q does not say %q", out.String(), want)
		}
	}
	if strings.Contains(out.String(), "SECRET") {
		t.Errorf("the log holds the secret key: %q", out.String())
	}
}

func TestCodeOfNoAnswer(t *testing.T) {
	for _, err := range []error{nil, errors.New("no connection"), context.DeadlineExceeded} {
		if got := Code(err); got != "" {
			t.Errorf("Code(%v) = %q, want none: no service has answered", err, got)
		}
	}
}

func TestLoadSaysWhatIsWrong(t *testing.T) {
	environment(t)
	t.Setenv("AWS_RETRY_MODE", "sometimes")
	var calls Calls
	if _, err := Load(t.Context(), slog.New(slog.DiscardHandler), &calls); err == nil || !strings.Contains(err.Error(), "load the AWS configuration") {
		t.Errorf("error %v, want what was being done", err)
	}
}
