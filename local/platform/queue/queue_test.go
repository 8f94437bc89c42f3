package queue_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"

	"rollcall/local/platform/queue"
	"rollcall/local/platform/wire"
	"rollcall/local/simclock"
)

var start = time.Date(2026, 11, 20, 14, 59, 0, 0, time.UTC)

const prefix = "arn:aws:sqs:us-west-2:123456789012:"

func url(name string) *string { return aws.String("http://127.0.0.1:4566/123456789012/" + name) }

func seconds(n int) *time.Duration {
	d := time.Duration(n) * time.Second
	return &d
}

// newQueues has a standard queue, a FIFO queue and their dead-letter queues,
// on a clock that the test moves.
func newQueues(t *testing.T) (*queue.Queues, *simclock.Clock) {
	t.Helper()
	c := simclock.NewManual(start)
	n := 0
	q := queue.New(queue.Options{Clock: c, NewID: func() string { n++; return fmt.Sprintf("id-%04d", n) }})
	for _, cfg := range []queue.Config{
		{Name: "dead"}, {Name: "dead.fifo", FIFO: true},
		{Name: "plain", Visibility: seconds(60), DeadLetterARN: prefix + "dead", MaxReceive: 2},
		{Name: "delayed", Delay: 10 * time.Minute, Wait: 20 * time.Second},
		{Name: "ordered.fifo", FIFO: true, Visibility: seconds(60), ContentDedup: true, DeadLetterARN: prefix + "dead.fifo", MaxReceive: 3},
		{Name: "strict.fifo", FIFO: true},
	} {
		cfg.ARN, cfg.URL = prefix+cfg.Name, *url(cfg.Name)
		if err := q.Add(cfg); err != nil {
			t.Fatal(err)
		}
	}
	if err := q.Check(); err != nil {
		t.Fatal(err)
	}
	return q, c
}

func send(t *testing.T, q *queue.Queues, name, body, group string) *sqs.SendMessageOutput {
	t.Helper()
	in := &sqs.SendMessageInput{QueueUrl: url(name), MessageBody: aws.String(body)}
	if group != "" {
		in.MessageGroupId = aws.String(group)
	}
	out, err := q.SendMessage(in)
	if err != nil {
		t.Fatalf("send %q to %s: %v", body, name, err)
	}
	return out
}

func receive(t *testing.T, q *queue.Queues, name string) []types.Message {
	t.Helper()
	out, err := q.ReceiveMessage(&sqs.ReceiveMessageInput{QueueUrl: url(name), MaxNumberOfMessages: 10,
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{"All"}, MessageAttributeNames: []string{"All"}})
	if err != nil {
		t.Fatalf("receive from %s: %v", name, err)
	}
	return out.Messages
}

func bodies(messages []types.Message) string {
	var out []string
	for _, m := range messages {
		out = append(out, *m.Body)
	}
	return strings.Join(out, " ")
}

func wantDepth(t *testing.T, q *queue.Queues, name string, want queue.Depth) {
	t.Helper()
	got, err := q.Depth(prefix + name)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("depth of %s (-want +got):\n%s", name, d)
	}
}

func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	var e *wire.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Errorf("got error %v, want code %q", err, code)
	}
}

