// Package nodegroupwatch makes the event that EKS does not send: a nodegroup's
// status, health or update has changed.
package nodegroupwatch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"rollcall/functions/nodegroup-watch/spec"
	"rollcall/shared/bus"
	"rollcall/shared/catalog"
	"rollcall/shared/checks"
	"rollcall/shared/checks/check"
	"rollcall/shared/config"
	"rollcall/shared/detect"
	"rollcall/shared/event"
	"rollcall/shared/event/inbox"
	"rollcall/shared/gather"
	"rollcall/shared/incident"
	"rollcall/shared/lambda"
	"rollcall/shared/node/outcome"
	"rollcall/shared/nodegroup"
	"rollcall/shared/queue"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
)

// handle takes a batch of events and reminders, a cluster's turn to be swept (EKS sends
// no event when a nodegroup degrades), or the wish that it be looked at now.
func (h handler) handle(ctx context.Context, raw json.RawMessage) (any, error) {
	if messages, ok := inbox.Batch(raw); ok {
		return h.batch(ctx, messages)
	}
	t, err := event.Parse(raw)
	if err != nil {
		return nil, err
	}
	sweep := func(ctx context.Context, cluster string) error {
		return h.visit(ctx, cluster, visit{account: t.Account, sweep: true})
	}
	switch t.Kind {
	case event.ClusterSweep, event.CheckWanted:
		return nil, h.One(ctx, t.Cluster, sweep)
	}
	return nil, fmt.Errorf("nodegroup-watch is woken by its queue, by sweeps and by wishes, not by %s", t.Type)
}

// batch looks at what the messages are about, each cluster once. The messages
// of a cluster that could not be looked at go back; the others do not wait.
func (h handler) batch(ctx context.Context, messages []inbox.Message) (any, error) {
	b := h.visits(messages)
	for _, cluster := range b.clusters() {
		v := b.visits[cluster]
		if err := h.visit(ctx, cluster, *v); err != nil {
			h.Log.ErrorContext(ctx, "could not check cluster, its messages go back to the queue", "cluster", cluster, "error", err.Error())
			h.Count("FailedLooks", 1)
			b.failed = append(b.failed, v.messages...)
		}
	}
	return inbox.Failures(b.failed), nil
}

// visit looks at a cluster's nodegroups and add-ons, tells report what is
// wrong, and anyone what has changed. Report gets it before anything is
// remembered: a crash in between leads to telling it twice, which it notices.
func (h handler) visit(ctx context.Context, cluster string, v visit) error {
	records, err := h.Table.Nodegroups(ctx, cluster)
	if err != nil {
		return err
	}
	q := h.Query(cluster, v.account)
	q.Nodegroups, q.AllNodegroups = v.names, v.sweep
	q.Sources = []snapshot.Source{snapshot.Nodegroups, snapshot.Addons}
	s, err := h.Read(ctx, q)
	if err != nil {
		return h.IgnoreNoCluster(ctx, cluster, err)
	}
	// These were not read yet: that they count as read would be taken for
	// the proof that they can be.
	delete(s.Read, snapshot.Instances)
	delete(s.Read, snapshot.Groups)
	h.readUpdates(ctx, s, q, v, records)
	next := compare(s, v, records)
	addSince(s, next)
	look, err := h.choose(ctx, s, q, v)
	if err != nil {
		return err
	}
	if _, err := h.Run(ctx, s, look); err != nil {
		return err
	}
	return h.keep(ctx, records, next, s.Time)
}

// choose is what is made of the snapshot. Where a nodegroup or an add-on is
// in trouble, what keeps its nodes from joining is looked at too, and judged in the same
// diagnosis: what EKS names is often only how something else shows.
func (h handler) choose(ctx context.Context, s *snapshot.Snapshot, q gather.Query, v visit) (l detect.Look, err error) {
	l.Checks = checks.OfHealth()
	if t := troubled(s); t.any() {
		l.Checks = slices.Concat(checks.OfLaunches(), nodegroupChecks())
		if l.Launches, err = h.readLaunches(ctx, s, q, t); err != nil {
			return l, err
		}
	}
	if !v.sweep {
		return l, nil
	}
	incidents, err := h.Table.Incidents(ctx, s.Cluster.Name)
	if err != nil {
		return l, fmt.Errorf("read the incidents: %w", err)
	}
	l.Sweep, l.Absent = true, absent(s, incidents)
	return l, nil
}

