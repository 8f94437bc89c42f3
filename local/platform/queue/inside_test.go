package queue_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"rollcall/local/platform/queue"
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
