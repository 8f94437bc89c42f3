package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/event"
	"rollcall/shared/inspect"
	"rollcall/shared/snapshot"
	"rollcall/shared/state"
)

// sweep looks at every watched cluster: events are best effort, so launches
// whose events were lost are found here, and those that missed the roll are
// called again. One cluster's trouble does not keep the others from being
// looked at.
func (h handler) sweep(ctx context.Context, t event.Trigger) error {
	names := h.clusters
	if names == nil {
		list, failed := h.reader.Clusters(ctx)
		if failed != nil {
			return fmt.Errorf("list the clusters: %s %s: %s", failed.Call, failed.Reason, failed.Message)
		}
		names = list
	}
	var errs []error
	for _, name := range names {
		if err := h.sweepCluster(ctx, name, t); err != nil {
			errs = append(errs, fmt.Errorf("sweep cluster %s: %w", name, err))
		}
	}
	h.count("SweptClusters", len(names)-len(errs))
	return errors.Join(errs...)
}

func (h handler) sweepCluster(ctx context.Context, cluster string, t event.Trigger) error {
	open, err := h.launches.OpenLaunches(ctx, cluster)
	if err != nil {
		return fmt.Errorf("read the open launches: %w", err)
	}
	live, failed := h.reader.FindTagged(ctx, cluster)
	r := roll{account: t.Account, sweep: true, failed: failures(failed)}
	if failed == nil {
		// Launches that are waited for and no longer live: EC2 still tells for
		// an hour how they ended.
		ended, f := h.reader.Find(ctx, missingFrom(live, open), nil)
		r.failed = append(r.failed, failures(f)...)
		live = append(live, ended...)
	}
	var groupsFailed *snapshot.Failure
	r.groups, groupsFailed = h.reader.Groups(ctx, inspect.GroupsOf(live))
	r.failed = append(r.failed, failures(groupsFailed)...)
	recorded := map[string]state.Launch{}
	for _, l := range open {
		recorded[l.Instance] = l
	}
	a := inspect.Assign(live, inspect.Evidence{
		Groups: r.groups, GroupsUnread: groupsFailed != nil, Recorded: recorded,
		Watches: func(name string) bool { return name == cluster },
	})
	// An instance in a warm pool is not expected to join, nor is it gone.
	for _, id := range a.Warm {
		delete(recorded, id)
	}
	r.entries = h.sweepEntries(cluster, a.Clusters[cluster], recorded)
	return h.call(ctx, cluster, r)
}

// sweepEntries pairs instances with the open launches. Whether the others have
// a record is looked up only for those that are not Ready nodes.
func (h handler) sweepEntries(cluster string, instances []snapshot.Instance, open map[string]state.Launch) []entry {
	var entries []entry
	seen := map[string]bool{}
	for _, in := range instances {
		seen[in.ID] = true
		if l, ok := open[in.ID]; ok {
			in = inspect.Recall(in, l)
			entries = append(entries, entry{launch: l, recorded: true, instance: &in})
			continue
		}
		entries = append(entries, entry{launch: fresh(cluster, in, in.Launched, h.joinTime), unsure: true, instance: &in})
	}
	for id, l := range open {
		if !seen[id] {
			entries = append(entries, entry{launch: l, recorded: true})
		}
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.launch.Instance, b.launch.Instance) })
	return entries
}

// missingFrom are the open launches whose instances are not among the live.
func missingFrom(live []snapshot.Instance, open []state.Launch) []string {
	var ids []string
	for _, l := range open {
		if !slices.ContainsFunc(live, func(in snapshot.Instance) bool { return in.ID == l.Instance }) {
			ids = append(ids, l.Instance)
		}
	}
	return ids
}
