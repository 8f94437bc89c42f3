// Package joincheck calls the roll: which launches have become Ready nodes, which
// have not, and why.
package joincheck

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"golang.org/x/sync/errgroup"

	"rollcall/functions/join-check/spec"
	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/finding"
	"rollcall/shared/cloudwatchlogs"
	"rollcall/shared/detect"
	"rollcall/shared/diagnosis"
	"rollcall/shared/event"
	"rollcall/shared/event/inbox"
	"rollcall/shared/gather"
	"rollcall/shared/incident"
	"rollcall/shared/lambda"
	"rollcall/shared/node/factor"
	"rollcall/shared/node/outcome"
	"rollcall/shared/node/text"
	"rollcall/shared/queue"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
)

// handle takes a batch of launches whose time has come, a cluster's turn to be swept,
// or the wish that it be looked at now.
func (h handler) handle(ctx context.Context, raw json.RawMessage) (any, error) {
	if messages, ok := inbox.Batch(raw); ok {
		return h.batch(ctx, messages)
	}
	t, err := event.Parse(raw)
	if err != nil {
		return nil, err
	}
	sweep := func(ctx context.Context, cluster string) error { return h.sweep(ctx, cluster, t.Account) }
	switch t.Kind {
	case event.ClusterSweep, event.CheckWanted:
		return nil, h.One(ctx, t.Cluster, sweep)
	}
	return nil, fmt.Errorf("join-check is woken by its queue, by sweeps and by wishes, not by %s", t.Type)
}

// batch calls the roll of the launches in the messages.
func (h handler) batch(ctx context.Context, messages []inbox.Message) (any, error) {
	b := h.sort(messages)
	if len(b.launched) == 0 {
		return inbox.Failures(b.failed), nil
	}
	ids := slices.Sorted(maps.Keys(b.launched))
	known, err := h.Recorded(ctx, ids)
	if err != nil {
		return nil, err
	}
	// One that was called and missed it is the sweep's from then on: the other
	// events of the same launch come a little later, and bring no news.
	ids = slices.DeleteFunc(ids, func(id string) bool {
		return known[id].Status.Final() || known[id].Status == outcome.Missed
	})
	if len(ids) == 0 {
		return inbox.Failures(b.failed), nil
	}
	instances, err := h.FindInstances(ctx, ids, nil)
	if err != nil {
		return nil, err
	}
	evidence, groupsFailed := h.OwnersOf(ctx, instances, nil, known)
	a := detect.Assign(instances, evidence)
	h.Count("ForeignInstances", len(a.Foreign))
	h.Count("WarmPoolInstances", len(a.Warm))
	b.failed = append(b.failed, h.Unsure(b.launched, a.Unsure)...)
	learned := map[string]detect.Learned{}
	for _, cluster := range a.Names() {
		learned[cluster] = h.Learn(ctx, h.Table, cluster, h.Config.JoinTime)
	}
	rolls, unknown := b.rolls(a, known, ids, learned)
	if len(unknown) > 0 {
		h.Log.WarnContext(ctx, "EC2 does not describe these instances, and no launch of theirs is recorded", "instances", unknown)
		h.Count("UnknownInstances", len(unknown))
	}
	for _, name := range slices.Sorted(maps.Keys(rolls)) {
		r := rolls[name]
		r.groups, r.failed = evidence.Groups, detect.Failures(groupsFailed)
		if r.incidents, err = h.Table.Incidents(ctx, name); err != nil {
			return nil, fmt.Errorf("read the incidents of cluster %s: %w", name, err)
		}
		if err := h.call(ctx, name, r); err != nil {
			return nil, fmt.Errorf("call the roll of cluster %s: %w", name, err)
		}
	}
	return inbox.Failures(b.failed), nil
}

// Reader reads the instances that events name, what no event told of, and more of a
// cluster.
type Reader interface {
	detect.LaunchReader
	More(ctx context.Context, s *snapshot.Snapshot, q gather.Query, sources ...snapshot.Source)
	// Unshown notes which of the named instances EC2 does not show.
	Unshown(ctx context.Context, s *snapshot.Snapshot, named map[string]string)
	// FindTaggedAll gives those of every state, as long as EC2 describes them.
	FindTaggedAll(ctx context.Context, cluster string) ([]snapshot.Instance, *snapshot.Failure)
	FindGrouped(ctx context.Context, groups []string) ([]snapshot.Instance, *snapshot.Failure)
	GroupsOf(ctx context.Context, cluster string) ([]snapshot.Group, *snapshot.Failure)
	FindIn(ctx context.Context, vpc string) ([]snapshot.Instance, *snapshot.Failure)
}

