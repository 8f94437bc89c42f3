package notify

import (
	"context"
	"errors"
	"slices"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/outbox"
	"rollcall/shared/report"
	"rollcall/shared/silence"
	"rollcall/shared/slack"
	"rollcall/shared/store"
)

// Cluster is the deliveries of one cluster in one invocation.
type Cluster struct {
	*Invocation
	name string
	// timeBudgetEnds is when the time of the cluster ends; zero is never.
	timeBudgetEnds time.Time
	record         outbox.ClusterRecord
	// newer is set where a newer version of Rollcall wrote the record: nothing is
	// held back for it, and it is left alone.
	newer bool
	// changed tells that the record is to be written.
	changed bool
	// wanted are the targets for which something was due.
	wanted map[outbox.Target]bool
	// open tells that incidents are not closed.
	open bool
	// owed tells that something is still to be said of what no message comes about by itself.
	owed bool
	// silences are those of the cluster, also what is over.
	silences []silence.Silence
}

// Cluster begins the time of a cluster, one of those that are left in this invocation,
// and reads what is known of its deliveries.
func (v *Invocation) Cluster(ctx context.Context, name string, left int) (*Cluster, error) {
	record, err := v.Clusters.ClusterRecord(ctx, name)
	c := &Cluster{Invocation: v, name: name, timeBudgetEnds: endOfBudget(ctx, left), record: record, wanted: map[outbox.Target]bool{}}
	if newer := new(store.NewerFormat); errors.As(err, &newer) {
		c.newer, err = true, nil
	}
	v.clusters[name] = c
	if err != nil {
		return c, err
	}
	// One that cannot be read may hide what would be told now: it is waited for.
	c.silences, err = v.Silences.Silences(ctx, name)
	return c, err
}

// Standing are the silences of the cluster.
func (c *Cluster) Standing() []silence.Silence { return c.silences }

// Decide gives what becomes of a cluster's incidents: all of them, which of them
// changed, and the presses whose incident is not there. It is asked again where another
// invocation wrote in between.
type Decide func(incidents []incident.Incident, now time.Time) (after []incident.Incident, changed map[report.Key]bool, strays []incident.ActRecord)

// attempts bounds how often a cluster is decided anew because another
// invocation wrote in between. Two at once are rare (the queue gives one group
// to one invocation), three never seen.
const attempts = 4

// DeliverIncidents records what is decided, then says and tells it, and answers the
// presses that were refused before.
func (c *Cluster) DeliverIncidents(ctx context.Context, decide Decide, refused []incident.ActRecord) error {
	for attempt := 1; ; attempt++ {
		out, strays, err := c.recordIncidents(ctx, decide)
		var conflict *store.Conflict
		if errors.As(err, &conflict) && attempt < attempts {
			c.Count("LostRaces", 1)
			continue
		}
		if err != nil {
			return err
		}
		for _, o := range oldestFirst(out) {
			if err := c.deliver(ctx, o); err != nil {
				return err
			}
		}
		return c.answerStrays(ctx, append(strays, refused...))
	}
}

// recordIncidents decides, and writes what is to be said before it is said. It gives
// what is due now, also from earlier invocations.
func (c *Cluster) recordIncidents(ctx context.Context, decide Decide) (due []outgoing, strays []incident.ActRecord, _ error) {
	incidents, err := c.Incidents.Incidents(ctx, c.name)
	if err != nil {
		return nil, nil, err
	}
	now := c.Now()
	incidents, changed, strays := decide(incidents, now)
	defer func() { c.logOpen(ctx, incidents, len(changed) > 0) }()
	for _, inc := range incidents {
		c.open = c.open || inc.State != incident.Closed
		c.noteOwedFiles(inc)
		if slices.ContainsFunc(inc.PendingEvents, func(e incident.Event) bool { return e.Words == nil }) {
			inc.PendingEvents = slices.Clone(inc.PendingEvents)
			inc.Word(slack.Words(inc, c.shows()))
		}
		o := c.dueOf(inc, now)
		if changed[inc.Key] {
			if o.inc, err = c.Incidents.SaveIncident(ctx, o.inc); err != nil {
				return nil, nil, err
			}
		}
		if o.due() {
			due = append(due, o)
		}
	}
	return due, strays, nil
}

// logOpen tells how many incidents a cluster has, where it has some or has just lost its
// last: the dashboard shows them (infra, dashboard).
func (c *Cluster) logOpen(ctx context.Context, incidents []incident.Incident, changed bool) {
	open, critical := 0, 0
	for _, inc := range incidents {
		if inc.State == incident.Closed {
			continue
		}
		if open++; inc.Severity() == incident.Critical {
			critical++
		}
	}
	if open > 0 || changed {
		c.Log.InfoContext(ctx, "incidents open", "cluster", c.name, "open", open, "critical", critical)
	}
}
