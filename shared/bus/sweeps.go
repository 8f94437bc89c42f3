package bus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"rollcall/shared/event"
	"rollcall/shared/spoke"
)

// BatchQueue is what sending many messages to a queue takes.
type BatchQueue interface {
	SendMessageBatch(context.Context, *sqs.SendMessageBatchInput, ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput, error)
}

var _ BatchQueue = (*sqs.Client)(nil)

// Sweep is a cluster's turn in a tick.
type Sweep struct {
	Cluster, Account, Region string
	Due                      time.Time
}

// Sweeps sends the turns of a tick.
type Sweeps struct {
	Client BatchQueue
	Queue  string // URL
	// Spoke is whose clusters they are.
	Spoke spoke.ID
}

// SQS takes ten messages in a batch (SendMessageBatch). batchAttempts is how often those
// of a batch are sent that it did not take: it may take some and refuse others.
const (
	batchMost     = 10
	batchAttempts = 3
)

// SendSweeps sends the turns, each to arrive when it is due. Of an error, some may have been taken: a cluster that is
// swept twice in a tick does no harm. What SQS refuses of one batch does not keep the
// others from being sent.
func (q Sweeps) SendSweeps(ctx context.Context, list []Sweep, now time.Time) error {
	var errs []error
	for some := range slices.Chunk(list, batchMost) {
		if err := q.sendBatch(ctx, some, now); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (q Sweeps) sendBatch(ctx context.Context, list []Sweep, now time.Time) error {
	var left []types.SendMessageBatchRequestEntry
	for i, s := range list {
		body, err := event.SweepCluster(q.Spoke, s.Cluster, s.Account, s.Region, s.Due)
		if err != nil {
			return fmt.Errorf("encode the sweep of %s: %w", s.Cluster, err)
		}
		left = append(left, types.SendMessageBatchRequestEntry{
			Id: aws.String(strconv.Itoa(i)), MessageBody: aws.String(string(body)), DelaySeconds: int32(min(max(s.Due.Sub(now), 0), maxDelay) / time.Second),
		})
	}
	var refused []types.BatchResultErrorEntry
	for range batchAttempts {
		out, err := q.Client.SendMessageBatch(ctx, &sqs.SendMessageBatchInput{QueueUrl: aws.String(q.Queue), Entries: left})
		if err != nil {
			return fmt.Errorf("send the sweeps of %d clusters from %s on: %w", len(left), list[0].Cluster, err)
		}
		if refused = out.Failed; len(refused) == 0 {
			return nil
		}
		left = slices.DeleteFunc(left, func(e types.SendMessageBatchRequestEntry) bool {
			return !slices.ContainsFunc(refused, func(r types.BatchResultErrorEntry) bool { return aws.ToString(r.Id) == aws.ToString(e.Id) })
		})
	}
	return fmt.Errorf("send the sweeps of %d clusters from %s on: the queue does not take %d: %s", len(list), list[0].Cluster, len(refused), aws.ToString(refused[0].Code))
}
