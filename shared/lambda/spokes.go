package lambda

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"rollcall/shared/awsconf"
	"rollcall/shared/event"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"
)

// A function has one handler for each spoke that it hears of, made of that spoke's
// settings, credentials and records alone. What an invocation brings is sorted by whose
// it is before any handler sees it: within a handler a cluster's name, an instance's id
// or a subnet's is one spoke's, and nothing that is named there can be another's.

// spokeHandler is the handler of one spoke.
type spokeHandler struct {
	handle Handler
	around []Around
	// whole is what is done once for all spokes; nil for nothing.
	whole func(ctx context.Context, raw json.RawMessage) error
	log   *slog.Logger
}

// In is what a function is given for a spoke.
func (e Env) In(id spoke.ID) Env {
	hub := e.Config.Hub
	e.Config = e.Config.In(id)
	if hub.Account == "" {
		return e
	}
	if id.Hub() {
		e.Log = e.Log.With("account", hub.Account, "region", hub.Region)
		return e
	}
	e.Log = e.Log.With("account", id.Account, "region", id.Region)
	e.Metrics = e.Metrics.In(id)
	if hubs := e.Endpoints; hubs != nil {
		e.Endpoints = func(cluster string) (string, []byte, http.RoundTripper, bool) { return hubs(id.In(cluster)) }
	}
	reader := e.As(spec.SpokeReader)
	e.spokeReader, e.AWSAsReader = &reader, &reader
	return e
}

// Watched is AWS as what looks at the spoke: the function itself in the hub's own account
// and region, the spoke's role reader elsewhere.
func (e Env) Watched() aws.Config {
	if e.spokeReader != nil {
		return *e.spokeReader
	}
	return e.AWS
}

// Reading is the same with another way to read the spoke by (package askonce, or limits).
func (e Env) Reading(by func(aws.Config) aws.Config) Env {
	if e.spokeReader == nil {
		e.AWS = by(e.AWS)
		return e
	}
	reader := by(*e.spokeReader)
	e.spokeReader = &reader
	return e
}

// As is AWS in one of the spoke's roles; in the hub's own account and region the function
// itself.
func (e Env) As(role spec.SpokeRole) aws.Config {
	if e.Config.Spoke.Hub() {
		return e.AWS
	}
	return awsconf.Assume(e.AWS, awsconf.Role{
		ARN: e.Config.SpokeRole(role), Session: e.Function, ExternalID: e.Config.ExternalID, Region: e.Config.Spoke.Region,
	}, e.Now)
}

// AsksRelays is AWS as who asks the relays of the spoke's clusters: who reads in them. It is
// nil for the hub's own where the function is in the operator's VPC, and reaches them itself.
func (e Env) AsksRelays() *aws.Config {
	if e.Config.InVPC && e.Config.Spoke.Hub() {
		return nil
	}
	return e.AWSAsReader
}

// of is the handler of a spoke, made when it is first wanted.
func (f *Function) of(ctx context.Context, id spoke.ID) (*spokeHandler, error) {
	if h, ok := f.handlers[id]; ok {
		return h, nil
	}
	h := &spokeHandler{}
	e := f.env.In(id)
	h.log = e.Log
	e.Register = func(a Around) { h.around = append(h.around, a) }
	e.ForAll = func(do func(context.Context, json.RawMessage) error) { h.whole = do }
	var err error
	if h.handle, err = f.build(ctx, e); err != nil {
		return nil, fmt.Errorf("prepare %s: %w", f.name, err)
	}
	f.handlers[id] = h
	return h, nil
}

func (h *spokeHandler) invoke(ctx context.Context, raw json.RawMessage) (any, error) {
	for _, a := range h.around {
		a.Begin(raw)
	}
	answer, err := h.handle(ctx, raw)
	for _, a := range h.around {
		a.Flush(ctx)
	}
	return answer, err
}

// part is what an invocation brings for one spoke.
type part struct {
	of  spoke.ID
	raw json.RawMessage
	// messages are those of a batch.
	messages []string
}

// record is a message of a batch, as far as sorting it takes.
type record struct {
	MessageID string `json:"messageId"`
	Body      string `json:"body"`
}

// handleParts has each spoke's handler do its part. One spoke's trouble is its own: the
// messages of the others are not given back for it, and no schedule of the hub is
// repeated.
func (f *Function) handleParts(ctx context.Context, raw json.RawMessage) (any, error) {
	parts, batch := f.parts(ctx, raw)
	if len(parts) == 1 && parts[0].of.Hub() {
		h, err := f.of(ctx, spoke.ID{})
		if err != nil {
			return nil, err
		}
		if !batch {
			err = f.handleWhole(ctx, raw)
		}
		answer, wrong := h.invoke(ctx, parts[0].raw)
		return answer, errors.Join(err, wrong)
	}
	var failed []string
	var answer any
	var hubs error
	if !batch && len(parts) > 1 {
		hubs = f.handleWhole(ctx, raw)
	}
	for i, p := range parts {
		got, err := f.handlePart(ctx, p, len(parts)-i)
		switch a, ok := got.(event.Answer); {
		case err != nil && batch:
			failed = append(failed, p.messages...)
		case err != nil && p.of.Hub():
			hubs = errors.Join(hubs, err)
		case ok && batch:
			for _, m := range a.Failures {
				failed = append(failed, m.ID)
			}
		case p.of.Hub():
			answer = got
		}
	}
	if batch {
		return event.Failures(failed), nil
	}
	return answer, hubs
}

