package queue

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// The methods of the SQS API. They take and return what the SDK does, and
// their errors are *wire.Error with the codes of SQS.
//
// In the SDK's inputs DelaySeconds, VisibilityTimeout and WaitTimeSeconds are
// plain integers, and zero is not sent: zero means the queue's own value
// here, except in ChangeMessageVisibility, where the value is required.

// find returns the queue that a QueueUrl names. SQS accepts any host.
func (q *Queues) find(url *string) (*store, error) {
	if aws.ToString(url) == "" {
		return nil, missing("QueueUrl")
	}
	path := func(u string) string {
		if _, rest, ok := strings.Cut(u, "://"); ok {
			_, rest, _ = strings.Cut(rest, "/")
			return rest
		}
		return u
	}
	for _, s := range q.queues {
		if s.URL == *url || path(s.URL) == path(*url) {
			return s, nil
		}
	}
	return nil, noQueue()
}

// GetQueueUrl finds a queue by its name.
func (q *Queues) GetQueueUrl(in *sqs.GetQueueUrlInput) (*sqs.GetQueueUrlOutput, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, s := range q.queues {
		if s.Name == aws.ToString(in.QueueName) {
			return &sqs.GetQueueUrlOutput{QueueUrl: aws.String(s.URL)}, nil
		}
	}
	return nil, noQueue()
}

