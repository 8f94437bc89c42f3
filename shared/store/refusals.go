package store

import (
	"context"
	"errors"
	"time"

	"rollcall/shared/spec"

	"rollcall/shared/interaction"
)

// The audit records of refused requests have the key refusal#slack-actions, and
// <minute>#<reason> for those that nobody signed: one stands for all of its
// minute, so that a flood fills nothing; <time>#<id> for those of Slack.
const refusalKey = "refusal#slack-actions"

// keepRefusals is how long they are kept, as long as all audit records.
const keepRefusals = keepAudits

// RecordRefusal writes the record of a refused request, and tells whether it
// was written: an unsigned one is not where its minute and reason have one.
func (s *Store) RecordRefusal(ctx context.Context, r interaction.Record) (bool, error) {
	r.Format = interaction.RecordFormat
	sk := r.At.UTC().Truncate(time.Minute).Format(sortable) + "#" + string(r.Reason)
	if r.Reason.Signed() {
		sk = r.At.UTC().Format(sortable) + "#" + r.Request
	}
	err := s.put(ctx, item{
		pk: refusalKey, sk: sk, kind: "refusal", format: r.Format, version: 1, body: r, expires: r.At.Add(keepRefusals),
	}, 0)
	var there *Conflict
	if errors.As(err, &there) {
		return false, nil
	}
	return err == nil, err
}

// Refusals reads the records of refused requests since a time, oldest first.
func (s *Store) Refusals(ctx context.Context, from time.Time) ([]interaction.Record, error) {
	return since[interaction.Record](ctx, s, refusalKey, from, interaction.RecordFormat, "the refused requests")
}

// RecordRefusals lets a function write the audit records of refused requests,
// and nothing else.
func RecordRefusals() spec.Grant {
	return write("RecordRefusals", "Who tried what, and why it was refused, can be looked up for a year.", refusalKey)
}
