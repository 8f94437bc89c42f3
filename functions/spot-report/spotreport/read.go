package spotreport

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rollcall/shared/checks"
	"rollcall/shared/detect"
	"rollcall/shared/event"
	"rollcall/shared/gather"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
)

// week is how long launches of a pool are compared with the others'.
const week = 7 * 24 * time.Hour

// pools is what was seen of one cluster.
type pools struct {
	*snapshot.Snapshot
	// subnets are those of its Spot launches, and of the groups that make them.
	subnets []string
	// partial tells that some records could not be read.
	partial bool
	// from is from when on the history is whole: launches before were too many
	// to be read; zero where none was left out.
	from time.Time
}

// read reads a cluster's history since a time, and what tells how its launches
// take addresses. What AWS does not let be read is in the snapshot; without
// the history, which is our own, there is nothing to say.
func (h handler) read(ctx context.Context, cluster string, t event.Trigger, since time.Time) (pools, error) {
	past, err := h.history.History(ctx, cluster, since)
	from, err := h.leftOut(ctx, cluster, err)
	partial, err := h.withoutNewer(ctx, cluster, err)
	if err != nil {
		return pools{}, fmt.Errorf("read the history: %w", err)
	}
	groups, failed := h.reader.GroupsOf(ctx, cluster)
	q := h.Query(cluster, t.Account)
	// A pool is what a nodegroup may launch, whether or not it has an instance.
	q.Groups, q.AllNodegroups, q.Failed = groups, true, detect.Failures(failed)
	q.Scope.Launchable = detect.Launchable(groups)
	for _, p := range past {
		if p.Type != "" {
			q.Types = append(q.Types, p.Type)
		}
	}
	q.Sources = gather.PoolSources(checks.OfPools())
	s, err := h.Read(ctx, q)
	if err != nil {
		return pools{}, err
	}
	// No instance was asked for: that is no proof that they could be read.
	delete(s.Read, snapshot.Instances)
	l := pools{Snapshot: s, subnets: spotSubnets(past, groups), partial: partial, from: from}
	for _, id := range l.subnets {
		samples, err := h.history.Samples(ctx, id, since)
		if err != nil {
			return pools{}, fmt.Errorf("read what %s had: %w", id, err)
		}
		s.Samples = append(s.Samples, samples...)
	}
	s.History, s.Read[snapshot.LaunchHistory] = past, true
	if partial {
		// The summary counts what there is; no verdict on a pool rests on a part.
		s.Failures[snapshot.LaunchHistory] = snapshot.Failure{Source: snapshot.LaunchHistory, Reason: snapshot.NotRead, Message: "some launches were recorded by a newer version of Rollcall"}
	}
	return l, nil
}

// leftOut takes from an error that older launches were too many to be read, and
// gives from when on they were.
func (h handler) leftOut(ctx context.Context, cluster string, err error) (from time.Time, _ error) {
	var older *store.OlderLeftOut
	if !errors.As(err, &older) {
		return time.Time{}, err
	}
	h.Log.InfoContext(ctx, "there are more launches than are read, older ones are left out", "cluster", cluster, "since", older.Since, "most", older.Most)
	h.Count("HistoryCut", 1)
	return older.Since, without(err, func(e error) bool { _, ok := e.(*store.OlderLeftOut); return ok })
}

// withoutNewer takes from an error that some records are of a newer version.
func (h handler) withoutNewer(ctx context.Context, cluster string, err error) (partial bool, _ error) {
	var newer *store.NewerFormat
	if errors.As(err, &newer) {
		h.Log.WarnContext(ctx, "some launches were recorded by a newer version of Rollcall, they are left out", "cluster", cluster, "error", err.Error())
		h.Count("NewerRecords", 1)
		return true, without(err, func(e error) bool { _, ok := e.(*store.NewerFormat); return ok })
	}
	return false, err
}

// without is what an error says beside those that are told: nil for nothing.
func without(err error, told func(error) bool) error {
	switch e := err.(type) {
	case nil:
		return nil
	case interface{ Unwrap() []error }:
		var rest []error
		for _, one := range e.Unwrap() {
			rest = append(rest, without(one, told))
		}
		return errors.Join(rest...)
	case interface{ Unwrap() error }:
		if told(err) {
			return nil
		}
		return without(e.Unwrap(), told)
	}
	if told(err) {
		return nil
	}
	return err
}

// spotSubnets are the subnets of Spot launches, and those into which the same
// groups may launch next.
func spotSubnets(past []snapshot.Past, groups []snapshot.Group) []string {
	var ids []string
	spots := map[string]bool{}
	for _, p := range past {
		if p.Spot {
			ids = append(ids, p.Subnet)
			spots[p.Group] = true
		}
	}
	for _, g := range groups {
		if spots[g.Name] {
			ids = append(ids, g.Subnets...)
		}
	}
	return detect.Distinct(ids)
}
