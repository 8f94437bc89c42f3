package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"sync"
	"time"

	"rollcall/functions/slack-actions/spec"
	"rollcall/shared/interaction"
	"rollcall/shared/run"
)

const (
	notPassedOn     = spec.NotPassedOn
	refusedRequests = spec.RefusedRequests
)

// audit keeps what was refused: a line in the log and a figure for each, and a
// record in the table: for each that Slack signed, and of the others one for a
// minute and reason, so that a flood fills nothing.
type audit struct {
	store   Audit
	log     *slog.Logger
	metrics *run.Metrics

	mu sync.Mutex
	// told is the last minute of which there is a record, by reason: those after
	// it need not ask the table.
	told map[interaction.Reason]time.Time
}

// refused never fails: what cannot be recorded stands in the log.
func (a *audit) refused(ctx context.Context, c *call, r *interaction.Refusal, now time.Time) {
	record := interaction.Record{
		At: now.UTC(), Reason: r.Reason, Says: r.Says, Source: c.source, Request: c.id, Bytes: len(c.Body),
		User: c.payload.User, Team: c.payload.Team, Channel: c.payload.Channel, TS: c.payload.TS,
	}
	if c.id == "" {
		sum := sha256.Sum256(c.Body)
		record.Request = hex.EncodeToString(sum[:])
	}
	if len(c.payload.Actions) > 0 {
		record.Action = short(c.payload.Actions[0].ID)
	}
	a.log.WarnContext(ctx, "refused", "audit", true, "reason", r.Reason, "signed", r.Reason.Signed(), "source", c.source, "request", record.Request, "bytes", record.Bytes,
		"user", record.User, "action", record.Action, "says", r.Says)
	a.metrics.Count(refusedRequests, 1)
	a.metrics.Gauge(refusedRequests, "Count", 1, run.Dimension{Name: "function", Value: spec.Name}, run.Dimension{Name: "reason", Value: string(r.Reason)})
	if !r.Reason.Signed() && !a.next(r.Reason, now) {
		return
	}
	if _, err := a.store.RecordRefusal(ctx, record); err != nil {
		a.log.ErrorContext(ctx, "the refusal could not be recorded; the line above is what there is", "error", err.Error())
	}
}

// next tells whether it is the first of its reason in this minute that this
// process sees.
func (a *audit) next(r interaction.Reason, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	minute := now.UTC().Truncate(time.Minute)
	if a.told[r].Equal(minute) {
		return false
	}
	if a.told == nil {
		a.told = map[interaction.Reason]time.Time{}
	}
	a.told[r] = minute
	return true
}

// short bounds what somebody else chose: 255 characters are Slack's limit of an
// action's id, and none of Rollcall's has more than 20.
func short(text string) string {
	runes := []rune(text)
	return string(runes[:min(len(runes), 60)])
}
