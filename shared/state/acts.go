package state

import (
	"context"
	"errors"
	"time"

	"rollcall/shared/fn"
	"rollcall/shared/report"
)

// The audit record of a press has the key act#<cluster>, <time>#<id>.
const actPrefix = "act#"

// RecordAct writes the audit record of a press, once: a record that is there
// already stays as it is, and is no error. It tells whether this call wrote it.
func (s *Store) RecordAct(ctx context.Context, a report.ActRecord) (created bool, _ error) {
	a.Format, a.Audited = report.RecordFormat, true
	err := s.put(ctx, item{
		pk: actPrefix + a.Key.Cluster, sk: a.At.UTC().Format(sortable) + "#" + a.ID,
		kind: "audit record", format: a.Format, version: 1, body: a, expires: a.At.Add(keepAudits),
	}, 0)
	var taken *Conflict
	if errors.As(err, &taken) {
		return false, nil
	}
	return err == nil, err
}

// Acts reads the audit records of presses in a cluster since a time, oldest
// first.
func (s *Store) Acts(ctx context.Context, cluster string, from time.Time) ([]report.ActRecord, error) {
	return since[report.ActRecord](ctx, s, actPrefix+cluster, from, report.RecordFormat, "the presses of "+cluster)
}

// RecordActs lets a function write the audit records of presses and nothing
// else.
func RecordActs() fn.Grant {
	return write("RecordActs", "Every press of a button, allowed or refused, leaves a record of who pressed what, and what came of it.", actPrefix)
}
