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

	"rollcall/stage/platform/queue"
	"rollcall/stage/platform/wire"
	"rollcall/stage/simclock"
)

type answer struct {
	messages []queue.Message
	err      error
}

func poll(ctx context.Context, q *queue.Queues, name string, max int, window time.Duration) <-chan answer {
	done := make(chan answer, 1)
	go func() {
		m, err := q.Receive(ctx, prefix+name, max, window)
		done <- answer{m, err}
	}()
	return done
}

func TestPollerBatches(t *testing.T) {
	q, c := newQueues(t)
	done := poll(context.Background(), q, "plain", 3, time.Minute)
	for i := range 2 {
		if _, err := q.Send(prefix+"plain", queue.Outgoing{Body: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	// The window runs from the first message on, not from the call.
	for d, err := q.Depth(prefix + "plain"); d.InFlight != 2; d, err = q.Depth(prefix + "plain") {
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	waitForTimer(t, c)
	c.Advance(time.Minute + time.Second)
	got := <-done
	if got.err != nil || len(got.messages) != 2 {
		t.Fatalf("got %v, want two messages", got)
	}
	// Held without a timeout, however much stage time passes.
	c.Advance(time.Hour)
	wantDepth(t, q, "plain", queue.Depth{InFlight: 2, Held: 2})
	if err := q.Delete(prefix+"plain", got.messages[0]); err != nil {
		t.Fatal(err)
	}
	if err := q.Return(prefix+"plain", got.messages[1]); err != nil {
		t.Fatal(err)
	}
	// The timeout counts from the receive and is over.
	wantDepth(t, q, "plain", queue.Depth{Visible: 1})
}

func TestPollerReturnsAfterVisibility(t *testing.T) {
	q, c := newQueues(t)
	send(t, q, "plain", "m", "")
	got := <-poll(context.Background(), q, "plain", 1, 0)
	if got.err != nil {
		t.Fatal(got.err)
	}
	if err := q.Return(prefix+"plain", got.messages...); err != nil {
		t.Fatal(err)
	}
	wantDepth(t, q, "plain", queue.Depth{InFlight: 1})
	c.Advance(time.Minute)
	wantDepth(t, q, "plain", queue.Depth{Visible: 1})
}

func TestPollerTakesAGroupInOneBatch(t *testing.T) {
	q, _ := newQueues(t)
	for i := range 5 {
		send(t, q, "ordered.fifo", fmt.Sprint(i), "g")
	}
	got := <-poll(context.Background(), q, "ordered.fifo", 10, 0)
	if got.err != nil || len(got.messages) != 5 {
		t.Fatalf("got %v, want five messages", got)
	}
	if got, want := got.messages[4].System["MessageGroupId"], "g"; got != want {
		t.Errorf("MessageGroupId: got %q, want %q", got, want)
	}
}

func TestPollerStaysBelowThePayloadLimit(t *testing.T) {
	q, _ := newQueues(t)
	body := strings.Repeat("x", queue.MaxMessageBytes)
	for range 10 {
		send(t, q, "plain", body, "")
	}
	got := <-poll(context.Background(), q, "plain", 10, time.Minute)
	if got.err != nil || len(got.messages) != 6 {
		t.Fatalf("got %d messages, %v; want 6 of 1 MiB each", len(got.messages), got.err)
	}
}

func TestPollerEndsWithItsContext(t *testing.T) {
	q, c := newQueues(t)
	ctx, cancel := context.WithCancel(context.Background())
	send(t, q, "plain", "m", "")
	done := poll(ctx, q, "plain", 10, time.Minute)
	waitForTimer(t, c)
	cancel()
	if got := <-done; !errors.Is(got.err, context.Canceled) || got.messages != nil {
		t.Errorf("got %v, want context.Canceled", got)
	}
	// What it had in hand was never delivered: it is there again, uncounted.
	if got := receive(t, q, "plain"); len(got) != 1 || got[0].Attributes["ApproximateReceiveCount"] != "1" {
		t.Errorf("got %v, want the message with count 1", got)
	}
}

func TestClose(t *testing.T) {
	q, _ := newQueues(t)
	done := poll(context.Background(), q, "plain", 10, 0)
	q.Close()
	if got := <-done; len(got.messages) != 0 {
		t.Errorf("got %v, want no messages", got)
	}
}

func TestSendText(t *testing.T) {
	q, _ := newQueues(t)
	if err := q.SendText(prefix+"dead", "body", map[string]string{"RULE_ARN": "arn", "EMPTY": ""}); err != nil {
		t.Fatal(err)
	}
	got := receive(t, q, "dead")
	if len(got) != 1 || *got[0].Body != "body" || len(got[0].MessageAttributes) != 1 || *got[0].MessageAttributes["RULE_ARN"].StringValue != "arn" {
		t.Errorf("got %+v, want the body and RULE_ARN", got)
	}
	if err := q.SendText(prefix+"nope", "body", nil); err == nil {
		t.Error("send to no queue: got no error")
	}
}

// dieIn receives all of a queue until it is in the dead-letter queue.
func dieIn(t *testing.T, q *queue.Queues, c *simclock.Clock, name string) {
	t.Helper()
	for range 4 {
		if _, err := q.ReceiveMessage(&sqs.ReceiveMessageInput{QueueUrl: url(name), MaxNumberOfMessages: 10}); err != nil {
			t.Fatal(err)
		}
		c.Advance(2 * time.Minute)
	}
}

func lastTask(t *testing.T, q *queue.Queues, name string) (status, failed string, moved int64) {
	t.Helper()
	out, err := q.ListMessageMoveTasks(&sqs.ListMessageMoveTasksInput{SourceArn: aws.String(prefix + name)})
	if err != nil || len(out.Results) != 1 {
		t.Fatalf("%+v, %v; want one task", out, err)
	}
	r := out.Results[0]
	return aws.ToString(r.Status), aws.ToString(r.FailureReason), r.ApproximateNumberOfMessagesMoved
}

// Dead letters come back as new messages, in their groups; those that were sent to
// the dead-letter queue itself do only where the destination is named.
func TestMove(t *testing.T) {
	q, c := newQueues(t)
	send(t, q, "ordered.fifo", "first", "prod")
	send(t, q, "ordered.fifo", "second", "prod")
	dieIn(t, q, c, "ordered.fifo")
	start := func(destination string) error {
		in := &sqs.StartMessageMoveTaskInput{SourceArn: aws.String(prefix + "dead.fifo")}
		if destination != "" {
			in.DestinationArn = aws.String(prefix + destination)
		}
		_, err := q.StartMessageMoveTask(in)
		return err
	}
	if err := start(""); err != nil {
		t.Fatal(err)
	}
	if status, _, _ := lastTask(t, q, "dead.fifo"); status != "RUNNING" {
		t.Errorf("at once it is %s", status)
	}
	if err := start(""); code(err) != "InvalidParameterValueException" {
		t.Errorf("a second task: %v", err)
	}
	c.Advance(time.Second)
	if status, failed, moved := lastTask(t, q, "dead.fifo"); status != "COMPLETED" || failed != "" || moved != 2 {
		t.Errorf("%s %s, %d moved", status, failed, moved)
	}
	got, err := q.ReceiveMessage(&sqs.ReceiveMessageInput{QueueUrl: url("ordered.fifo"), MaxNumberOfMessages: 10, MessageSystemAttributeNames: []types.MessageSystemAttributeName{"All"}})
	if err != nil {
		t.Fatal(err)
	}
	var bodies []string
	for _, m := range got.Messages {
		bodies = append(bodies, *m.Body)
		if m.Attributes["ApproximateReceiveCount"] != "1" || m.Attributes["MessageGroupId"] != "prod" {
			t.Errorf("%s came back as %v", *m.Body, m.Attributes)
		}
	}
	if diff := cmp.Diff([]string{"first", "second"}, bodies); diff != "" {
		t.Errorf("came back (-want +got):\n%s", diff)
	}
	if _, err := q.SendMessage(&sqs.SendMessageInput{QueueUrl: url("dead.fifo"), MessageBody: aws.String("set aside"), MessageGroupId: aws.String("prod"), MessageDeduplicationId: aws.String("1")}); err != nil {
		t.Fatal(err)
	}
	if err := start(""); err != nil {
		t.Fatal(err)
	}
	c.Advance(time.Second)
	if status, failed, moved := lastTask(t, q, "dead.fifo"); status != "FAILED" || failed != "CouldNotDetermineMessageSource" || moved != 0 {
		t.Errorf("%s %s, %d moved; want that it came from no queue", status, failed, moved)
	}
	if err := start("ordered.fifo"); err != nil {
		t.Fatal(err)
	}
	c.Advance(time.Second)
	if status, failed, moved := lastTask(t, q, "dead.fifo"); status != "COMPLETED" || moved != 1 {
		t.Errorf("%s %s, %d moved; want it there", status, failed, moved)
	}
}

// Two messages that shared a deduplication id are two in the dead-letter queue.
func TestDeadLettersAreNotDeduplicated(t *testing.T) {
	q, c := newQueues(t)
	for range 2 {
		send(t, q, "ordered.fifo", "the same", "prod")
		c.Advance(6 * time.Minute)
	}
	dieIn(t, q, c, "ordered.fifo")
	if _, err := q.StartMessageMoveTask(&sqs.StartMessageMoveTaskInput{SourceArn: aws.String(prefix + "dead.fifo")}); err != nil {
		t.Fatal(err)
	}
	if d, err := q.Depth(prefix + "ordered.fifo"); err != nil || d.Visible != 2 {
		t.Errorf("%+v came back, %v; want both", d, err)
	}
}

func TestMoveIsRefused(t *testing.T) {
	q, _ := newQueues(t)
	for name, test := range map[string]struct {
		source, destination string
		rate                int32
		want                string
	}{
		"no such queue":        {"other", "", 0, "ResourceNotFoundException"},
		"no dead-letter queue": {"plain", "", 0, "InvalidParameterValueException"},
		"no such destination":  {"dead", "other", 0, "ResourceNotFoundException"},
		"of the other kind":    {"dead", "ordered.fifo", 0, "InvalidParameterValueException"},
		"too fast":             {"dead", "plain", 501, "InvalidParameterValueException"},
	} {
		in := &sqs.StartMessageMoveTaskInput{SourceArn: aws.String(prefix + test.source)}
		if test.destination != "" {
			in.DestinationArn = aws.String(prefix + test.destination)
		}
		if test.rate > 0 {
			in.MaxNumberOfMessagesPerSecond = aws.Int32(test.rate)
		}
		if _, err := q.StartMessageMoveTask(in); code(err) != test.want {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
}

func TestListQueues(t *testing.T) {
	q, _ := newQueues(t)
	out, err := q.ListQueues(&sqs.ListQueuesInput{QueueNamePrefix: aws.String("dead")})
	if diff := cmp.Diff([]string{*url("dead"), *url("dead.fifo")}, out.QueueUrls); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	sources, err := q.ListDeadLetterSourceQueues(&sqs.ListDeadLetterSourceQueuesInput{QueueUrl: url("dead.fifo")})
	if diff := cmp.Diff([]string{*url("ordered.fifo")}, sources.QueueUrls); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	none, err := q.ListDeadLetterSourceQueues(&sqs.ListDeadLetterSourceQueuesInput{QueueUrl: url("plain")})
	if err != nil || len(none.QueueUrls) > 0 {
		t.Errorf("%v, %v; want none", none, err)
	}
}

func code(err error) string {
	var e *wire.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

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
			t.Fatal("no goroutine waits on the clock")
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
