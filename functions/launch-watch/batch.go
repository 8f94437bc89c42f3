package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"rollcall/shared/event"
	"rollcall/shared/gather"
	"rollcall/shared/inspect"
	"rollcall/shared/outcome"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/state"
)

// batch is the events of one invocation, by what they are about.
type batch struct {
	// launched holds the first news of each instance.
	launched map[string]news
	// ended are instances that have stopped or are terminated.
	ended map[string]news
	// failures are launches without an instance, by activity.
	failures map[string]event.Trigger
	// failed are messages to give back.
	failed []string
	known  map[string]state.Launch
}

// news is what the events say of an instance.
type news struct {
	group   string
	account string
	clock   time.Time // zero when no event knows
	// messages brought it.
	messages []string
}

func (b batch) empty() bool {
	return len(b.launched)+len(b.ended)+len(b.failures) == 0
}

// open reads the messages. Several events of one instance are one launch.
func (h handler) open(messages []event.Message) batch {
	b := batch{launched: map[string]news{}, ended: map[string]news{}, failures: map[string]event.Trigger{}}
	for _, m := range messages {
		t, err := event.Parse([]byte(m.Body))
		if err != nil {
			h.log.Error("message cannot be read, it goes back to the queue", "message", m.ID, "received", m.Received, "error", err.Error())
			h.count("MalformedEvents", 1)
			b.failed = append(b.failed, m.ID)
			continue
		}
		log := h.log.With("event", t.ID, "type", t.Type, "instance", t.Instance, "group", t.Group)
		switch {
		case t.Kind == event.Foreign:
			log.Info("event ignored", "why", t.Why)
			h.count("ForeignEvents", 1)
		case t.Warm:
			log.Info("launch into a warm pool: not expected to join")
			h.count("WarmPoolInstances", 1)
		case t.Kind == event.LaunchFailed:
			b.failures[t.Activity+t.Instance] = t
		case t.Kind == event.InstanceEnded:
			merge(b.ended, t, m.ID)
		case t.Kind == event.LaunchStarted, t.Kind == event.LaunchSucceeded, t.Kind == event.InstanceRunning:
			merge(b.launched, t, m.ID)
		default:
			log.Info("event ignored", "why", "not about a launch")
			h.count("ForeignEvents", 1)
		}
	}
	return b
}

func merge(all map[string]news, t event.Trigger, message string) {
	n := all[t.Instance]
	n.account = t.Account
	if t.Group != "" {
		n.group = t.Group
	}
	if clock, ok := t.Clock(); ok && (n.clock.IsZero() || clock.Before(n.clock)) {
		n.clock = clock
	}
	n.messages = append(n.messages, message)
	all[t.Instance] = n
}

// skipKnown leaves out launches that were looked at already, and ends of
// instances that nobody waits for.
func (h handler) skipKnown(ctx context.Context, b *batch) error {
	ids := append(slices.Collect(maps.Keys(b.launched)), slices.Collect(maps.Keys(b.ended))...)
	if len(ids) == 0 {
		return nil
	}
	slices.Sort(ids)
	known, err := h.launches.GetLaunches(ctx, slices.Compact(ids))
	if err != nil {
		return fmt.Errorf("look up %d launches: %w", len(ids), err)
	}
	b.known = known
	maps.DeleteFunc(b.launched, func(id string, _ news) bool { _, ok := known[id]; return ok })
	maps.DeleteFunc(b.ended, func(id string, _ news) bool {
		l, ok := known[id]
		return !ok || l.Standing.Final()
	})
	return nil
}

func (b batch) ids() []string {
	return union(slices.Collect(maps.Keys(b.launched)), slices.Collect(maps.Keys(b.ended)))
}

// groups are the Auto Scaling groups that launched or failed to.
func (b batch) groups() []string {
	var names []string
	for _, n := range b.launched {
		names = append(names, n.group)
	}
	for _, t := range b.failures {
		names = append(names, t.Group)
	}
	return union(names, nil)
}

// unseen gives back the messages of instances that EC2 does not describe yet:
// its API lags behind its events by some seconds.
func (b *batch) unseen(found []snapshot.Instance) {
	for id, n := range b.launched {
		if !slices.ContainsFunc(found, func(in snapshot.Instance) bool { return in.ID == id }) {
			b.failed = append(b.failed, n.messages...)
			delete(b.launched, id)
		}
	}
}

