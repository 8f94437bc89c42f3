package bus

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"rollcall/shared/report"
	"rollcall/shared/spoke"
)

// SendPress passes on what somebody pressed in Slack: the very bytes whose digest
// its record has.
func (q Queues) SendPress(ctx context.Context, m report.PressMessage) error {
	return q.sendBody(ctx, report.PressKind, m.Of, m.ID, m.Body)
}

// SendProposal sends a remedy's plan to report.
func (q Queues) SendProposal(ctx context.Context, p report.Proposal) error {
	p.Format, p.Kind, p.Cluster = report.FormatOf(p.Key, report.ProposalFormat), report.ProposalKind, p.Key.Cluster
	return q.send(ctx, p.Kind, p.Key.Of(), p.ID, p)
}

// SendRemedyResult tells report what a remedy did.
func (q Queues) SendRemedyResult(ctx context.Context, d report.RemedyResult) error {
	d.Format, d.Kind, d.Cluster = report.FormatOf(d.Key, report.RemedyResultFormat), report.RemedyResultKind, d.Key.Cluster
	return q.send(ctx, d.Kind, d.Key.Of(), d.ID, d)
}

// SendChanges sends report what was changed before an incident.
func (q Queues) SendChanges(ctx context.Context, c report.Changes) error {
	c.Format, c.Kind, c.Cluster = report.FormatOf(c.Key, report.ChangesFormat), report.ChangesKind, c.Key.Cluster
	return q.send(ctx, c.Kind, c.Key.Of(), c.ID, c)
}

// send puts a message behind the others of its cluster.
func (q Queues) send(ctx context.Context, kind string, of spoke.Cluster, id string, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode the %s of %s: %w", kind, of, err)
	}
	return q.sendBody(ctx, kind, of, id, body)
}

// sendBody sends what is encoded. The same message sent twice within five minutes
// arrives once.
func (q Queues) sendBody(ctx context.Context, kind string, of spoke.Cluster, id string, body []byte) error {
	_, err := q.Client.SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl:               aws.String(q.Results),
		MessageBody:            aws.String(string(body)),
		MessageGroupId:         aws.String(groupID(of.String())),
		MessageDeduplicationId: aws.String(digest(of.In(kind + "/" + id))),
	})
	if err != nil {
		return fmt.Errorf("send the %s of %s to report: %w", kind, of, err)
	}
	return nil
}

// RemedyAgain asks remediate to take an event up again after the delay.
func (q Queues) RemedyAgain(ctx context.Context, event string, delay time.Duration) error {
	_, err := q.Client.SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl: aws.String(q.Remedies), MessageBody: aws.String(event), DelaySeconds: seconds(delay),
	})
	if err != nil {
		return fmt.Errorf("ask for another look at a remedy: %w", err)
	}
	return nil
}
