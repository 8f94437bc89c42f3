package bus

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"rollcall/shared/event"
	"rollcall/shared/report"
)

// LookForChanges asks change-check to look again for what was changed before
// an incident that was opened then.
func (q Queues) LookForChanges(ctx context.Context, key report.Key, opened time.Time, round int, now time.Time, delay time.Duration) error {
	body, err := event.LookForChanges(q.Spoke, key.Cluster, string(key.Check), key.Resource, opened, round, now)
	if err != nil {
		return fmt.Errorf("encode the reminder of %s %s: %w", key.Check, key.Resource, err)
	}
	_, err = q.Client.SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl:     aws.String(q.Changes),
		MessageBody:  aws.String(string(body)),
		DelaySeconds: seconds(delay),
	})
	if err != nil {
		return fmt.Errorf("ask for another look at the changes before %s %s: %w", key.Check, key.Resource, err)
	}
	return nil
}