func TestSendAndReceive(t *testing.T) {
	q, c := newQueues(t)
	sent, err := q.SendMessage(&sqs.SendMessageInput{QueueUrl: url("plain"), MessageBody: aws.String("This is a test message"),
		MessageAttributes: map[string]types.MessageAttributeValue{"cluster": {DataType: aws.String("String"), StringValue: aws.String("prod")}}})
	if err != nil {
		t.Fatal(err)
	}
	// The digest of the example in the SQS documentation.
	if got, want := *sent.MD5OfMessageBody, "fafb00f5732ab283681e124bf8747ed1"; got != want {
		t.Errorf("MD5OfMessageBody: got %q, want %q", got, want)
	}
	c.Advance(5 * time.Second)
	got := receive(t, q, "plain")
	if len(got) != 1 {
		t.Fatalf("got %d messages, want 1", len(got))
	}
	if *got[0].MD5OfMessageAttributes != *sent.MD5OfMessageAttributes {
		t.Errorf("MD5OfMessageAttributes: got %q, want %q", *got[0].MD5OfMessageAttributes, *sent.MD5OfMessageAttributes)
	}
	want := map[string]string{
		"ApproximateReceiveCount": "1", "SentTimestamp": fmt.Sprint(start.UnixMilli()),
		"ApproximateFirstReceiveTimestamp": fmt.Sprint(start.UnixMilli() + 5000), "SenderId": "AROAROLLCALLSTAGE00000:stage",
	}
	if d := cmp.Diff(want, got[0].Attributes); d != "" {
		t.Errorf("attributes (-want +got):\n%s", d)
	}
	wantDepth(t, q, "plain", queue.Depth{InFlight: 1})
	if _, err := q.DeleteMessage(&sqs.DeleteMessageInput{QueueUrl: url("plain"), ReceiptHandle: got[0].ReceiptHandle}); err != nil {
		t.Fatal(err)
	}
	c.Advance(time.Hour)
	wantDepth(t, q, "plain", queue.Depth{})
}

func TestVisibilityAndRedrive(t *testing.T) {
	q, c := newQueues(t)
	sent := send(t, q, "plain", "m", "")
	for try := 1; try <= 2; try++ {
		got := receive(t, q, "plain")
		if len(got) != 1 || got[0].Attributes["ApproximateReceiveCount"] != fmt.Sprint(try) {
			t.Fatalf("try %d: got %v", try, got)
		}
		c.Advance(59 * time.Second)
		if got := receive(t, q, "plain"); len(got) != 0 {
			t.Fatalf("try %d: got %q before the timeout, want none", try, bodies(got))
		}
		c.Advance(time.Second)
	}
	if got := receive(t, q, "plain"); len(got) != 0 {
		t.Fatalf("got %q after maxReceiveCount, want none", bodies(got))
	}
	got := receive(t, q, "dead")
	if len(got) != 1 || *got[0].MessageId != *sent.MessageId {
		t.Fatalf("dead-letter queue: got %v, want message %q", got, *sent.MessageId)
	}
	if got, want := got[0].Attributes["DeadLetterQueueSourceArn"], prefix+"plain"; got != want {
		t.Errorf("DeadLetterQueueSourceArn: got %q, want %q", got, want)
	}
	if got, want := got[0].Attributes["ApproximateReceiveCount"], "1"; got != want {
		t.Errorf("ApproximateReceiveCount: got %q, want %q", got, want)
	}
}

func TestOldHandle(t *testing.T) {
	q, c := newQueues(t)
	send(t, q, "plain", "m", "")
	old := receive(t, q, "plain")[0].ReceiptHandle
	c.Advance(time.Minute)
	receive(t, q, "plain")
	if _, err := q.DeleteMessage(&sqs.DeleteMessageInput{QueueUrl: url("plain"), ReceiptHandle: old}); err != nil {
		t.Fatal(err)
	}
	wantDepth(t, q, "plain", queue.Depth{InFlight: 1})
	_, err := q.ChangeMessageVisibility(&sqs.ChangeMessageVisibilityInput{QueueUrl: url("plain"), ReceiptHandle: old, VisibilityTimeout: 1})
	wantCode(t, err, "InvalidParameterValueException")
}

func TestChangeVisibility(t *testing.T) {
	q, c := newQueues(t)
	send(t, q, "plain", "m", "")
	m := receive(t, q, "plain")[0]
	change := func(n int32) {
		t.Helper()
		if _, err := q.ChangeMessageVisibility(&sqs.ChangeMessageVisibilityInput{QueueUrl: url("plain"), ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: n}); err != nil {
			t.Fatal(err)
		}
	}
	change(300)
	c.Advance(299 * time.Second)
	wantDepth(t, q, "plain", queue.Depth{InFlight: 1})
	change(0)
	wantDepth(t, q, "plain", queue.Depth{Visible: 1})
}

