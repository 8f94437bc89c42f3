// Package bus publishes finding events on Rollcall's bus on EventBridge, for anyone.
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

	"rollcall/shared/incident"
	"rollcall/shared/network/leak"
	"rollcall/shared/nodegroup"
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
