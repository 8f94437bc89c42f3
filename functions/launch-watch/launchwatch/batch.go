package launchwatch

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"rollcall/shared/detect"
	"rollcall/shared/event"
	"rollcall/shared/node/outcome"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
)

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
	// messages brought it; again tells that one of them came before.
	messages []string
	again    bool
}

func (b batch) empty() bool {
	return len(b.launched)+len(b.ended)+len(b.lost)+len(b.failures)+len(b.refused) == 0
}

// sort reads the messages. Several events of one instance are one launch.
func (h handler) sort(messages []event.Message) batch {
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
// instances that nobody waits for. Notices are taken down.
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

// unsure gives back the messages of instances of which nobody can say whose
// they are while the groups cannot be read.
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

// widen keeps, of the instances found by group, the young ones that nobody
// has looked at: the rest of a burst whose events are still on their way. One
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