// nodegroupChecks are those of OfHealth that OfLaunches leaves out.
func nodegroupChecks() []check.Check {
	have := checks.OfLaunches()
	return slices.DeleteFunc(checks.OfHealth(), func(c check.Check) bool {
		return slices.ContainsFunc(have, func(o check.Check) bool { return o.ID == c.ID })
	})
}

// absent is what open incidents are about and exists no more: nodegroups and
// add-ons. Nothing is absent that was not looked for.
func absent(s *snapshot.Snapshot, incidents []incident.Incident) []string {
	var gone []string
	for _, i := range incidents {
		if i.State == incident.Closed {
			continue
		}
		for _, c := range i.Covers {
			switch catalog.Meaning(i.Key.Check).CoversToo {
			case catalog.Nodegroups:
				if s.Has(snapshot.Nodegroups) && !slices.ContainsFunc(s.Nodegroups, func(n snapshot.Nodegroup) bool { return n.Name == c }) {
					gone = append(gone, c)
				}
			case catalog.Addons:
				if s.Has(snapshot.Addons) && !slices.ContainsFunc(s.Addons, func(a snapshot.Addon) bool { return a.Name == c }) {
					gone = append(gone, c)
				}
			}
		}
	}
	return detect.Distinct(gone)
}

// batch is what the messages ask to be looked at.
type batch struct {
	visits map[string]*visit
	failed []string // messages to give back
}

func (b batch) clusters() []string { return slices.Sorted(maps.Keys(b.visits)) }

// visit is one look at one cluster.
type visit struct {
	account string
	sweep   bool
	// names are the nodegroups that events or reminders name; the sweep looks
	// at all. By says what named each.
	names []string
	by    map[string]string
	// updated are those of which an update is known to have begun.
	updated  []string
	messages []string
}

// wokenBy is what made us look at a nodegroup.
func (v visit) wokenBy(name string) string {
	if v.sweep {
		return "sweep"
	}
	return cmp.Or(v.by[name], "event")
}

// visits sorts the messages by cluster.
func (h handler) visits(messages []inbox.Message) batch {
	b := batch{visits: map[string]*visit{}}
	var list []detect.Message
	list, b.failed = h.Messages(messages)
	for _, m := range list {
		switch {
		case m.Kind != event.NodegroupCalled && m.Kind != event.AddonHealth && (m.Kind != event.Reminder || m.Nodegroup == ""):
			h.Ignore(m, m.Why)
		case m.Cluster == "":
			h.Log.Info("the event names no cluster, the sweep will look", "event", m.ID, "type", m.Type)
			h.Count("UnnamedClusters", 1)
		case !h.Watches(m.Cluster):
			h.Count("ForeignClusters", 1)
		default:
			b.add(m)
		}
	}
	return b
}

func (b batch) add(t detect.Message) {
	v := b.visits[t.Cluster]
	if v == nil {
		v = &visit{by: map[string]string{}}
		b.visits[t.Cluster] = v
	}
	v.account = cmp.Or(v.account, t.Account)
	v.messages = append(v.messages, t.Receipt)
	if t.Nodegroup == "" {
		return
	}
	if !slices.Contains(v.names, t.Nodegroup) {
		v.names = append(v.names, t.Nodegroup)
	}
	if t.Update != "" {
		v.updated = append(v.updated, t.Nodegroup)
	}
	// A call or an event shows more than our own reminder.
	switch {
	case t.Kind != event.Reminder:
		v.by[t.Nodegroup] = cmp.Or(t.Call, t.Type)
	case v.by[t.Nodegroup] == "":
		v.by[t.Nodegroup] = "reminder"
	}
}

// Memory is what nodegroup-watch remembers by.
type Memory interface {
	Nodegroups(ctx context.Context, cluster string) (map[string]nodegroup.Record, error)
	SaveNodegroup(ctx context.Context, r nodegroup.Record) (nodegroup.Record, error)
	GetLaunches(ctx context.Context, instances []string) (map[string]store.LaunchRecord, error)
	Incidents(ctx context.Context, cluster string) ([]incident.Incident, error)
}

// Reader is how it looks.
type Reader interface {
	Find(ctx context.Context, ids, groups []string) ([]snapshot.Instance, *snapshot.Failure)
	FindGrouped(ctx context.Context, groups []string) ([]snapshot.Instance, *snapshot.Failure)
	Groups(ctx context.Context, names []string) ([]snapshot.Group, *snapshot.Failure)
	More(ctx context.Context, s *snapshot.Snapshot, q gather.Query, sources ...snapshot.Source)
}