func TestVisibilityFloor(t *testing.T) {
	n := 0
	c := simclock.New(start, time.Now(), 600)
	q := queue.New(queue.Options{Clock: c, NewID: func() string { n++; return fmt.Sprint(n) }, VisibilityFloor: time.Hour})
	if err := q.Add(queue.Config{Name: "plain", ARN: prefix + "plain", URL: *url("plain"), Visibility: seconds(1)}); err != nil {
		t.Fatal(err)
	}
	send(t, q, "plain", "m", "")
	receive(t, q, "plain")
	// Some ten wall milliseconds are six stage seconds, well past the timeout.
	if err := c.Sleep(context.Background(), 6*time.Second); err != nil {
		t.Fatal(err)
	}
	wantDepth(t, q, "plain", queue.Depth{InFlight: 1})
}

func TestDelay(t *testing.T) {
	q, c := newQueues(t)
	send(t, q, "delayed", "queue", "")
	if _, err := q.SendMessage(&sqs.SendMessageInput{QueueUrl: url("delayed"), MessageBody: aws.String("own"), DelaySeconds: 60}); err != nil {
		t.Fatal(err)
	}
	wantDepth(t, q, "delayed", queue.Depth{Delayed: 2})
	c.Advance(time.Minute)
	if got, want := bodies(receive(t, q, "delayed")), "own"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	c.Advance(9 * time.Minute)
	// "own" is visible again: its timeout of 30 s has passed.
	if got, want := bodies(receive(t, q, "delayed")), "queue own"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRetention(t *testing.T) {
	q, c := newQueues(t)
	send(t, q, "plain", "m", "")
	c.Advance(queue.DefaultRetention + time.Second)
	wantDepth(t, q, "plain", queue.Depth{})
	if got := receive(t, q, "plain"); len(got) != 0 {
		t.Errorf("got %q, want none", bodies(got))
	}
}

func TestLongPolling(t *testing.T) {
	q, c := newQueues(t)
	send(t, q, "delayed", "m", "") // delay 10 minutes
	c.Advance(10*time.Minute - 15*time.Second)
	done := make(chan string)
	go func() {
		out, err := q.ReceiveMessage(&sqs.ReceiveMessageInput{QueueUrl: url("delayed")}) // waits 20 s: the queue's own
		if err != nil {
			done <- err.Error()
			return
		}
		done <- bodies(out.Messages)
	}()
	waitForTimer(t, c)
	c.Advance(16 * time.Second)
	if got, want := <-done, "m"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// waitForTimer waits until some goroutine sleeps on the clock.
func waitForTimer(t *testing.T, c *simclock.Clock) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); c.Waiting() == 0; {
		if time.Now().After(end) {
			t.Fatal("nobody waits on the clock")
		}
		time.Sleep(time.Millisecond)
	}
}

func TestFIFO(t *testing.T) {
	q, c := newQueues(t)
	for _, m := range []struct{ body, group string }{{"a1", "a"}, {"b1", "b"}, {"a2", "a"}, {"b2", "b"}} {
		send(t, q, "ordered.fifo", m.body, m.group)
	}
	one, err := q.ReceiveMessage(&sqs.ReceiveMessageInput{QueueUrl: url("ordered.fifo")})
	if err != nil || bodies(one.Messages) != "a1" {
		t.Fatalf("got %v, %v; want a1", one, err)
	}
	// Group a waits for a1; group b goes on, in order.
	if got, want := bodies(receive(t, q, "ordered.fifo")), "b1 b2"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := bodies(receive(t, q, "ordered.fifo")); got != "" {
		t.Errorf("got %q, want none", got)
	}
	if _, err := q.DeleteMessage(&sqs.DeleteMessageInput{QueueUrl: url("ordered.fifo"), ReceiptHandle: one.Messages[0].ReceiptHandle}); err != nil {
		t.Fatal(err)
	}
	if got, want := bodies(receive(t, q, "ordered.fifo")), "a2"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	c.Advance(time.Minute)
	if got, want := bodies(receive(t, q, "ordered.fifo")), "b1 a2 b2"; got != want {
		t.Errorf("after the timeout: got %q, want %q", got, want)
	}
}

