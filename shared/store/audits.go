package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rollcall/shared/spec"

	"rollcall/shared/network/leak"
	"rollcall/shared/snapshot"
)

// An audit record has the key audit#<cluster>, <time>#<interface>.
const auditPrefix = "audit#"

// keepAudits is how long audit records are kept.
const keepAudits = 366 * 24 * time.Hour

func auditKey(a leak.Audit) string { return a.At.UTC().Format(sortable) + "#" + a.Interface }

// RecordAudit writes the record of a delete, once: it gives the record that is
// there then, and whether this call wrote it. An audit record is never written
// over.
func (s *Store) RecordAudit(ctx context.Context, a leak.Audit) (_ leak.Audit, created bool, _ error) {
	a.Format = leak.AuditFormat
	err := s.put(ctx, item{
		pk: s.key(auditPrefix, a.Cluster), sk: auditKey(a),
		kind: "audit record", format: a.Format, version: 1, body: a, expires: a.At.Add(keepAudits),
	}, 0)
	var taken *Conflict
	if !errors.As(err, &taken) {
		return a, err == nil, err
	}
	list, err := oneByOne[leak.Audit](ctx, s, s.key(auditPrefix, a.Cluster), "#sk = :from", auditKey(a), leak.AuditFormat, "the audit records of "+a.Cluster)
	if err != nil {
		return leak.Audit{}, false, err
	}
	if len(list) == 0 {
		// It expired in between: nobody asks for what is a year old.
		return leak.Audit{}, false, fmt.Errorf("the audit record %s is gone: %w", auditKey(a), taken)
	}
	return list[0], false, nil
}

// Audits reads the audit records of a cluster since a time, oldest first.
func (s *Store) Audits(ctx context.Context, cluster string, from time.Time) ([]leak.Audit, error) {
	return since[leak.Audit](ctx, s, s.key(auditPrefix, cluster), from, leak.AuditFormat, "the audit records of "+cluster)
}

// Returned is what was given back to the subnets of a cluster since a time.
func (s *Store) Returned(ctx context.Context, cluster string, since time.Time) ([]snapshot.Returned, error) {
	list, err := s.Audits(ctx, cluster, since)
	if err != nil {
		return nil, err
	}
	return leak.Returned(list, leak.Deleted), nil
}

// RecordAudits lets a function write audit records and nothing else.
func RecordAudits() spec.Grant {
	return write("RecordAudits", "Every delete leaves a record of what was deleted, why, and by which run.", auditPrefix)
}
