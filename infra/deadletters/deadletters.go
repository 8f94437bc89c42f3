// Package deadletters finds a deployment's dead letters and has SQS move them
// back to where they came from.
package deadletters

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// Client is what it takes of SQS. Who starts a move needs, beside these,
// sqs:ReceiveMessage and sqs:DeleteMessage on the dead-letter queue and
// sqs:SendMessage on the other (SQS developer guide, "Learn how to configure a
// dead-letter queue redrive", permissions).
type Client interface {
	ListQueues(context.Context, *sqs.ListQueuesInput, ...func(*sqs.Options)) (*sqs.ListQueuesOutput, error)
	GetQueueAttributes(context.Context, *sqs.GetQueueAttributesInput, ...func(*sqs.Options)) (*sqs.GetQueueAttributesOutput, error)
	ListDeadLetterSourceQueues(context.Context, *sqs.ListDeadLetterSourceQueuesInput, ...func(*sqs.Options)) (*sqs.ListDeadLetterSourceQueuesOutput, error)
	StartMessageMoveTask(context.Context, *sqs.StartMessageMoveTaskInput, ...func(*sqs.Options)) (*sqs.StartMessageMoveTaskOutput, error)
	ListMessageMoveTasks(context.Context, *sqs.ListMessageMoveTasksInput, ...func(*sqs.Options)) (*sqs.ListMessageMoveTasksOutput, error)
}

var _ Client = (*sqs.Client)(nil)

// Letters are what one dead-letter queue holds.
type Letters struct {
	Queue, ARN string
	// Messages is how many, about: SQS counts them in the end only.
	Messages int
	// Source is the queue that they came from. It is empty for events that failed: SQS
	// moves only what another queue gave up.
	Source, SourceARN string
}

// Movable reports whether SQS can move them back.
func (l Letters) Movable() bool { return l.SourceARN != "" }

// The ends of the names of the queues that the stack makes: the dead-letter queues
// of queues, and the queues of events that failed (infra).
const (
	deadEnd   = "-dead"
	failedEnd = "-failed"
	fifoEnd   = ".fifo"
)

// Find lists the dead-letter queues of a deployment that hold something, by name.
func Find(ctx context.Context, client Client, prefix string) ([]Letters, error) {
	var list []Letters
	// With MaxResults all pages come; without it SQS gives the first 1,000 alone.
	pages := sqs.NewListQueuesPaginator(client, &sqs.ListQueuesInput{QueueNamePrefix: aws.String(prefix + "-"), MaxResults: aws.Int32(1000)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list the queues of %s: %w", prefix, err)
		}
		for _, url := range page.QueueUrls {
			name := nameOf(url)
			if base := strings.TrimSuffix(name, fifoEnd); !strings.HasSuffix(base, deadEnd) && !strings.HasSuffix(base, failedEnd) {
				continue
			}
			l, err := look(ctx, client, url)
			if err != nil {
				return nil, fmt.Errorf("look into %s: %w", name, err)
			}
			if l.Messages > 0 {
				list = append(list, l)
			}
		}
	}
	slices.SortFunc(list, func(a, b Letters) int { return strings.Compare(a.Queue, b.Queue) })
	return list, nil
}

func look(ctx context.Context, client Client, url string) (Letters, error) {
	l := Letters{Queue: nameOf(url)}
	attributes, err := attributesOf(ctx, client, url)
	if err != nil {
		return l, err
	}
	l.ARN = attributes[string(types.QueueAttributeNameQueueArn)]
	if l.Messages, err = strconv.Atoi(attributes[string(types.QueueAttributeNameApproximateNumberOfMessages)]); err != nil {
		return l, fmt.Errorf("its number of messages: %w", err)
	}
	// Among failed events there may be messages of a queue; SQS would move those alone, and
	// what they asked for is out of date.
	if l.Messages == 0 || strings.HasSuffix(strings.TrimSuffix(l.Queue, fifoEnd), failedEnd) {
		return l, nil
	}
	sources, err := client.ListDeadLetterSourceQueues(ctx, &sqs.ListDeadLetterSourceQueuesInput{QueueUrl: aws.String(url)})
	if err != nil {
		return l, fmt.Errorf("find the queue that they came from: %w", err)
	}
	switch len(sources.QueueUrls) {
	case 0:
		return l, nil
	case 1:
	default:
		return l, fmt.Errorf("%w: %s", ErrManySources, strings.Join(sources.QueueUrls, ", "))
	}
	l.Source = nameOf(sources.QueueUrls[0])
	source, err := attributesOf(ctx, client, sources.QueueUrls[0])
	l.SourceARN = source[string(types.QueueAttributeNameQueueArn)]
	return l, err
}

// ErrManySources: several queues give their dead letters to one. The stack makes
// none such, and where each message belongs cannot be told.
var ErrManySources = errors.New("it is the dead-letter queue of several queues")

func attributesOf(ctx context.Context, client Client, url string) (map[string]string, error) {
	out, err := client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl:       aws.String(url),
		AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameQueueArn, types.QueueAttributeNameApproximateNumberOfMessages},
	})
	if err != nil {
		return nil, fmt.Errorf("read its attributes: %w", err)
	}
	return out.Attributes, nil
}

func nameOf(url string) string { return url[strings.LastIndexByte(url, '/')+1:] }

// Failed is a move that SQS began and did not finish.
type Failed struct {
	Queue, Status, Reason string
}

func (e *Failed) Error() string {
	return fmt.Sprintf("the move of %s is %s: %s", e.Queue, strings.ToLower(e.Status), e.Reason)
}

// perSecond is how fast messages come back: report posts one message a second, and
// what was just mended should not be flooded.
const perSecond = 50

// Move has SQS move letters back, and waits until it has. The destination is
// named: report itself puts into the dead-letter queue what it cannot read, and of
// that SQS does not know where it came from. Wait is called between two looks.
func Move(ctx context.Context, client Client, l Letters, wait func(context.Context, time.Duration) error) (moved int, err error) {
	if !l.Movable() {
		return 0, fmt.Errorf("%s: %w", l.Queue, ErrNoSource)
	}
	if _, err := client.StartMessageMoveTask(ctx, &sqs.StartMessageMoveTaskInput{
		SourceArn: aws.String(l.ARN), DestinationArn: aws.String(l.SourceARN), MaxNumberOfMessagesPerSecond: aws.Int32(perSecond),
	}); err != nil {
		return 0, fmt.Errorf("move %s to %s: %w", l.Queue, l.Source, err)
	}
	for {
		out, err := client.ListMessageMoveTasks(ctx, &sqs.ListMessageMoveTasksInput{SourceArn: aws.String(l.ARN), MaxResults: aws.Int32(1)})
		if err != nil {
			return moved, fmt.Errorf("see how the move of %s goes: %w", l.Queue, err)
		}
		if len(out.Results) > 0 {
			r := out.Results[0]
			moved = int(r.ApproximateNumberOfMessagesMoved)
			switch status := aws.ToString(r.Status); status {
			case "COMPLETED":
				return moved, nil
			case "FAILED", "CANCELLED":
				return moved, &Failed{Queue: l.Queue, Status: status, Reason: aws.ToString(r.FailureReason)}
			}
		}
		if err := wait(ctx, time.Second); err != nil {
			return moved, fmt.Errorf("wait for the move of %s: %w", l.Queue, err)
		}
	}
}

// ErrNoSource: SQS moves only what another queue gave up.
var ErrNoSource = errors.New("these events reached no queue, SQS cannot move them")
