package changecheck

import (
	"time"

	"rollcall/shared/checks"
	"rollcall/shared/detect"
	"rollcall/shared/event"
	"rollcall/shared/incident"
	"rollcall/shared/report"
)

// batch is what the messages ask for.
type batch struct {
	wakes  []wake
	failed []string
}

// wake is an incident to look at, once however many messages name it.
type wake struct {
	key      report.Key
	opened   time.Time // zero: as the event has just told
	round    int
	messages []string
}

// wakes sorts the messages by incident.
func (h handler) wakes(messages []event.Message) (b batch) {
	var list []detect.Message
	list, b.failed = h.Messages(messages)
	for _, m := range list {
		begins := m.Kind == event.IncidentTold && (m.Told == string(incident.EventOpened) || m.Told == string(incident.EventReopened))
		if !begins && m.Kind != event.Reminder || m.Check == "" || !h.Watches(m.Cluster) {
			h.Ignore(m, m.Why)
			continue
		}
		b.add(wake{key: h.keyOf(m.Trigger), opened: m.Opened, round: m.Round, messages: []string{m.Receipt}})
	}
	return b
}

func (b *batch) add(w wake) {
	for i := range b.wakes {
		if same := &b.wakes[i]; same.key == w.key && same.opened.Equal(w.opened) {
			same.round = max(same.round, w.round)
			same.messages = append(same.messages, w.messages...)
			return
		}
	}
	b.wakes = append(b.wakes, w)
}

func (h handler) keyOf(t event.Trigger) report.Key {
	return report.Key{Spoke: h.spoke, Cluster: t.Cluster, Check: checks.ID(t.Check), Resource: t.Resource}
}
