package queue_test

import (
	"errors"
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
