package notify

import (
	"context"
	"errors"
	"slices"
	"time"

	"rollcall/shared/bus"
	"rollcall/shared/incident"
	"rollcall/shared/outbox"
	"rollcall/shared/slack"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/store"
)

// outgoing is an incident on its way out.
type outgoing struct {
	inc incident.Incident
	// message is set when the message is to be posted or edited.
	message *slackapi.Message
	// withheld reports whether Slack is not to be told of it, yet or at all.
	withheld bool
	// edited reports whether the record changed, so that lines of the channel may have to be
	// edited.
	edited bool
	// mayBeSent are the ids of the notes, and "" for the message itself, that an
	// earlier invocation may have sent before it was cut off.
	mayBeSent []string
	// answered are the presses that need no more attention.
	answered []string
	// sendsBegun are those that begin has marked, tried those that were sent, or may
	// have been.
	sendsBegun, sendsTried []string
	// marksCancelled reports whether marks were taken back, unmarked why none could be made.
	marksCancelled bool
	markError      error
}

// lateCall is from when on a call counts from when Slack took it, as it was
// away: people are called again the set time after they could hear it.
const lateCall = 2 * time.Minute

// dueOf finds what is due, and marks in the record what is about to be sent
// for the first time: whoever finds the mark and no timestamp asks Slack
// before sending again.
func (c *Cluster) dueOf(inc incident.Incident, now time.Time) outgoing {
	o := outgoing{inc: inc}
	said := &o.inc.Delivery
	if o.withheld = inc.Withheld(now); o.withheld {
		return o
	}
	if inc.Number == 0 {
		return o // pending: not published yet
	}
	if o.edited = said.Dirty; said.Dirty {
		m := slack.Render(inc, c.shows())
		switch {
		case m.Digest() == said.Digest && !inc.StampDue():
			said.Dirty = false
		case inc.Silence == nil || said.TS != "": // what is silenced is edited, and not posted
			o.message = &m
		}
	}
	if inc.Silence != nil && said.TS == "" {
		return o // it waits, and with it its thread
	}
	mark := func(id, ts string, sending *time.Time) {
		if ts != "" {
			return
		}
		if sending.IsZero() {
			return // beginSend marks it, just before it is sent
		}
		o.mayBeSent = append(o.mayBeSent, id)
	}
	if o.message != nil {
		if said.TS == "" && said.Sending.IsZero() {
			said.Channel = c.channelOf(inc) // and there it is looked for, should this invocation be cut off
		}
		mark("", said.TS, &said.Sending)
	}
	said.Notes = slices.Clone(said.Notes)
	for i := range said.Notes {
		n := &said.Notes[i]
		mark(n.ID, n.TS, &n.Sending)
	}
	return o
}

func (o *outgoing) due() bool {
	return len(o.inc.PendingEvents) > 0 || len(o.inc.Acts) > 0 || o.forSlack()
}

// forSlack reports whether Slack is to be told something of it.
func (o *outgoing) forSlack() bool {
	if o.withheld {
		return false
	}
	if o.inc.Silence != nil {
		return o.message != nil
	}
	return o.message != nil || o.edited && o.inc.NewestLine() != nil || o.inc.Number > 0 && o.inc.Chart.Due() ||
		slices.ContainsFunc(o.inc.Delivery.Notes, func(n incident.Note) bool { return n.TS == "" })
}

