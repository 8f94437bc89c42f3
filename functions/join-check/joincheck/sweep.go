package joincheck

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/detect"
	"rollcall/shared/incident"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
)

// sweep looks at a cluster as a whole: events are best effort, so launches
// whose events were lost are found here, and those that missed the roll are
// called again.
func (h handler) sweep(ctx context.Context, cluster, account string) error {
	open, err := h.launches.OpenLaunches(ctx, cluster)
	if err != nil {
		return fmt.Errorf("read the open launches: %w", err)
	}
	r := roll{account: account, sweep: true, learned: h.Learn(ctx, h.memory, cluster, h.joinTime)}
	if r.incidents, err = h.launches.Incidents(ctx, cluster); err != nil {
		return fmt.Errorf("read the incidents: %w", err)
	}
	var groupsFailed *snapshot.Failure
	r.groups, groupsFailed = h.search.GroupsOf(ctx, cluster)
	all, failed := h.findInstances(ctx, cluster, open, r)
	r.failed = append(r.failed, detect.Failures(groupsFailed, failed)...)
	if failed == nil && groupsFailed == nil {
		var more []snapshot.Group
		more, groupsFailed = h.reader.Groups(ctx, otherGroups(all, r.groups))
		r.groups = append(r.groups, more...)
		r.failed = append(r.failed, detect.Failures(groupsFailed)...)
	}
	recorded := map[string]store.LaunchRecord{}
	for _, l := range open {
		recorded[l.Instance] = l
	}
	a := detect.Assign(all, detect.Evidence{
		Groups: r.groups, GroupsUnread: groupsFailed != nil, Recorded: recorded,
		Watches: func(name string) bool { return name == cluster },
	})
	// An instance in a warm pool is not expected to join, nor is it gone.
	for _, id := range a.Warm {
		delete(recorded, id)
	}
	r.entries = sweepEntries(cluster, a.Clusters[cluster], recorded, r.learned)
	return h.call(ctx, cluster, r)
}

// findInstances reads the cluster's instances in every state (EC2 tells for an
// hour how one ended): by its tag, by their group, those that are waited for,
// and those of which an incident is still open.
func (h handler) findInstances(ctx context.Context, cluster string, open []store.LaunchRecord, r roll) ([]snapshot.Instance, *snapshot.Failure) {
	all, failed := h.search.FindTaggedAll(ctx, cluster)
	if failed != nil {
		return nil, failed
	}
	var names []string
	for _, g := range r.groups {
		names = append(names, g.Name)
	}
	grouped, failed := h.search.FindGrouped(ctx, names)
	if failed != nil {
		return nil, failed
	}
	all = join(all, grouped)
	more, failed := h.reader.Find(ctx, missingFrom(all, open, r.incidents), nil)
	return join(all, more), failed
}

// join adds the instances that are not there yet.
func join(all, more []snapshot.Instance) []snapshot.Instance {
	have := make(map[string]bool, len(all))
	for _, in := range all {
		have[in.ID] = true
	}
	for _, in := range more {
		if !have[in.ID] {
			all = append(all, in)
		}
	}
	return all
}

// otherGroups are the instances' groups that are not read yet: a group can
// lack the cluster's tag that its instances carry.
func otherGroups(instances []snapshot.Instance, read []snapshot.Group) []string {
	return slices.DeleteFunc(detect.GroupsOf(instances), func(name string) bool {
		return slices.ContainsFunc(read, func(g snapshot.Group) bool { return g.Name == name })
	})
}

// sweepEntries pairs instances with the open launches. Whether the others have
// a record is looked up only for those that are not Ready nodes.
func sweepEntries(cluster string, instances []snapshot.Instance, open map[string]store.LaunchRecord, learned detect.Learned) []entry {
	var entries []entry
	seen := map[string]bool{}
	for _, in := range instances {
		seen[in.ID] = true
		if l, ok := open[in.ID]; ok {
			in = detect.Recall(in, l)
			entries = append(entries, entry{launch: l, recorded: true, instance: &in})
			continue
		}
		entries = append(entries, entry{launch: detect.Fresh(cluster, in, in.Launched, learned), unsure: true, instance: &in})
	}
	for id, l := range open {
		if !seen[id] {
			entries = append(entries, entry{launch: l, recorded: true})
		}
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.launch.Instance, b.launch.Instance) })
	return entries
}

// missingFrom are the launches that are waited for, and the instances that open
// incidents are about, that are not among those that were found.
func missingFrom(found []snapshot.Instance, open []store.LaunchRecord, incidents []incident.Incident) []string {
	var ids []string
	for _, l := range open {
		ids = append(ids, l.Instance)
	}
	ids = detect.Distinct(append(ids, covered(incidents, instanceID)...))
	return slices.DeleteFunc(ids, func(id string) bool {
		return slices.ContainsFunc(found, func(in snapshot.Instance) bool { return in.ID == id })
	})
}
