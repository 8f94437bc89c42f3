package queue

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"rollcall/local/platform/wire"
)

// What the rules here are taken from: SQS API reference, StartMessageMoveTask,
// ListMessageMoveTasks and ListDeadLetterSourceQueues (also botocore's model,
// sqs/2012-11-05); SQS developer guide, "Learn how to configure a dead-letter
// queue redrive" (redriven messages are new ones, with a new id and time; a FIFO
// dead-letter queue goes to a FIFO queue) and "Troubleshoot DLQ redrive issues"
// (CouldNotDetermineMessageSource). The words of the refusals are those that moto
// and LocalStack record.

// moving is how long a move task runs at least.
const moving = time.Second

// moveTask is a move of all that a dead-letter queue held when it began.
type moveTask struct {
	handle      string
	source      string
	destination string // empty: each message's own source
	began       time.Time
	moved, all  int
	failed      string
}

func (t moveTask) status(now time.Time) string {
	switch {
	case now.Sub(t.began) < moving:
		return "RUNNING"
	case t.failed != "":
		return "FAILED"
	}
	return "COMPLETED"
}

// ListQueues lists the queues whose names begin with a prefix.
func (q *Queues) ListQueues(in *sqs.ListQueuesInput) (*sqs.ListQueuesOutput, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := &sqs.ListQueuesOutput{}
	for _, s := range q.queues {
		if strings.HasPrefix(s.Name, aws.ToString(in.QueueNamePrefix)) {
			out.QueueUrls = append(out.QueueUrls, s.URL)
		}
	}
	slices.Sort(out.QueueUrls)
	return out, nil
}

// ListDeadLetterSourceQueues lists the queues whose dead letters go to this one.
func (q *Queues) ListDeadLetterSourceQueues(in *sqs.ListDeadLetterSourceQueuesInput) (*sqs.ListDeadLetterSourceQueuesOutput, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s, err := q.find(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	out := &sqs.ListDeadLetterSourceQueuesOutput{QueueUrls: []string{}}
	for _, other := range q.queues {
		if other.DeadLetterARN == s.ARN {
			out.QueueUrls = append(out.QueueUrls, other.URL)
		}
	}
	slices.Sort(out.QueueUrls)
	return out, nil
}

// StartMessageMoveTask moves what a dead-letter queue of another queue holds:
// where a destination is named to it, else each message to the queue that it came
// from. One that was sent to the dead-letter queue itself came from none.
func (q *Queues) StartMessageMoveTask(in *sqs.StartMessageMoveTaskInput) (*sqs.StartMessageMoveTaskOutput, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	source, ok := q.queues[aws.ToString(in.SourceArn)]
	if !ok {
		return nil, noResource("SourceArn")
	}
	dead := false
	for _, s := range q.queues {
		dead = dead || s.DeadLetterARN == source.ARN
	}
	if !dead {
		return nil, invalid("Source queue must be configured as a Dead Letter Queue.")
	}
	var to *store
	if name := aws.ToString(in.DestinationArn); name != "" {
		if to, ok = q.queues[name]; !ok {
			return nil, noResource("DestinationArn")
		}
		if to.FIFO != source.FIFO {
			return nil, invalid("The source queue and destination queue must be of the same queue type.")
		}
	}
	if n := aws.ToInt32(in.MaxNumberOfMessagesPerSecond); n != 0 && (n < 1 || n > 500) {
		return nil, invalid("Value %d for parameter MaxNumberOfMessagesPerSecond is invalid. Reason: You must specify a value between 1 and 500.", n)
	}
	now := q.clock.Now()
	for _, t := range q.moves {
		if t.source == source.ARN && t.status(now) == "RUNNING" {
			return nil, invalid("There is already a task running. Only one active task is allowed for a source queue arn at a given time.")
		}
	}
	t := moveTask{handle: q.newID(), source: source.ARN, destination: aws.ToString(in.DestinationArn), began: now}
	q.move(&t, source, to, now)
	q.moves = append(q.moves, t)
	return &sqs.StartMessageMoveTaskOutput{TaskHandle: aws.String(t.handle)}, nil
}

// move does it. What somebody has received stays.
func (q *Queues) move(t *moveTask, source, to *store, now time.Time) {
	source.expire(now)
	for _, m := range slices.Clone(source.messages) {
		if m.gone || m.held || now.Before(m.visible) {
			continue
		}
		t.all++
		target := to
		if target == nil {
			target = q.queues[m.deadOf]
		}
		if target == nil {
			t.failed = "CouldNotDetermineMessageSource"
			return
		}
		copied := message{id: q.newID(), body: m.body, attributes: m.attributes, trace: m.trace, group: m.group, dedup: m.dedup}
		source.remove(m)
		target.send(now, &copied, target.Delay)
		t.moved++
	}
}

// ListMessageMoveTasks lists the last tasks of a dead-letter queue, the newest
// first.
func (q *Queues) ListMessageMoveTasks(in *sqs.ListMessageMoveTasksInput) (*sqs.ListMessageMoveTasksOutput, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, ok := q.queues[aws.ToString(in.SourceArn)]; !ok {
		return nil, noResource("SourceArn")
	}
	most := int(cmp.Or(aws.ToInt32(in.MaxResults), 1))
	if most < 1 || most > 10 {
		return nil, invalid("Value %d for parameter MaxResults is invalid. Reason: MaxResults must be between 1 and 10.", most)
	}
	out, now := &sqs.ListMessageMoveTasksOutput{}, q.clock.Now()
	for _, t := range slices.Backward(q.moves) {
		if t.source != aws.ToString(in.SourceArn) || len(out.Results) == most {
			continue
		}
		r := types.ListMessageMoveTasksResultEntry{
			SourceArn: aws.String(t.source), Status: aws.String(t.status(now)), StartedTimestamp: t.began.UnixMilli(),
			ApproximateNumberOfMessagesMoved: int64(t.moved), ApproximateNumberOfMessagesToMove: aws.Int64(int64(t.all)),
		}
		if t.destination != "" {
			r.DestinationArn = aws.String(t.destination)
		}
		switch *r.Status {
		case "RUNNING":
			r.TaskHandle = aws.String(t.handle)
		case "FAILED":
			r.FailureReason = aws.String(t.failed)
		}
		out.Results = append(out.Results, r)
	}
	return out, nil
}

func noResource(parameter string) *wire.Error {
	return &wire.Error{Code: "ResourceNotFoundException", Status: 404, Message: "The resource that you specified for the " + parameter + " parameter doesn't exist."}
}
