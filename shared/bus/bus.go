// Package bus sends what Rollcall has to tell: finding events to its bus on
// EventBridge, for anyone, and observations and reminders to its own queues.
package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"rollcall/shared/event"
	"rollcall/shared/incident"
	"rollcall/shared/network/leak"
	"rollcall/shared/nodegroup"
	"rollcall/shared/report"
	"rollcall/shared/spoke"
)

// Source is the source of Rollcall's events.
const Source = "rollcall"

// DetailType is the detail-type of a finding event: "Rollcall Incident Opened".
func DetailType(kind incident.EventKind) string { return kind.DetailType() }

// Putter is what telling the bus takes.
type Putter interface {
	PutEvents(context.Context, *eventbridge.PutEventsInput, ...func(*eventbridge.Options)) (*eventbridge.PutEventsOutput, error)
}

var _ Putter = (*eventbridge.Client)(nil)

// Bus sends finding events.
type Bus struct {
	client Putter
	name   string
}

// New makes a bus of that name or ARN.
func New(client Putter, name string) *Bus { return &Bus{client: client, name: name} }

// EventBridge's limits of one PutEvents: entries, and bytes of all of them
// together (256 KB).
const (
	maxEntries = 10
	maxBytes   = 256 << 10
)

// Tell sends events in their order. An error may come after some were taken;
// to send them all again does no harm, as each keeps its id.
func (b *Bus) Tell(ctx context.Context, events []incident.Event) error {
	list := make([]types.PutEventsRequestEntry, 0, len(events))
	for _, e := range events {
		entry, err := b.entry(e)
		if err != nil {
			return err
		}
		list = append(list, entry)
	}
	return b.send(ctx, list)
}

// send puts entries on the bus, as many at once as EventBridge takes.
func (b *Bus) send(ctx context.Context, list []types.PutEventsRequestEntry) error {
	var entries []types.PutEventsRequestEntry
	size := 0
	for _, entry := range list {
		n := sizeOf(entry)
		if len(entries) == maxEntries || size+n > maxBytes {
			if err := b.put(ctx, entries); err != nil {
				return err
			}
			entries, size = nil, 0
		}
		entries, size = append(entries, entry), size+n
	}
	if len(entries) == 0 {
		return nil
	}
	return b.put(ctx, entries)
}

func (b *Bus) entry(e incident.Event) (types.PutEventsRequestEntry, error) {
	detail, err := detail(e)
	if err != nil {
		return types.PutEventsRequestEntry{}, fmt.Errorf("event %s: %w", e.ID, err)
	}
	entry := b.pack(DetailType(e.Kind), detail, e.At)
	if n := sizeOf(entry); n > maxBytes {
		return types.PutEventsRequestEntry{}, fmt.Errorf("event %s: %d bytes, EventBridge takes %d: %w", e.ID, n, maxBytes, ErrTooLarge)
	}
	return entry, nil
}

// pack makes an entry for the bus.
func (b *Bus) pack(detailType string, detail []byte, at time.Time) types.PutEventsRequestEntry {
	return types.PutEventsRequestEntry{
		EventBusName: &b.name,
		Source:       aws.String(Source),
		DetailType:   aws.String(detailType),
		Detail:       aws.String(string(detail)),
		Time:         aws.Time(at),
	}
}

// detail is the event as JSON. One that is too large goes without its longest
// lists: what happened is worth more than every line of evidence.
func detail(e incident.Event) ([]byte, error) {
	// The other members of an entry (bus name, source, detail-type, time) take
	// well under 2 KB.
	const room = maxBytes - 2<<10
	text, err := json.Marshal(e)
	if err != nil || len(text) <= room {
		return text, err
	}
	e.Evidence, e.Instances, e.Blind, e.Covers = nil, nil, nil, nil
	e.Why, e.Fix.Text, e.Fix.Command = clip(e.Why), clip(e.Fix.Text), ""
	e.Title = clip(e.Title)
	return json.Marshal(e)
}

// clip cuts a text that no person reads to its end.
func clip(s string) string {
	const most = 4 << 10
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// sizeOf counts an entry as EventBridge does: 14 bytes for the time, and the
// texts in UTF-8 ("Calculating PutEvents event entry size").
func sizeOf(e types.PutEventsRequestEntry) int {
	n := len(aws.ToString(e.Source)) + len(aws.ToString(e.DetailType)) + len(aws.ToString(e.Detail))
	if e.Time != nil {
		n += 14
	}
	for _, r := range e.Resources {
		n += len(r)
	}
	return n
}

func (b *Bus) put(ctx context.Context, entries []types.PutEventsRequestEntry) error {
	out, err := b.client.PutEvents(ctx, &eventbridge.PutEventsInput{Entries: entries})
	if err != nil {
		return fmt.Errorf("put %d events on the bus: %w", len(entries), err)
	}
	if out.FailedEntryCount == 0 {
		return nil
	}
	// EventBridge answers 200 and tells of each entry: the failed ones have a code.
	e := &Refused{Failed: int(out.FailedEntryCount), Of: len(entries)}
	for _, r := range out.Entries {
		if code := aws.ToString(r.ErrorCode); code != "" {
			e.Code, e.Message = code, aws.ToString(r.ErrorMessage)
			break
		}
	}
	return e
}

// ErrTooLarge: an event does not fit into an entry, however much of it is left out.
var ErrTooLarge = errors.New("the event is too large")

// Refused are events that EventBridge did not take, in an answer that
// otherwise was well.
type Refused struct {
	Failed, Of int
	// Code and Message are those of the first.
	Code, Message string
}

func (e *Refused) Error() string {
	return fmt.Sprintf("put events on the bus: %d of %d were refused (%s: %s)", e.Failed, e.Of, e.Code, e.Message)
}

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

// TellInterfaces sends the events of deleted interfaces. An error may come
// after some were taken; to send them all again does no harm, as each keeps
// its id.
func (b *Bus) TellInterfaces(ctx context.Context, events []leak.Event) error {
	entries := make([]types.PutEventsRequestEntry, 0, len(events))
	for _, e := range events {
		detail, err := json.Marshal(e)
		if err != nil {
			return fmt.Errorf("event %s: %w", e.ID, err)
		}
		entries = append(entries, b.pack(leak.DetailType, detail, e.At))
	}
	return b.send(ctx, entries)
}

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

// TellWeek sends the event of a week. To send it again does no harm, as it keeps its id.
func (b *Bus) TellWeek(ctx context.Context, w incident.Week) error {
	detail, err := w.Encode(incident.MaxWeek)
	if err != nil {
		return err
	}
	if detail == nil {
		return fmt.Errorf("event %s: %w", w.ID, ErrTooLarge)
	}
	return b.send(ctx, []types.PutEventsRequestEntry{b.pack(incident.WeekType, detail, w.At)})
}
