package store

import (
	"context"
	"fmt"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/report"
)

// keepClosed is how long a closed incident is kept: well over the longest
// reopen time (168 hours) and the queue's retention, so that nothing late
// meets an empty place.
const keepClosed = 30 * 24 * time.Hour

// keepOpen is how long one that is not closed outlives its last write: report
// closes it long before, two weeks after the last that is heard of it, unless it
// was never said or nothing runs any more.
const keepOpen = 180 * 24 * time.Hour

// Incidents reads all incidents of a cluster, by check and resource. If some
// were written by a newer version of Rollcall, it gives the others and an
// error with *NewerFormat in it.
func (s *Store) Incidents(ctx context.Context, cluster string) ([]incident.Incident, error) {
	return partition[incident.Incident](ctx, s, s.key(incidentPrefix, cluster), report.Format, "the incidents of "+cluster)
}

// SaveIncident writes an incident over the version that was read, and gives it
// with its new version. It fails with *Conflict if that version is not the
// newest any more. Of one that is too large for an item of the table details
// are left out; what it gives is what it wrote.
func (s *Store) SaveIncident(ctx context.Context, inc incident.Incident) (incident.Incident, error) {
	if inc.Key.Spoke != s.spoke {
		return incident.Incident{}, fmt.Errorf("write the incident %s: %w", inc.Key.Name(), ErrForeign)
	}
	over := inc.Version
	inc.Version++
	inc.Format = max(inc.Format, report.Format) // an older release must know that it is not its own any more
	inc = inc.Fit(maxBody)
	it := item{
		pk: s.key(incidentPrefix, inc.Key.Cluster), sk: string(inc.Key.Check) + "#" + inc.Key.Resource,
		kind: "incident", format: inc.Format, version: inc.Version, body: inc,
	}
	it.expires = s.now().Add(keepOpen)
	if inc.State == incident.Closed {
		it.expires = inc.Resolved.Add(keepClosed)
	}
	if err := s.put(ctx, it, over); err != nil {
		return incident.Incident{}, err
	}
	return inc, nil
}
