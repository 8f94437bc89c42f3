package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"rollcall/infra/deadletters"
	"rollcall/stage/platform/queue"
	"rollcall/stage/simclock"
	"rollcall/tools/expect"
)

// direct is the stage's SQS without a network.
type direct struct {
	*queue.Queues
}

func (d *direct) ListQueues(_ context.Context, in *sqs.ListQueuesInput, _ ...func(*sqs.Options)) (*sqs.ListQueuesOutput, error) {
	return d.Queues.ListQueues(in)
}

func (d *direct) GetQueueAttributes(_ context.Context, in *sqs.GetQueueAttributesInput, _ ...func(*sqs.Options)) (*sqs.GetQueueAttributesOutput, error) {
	return d.Queues.GetQueueAttributes(in)
}

func (d *direct) ListDeadLetterSourceQueues(_ context.Context, in *sqs.ListDeadLetterSourceQueuesInput, _ ...func(*sqs.Options)) (*sqs.ListDeadLetterSourceQueuesOutput, error) {
	return d.Queues.ListDeadLetterSourceQueues(in)
}

func (d *direct) StartMessageMoveTask(_ context.Context, in *sqs.StartMessageMoveTaskInput, _ ...func(*sqs.Options)) (*sqs.StartMessageMoveTaskOutput, error) {
	return d.Queues.StartMessageMoveTask(in)
}

func (d *direct) ListMessageMoveTasks(_ context.Context, in *sqs.ListMessageMoveTasksInput, _ ...func(*sqs.Options)) (*sqs.ListMessageMoveTasksOutput, error) {
	return d.Queues.ListMessageMoveTasks(in)
}

const account = "arn:aws:sqs:us-west-2:111122223333:"

// deployment has the queues of two functions, and those of another deployment.
func deployment(t *testing.T) (*direct, *simclock.Clock) {
	t.Helper()
	c := simclock.NewManual(time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC))
	n := 0
	q := queue.New(queue.Options{Clock: c, NewID: func() string { n++; return fmt.Sprint("id-", n) }})
	t.Cleanup(q.Close)
	for _, cfg := range []queue.Config{
		{Name: "rollcall-results-dead.fifo", FIFO: true}, {Name: "rollcall-results.fifo", FIFO: true, DeadLetterARN: account + "rollcall-results-dead.fifo", MaxReceive: 5},
		{Name: "rollcall-joins-dead"}, {Name: "rollcall-joins", DeadLetterARN: account + "rollcall-joins-dead", MaxReceive: 1},
		{Name: "rollcall-report-failed"}, {Name: "rollcall-sweeps", DeadLetterARN: account + "rollcall-report-failed", MaxReceive: 2},
		{Name: "rollcallish-joins-dead"}, {Name: "rollcallish-joins", DeadLetterARN: account + "rollcallish-joins-dead", MaxReceive: 1},
	} {
		cfg.ARN, cfg.URL = account+cfg.Name, "http://127.0.0.1/111122223333/"+cfg.Name
		expect.OK(t, q.Add(cfg))
	}
	return &direct{Queues: q}, c
}

func (d *direct) put(t *testing.T, name, body string) {
	t.Helper()
	out := queue.Outgoing{Body: body}
	if strings.HasSuffix(name, ".fifo") {
		out.Group, out.Dedup = "prod", strings.ReplaceAll(body, " ", "-")
	}
	if _, err := d.Send(account+name, out); err != nil {
		t.Fatal(err)
	}
}

func (d *direct) depth(t *testing.T, name string) int {
	t.Helper()
	depth, err := d.Depth(account + name)
	expect.OK(t, err)
	return depth.Visible
}