func TestFIFORedriveKeepsOrder(t *testing.T) {
	q, c := newQueues(t)
	send(t, q, "ordered.fifo", "a1", "a")
	for range 3 {
		receive(t, q, "ordered.fifo")
		c.Advance(time.Minute)
	}
	send(t, q, "ordered.fifo", "a2", "a")
	if got, want := bodies(receive(t, q, "ordered.fifo")), "a2"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	got := receive(t, q, "dead.fifo")
	if bodies(got) != "a1" || got[0].Attributes["MessageGroupId"] != "a" {
		t.Errorf("dead-letter queue: got %v, want a1 of group a", got)
	}
}

func TestDeduplication(t *testing.T) {
	q, c := newQueues(t)
	first := send(t, q, "ordered.fifo", "same", "a")
	again := send(t, q, "ordered.fifo", "same", "b")
	if *first.MessageId != *again.MessageId || *first.SequenceNumber != *again.SequenceNumber {
		t.Errorf("got %q %q, want %q %q", *again.MessageId, *again.SequenceNumber, *first.MessageId, *first.SequenceNumber)
	}
	wantDepth(t, q, "ordered.fifo", queue.Depth{Visible: 1})
	c.Advance(5*time.Minute + time.Second)
	send(t, q, "ordered.fifo", "same", "a")
	wantDepth(t, q, "ordered.fifo", queue.Depth{Visible: 2})
}

func TestErrors(t *testing.T) {
	q, _ := newQueues(t)
	sendErr := func(in *sqs.SendMessageInput) error { _, err := q.SendMessage(in); return err }
	big := strings.Repeat("x", queue.MaxMessageBytes+1)
	for _, tt := range []struct {
		name, code string
		err        error
	}{
		{"no such queue", "QueueDoesNotExist", sendErr(&sqs.SendMessageInput{QueueUrl: url("nope"), MessageBody: aws.String("m")})},
		{"no url", "MissingRequiredParameterException", sendErr(&sqs.SendMessageInput{MessageBody: aws.String("m")})},
		{"no body", "MissingRequiredParameterException", sendErr(&sqs.SendMessageInput{QueueUrl: url("plain")})},
		{"too big", "InvalidParameterValueException", sendErr(&sqs.SendMessageInput{QueueUrl: url("plain"), MessageBody: &big})},
		{"control character", "InvalidMessageContents", sendErr(&sqs.SendMessageInput{QueueUrl: url("plain"), MessageBody: aws.String("a\x00")})},
		{"delay", "InvalidParameterValueException", sendErr(&sqs.SendMessageInput{QueueUrl: url("plain"), MessageBody: aws.String("a"), DelaySeconds: 901})},
		{"dedup on standard", "InvalidParameterValueException", sendErr(&sqs.SendMessageInput{QueueUrl: url("plain"), MessageBody: aws.String("a"), MessageDeduplicationId: aws.String("x")})},
		{"no group", "MissingRequiredParameterException", sendErr(&sqs.SendMessageInput{QueueUrl: url("ordered.fifo"), MessageBody: aws.String("a")})},
		{"no dedup", "InvalidParameterValueException", sendErr(&sqs.SendMessageInput{QueueUrl: url("strict.fifo"), MessageBody: aws.String("a"), MessageGroupId: aws.String("g")})},
		{"delay on FIFO", "InvalidParameterValueException", sendErr(&sqs.SendMessageInput{QueueUrl: url("ordered.fifo"), MessageBody: aws.String("a"), MessageGroupId: aws.String("g"), DelaySeconds: 5})},
		{"bad group", "InvalidParameterValueException", sendErr(&sqs.SendMessageInput{QueueUrl: url("ordered.fifo"), MessageBody: aws.String("a"), MessageGroupId: aws.String("g h")})},
	} {
		t.Run(tt.name, func(t *testing.T) { wantCode(t, tt.err, tt.code) })
	}
	_, err := q.GetQueueUrl(&sqs.GetQueueUrlInput{QueueName: aws.String("nope")})
	wantCode(t, err, "QueueDoesNotExist")
	_, err = q.ReceiveMessage(&sqs.ReceiveMessageInput{QueueUrl: url("plain"), MaxNumberOfMessages: 11})
	wantCode(t, err, "InvalidParameterValueException")
	_, err = q.GetQueueAttributes(&sqs.GetQueueAttributesInput{QueueUrl: url("plain"), AttributeNames: []types.QueueAttributeName{"Nope"}})
	wantCode(t, err, "InvalidAttributeName")
	if _, err := q.PurgeQueue(&sqs.PurgeQueueInput{QueueUrl: url("plain")}); err != nil {
		t.Fatal(err)
	}
	_, err = q.PurgeQueue(&sqs.PurgeQueueInput{QueueUrl: url("plain")})
	wantCode(t, err, "PurgeQueueInProgress")
}