// deliver writes the audit, tells the bus and Slack, answers who pressed, and
// records what they took. Whatever they did not take stays in the record.
func (c *Cluster) deliver(ctx context.Context, o outgoing) error {
	pressed := slices.Clone(o.inc.Acts)
	audited, err := c.audit(ctx, pressed)
	if err != nil {
		return err
	}
	told := c.tellBus(ctx, &o)
	said := c.say(ctx, &o)
	if o.markError != nil {
		return o.markError // nothing was sent: the messages come again
	}
	o.answered = answered(pressed, c.answer(ctx, pressed))
	o.inc.Acts = unanswered(o.inc.Acts, pressed, o.answered)
	if !told && !said && !audited && len(o.answered) == 0 && !o.marksCancelled {
		return nil
	}
	// Slack has it: that must be recorded even if time is running out. The
	// frame keeps two seconds for this.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 1500*time.Millisecond)
	defer cancel()
	_, err = c.Incidents.SaveIncident(ctx, o.inc)
	var conflict *store.Conflict
	for attempt := 1; errors.As(err, &conflict) && attempt < attempts; attempt++ {
		c.Count("LostRaces", 1)
		err = c.merge(ctx, o)
	}
	return err
}

// merge records what was sent in a record that another writer changed.
func (c *Cluster) merge(ctx context.Context, o outgoing) error {
	incidents, err := c.Incidents.Incidents(ctx, o.inc.Key.Cluster)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(incidents, func(inc incident.Incident) bool { return inc.Key == o.inc.Key })
	if i < 0 || !incidents[i].Opened.Equal(o.inc.Opened) && incidents[i].Delivery.TS != "" {
		return nil // it became another incident, with a message of its own
	}
	latest := incidents[i]
	latest.Delivery = mergeDelivery(latest.Delivery, o.inc.Delivery)
	latest.Chart = mergeChart(latest.Chart, o.inc.Chart)
	latest.Acts = unanswered(latest.Acts, o.inc.Acts, o.answered)
	if o.inc.Called.After(latest.Called) {
		latest.Called = o.inc.Called
	}
	latest.AddPublished(o.inc.Published)
	latest.PendingEvents = slices.DeleteFunc(latest.PendingEvents, func(e incident.Event) bool {
		// Told: it was there before, and is not due any more.
		return e.Sequence <= o.inc.Events && !slices.ContainsFunc(o.inc.PendingEvents, func(due incident.Event) bool { return due.ID == e.ID })
	})
	_, err = c.Incidents.SaveIncident(ctx, latest)
	return err
}

// mergeDelivery is what two invocations have said, taken together.
func mergeDelivery(latest, ours incident.Delivery) incident.Delivery {
	if latest.TS == "" && ours.TS != "" {
		latest.Channel, latest.TS, latest.Sending = ours.Channel, ours.TS, ours.Sending
	}
	// Whose edit came last is not known: one more puts it right.
	latest.Digest, latest.Dirty = "", true
	for i, n := range latest.Notes {
		j := slices.IndexFunc(ours.Notes, func(o incident.Note) bool { return o.ID == n.ID })
		switch {
		case j < 0:
		case n.TS == "" && ours.Notes[j].TS != "":
			latest.Notes[i] = ours.Notes[j]
		case n.Shown != ours.Notes[j].Shown && n.Shown != "":
			latest.Notes[i].Shown = "unknown" // and the line is edited once more
		}
	}
	return latest
}

// busTime is what must be left of the function's time to tell the bus, which
// takes it in well under a second.
const busTime = time.Second

// tellBus sends the finding events that are due. Where a slow Slack has left no
// time they stay in the record: an error would bring back the whole batch.
func (c *Cluster) tellBus(ctx context.Context, o *outgoing) bool {
	if deadline, ends := ctx.Deadline(); len(o.inc.PendingEvents) == 0 || ends && time.Until(deadline) < busTime {
		return false
	}
	targets := []outbox.Target{outbox.ToBus, outbox.EventsOf(o.inc.Key)}
	if c.onHold(targets...) || c.busDown {
		return false
	}
	if err := c.Bus.Tell(ctx, o.inc.PendingEvents); err != nil {
		c.Count("BusFailures", 1)
		target := outbox.ToBus
		if refused := new(bus.Refused); errors.As(err, &refused) || errors.Is(err, bus.ErrTooLarge) {
			target = outbox.EventsOf(o.inc.Key) // the bus takes others
		}
		c.busDown = target == outbox.ToBus
		c.recordRefusal(ctx, target, "could not publish to the bus, will retry", err, "cluster", o.inc.Key.Cluster, "check", o.inc.Key.Check, "resource", o.inc.Key.Resource)
		return false
	}
	c.accepted(targets...)
	c.Count("EventsSent", len(o.inc.PendingEvents))
	o.inc.Publish()
	return true
}

