package cloudwatchlogs

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"rollcall/tools/expect"
)

// logs answers each operation with a text, and keeps what it was asked last.
type logs struct {
	answers map[string]string
	asked   map[string]any
	scope   string
}

func (l *logs) client(t *testing.T) *Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		operation, ok := strings.CutPrefix(r.Header.Get("X-Amz-Target"), "Logs_20140328.")
		if l.scope, l.asked = r.Header.Get("Authorization"), nil; !ok || json.NewDecoder(r.Body).Decode(&l.asked) != nil {
			t.Errorf("asked %s", r.Header)
		}
		answer, ok := l.answers[operation]
		if !ok {
			w.WriteHeader(http.StatusBadRequest)
			answer = `{"__type":"AccessDeniedException","Message":"no"}`
		}
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	return New(aws.Config{
		Region: "us-west-2", BaseEndpoint: aws.String(server.URL), HTTPClient: server.Client(), Credentials: credentials.NewStaticCredentialsProvider("AKID", "SECRET", ""),
	})
}

func TestDeliveries(t *testing.T) {
	l := &logs{answers: map[string]string{
		"DescribeDeliverySources":      `{"deliverySources":[{"name":"s","arn":"a","resourceArns":["cluster"],"service":"eks","logType":"AUTO_MODE_COMPUTE_LOGS"}],"nextToken":"n"}`,
		"DescribeDeliveries":           `{"deliveries":[{"id":"1","deliverySourceName":"s","deliveryDestinationArn":"d","deliveryDestinationType":"CWL"}]}`,
		"DescribeDeliveryDestinations": `{"deliveryDestinations":[{"name":"d","arn":"d","deliveryDestinationType":"CWL","outputFormat":"json","deliveryDestinationConfiguration":{"destinationResourceArn":"g"}}]}`,
	}}
	c := l.client(t)
	sources, next, err := c.DescribeDeliverySources(t.Context(), "token")
	if diff := cmp.Diff([]DeliverySource{{"s", []string{"cluster"}, "AUTO_MODE_COMPUTE_LOGS"}}, sources); diff != "" || next != "n" || err != nil {
		t.Errorf("sources, next %q, %v (-want +got):\n%s", next, err, diff)
	}
	if diff := cmp.Diff(map[string]any{"limit": 50.0, "nextToken": "token"}, l.asked); diff != "" || !strings.Contains(l.scope, "/us-west-2/logs/aws4_request") {
		t.Errorf("asked by %s (-want +got):\n%s", l.scope, diff)
	}
	deliveries, next, err := c.DescribeDeliveries(t.Context(), "")
	if diff := cmp.Diff([]Delivery{{"s", "d", "CWL"}}, deliveries); diff != "" || next != "" || err != nil {
		t.Errorf("deliveries, next %q, %v (-want +got):\n%s", next, err, diff)
	}
	want := DeliveryDestination{ARN: "d"}
	want.Configuration.Resource = "g"
	destinations, next, err := c.DescribeDeliveryDestinations(t.Context(), "")
	if diff := cmp.Diff([]DeliveryDestination{want}, destinations); diff != "" || next != "" || err != nil {
		t.Errorf("destinations, next %q, %v (-want +got):\n%s", next, err, diff)
	}
	expect.Same(t, "asked", l.asked, map[string]any{"limit": 50.0})
}

func TestFilterLogEvents(t *testing.T) {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	l := &logs{answers: map[string]string{"FilterLogEvents": `{"events":[{"logStreamName":"s","timestamp":1795176000123,"message":"m","eventId":"1"}],"nextToken":"n"}`}}
	got, next, err := l.client(t).FilterLogEvents(t.Context(), Filter{Group: "g", Pattern: `?"a"`, Start: noon, End: noon.Add(time.Minute), Most: 7, Next: "token"})
	if diff := cmp.Diff([]Event{{noon.Add(123 * time.Millisecond), "m"}}, got); diff != "" || next != "n" || err != nil {
		t.Errorf("events, next %q, %v (-want +got):\n%s", next, err, diff)
	}
	asked := map[string]any{"logGroupName": "g", "filterPattern": `?"a"`, "startTime": 1795176000000.0, "endTime": 1795176060000.0, "limit": 7.0, "nextToken": "token"}
	expect.Same(t, "asked", l.asked, asked)
}

func TestRefusals(t *testing.T) {
	c := (&logs{}).client(t)
	_, _, sources := c.DescribeDeliverySources(t.Context(), "")
	_, _, deliveries := c.DescribeDeliveries(t.Context(), "")
	_, _, destinations := c.DescribeDeliveryDestinations(t.Context(), "")
	_, _, events := c.FilterLogEvents(t.Context(), Filter{})
	for operation, err := range map[string]error{
		"DescribeDeliverySources": sources, "DescribeDeliveries": deliveries, "DescribeDeliveryDestinations": destinations, "FilterLogEvents": events,
	} {
		var api smithy.APIError
		var op *smithy.OperationError
		if !errors.As(err, &api) || api.ErrorCode() != "AccessDeniedException" || !errors.As(err, &op) || op.Operation() != operation || op.Service() != "CloudWatch Logs" {
			t.Errorf("%s: %v", operation, err)
		}
	}
}
