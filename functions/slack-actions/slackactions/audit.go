package slackactions

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"sync"
	"time"

	"rollcall/functions/slack-actions/spec"
	"rollcall/shared/interaction"
	"rollcall/shared/lambda"
)

const (
	notPassedOn     = spec.NotPassedOn
	refusedRequests = spec.RefusedRequests
)

// audit keeps what was refused: for each that Slack signed a line in the log and a
// record in the table; of the others one line and one record for a minute and
// reason, so that a flood fills nothing. Each counts in the figures.
type audit struct {
	store   Audit
	log     *slog.Logger
	metrics *lambda.Metrics

	mu sync.Mutex
	// told is what was said of unsigned requests, by reason: there are as many
	// entries as reasons.
	told map[interaction.Reason]*tally
}

// tally is how many unsigned requests were refused for a reason since the last
// line, which was of a minute.
type tally struct {
	minute time.Time
	more   int
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
	a.metrics.Count(refusedRequests, 1)
	a.metrics.Gauge(refusedRequests, "Count", 1, lambda.Dimension{Name: "function", Value: spec.Name}, lambda.Dimension{Name: "reason", Value: string(r.Reason)})
	before := 0
	if !r.Reason.Signed() {
		var first bool
		if first, before = a.next(r.Reason, now); !first {
			return
		}
	}
	a.log.WarnContext(ctx, "refused", "audit", true, "reason", r.Reason, "signed", r.Reason.Signed(), "source", c.source, "request", record.Request, "bytes", record.Bytes,
		"user", record.User, "action", record.Action, "says", r.Says, "unsaid", before)
	if _, err := a.store.RecordRefusal(ctx, record); err != nil {
		a.log.ErrorContext(ctx, "the refusal could not be recorded; the line above is what there is", "error", err.Error())
	}
}

// next tells whether it is the first of its reason in this minute that this
// process sees, and how many came since the one before that was.
func (a *audit) next(r interaction.Reason, now time.Time) (first bool, before int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	minute := now.UTC().Truncate(time.Minute)
	t := a.told[r]
	if t != nil && t.minute.Equal(minute) {
		t.more++
		return false, 0
	}
	if a.told == nil {
		a.told = map[interaction.Reason]*tally{}
	}
	a.told[r] = &tally{minute: minute}
	if t != nil {
		before = t.more
	}
	return true, before
}

// short bounds what somebody else chose: 255 characters are Slack's limit of an
// action's id, and none of Rollcall's has more than 20.
func short(text string) string {
	runes := []rune(text)
	return string(runes[:min(len(runes), 60)])
}
