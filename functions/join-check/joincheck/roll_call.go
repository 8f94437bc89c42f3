package joincheck

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"rollcall/shared/catalog"
	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/checks/check"
	"rollcall/shared/detect"
	"rollcall/shared/diagnosis"
	"rollcall/shared/event"
	"rollcall/shared/event/inbox"
	"rollcall/shared/gather"
	"rollcall/shared/incident"
	"rollcall/shared/node/outcome"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
)

// call calls the roll of one cluster: who has joined, who is gone, who has
// missed it and why. Report gets the result before anything is remembered, so that a
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
	if r.entries, r.lost, err = h.addRecords(ctx, stillExpected(r.entries, s, about, h.Config.GiveUp), about); err != nil {
		return err
	}
	// From here on the snapshot holds only what is called.
	q := r.query(h.Query(cluster, r.account))
	held := s.Instances
	q.Time, s.Instances, s.Groups = s.Time, q.Instances, q.Groups
	verdicts := decide(r, s, h.Config.GiveUp)
	s.Scope, s.Launches = scope(r, verdicts, starved), remembered(r.entries)
	list := toRun(r, s.Scope)
	if len(list) > 0 {
		h.readCauses(ctx, s, q, list, joined)
		if named := gather.NamedByClaims(s, held); len(named) > 0 && s.Has(snapshot.Instances) {
			h.Reader.Unshown(ctx, s, named)
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
		h.Reader.Unshown(ctx, s, gather.NamedByNodes(s))
	}
}

// readCauses reads what the checks need to explain the launches.
func (h handler) readCauses(ctx context.Context, s *snapshot.Snapshot, q gather.Query, list []check.Check, joined []snapshot.Past) {
	q.Scope, q.Launches = s.Scope, s.Launches
	if len(s.Scope.Instances)+len(s.Scope.Subnets) > 0 {
		q.Types = h.addHistory(ctx, s, joined)
	}
	h.Reader.More(ctx, s, q, gather.JoinSources(list)...)
	s.Taken = h.Now()
}

// unjudged are nodes whose state is unknown: that nothing is found
// wrong with what is not seen says nothing.
func unjudged(s *snapshot.Snapshot, r roll) []diagnosis.Unknown {
	const missing = checkid.NodeNotRegistered
	var list []diagnosis.Unknown
	if r.sweep && !s.Has(snapshot.Instances) {
		list = append(list, diagnosis.Unknown{Check: missing, Blocked: []snapshot.Failure{s.Why(snapshot.Instances)}})
	}
	if f := r.unowned; f != nil && (f.Reason != snapshot.NotRead || f.Code == snapshot.NotCaptured) {
		list = append(list, diagnosis.Unknown{Check: missing, Covers: r.strangers, Blocked: []snapshot.Failure{*f}})
	}
	for _, id := range slices.Sorted(maps.Keys(s.Missing[snapshot.Instances])) {
		list = append(list, diagnosis.Unknown{Check: missing, Covers: []string{id}, Blocked: []snapshot.Failure{s.Missing[snapshot.Instances][id]}})
	}
	return list
}

