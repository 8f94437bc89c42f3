package bus

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"rollcall/shared/event"
)

// TargetClient is what the queue of targets takes.
type TargetClient interface {
	Queue
	ChangeMessageVisibility(context.Context, *sqs.ChangeMessageVisibilityInput, ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityOutput, error)
}

var _ TargetClient = (*sqs.Client)(nil)

// TargetQueue holds what targets besides Slack are to be told.
type TargetQueue struct {
	Client TargetClient
	// URL and Dead are those of the queue and its dead-letter queue (FIFO).
	URL, Dead string
}

// ToTarget is a message of the queue: an event of the bus, and whom it is for.
type ToTarget struct {
	Target string          `json:"target"`
	Event  json.RawMessage `json:"event"`
}

// Put queues an event for a target. What is about one incident stays in order for each
// target, and waits for nothing else; the same event within five minutes is there once.
func (q TargetQueue) Put(ctx context.Context, target, about, id string, raw json.RawMessage) error {
	body, err := json.Marshal(ToTarget{target, raw})
	if err != nil {
		return fmt.Errorf("encode the event %s for %s: %w", id, target, err)
	}
	_, err = q.Client.SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl: aws.String(q.URL), MessageBody: aws.String(string(body)),
		MessageGroupId: aws.String(digest(target + "\n" + about)), MessageDeduplicationId: aws.String(digest(target + "\n" + id)),
	})
	if err != nil {
		return fmt.Errorf("queue the event %s for %s: %w", id, target, err)
	}
	return nil
}

// SetAside puts a message that a target does not take into the dead-letter queue, with the
// reason, so that what comes after it does not wait.
func (q TargetQueue) SetAside(ctx context.Context, m event.Message, reason string) error {
	return Queues{Client: q.Client, Aside: q.Dead}.SetAside(ctx, m, reason)
}

// maxHold is the longest that a message may be hidden, but for the time that it was in
// work: 12 hours from when it was received (SQS API reference, ChangeMessageVisibility).
const maxHold = 11 * time.Hour

// HoldBack has a message come again after a time, and not when the queue's own is over.
func (q TargetQueue) HoldBack(ctx context.Context, m event.Message, wait time.Duration) error {
	wait = min(max(wait, 0), maxHold)
	_, err := q.Client.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{
		QueueUrl: aws.String(q.URL), ReceiptHandle: aws.String(m.Handle), VisibilityTimeout: int32((wait + time.Second - 1) / time.Second),
	})
	if err != nil {
		return fmt.Errorf("hold back the message %s: %w", m.ID, err)
	}
	return nil
}
