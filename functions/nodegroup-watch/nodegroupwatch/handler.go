// Package nodegroupwatch makes the event that EKS does not send: a nodegroup's
// status, health or update has changed.
package nodegroupwatch

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"rollcall/shared/checks"
	"rollcall/shared/detect"
	"rollcall/shared/event"
	"rollcall/shared/gather"
	"rollcall/shared/snapshot"
)

// handle takes a batch of events and reminders, a cluster's turn to be swept (EKS sends
// no event when a nodegroup degrades), or the wish that it be looked at now.
func (h handler) handle(ctx context.Context, raw json.RawMessage) (any, error) {
	if messages, ok := event.Batch(raw); ok {
		return h.batch(ctx, messages)
	}
	t, err := event.Parse(raw)
	if err != nil {
		return nil, err
	}
	sweep := func(ctx context.Context, cluster string) error {
		return h.visit(ctx, cluster, visit{account: t.Account, sweep: true})
	}
	switch t.Kind {
	case event.ClusterSweep, event.CheckWanted:
		return nil, h.One(ctx, t.Cluster, sweep)
	}
	return nil, fmt.Errorf("nodegroup-watch is woken by its queue, by sweeps and by wishes, not by %s", t.Type)
}

// batch looks at what the messages are about, each cluster once. The messages
// of a cluster that could not be looked at go back; the others do not wait.
func (h handler) batch(ctx context.Context, messages []event.Message) (any, error) {
	b := h.visits(messages)
	for _, cluster := range b.clusters() {
		v := b.visits[cluster]
		if err := h.visit(ctx, cluster, *v); err != nil {
			h.Log.ErrorContext(ctx, "a cluster could not be looked at, its messages go back to the queue", "cluster", cluster, "error", err.Error())
			h.Count("FailedLooks", 1)
			b.failed = append(b.failed, v.messages...)
		}
	}
	return event.Failures(b.failed), nil
}

// visit looks at a cluster's nodegroups and add-ons, tells report what is
// wrong, and anyone what has changed. Report is told before anything is
// remembered: a crash in between leads to telling it twice, which it notices.
func (h handler) visit(ctx context.Context, cluster string, v visit) error {
	records, err := h.memory.Nodegroups(ctx, cluster)
	if err != nil {
		return err
	}
	q := h.Query(cluster, v.account)
	q.Nodegroups, q.AllNodegroups = v.names, v.sweep
	q.Sources = []snapshot.Source{snapshot.Nodegroups, snapshot.Addons}
	s, err := h.Read(ctx, q)
	if err != nil {
		return h.IgnoreNoCluster(ctx, cluster, err)
	}
	// Nobody has asked for these yet: that they count as read would be told as
	// the proof that they can be.
	delete(s.Read, snapshot.Instances)
	delete(s.Read, snapshot.Groups)
	h.readUpdates(ctx, s, q, v, records)
	next := compare(s, v, records)
	addSince(s, next)
	look, err := h.choose(ctx, s, q, v)
	if err != nil {
		return err
	}
	if _, err := h.Run(ctx, s, look); err != nil {
		return err
	}
	return h.keep(ctx, records, next, s.Time)
}

// choose is what is made of the snapshot. Where a nodegroup or an add-on is
// in trouble, what keeps its nodes from joining is looked at too, and judged in the same
// diagnosis: what EKS names is often only how something else shows.
func (h handler) choose(ctx context.Context, s *snapshot.Snapshot, q gather.Query, v visit) (l detect.Look, err error) {
	l.Checks = checks.OfHealth()
	if t := troubled(s); t.any() {
		l.Checks = slices.Concat(checks.OfLaunches(), nodegroupChecks())
		if l.Launches, err = h.readLaunches(ctx, s, q, t); err != nil {
			return l, err
		}
	}
	if !v.sweep {
		return l, nil
	}
	incidents, err := h.memory.Incidents(ctx, s.Cluster.Name)
	if err != nil {
		return l, fmt.Errorf("read the incidents: %w", err)
	}
	l.Sweep, l.Absent = true, absent(s, incidents)
	return l, nil
}

// nodegroupChecks are those of OfHealth that OfLaunches leaves out.
func nodegroupChecks() []checks.Check {
	have := checks.OfLaunches()
	return slices.DeleteFunc(checks.OfHealth(), func(c checks.Check) bool {
		return slices.ContainsFunc(have, func(o checks.Check) bool { return o.ID == c.ID })
	})
}
