// Package outgoing keeps what Rollcall publishes: incidents, summaries, and what each target
// besides Slack was told of them.
package outgoing

import (
	"context"
	"fmt"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/outbox"
	"rollcall/shared/report"
	"rollcall/shared/spec"
	"rollcall/shared/store/table"
	"rollcall/shared/target/message"
)

// Outgoing reads and writes these records of a table.
type Outgoing struct{ t *table.Table }

// New reads and writes them in the table.
func New(t *table.Table) Outgoing { return Outgoing{t} }

const incidentPrefix = "incident#"

// KeepClosed is how long a closed incident is kept: well over the longest
// reopen time (168 hours) and the queue's retention, so that nothing late
// meets an empty place.
const KeepClosed = 30 * 24 * time.Hour

// keepOpen is how long one that is not closed outlives its last write: report
// closes it long before, two weeks after the last that is heard of it, unless it
// was never said or nothing runs any more.
const keepOpen = 180 * 24 * time.Hour

// Incidents reads all incidents of a cluster, by check and resource. If some
// were written by a newer version of Rollcall, it gives the others and an
// error with *NewerFormat in it.
func (s Outgoing) Incidents(ctx context.Context, cluster string) ([]incident.Incident, error) {
	return table.Partition[incident.Incident](ctx, s.t, s.t.Key(incidentPrefix, cluster), report.Format, "the incidents of "+cluster)
}

// SaveIncident writes an incident over the version that was read, and gives it
// with its new version. It fails with *Conflict if that version is not the
// newest any more. Of one that is too large for an item of the table details
// are left out; what it gives is what it wrote.
func (s Outgoing) SaveIncident(ctx context.Context, inc incident.Incident) (incident.Incident, error) {
	if inc.Key.Spoke != s.t.Spoke {
		return incident.Incident{}, fmt.Errorf("write the incident %s: %w", inc.Key.Name(), table.ErrForeign)
	}
	inc.Format = max(inc.Format, report.Format) // an older release must know that it is not its own any more
	inc = inc.Fit(table.MaxBody)
	it := table.Item{
		PK: s.t.Key(incidentPrefix, inc.Key.Cluster), SK: string(inc.Key.Check) + "#" + inc.Key.Resource,
		Kind: "incident", Format: inc.Format, Expires: s.t.Now().Add(keepOpen),
	}
	if inc.State == incident.Closed {
		it.Expires = inc.Resolved.Add(KeepClosed)
	}
	return table.Save(ctx, s.t, it, &inc, &inc.Version)
}

// ReadIncidents is what reading incidents alone needs: no launch is in reach
// through the index.
func ReadIncidents() []spec.Read { return table.Read(table.Queries(), spec.Table) }

// RecordIncidents lets a function write incidents and nothing else.
func RecordIncidents() spec.Grant {
	return table.Write("RecordIncidents", "What was posted, where, and what is still to be posted is kept between runs.", incidentPrefix)
}

// A summary's record has the key summary#<cluster>, <id of the summary>.
const summaryPrefix = "summary#"

// KeepSummaries is how long a summary is remembered: longer than a message can
// wait in the results queue and its dead-letter queue (4 and 14 days), so that
// none is said twice.
const KeepSummaries = 30 * 24 * time.Hour

// RecordSummaries lets a function write the records of summaries and nothing
// else.
func RecordSummaries() spec.Grant {
	return table.Write("RecordSummaries", "Each summary is posted once: whether and where it was posted is kept between runs.", summaryPrefix)
}

// Postings reads the summaries of a cluster that were said, or are to be, by
// id. If some were written by a newer version of Rollcall, it gives the others
// and an error with *NewerFormat in it.
func (s Outgoing) Postings(ctx context.Context, cluster string) ([]outbox.Posting, error) {
	return table.Partition[outbox.Posting](ctx, s.t, s.t.Key(summaryPrefix, cluster), report.SummaryFormat, "the summaries of "+cluster)
}

// SavePosting writes a posting over the version that was read, and gives it
// with its new version. It fails with *Conflict if that version is not the
// newest any more.
func (s Outgoing) SavePosting(ctx context.Context, p outbox.Posting) (outbox.Posting, error) {
	p.Summary.Format = max(p.Summary.Format, report.SummaryFormat)
	return table.Save(ctx, s.t, table.Item{
		PK: s.t.Key(summaryPrefix, p.Summary.Cluster), SK: p.Summary.ID,
		Kind: "summary", Format: p.Summary.Format, Expires: p.Summary.At.Add(KeepSummaries),
	}, &p, &p.Version)
}

// What a target besides Slack was told of an incident: target#<target>, <incident>.
const targetPrefix = "target#"

// keepTold is how long that outlives the last telling: longer than an incident of which
// nothing is heard stays open.
const keepTold = 180 * 24 * time.Hour

// DeliveryFormat is the version of ToldRecord that this code writes and reads.
const DeliveryFormat = 1

// DeliveryRecord is what a target was told of an incident, with the version of the record.
type DeliveryRecord struct {
	message.Told
	Target  string `json:"target"`
	About   string `json:"about"`
	Version int    `json:"version"`
	Format  int    `json:"format"`
}

// Delivery reads what a target was told of an incident; the zero record where it was nothing.
func (s Outgoing) Delivery(ctx context.Context, target, about string) (DeliveryRecord, error) {
	list, err := table.OneByOne[DeliveryRecord](ctx, s.t, targetPrefix+target, "#sk = :from", about, DeliveryFormat, "what "+target+" was told of "+about)
	return table.First(list, DeliveryRecord{Target: target, About: about}), err
}

// AllTold reads what a target was told of all incidents.
func (s Outgoing) AllTold(ctx context.Context, target string) ([]DeliveryRecord, error) {
	return table.Partition[DeliveryRecord](ctx, s.t, targetPrefix+target, DeliveryFormat, "what "+target+" was told")
}

// SaveDelivery writes a record over the version that was read, and fails with *Conflict if
// that is not the newest any more.
func (s Outgoing) SaveDelivery(ctx context.Context, r DeliveryRecord) error {
	r.Format = DeliveryFormat
	_, err := table.Save(ctx, s.t, table.Item{
		PK: targetPrefix + r.Target, SK: r.About, Kind: "target", Format: r.Format, Expires: s.t.Now().Add(keepTold),
	}, &r, &r.Version)
	return err
}

// RecordTold lets a function write what targets were told and nothing else.
func RecordTold() spec.Grant {
	return table.Write("RecordTold", "An older event that arrives late must not undo a newer one, and no update is sent twice.", targetPrefix)
}
