package remediate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/detect"
	"rollcall/shared/gather"
	"rollcall/shared/incident"
	"rollcall/shared/node/outcome"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// order is a plan, and how many things it leaves for another one.
type order struct {
	plan remedy.Plan
	left int
}

// plan makes a remedy's plan from a fresh look.
func (h handler) plan(ctx context.Context, inc incident.Incident, r remedy.Remedy) (order, *action.Refusal, error) {
	of := subject(inc)
	of.Most, of.Roles = h.limit, h.roles
	s, err := h.look(ctx, inc, r.Sources(inc.Key.Check), r.More.GroupMembers)
	if errors.Is(err, gather.ErrNoCluster) {
		return order{}, &action.Refusal{Reason: action.Gone, Says: fmt.Sprintf("There is no cluster %s.", inc.Key.Cluster)}, nil
	}
	if err != nil {
		return order{}, nil, err
	}
	s.Cleanup = snapshot.Cleanup{Mode: "report", Grace: h.grace}
	if r.More.Sightings {
		if of.Sightings, err = h.memory.Sightings(ctx, s.Cluster.VPC); err != nil {
			return order{}, nil, err
		}
	}
	if r.More.WearersOf != nil {
		var failed *snapshot.Failure
		if of.Wearers, failed = h.reader.InterfacesWith(ctx, r.More.WearersOf(s, of)); failed != nil {
			says := fmt.Sprintf("Who has the security groups of the endpoint and of the nodes could not be read: %s, %s.", failed.Call, failed.Reason)
			return order{}, &action.Refusal{Reason: action.CouldNotLook, Says: says, Blocked: []snapshot.Failure{*failed}}, nil
		}
	}
	p, no := r.Make(s, of)
	o := order{plan: p}
	if no == nil {
		o.left = r.Left(s, of)
	}
	return o, no, nil
}

// subject is what a plan needs to know of an incident.
func subject(inc incident.Incident) action.Subject {
	of := action.Subject{
		Cluster: inc.Key.Cluster, Check: inc.Key.Check, Resource: inc.Key.Resource,
		Covers: inc.Cause.Covers, Nodegroups: inc.Cause.Nodegroups, Launches: inc.Launches,
	}
	if inc.State == incident.Cleared {
		of.Cleared = inc.Cleared
	}
	return of
}

// look takes a snapshot of all that a plan may rest on: the incident's
// instances and subnets are in scope.
func (h handler) look(ctx context.Context, inc incident.Incident, sources []snapshot.Source, members bool) (*snapshot.Snapshot, error) {
	cluster := inc.Key.Cluster
	q := gather.Query{Account: inc.Account, Region: h.region, Time: h.now(), Cluster: cluster, AllNodegroups: true, Sources: sources}
	fail := func(f *snapshot.Failure) {
		if f != nil {
			q.Failed = append(q.Failed, *f)
		}
	}
	for _, id := range slices.Concat(inc.Cause.Covers, inc.Covers) {
		switch {
		case strings.HasPrefix(id, "subnet-"):
			q.Scope.Subnets = append(q.Scope.Subnets, id)
		case strings.HasPrefix(id, "i-"):
			q.Scope.Instances = append(q.Scope.Instances, id)
		}
	}
	for _, l := range inc.Launches {
		if l.Status == outcome.Waiting || l.Status == outcome.Missed || l.Status == outcome.GivenUp {
			q.Scope.Instances = append(q.Scope.Instances, l.Instance)
			q.Launches = append(q.Launches, h.remembered(l))
		}
	}
	q.Scope.Subnets, q.Scope.Instances = unique(q.Scope.Subnets), unique(q.Scope.Instances)
	var failed *snapshot.Failure
	q.Groups, failed = h.reader.GroupsOf(ctx, cluster)
	fail(failed)
	ids := q.Scope.Instances
	if members {
		for _, g := range q.Groups {
			for _, m := range g.Instances {
				ids = append(ids, m.ID)
			}
		}
	}
	q.Instances, failed = h.reader.Find(ctx, unique(ids), nil)
	fail(failed)
	if len(q.Failed) == 0 {
		var more []snapshot.Group
		more, failed = h.reader.Groups(ctx, missing(q.Instances, q.Groups))
		q.Groups = append(q.Groups, more...)
		fail(failed)
	}
	return h.reader.Read(ctx, q)
}

// remembered is a launch as checks know it. One that missed the roll call is
// overdue, whatever its nodegroup had learned to wait for.
func (h handler) remembered(l report.Launch) snapshot.ExpectedJoin {
	due := l.Started.Add(h.joinTime)
	if l.Status != outcome.Waiting && due.After(h.now()) {
		due = h.now().Add(-time.Second)
	}
	return snapshot.ExpectedJoin{Instance: l.Instance, Started: l.Started, Due: due}
}

// missing are the groups of instances that were not read yet.
func missing(instances []snapshot.Instance, read []snapshot.Group) []string {
	return slices.DeleteFunc(detect.GroupsOf(instances), func(name string) bool {
		return slices.ContainsFunc(read, func(g snapshot.Group) bool { return g.Name == name })
	})
}

func unique(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}