// Parts are what the handler is made of.
type Parts = detect.LaunchParts[Reader]

type handler struct{ Parts }

// New makes the handler of its parts.
func New(p Parts) lambda.Handler { return handler{p}.handle }

// Build makes the handler of join-check from what its invocations share.
func Build(_ context.Context, e lambda.Env) (lambda.Handler, error) {
	keep := detect.KeepEvidence(e)
	reader := detect.NewReader(e, keep).Decoding(e.Config.DecodeDenied).
		ReadingLogs(cloudwatchlogs.New(e.Watched()), e.Config.AutoModeLogs, text.CauseOfKarpenter)
	queues := queue.Queues{Client: sqs.NewFromConfig(e.AWS), Results: e.Config.ResultQueueURL, Joins: e.Config.JoinQueueURL, Spoke: e.Config.Spoke}
	return New(Parts{
		Detector: detect.New(spec.Name, e, reader, queues).Keeping(keep),
		Config:   e.Config,
		Table:    detect.Table(e),
		Reader:   reader,
		Remind:   queues,
	}), nil
}

// tellGone tells report that EKS has no cluster of this name, if anything of it is
// open. EKS was asked for it by its name, and answered so.
func (h handler) tellGone(ctx context.Context, cluster string, r roll) error {
	if !slices.ContainsFunc(r.incidents, unclosed) {
		return nil
	}
	h.Log.InfoContext(ctx, "EKS does not have the cluster any more, its incidents are closed", "cluster", cluster)
	h.Count("DeletedClusters", 1)
	o := h.NewObservation(cluster, r.account)
	o.ClusterGone = true
	return h.Tell(ctx, o)
}

func unclosed(inc incident.Incident) bool { return inc.State != incident.Closed }

// unrecorded is how young a Ready node is of which it is asked whether its launch
// has a record: where its events were lost, no one else makes it. Later the
// sweeps of an hour have asked.
const unrecorded = time.Hour

