package stagetest

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/event"
)

// TestWriting: a request that changes something is known as one in each of the
// protocols that the functions speak.
func TestWriting(t *testing.T) {
	for _, test := range []struct {
		method, path, target, form string
		name                       string
		writes                     bool
	}{
		{"POST", "/", "DynamoDB_20120810.PutItem", "", "PutItem", true},
		{"POST", "/", "DynamoDB_20120810.BatchGetItem", "", "BatchGetItem", false},
		{"POST", "/", "DynamoDB_20120810.BatchWriteItem", "", "BatchWriteItem", true},
		{"POST", "/", "AmazonSQS.SendMessage", "", "SendMessage", true},
		{"POST", "/", "AWSEvents.PutEvents", "", "PutEvents", true},
		{"POST", "/", "secretsmanager.GetSecretValue", "", "GetSecretValue", false},
		{"POST", "/", "", "Action=DescribeInstances&Version=2016-11-15", "DescribeInstances", false},
		{"POST", "/", "", "Action=CreateRoute&Version=2016-11-15", "CreateRoute", true},
		{"GET", "/clusters/prod", "", "", "GET /clusters/prod", false},
		{"POST", "/clusters/prod/access-entries", "", "", "POST /clusters/prod/access-entries", true},
		{"POST", "/api/chat.postMessage", "", "", "chat.postMessage", true},
		{"POST", "/api/conversations.history", "", "limit=1", "conversations.history", false},
	} {
		req, err := http.NewRequestWithContext(t.Context(), test.method, "http://localhost"+test.path, strings.NewReader(test.form))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Amz-Target", test.target)
		if test.form != "" {
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
		}
		if name, writes, err := writing(req); name != test.name || writes != test.writes || err != nil {
			t.Errorf("%s %s %s%s: %q, %v, %v", test.method, test.path, test.target, test.form, name, writes, err)
		}
	}
}

// TestAgain: of a batch the messages that failed come again, and say so.
func TestAgain(t *testing.T) {
	messages, _ := event.Batch(again(t, Batch("a", "b", "c"), []string{"m1"}))
	if diff := cmp.Diff([]event.Message{{ID: "m1", Body: "b", Received: 2}}, messages); diff != "" {
		t.Errorf("some failed (-want +got):\n%s", diff)
	}
	messages, _ = event.Batch(again(t, again(t, Batch("a", "b"), nil), nil))
	if diff := cmp.Diff([]event.Message{{ID: "m0", Body: "a", Received: 3}, {ID: "m1", Body: "b", Received: 3}}, messages); diff != "" {
		t.Errorf("all failed (-want +got):\n%s", diff)
	}
}

// TestTimeless: that something has no time yet stays to be seen.
func TestTimeless(t *testing.T) {
	got := Timeless(t, []string{"2026-11-20T15:13:20.000Z", "0001-01-01T00:00:00Z", "until 15:04:05 UTC", "a/20261120T151320.646Z", "1700000000.000100", "i-0ef3c1b2a4d5968f1"})
	if diff := cmp.Diff([]any{"TIME", "0001-01-01T00:00:00Z", "until TIME", "a/TIME", "TIME", "i-0ef3c1b2a4d5968f1"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
