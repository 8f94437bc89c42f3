package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"rollcall/functions/join-check/spec"
	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/gather"
	"rollcall/shared/inspect"
	"rollcall/shared/outcome"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// call calls the roll of one cluster: who has joined, who is gone, who has
// missed it and why. Report is told before anything is remembered, so that a
// crash in between leads to telling twice, which report notices, not to
// silence.
func (h handler) call(ctx context.Context, cluster string, r roll) error {
	now := h.now()
	incidents, err := h.launches.Incidents(ctx, cluster)
	if err != nil {
		return fmt.Errorf("read the incidents: %w", err)
	}
	q := h.query(cluster, r, now)
	s, err := h.reader.Read(ctx, q)
	if errors.Is(err, gather.ErrNoCluster) {
		h.log.WarnContext(ctx, "instances of a cluster that EKS does not have", "cluster", cluster, "instances", len(r.entries))
		h.count("ForeignInstances", len(r.entries))
		return nil
	}
	if err != nil {
		return err
	}
	if r.entries, err = h.lookUp(ctx, stillExpected(r.entries, s, h.giveUp)); err != nil {
		return err
	}
	// From here on only those who are waited for matter.
	q = h.query(cluster, r, now)
	s.Instances, s.Groups = q.Instances, q.Groups
	verdicts := decide(r.entries, s, now, outcome.Policy{GiveUp: h.giveUp})
	s.Scope = scope(r.entries, verdicts, incidents)
	s.Launches = launches(r.entries)
	var d diagnose.Diagnosis
	if len(s.Scope.Instances)+len(s.Scope.Subnets) > 0 {
		list := checks.All()
		q.Scope = s.Scope
		h.reader.More(ctx, s, q, gather.JoinSources(list)...)
		d = diagnose.Rank(list, checks.Eval(list, s), s)
	}
	o := inspect.Observe(spec.Name, s, d, told(r.entries, verdicts))
	o.Sweep = r.sweep
	if err := h.send.SendResult(ctx, o); err != nil {
		return err
	}
	h.tell(ctx, cluster, r.entries, verdicts, o)
	return h.remember(ctx, r, verdicts, now)
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
	q.Nodegroups = inspect.ManagedOf(q.Instances)
	for _, g := range r.groups {
		if slices.Contains(inspect.GroupsOf(q.Instances), g.Name) {
			q.Groups = append(q.Groups, g)
		}
	}
	return q
}

// stillExpected sets aside what needs no record: instances that are Ready
// nodes and were never waited for. Where the nodes could not be read nothing
// is known of them, and they are not all recorded as missing.
//
// Instances that were there long before Rollcall, and are no nodes, are left
// alone too: a bastion may carry the cluster's tag.
func stillExpected(entries []entry, s *snapshot.Snapshot, giveUp time.Duration) []entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e entry) bool {
		if !e.unsure {
			return false
		}
		if !s.Read[snapshot.Nodes] || s.Time.Sub(e.launch.Started) > giveUp {
			return true
		}
		n := nodeOf(s, e.launch.Instance)
		// A node of long standing that is not Ready now had joined before
		// Rollcall came: not our affair.
		return n != nil && (n.Ready.Status == "True" || s.Time.Sub(n.Created) > longStanding)
	})
}

// longStanding is EKS's own patience with a new node: after it a managed node
// group calls it NodeCreationFailure.
const longStanding = 15 * time.Minute

// lookUp reads the records of the few that may have one.
func (h handler) lookUp(ctx context.Context, entries []entry) ([]entry, error) {
	var ids []string
	for _, e := range entries {
		if e.unsure {
			ids = append(ids, e.launch.Instance)
		}
	}
	if len(ids) == 0 {
		return entries, nil
	}
	known, err := h.launches.GetLaunches(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("look up %d launches: %w", len(ids), err)
	}
	for i, e := range entries {
		if l, ok := known[e.launch.Instance]; ok && e.unsure {
			entries[i].launch, entries[i].recorded = l, true
		}
	}
	return slices.DeleteFunc(entries, func(e entry) bool { return e.launch.Standing.Final() }), nil
}

func decide(entries []entry, s *snapshot.Snapshot, now time.Time, p outcome.Policy) []outcome.Verdict {
	verdicts := make([]outcome.Verdict, len(entries))
	for i, e := range entries {
		verdicts[i] = outcome.Decide(
			outcome.Launch{Started: e.launch.Started, Due: e.launch.Due, Standing: e.launch.Standing},
			outcome.Seen{
				EC2Read: s.Read[snapshot.Instances], Instance: e.instance,
				NodesRead: s.Read[snapshot.Nodes], Node: nodeOf(s, e.launch.Instance),
			}, now, p)
	}
	return verdicts
}

// nodeOf is the node of an instance. One that registered anew under another
// name leaves its old node behind for a while: the joined one counts, else the
// newest.
func nodeOf(s *snapshot.Snapshot, instance string) *snapshot.Node {
	var found *snapshot.Node
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if n.Instance != instance {
			continue
		}
		if found == nil || n.Joined() && !found.Joined() || n.Joined() == found.Joined() && n.Created.After(found.Created) {
			found = n
		}
	}
	return found
}

// scope is what the checks judge: launches that missed the roll or ended
// before they joined, and what open incidents are about, so that they can be
// closed.
func scope(entries []entry, verdicts []outcome.Verdict, incidents []report.Incident) snapshot.Scope {
	var sc snapshot.Scope
	for i, e := range entries {
		switch verdicts[i].Standing {
		case outcome.Missed, outcome.Gone, outcome.GivenUp:
			if e.instance != nil {
				sc.Instances = append(sc.Instances, e.launch.Instance)
			}
			sc.Subnets = append(sc.Subnets, e.launch.Subnet)
		}
	}
	for _, i := range incidents {
		if i.State == report.Closed {
			continue
		}
		for _, c := range i.Covers {
			if subnetID(c) {
				sc.Subnets = append(sc.Subnets, c)
			}
		}
	}
	sc.Instances, sc.Subnets = unique(sc.Instances), unique(sc.Subnets)
	return sc
}

func launches(entries []entry) []snapshot.Launch {
	list := make([]snapshot.Launch, 0, len(entries))
	for _, e := range entries {
		list = append(list, snapshot.Launch{Instance: e.launch.Instance, Started: e.launch.Started, Due: e.launch.Due})
	}
	return list
}

// told is how each launch stands, for report.
func told(entries []entry, verdicts []outcome.Verdict) []report.Launch {
	list := make([]report.Launch, 0, len(entries))
	for i, e := range entries {
		v := verdicts[i]
		list = append(list, report.Launch{
			Instance: e.launch.Instance, Nodegroup: e.launch.Nodegroup, Group: e.launch.Group,
			Subnet: e.launch.Subnet, Zone: e.launch.Zone, Type: e.launch.Type,
			Started: e.launch.Started, Standing: v.Standing,
			Registered: v.Registered, Ready: v.Ready, Ended: v.Ended, EndedWhy: v.EndedWhy,
		})
	}
	return list
}

func (h handler) tell(ctx context.Context, cluster string, entries []entry, verdicts []outcome.Verdict, o report.Observation) {
	counts := map[outcome.Standing]int{}
	for i, v := range verdicts {
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

func unique(list []string) []string {
	list = slices.DeleteFunc(list, func(s string) bool { return s == "" })
	slices.Sort(list)
	return slices.Compact(list)
}

func subnetID(id string) bool { return len(id) > 7 && id[:7] == "subnet-" }