// say brings Slack up to date: the message first, as the notes hang on it.
func (c *Cluster) say(ctx context.Context, o *outgoing) (changed bool) {
	if o.forSlack() && c.onHold(c.targetsOf(o.inc)...) || c.slackDown || !c.beginSend(ctx, o) {
		return false
	}
	defer o.cancelSend()
	if o.message != nil {
		words := o.message
		shown := c.withChart(ctx, o)
		err := c.sayMessage(ctx, o)
		var e *slackapi.Error
		switch {
		case shown != nil && err == nil:
			*o.inc.Chart = *shown
		case shown != nil && errors.As(err, &e) && e.Code == "invalid_blocks": // Slack has not taken it in yet
			o.message = words
			err = c.sayMessage(ctx, o)
		}
		if o.markError != nil {
			return false
		}
		if err != nil {
			return c.notTaken(ctx, o, &o.inc.Delivery.Sending, err)
		}
		c.accepted(c.targetsOf(o.inc)...)
		changed = true
	}
	said := &o.inc.Delivery
	if said.TS == "" || o.inc.Silence != nil {
		return changed
	}
	for i := range said.Notes {
		n := &said.Notes[i]
		if n.TS != "" {
			continue
		}
		if c.budgetSpent() { // the rest is for the next invocation
			return changed
		}
		o.sendsTried = append(o.sendsTried, n.ID)
		ts, err := c.sayNote(ctx, o, *n)
		if lost(err, said.Channel, c.channelOf(o.inc)) {
			// The thread went with its message: the next invocation begins another.
			said.TS, said.Digest, said.Dirty = "", "", true
			return true
		}
		if err != nil {
			c.notTaken(ctx, o, &n.Sending, err)
			return true
		}
		if now := c.Now(); len(n.Mention) > 0 && now.Sub(o.inc.Called) >= lateCall {
			o.inc.Called = now
		}
		*n = c.sent(o.inc, *n, ts)
		c.accepted(c.targetsOf(o.inc)...)
		changed = true
	}
	changed = c.sayLines(ctx, o) || changed
	// The picture comes last: it never holds back the words.
	return c.showChart(ctx, o) || changed
}

// sayLines edits the incident's lines in the channel that do not say any more how things
// stand: Slack shows a reply that the channel shows too as one message, in both places, and
// chat.update edits it like any other of the app's (docs.slack.dev/reference/methods/chat.update).
// What Slack does not take now is tried again with the next delivery.
func (c *Cluster) sayLines(ctx context.Context, o *outgoing) (changed bool) {
	said := &o.inc.Delivery
	newest := o.inc.NewestLine()
	for i := range said.Notes {
		n := &said.Notes[i]
		if n.Shown == "" {
			continue
		}
		m := slack.RenderLine(o.inc, *n, n == newest)
		if m.Digest() == n.Shown {
			continue
		}
		behind := said.Dirty
		said.Dirty = true // until it is done
		if c.budgetSpent() {
			return changed
		}
		err := c.Slack.Update(ctx, said.Channel, n.TS, m)
		switch {
		case lost(err, said.Channel, c.channelOf(o.inc)):
			n.Line, n.Shown = false, "" // it was deleted
		case err != nil:
			c.notTaken(ctx, o, &time.Time{}, err)
			return true
		default:
			n.Shown = m.Digest()
			c.Count("SlackUpdates", 1)
		}
		said.Dirty, changed = behind, true
	}
	return changed
}

