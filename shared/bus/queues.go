package bus

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"rollcall/shared/event"
	"rollcall/shared/report"
	"rollcall/shared/spoke"
)

// Queue is what sending to a queue takes.
type Queue interface {
	SendMessage(context.Context, *sqs.SendMessageInput, ...func(*sqs.Options)) (*sqs.SendMessageOutput, error)
}

var _ Queue = (*sqs.Client)(nil)

// Queues sends what detectors find to report, and asks join-check to look
// again.
type Queues struct {
	Client  Queue
	Results string // URL of the results queue (FIFO)
	// Aside is the URL of the results' dead-letter queue (FIFO).
	Aside string
	Joins string // URL of the join queue
	// Nodegroups is the URL of the queue of nodegroups to look at.
	Nodegroups string
	// Changes is the URL of the queue of incidents whose history is looked up.
	Changes string
	// Remedies is the URL of the queue of incidents that remedies may be for.
	Remedies string
	// Spoke is whose things the messages are about, and which they name.
	Spoke spoke.ID
}

// MaxBody is SQS's limit of a message (1 MiB since August 2025).
const MaxBody = 1 << 20

// SendResult sends an observation. Those of one cluster stay in order; the
// same observation sent twice within five minutes arrives once. One that is
// too large for a message goes in parts: of an error, some may have been taken,
// and to send them all again does no harm.
func (q Queues) SendResult(ctx context.Context, o report.Observation) error {
	o = o.For(q.Spoke)
	parts, err := o.Split(MaxBody)
	if err != nil {
		return err
	}
	for _, part := range parts {
		body, err := json.Marshal(part)
		if err != nil {
			return fmt.Errorf("encode the observation of %s: %w", o.Cluster, err)
		}
		_, err = q.Client.SendMessage(ctx, &sqs.SendMessageInput{
			QueueUrl:               aws.String(q.Results),
			MessageBody:            aws.String(string(body)),
			MessageGroupId:         aws.String(groupID(q.Spoke.In(o.Cluster))),
			MessageDeduplicationId: aws.String(digest(q.Spoke.In(part.ID))),
		})
		if err != nil {
			return fmt.Errorf("send the observation of %s to report: %w", o.Cluster, err)
		}
	}
	return nil
}

// maxReason is how much of a reason is sent beside a message that is set aside.
const maxReason = 400

// SetAside puts a message that nobody can read into the dead-letter queue, with
// the reason, so that its group does not wait for it. It keeps its group: moved
// back, it is in its cluster's order again. Set aside twice within five minutes it
// is there once.
func (q Queues) SetAside(ctx context.Context, m event.Message, reason string) error {
	in := &sqs.SendMessageInput{
		QueueUrl: aws.String(q.Aside), MessageBody: aws.String(m.Body),
		MessageGroupId: aws.String(groupID(m.Group)), MessageDeduplicationId: aws.String(digest(m.ID)),
	}
	if len(reason) > maxReason {
		reason = strings.ToValidUTF8(reason[:maxReason], "")
	}
	// Attributes count towards the size of a message (SQS, "Message quotas").
	if beside := len("Reason") + len("String") + len(reason); reason != "" && len(m.Body)+beside <= MaxBody {
		in.MessageAttributes = map[string]types.MessageAttributeValue{"Reason": {DataType: aws.String("String"), StringValue: aws.String(reason)}}
	}
	if _, err := q.Client.SendMessage(ctx, in); err != nil {
		return fmt.Errorf("set the message %s aside: %w", m.ID, err)
	}
	return nil
}

// maxDelay is the longest that SQS delays a message.
const maxDelay = 15 * time.Minute

// LookAgain asks join-check to call the roll of instances after the delay.
func (q Queues) LookAgain(ctx context.Context, instances []string, now time.Time, delay time.Duration) error {
	for some := range slices.Chunk(instances, maxReminded) {
		body, err := event.LookAgain(q.Spoke, some, now)
		if err != nil {
			return fmt.Errorf("encode the roll call of %d instances: %w", len(some), err)
		}
		_, err = q.Client.SendMessage(ctx, &sqs.SendMessageInput{
			QueueUrl:     aws.String(q.Joins),
			MessageBody:  aws.String(string(body)),
			DelaySeconds: seconds(delay),
		})
		if err != nil {
			return fmt.Errorf("ask for another roll call of %d instances: %w", len(some), err)
		}
	}
	return nil
}

// seconds is a delay as SQS takes it: rounded up, and never 0, as without
// DelaySeconds the queue's own delay counts.
func seconds(delay time.Duration) int32 {
	return int32(min(max(delay+time.Second-1, time.Second), maxDelay) / time.Second)
}

// maxReminded is how many instances one reminder is of: 25 KB, and a burst of a
// thousand is one message.
const maxReminded = 1000

// groupID is a cluster as a message group: SQS allows 128 characters, a
// cluster's name has at most 100, an account and a region before it 28 or more.
func groupID(cluster string) string {
	const most = 128
	switch {
	case cluster == "":
		return "no-cluster"
	case len(cluster) > most:
		return digest(cluster)
	}
	return cluster
}

func digest(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])
}