// handleWhole does what the hub's handler does once for all spokes, before any of them has
// its part, in half of the time at most: that is theirs, and what this does takes seconds.
func (f *Function) handleWhole(ctx context.Context, raw json.RawMessage) error {
	h, err := f.of(ctx, spoke.ID{})
	if err != nil || h.whole == nil {
		return err
	}
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/2)
		defer cancel()
	}
	return h.whole(ctx, raw)
}

// handlePart does one part, in its share of the time that is left.
func (f *Function) handlePart(ctx context.Context, p part, left int) (any, error) {
	h, err := f.of(ctx, p.of)
	if err != nil {
		return nil, err
	}
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/time.Duration(left))
		defer cancel()
	}
	answer, err := h.invoke(ctx, p.raw)
	if err != nil {
		f.metrics.Count("FailedSpokes", 1)
		f.metrics.Count(Failures, 1)
		h.log.ErrorContext(ctx, "what is of this account and region could not be done", "error", err.Error())
	}
	return answer, err
}

// parts sorts an invocation by whose it is, the hub's own first. What is forged, or of
// nobody that is watched, is counted and left out: nobody could ever do it.
func (f *Function) parts(ctx context.Context, raw json.RawMessage) (parts []part, batch bool) {
	whole := []part{{raw: raw}}
	if _, batch = event.Batch(raw); !batch {
		whose, ok := f.whose(ctx, raw, "")
		if !ok {
			return nil, false
		}
		ids := []spoke.ID{whose.Spoke}
		if whose.All {
			for _, s := range f.env.Config.Others() {
				ids = append(ids, s.ID)
			}
		}
		if len(ids) == 1 && ids[0].Hub() {
			return whole, false
		}
		for _, id := range ids {
			parts = append(parts, part{of: id, raw: addressed(raw, id)})
		}
		return parts, false
	}
	var b struct {
		Records []json.RawMessage `json:"Records"`
	}
	if json.Unmarshal(raw, &b) != nil {
		return whole, true
	}
	records := map[spoke.ID][]json.RawMessage{}
	messages := map[spoke.ID][]string{}
	all := true
	for _, one := range b.Records {
		var r record
		if json.Unmarshal(one, &r) != nil {
			return whole, true
		}
		whose, ok := f.whose(ctx, json.RawMessage(r.Body), r.MessageID)
		if !ok {
			all = false
			continue
		}
		records[whose.Spoke] = append(records[whose.Spoke], one)
		messages[whose.Spoke] = append(messages[whose.Spoke], r.MessageID)
	}
	if all && len(records[spoke.ID{}]) == len(b.Records) {
		return whole, true
	}
	for id, list := range records {
		// A list of what was JSON is JSON.
		part := part{of: id, messages: messages[id]}
		part.raw = slices.Concat([]byte(`{"Records":[`), bytes.Join(asBytes(list), []byte(",")), []byte(`]}`))
		parts = append(parts, part)
	}
	slices.SortFunc(parts, func(a, b part) int { return bytes.Compare([]byte(a.of.String()), []byte(b.of.String())) })
	return parts, true
}

func asBytes(list []json.RawMessage) [][]byte {
	all := make([][]byte, len(list))
	for i := range list {
		all[i] = list[i]
	}
	return all
}

// addressed is a schedule or a wish of all as if it were a spoke's own.
func addressed(raw json.RawMessage, id spoke.ID) json.RawMessage {
	var members map[string]json.RawMessage
	if id.Hub() || json.Unmarshal(raw, &members) != nil {
		return raw
	}
	account, err := json.Marshal(id.Account)
	region, wrong := json.Marshal(id.Region)
	if err != nil || wrong != nil || members["source"] == nil {
		return raw
	}
	members["account"], members["region"] = account, region
	out, err := json.Marshal(members)
	if err != nil {
		return raw
	}
	return out
}

// whose tells whose a message is; false for what is left out. What cannot be read is for
// the hub's handler, which has it dead-lettered.
func (f *Function) whose(ctx context.Context, body json.RawMessage, message string) (event.Whose, bool) {
	w, err := event.WhoseIs(body, f.env.Config.Hub)
	forged := new(event.Forged)
	switch {
	case errors.As(err, &forged):
		f.metrics.Count("ForgedEvents", 1)
		f.log.WarnContext(ctx, "an event is not whose it says, and is refused", "message", message, "type", forged.Type,
			"account", forged.Envelope.Account, "region", forged.Envelope.Region, "says", forged.Says)
		return event.Whose{}, false
	case err != nil:
		return event.Whose{}, true
	case !f.env.Config.Watched(w.Spoke):
		f.metrics.Count("ForeignAccounts", 1)
		f.log.WarnContext(ctx, "a message is of an account and region that are not watched, and is left out", "message", message,
			"account", w.Spoke.Account, "region", w.Spoke.Region)
		return event.Whose{}, false
	}
	return w, true
}
