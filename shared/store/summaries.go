package store

import (
	"context"
	"time"

	"rollcall/shared/spec"

	"rollcall/shared/outbox"
	"rollcall/shared/report"
)

// A summary's record has the key summary#<cluster>, <id of the summary>.
const summaryPrefix = "summary#"

// keepSummaries is how long a summary is remembered: longer than a message can
// wait in the results queue and its dead-letter queue (4 and 14 days), so that
// none is said twice.
const keepSummaries = 30 * 24 * time.Hour

// RecordSummaries lets a function write the records of summaries and nothing
// else.
func RecordSummaries() spec.Grant {
	return write("RecordSummaries", "Each summary is said once: whether and where it was said outlives the function.", summaryPrefix)
}

// Postings reads the summaries of a cluster that were said, or are to be, by
// id. If some were written by a newer version of Rollcall, it gives the others
// and an error with *NewerFormat in it.
func (s *Store) Postings(ctx context.Context, cluster string) ([]outbox.Posting, error) {
	return partition[outbox.Posting](ctx, s, s.key(summaryPrefix, cluster), report.SummaryFormat, "the summaries of "+cluster)
}

// SavePosting writes a posting over the version that was read, and gives it
// with its new version. It fails with *Conflict if that version is not the
// newest any more.
func (s *Store) SavePosting(ctx context.Context, p outbox.Posting) (outbox.Posting, error) {
	over := p.Version
	p.Version++
	p.Summary.Format = max(p.Summary.Format, report.SummaryFormat)
	it := item{
		pk: s.key(summaryPrefix, p.Summary.Cluster), sk: p.Summary.ID,
		kind: "summary", format: p.Summary.Format, version: p.Version, body: p,
		expires: p.Summary.At.Add(keepSummaries),
	}
	if err := s.put(ctx, it, over); err != nil {
		return outbox.Posting{}, err
	}
	return p, nil
}