// SendMessage sends one message.
func (q *Queues) SendMessage(in *sqs.SendMessageInput) (*sqs.SendMessageOutput, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s, err := q.find(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	m := &message{
		body: aws.ToString(in.MessageBody), attributes: in.MessageAttributes,
		group: aws.ToString(in.MessageGroupId), dedup: aws.ToString(in.MessageDeduplicationId),
		trace: traceOf(in.MessageSystemAttributes),
	}
	id, sequence, refused := q.send(s, m, seconds(in.DelaySeconds))
	if refused != nil {
		return nil, refused
	}
	out := &sqs.SendMessageOutput{MessageId: aws.String(id), MD5OfMessageBody: aws.String(bodyDigest(m.body))}
	if d := attributeDigest(m.attributes); d != "" {
		out.MD5OfMessageAttributes = aws.String(d)
	}
	if s.FIFO {
		out.SequenceNumber = aws.String(fmt.Sprintf("%020d", sequence))
	}
	return out, nil
}

// ReceiveMessage receives up to ten messages, waiting for the first one if
// long polling is asked for.
func (q *Queues) ReceiveMessage(in *sqs.ReceiveMessageInput) (*sqs.ReceiveMessageOutput, error) {
	max := int(in.MaxNumberOfMessages)
	if max == 0 {
		max = 1
	}
	if max < 1 || max > 10 {
		return nil, invalid("Value %d for parameter MaxNumberOfMessages is invalid. Reason: Must be between 1 and 10, if provided.", max)
	}
	if in.WaitTimeSeconds < 0 || in.WaitTimeSeconds > 20 {
		return nil, invalid("Value %d for parameter WaitTimeSeconds is invalid. Reason: Must be >= 0 and <= 20, if provided.", in.WaitTimeSeconds)
	}
	if d := seconds(in.VisibilityTimeout); d < 0 || d > maxVisibility {
		return nil, invalid("Value %d for parameter VisibilityTimeout is invalid. Reason: Must be between 0 and 43200.", in.VisibilityTimeout)
	}
	var end time.Time
	for {
		q.mu.Lock()
		s, err := q.find(in.QueueUrl)
		if err != nil {
			q.mu.Unlock()
			return nil, err
		}
		now := q.clock.Now()
		if end.IsZero() {
			end = now.Add(s.Wait)
			if in.WaitTimeSeconds > 0 {
				end = now.Add(seconds(in.WaitTimeSeconds))
			}
		}
		hide := *s.Visibility
		if in.VisibilityTimeout > 0 {
			hide = seconds(in.VisibilityTimeout)
		}
		got := q.take(s, now, wish{max: max, hide: q.atLeastFloor(hide)})
		if len(got) > 0 || !now.Before(end) {
			out := &sqs.ReceiveMessageOutput{}
			for _, m := range got {
				out.Messages = append(out.Messages, present(m, in))
			}
			q.mu.Unlock()
			return out, nil
		}
		wait, changed := q.until(s, now, end), s.changed
		q.mu.Unlock()
		if !q.wait(context.Background(), changed, wait) {
			return &sqs.ReceiveMessageOutput{}, nil
		}
	}
}

// atLeastFloor stretches a timeout to the floor, see Options. Zero stays.
func (q *Queues) atLeastFloor(hide time.Duration) time.Duration {
	if floor := q.clock.Stage(q.floor); hide > 0 && hide < floor {
		return floor
	}
	return hide
}

// present chooses the attributes that the caller asked for.
func present(m *message, in *sqs.ReceiveMessageInput) types.Message {
	out := types.Message{
		MessageId: aws.String(m.id), ReceiptHandle: aws.String(m.receipt),
		Body: aws.String(m.body), MD5OfBody: aws.String(bodyDigest(m.body)),
	}
	wanted := make(map[string]bool)
	for _, n := range in.MessageSystemAttributeNames {
		wanted[string(n)] = true
	}
	//lint:ignore SA1019 the AWS CLI v1 and older SDKs still send it
	for _, n := range in.AttributeNames {
		wanted[string(n)] = true
	}
	for name, value := range m.system() {
		if wanted["All"] || wanted[name] {
			if out.Attributes == nil {
				out.Attributes = make(map[string]string)
			}
			out.Attributes[name] = value
		}
	}
	for name, value := range m.attributes {
		if !asked(in.MessageAttributeNames, name) {
			continue
		}
		if out.MessageAttributes == nil {
			out.MessageAttributes = make(map[string]types.MessageAttributeValue)
		}
		out.MessageAttributes[name] = value
	}
	if d := attributeDigest(out.MessageAttributes); d != "" {
		out.MD5OfMessageAttributes = aws.String(d)
	}
	return out
}

// asked tells if a list of message attribute names ("All", ".*", "bar.*" or
// plain) covers a name.
func asked(names []string, name string) bool {
	for _, n := range names {
		if n == "All" || n == ".*" || n == name {
			return true
		}
		if prefix, ok := strings.CutSuffix(n, ".*"); ok && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// DeleteMessage deletes a received message. A handle that is no longer the
// last one of its message deletes nothing and is no error, as in SQS.
func (q *Queues) DeleteMessage(in *sqs.DeleteMessageInput) (*sqs.DeleteMessageOutput, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s, err := q.find(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	if aws.ToString(in.ReceiptHandle) == "" {
		return nil, missing("ReceiptHandle")
	}
	if m, ok := s.receipts[*in.ReceiptHandle]; ok {
		s.remove(m)
		s.compact()
	}
	return &sqs.DeleteMessageOutput{}, nil
}

// ChangeMessageVisibility sets anew, from now, how long a message in flight
// stays hidden.
func (q *Queues) ChangeMessageVisibility(in *sqs.ChangeMessageVisibilityInput) (*sqs.ChangeMessageVisibilityOutput, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s, err := q.find(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	d := seconds(in.VisibilityTimeout)
	if d < 0 || d > maxVisibility {
		return nil, invalid("Value %d for parameter VisibilityTimeout is invalid. Reason: Must be between 0 and 43200.", in.VisibilityTimeout)
	}
	m, ok := s.receipts[aws.ToString(in.ReceiptHandle)]
	if !ok {
		return nil, invalid("Value %s for parameter ReceiptHandle is invalid. Reason: Message does not exist or is not available for visibility timeout change.", aws.ToString(in.ReceiptHandle))
	}
	now := q.clock.Now()
	if !m.inFlight(now) {
		return nil, invalid("Value %s for parameter ReceiptHandle is invalid. Reason: Message does not exist or is not available for visibility timeout change.", aws.ToString(in.ReceiptHandle))
	}
	if !m.held {
		d = q.atLeastFloor(d)
	}
	m.visible = now.Add(d)
	s.wake()
	return &sqs.ChangeMessageVisibilityOutput{}, nil
}

// PurgeQueue deletes all messages, at most once in 60 seconds.
func (q *Queues) PurgeQueue(in *sqs.PurgeQueueInput) (*sqs.PurgeQueueOutput, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s, err := q.find(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	now := q.clock.Now()
	if !s.purged.IsZero() && now.Sub(s.purged) < time.Minute {
		return nil, purgeInProgress(s.Name)
	}
	s.purge(now)
	return &sqs.PurgeQueueOutput{}, nil
}

func seconds(n int32) time.Duration { return time.Duration(n) * time.Second }

func traceOf(attributes map[string]types.MessageSystemAttributeValue) string {
	return aws.ToString(attributes[string(types.MessageSystemAttributeNameForSendsAWSTraceHeader)].StringValue)
}