// Reminder wakes it again.
type Reminder interface {
	LookAtNodegroup(ctx context.Context, cluster, name string, now time.Time, delay time.Duration) error
}

// Teller tells anyone of what has changed.
type Teller interface {
	TellNodegroups(ctx context.Context, events []nodegroup.Event) error
}

var (
	_ Memory        = (*store.Store)(nil)
	_ Reader        = (*gather.Reader)(nil)
	_ detect.Reader = (*gather.Reader)(nil)
	_ detect.Sender = queue.Queues{}
	_ Reminder      = queue.Queues{}
	_ Teller        = (*bus.Bus)(nil)
)

// Parts are what the handler is made of. Build makes them of AWS; who looks at a
// cluster with nothing deployed has a memory of its own (command/diagnose/look).
type Parts struct {
	detect.Detector
	Config config.Config
	Table  Memory
	Reader Reader
	Remind Reminder
	Tell   Teller
}

type handler Parts

// New makes the handler of its parts.
func New(p Parts) lambda.Handler { return handler(p).handle }

// Build makes the handler of nodegroup-watch from what its invocations share.
func Build(_ context.Context, e lambda.Env) (lambda.Handler, error) {
	return newHandler(e).handle, nil
}

func newHandler(e lambda.Env) handler {
	keep := detect.KeepEvidence(e)
	reader := detect.NewReader(e, keep)
	queues := queue.Queues{Client: sqs.NewFromConfig(e.AWS), Results: e.Config.ResultQueueURL, Nodegroups: e.Config.NodegroupQueueURL, Spoke: e.Config.Spoke}
	return handler{
		Detector: detect.New(spec.Name, e, reader, queues).Keeping(keep),
		Config:   e.Config,
		Table:    detect.Table(e),
		Reader:   reader,
		Remind:   queues,
		Tell:     bus.New(eventbridge.NewFromConfig(e.AWS), e.Config.BusName),
	}
}

// readUpdates reads the updates of those nodegroups that may have new ones.
func (h handler) readUpdates(ctx context.Context, s *snapshot.Snapshot, q gather.Query, v visit, records map[string]nodegroup.Record) {
	q.Updated = []string{}
	for _, n := range s.Nodegroups {
		if slices.Contains(v.updated, n.Name) || records[n.Name].WantsUpdates(n) {
			q.Updated = append(q.Updated, n.Name)
		}
	}
	h.Reader.More(ctx, s, q, snapshot.Updates)
}

// compare holds what was seen against the records. What was not looked for is
// not absent.
func compare(s *snapshot.Snapshot, v visit, records map[string]nodegroup.Record) map[string]nodegroup.Record {
	next := map[string]nodegroup.Record{}
	if !s.Has(snapshot.Nodegroups) {
		return next
	}
	look := func(name string, n *snapshot.Nodegroup) {
		_, lacks := s.Lacks(snapshot.Updates, name)
		next[name], _ = nodegroup.Compare(records[name], nodegroup.Look{
			At: s.Time, Account: s.Account, Region: s.Region, Partition: s.Partition,
			Cluster: s.Cluster.Name, Nodegroup: name, WokenBy: v.wokenBy(name),
			Seen: n, UpdatesRead: n != nil && s.Has(snapshot.Updates) && !lacks,
		})
	}
	for i := range s.Nodegroups {
		look(s.Nodegroups[i].Name, &s.Nodegroups[i])
	}
	for name := range records {
		if _, seen := next[name]; !seen && (v.sweep || slices.Contains(v.names, name)) {
			look(name, nil)
		}
	}
	return next
}

// addSince puts into the snapshot since when each status and issue is known.
func addSince(s *snapshot.Snapshot, records map[string]nodegroup.Record) {
	for i := range s.Nodegroups {
		n := &s.Nodegroups[i]
		r, known := records[n.Name]
		if !known {
			continue
		}
		n.Since = r.Since
		for k := range n.Issues {
			if k < len(r.Issues) && r.Issues[k].Code == n.Issues[k].Code {
				n.Issues[k].Since = r.Issues[k].Since
			}
		}
	}
}