func (c *Cluster) sayMessage(ctx context.Context, o *outgoing) error {
	said := &o.inc.Delivery
	if said.Channel == "" { // an earlier version of Rollcall began to send it
		said.Channel = c.Policy.Channel
	}
	if said.TS == "" && slices.Contains(o.mayBeSent, "") {
		ts, err := c.search(ctx, slackapi.Search{Channel: said.Channel, Tag: o.message.Tag, Since: said.Sending})
		if err != nil {
			return err
		}
		said.TS = ts
	}
	if said.TS != "" {
		err := c.Slack.Update(ctx, said.Channel, said.TS, *o.message)
		if !lost(err, said.Channel, c.channelOf(o.inc)) {
			return c.shown(o, "SlackUpdates", err)
		}
		// The incident is not over, so it is said anew.
		c.Log.WarnContext(ctx, "the message is gone, it is posted anew", "cluster", o.inc.Key.Cluster, "check", o.inc.Key.Check, "resource", o.inc.Key.Resource)
		said.TS, said.Channel, said.Sending = "", c.channelOf(o.inc), c.Now()
		saved, err := c.Incidents.SaveIncident(ctx, o.inc)
		if err != nil {
			o.markError = err
			return err
		}
		o.inc = saved
	}
	ts, err := c.Slack.Post(ctx, said.Channel, *o.message)
	if err == nil {
		said.TS = ts
	}
	return c.shown(o, "SlackPosts", err)
}

// shown records that the message is as it should be.
func (c *Cluster) shown(o *outgoing, metric string, err error) error {
	if err != nil {
		return err
	}
	c.Count(metric, 1)
	said := &o.inc.Delivery
	said.Digest, said.Looked, said.Dirty, said.Sending = o.message.Digest(), o.inc.LastLook(), false, time.Time{}
	return nil
}

func (c *Cluster) sayNote(ctx context.Context, o *outgoing, n incident.Note) (ts string, err error) {
	said := o.inc.Delivery
	m := slack.RenderNote(o.inc.AsOf(n), n)
	if slices.Contains(o.mayBeSent, n.ID) {
		ts, err := c.search(ctx, slackapi.Search{Channel: said.Channel, Thread: said.TS, Tag: m.Tag, Since: n.Sending})
		if err != nil || ts != "" {
			return ts, err
		}
	}
	if shownInChannel(o.inc, n) {
		ts, err = c.Slack.Broadcast(ctx, said.Channel, said.TS, m)
	} else {
		ts, err = c.Slack.Reply(ctx, said.Channel, said.TS, m)
	}
	if err == nil {
		c.Count("SlackNotes", 1)
	}
	return ts, err
}

// shownInChannel reports whether a reply is a new line of the channel too. What was posted
// after it says how things stand, and so does a later line: late, one is enough, and of
// what is over none. Slack shows it as a pointer to the thread, without buttons
// (docs.slack.dev/reference/events/message/thread_broadcast).
func shownInChannel(inc incident.Incident, n incident.Note) bool {
	if len(n.Mention) > 0 {
		return true
	}
	later := func(x incident.Note) bool { return x.TS == "" && x.At.After(n.At) && (x.Line || len(x.Mention) > 0) }
	return n.Line && inc.State != incident.Closed && !slackapi.Stamp(inc.Delivery.TS).After(n.At) && !slices.ContainsFunc(inc.Delivery.Notes, later)
}

// search looks for what an earlier invocation may have sent.
func (c *Cluster) search(ctx context.Context, s slackapi.Search) (ts string, err error) {
	found, err := c.Slack.Find(ctx, s)
	if err != nil {
		return "", err
	}
	if found.Unsure != nil {
		c.Log.WarnContext(ctx, "could not check whether an earlier attempt was posted, it may be posted twice", "error", found.Unsure.Error())
	}
	if found.TS != "" {
		c.Count("SlackFound", 1)
	}
	return found.TS, nil
}
