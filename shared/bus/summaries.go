package bus

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"rollcall/shared/report"
)

// SendSummary sends a summary to report, in order with the cluster's
// observations. The same summary sent twice within five minutes arrives once;
// what comes later report knows by its id. A day's cleanup keeps its id while
// it grows: what was added is not a repeat.
func (q Queues) SendSummary(ctx context.Context, s report.Summary) error {
	s, err := s.For(q.Spoke).Fit(report.MaxSummary)
	if err != nil {
		return err
	}
	body, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encode the summary %s: %w", s.ID, err)
	}
	same := s.ID
	if s.Kind == report.CleanupSummary {
		same = string(body)
	}
	_, err = q.Client.SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl:               aws.String(q.Results),
		MessageBody:            aws.String(string(body)),
		MessageGroupId:         aws.String(groupID(q.Spoke.In(s.Cluster))),
		MessageDeduplicationId: aws.String(digest(q.Spoke.In(same))),
	})
	if err != nil {
		return fmt.Errorf("send the summary %s to report: %w", s.ID, err)
	}
	return nil
}
