package nodegroupwatch

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/checks"
	"rollcall/shared/detect"
	"rollcall/shared/gather"
	"rollcall/shared/node/outcome"
	"rollcall/shared/nodegroup"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// trouble is what has to be looked at more closely.
type trouble struct {
	nodegroups []snapshot.Nodegroup
	// named are the instances that EKS names.
	named []string
	// addons tells that an add-on is in trouble: nodes that are not Ready may be so
	// because of it, or it because of what keeps them.
	addons bool
}

func (t trouble) any() bool { return len(t.nodegroups) > 0 || t.addons }

// troubled finds what is in trouble.
func troubled(s *snapshot.Snapshot) trouble {
	var t trouble
	for _, n := range s.Nodegroups {
		issues := slices.Clone(n.Issues)
		if len(n.Updates) > 0 && n.Updates[0].Status == nodegroup.Failed {
			issues = append(issues, n.Updates[0].Errors...)
		}
		if len(issues) == 0 && n.Status != nodegroup.Degraded && n.Status != nodegroup.CreateFailed {
			continue
		}
		t.nodegroups = append(t.nodegroups, n)
		for _, i := range issues {
			for _, id := range i.Resources {
				if strings.HasPrefix(id, "i-") {
					t.named = append(t.named, id)
				}
			}
		}
	}
	t.named = detect.Distinct(t.named)
	for _, a := range s.Addons {
		t.addons = t.addons || len(a.Issues) > 0 || strings.HasSuffix(a.Status, "FAILED") || a.Status == "DEGRADED"
	}
	return t
}

// readLaunches reads the instances of what is in trouble, and all that explains why they
// do not join. In scope is who is not a Ready node: a Ready one beside those
// that are not looked at would prove too much.
func (h handler) readLaunches(ctx context.Context, s *snapshot.Snapshot, q gather.Query, t trouble) ([]report.Launch, error) {
	h.reader.More(ctx, s, q, snapshot.Nodes)
	ids := slices.Clone(t.named)
	var groups []string
	for _, n := range t.nodegroups {
		groups = append(groups, n.Groups...)
		s.Scope.Subnets = append(s.Scope.Subnets, n.Subnets...)
	}
	if t.addons {
		for _, n := range s.Nodes {
			if n.Instance != "" && !n.Joined() {
				ids = append(ids, n.Instance)
			}
		}
		if s.Has(snapshot.Nodes) && !slices.ContainsFunc(s.Nodes, snapshot.Node.Joined) {
			// Its pods have nowhere to run: what keeps the nodes away is the cause.
			for _, n := range s.Nodegroups {
				groups = append(groups, n.Groups...)
			}
		}
	}
	instances := h.find(ctx, s, ids, groups)
	s.Groups = h.groups(ctx, s, detect.Distinct(append(groups, detect.GroupsOf(instances)...)))
	scope := h.waiting(s, instances, t)
	known, err := h.memory.GetLaunches(ctx, detect.Distinct(append(slices.Clone(scope), ids...)))
	if err != nil {
		return nil, fmt.Errorf("look up %d launches: %w", len(scope), err)
	}
	var launches []report.Launch
	for i, in := range instances {
		if l, ok := known[in.ID]; ok {
			instances[i] = detect.Recall(in, l)
		}
	}
	for _, id := range detect.Distinct(ids) {
		l, ok := known[id]
		if ok && !slices.ContainsFunc(instances, func(in snapshot.Instance) bool { return in.ID == id }) && s.Has(snapshot.Instances) {
			// EC2 has forgotten it; the record has not.
			instances = append(instances, detect.Recall(snapshot.Instance{ID: id, State: "terminated", Launched: l.Started}, l))
			if slices.Contains(t.named, id) {
				scope = append(scope, id)
			}
		}
	}
	slices.SortFunc(instances, func(a, b snapshot.Instance) int { return strings.Compare(a.ID, b.ID) })
	s.Instances = instances
	s.Scope.Instances, s.Scope.Subnets = detect.Distinct(scope), detect.Distinct(s.Scope.Subnets)
	for _, in := range instances {
		if !slices.Contains(s.Scope.Instances, in.ID) {
			continue
		}
		l, ok := known[in.ID]
		if !ok {
			l = detect.Record(s.Cluster.Name, in, detect.Launch(in, in.Launched), outcome.Allowance{For: h.joinTime})
			if !s.Time.Before(l.Due) {
				l.Status = outcome.Missed
			}
		}
		s.Launches = append(s.Launches, detect.Expected(l))
		launches = append(launches, l.Launch)
	}
	q.Scope, q.Instances, q.Groups, q.Launches = s.Scope, s.Instances, s.Groups, s.Launches
	h.reader.More(ctx, s, q, gather.JoinSources(checks.OfLaunches())...)
	return launches, nil
}

// find reads the instances of groups and those of the ids.
func (h handler) find(ctx context.Context, s *snapshot.Snapshot, ids, groups []string) []snapshot.Instance {
	var all []snapshot.Instance
	var failed *snapshot.Failure
	if len(groups) > 0 {
		all, failed = h.reader.FindGrouped(ctx, detect.Distinct(groups))
	}
	missing := slices.DeleteFunc(detect.Distinct(ids), func(id string) bool {
		return slices.ContainsFunc(all, func(in snapshot.Instance) bool { return in.ID == id })
	})
	if failed == nil && len(missing) > 0 {
		var more []snapshot.Instance
		more, failed = h.reader.Find(ctx, missing, nil)
		all = append(all, more...)
	}
	if failed != nil {
		s.Failures[snapshot.Instances] = *failed
		return nil
	}
	s.Read[snapshot.Instances] = true
	return all
}

func (h handler) groups(ctx context.Context, s *snapshot.Snapshot, names []string) []snapshot.Group {
	list, failed := h.reader.Groups(ctx, names)
	if failed != nil {
		s.Failures[snapshot.Groups] = *failed
		return nil
	}
	s.Read[snapshot.Groups] = true
	return list
}

// waiting are the instances that are not Ready nodes: those that EKS names, and
// the live ones of the nodegroups and of nodes that are not Ready. Where the
// nodes could not be read only those that EKS names count.
func (h handler) waiting(s *snapshot.Snapshot, instances []snapshot.Instance, t trouble) []string {
	joined := map[string]bool{}
	for _, n := range s.Nodes {
		joined[n.Instance] = joined[n.Instance] || n.Joined()
	}
	var ids []string
	for _, in := range instances {
		warm := slices.ContainsFunc(s.Groups, func(g snapshot.Group) bool { return slices.Contains(g.Warm, in.ID) })
		switch {
		case joined[in.ID], warm:
		case slices.Contains(t.named, in.ID), s.Has(snapshot.Nodes) && !in.Ended():
			ids = append(ids, in.ID)
		}
	}
	return ids
}