// widen keeps, of the instances found by group, the young ones that nobody
// has looked at: the rest of a burst whose events are still on their way. One
// look serves them all, and theirs will find it done.
func (h handler) widen(ctx context.Context, b *batch, instances *[]snapshot.Instance) error {
	now := h.now()
	named := b.ids()
	var others []string
	for _, in := range *instances {
		if !slices.Contains(named, in.ID) && now.Sub(in.Launched) < h.joinTime {
			others = append(others, in.ID)
		}
	}
	known := map[string]state.Launch{}
	if len(others) > 0 {
		var err error
		if known, err = h.launches.GetLaunches(ctx, others); err != nil {
			return fmt.Errorf("look up %d launches: %w", len(others), err)
		}
	}
	*instances = slices.DeleteFunc(*instances, func(in snapshot.Instance) bool {
		if slices.Contains(named, in.ID) {
			return false
		}
		_, seen := known[in.ID]
		return seen || !slices.Contains(others, in.ID)
	})
	return nil
}

// clusterCase is what there is to look at in one cluster.
type clusterCase struct {
	account   string
	instances []snapshot.Instance
	groups    []snapshot.Group
	subnets   []string // of launches that failed
	failed    []snapshot.Failure
	news      map[string]news
	known     map[string]state.Launch
}

// cases sorts the batch by cluster.
func (h handler) cases(b *batch, a inspect.Assignment, groups []snapshot.Group) map[string]clusterCase {
	all := map[string]clusterCase{}
	for name, list := range a.Clusters {
		c := clusterCase{news: map[string]news{}, known: b.known}
		for _, in := range list {
			c.instances = append(c.instances, inspect.Recall(in, b.known[in.ID]))
			n, ok := b.launched[in.ID]
			if !ok {
				n = b.ended[in.ID]
			}
			c.news[in.ID] = n
			if n.account != "" {
				c.account = n.account
			}
		}
		all[name] = c
	}
	for _, t := range b.failures {
		i := slices.IndexFunc(groups, func(g snapshot.Group) bool { return g.Name == t.Group })
		if i < 0 {
			h.count("ForeignInstances", 1)
			continue
		}
		cluster, ok := gather.ClusterOf(groups[i].Tags)
		if !ok || !h.watches(cluster) {
			h.count("ForeignInstances", 1)
			continue
		}
		c := all[cluster]
		c.account = t.Account
		if t.Subnet != "" {
			c.subnets = append(c.subnets, t.Subnet)
		} else {
			c.subnets = append(c.subnets, groups[i].Subnets...)
		}
		all[cluster] = c
	}
	for name, c := range all {
		for _, g := range groups {
			if cluster, ok := gather.ClusterOf(g.Tags); ok && cluster == name || slices.Contains(inspect.GroupsOf(c.instances), g.Name) {
				c.groups = append(c.groups, g)
			}
		}
		all[name] = c
	}
	return all
}

func (c clusterCase) query(cluster, region string, now time.Time, sources []snapshot.Source) gather.Query {
	q := gather.Query{
		Account: c.account, Region: region, Time: now, Cluster: cluster,
		Scope: snapshot.Scope{
			Instances: inspect.IDs(c.instances),
			Subnets:   union(inspect.SubnetsOf(c.instances), c.subnets),
		},
		Instances: c.instances, Groups: c.groups, Failed: c.failed,
		Nodegroups: inspect.ManagedOf(c.instances), Sources: sources,
	}
	for _, in := range c.instances {
		if q.VPC == "" {
			q.VPC = in.VPC
		}
		started := c.started(in)
		q.Launches = append(q.Launches, snapshot.Launch{Instance: in.ID, Started: started, Due: started})
	}
	return q
}

// started is when the launch began: what is remembered, else the earliest of
// EC2's own launch time and the events that know.
func (c clusterCase) started(in snapshot.Instance) time.Time {
	if l, ok := c.known[in.ID]; ok {
		return l.Started
	}
	t := in.Launched
	if clock := c.news[in.ID].clock; t.IsZero() || !clock.IsZero() && clock.Before(t) {
		t = clock
	}
	return t
}

// launches tells how each launch stands: there is no node yet to look for.
func (c clusterCase) launches(now time.Time, joinTime time.Duration) []report.Launch {
	var list []report.Launch
	for _, in := range c.instances {
		started := c.started(in)
		v := outcome.Decide(
			outcome.Launch{Started: started, Due: started.Add(joinTime)},
			outcome.Seen{EC2Read: true, Instance: &in}, now, outcome.Policy{GiveUp: joinTime})
		l := inspect.Launch(in, started)
		if v.Standing == outcome.Gone {
			l.Standing, l.Ended, l.EndedWhy = v.Standing, v.Ended, v.EndedWhy
		}
		list = append(list, l)
	}
	return list
}

func (c clusterCase) record(cluster string, l report.Launch, joinTime time.Duration) state.Launch {
	r := inspect.Record(cluster, l, joinTime)
	i := slices.IndexFunc(c.instances, func(in snapshot.Instance) bool { return in.ID == l.Instance })
	r.Spot = c.instances[i].Spot
	return r
}

func union(a, b []string) []string {
	all := slices.DeleteFunc(slices.Concat(a, b), func(s string) bool { return s == "" })
	slices.Sort(all)
	return slices.Compact(all)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