// Without -move all is shown and nothing is touched; with it what SQS can move is
// back where it came from, also what was put into the dead-letter queue by report.
func TestRedrive(t *testing.T) {
	d, c := deployment(t)
	waits := func(_ context.Context, pause time.Duration) error { c.Advance(pause); return nil }
	var out bytes.Buffer
	if err := redrive(t.Context(), &out, d, "rollcall", false, waits); err != nil || out.String() != "the dead-letter queues of rollcall are empty\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
	d.put(t, "rollcall-results-dead.fifo", "set aside by report")
	d.put(t, "rollcall-results-dead.fifo", "a press")
	d.put(t, "rollcall-report-failed", "an event")
	d.put(t, "rollcallish-joins-dead", "of another deployment")
	out.Reset()
	expect.OK(t, redrive(t.Context(), &out, d, "rollcall", false, waits))
	want := []string{
		"rollcall-report-failed: 1, stay: they are events that reached no queue, and SQS moves only what a queue gave up; what they were about is found by the next sweep, and an approval among them runs out and can be asked for again",
		"rollcall-results-dead.fifo: 2, would go back to rollcall-results.fifo",
		"Nothing was moved. Mend first why they were given up, then: make redrive MOVE=1",
	}
	expect.Same(t, "shown", strings.Split(strings.TrimSpace(out.String()), "\n"), want)
	if n := d.depth(t, "rollcall-results-dead.fifo"); n != 2 {
		t.Errorf("%d are left, and no flag said to move them", n)
	}
	out.Reset()
	expect.OK(t, redrive(t.Context(), &out, d, "rollcall", true, waits))
	if !strings.Contains(out.String(), "rollcall-results-dead.fifo: 2 of about 2 went back to rollcall-results.fifo\n") {
		t.Errorf("said %q", out.String())
	}
	for name, want := range map[string]int{"rollcall-results-dead.fifo": 0, "rollcall-results.fifo": 2, "rollcall-report-failed": 1, "rollcallish-joins-dead": 1} {
		if n := d.depth(t, name); n != want {
			t.Errorf("%s has %d, want %d", name, n, want)
		}
	}
}

var errAway = errors.New("away")

// deaf refuses one of the calls.
type deaf struct {
	*direct
	call string
}

func (d deaf) StartMessageMoveTask(ctx context.Context, in *sqs.StartMessageMoveTaskInput, o ...func(*sqs.Options)) (*sqs.StartMessageMoveTaskOutput, error) {
	if d.call == "start" && strings.HasSuffix(*in.SourceArn, "joins-dead") {
		return nil, errAway
	}
	return d.direct.StartMessageMoveTask(ctx, in, o...)
}

func (d deaf) ListMessageMoveTasks(ctx context.Context, in *sqs.ListMessageMoveTasksInput, o ...func(*sqs.Options)) (*sqs.ListMessageMoveTasksOutput, error) {
	out, err := d.direct.ListMessageMoveTasks(ctx, in, o...)
	if d.call == "fail" && err == nil && strings.HasSuffix(*in.SourceArn, "joins-dead") {
		out.Results[0].Status, out.Results[0].FailureReason = aws.String("FAILED"), aws.String("AWS.SimpleQueueService.NonExistentQueue")
	}
	return out, err
}

func (d deaf) ListDeadLetterSourceQueues(ctx context.Context, in *sqs.ListDeadLetterSourceQueuesInput, o ...func(*sqs.Options)) (*sqs.ListDeadLetterSourceQueuesOutput, error) {
	out, err := d.direct.ListDeadLetterSourceQueues(ctx, in, o...)
	if d.call == "sources" {
		out.QueueUrls = append(out.QueueUrls, "http://127.0.0.1/111122223333/another")
	}
	return out, err
}

// One queue's trouble does not keep the others from coming back, and is said.
func TestRedriveFails(t *testing.T) {
	failed := new(deadletters.Failed)
	for call, is := range map[string]func(error) bool{
		"start": func(err error) bool { return errors.Is(err, errAway) },
		"fail": func(err error) bool {
			return errors.As(err, &failed) && strings.Contains(failed.Reason, "NonExistentQueue")
		},
		"sources": func(err error) bool { return errors.Is(err, deadletters.ErrManySources) },
	} {
		d, c := deployment(t)
		d.put(t, "rollcall-joins-dead", "an outcome")
		d.put(t, "rollcall-results-dead.fifo", "a press")
		err := redrive(t.Context(), &bytes.Buffer{}, deaf{direct: d, call: call}, "rollcall", true, func(_ context.Context, pause time.Duration) error { c.Advance(pause); return nil })
		if !is(err) {
			t.Errorf("%s: %v", call, err)
		}
		if n := d.depth(t, "rollcall-results.fifo"); n != 1 && call != "sources" {
			t.Errorf("%s: the press did not come back", call)
		}
	}
	d, _ := deployment(t)
	if _, err := deadletters.Move(t.Context(), d, deadletters.Letters{Queue: "rollcall-report-failed"}, nil); !errors.Is(err, deadletters.ErrNoSource) {
		t.Errorf("moved what reached no queue: %v", err)
	}
	d.put(t, "rollcall-joins-dead", "an outcome")
	if err := redrive(t.Context(), &bytes.Buffer{}, d, "rollcall", true, func(context.Context, time.Duration) error { return context.Canceled }); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}