func TestBatch(t *testing.T) {
	q, _ := newQueues(t)
	entry := func(id, body, group string) types.SendMessageBatchRequestEntry {
		e := types.SendMessageBatchRequestEntry{Id: aws.String(id), MessageBody: aws.String(body)}
		if group != "" {
			e.MessageGroupId = aws.String(group)
		}
		return e
	}
	out, err := q.SendMessageBatch(&sqs.SendMessageBatchInput{QueueUrl: url("ordered.fifo"),
		Entries: []types.SendMessageBatchRequestEntry{entry("1", "x", "g"), entry("2", "y", ""), entry("3", "z", "g")}})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Successful) != 2 || len(out.Failed) != 1 || *out.Failed[0].Id != "2" || *out.Failed[0].Code != "MissingParameter" {
		t.Errorf("got %+v, want entry 2 failed with MissingParameter", out)
	}
	many := make([]types.SendMessageBatchRequestEntry, 11)
	for i := range many {
		many[i] = entry(fmt.Sprint(i), "x", "")
	}
	half := strings.Repeat("x", queue.MaxMessageBytes/2+1)
	for _, tt := range []struct {
		code    string
		entries []types.SendMessageBatchRequestEntry
	}{
		{"EmptyBatchRequest", nil},
		{"TooManyEntriesInBatchRequest", many},
		{"BatchEntryIdsNotDistinct", []types.SendMessageBatchRequestEntry{entry("1", "x", ""), entry("1", "y", "")}},
		{"InvalidBatchEntryId", []types.SendMessageBatchRequestEntry{entry("a b", "x", "")}},
		{"BatchRequestTooLong", []types.SendMessageBatchRequestEntry{entry("1", half, ""), entry("2", half, "")}},
	} {
		_, err := q.SendMessageBatch(&sqs.SendMessageBatchInput{QueueUrl: url("plain"), Entries: tt.entries})
		wantCode(t, err, tt.code)
	}
	got := receive(t, q, "ordered.fifo")
	deleted, err := q.DeleteMessageBatch(&sqs.DeleteMessageBatchInput{QueueUrl: url("ordered.fifo"), Entries: []types.DeleteMessageBatchRequestEntry{
		{Id: aws.String("1"), ReceiptHandle: got[0].ReceiptHandle}, {Id: aws.String("2")}, {Id: aws.String("3"), ReceiptHandle: got[1].ReceiptHandle}}})
	if err != nil {
		t.Fatal(err)
	}
	if len(deleted.Successful) != 2 || len(deleted.Failed) != 1 {
		t.Errorf("got %+v, want one failure", deleted)
	}
	wantDepth(t, q, "ordered.fifo", queue.Depth{})
}

func TestAttributes(t *testing.T) {
	q, _ := newQueues(t)
	send(t, q, "plain", "m", "")
	out, err := q.GetQueueAttributes(&sqs.GetQueueAttributesInput{QueueUrl: url("plain"),
		AttributeNames: []types.QueueAttributeName{"QueueArn", "ApproximateNumberOfMessages", "RedrivePolicy", "FifoQueue"}})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"QueueArn": prefix + "plain", "ApproximateNumberOfMessages": "1",
		"RedrivePolicy": `{"deadLetterTargetArn":"` + prefix + `dead","maxReceiveCount":2}`}
	if d := cmp.Diff(want, out.Attributes); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
