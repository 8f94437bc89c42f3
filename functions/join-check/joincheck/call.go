package joincheck

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"rollcall/functions/join-check/spec"
	"rollcall/shared/checks"
	"rollcall/shared/detect"
	"rollcall/shared/diagnose"
	"rollcall/shared/gather"
	"rollcall/shared/node/outcome"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// call calls the roll of one cluster: who has joined, who is gone, who has
// missed it and why. Report is told before anything is remembered, so that a
// crash in between leads to telling twice, which report notices, not to
// silence.
func (h handler) call(ctx context.Context, cluster string, r roll) error {
	now := h.now()
	q := h.query(cluster, r, now)
	s, err := h.reader.Read(ctx, q)
	if errors.Is(err, gather.ErrNoCluster) {
		h.log.WarnContext(ctx, "instances of a cluster that EKS does not have", "cluster", cluster, "instances", len(r.entries))
		h.count("ForeignInstances", len(r.entries))
		return h.gone(ctx, cluster, r, now)
	}
	if err != nil {
		return err
	}
	s.Taken = h.now()
	if r.sweep {
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
	if r.entries, r.lost, err = h.lookUp(ctx, stillExpected(r.entries, s, r.incidents, h.giveUp), r.incidents); err != nil {
		return err
	}
	// From here on the snapshot holds only what is called.
	q = h.query(cluster, r, now)
	s.Instances, s.Groups = q.Instances, q.Groups
	verdicts := decide(r.entries, s, now, outcome.Policy{GiveUp: h.giveUp})
	s.Scope = scope(r, verdicts)
	s.Launches = launches(r.entries)
	var d diagnose.Diagnosis
	if list := toRun(r, s.Scope); len(list) > 0 {
		q.Scope, q.Launches = s.Scope, s.Launches
		if len(s.Scope.Instances)+len(s.Scope.Subnets) > 0 {
			q.Types = h.recollect(ctx, s)
		}
		h.reader.More(ctx, s, q, gather.JoinSources(list)...)
		s.Taken = h.now()
		d = diagnose.Rank(list, checks.Eval(list, s), s)
		hadJoined(r.entries, verdicts, s)
	}
	if r.sweep && !s.Has(snapshot.Instances) {
		// Who should have joined is not known: that nobody is missed says nothing.
		d.Unknown = append(d.Unknown, diagnose.Unknown{Check: "node/not-registered", Blocked: []snapshot.Failure{s.Why(snapshot.Instances)}})
	}
	d.Unknown = append(d.Unknown, unshown(s)...)
	o := detect.Observe(spec.Name, s, d, told(r.entries, verdicts))
	o.Sweep = r.sweep
	o.Absent = unique(append(o.Absent, absent(s, r)...))
	if err := h.send.SendResult(ctx, o); err != nil {
		return err
	}
	h.tell(ctx, cluster, r.entries, verdicts, o)
	r.joins = joins(r.entries, verdicts, s)
	h.teachAll(ctx, s, r)
	return errors.Join(h.remember(ctx, s, d, r, verdicts), h.aftermath(ctx, s, r))
}

// unshown says of nodes whose instance EC2 does not show that they cannot be
// judged: that nothing is found wrong with what is not seen says nothing.
func unshown(s *snapshot.Snapshot) []diagnose.Unknown {
	var list []diagnose.Unknown
	for _, id := range slices.Sorted(maps.Keys(s.Missing[snapshot.Instances])) {
		list = append(list, diagnose.Unknown{Check: "node/not-registered", Covers: []string{id}, Blocked: []snapshot.Failure{s.Missing[snapshot.Instances][id]}})
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
		return checks.Standing()
	}
	return nil
}

func (h handler) query(cluster string, r roll, now time.Time) gather.Query {
	q := gather.Query{
		Account: r.account, Region: h.region, Time: now, Cluster: cluster,
		Failed:  r.failed,
		Sources: []snapshot.Source{snapshot.Nodes},
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

func (h handler) tell(ctx context.Context, cluster string, entries []entry, verdicts []outcome.Verdict, o report.Observation) {
	counts := map[outcome.Standing]int{}
	for i, v := range verdicts {
		if entries[i].silent {
			continue
		}
		counts[v.Standing]++
		if v.Standing == outcome.Missed {
			l := entries[i].launch
			h.log.InfoContext(ctx, "missed roll call", "cluster", cluster, "nodegroup", l.Nodegroup, "instance", l.Instance, "reason", v.Reason)
		}
	}
	h.count("Joined", counts[outcome.Joined])
	h.count("Missed", counts[outcome.Missed])
	h.count("Gone", counts[outcome.Gone])
	for _, f := range o.Blind {
		h.log.WarnContext(ctx, "could not look", "cluster", cluster, "source", f.Source, "call", f.Call, "reason", f.Reason, "code", f.Code)
	}
}
