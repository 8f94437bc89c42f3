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

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"golang.org/x/sync/errgroup"

	"rollcall/functions/launch-watch/spec"
	"rollcall/shared/checks"
	"rollcall/shared/config"
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
	if err := h.skipKnown(ctx, &b); err != nil {
		return nil, err
	}
	if b.empty() {
		return inbox.Failures(b.failed), nil
	}
	if err := h.lookAt(ctx, &b); err != nil {
		return nil, err
	}
	return inbox.Failures(b.failed), nil
}

// lookAt finds whose the launches are and looks at each cluster.
func (h handler) lookAt(ctx context.Context, b *batch) error {
	named, ahead := b.groups(), b.namesGroups()
	var groups []snapshot.Group
	var groupsFailed *snapshot.Failure
	var reading sync.WaitGroup
	if ahead {
		reading.Go(func() { groups, groupsFailed = h.reader.Groups(ctx, named) })
	}
	instances, failed := h.reader.Find(ctx, b.ids(), named)
	reading.Wait()
	if failed != nil {
		// Without the instances nothing can be told apart: the messages come again.
		return fmt.Errorf("find the launched instances: %s %s: %s", failed.Call, failed.Reason, failed.Message)
	}
	instances, err := h.lose(ctx, b, h.young(b, instances))
	if err != nil {
		return err
	}
	if err := h.widen(ctx, b, &instances); err != nil {
		return err
	}
	if all := detect.Distinct(detect.GroupsOf(instances), b.groups()); !ahead || !slices.Equal(all, named) {
		groups, groupsFailed = h.reader.Groups(ctx, all)
	}
	evidence := detect.Evidence{Groups: groups, GroupsUnread: groupsFailed != nil, Recorded: b.known, Watches: h.Watches}
	a := detect.Assign(instances, evidence)
	if evidence.Named = h.namedByUserData(ctx, b, instances, groups, a.Foreign); len(evidence.Named) > 0 {
		a = detect.Assign(instances, evidence)
	}
	h.Count("ForeignInstances", b.named(a.Foreign))
	h.Count("WarmPoolInstances", b.named(a.Warm))
	h.unseen(b, instances)
	h.unsure(b, a.Unsure)
	cases := h.cases(b, a, groups, groupsFailed != nil)
	h.refusedCalls(ctx, b, cases)
	for _, name := range sortedKeys(cases) {
		c := cases[name]
		c.failed = detect.Failures(groupsFailed)
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
	learning.Go(func() { learned = h.Learn(ctx, h.launches, cluster, h.joinTime) })
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
	samples.Go(func() error { return h.launches.RecordSamples(ctx, detect.Samples(s, s.Scope.Subnets)) })
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

// batch is the events of one invocation, by what they are about.
type batch struct {
	// launched holds the first news of each instance.
	launched map[string]news
	// ended are instances that have stopped or are terminated, lost those of
	// them that had joined not long before.
	ended map[string]news
	lost  map[string]news
	// noticed are instances of which EC2 says beforehand that it ends them.
	noticed map[string]news
	// failures are launches without an instance, by activity.
	failures map[string]failure
	// refused are calls for instances without a group.
	refused []detect.Message
	// failed are messages to give back.
	failed []string
	known  map[string]store.LaunchRecord
}

// failure is a launch that came to nothing, as its event tells it.
type failure struct {
	event.Trigger
	message string
}

// news is what the events say of an instance.
type news struct {
	group   string
	account string
	clock   time.Time // zero when no event knows
	latest  time.Time // of its events
	// facts are what EC2 said of its end beforehand. With early there is no news
	// of its launch yet.
	facts outcome.Facts
	early bool
	// messages brought it; again is true where one of them came before.
	messages []string
	again    bool
}

func (b batch) empty() bool {
	return len(b.launched)+len(b.ended)+len(b.lost)+len(b.failures)+len(b.refused) == 0
}

// sort reads the messages. Several events of one instance are one launch.
func (h handler) sort(messages []inbox.Message) batch {
	b := batch{launched: map[string]news{}, ended: map[string]news{}, lost: map[string]news{}, noticed: map[string]news{}, failures: map[string]failure{}}
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
			b.failures[m.Activity+m.Instance] = failure{m.Trigger, m.Receipt}
		case m.Kind == event.InstanceEnded:
			merge(b.ended, m)
		case m.Kind == event.LaunchStarted, m.Kind == event.LaunchSucceeded, m.Kind == event.InstanceRunning:
			merge(b.launched, m)
		case m.Kind == event.Interruption, m.Kind == event.Rebalance, m.Kind == event.Maintenance:
			for _, id := range m.Instances {
				m.Instance = id
				merge(b.noticed, m)
			}
		default:
			h.Ignore(m, "not about a launch")
		}
	}
	return b
}

