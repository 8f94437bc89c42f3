package nodegroupwatch

import (
	"cmp"
	"maps"
	"slices"

	"rollcall/shared/event"
)

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

func (h handler) open(messages []event.Message) batch {
	b := batch{visits: map[string]*visit{}}
	for _, m := range messages {
		t, err := event.Parse([]byte(m.Body))
		if err != nil {
			h.log.Error("message cannot be read, it goes back to the queue", "message", m.ID, "received", m.Received, "error", err.Error())
			h.count("MalformedEvents", 1)
			b.failed = append(b.failed, m.ID)
			continue
		}
		switch {
		case t.Kind == event.NodegroupCalled, t.Kind == event.AddonHealth, t.Kind == event.Reminder && t.Nodegroup != "":
		default:
			h.log.Info("event ignored", "event", t.ID, "type", t.Type, "why", t.Why)
			h.count("ForeignEvents", 1)
			continue
		}
		switch {
		case t.Cluster == "":
			h.log.Info("the event names no cluster, the sweep will look", "event", t.ID, "type", t.Type)
			h.count("UnnamedClusters", 1)
		case !h.watches(t.Cluster):
			h.count("ForeignClusters", 1)
		default:
			b.add(t, m.ID)
		}
	}
	return b
}

func (b batch) add(t event.Trigger, message string) {
	v := b.visits[t.Cluster]
	if v == nil {
		v = &visit{by: map[string]string{}}
		b.visits[t.Cluster] = v
	}
	v.account = cmp.Or(v.account, t.Account)
	v.messages = append(v.messages, message)
	if t.Nodegroup == "" {
		return
	}
	if !slices.Contains(v.names, t.Nodegroup) {
		v.names = append(v.names, t.Nodegroup)
	}
	if t.Update != "" {
		v.updated = append(v.updated, t.Nodegroup)
	}
	// What somebody did tells more than that we reminded ourselves.
	switch {
	case t.Kind != event.Reminder:
		v.by[t.Nodegroup] = cmp.Or(t.Call, t.Type)
	case v.by[t.Nodegroup] == "":
		v.by[t.Nodegroup] = "reminder"
	}
}
