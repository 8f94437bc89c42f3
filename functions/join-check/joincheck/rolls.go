package joincheck

import (
	"slices"
	"time"

	"rollcall/shared/detect"
	"rollcall/shared/event"
	"rollcall/shared/incident"
	"rollcall/shared/node/outcome"
	"rollcall/shared/store"

	"rollcall/shared/snapshot"
)

// batch is the launches whose time has come.
type batch struct {
	launched map[string]news
	failed   []string // messages to give back
}

// news is what the events say of an instance.
type news struct {
	account string
	clock   time.Time // zero when no event knows
	// reminded tells that one of the messages is a reminder of ours: the next
	// one follows from it. Events are not followed, or each would have a chain
	// of reminders of its own, but for those that come again.
	reminded bool
	// messages brought it.
	messages []string
}

// sort reads the messages. Several of one instance are one launch.
func (h handler) sort(messages []event.Message) batch {
	b := batch{launched: map[string]news{}}
	var list []detect.Message
	list, b.failed = h.Messages(messages)
	for _, m := range list {
		switch m.Kind {
		case event.Reminder:
			for _, id := range m.Instances {
				n := b.launched[id]
				n.messages, n.reminded = append(n.messages, m.Receipt), true
				b.launched[id] = n
			}
		case event.LaunchStarted, event.LaunchSucceeded, event.InstanceRunning:
			if m.Warm {
				h.Count("WarmPoolInstances", 1)
				continue
			}
			n := b.launched[m.Instance]
			if m.Account != "" {
				n.account = m.Account
			}
			if clock, ok := m.Clock(); ok && (n.clock.IsZero() || clock.Before(n.clock)) {
				n.clock = clock
			}
			// One that comes again may have been recorded by a run that ended before
			// it reminded itself.
			n.messages, n.reminded = append(n.messages, m.Receipt), n.reminded || m.Again
			b.launched[m.Instance] = n
		case event.LaunchFailed:
			// launch-watch explains it; there is no instance to call.
		default:
			h.Ignore(m, m.Why)
		}
	}
	return b
}

// unsure gives back the messages of instances of which nobody can say whose
// they are while the groups cannot be read.
func (h handler) unsure(b *batch, ids []string) {
	for _, id := range ids {
		h.Log.Warn("whose the instance is cannot be told without its group, its messages go back to the queue", "instance", id)
		b.failed = append(b.failed, b.launched[id].messages...)
	}
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
	// tagging tells that Karpenter has set its tag on one of the instances.
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
	launch   store.LaunchRecord
	recorded bool
	// unsure: whether it is recorded has not been looked up.
	unsure bool
	// silent ones are looked at and not called: nobody waits for them any
	// more, or nobody can tell whether they are nodes.
	silent bool
	// reminded: a reminder of ours brought it.
	reminded bool
	instance *snapshot.Instance // nil: EC2 does not describe it
}

// rolls sorts the batch by cluster. Unknown are instances that neither EC2 nor
// our records know: minutes after their launch they have ended long ago, and
// nobody can say whose they were.
func (b batch) rolls(a detect.Assignment, known map[string]store.LaunchRecord, ids []string, learned map[string]detect.Learned) (all map[string]roll, unknown []string) {
	all = map[string]roll{}
	add := func(cluster string, e entry, n news) {
		r := all[cluster]
		e.reminded = n.reminded
		r.entries = append(r.entries, e)
		r.learned = learned[cluster]
		if n.account != "" {
			r.account = n.account
		}
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
				l = detect.Fresh(cluster, in, b.launched[in.ID].clock, learned[cluster])
			}
			in = detect.Recall(in, l)
			add(cluster, entry{launch: l, recorded: recorded, instance: &in}, b.launched[in.ID])
		}
	}
	for _, id := range ids {
		l, recorded := known[id]
		switch {
		case found[id]:
		case recorded:
			add(l.Cluster, entry{launch: l, recorded: true}, b.launched[id])
		default:
			unknown = append(unknown, id)
		}
	}
	return all, unknown
}
