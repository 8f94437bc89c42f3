package joincheck

import (
	"context"
	"fmt"
	"slices"
	"time"

	"rollcall/shared/checks"
	"rollcall/shared/detect"
	"rollcall/shared/node/outcome"

	"rollcall/shared/snapshot"
)

// unrecorded is how young a Ready node is of which it is asked whether its launch
// has a record: where its events were lost, no one else makes it. Later the
// sweeps of an hour have asked.
const unrecorded = time.Hour

// stillExpected sets aside what needs no record: instances that have long been
// Ready nodes, and those that ended after they had been nodes. Instances that were there long before Rollcall, and are no nodes, are
// left alone too: a bastion may carry the cluster's tag. Where the nodes could
// not be read nobody knows which are nodes: they are looked at, and not all
// recorded as missing. What an open incident is about is looked at whatever it
// is: it may be well now. So are Ready nodes whose pods do not start.
func stillExpected(entries []entry, s *snapshot.Snapshot, about []string, giveUp time.Duration) []entry {
	nodes := make(map[string]*snapshot.Node, len(s.Nodes))
	for i := range s.Nodes {
		if n := &s.Nodes[i]; nodes[n.Instance] == nil || n.Joined() {
			nodes[n.Instance] = n
		}
	}
	var list []entry
	for _, e := range entries {
		if e.unsure {
			n := nodes[e.launch.Instance]
			age := s.Time.Sub(e.launch.Started)
			// What Karpenter's tag tells is all that will ever be known of it here.
			tagged := nodesClosed(s) && e.instance.NodeClaim() != ""
			settled := age > giveUp || n != nil && (e.instance.Ended() || n.Joined() && age > unrecorded) || tagged && (e.instance.Ended() || age > unrecorded)
			if settled && !slices.Contains(about, e.launch.Instance) {
				continue
			}
			e.silent = settled || !s.Read[snapshot.Nodes] && !tagged
		}
		list = append(list, e)
	}
	return list
}

// starving are the Ready nodes that have taken pods and not started them for minutes.
func starving(s *snapshot.Snapshot) []string {
	var ids []string
	for _, w := range checks.StuckOnReady(s) {
		if w.Instance != "" {
			ids = append(ids, w.Instance)
		}
	}
	return detect.Distinct(ids)
}

// addRecords reads the records of the few that may have one. Of those whose
// outcome is known only what an open incident is about is looked at again.
// Nodes that had joined, and have ended soon after, are set aside as lost.
func (h handler) addRecords(ctx context.Context, entries []entry, about []string) (list, lost []entry, err error) {
	var ids []string
	for _, e := range entries {
		if e.unsure {
			ids = append(ids, e.launch.Instance)
		}
	}
	if len(ids) == 0 {
		return entries, nil, nil
	}
	known, err := h.launches.GetLaunches(ctx, ids)
	if err != nil {
		return nil, nil, fmt.Errorf("look up %d launches: %w", len(ids), err)
	}
	for _, e := range entries {
		if l, ok := known[e.launch.Instance]; ok && e.unsure {
			e.launch, e.recorded = l, true
			if losing(l, e.instance) {
				lost = append(lost, e)
			}
			if l.Status.Final() {
				e.silent = true
				if !slices.Contains(about, l.Instance) {
					continue
				}
			}
		}
		list = append(list, e)
	}
	return list, lost, nil
}

func decide(r roll, s *snapshot.Snapshot, giveUp time.Duration) []outcome.Verdict {
	verdicts := make([]outcome.Verdict, len(r.entries))
	for i, e := range r.entries {
		verdicts[i] = outcome.Decide(
			e.launch.Launch,
			outcome.Seen{
				EC2Read: s.Read[snapshot.Instances], Instance: e.instance,
				NodesRead: s.Read[snapshot.Nodes], Node: nodeOf(s, e.launch.Instance), NodesClosed: nodesClosed(s),
				Tagging: r.tagging, Lacked: !e.launch.Missed.IsZero(),
			}, s.Time, outcome.Policy{Due: e.launch.Due, GiveUp: giveUp})
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

// nodesClosed tells that the nodes cannot be read for want of a right, or because
// nobody asks for them: that does not change by itself.
func nodesClosed(s *snapshot.Snapshot) bool {
	if s.Read[snapshot.Nodes] {
		return false
	}
	reason := s.Why(snapshot.Nodes).Reason
	return reason == snapshot.Denied || reason == snapshot.NotRead
}

// tagging tells that Karpenter has set its tag on one of the instances.
func tagging(entries []entry) bool {
	return slices.ContainsFunc(entries, func(e entry) bool { return e.instance != nil && e.instance.NodeClaim() != "" })
}
