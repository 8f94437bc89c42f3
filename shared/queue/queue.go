// Package queue sends Rollcall's own messages: observations, presses and results to report,
// reminders to the functions that look again, turns to sweep, and news to targets.
package queue

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"rollcall/shared/event/inbox"
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
		if err := ordered(ctx, q.Client, q.Results, groupID(q.Spoke.Qualify(o.Cluster)), q.Spoke.Qualify(part.ID), body); err != nil {
			return fmt.Errorf("send the observation of %s to report: %w", o.Cluster, err)
		}
	}
	return nil
}

// ordered sends a message behind the others of its group. The same id sent twice within
// five minutes arrives once.
func ordered(ctx context.Context, client Queue, url, group, id string, body []byte) error {
	_, err := client.SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl: &url, MessageBody: aws.String(string(body)), MessageGroupId: &group, MessageDeduplicationId: aws.String(digest(id)),
	})
	return err
}

// delayed sends a message that arrives after a delay.
func delayed(ctx context.Context, client Queue, url string, body []byte, delay time.Duration) error {
	_, err := client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String(string(body)), DelaySeconds: seconds(delay)})
	return err
}

// maxReason is how much of a reason is sent beside a message that is set aside.
const maxReason = 400

// SetAside puts a message that cannot be read into the dead-letter queue, with
// the reason, so that its group does not wait for it. It keeps its group: moved
// back, it is in its cluster's order again. Set aside twice within five minutes it
// is there once.
func (q Queues) SetAside(ctx context.Context, m inbox.Message, reason string) error {
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
		body, err := inbox.LookAgain(q.Spoke, some, now)
		if err != nil {
			return fmt.Errorf("encode the roll call of %d instances: %w", len(some), err)
		}
		if err := delayed(ctx, q.Client, q.Joins, body, delay); err != nil {
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

// LookForChanges asks change-check to look again for what was changed before
// an incident that was opened then.
func (q Queues) LookForChanges(ctx context.Context, key report.Key, opened time.Time, round int, now time.Time, delay time.Duration) error {
	body, err := inbox.LookForChanges(q.Spoke, key.Cluster, string(key.Check), key.Resource, opened, round, now)
	if err != nil {
		return fmt.Errorf("encode the reminder of %s %s: %w", key.Check, key.Resource, err)
	}
	if err := delayed(ctx, q.Client, q.Changes, body, delay); err != nil {
		return fmt.Errorf("ask for another look at the changes before %s %s: %w", key.Check, key.Resource, err)
	}
	return nil
}

// LookAtNodegroup asks nodegroup-watch to look at a nodegroup after the delay.
func (q Queues) LookAtNodegroup(ctx context.Context, cluster, name string, now time.Time, delay time.Duration) error {
	body, err := inbox.LookAtNodegroup(q.Spoke, cluster, name, now)
	if err != nil {
		return fmt.Errorf("encode the reminder of nodegroup %s: %w", name, err)
	}
	if err := delayed(ctx, q.Client, q.Nodegroups, body, delay); err != nil {
		return fmt.Errorf("ask for another look at nodegroup %s: %w", name, err)
	}
	return nil
}

// SendPress passes on a press in Slack: the very bytes whose digest
// its record has.
func (q Queues) SendPress(ctx context.Context, m report.PressMessage) error {
	return q.sendBody(ctx, report.PressKind, m.Of, m.ID, m.Body)
}

// SendProposal sends a remedy's plan to report.
func (q Queues) SendProposal(ctx context.Context, p report.Proposal) error {
	p.Head = p.For(report.ProposalKind)
	return q.send(ctx, p.Head, p)
}

// SendRemedyResult tells report what a remedy did.
func (q Queues) SendRemedyResult(ctx context.Context, d report.RemedyResult) error {
	d.Head = d.For(report.RemedyResultKind)
	return q.send(ctx, d.Head, d)
}

// SendChanges sends report what was changed before an incident.
func (q Queues) SendChanges(ctx context.Context, c report.Changes) error {
	c.Head = c.For(report.ChangesKind)
	return q.send(ctx, c.Head, c)
}

// SendAlertChange sends report what a responder did with an incident's alert.
func (q Queues) SendAlertChange(ctx context.Context, a report.AlertChange) error {
	a.Head = a.For(report.AlertChangeKind)
	return q.send(ctx, a.Head, a)
}

// send puts a message behind the others of its cluster.
func (q Queues) send(ctx context.Context, h report.Head, message any) error {
	body, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("encode the %s of %s: %w", h.Kind, h.Key.SpokeCluster(), err)
	}
	return q.sendBody(ctx, h.Kind, h.Key.SpokeCluster(), h.ID, body)
}

// sendBody sends what is encoded. The same message sent twice within five minutes
// arrives once.
func (q Queues) sendBody(ctx context.Context, kind string, of spoke.Cluster, id string, body []byte) error {
	if err := ordered(ctx, q.Client, q.Results, groupID(of.String()), of.Qualify(kind+"/"+id), body); err != nil {
		return fmt.Errorf("send the %s of %s to report: %w", kind, of, err)
	}
	return nil
}

// RemedyAgain asks remediate to take an event up again after the delay.
func (q Queues) RemedyAgain(ctx context.Context, event string, delay time.Duration) error {
	if err := delayed(ctx, q.Client, q.Remedies, []byte(event), delay); err != nil {
		return fmt.Errorf("ask for another look at a remedy: %w", err)
	}
	return nil
}

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
	if err := ordered(ctx, q.Client, q.Results, groupID(q.Spoke.Qualify(s.Cluster)), q.Spoke.Qualify(same), body); err != nil {
		return fmt.Errorf("send the summary %s to report: %w", s.ID, err)
	}
	return nil
}

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
	if err := ordered(ctx, q.Client, q.URL, digest(target+"\n"+about), target+"\n"+id, body); err != nil {
		return fmt.Errorf("queue the event %s for %s: %w", id, target, err)
	}
	return nil
}

// SetAside puts a message that a target does not take into the dead-letter queue, with the
// reason, so that what comes after it does not wait.
func (q TargetQueue) SetAside(ctx context.Context, m inbox.Message, reason string) error {
	return Queues{Client: q.Client, Aside: q.Dead}.SetAside(ctx, m, reason)
}

// maxHold is the longest that a message may be hidden, but for the time that it was in
// work: 12 hours from when it was received (SQS API reference, ChangeMessageVisibility).
const maxHold = 11 * time.Hour

// HoldBack has a message come again after a time, and not when the queue's own is over.
func (q TargetQueue) HoldBack(ctx context.Context, m inbox.Message, wait time.Duration) error {
	wait = min(max(wait, 0), maxHold)
	_, err := q.Client.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{
		QueueUrl: aws.String(q.URL), ReceiptHandle: aws.String(m.Handle), VisibilityTimeout: int32((wait + time.Second - 1) / time.Second),
	})
	if err != nil {
		return fmt.Errorf("hold back the message %s: %w", m.ID, err)
	}
	return nil
}

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
		body, err := inbox.SweepCluster(q.Spoke, s.Cluster, s.Account, s.Region, s.Due)
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