// trouble is what has to be looked at more closely.
type trouble struct {
	nodegroups []snapshot.Nodegroup
	// named are the instances that EKS names.
	named []string
	// addons reports whether an add-on is in trouble: nodes that are not Ready may be so
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
	h.Reader.More(ctx, s, q, snapshot.Nodes)
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
	known, err := h.Table.GetLaunches(ctx, detect.Distinct(append(slices.Clone(scope), ids...)))
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
			l = detect.Fresh(s.Cluster.Name, in, in.Launched, detect.Learned{Setting: h.Config.JoinTime})
			if !s.Time.Before(l.Due) {
				l.Status = outcome.Missed
			}
		}
		s.Launches = append(s.Launches, detect.Expected(l))
		launches = append(launches, l.Launch)
	}
	q.Scope, q.Instances, q.Groups, q.Launches = s.Scope, s.Instances, s.Groups, s.Launches
	h.Reader.More(ctx, s, q, gather.JoinSources(checks.OfLaunches())...)
	return launches, nil
}

// find reads the instances of groups and those of the ids.
func (h handler) find(ctx context.Context, s *snapshot.Snapshot, ids, groups []string) []snapshot.Instance {
	var all []snapshot.Instance
	var failed *snapshot.Failure
	if len(groups) > 0 {
		all, failed = h.Reader.FindGrouped(ctx, detect.Distinct(groups))
	}
	missing := slices.DeleteFunc(detect.Distinct(ids), func(id string) bool {
		return slices.ContainsFunc(all, func(in snapshot.Instance) bool { return in.ID == id })
	})
	if failed == nil && len(missing) > 0 {
		var more []snapshot.Instance
		more, failed = h.Reader.Find(ctx, missing, nil)
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
	list, failed := h.Reader.Groups(ctx, names)
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

const (
	// soon is how soon a nodegroup that is on its way is looked at again: EKS
	// takes minutes for anything.
	soon = time.Minute
	// patience is how long it is followed by the minute; after that the sweep
	// is enough.
	patience = time.Hour
)

// keep remembers what was seen, and tells what has changed. Events stand in
// the record until the bus took them: a crash loses none, and tells none anew
// under another id.
func (h handler) keep(ctx context.Context, records, next map[string]nodegroup.Record, now time.Time) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(next)) {
		r := next[name]
		if !r.Known() {
			continue
		}
		if err := h.keepOne(ctx, records[name], r, now); err != nil {
			errs = append(errs, fmt.Errorf("nodegroup %s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

func (h handler) keepOne(ctx context.Context, last, r nodegroup.Record, now time.Time) (err error) {
	r, again := followed(r, now)
	if !r.Same(last) {
		if r, err = h.Table.SaveNodegroup(ctx, r); err != nil {
			return h.lost(err)
		}
	}
	if again {
		if err := h.Remind.LookAtNodegroup(ctx, r.Cluster, r.Nodegroup, now, soon); err != nil {
			return err
		}
	}
	if len(r.Untold) == 0 || r.Events == last.Events && beingTold(r, now) {
		return nil
	}
	if err := h.Tell.TellNodegroups(ctx, r.Untold); err != nil {
		return err
	}
	h.Count("NodegroupEvents", len(r.Untold))
	for _, e := range r.Untold {
		h.Log.InfoContext(ctx, "nodegroup changed", "cluster", e.Cluster, "nodegroup", e.Nodegroup, "reason", e.Reason, "previous", e.Previous, "status", e.Status, "sequence", e.Sequence)
	}
	r.Untold = nil
	_, err = h.Table.SaveNodegroup(ctx, r)
	return h.lost(err)
}

// telling is how long an invocation that put events into a record may be
// telling them: as long as it may run.
const telling = time.Minute

// beingTold reports whether another invocation, which found what is untold, is at
// it. Where it died meanwhile, a later look tells it.
func beingTold(r nodegroup.Record, now time.Time) bool {
	return now.Sub(r.Untold[len(r.Untold)-1].At) < telling
}

// lost makes nothing of a lost race: the other invocation saw at least as
// much, told it, and reminds itself.
func (h handler) lost(err error) error {
	var conflict *store.Conflict
	if errors.As(err, &conflict) {
		h.Count("LostRaces", 1)
		return nil
	}
	return err
}

// followed decides whether to look again soon. The record holds when: of two
// looks because of one doubled event only the first asks for another, so that
// there is one chain of reminders, whatever comes twice.
func followed(r nodegroup.Record, now time.Time) (nodegroup.Record, bool) {
	if !r.OnItsWay() {
		r.Again = time.Time{}
		return r, false
	}
	since := r.Since
	if r.Status != nodegroup.Creating && r.Status != nodegroup.Updating && r.Status != nodegroup.Deleting {
		since = r.Updates[0].Created
	}
	if now.Sub(since) >= patience || now.Before(r.Again) {
		return r, false
	}
	r.Again = now.Add(soon)
	return r, true
}