func merge(all map[string]news, t detect.Message) {
	n := all[t.Instance]
	n.account = t.Account
	if t.Group != "" {
		n.group = t.Group
	}
	if clock, ok := t.Clock(); ok && (n.clock.IsZero() || clock.Before(n.clock)) {
		n.clock = clock
	}
	if t.Time.After(n.latest) {
		n.latest = t.Time
	}
	if f, ok := detect.Notice(t.Trigger); ok {
		n.facts = outcome.Merge(n.facts, f)
	}
	n.messages, n.again = append(n.messages, t.Receipt), n.again || t.Again
	all[t.Instance] = n
}

// skipKnown leaves out launches that were looked at already, and ends of
// instances that are not waited for. Notices are taken down.
func (h handler) skipKnown(ctx context.Context, b *batch) error {
	ids := slices.Concat(slices.Collect(maps.Keys(b.launched)), slices.Collect(maps.Keys(b.ended)), slices.Collect(maps.Keys(b.noticed)))
	for _, f := range b.failures {
		ids = append(ids, f.Instance)
	}
	if ids = detect.Distinct(ids); len(ids) == 0 {
		return nil
	}
	known, err := h.launches.GetLaunches(ctx, ids)
	if err != nil {
		return fmt.Errorf("look up %d launches: %w", len(ids), err)
	}
	b.known = known
	if err := h.remindAgain(ctx, b); err != nil {
		return err
	}
	maps.DeleteFunc(b.launched, func(id string, _ news) bool { _, ok := known[id]; return ok })
	maps.DeleteFunc(b.ended, func(id string, n news) bool {
		l, ok := known[id]
		if ok && l.Losing(n.latest) {
			b.lost[id] = n
		}
		return !ok || l.Status.Final()
	})
	if err := h.ends(ctx, b); err != nil {
		return err
	}
	return h.notices(ctx, b)
}

func (b batch) ids() []string {
	return detect.Distinct(sortedKeys(b.launched), sortedKeys(b.lost), sortedKeys(b.ended))
}