// stillExpected sets aside what needs no record: instances that have long been
// Ready nodes, and those that ended after they had been nodes. Instances that were there long before Rollcall, and are no nodes, are
// left alone too: a bastion may carry the cluster's tag. Where the nodes could
// not be read it is unknown which are nodes: they are looked at, and not all
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
	for _, w := range check.StuckOnReady(s) {
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
	known, err := h.Recorded(ctx, ids)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		if l, ok := known[e.launch.Instance]; ok && e.unsure {
			e.launch = l
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

// nodesClosed reports whether the nodes cannot be read for want of a right, or because
// they are not read: that does not change by itself.
func nodesClosed(s *snapshot.Snapshot) bool {
	if s.Read[snapshot.Nodes] {
		return false
	}
	reason := s.Why(snapshot.Nodes).Reason
	return reason == snapshot.Denied || reason == snapshot.NotRead
}

// tagging reports whether Karpenter has set its tag on one of the instances.
func tagging(entries []entry) bool {
	return slices.ContainsFunc(entries, func(e entry) bool { return e.instance != nil && e.instance.NodeClaim() != "" })
}

// correctJoined corrects the verdict on instances that are gone, and whose nodes
// went with them, where Kubernetes' events tell that they had been Ready.
func correctJoined(entries []entry, verdicts []outcome.Verdict, s *snapshot.Snapshot) {
	if !s.Has(snapshot.NodeEventsOf) {
		return
	}
	for i, e := range entries {
		if verdicts[i].Status != outcome.Gone || e.instance == nil {
			continue
		}
		registered, ready, _ := check.Trace(s, e.instance)
		verdicts[i].Registered = registered
		if !ready.IsZero() {
			verdicts[i].Status, verdicts[i].Ready = outcome.Joined, ready
		}
	}
}

// known are the facts that this look adds to a launch.
func known(e entry, v outcome.Verdict, s *snapshot.Snapshot, root outcome.Root) outcome.Facts {
	f := outcome.Facts{Registered: v.Registered, Ready: v.Ready}
	seen := !v.Blind && !s.Time.Before(e.launch.Due)
	switch v.Status {
	case outcome.Joined:
		switch {
		case v.Reason == outcome.Tagged:
			f.Tagged = s.Time
		case f.Ready.IsZero():
			f.Ready = s.Time // Ready, and since when it does not say
		}
		if e.instance != nil && e.instance.Ended() {
			f = outcome.Merge(f, end(e.instance))
		}
	case outcome.Gone:
		f = outcome.Merge(f, gone(e, v.Reason, s))
		if !e.launch.Missed.IsZero() && root.Check != endedEarly {
			f.Root = root
		}
	case outcome.Missed, outcome.GivenUp:
		if v.Status == outcome.GivenUp {
			f.GivenUp = s.Time
		}
		if seen {
			// Missed when the look ended: the nodes are read after the instances, and
			// the node of one that ended in between is gone.
			f.Missed, f.Alive, f.Root = s.Taken, s.Time, root
		} else {
			f.Blind = blindness(s)
		}
	}
	return f
}

const endedEarly = checkid.InstanceEndedEarly

// gone are the facts of an instance that has ended.
func gone(e entry, why outcome.Reason, s *snapshot.Snapshot) outcome.Facts {
	if e.instance == nil {
		return outcome.Facts{Forgotten: s.Time}
	}
	f := end(e.instance)
	f.Over = s.Time
	f = outcome.Merge(f, endedBy(e.instance, s))
	// Its node is gone with it: what was not seen while it was there only
	// Kubernetes' events tell.
	brief := !f.Ended.IsZero() && f.Ended.Sub(e.launch.Started) < outcome.Shortest
	registered, _, past := check.Trace(s, e.instance)
	// The event of a Ready node is kept as long as that of its registration: where
	// this is there and that is not, it was not Ready when it ended.
	early := !f.Ended.IsZero() && f.Ended.Before(e.launch.Due)
	unready := early && !registered.IsZero() && s.Has(snapshot.NodeEventsOf) && s.Time.Sub(e.launch.Started) <= check.EventsKept
	switch {
	case brief, why == outcome.Untagged, past == check.Never, unready:
	case past == check.Served:
		f.Unseen = "it was a node, and nobody saw whether it became Ready"
	case !s.Read[snapshot.Nodes]:
		f.Unseen = blindness(s)
	case !s.Has(snapshot.NodeEventsOf):
		f.Unseen = couldNot(s.Why(snapshot.NodeEventsOf))
	case s.Time.Sub(e.launch.Started) > check.EventsKept:
		f.Unseen = "it was not checked for an hour, and Kubernetes keeps events no longer"
	default:
		f.Unseen = "it was in a warm pool, or a node registered meanwhile whose name is not known any more"
	}
	return f
}

// endedBy is what the activities of an instance's group tell of its end.
func endedBy(in *snapshot.Instance, s *snapshot.Snapshot) (f outcome.Facts) {
	for _, a := range s.Activities {
		if a.Instance == in.ID && strings.HasPrefix(a.About, "Terminating") {
			f.By, f.Over = a.Cause, earliest(f.Over, a.Started)
		}
	}
	return f
}

func earliest(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// end is how an instance ended, as EC2 tells it.
func end(in *snapshot.Instance) outcome.Facts {
	return outcome.Facts{
		Ended:  in.StateReason.When,
		Reason: outcome.EndReason{Code: in.StateReason.Code, Message: in.StateReason.Message},
	}
}

func blindness(s *snapshot.Snapshot) string {
	for _, source := range []snapshot.Source{snapshot.Instances, snapshot.Nodes} {
		if f, failed := s.Failures[source]; failed {
			return couldNot(f)
		}
	}
	return "the nodes were not read"
}

func couldNot(f snapshot.Failure) string {
	return fmt.Sprintf("the %s could not be read: %s %s", f.Source, f.Call, f.Reason)
}

// roots are the causes that explain launches, by instance: of each the first
// that is certain or likely.
func roots(causes []diagnosis.Cause, now time.Time) map[string]outcome.Root {
	all := map[string]outcome.Root{}
	for _, c := range causes {
		if c.Confidence != finding.Certain && c.Confidence != finding.Likely {
			continue
		}
		for _, id := range c.Instances {
			if _, told := all[id]; !told {
				all[id] = outcome.Root{Check: c.Check, Sure: c.Confidence == finding.Certain, At: now}
			}
		}
	}
	return all
}

// losing reports whether an instance has ended that had joined not long before, and
// is not recorded yet.
func losing(l store.LaunchRecord, in *snapshot.Instance) bool {
	return in != nil && in.Ended() && l.Losing(in.StateReason.When)
}

const (
	// lately is how far back the history goes that the checks of a launch see: a
	// burst is over in minutes.
	lately = time.Hour
	// compared is how many launches of the last week are read beside it, the newest:
	// what launches have in common shows in a few hundred.
	compared = 20_000
)

// addHistory puts the launches of the last hour and of the last week into the
// snapshot, and what the subnets of the scope had. It gives the instance types of those launches.
func (h handler) addHistory(ctx context.Context, s *snapshot.Snapshot, joined []snapshot.Past) []string {
	since := s.Time.Add(-lately)
	week, err := h.Table.RecentHistory(ctx, s.Cluster.Name, s.Time.Add(-factor.Window), compared)
	began, _ := slices.BinarySearchFunc(week, since, func(p snapshot.Past, t time.Time) int { return p.Started.Compare(t) })
	history := week[began:]
	s.Week, s.History = withJoined(week, joined), history
	for _, subnet := range s.Scope.Subnets {
		samples, failed := h.Table.Samples(ctx, subnet, since)
		s.Samples = append(s.Samples, samples...)
		err = errors.Join(err, failed)
	}
	if err != nil {
		s.Failures[snapshot.LaunchHistory] = unreadTable(snapshot.LaunchHistory, err)
	} else {
		s.Read[snapshot.LaunchHistory] = true
	}
	var types []string
	for _, p := range history {
		types = append(types, p.Type)
	}
	return detect.Distinct(types)
}

// unreadTable is what of Rollcall's table could not be read in full.
func unreadTable(of snapshot.Source, err error) snapshot.Failure {
	f := snapshot.Failure{Source: of, Reason: snapshot.Broken, Call: "dynamodb:Query", Message: err.Error()}
	var limit *store.AtLimit
	switch {
	case errors.As(err, &limit):
		f.Reason, f.Code = snapshot.Throttled, limit.Code
	case errors.Is(err, context.DeadlineExceeded):
		f.Reason = snapshot.TimedOut
	}
	return f
}

// joinedLaunches are the launches of the Ready nodes that were found, whether or not
// they are recorded: they are not where Rollcall is new to a cluster.
func joinedLaunches(s *snapshot.Snapshot) (list []snapshot.Past) {
	ready := map[string]bool{}
	for _, n := range s.Nodes {
		ready[n.Instance] = ready[n.Instance] || n.Joined()
	}
	for _, i := range s.Instances {
		if !ready[i.ID] || s.Time.Sub(i.Launched) > factor.Window {
			continue
		}
		list = append(list, snapshot.Past{
			ID: i.ID, Nodegroup: i.Owner(), Type: i.Type, Zone: i.Zone, Subnet: i.Subnet, Spot: i.Spot, Template: i.Template,
			AMI: i.AMI, Architecture: i.Architecture, Started: i.Launched, End: snapshot.Joined,
		})
	}
	return list
}

// withJoined adds those that are not in the list.
func withJoined(list, joined []snapshot.Past) []snapshot.Past {
	known := make(map[string]bool, len(list))
	for _, p := range list {
		known[p.ID] = true
	}
	list = slices.Clip(list) // History is a part of it
	for _, p := range joined {
		if !known[p.ID] {
			list = append(list, p)
		}
	}
	slices.SortStableFunc(list, func(a, b snapshot.Past) int { return a.Started.Compare(b.Started) })
	return list
}

// teachAll keeps how long joining took. It comes before the outcomes are recorded:
// who is known to have joined is not called again, and what a run that was killed
// in between had not kept would be lost. Kept twice it counts once. It fails
// nothing: it is for later.
func (h handler) teachAll(ctx context.Context, s *snapshot.Snapshot, r roll) {
	for nodegroup, joins := range r.joins {
		if err := h.teach(ctx, s.Cluster.Name, r.learned.Times[nodegroup], nodegroup, joins, s.Time); err != nil {
			h.Log.WarnContext(ctx, "could not record how long nodes took to join", "cluster", s.Cluster.Name, "nodegroup", nodegroup, "error", err.Error())
			h.Count("JoinTimesUnsaved", 1)
		}
	}
}

// joins are those of this roll that teach how long joining takes, by nodegroup.
func joins(entries []entry, verdicts []outcome.Verdict, s *snapshot.Snapshot) map[string][]outcome.Join {
	all := map[string][]outcome.Join{}
	for i, e := range entries {
		if e.silent || e.launch.Nodegroup == "" || e.launch.Status.Final() || verdicts[i].Status != outcome.Joined {
			continue
		}
		f := outcome.Merge(e.launch.Known(), known(e, verdicts[i], s, outcome.Root{}))
		if f.Teaches() {
			all[e.launch.Nodegroup] = append(all[e.launch.Nodegroup], outcome.Join{
				Instance: e.launch.Instance, At: f.Ready, Seconds: int(f.Ready.Sub(f.Started).Round(time.Second) / time.Second),
			})
		}
	}
	return all
}

// tries is how often what is remembered of a nodegroup is read again that
// another writer has changed.
const tries = 3

// teach adds joins to what is remembered of a nodegroup, in one write.
func (h handler) teach(ctx context.Context, cluster string, t store.JoinTimes, nodegroup string, joins []outcome.Join, now time.Time) error {
	for range tries {
		t.Nodegroup = nodegroup
		with := t.Joins.With(joins, now)
		if slices.Equal(with, t.Joins) {
			return nil
		}
		t.Joins = with
		err := h.Table.SaveJoinTimes(ctx, cluster, t)
		var conflict *store.Conflict
		if !errors.As(err, &conflict) {
			return err
		}
		times, err := h.Table.JoinTimes(ctx, cluster)
		if err != nil {
			return err
		}
		t = times[nodegroup]
	}
	return fmt.Errorf("somebody else wrote them %d times", tries)
}

// record writes what is known of each launch, and asks for those to be called
// again that are not due yet.
func (h handler) record(ctx context.Context, s *snapshot.Snapshot, d diagnosis.Diagnosis, r roll, verdicts []outcome.Verdict) error {
	var reminders detect.Reminders
	var g errgroup.Group
	g.SetLimit(detect.Writers)
	why := roots(d.Causes, s.Time)
	for i, e := range r.entries {
		if e.silent {
			continue
		}
		v := verdicts[i]
		g.Go(func() error {
			l := e.launch
			waits := v.Status == outcome.Waiting
			if !waits || !l.Recorded() {
				l.Status = v.Status
				l.Looks++
				detect.RecordSubnetAndCNI(s, &l)
				detect.KeepClaim(s, &l)
				l.Learn(known(e, v, s, why[l.Instance]))
				if err := h.save(ctx, l); err != nil {
					return fmt.Errorf("record the launch of %s: %w", l.Instance, err)
				}
				if v.Status.Final() && !e.launch.Status.Final() {
					h.logEnd(ctx, s.Cluster.Name, l)
				}
			}
			// The sweep looks again at those that missed it, and leaves those
			// that wait to the message that they have.
			if waits && (!e.launch.Recorded() || !r.sweep && e.reminded) {
				reminders.Add(l.Instance, l.Due, s.Time)
			}
			return nil
		})
	}
	failed := g.Wait()
	_, err := reminders.Send(ctx, h.Remind, s.Time)
	return errors.Join(failed, err)
}

// logEnd tells how a launch ended, once; where a run was killed in between, twice. The
// dashboard counts these lines by their instance (infra, dashboard).
func (h handler) logEnd(ctx context.Context, cluster string, l store.LaunchRecord) {
	attrs := []any{"cluster", cluster, "nodegroup", l.Nodegroup, "instance", l.Instance, "status", l.Status}
	if f := l.Known(); l.Status == outcome.Joined && f.Ready.After(f.Started) && !f.Started.IsZero() {
		attrs = append(attrs, "seconds", int(f.Ready.Sub(f.Started).Round(time.Second)/time.Second))
	}
	h.Log.InfoContext(ctx, "launch ended", attrs...)
}

// save writes a launch. Where others write it each time the next look will
// agree: the launch is open, or its end is known.
func (h handler) save(ctx context.Context, l store.LaunchRecord) error {
	err := h.SaveLaunch(ctx, h.Table, l)
	if lost := new(detect.LostRaces); errors.As(err, &lost) {
		return nil
	}
	return err
}

// recordRest keeps what a roll call brought beside the launches that were
// called: the refused ones, the nodes that were lost, and what the subnets had.
// The last fails nothing: it is for later.
func (h handler) recordRest(ctx context.Context, s *snapshot.Snapshot, r roll) error {
	var subnets []string
	for _, e := range r.entries {
		subnets = append(subnets, e.launch.Subnet)
	}
	if err := h.Table.RecordSamples(ctx, detect.Samples(s, detect.Distinct(subnets, s.Scope.Subnets, s.Scope.Launchable))); err != nil {
		h.Log.WarnContext(ctx, "could not record what the subnets had", "cluster", s.Cluster.Name, "error", err.Error())
	}
	if err := h.recordLost(ctx, s, r.lost); err != nil {
		return err
	}
	if !r.sweep || !s.Has(snapshot.Activities) {
		return nil
	}
	return h.recordRefused(ctx, s, r)
}

// recordLost records the ends of nodes that had joined.
func (h handler) recordLost(ctx context.Context, s *snapshot.Snapshot, lost []entry) error {
	var g errgroup.Group
	g.SetLimit(detect.Writers)
	for _, e := range lost {
		g.Go(func() error {
			l, f := e.launch, outcome.Merge(end(e.instance), endedBy(e.instance, s))
			if f.Ended.IsZero() {
				f.Ended = s.Time
			}
			l.Learn(f)
			if err := h.save(ctx, l); err != nil {
				return fmt.Errorf("record the end of %s: %w", l.Instance, err)
			}
			return nil
		})
	}
	h.Count("LostNodes", len(lost))
	return g.Wait()
}

// recordRefused records the launches of the last hour that came to nothing, and of
// which no event told: each once, by its scaling activity, or as the end of the
// instance that it names.
func (h handler) recordRefused(ctx context.Context, s *snapshot.Snapshot, r roll) error {
	list := detect.RefusedOf(s.Cluster.Name, s, r.learned)
	if len(list) == 0 {
		return nil
	}
	var ids []string
	for _, l := range list {
		ids = append(ids, l.ID())
	}
	known, err := h.Table.GetLaunches(ctx, ids)
	if err != nil {
		return fmt.Errorf("look up %d refused launches: %w", len(ids), err)
	}
	for _, l := range list {
		have, recorded := known[l.ID()]
		switch {
		case recorded && have.Activity == l.ID():
			continue // the event brought it, or an earlier sweep
		case recorded:
			if !have.Learn(l.Known()) {
				continue
			}
			l = have
		default:
			detect.RecordSubnetAndCNI(s, &l)
			h.Count("RefusedLaunches", 1)
		}
		if err := h.save(ctx, l); err != nil {
			return fmt.Errorf("record the refused launch %s: %w", l.ID(), err)
		}
	}
	return nil
}

// addRefused puts the refused launches that launch-watch took down into the
// snapshot, with what the instances show: events of instances that EKS Auto Mode
// manages may not come. Where they cannot be read they are not judged.
func (h handler) addRefused(ctx context.Context, s *snapshot.Snapshot, r roll) *detect.Runs {
	runs, err := h.runs(ctx, s.Cluster.Name, r)
	if err != nil {
		s.Failures[snapshot.RefusedLaunches] = unreadTable(snapshot.RefusedLaunches, err)
		return nil
	}
	s.Read[snapshot.RefusedLaunches] = true
	s.Refused = runs.Launches()
	return runs
}

func (h handler) runs(ctx context.Context, cluster string, r roll) (*detect.Runs, error) {
	records, err := h.Table.RefusedLaunches(ctx, cluster)
	if err != nil {
		return nil, err
	}
	runs := detect.NewRuns(records)
	var instances []snapshot.Instance
	for _, e := range r.entries {
		if e.instance != nil {
			instances = append(instances, *e.instance)
		}
	}
	runs.Started(instances)
	return runs, nil
}

// saveRuns remembers which of them have worked since; nil where they were not read.
func (h handler) saveRuns(ctx context.Context, cluster string, r roll, runs *detect.Runs) error {
	if runs == nil {
		return nil
	}
	return h.SaveRuns(ctx, h.Table, runs, func(ctx context.Context) (*detect.Runs, error) { return h.runs(ctx, cluster, r) })
}
