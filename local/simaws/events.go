package simaws

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

	"rollcall/local/platform/wire"
)

// EventSink takes an event for a bus, as EventBridge would hand it to rules.
// bus is the name or ARN that the sender gave, "default" if none. A *wire.Error
// refuses the entry with its code.
type EventSink func(ctx context.Context, bus string, event json.RawMessage) error

// EventBridge's limits on one PutEvents call.
const (
	maxEntries    = 10
	maxEntryBytes = 256 << 10
	timeFieldSize = 14 // what the Time member counts in an entry's size
)

// putEvents checks the entries as EventBridge does and hands them to the sink.
// Entries succeed or fail one by one.
func (c *Cloud) putEvents(ctx context.Context, call *wire.Call, in *eventbridge.PutEventsInput) (*eventbridge.PutEventsOutput, error) {
	if n := len(in.Entries); n < 1 || n > maxEntries {
		what := fmt.Sprintf("length less than or equal to %d", maxEntries)
		if n == 0 {
			what = "length greater than or equal to 1"
		}
		return nil, wire.Errorf("ValidationException",
			"1 validation error detected: Value at 'entries' failed to satisfy constraint: Member must have %s", what)
	}
	total := 0
	for _, e := range in.Entries {
		total += entrySize(e)
	}
	if total > maxEntryBytes {
		return nil, wire.Errorf("ValidationException", "Total size of the entries in the request is over the limit.")
	}
	out := &eventbridge.PutEventsOutput{}
	for i, e := range in.Entries {
		id := eventID(call.RequestID, i)
		if err := c.putEvent(ctx, id, e); err != nil {
			code, message := "InternalFailure", "An internal failure occurred."
			var refused *wire.Error
			if errors.As(err, &refused) {
				code, message = refused.Code, refused.Message
			} else {
				c.cfg.Log.Error("event not taken", "error", err)
			}
			out.FailedEntryCount++
			out.Entries = append(out.Entries, types.PutEventsResultEntry{ErrorCode: &code, ErrorMessage: &message})
			continue
		}
		out.Entries = append(out.Entries, types.PutEventsResultEntry{EventId: &id})
	}
	return out, nil
}

// eventID is the id of the i-th event of a request: the request's own id with
// the entry's number in its second part.
func eventID(requestID string, i int) string {
	first, rest, _ := strings.Cut(requestID, "-")
	_, rest, _ = strings.Cut(rest, "-")
	return fmt.Sprintf("%s-%04x-%s", first, i+1, rest)
}

func entrySize(e types.PutEventsRequestEntry) int {
	n := len(aws.ToString(e.Source)) + len(aws.ToString(e.DetailType)) + len(aws.ToString(e.Detail))
	for _, r := range e.Resources {
		n += len(r)
	}
	if e.Time != nil {
		n += timeFieldSize
	}
	return n
}

// envelope is an event as rules and targets see it.
type envelope struct {
	Version    string          `json:"version"`
	ID         string          `json:"id"`
	DetailType string          `json:"detail-type"`
	Source     string          `json:"source"`
	Account    string          `json:"account"`
	Time       string          `json:"time"`
	Region     string          `json:"region"`
	Resources  []string        `json:"resources"`
	Detail     json.RawMessage `json:"detail"`
}

func (c *Cloud) putEvent(ctx context.Context, id string, e types.PutEventsRequestEntry) error {
	if err := checkEntry(e); err != nil {
		return err
	}
	at := c.cfg.Now()
	if e.Time != nil {
		at = *e.Time
	}
	event, err := json.Marshal(envelope{
		Version: "0", ID: id, DetailType: *e.DetailType, Source: *e.Source, Account: c.cfg.Account,
		Time: at.UTC().Format(time.RFC3339), Region: c.cfg.Region, Resources: append([]string{}, e.Resources...),
		Detail: json.RawMessage(*e.Detail),
	})
	if err != nil {
		return fmt.Errorf("write event: %w", err)
	}
	bus := aws.ToString(e.EventBusName)
	if bus == "" {
		bus = "default"
	}
	return c.cfg.Events(ctx, bus, event)
}

// checkEntry decides whether EventBridge would take an entry.
func checkEntry(e types.PutEventsRequestEntry) error {
	missing := func(name string) *wire.Error {
		return wire.Errorf("InvalidArgument", "Parameter %s is not valid. Reason: %s is a required argument.", name, name)
	}
	switch {
	case aws.ToString(e.Source) == "":
		return missing("Source")
	case strings.HasPrefix(*e.Source, "aws."):
		return wire.Errorf("NotAuthorizedForSourceException", "Not authorized for the source.")
	case aws.ToString(e.DetailType) == "":
		return missing("DetailType")
	case aws.ToString(e.Detail) == "":
		return missing("Detail")
	}
	var detail map[string]json.RawMessage
	if err := json.Unmarshal([]byte(*e.Detail), &detail); err != nil || detail == nil {
		return wire.Errorf("MalformedDetail", "Detail is malformed.")
	}
	return nil
}