// groups are the Auto Scaling groups that launched or failed to.
func (b batch) groups() []string {
	var names []string
	for _, n := range b.launched {
		names = append(names, n.group)
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
		if n.group == "" {
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

// unseen gives back the messages of instances that EC2 does not describe yet.
// What it still does not describe minutes after the event has ended long ago:
// there is nothing to look at.
func (h handler) unseen(b *batch, found []snapshot.Instance) {
	for _, id := range sortedKeys(b.launched) {
		if slices.ContainsFunc(found, func(in snapshot.Instance) bool { return in.ID == id }) {
			continue
		}
		n := b.launched[id]
		delete(b.launched, id)
		if h.Now().Sub(n.latest) > visible {
			h.Log.Warn("EC2 does not describe the instance of an old event", "instance", id, "event", n.latest)
			h.Count("UnknownInstances", 1)
			continue
		}
		h.Log.Info("EC2 does not describe the instance yet, its messages go back to the queue", "instance", id)
		b.failed = append(b.failed, n.messages...)
	}
}

// unsure gives back the messages of instances whose owner is
// unknown while the groups cannot be read.
func (h handler) unsure(b *batch, ids []string) {
	for _, id := range ids {
		n, ok := b.launched[id]
		if !ok {
			continue // found beside the others: its own event comes
		}
		h.Log.Warn("whose the instance is cannot be told without its group, its messages go back to the queue", "instance", id, "group", n.group)
		b.failed = append(b.failed, n.messages...)
	}
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

// widen keeps, of the instances found by group, the young ones that were
// not looked at: the rest of a burst whose events are still on their way. One
// look serves them all, and theirs will find it done.
func (h handler) widen(ctx context.Context, b *batch, instances *[]snapshot.Instance) error {
	now := h.Now()
	named := b.ids()
	var others []string
	for _, in := range *instances {
		if !slices.Contains(named, in.ID) && now.Sub(in.Launched) < h.joinTime {
			others = append(others, in.ID)
		}
	}
	known := map[string]store.LaunchRecord{}
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

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// Launches is what launch-watch remembers by.
type Launches interface {
	detect.Launches
	detect.Times
	RecordSamples(ctx context.Context, samples []snapshot.Sample) error
}

// Reader is how it finds instances, and whose they are.
type Reader interface {
	Find(ctx context.Context, ids, groups []string) ([]snapshot.Instance, *snapshot.Failure)
	FindTagged(ctx context.Context, cluster string) ([]snapshot.Instance, *snapshot.Failure)
	Groups(ctx context.Context, names []string) ([]snapshot.Group, *snapshot.Failure)
	UserData(ctx context.Context, instances []snapshot.Instance) ([]snapshot.UserData, *snapshot.Failure)
	// TemplateTags gives the tags that launch templates put on instances.
	TemplateTags(ctx context.Context, refs []snapshot.TemplateRef) (map[snapshot.TemplateRef]map[string]string, *snapshot.Failure)
	// Decode decodes the message of a call that was denied.
	Decode(ctx context.Context, message string) snapshot.DecodedMessage
}

var (
	_ Launches = (*store.Store)(nil)

	_ detect.RefusedTable = (*store.Store)(nil)

	_ Reader          = (*gather.Reader)(nil)
	_ detect.Reader   = (*gather.Reader)(nil)
	_ detect.Sender   = queue.Queues{}
	_ detect.Reminder = queue.Queues{}
)

type handler struct {
	detect.Detector
	launches Launches
	refused  detect.RefusedTable
	reader   Reader
	remind   detect.Reminder
	joinTime time.Duration
}

// Parts are what the handler is made of. Build makes them of AWS; who looks at a
// cluster with nothing deployed has a memory of its own (command/diagnose/look).
type Parts struct {
	Detector detect.Detector
	Config   config.Config
	Table    interface {
		Launches
		detect.RefusedTable
	}
	Reader Reader
	Remind detect.Reminder
}

// New makes the handler of its parts.
func New(p Parts) lambda.Handler {
	h := handler{
		Detector: p.Detector,
		launches: p.Table,
		refused:  p.Table,
		reader:   p.Reader,
		remind:   p.Remind,
		joinTime: p.Config.JoinTime,
	}
	return h.handle
}

// Build makes the handler of launch-watch from what its invocations share.
func Build(_ context.Context, e lambda.Env) (lambda.Handler, error) {
	keep := detect.KeepEvidence(e)
	reader := detect.NewReader(e, keep).Decoding(e.Config.DecodeDenied)
	queues := queue.Queues{Client: sqs.NewFromConfig(e.AWS), Results: e.Config.ResultQueueURL, Joins: e.Config.JoinQueueURL, Spoke: e.Config.Spoke}
	return New(Parts{
		Detector: detect.New(spec.Name, e, reader, queues).Keeping(keep),
		Config:   e.Config,
		Table:    store.New(dynamodb.NewFromConfig(e.AWS), e.Config.TableName).WithClock(e.Now).ForSpoke(e.Config.Spoke),
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

// notices takes down what EC2 says beforehand of an instance's end: it tells a
// reclaimed instance from a broken one, and opens nothing by itself. An
// instance without a record may be one whose launch event is still
// to come: it is looked at like a launch.
func (h handler) notices(ctx context.Context, b *batch) error {
	ignored := 0
	for _, id := range sortedKeys(b.noticed) {
		n := b.noticed[id]
		l, known := b.known[id]
		switch {
		case known && l.Status == outcome.Joined && n.latest.Sub(l.Ready) > snapshot.LostWithin:
			ignored++
		case known:
			if err := h.learn(ctx, l, n.facts); err != nil {
				return err
			}
			l.Learn(n.facts)
			b.known[id] = l
		default:
			launched, told := b.launched[id]
			launched.facts = n.facts
			launched.messages = append(launched.messages, n.messages...)
			if !told {
				launched.account, launched.latest, launched.early = n.account, n.latest, true
			}
			b.launched[id] = launched
		}
	}
	h.Count("NoticesIgnored", ignored)
	return nil
}

// ends takes down when launches that are waited for ended: EC2 does not always
// say. Whether one had been a node join-check sees.
func (h handler) ends(ctx context.Context, b *batch) error {
	for _, id := range sortedKeys(b.ended) {
		l, over := b.known[id], outcome.Facts{Over: b.ended[id].latest}
		if err := h.learn(ctx, l, over); err != nil {
			return err
		}
		l.Learn(over)
		b.known[id] = l
	}
	return nil
}

// young sets aside the instances of notices that are no launches any more: old
// nodes that were there before Rollcall, and others' instances.
func (h handler) young(b *batch, found []snapshot.Instance) []snapshot.Instance {
	ignored := 0
	found = slices.DeleteFunc(found, func(in snapshot.Instance) bool {
		if n, ok := b.launched[in.ID]; !ok || !n.early || h.Now().Sub(in.Launched) <= outcome.Longest {
			return false
		}
		delete(b.launched, in.ID)
		ignored++
		return true
	})
	h.Count("NoticesIgnored", ignored)
	return found
}

// lose takes down the ends of nodes that had joined, with EC2's reason, and
// sets the instances aside: they are not waited for.
func (h handler) lose(ctx context.Context, b *batch, found []snapshot.Instance) ([]snapshot.Instance, error) {
	for _, id := range sortedKeys(b.lost) {
		end := outcome.Facts{Ended: b.lost[id].latest}
		if i := slices.IndexFunc(found, func(in snapshot.Instance) bool { return in.ID == id }); i >= 0 {
			r := found[i].StateReason
			end = outcome.Merge(end, outcome.Facts{Ended: r.When, Reason: outcome.EndReason{Code: r.Code, Message: r.Message}})
			found = slices.Delete(found, i, i+1)
		}
		if err := h.learn(ctx, b.known[id], end); err != nil {
			return nil, err
		}
		h.Count("LostNodes", 1)
	}
	return found, nil
}

// learn adds facts to a record.
func (h handler) learn(ctx context.Context, l store.LaunchRecord, facts outcome.Facts) error {
	if !l.Learn(facts) {
		return nil
	}
	if err := h.SaveLaunch(ctx, h.launches, true, l); err != nil {
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
			created, err := h.launches.CreateLaunch(ctx, r)
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
	asked, err := reminders.Send(ctx, h.remind, s.Time)
	h.Count("Launches", asked)
	return errors.Join(failed, err)
}

// remindAgain asks once more for launches that are recorded, were never called, and
// whose message comes again: the run that recorded them may have ended before it
// asked. Who is called twice is recorded once.
func (h handler) remindAgain(ctx context.Context, b *batch) error {
	var ids []string
	for _, id := range sortedKeys(b.launched) {
		if l, known := b.known[id]; known && b.launched[id].again && l.Status == outcome.Waiting && l.Looks == 0 {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return h.remind.LookAgain(ctx, ids, h.Now(), detect.Soon)
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
		if _, err := h.launches.CreateLaunch(ctx, l); err != nil {
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

// refusedCalls sorts the refused calls by cluster: as the request's tags name it,
// else as its launch template's do.
func (h handler) refusedCalls(ctx context.Context, b *batch, cases map[string]clusterCase) {
	var templates []snapshot.TemplateRef
	for _, m := range b.refused {
		ref := template(m.Refusal)
		if _, told := gather.ClusterOf(m.Refusal.Tags); !told && !slices.Contains(templates, ref) {
			templates = append(templates, ref)
		}
	}
	tags, failed := h.reader.TemplateTags(ctx, templates)
	for _, m := range b.refused {
		of := m.Refusal.Tags
		cluster, told := gather.ClusterOf(of)
		if !told {
			if failed != nil {
				h.Log.Warn("whose the refused launch is cannot be told without its launch template, its message goes back to the queue",
					"template", m.Refusal.Template, "call", failed.Call, "reason", failed.Reason)
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
		c := cases[cluster]
		c.account = cmp.Or(c.account, m.Account)
		c.calls = append(c.calls, detect.RefusedCall(m.Trigger, of))
		cases[cluster] = c
	}
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
	records, err := h.refused.RefusedLaunches(ctx, cluster)
	if err != nil {
		return nil, fmt.Errorf("look up the refused launches: %w", err)
	}
	runs := detect.NewRuns(records)
	for _, call := range c.calls {
		runs.Take(cluster, call)
	}
	runs.Decode(func(message string) snapshot.DecodedMessage { return h.reader.Decode(ctx, message) })
	runs.Started(c.instances)
	if !runs.Began(h.Now()) {
		return runs, nil
	}
	// CloudTrail is minutes late: the pool may have got an instance meanwhile, which
	// others have told of.
	found, failed := h.reader.FindTagged(ctx, cluster)
	if failed != nil {
		h.Log.WarnContext(ctx, "whether instances came since is not known", "cluster", cluster, "call", failed.Call, "reason", failed.Reason)
	}
	runs.Started(found)
	return runs, nil
}

// saveRuns remembers them.
func (h handler) saveRuns(ctx context.Context, cluster string, c clusterCase, runs *detect.Runs) error {
	return h.SaveRuns(ctx, h.refused, runs, func(ctx context.Context) (*detect.Runs, error) { return h.runs(ctx, cluster, c) })
}

// namedByUserData asks the user data of launched instances that carry no cluster's tag,
// and whose group carries none, which cluster they are for: a node without its
// tags is a fault that is otherwise never seen (instance/cluster-tag). What
// cannot be read is left as it is: unowned.
func (h handler) namedByUserData(ctx context.Context, b *batch, instances []snapshot.Instance, groups []snapshot.Group, foreign []string) map[string]string {
	strangers := slices.DeleteFunc(slices.Clone(instances), func(in snapshot.Instance) bool {
		_, launched := b.launched[in.ID]
		_, tagged := gather.ClusterOf(in.Tags)
		return !launched || tagged || in.Ended() || !slices.Contains(foreign, in.ID) ||
			slices.ContainsFunc(groups, func(g snapshot.Group) bool {
				_, tagged := gather.ClusterOf(g.Tags)
				return tagged && g.Name == detect.GroupOf(in)
			})
	})
	if len(strangers) == 0 {
		return nil
	}
	data, failed := h.reader.UserData(ctx, strangers)
	if failed != nil {
		h.Log.WarnContext(ctx, "could not read the user data of instances without tags", "instances", len(strangers), "call", failed.Call, "reason", failed.Reason)
		return nil
	}
	return detect.NamedByUserData(data)
}
