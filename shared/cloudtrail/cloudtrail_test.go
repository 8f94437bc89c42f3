package cloudtrail

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/smithy-go"

	"rollcall/tools/expect"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func client(t *testing.T, answer http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return New(aws.Config{
		Region: "us-west-2", BaseEndpoint: aws.String(server.URL), HTTPClient: server.Client(), AppID: "rollcall",
		Credentials: credentials.NewStaticCredentialsProvider("AKID", "SECRET", "TOKEN"),
		Retryer: func() aws.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) {
				o.MaxAttempts = 3
				o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
			})
		},
	})
}

// The request is as the API reference has it, and so is what is read of the answer.
func TestLookupEvents(t *testing.T) {
	var sent map[string]any
	var header http.Header
	c := client(t, func(w http.ResponseWriter, r *http.Request) {
		header = r.Header
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		_, _ = io.WriteString(w, `{"Events":[{"EventId":"e1","EventName":"DeleteRoute","ReadOnly":"false","AccessKeyId":"ASIA","EventTime":1.7951e9,"EventSource":"ec2.amazonaws.com","Username":"alice",
			"Resources":[{"ResourceType":"AWS::EC2::RouteTable","ResourceName":"rtb-1"}],"CloudTrailEvent":"{\"eventID\":\"e1\"}"}],"NextToken":"more"}`)
	})
	got, err := c.LookupEvents(t.Context(), &Input{Attribute: Attribute{"ResourceName", "rtb-1"}, Start: noon.Add(-time.Hour), End: noon, Most: 50, Next: "page", Region: "us-east-1"})
	expect.OK(t, err)
	want := &Output{Next: "more", Events: []Event{{
		ID: "e1", Name: "DeleteRoute", ReadOnly: "false", Source: "ec2.amazonaws.com", Resources: []Resource{{"AWS::EC2::RouteTable", "rtb-1"}}, Record: `{"eventID":"e1"}`,
	}}}
	expect.Same(t, "answer", got, want)
	body := map[string]any{
		"LookupAttributes": []any{map[string]any{"AttributeKey": "ResourceName", "AttributeValue": "rtb-1"}},
		"StartTime":        float64(noon.Add(-time.Hour).Unix()), "EndTime": float64(noon.Unix()), "MaxResults": 50.0, "NextToken": "page",
	}
	expect.Same(t, "request", sent, body)
	for name, part := range map[string]string{
		"X-Amz-Target": "com.amazonaws.cloudtrail.v20131101.CloudTrail_20131101.LookupEvents", "Content-Type": "application/x-amz-json-1.1",
		"Authorization": "/us-east-1/cloudtrail/aws4_request", "X-Amz-Security-Token": "TOKEN", "User-Agent": "app/rollcall",
	} {
		if !strings.Contains(header.Get(name), part) {
			t.Errorf("%s is %q, want %q in it", name, header.Get(name), part)
		}
	}
}

func TestRefusals(t *testing.T) {
	for name, test := range map[string]struct {
		status   int
		header   string
		body     string
		code     string
		attempts int32
	}{
		"throttled":   {400, "", `{"__type":"ThrottlingException","message":"Rate exceeded"}`, "ThrottlingException", 3},
		"denied":      {400, "", `{"__type":"com.amazonaws.cloudtrail.v20131101#AccessDeniedException","Message":"no"}`, "AccessDeniedException", 1},
		"by header":   {400, "InvalidTimeRangeException:http://internal.amazon.com/", `{}`, "InvalidTimeRangeException", 1},
		"broken":      {500, "", `oops`, "UnknownError", 3},
		"unavailable": {503, "", ``, "UnknownError", 3},
	} {
		t.Run(name, func(t *testing.T) {
			var n atomic.Int32
			c := client(t, func(w http.ResponseWriter, _ *http.Request) {
				n.Add(1)
				if test.header != "" {
					w.Header().Set("X-Amzn-ErrorType", test.header)
				}
				w.WriteHeader(test.status)
				_, _ = io.WriteString(w, test.body)
			})
			_, err := c.LookupEvents(t.Context(), &Input{})
			var api smithy.APIError
			var op *smithy.OperationError
			if !errors.As(err, &api) || api.ErrorCode() != test.code || !errors.As(err, &op) || op.Operation() != "LookupEvents" {
				t.Errorf("error %v, want code %s of LookupEvents", err, test.code)
			}
			if n.Load() != test.attempts {
				t.Errorf("%d attempts, want %d", n.Load(), test.attempts)
			}
			if strings.Contains(err.Error(), "SECRET") {
				t.Error("the error holds the key")
			}
		})
	}
}

func TestHalfAnAnswer(t *testing.T) {
	c := client(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"Events":[{"EventId":`) })
	if out, err := c.LookupEvents(t.Context(), &Input{}); err == nil {
		t.Errorf("half an answer was read as %v", out)
	}
}
