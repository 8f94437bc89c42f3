package spotreport

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/functions/spot-report/spec"
	"rollcall/shared/checks"
	"rollcall/shared/detect"
	"rollcall/shared/diagnose"
	"rollcall/shared/event"
	"rollcall/shared/gather"
	"rollcall/shared/snapshot"
	"rollcall/shared/state"
)

// week is how long launches of a pool are compared with the others'.
const week = 7 * 24 * time.Hour

// look is what was seen of one cluster.
type look struct {
	*snapshot.Snapshot
	// subnets are those of its Spot launches, and of the groups that make them.
	subnets []string
	// partial tells that some records could not be read.
	partial bool
	// from is from when on the history is whole: launches before were too many
	// to be read; zero where none was left out.
	from time.Time
}

// look reads a cluster's history since a time, and what tells how its launches
// take addresses. What AWS does not let be read is in the snapshot; without
// the history, which is our own, there is nothing to say.
func (h handler) look(ctx context.Context, cluster string, t event.Trigger, since time.Time) (look, error) {
	past, err := h.history.History(ctx, cluster, since)
	from, err := h.leftOut(ctx, cluster, err)
	partial, err := h.some(ctx, cluster, err)
	if err != nil {
		return look{}, fmt.Errorf("read the history: %w", err)
	}
	groups, failed := h.reader.GroupsOf(ctx, cluster)
	// A pool is what a nodegroup may launch, whether or not it has an instance.
	q := gather.Query{Account: t.Account, Region: h.region, Time: h.now(), Cluster: cluster, Groups: groups, AllNodegroups: true}
	if failed != nil {
		q.Failed = []snapshot.Failure{*failed}
	}
	for _, g := range groups {
		q.Scope.Launchable = append(q.Scope.Launchable, g.Subnets...)
	}
	q.Scope.Launchable = unique(q.Scope.Launchable)
	for _, p := range past {
		if p.Type != "" {
			q.Types = append(q.Types, p.Type)
		}
	}
	q.Sources = gather.PoolSources(checks.OfPools())
	s, err := h.reader.Read(ctx, q)
	if err != nil {
		return look{}, err
	}
	s.Taken = h.now()
	// No instance was asked for: that is no proof that they could be read.
	delete(s.Read, snapshot.Instances)
	if part := strings.Split(s.Cluster.ARN, ":"); s.Account == "" && len(part) > 4 {
		s.Account = part[4] // a person who asks need not name it
	}
	l := look{Snapshot: s, subnets: spotSubnets(past, groups), partial: partial, from: from}
	for _, id := range l.subnets {
		samples, err := h.history.Samples(ctx, id, since)
		if err != nil {
			return look{}, fmt.Errorf("read what %s had: %w", id, err)
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
	var older *state.OlderLeftOut
	if !errors.As(err, &older) {
		return time.Time{}, err
	}
	h.log.InfoContext(ctx, "there are more launches than are read, older ones are left out", "cluster", cluster, "since", older.Since, "most", older.Most)
	h.count("HistoryCut", 1)
	return older.Since, without(err, func(e error) bool { _, ok := e.(*state.OlderLeftOut); return ok })
}

// some takes from an error that some records are of a newer version.
func (h handler) some(ctx context.Context, cluster string, err error) (partial bool, _ error) {
	var newer *state.NewerFormat
	if errors.As(err, &newer) {
		h.log.WarnContext(ctx, "some launches were recorded by a newer version of Rollcall, they are left out", "cluster", cluster, "error", err.Error())
		h.count("NewerRecords", 1)
		return true, without(err, func(e error) bool { _, ok := e.(*state.NewerFormat); return ok })
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
	return unique(ids)
}

func unique(list []string) []string {
	list = slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == "" })
	slices.Sort(list)
	return slices.Compact(list)
}

// judge sends report what the checks say of the pools, so that incidents open
// and close, and notes what the subnets have.
func (h handler) judge(ctx context.Context, l look) error {
	list := checks.OfPools()
	d := diagnose.Rank(list, checks.Eval(list, l.Snapshot), l.Snapshot)
	o := detect.Observe(spec.Name, l.Snapshot, d, nil)
	for _, f := range o.Blind {
		h.log.WarnContext(ctx, "could not look", "cluster", l.Cluster.Name, "source", f.Source, "call", f.Call, "reason", f.Reason, "code", f.Code)
	}
	// Of all subnets into which the cluster's groups may launch: a group that
	// has launched no Spot instance yet may begin with a burst.
	samples := detect.Samples(l.Snapshot, unique(slices.Concat(l.subnets, l.Scope.Launchable)))
	err := h.send.SendResult(ctx, o)
	if len(samples) > 0 {
		err = errors.Join(err, h.history.RecordSamples(ctx, samples))
	}
	return err
}
