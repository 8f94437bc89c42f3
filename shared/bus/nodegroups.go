package bus

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"rollcall/shared/event"
	"rollcall/shared/nodegroup"
)

// TellNodegroups sends the changes of nodegroups in their order. An error may
// come after some were taken; to send them all again does no harm, as each
// keeps its id.
func (b *Bus) TellNodegroups(ctx context.Context, events []nodegroup.Event) error {
	entries := make([]types.PutEventsRequestEntry, 0, len(events))
	for _, e := range events {
		detail, err := json.Marshal(e)
		if err != nil {
			return fmt.Errorf("event %s: %w", e.ID, err)
		}
		entries = append(entries, b.pack(nodegroup.DetailType, detail, e.At))
	}
	return b.send(ctx, entries)
}

// LookAtNodegroup asks nodegroup-watch to look at a nodegroup after the delay.
func (q Queues) LookAtNodegroup(ctx context.Context, cluster, name string, now time.Time, delay time.Duration) error {
	body, err := event.LookAtNodegroup(q.Spoke, cluster, name, now)
	if err != nil {
		return fmt.Errorf("encode the reminder of nodegroup %s: %w", name, err)
	}
	_, err = q.Client.SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl:     aws.String(q.Nodegroups),
		MessageBody:  aws.String(string(body)),
		DelaySeconds: seconds(delay),
	})
	if err != nil {
		return fmt.Errorf("ask for another look at nodegroup %s: %w", name, err)
	}
	return nil
}
