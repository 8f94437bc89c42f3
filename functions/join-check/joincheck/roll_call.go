package joincheck

import (
	"context"
	"errors"
	"maps"
	"slices"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/detect"
	"rollcall/shared/diagnose"
	"rollcall/shared/gather"
	"rollcall/shared/node/outcome"
	"rollcall/shared/snapshot"
)

// call calls the roll of one cluster: who has joined, who is gone, who has
// missed it and why. Report is told before anything is remembered, so that a
// crash in between leads to telling twice, which report notices, not to
// silence.
func (h handler) call(ctx context.Context, cluster string, r roll) error {
	s, err := h.Read(ctx, r.query(h.Query(cluster, r.account)))
	if errors.Is(err, gather.ErrNoCluster) {
		h.Log.WarnContext(ctx, "instances of a cluster that EKS does not have", "cluster", cluster, "instances", len(r.entries))
		h.Count("ForeignInstances", len(r.entries))
		return h.tellGone(ctx, cluster, r)
	}
	if err != nil {
		return err
	}
	// The version of the VPC CNI is noted where it can be read; checks that need it
	// read it again, and say why they cannot.
	delete(s.Failures, snapshot.AWSNode)
	var runs *detect.Runs
	if r.sweep {
		h.searchMore(ctx, s, &r)
		runs = h.addRefused(ctx, s, r)
	}
	r.tagging = tagging(r.entries)
	joined := joinedLaunches(s)
	starved := starving(s)
	about := append(covered(r.incidents, instanceID), starved...)
	if r.entries, r.lost, err = h.addRecords(ctx, stillExpected(r.entries, s, about, h.giveUp), about); err != nil {
		return err
	}
	// From here on the snapshot holds only what is called.
	q := r.query(h.Query(cluster, r.account))
	held := s.Instances
	q.Time, s.Instances, s.Groups = s.Time, q.Instances, q.Groups
	verdicts := decide(r, s, h.giveUp)
	s.Scope, s.Launches = scope(r, verdicts, starved), remembered(r.entries)
	list := toRun(r, s.Scope)
	if len(list) > 0 {
		h.readCauses(ctx, s, q, list, joined)
		if named := gather.NamedByClaims(s, held); len(named) > 0 && s.Has(snapshot.Instances) {
			h.reader.Unshown(ctx, s, named)
		}
		correctJoined(r.entries, verdicts, s)
	}
	o, err := h.Run(ctx, s, detect.Look{
		Checks: list, Launches: launchesOf(r.entries, verdicts, starved, s.Time), Unknown: unjudged(s, r), Absent: absent(s, r), Sweep: r.sweep,
	})
	if err != nil {
		return err
	}
	h.countOutcomes(ctx, cluster, r.entries, verdicts)
	r.joins = joins(r.entries, verdicts, s)
	h.teachAll(ctx, s, r)
	return errors.Join(h.record(ctx, s, o.Diagnosis, r, verdicts), h.recordRest(ctx, s, r), h.saveRuns(ctx, s.Cluster.Name, r, runs))
}

// searchMore finds what neither events nor tags name.
func (h handler) searchMore(ctx context.Context, s *snapshot.Snapshot, r *roll) {
	more, failed := h.unnamed(ctx, s, r)
	r.entries = append(r.entries, more...)
	// Not asked for is no fault of ours; anything else is, and makes this
	// look blind to it.
	if failed != nil && failed.Reason != snapshot.NotRead {
		s.Failures[failed.Source] = *failed
		delete(s.Read, failed.Source)
	}
	if s.Has(snapshot.Instances) {
		h.reader.Unshown(ctx, s, gather.NamedByNodes(s))
	}
}

// readCauses reads what the checks need to explain the launches.
func (h handler) readCauses(ctx context.Context, s *snapshot.Snapshot, q gather.Query, list []checks.Check, joined []snapshot.Past) {
	q.Scope, q.Launches = s.Scope, s.Launches
	if len(s.Scope.Instances)+len(s.Scope.Subnets) > 0 {
		q.Types = h.addHistory(ctx, s, joined)
	}
	h.reader.More(ctx, s, q, gather.JoinSources(list)...)
	s.Taken = h.Now()
}

// unjudged are nodes of which nobody knows how they stand: that nothing is found
// wrong with what is not seen says nothing.
func unjudged(s *snapshot.Snapshot, r roll) []diagnose.Unknown {
	const missing = checkid.NodeNotRegistered
	var list []diagnose.Unknown
	if r.sweep && !s.Has(snapshot.Instances) {
		list = append(list, diagnose.Unknown{Check: missing, Blocked: []snapshot.Failure{s.Why(snapshot.Instances)}})
	}
	if f := r.unowned; f != nil && (f.Reason != snapshot.NotRead || f.Code == snapshot.NotCaptured) {
		list = append(list, diagnose.Unknown{Check: missing, Covers: r.strangers, Blocked: []snapshot.Failure{*f}})
	}
	for _, id := range slices.Sorted(maps.Keys(s.Missing[snapshot.Instances])) {
		list = append(list, diagnose.Unknown{Check: missing, Covers: []string{id}, Blocked: []snapshot.Failure{s.Missing[snapshot.Instances][id]}})
	}
	return list
}

// toRun are the checks that have something to judge: all that explain
// launches when an instance is in trouble or a subnet is suspected; in a sweep at least those
// that watch the cluster itself.
func toRun(r roll, sc snapshot.Scope) []checks.Check {
	switch {
	case len(sc.Instances)+len(sc.Subnets) > 0:
		return checks.OfLaunches()
	case r.sweep:
		return checks.OfCluster()
	}
	return nil
}

// query adds to a query what the roll is of.
func (r roll) query(q gather.Query) gather.Query {
	q.Failed, q.Sources = r.failed, []snapshot.Source{snapshot.Nodes, snapshot.AWSNode}
	if r.sweep {
		q.Sources = append(q.Sources, snapshot.WaitingPods) // a sweep's checks read them anyway
	}
	for _, e := range r.entries {
		if e.instance == nil {
			continue
		}
		q.Instances = append(q.Instances, *e.instance)
		if q.VPC == "" {
			q.VPC = e.instance.VPC
		}
	}
	q.Nodegroups = detect.ManagedOf(q.Instances)
	mine := detect.GroupsOf(q.Instances)
	for _, g := range r.groups {
		if r.sweep || slices.Contains(mine, g.Name) {
			q.Groups = append(q.Groups, g)
		}
	}
	return q
}

// countOutcomes counts how the launches stand, and logs those that missed the roll.
func (h handler) countOutcomes(ctx context.Context, cluster string, entries []entry, verdicts []outcome.Verdict) {
	counts := map[outcome.LaunchStatus]int{}
	for i, v := range verdicts {
		if entries[i].silent {
			continue
		}
		counts[v.Status]++
		if v.Status == outcome.Missed {
			l := entries[i].launch
			h.Log.InfoContext(ctx, "missed roll call", "cluster", cluster, "nodegroup", l.Nodegroup, "instance", l.Instance, "reason", v.Reason)
		}
	}
	h.Count("Joined", counts[outcome.Joined])
	h.Count("Missed", counts[outcome.Missed])
	h.Count("Gone", counts[outcome.Gone])
}
