package store

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// answers is a DynamoDB that gives the answers in order, then the last again.
func answers(t *testing.T, list ...string) (*Store, *int) {
	t.Helper()
	calls := 0
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := list[min(calls, len(list)-1)]
		calls++
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		if strings.Contains(answer, "__type") {
			w.WriteHeader(http.StatusBadRequest)
		}
		fmt.Fprint(w, answer)
	}))
	t.Cleanup(h.Close)
	client := dynamodb.New(dynamodb.Options{
		Region: "us-west-2", BaseEndpoint: aws.String(h.URL), Retryer: aws.NopRetryer{},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "a", SecretAccessKey: "b"}, nil
		}),
	})
	s := New(client, "t").At(func() time.Time { return start })
	s.wait = func(context.Context, time.Duration) error { return nil }
	return s, &calls
}

func TestUnprocessedKeys(t *testing.T) {
	const left = `{"Responses":{"t":[]},"UnprocessedKeys":{"t":{"Keys":[{"pk":{"S":"launch#i-1"},"sk":{"S":"launch"}}]}}}`
	const there = `{"Responses":{"t":[{"pk":{"S":"launch#i-1"},"sk":{"S":"launch"},"format":{"N":"1"},"version":{"N":"1"},"body":{"S":"{\"instance\":\"i-1\"}"}}]},"UnprocessedKeys":{}}`
	s, calls := answers(t, left, left, there)
	got, err := s.GetLaunches(t.Context(), []string{"i-1"})
	if err != nil || got["i-1"].Instance != "i-1" || *calls != 3 {
		t.Errorf("got %v, %v after %d calls; want i-1 after 3", got, err, *calls)
	}
	s, calls = answers(t, left)
	var limit *AtLimit
	if _, err := s.GetLaunches(t.Context(), []string{"i-1"}); !errors.As(err, &limit) || *calls != batchAttempts {
		t.Errorf("error is %v after %d calls, want a table at its limit after %d", err, *calls, batchAttempts)
	}
}

func TestAtLimit(t *testing.T) {
	for _, code := range []string{"ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded"} {
		t.Run(code, func(t *testing.T) {
			s, _ := answers(t, `{"__type":"com.amazonaws.dynamodb.v20120810#`+code+`","message":"slow down"}`)
			var limit *AtLimit
			if _, err := s.SaveIncident(t.Context(), incidentOf("c", "r")); !errors.As(err, &limit) || limit.Code != code {
				t.Errorf("write: %v, want at limit", err)
			}
			if _, err := s.Incidents(t.Context(), "prod"); !errors.As(err, &limit) {
				t.Errorf("query: %v, want at limit", err)
			}
			if _, err := s.GetLaunches(t.Context(), []string{"i-1"}); !errors.As(err, &limit) {
				t.Errorf("get: %v, want at limit", err)
			}
			if _, err := s.OpenLaunches(t.Context(), "prod"); !errors.As(err, &limit) {
				t.Errorf("index: %v, want at limit", err)
			}
		})
	}
}

func TestOtherErrorsStayWhatTheyAre(t *testing.T) {
	s, _ := answers(t, `{"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException","message":"no table"}`)
	var missing *types.ResourceNotFoundException
	if _, err := s.Incidents(t.Context(), "prod"); !errors.As(err, &missing) {
		t.Errorf("error is %v, want ResourceNotFoundException", err)
	}
	if created, err := s.CreateLaunch(t.Context(), launch("i-1", 0)); created || !errors.As(err, &missing) {
		t.Errorf("create gave %v, %v", created, err)
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := wait(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("wait gave %v", err)
	}
	if err := wait(t.Context(), time.Nanosecond); err != nil {
		t.Errorf("wait gave %v", err)
	}
}
