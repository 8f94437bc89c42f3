// Package launchwatch looks at every launch at once: can an instance in this
// subnet become a node?
package launchwatch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"golang.org/x/sync/errgroup"

	"rollcall/functions/launch-watch/spec"
	"rollcall/shared/checks"
	"rollcall/shared/detect"
	"rollcall/shared/event"
	"rollcall/shared/event/inbox"
	"rollcall/shared/gather"
	"rollcall/shared/lambda"
	"rollcall/shared/node/outcome"
	"rollcall/shared/queue"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
)

// errNoBatch: launch-watch is woken by its queue alone.
var errNoBatch = errors.New("the event is not a batch of SQS messages: launch-watch is woken by its queue")

// handle takes a batch of events. A message that cannot be read, or whose
// launch could not be looked at, goes back to the queue and in the end to the
// dead-letter queue; the others of its batch do not wait for it.
func (h handler) handle(ctx context.Context, raw json.RawMessage) (any, error) {
	messages, ok := inbox.Batch(raw)
	if !ok {
		return nil, errNoBatch
	}
	b := h.sort(messages)
	err := b.run(ctx,
		h.readRecords,
		h.remindAgain,
		h.dropKnown,
		h.recordEnds,
		h.recordNotices,
	)
	if err != nil {
		return nil, err
	}
	if b.empty() {
		return inbox.Failures(b.failed), nil
	}
	err = b.run(ctx,
		h.findInstances,
		h.dropOldNotices,
		h.recordLost,
		h.dropSeen,
		h.determineOwners,
		h.returnUndescribed,
		h.returnUnowned,
		h.groupByCluster,
		h.addRefusedCalls,
		h.checkClusters,
	)
	if err != nil {
		return nil, err
	}
	return inbox.Failures(b.failed), nil
}

// step is one step of a look at a batch. Of an error all of the batch comes again.
type step func(context.Context, *batch) error