// toRun are the checks that have something to judge: all that explain
// launches when an instance is in trouble or a subnet is suspected; in a sweep at least those
// that watch the cluster itself.
func toRun(r roll, sc snapshot.Scope) []check.Check {
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

// batch is the launches whose time has come.
type batch struct {
	// launched are those by instance. Again is set on those of which one of the messages is
	// a reminder of ours, too: the next one follows from it. Events are not followed, or
	// each would have a chain of reminders of its own, but for those that come again, which
	// a run may have recorded that ended before it reminded itself.
	launched detect.NewsByID
	failed   []string // messages to give back
}

// sort reads the messages. Several of one instance are one launch.
func (h handler) sort(messages []inbox.Message) batch {
	b := batch{launched: detect.NewsByID{}}
	var list []detect.Message
	list, b.failed = h.Messages(messages)
	for _, m := range list {
		switch m.Kind {
		case event.Reminder:
			m.Again = true
			for _, id := range m.Instances {
				m.Instance = id
				b.launched.Add(m)
			}
		case event.LaunchStarted, event.LaunchSucceeded, event.InstanceRunning:
			if m.Warm {
				h.Count("WarmPoolInstances", 1)
				continue
			}
			b.launched.Add(m)
		case event.LaunchFailed:
			// launch-watch explains it; there is no instance to call.
		default:
			h.Ignore(m, m.Why)
		}
	}
	return b
}

// roll is the launches of one cluster that are called together.
type roll struct {
	account string
	sweep   bool
	entries []entry
	groups  []snapshot.Group
	failed  []snapshot.Failure
	// incidents are those of the cluster.
	incidents []incident.Incident
	// learned is how long launches have to join.
	learned detect.Learned
	// lost are nodes that had joined and have ended soon after.
	lost []entry
	// tagging reports whether Karpenter has set its tag on one of the instances.
	tagging bool
	// strangers are instances of the VPC that may be the cluster's: unowned is why their user
	// data, which could name it, was not read.
	strangers []string
	unowned   *snapshot.Failure
	// joins are those that teach how long joining takes, by nodegroup.
	joins map[string][]outcome.Join
}

// entry is one launch.
type entry struct {
	launch store.LaunchRecord
	// unsure: whether it is recorded has not been looked up.
	unsure bool
	// silent ones are looked at and not called: they are not waited for any
	// more, or it is unknown whether they are nodes.
	silent bool
	// reminded: a reminder of ours brought it.
	reminded bool
	instance *snapshot.Instance // nil: EC2 does not describe it
}

// rolls sorts the batch by cluster. Unknown are instances that neither EC2 nor
// our records know: minutes after their launch they have ended long ago, and
// their owner is unknown.
func (b batch) rolls(a detect.Assignment, known map[string]store.LaunchRecord, ids []string, learned map[string]detect.Learned) (all map[string]roll, unknown []string) {
	all = map[string]roll{}
	add := func(cluster string, e entry, n detect.News) {
		r := all[cluster]
		e.reminded = n.Again
		r.entries = append(r.entries, e)
		r.learned = learned[cluster]
		r.account = cmp.Or(n.Account, r.account)
		all[cluster] = r
	}
	found := map[string]bool{}
	for _, id := range slices.Concat(a.Foreign, a.Warm, a.Unsure) {
		found[id] = true
	}
	for _, cluster := range a.Names() {
		for _, in := range a.Clusters[cluster] {
			found[in.ID] = true
			l, recorded := known[in.ID]
			if !recorded {
				l = detect.Fresh(cluster, in, b.launched[in.ID].Clock, learned[cluster])
			}
			in = detect.Recall(in, l)
			add(cluster, entry{launch: l, instance: &in}, b.launched[in.ID])
		}
	}
	for _, id := range ids {
		l, recorded := known[id]
		switch {
		case found[id]:
		case recorded:
			add(l.Cluster, entry{launch: l}, b.launched[id])
		default:
			unknown = append(unknown, id)
		}
	}
	return all, unknown
}

// scope is what the checks judge: Ready nodes whose pods do not start; launches that missed the roll or ended
// before they joined; those that no event told of, which were not looked at
// yet; and what open incidents are about, so that they can be closed.
func scope(r roll, verdicts []outcome.Verdict, starving []string) snapshot.Scope {
	var sc snapshot.Scope
	for i, e := range r.entries {
		switch v := verdicts[i].Status; {
		case slices.Contains(starving, e.launch.Instance):
			sc.Instances = append(sc.Instances, e.launch.Instance) // its subnet is not in question
			continue
		case e.silent && e.instance != nil && e.instance.Ended():
			continue
		case e.silent, v == outcome.Missed, v == outcome.Gone, v == outcome.GivenUp, v == outcome.Waiting && !e.launch.Recorded():
		default:
			continue
		}
		if e.instance != nil {
			sc.Instances = append(sc.Instances, e.launch.Instance)
		}
		sc.Subnets = append(sc.Subnets, e.launch.Subnet)
	}
	sc.Subnets = append(sc.Subnets, covered(r.incidents, subnetID)...)
	if r.sweep {
		for _, g := range r.groups {
			sc.Launchable = append(sc.Launchable, g.Subnets...)
		}
	}
	sc.Instances, sc.Subnets, sc.Launchable = detect.Distinct(sc.Instances), detect.Distinct(sc.Subnets), detect.Distinct(sc.Launchable)
	return sc
}

// covered are the ids of a kind that incidents which are not closed are about.
func covered(incidents []incident.Incident, kind func(string) bool) []string {
	var ids []string
	for _, i := range incidents {
		if i.State == incident.Closed {
			continue
		}
		for _, c := range i.Covers {
			if kind(c) {
				ids = append(ids, c)
			}
		}
	}
	return detect.Distinct(ids)
}

// absent is what open incidents are about and exists no more: instances that
// ended or that EC2 has forgotten, groups, add-ons, Karpenter's objects. Nothing is absent that was
// not looked for.
func absent(s *snapshot.Snapshot, r roll) []string {
	if !r.sweep {
		return nil
	}
	var gone []string
	if s.Has(snapshot.Instances) {
		for _, id := range covered(r.incidents, instanceID) {
			i := slices.IndexFunc(r.entries, func(e entry) bool { return e.launch.Instance == id && e.instance != nil })
			if i < 0 || r.entries[i].instance.Ended() {
				gone = append(gone, id)
			}
		}
	}
	for _, i := range r.incidents {
		if i.State == incident.Closed {
			continue
		}
		for _, c := range i.Covers {
			switch covers := catalog.Meaning(i.Key.Check).CoversToo; {
			// What explains a refused launch covers its group, beside the subnet.
			case covers == catalog.Groups && ungrouped(c):
				if karpenterGone(s, c) {
					gone = append(gone, c)
				}
			case covers == catalog.Groups && !subnetID(c) && s.Has(snapshot.Groups):
				if !slices.ContainsFunc(s.Groups, func(g snapshot.Group) bool { return g.Name == c }) {
					gone = append(gone, c)
				}
			case covers == catalog.NodePools:
				if karpenterGone(s, c) {
					gone = append(gone, c)
				}
			case covers == catalog.Addons && s.Has(snapshot.Addons):
				if !slices.ContainsFunc(s.Addons, func(a snapshot.Addon) bool { return a.Name == c }) {
					gone = append(gone, c)
				}
			}
		}
	}
	return gone
}

// ungrouped tells what launches without an Auto Scaling group, as refused launches
// name it.
func ungrouped(key string) bool {
	return strings.HasPrefix(key, snapshot.PoolKey("")) || strings.HasPrefix(key, snapshot.RoleKey(""))
}

// karpenterGone reports whether an object of Karpenter is there no more, or is on its
// way out, by the name that kubectl gives it. A class is no trouble either
// once no NodePool names it.
func karpenterGone(s *snapshot.Snapshot, key string) bool {
	kind, _, _ := strings.Cut(key, "/")
	switch kind {
	case "nodepool":
		return s.Has(snapshot.NodePoolsOf) && !slices.ContainsFunc(s.NodePools, func(p snapshot.NodePool) bool { return !p.Deleting && check.PoolKey(p.Name) == key })
	case "nodeclaim":
		return s.Has(snapshot.NodeClaimsOf) && !slices.ContainsFunc(s.NodeClaims, func(c snapshot.NodeClaim) bool { return !c.Deleting && check.ClaimKey(c.Name) == key })
	case "ec2nodeclass", "nodeclass":
		return s.Has(snapshot.NodePoolsOf) && !slices.ContainsFunc(s.NodePools, func(p snapshot.NodePool) bool { return !p.Deleting && check.ClassKey(p.Class) == key })
	}
	return false
}

// remembered are the launches as the checks read them.
func remembered(entries []entry) []snapshot.ExpectedJoin {
	list := make([]snapshot.ExpectedJoin, 0, len(entries))
	for _, e := range entries {
		list = append(list, detect.Expected(e.launch))
	}
	return list
}

// launchesOf is how each launch stands, for report.
func launchesOf(entries []entry, verdicts []outcome.Verdict, starving []string, now time.Time) []report.Launch {
	list := make([]report.Launch, 0, len(entries))
	for i, e := range entries {
		if e.silent && !slices.Contains(starving, e.launch.Instance) {
			continue
		}
		v, l := verdicts[i], e.launch.Launch
		l.Status, l.Registered, l.Ready, l.Ended, l.EndedWhy = v.Status, v.Registered, v.Ready, v.Ended, v.EndedWhy
		if v.Reason == outcome.Tagged {
			l.Tagged = now
		}
		list = append(list, l)
	}
	return list
}

func subnetID(id string) bool { return len(id) > 7 && id[:7] == "subnet-" }

func instanceID(id string) bool { return strings.HasPrefix(id, "i-") }

// sweep looks at a cluster as a whole: events are best effort, so launches
// whose events were lost are found here, and those that missed the roll are
// called again.
func (h handler) sweep(ctx context.Context, cluster, account string) error {
	open, err := h.Table.OpenLaunches(ctx, cluster)
	if err != nil {
		return fmt.Errorf("read the open launches: %w", err)
	}
	r := roll{account: account, sweep: true, learned: h.Learn(ctx, h.Table, cluster, h.Config.JoinTime)}
	if r.incidents, err = h.Table.Incidents(ctx, cluster); err != nil {
		return fmt.Errorf("read the incidents: %w", err)
	}
	var groupsFailed *snapshot.Failure
	r.groups, groupsFailed = h.Reader.GroupsOf(ctx, cluster)
	all, failed := h.findInstances(ctx, cluster, open, r)
	r.failed = append(r.failed, detect.Failures(groupsFailed, failed)...)
	if failed == nil && groupsFailed == nil {
		var more []snapshot.Group
		more, groupsFailed = h.Reader.Groups(ctx, otherGroups(all, r.groups))
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
	all, failed := h.Reader.FindTaggedAll(ctx, cluster)
	if failed != nil {
		return nil, failed
	}
	var names []string
	for _, g := range r.groups {
		names = append(names, g.Name)
	}
	grouped, failed := h.Reader.FindGrouped(ctx, names)
	if failed != nil {
		return nil, failed
	}
	all = join(all, grouped)
	more, failed := h.Reader.Find(ctx, missingFrom(all, open, r.incidents), nil)
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
			entries = append(entries, entry{launch: l, instance: &in})
			continue
		}
		entries = append(entries, entry{launch: detect.Fresh(cluster, in, in.Launched, learned), unsure: true, instance: &in})
	}
	for id, l := range open {
		if !seen[id] {
			entries = append(entries, entry{launch: l})
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

// unnamed finds the instances of the cluster's VPC that do not carry its usual
// tag: by another tag, by their group, or by nothing but their user data. An
// instance of the last kind becomes a node only by luck, and no event rule can
// tell it from any other (instance/cluster-tag). What kept it from looking is
// reported with those that it found all the same.
func (h handler) unnamed(ctx context.Context, s *snapshot.Snapshot, r *roll) ([]entry, *snapshot.Failure) {
	if s.Cluster.VPC == "" || !s.Read[snapshot.Clusters] {
		return nil, nil
	}
	list, failed := h.Reader.FindIn(ctx, s.Cluster.VPC)
	if failed != nil {
		return nil, failed
	}
	known := map[string]bool{}
	for _, e := range r.entries {
		known[e.launch.Instance] = true
	}
	for _, n := range s.Nodes {
		known[n.Instance] = true
	}
	list = slices.DeleteFunc(list, func(in snapshot.Instance) bool {
		return known[in.ID] || in.Ended() || s.Time.Sub(in.Launched) > h.Config.GiveUp
	})
	evidence := detect.Evidence{Groups: r.groups, Watches: func(name string) bool { return name == s.Cluster.Name }}
	strangers := strangersIn(list, r.groups)
	if evidence.Named, failed = h.NamedByUserData(ctx, strangers); failed != nil {
		r.strangers, r.unowned = detect.IDs(strangers), failed
	}
	var entries []entry
	for _, in := range detect.Assign(list, evidence).Clusters[s.Cluster.Name] {
		entries = append(entries, entry{launch: detect.Fresh(s.Cluster.Name, in, in.Launched, r.learned), unsure: true, instance: &in})
	}
	return entries, failed
}

// strangersIn are the instances that neither a tag nor a group of the cluster names.
func strangersIn(list []snapshot.Instance, groups []snapshot.Group) []snapshot.Instance {
	return slices.DeleteFunc(slices.Clone(list), func(in snapshot.Instance) bool {
		_, tagged := gather.ClusterOf(in.Tags)
		return tagged || slices.ContainsFunc(groups, func(g snapshot.Group) bool { return g.Name == detect.GroupOf(in) })
	})
}
