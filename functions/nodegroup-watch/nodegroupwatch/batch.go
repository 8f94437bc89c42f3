package nodegroupwatch

import (
	"cmp"
	"maps"
	"slices"

	"rollcall/shared/detect"
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

// visits sorts the messages by cluster.
func (h handler) visits(messages []event.Message) batch {
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
	// What somebody did tells more than that we reminded ourselves.
	switch {
	case t.Kind != event.Reminder:
		v.by[t.Nodegroup] = cmp.Or(t.Call, t.Type)
	case v.by[t.Nodegroup] == "":
		v.by[t.Nodegroup] = "reminder"
	}
}