func (b *batch) run(ctx context.Context, steps ...step) error {
	for _, do := range steps {
		if err := do(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

// readRecords reads the records of all instances that the events name.
func (h handler) readRecords(ctx context.Context, b *batch) (err error) {
	ids := slices.Concat(sortedKeys(b.launched), sortedKeys(b.ended), sortedKeys(b.noticed))
	for _, f := range b.failures {
		ids = append(ids, f.Instance)
	}
	b.known, err = h.Recorded(ctx, detect.Distinct(ids))
	return err
}

// findInstances reads the instances, and the others of their groups; at the same time the groups
// themselves, where the events name them all.
func (h handler) findInstances(ctx context.Context, b *batch) (err error) {
	var reading sync.WaitGroup
	if b.namesGroups() {
		b.ahead = b.groups()
		reading.Go(func() { b.evidence, b.groupsFailed = h.OwnersOf(ctx, nil, b.ahead, b.known) })
	}
	b.instances, err = h.FindInstances(ctx, b.ids(), b.groups())
	reading.Wait()
	return err
}

// determineOwners determines the cluster of each instance.
func (h handler) determineOwners(ctx context.Context, b *batch) error {
	if all := detect.Distinct(detect.GroupsOf(b.instances), b.groups()); b.ahead == nil || !slices.Equal(all, b.ahead) {
		b.evidence, b.groupsFailed = h.OwnersOf(ctx, b.instances, b.groups(), b.known)
	}
	b.owned = detect.Assign(b.instances, b.evidence)
	if b.evidence.Named = h.namedByUserData(ctx, b); len(b.evidence.Named) > 0 {
		b.owned = detect.Assign(b.instances, b.evidence)
	}
	h.Count("ForeignInstances", b.named(b.owned.Foreign))
	h.Count("WarmPoolInstances", b.named(b.owned.Warm))
	return nil
}

// checkClusters looks at each cluster.
func (h handler) checkClusters(ctx context.Context, b *batch) error {
	for _, name := range sortedKeys(b.cases) {
		c := b.cases[name]
		c.failed = detect.Failures(b.groupsFailed)
		if err := h.check(ctx, name, c); err != nil {
			return fmt.Errorf("look at cluster %s: %w", name, err)
		}
	}
	return nil
}

// check looks at one cluster's launches, tells report, and remembers them.
// Telling comes first: what is remembered is not looked at again, so a crash
// in between must lead to telling twice (which report notices), not to silence.
func (h handler) check(ctx context.Context, cluster string, c clusterCase) error {
	runs, err := h.runs(ctx, cluster, c)
	if err != nil {
		return err
	}
	if !runs.Began(h.Now()) && len(c.instances)+len(c.told) == 0 {
		return h.saveRuns(ctx, cluster, c, runs) // known, or for the sweep to tell
	}
	var learned detect.Learned
	var learning sync.WaitGroup
	learning.Go(func() { learned = h.Learn(ctx, h.Table, cluster, h.Config.JoinTime) })
	s, err := h.Read(ctx, c.query(h.Query(cluster, c.account)))
	learning.Wait()
	if errors.Is(err, gather.ErrNoCluster) {
		// The tags of other Kubernetes distributions look the same.
		h.Log.WarnContext(ctx, "instances of a cluster that EKS does not have", "cluster", cluster, "instances", len(c.instances))
		h.Count("ForeignInstances", len(c.instances))
		h.Count("ForeignLaunchCalls", len(c.calls))
		return h.saveRuns(ctx, cluster, c, runs) // so that EKS is not asked at each call
	}
	if err != nil {
		return err
	}
	addActivities(s, c.told)
	// Of the sources only the consoles depend on these, which are not read at a launch.
	s.Launches = c.expected(cluster, learned)
	s.Refused = runs.Launches()
	launches := c.launches(cluster, s.Time, learned)
	if _, err := h.Run(ctx, s, detect.Look{Checks: checks.AtLaunch(), Launches: launches}); err != nil {
		return err
	}
	var samples errgroup.Group
	samples.Go(func() error { return h.Table.RecordSamples(ctx, detect.Samples(s, s.Scope.Subnets)) })
	defer func() {
		if err := samples.Wait(); err != nil {
			// They only tell later how full a subnet was: no launch waits for them.
			h.Log.WarnContext(ctx, "could not record what the subnets had", "cluster", cluster, "error", err.Error())
		}
	}()
	return errors.Join(h.record(ctx, s, c, launches, learned), h.recordRefused(ctx, s, c, learned), h.saveRuns(ctx, cluster, c, runs))
}

// activityOf is what an event tells of a failed launch, as Auto Scaling would list
// it. The list lags behind the event, and may not be ours to read.
func activityOf(t event.Trigger) snapshot.Activity {
	return snapshot.Activity{
		ID: t.Activity, Group: t.Group, Status: "Failed", Message: t.Message, Cause: t.Cause,
		About: "Launching a new EC2 instance", Started: t.Time, Ended: t.Time, Subnet: t.Subnet, Zone: t.Zone, Instance: t.Instance,
	}
}

// addActivities adds what the events told to what was read. Where the activities could
// not be read, each group lacks the rest of its own: what the events say is
// certain all the same.
func addActivities(s *snapshot.Snapshot, told []snapshot.Activity) {
	if len(told) == 0 {
		return
	}
	if !s.Has(snapshot.Activities) {
		for _, g := range s.Groups {
			s.Lack(snapshot.Activities, g.Name, s.Why(snapshot.Activities))
		}
		delete(s.Failures, snapshot.Activities)
		s.Read[snapshot.Activities] = true
	}
	read := map[string]bool{}
	for _, a := range s.Activities {
		read[cmp.Or(a.ID, a.Instance)] = true
	}
	for _, a := range told {
		if !read[cmp.Or(a.ID, a.Instance)] {
			s.Activities = append(s.Activities, a)
		}
	}
}

// batch is the events of one invocation, by what they are about, and what is read of them.
type batch struct {
	// launched are the instances of which something is new.
	launched detect.NewsByID
	// ended are instances that have stopped or are terminated, lost those of
	// them that had joined not long before.
	ended, lost detect.NewsByID
	// noticed are instances of which EC2 says beforehand that it ends them.
	noticed detect.NewsByID
	// failures are launches without an instance, by activity.
	failures map[string]detect.Message
	// refused are calls for instances without a group.
	refused []detect.Message
	// failed are messages to give back.
	failed []string

	// known are the records, instances those that EC2 describes.
	known     map[string]store.LaunchRecord
	instances []snapshot.Instance
	// owned are the instances by cluster, and evidence is what determined that.
	owned        detect.Assignment
	evidence     detect.Evidence
	groupsFailed *snapshot.Failure
	// ahead are the groups that were read with the instances; nil for none.
	ahead []string
	cases map[string]clusterCase
}

func (b batch) empty() bool {
	return len(b.launched)+len(b.ended)+len(b.lost)+len(b.failures)+len(b.refused) == 0
}

// sort reads the messages. Several events of one instance are one launch.
func (h handler) sort(messages []inbox.Message) batch {
	b := batch{launched: detect.NewsByID{}, ended: detect.NewsByID{}, lost: detect.NewsByID{}, noticed: detect.NewsByID{}, failures: map[string]detect.Message{}, cases: map[string]clusterCase{}}
	var list []detect.Message
	list, b.failed = h.Messages(messages)
	for _, m := range list {
		switch {
		case m.Kind == event.LaunchRefused:
			b.refused = append(b.refused, m)
		case m.Kind == event.Foreign && m.Call != "":
			h.drop(m)
		case m.Kind == event.Foreign:
			h.Ignore(m, m.Why)
		case m.Warm:
			h.Log.Info("launch into a warm pool: not expected to join", "event", m.ID, "instance", m.Instance, "group", m.Group)
			h.Count("WarmPoolInstances", 1)
		case m.Kind == event.LaunchFailed:
			b.failures[m.Activity+m.Instance] = m
		case m.Kind == event.InstanceEnded:
			b.ended.Add(m)
		case m.Kind == event.LaunchStarted, m.Kind == event.LaunchSucceeded, m.Kind == event.InstanceRunning:
			b.launched.Add(m)
		case m.Kind == event.Interruption, m.Kind == event.Rebalance, m.Kind == event.Maintenance:
			for _, id := range m.Instances {
				m.Instance = id
				b.noticed.Add(m)
			}
		default:
			h.Ignore(m, "not about a launch")
		}
	}
	return b
}

// dropKnown leaves out launches that were looked at already, and ends of instances that are
// not waited for.
func (h handler) dropKnown(_ context.Context, b *batch) error {
	maps.DeleteFunc(b.launched, func(id string, _ detect.News) bool { _, ok := b.known[id]; return ok })
	maps.DeleteFunc(b.ended, func(id string, n detect.News) bool {
		l, ok := b.known[id]
		if ok && l.Losing(n.Latest) {
			b.lost[id] = n
		}
		return !ok || l.Status.Final()
	})
	return nil
}

func (b batch) ids() []string {
	return detect.Distinct(sortedKeys(b.launched), sortedKeys(b.lost), sortedKeys(b.ended))
}

// groups are the Auto Scaling groups that launched or failed to.
func (b batch) groups() []string {
	var names []string
	for _, n := range b.launched {
		names = append(names, n.Group)
	}
	for _, f := range b.failures {
		names = append(names, f.Group)
	}
	return detect.Distinct(names)
}

// namesGroups reports whether the events name the group of each instance, so that the groups
// can be read at the same time as the instances. A running instance without a group, and the
// end of one, name none.
func (b batch) namesGroups() bool {
	for _, n := range b.launched {
		if n.Group == "" {
			return false
		}
	}
	return len(b.lost)+len(b.ended) == 0
}

// visible is how long EC2 may take to describe a new instance: its API lags
// behind its events by seconds; AWS advises to ask again for some minutes. What goes back to
// the queue comes again after six times the function's time limit (SQS as an event source:
// the visibility timeout that Lambda wants), and must not be old by then.
const visible = 10 * time.Minute

// returnUndescribed gives back the messages of instances that EC2 does not describe yet.
// What it still does not describe minutes after the event has ended long ago:
// there is nothing to look at.
func (h handler) returnUndescribed(_ context.Context, b *batch) error {
	for _, id := range sortedKeys(b.launched) {
		if slices.ContainsFunc(b.instances, func(in snapshot.Instance) bool { return in.ID == id }) {
			continue
		}
		n := b.launched[id]
		delete(b.launched, id)
		if h.Now().Sub(n.Latest) > visible {
			h.Log.Warn("EC2 does not describe the instance of an old event", "instance", id, "event", n.Latest)
			h.Count("UnknownInstances", 1)
			continue
		}
		h.Log.Info("EC2 does not describe the instance yet, its messages go back to the queue", "instance", id)
		b.failed = append(b.failed, n.Messages...)
	}
	return nil
}

// returnUnowned gives back the messages of instances whose cluster is unknown.
func (h handler) returnUnowned(_ context.Context, b *batch) error {
	b.failed = append(b.failed, h.Unsure(b.launched, b.owned.Unsure)...)
	return nil
}

// named counts those of the instances that the events themselves named: the
// others of their group come with events of their own.
func (b batch) named(ids []string) int {
	n := 0
	for _, id := range ids {
		if _, ok := b.launched[id]; ok {
			n++
		}
	}
	return n
}

// dropSeen keeps, of the instances found by group, the young ones that were
// not looked at: the rest of a burst whose events are still on their way. One
// look serves them all, and theirs will find it done.
func (h handler) dropSeen(ctx context.Context, b *batch) error {
	now := h.Now()
	named := b.ids()
	var others []string
	for _, in := range b.instances {
		if !slices.Contains(named, in.ID) && now.Sub(in.Launched) < h.Config.JoinTime {
			others = append(others, in.ID)
		}
	}
	known, err := h.Recorded(ctx, others)
	b.instances = slices.DeleteFunc(b.instances, func(in snapshot.Instance) bool {
		_, seen := known[in.ID]
		return !slices.Contains(named, in.ID) && (seen || !slices.Contains(others, in.ID))
	})
	return err
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// Reader is how it finds instances, and whose they are.
type Reader interface {
	detect.LaunchReader
	FindTagged(ctx context.Context, cluster string) ([]snapshot.Instance, *snapshot.Failure)
	// TemplateTags gives the tags that launch templates put on instances.
	TemplateTags(ctx context.Context, refs []snapshot.TemplateRef) (map[snapshot.TemplateRef]map[string]string, *snapshot.Failure)
	// Decode decodes the message of a call that was denied.
	Decode(ctx context.Context, message string) snapshot.DecodedMessage
}

// Parts are what the handler is made of.
type Parts = detect.LaunchParts[Reader]

type handler struct{ Parts }

// New makes the handler of its parts.
func New(p Parts) lambda.Handler { return handler{p}.handle }

// Build makes the handler of launch-watch from what its invocations share.
func Build(_ context.Context, e lambda.Env) (lambda.Handler, error) {
	keep := detect.KeepEvidence(e)
	reader := detect.NewReader(e, keep).Decoding(e.Config.DecodeDenied)
	queues := queue.Queues{Client: sqs.NewFromConfig(e.AWS), Results: e.Config.ResultQueueURL, Joins: e.Config.JoinQueueURL, Spoke: e.Config.Spoke}
	return New(Parts{
		Detector: detect.New(spec.Name, e, reader, queues).Keeping(keep),
		Config:   e.Config,
		Table:    detect.Table(e),
		Reader:   reader,
		Remind:   queues,
	}), nil
}

// clusterCase is what there is to look at in one cluster.
type clusterCase struct {
	account   string
	instances []snapshot.Instance
	groups    []snapshot.Group
	subnets   []string            // of launches that failed
	told      []snapshot.Activity // of those that failed
	calls     []snapshot.RefusedLaunch
	failed    []snapshot.Failure
	news      detect.NewsByID
	known     map[string]store.LaunchRecord
}

// groupByCluster sorts the batch by cluster.
func (h handler) groupByCluster(_ context.Context, b *batch) error {
	all, groups := b.cases, b.evidence.Groups
	for name, list := range b.owned.Clusters {
		c := clusterCase{news: detect.NewsByID{}, known: b.known}
		for _, in := range list {
			c.instances = append(c.instances, detect.Recall(in, b.known[in.ID]))
			n, ok := b.launched[in.ID]
			if !ok {
				n = b.ended[in.ID]
			}
			c.news[in.ID] = n
			c.account = cmp.Or(n.Account, c.account)
		}
		all[name] = c
	}
	for _, id := range sortedKeys(b.failures) {
		f := b.failures[id]
		i := slices.IndexFunc(groups, func(g snapshot.Group) bool { return g.Name == f.Group })
		if i < 0 && b.evidence.GroupsUnread {
			h.Log.Warn("could not determine owning cluster of a failed launch", "group", f.Group, "reason", "Auto Scaling groups unavailable", "action", "returned to queue")
			b.failed = append(b.failed, f.Receipt)
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
	return nil
}

// query adds to a query what the look at the cluster is about.
func (c clusterCase) query(q gather.Query) gather.Query {
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
	}
	return q
}

// expected returns what the checks read of the launches.
func (c clusterCase) expected(cluster string, learned detect.Learned) []snapshot.ExpectedJoin {
	var list []snapshot.ExpectedJoin
	for _, in := range c.instances {
		list = append(list, detect.Expected(c.record(cluster, in, learned)))
	}
	return list
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
		l = detect.Fresh(cluster, in, c.news[in.ID].Clock, learned)
	}
	if facts := c.news[in.ID].Facts; facts != (outcome.Facts{}) {
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

// recordNotices takes down what EC2 says beforehand of an instance's end: it tells a
// reclaimed instance from a broken one, and opens nothing by itself. An
// instance without a record may be one whose launch event is still
// to come: it is looked at like a launch.
func (h handler) recordNotices(ctx context.Context, b *batch) error {
	ignored := 0
	for _, id := range sortedKeys(b.noticed) {
		n := b.noticed[id]
		l, known := b.known[id]
		switch {
		case known && l.Status == outcome.Joined && n.Latest.Sub(l.Ready) > snapshot.LostWithin:
			ignored++
		case known:
			if err := h.learn(ctx, l, n.Facts); err != nil {
				return err
			}
			l.Learn(n.Facts)
			b.known[id] = l
		default:
			launched, told := b.launched[id]
			launched.Facts = n.Facts
			launched.Messages = append(launched.Messages, n.Messages...)
			if !told {
				launched.Account, launched.Latest, launched.Early = n.Account, n.Latest, true
			}
			b.launched[id] = launched
		}
	}
	h.Count("NoticesIgnored", ignored)
	return nil
}

// recordEnds takes down when launches that are waited for ended: EC2 does not always
// say. Whether one had been a node join-check sees.
func (h handler) recordEnds(ctx context.Context, b *batch) error {
	for _, id := range sortedKeys(b.ended) {
		l, over := b.known[id], outcome.Facts{Over: b.ended[id].Latest}
		if err := h.learn(ctx, l, over); err != nil {
			return err
		}
		l.Learn(over)
		b.known[id] = l
	}
	return nil
}

// dropOldNotices sets aside the instances of notices that are no launches any more: old
// nodes that were there before Rollcall, and others' instances.
func (h handler) dropOldNotices(_ context.Context, b *batch) error {
	ignored := 0
	b.instances = slices.DeleteFunc(b.instances, func(in snapshot.Instance) bool {
		if n, ok := b.launched[in.ID]; !ok || !n.Early || h.Now().Sub(in.Launched) <= outcome.Longest {
			return false
		}
		delete(b.launched, in.ID)
		ignored++
		return true
	})
	h.Count("NoticesIgnored", ignored)
	return nil
}

// recordLost takes down the ends of nodes that had joined, with EC2's reason, and
// sets the instances aside: they are not waited for.
func (h handler) recordLost(ctx context.Context, b *batch) error {
	for _, id := range sortedKeys(b.lost) {
		end := outcome.Facts{Ended: b.lost[id].Latest}
		if i := slices.IndexFunc(b.instances, func(in snapshot.Instance) bool { return in.ID == id }); i >= 0 {
			r := b.instances[i].StateReason
			end = outcome.Merge(end, outcome.Facts{Ended: r.When, Reason: outcome.EndReason{Code: r.Code, Message: r.Message}})
			b.instances = slices.Delete(b.instances, i, i+1)
		}
		if err := h.learn(ctx, b.known[id], end); err != nil {
			return err
		}
		h.Count("LostNodes", 1)
	}
	return nil
}

// learn adds facts to a record.
func (h handler) learn(ctx context.Context, l store.LaunchRecord, facts outcome.Facts) error {
	if !l.Learn(facts) {
		return nil
	}
	if err := h.SaveLaunch(ctx, h.Table, l); err != nil {
		return fmt.Errorf("record what is known of %s: %w", l.ID(), err)
	}
	return nil
}

// record writes a record of the launches that have none, and asks for their
// roll to be called: who is known is not looked at again. Those that were
// recorded are asked for even when others could not be: their messages come
// again and will find them known.
func (h handler) record(ctx context.Context, s *snapshot.Snapshot, c clusterCase, launches []report.Launch, learned detect.Learned) error {
	var reminders detect.Reminders
	var g errgroup.Group
	g.SetLimit(detect.Writers)
	for i, l := range launches {
		if l.Status.Final() {
			continue // join-check records how it ended: it sees whether it had been a node
		}
		if _, known := c.known[l.Instance]; known {
			continue
		}
		g.Go(func() error {
			r := c.record(s.Cluster.Name, c.instances[i], learned)
			detect.RecordSubnetAndCNI(s, &r)
			created, err := h.Table.CreateLaunch(ctx, r)
			if err != nil {
				return fmt.Errorf("record the launch of %s: %w", l.Instance, err)
			}
			if created {
				reminders.Add(l.Instance, r.Due, s.Time)
			}
			return nil
		})
	}
	failed := g.Wait()
	asked, err := reminders.Send(ctx, h.Remind, s.Time)
	h.Count("Launches", asked)
	return errors.Join(failed, err)
}

// remindAgain asks once more for launches that are recorded, were never called, and
// whose message comes again: the run that recorded them may have ended before it
// asked. Who is called twice is recorded once.
func (h handler) remindAgain(ctx context.Context, b *batch) error {
	var ids []string
	for _, id := range sortedKeys(b.launched) {
		if l, known := b.known[id]; known && b.launched[id].Again && l.Status == outcome.Waiting && l.Looks == 0 {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return h.Remind.LookAgain(ctx, ids, h.Now(), detect.Soon)
}

// recordRefused records the launches that came to nothing, each once: by its
// activity, or as the end of the instance that it names. An instance
// without a record is reported by the join check.
func (h handler) recordRefused(ctx context.Context, s *snapshot.Snapshot, c clusterCase, learned detect.Learned) error {
	for _, a := range c.told {
		i := slices.IndexFunc(c.groups, func(g snapshot.Group) bool { return g.Name == a.Group })
		if i < 0 {
			continue
		}
		l, ok := detect.Refused(s.Cluster.Name, c.groups[i], a, learned.Allow(c.groups[i].Owner()))
		if !ok {
			continue
		}
		if l.Instance != "" {
			if have, known := c.known[l.Instance]; known {
				if err := h.learn(ctx, have, l.Known()); err != nil {
					return err
				}
			}
			continue
		}
		detect.RecordSubnetAndCNI(s, &l)
		if _, err := h.Table.CreateLaunch(ctx, l); err != nil {
			return fmt.Errorf("record the refused launch %s: %w", l.Activity, err)
		}
	}
	return nil
}

// drop leaves out a call for instances that is none of ours, or no refusal. There
// may be thousands an hour: they are counted, not logged.
func (h handler) drop(m detect.Message) {
	h.Count("LaunchCallsDropped", 1)
	if m.Why == event.AnswerLeftOut {
		h.Count("LaunchAnswersLeftOut", 1)
		h.Log.Warn("CloudTrail left out the answer to a call: whether it brought instances is not known", "event", m.ID, "call", m.Call)
	}
}

// addRefusedCalls sorts the refused calls by cluster: as the request's tags name it,
// else as its launch template's do.
func (h handler) addRefusedCalls(ctx context.Context, b *batch) error {
	var templates []snapshot.TemplateRef
	for _, m := range b.refused {
		ref := template(m.Refusal)
		if _, told := gather.ClusterOf(m.Refusal.Tags); !told && !slices.Contains(templates, ref) {
			templates = append(templates, ref)
		}
	}
	tags, failed := h.Reader.TemplateTags(ctx, templates)
	for _, m := range b.refused {
		of := m.Refusal.Tags
		cluster, told := gather.ClusterOf(of)
		if !told {
			if failed != nil {
				h.Log.Warn("could not determine owning cluster of a refused launch", "template", m.Refusal.Template, "call", failed.Call, "reason", failed.Reason, "action", "returned to queue")
				b.failed = append(b.failed, m.Receipt)
				continue
			}
			of = tags[template(m.Refusal)]
			cluster, told = gather.ClusterOf(of)
		}
		if !told || !h.Watches(cluster) {
			h.Count("ForeignLaunchCalls", 1)
			continue
		}
		h.Count("RefusedLaunchCalls", 1)
		c := b.cases[cluster]
		c.account = cmp.Or(c.account, m.Account)
		c.calls = append(c.calls, detect.RefusedCall(m.Trigger, of))
		b.cases[cluster] = c
	}
	return nil
}

// template is the one that a call names, by its id or its name.
func template(r *event.Refusal) snapshot.TemplateRef {
	ref := snapshot.TemplateRef{ID: r.Template, Version: r.Version}
	if !strings.HasPrefix(r.Template, "lt-") {
		ref.ID, ref.Name = "", r.Template
	}
	return ref
}

// runs are the refused launches of a cluster with what this batch says of them;
// none where it says nothing of launches without a group.
func (h handler) runs(ctx context.Context, cluster string, c clusterCase) (*detect.Runs, error) {
	ungrouped := slices.ContainsFunc(c.instances, func(in snapshot.Instance) bool { return detect.GroupOf(in) == "" })
	if len(c.calls) == 0 && !ungrouped {
		return detect.NewRuns(nil), nil
	}
	records, err := h.Table.RefusedLaunches(ctx, cluster)
	if err != nil {
		return nil, fmt.Errorf("look up the refused launches: %w", err)
	}
	runs := detect.NewRuns(records)
	for _, call := range c.calls {
		runs.Take(cluster, call)
	}
	runs.Decode(func(message string) snapshot.DecodedMessage { return h.Reader.Decode(ctx, message) })
	runs.Started(c.instances)
	if !runs.Began(h.Now()) {
		return runs, nil
	}
	// CloudTrail is minutes late: the pool may have got an instance meanwhile, which
	// others have told of.
	found, failed := h.Reader.FindTagged(ctx, cluster)
	if failed != nil {
		h.Log.WarnContext(ctx, "whether instances came since is not known", "cluster", cluster, "call", failed.Call, "reason", failed.Reason)
	}
	runs.Started(found)
	return runs, nil
}

// saveRuns remembers them.
func (h handler) saveRuns(ctx context.Context, cluster string, c clusterCase, runs *detect.Runs) error {
	return h.SaveRuns(ctx, h.Table, runs, func(ctx context.Context) (*detect.Runs, error) { return h.runs(ctx, cluster, c) })
}

// namedByUserData asks the user data of launched instances that carry no cluster's tag,
// and whose group carries none, which cluster they are for: a node without its
// tags is a fault that is otherwise never seen (instance/cluster-tag). What
// cannot be read is left as it is: unowned.
func (h handler) namedByUserData(ctx context.Context, b *batch) map[string]string {
	strangers := slices.DeleteFunc(slices.Clone(b.instances), func(in snapshot.Instance) bool {
		_, launched := b.launched[in.ID]
		_, tagged := gather.ClusterOf(in.Tags)
		return !launched || tagged || in.Ended() || !slices.Contains(b.owned.Foreign, in.ID) ||
			slices.ContainsFunc(b.evidence.Groups, func(g snapshot.Group) bool {
				_, tagged := gather.ClusterOf(g.Tags)
				return tagged && g.Name == detect.GroupOf(in)
			})
	})
	named, failed := h.NamedByUserData(ctx, strangers)
	if failed != nil {
		h.Log.WarnContext(ctx, "could not read the user data of instances without tags", "instances", len(strangers), "call", failed.Call, "reason", failed.Reason)
		return nil
	}
	return named
}
