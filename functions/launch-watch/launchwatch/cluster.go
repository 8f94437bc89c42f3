package launchwatch

import (
	"slices"
	"time"

	"rollcall/shared/checks"
	"rollcall/shared/detect"
	"rollcall/shared/gather"
	"rollcall/shared/node/outcome"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
)

// clusterCase is what there is to look at in one cluster.
type clusterCase struct {
	account   string
	instances []snapshot.Instance
	groups    []snapshot.Group
	subnets   []string            // of launches that failed
	told      []snapshot.Activity // of those that failed
	calls     []snapshot.RefusedLaunch
	failed    []snapshot.Failure
	news      map[string]news
	known     map[string]store.LaunchRecord
}

// cases sorts the batch by cluster.
func (h handler) cases(b *batch, a detect.Assignment, groups []snapshot.Group, groupsUnread bool) map[string]clusterCase {
	all := map[string]clusterCase{}
	for name, list := range a.Clusters {
		c := clusterCase{news: map[string]news{}, known: b.known}
		for _, in := range list {
			c.instances = append(c.instances, detect.Recall(in, b.known[in.ID]))
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
	for _, id := range sortedKeys(b.failures) {
		f := b.failures[id]
		i := slices.IndexFunc(groups, func(g snapshot.Group) bool { return g.Name == f.Group })
		if i < 0 && groupsUnread {
			h.Log.Warn("whose the failed launch is cannot be told without its group, its message goes back to the queue", "group", f.Group)
			b.failed = append(b.failed, f.message)
			continue
		}
		cluster, ok := "", false
		if i >= 0 {
			cluster, ok = gather.ClusterOf(groups[i].Tags)
		}
		if !ok || !h.Watches(cluster) {
			h.Count("ForeignInstances", 1)
			continue
		}
		h.Log.Info("a launch failed", "cluster", cluster, "group", f.Group, "message", f.Message)
		h.Count("FailedLaunches", 1)
		c := all[cluster]
		c.account = f.Account
		c.told = append(c.told, activityOf(f.Trigger))
		if f.Subnet != "" {
			c.subnets = append(c.subnets, f.Subnet)
		} else {
			c.subnets = append(c.subnets, groups[i].Subnets...)
		}
		all[cluster] = c
	}
	for name, c := range all {
		for _, g := range groups {
			if cluster, ok := gather.ClusterOf(g.Tags); ok && cluster == name || slices.Contains(detect.GroupsOf(c.instances), g.Name) {
				c.groups = append(c.groups, g)
			}
		}
		all[name] = c
	}
	return all
}

// query adds to a query what the look at the cluster is about.
func (c clusterCase) query(q gather.Query, learned detect.Learned) gather.Query {
	q.Scope = snapshot.Scope{
		Instances: detect.IDs(c.instances),
		Subnets:   detect.Distinct(detect.SubnetsOf(c.instances), c.subnets, refusedIn(c.calls)),
	}
	q.Instances, q.Groups, q.Failed = c.instances, c.groups, c.failed
	q.Nodegroups, q.Sources = detect.ManagedOf(c.instances), gather.LaunchSources(checks.AtLaunch())
	for _, in := range c.instances {
		if q.VPC == "" {
			q.VPC = in.VPC
		}
		q.Launches = append(q.Launches, detect.Expected(c.record(q.Cluster, in, learned)))
	}
	return q
}

// refusedIn are the subnets of calls that were refused.
func refusedIn(calls []snapshot.RefusedLaunch) []string {
	var subnets []string
	for _, call := range calls {
		subnets = append(subnets, call.Subnets...)
	}
	return subnets
}

// record is what is remembered of an instance's launch, or will be.
func (c clusterCase) record(cluster string, in snapshot.Instance, learned detect.Learned) store.LaunchRecord {
	l, ok := c.known[in.ID]
	if !ok {
		l = detect.Fresh(cluster, in, c.news[in.ID].clock, learned)
	}
	if facts := c.news[in.ID].facts; facts != (outcome.Facts{}) {
		l.Learn(facts)
	}
	return l
}

// launches tells how each launch stands: there is no node yet to look for.
func (c clusterCase) launches(cluster string, now time.Time, learned detect.Learned) []report.Launch {
	var list []report.Launch
	for _, in := range c.instances {
		r := c.record(cluster, in, learned)
		v := outcome.Decide(
			outcome.Launch{Started: r.Started},
			outcome.Seen{EC2Read: true, Instance: &in}, now, outcome.Policy{Due: r.Due, GiveUp: r.Due.Sub(r.Started)})
		l := detect.Launch(in, r.Started)
		if v.Status == outcome.Gone {
			l.Status, l.Ended, l.EndedWhy = v.Status, v.Ended, v.EndedWhy
		}
		list = append(list, l)
	}
	return list
}
