package detect

import "rollcall/shared/event"

// Message is a message of a queue that could be read.
type Message struct {
	event.Trigger
	// Receipt is the message's id, by which it is given back to the queue.
	Receipt string
	// Again tells that it was handed out before.
	Again bool
}

// Messages reads the messages of a batch. Those that cannot be read go back to
// the queue, and in the end to its dead-letter queue; the others of the batch do
// not wait for them.
func (d Detector) Messages(batch []event.Message) (list []Message, malformed []string) {
	for _, m := range batch {
		t, err := event.Parse([]byte(m.Body))
		if err != nil {
			d.Log.Error("message cannot be read, it goes back to the queue", "message", m.ID, "received", m.Received, "error", err.Error())
			d.Count("MalformedEvents", 1)
			malformed = append(malformed, m.ID)
			continue
		}
		list = append(list, Message{Trigger: t, Receipt: m.ID, Again: m.Received > 1})
	}
	return list, malformed
}

// Ignore leaves out a message that is not for this function.
func (d Detector) Ignore(m Message, why string) {
	d.Log.Info("event ignored", "event", m.ID, "type", m.Type, "instance", m.Instance, "group", m.Group, "why", why)
	d.Count("ForeignEvents", 1)
}
