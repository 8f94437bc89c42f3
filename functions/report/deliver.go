package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"rollcall/shared/report"
	"rollcall/shared/slack"
	"rollcall/shared/state"
)

// outgoing is an incident on its way out.
type outgoing struct {
	inc report.Incident
	// message is set when the message is to be posted or edited.
	message *slack.Message
	// claimed tells that the record says now that something is about to be
	// sent, and must be written before it is.
	claimed bool
	// searched are the ids of the notes, and "" for the message itself, that an
	// earlier pass may have sent before it was cut off.
	searched []string
}

// claim finds what is due, and marks in the record what is about to be sent
// for the first time: whoever finds the mark and no timestamp asks Slack
// before sending again.
func (p *pass) claim(inc report.Incident, now time.Time) outgoing {
	o := outgoing{inc: inc}
	said := &o.inc.Said
	if inc.Number == 0 {
		return o // pending: nobody is to know yet
	}
	if said.Behind {
		m := slack.Render(inc)
		if m.Digest() == said.Digest {
			said.Behind = false
		} else {
			o.message = &m
		}
	}
	mark := func(id, ts string, sending *time.Time) {
		if ts != "" {
			return
		}
		if sending.IsZero() {
			*sending = now
			o.claimed = true
			return
		}
		o.searched = append(o.searched, id)
	}
	if o.message != nil {
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
	return o.message != nil || len(o.inc.Untold) > 0 || o.inc.Number > 0 && o.inc.Sketch.Due() ||
		slices.ContainsFunc(o.inc.Said.Notes, func(n report.Note) bool { return n.TS == "" })
}

// deliver tells the bus and Slack, and records what they took. Whatever they
// did not take stays in the record.
func (p *pass) deliver(ctx context.Context, o outgoing) error {
	told := p.tellBus(ctx, &o)
	said := p.say(ctx, &o)
	if !told && !said {
		return nil
	}
	// Slack has it: that must be recorded even if time is running out. The
	// frame keeps two seconds for this.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 1500*time.Millisecond)
	defer cancel()
	_, err := p.incidents.SaveIncident(ctx, o.inc)
	var conflict *state.Conflict
	for attempt := 1; errors.As(err, &conflict) && attempt < attempts; attempt++ {
		p.count("LostRaces", 1)
		err = p.merge(ctx, o)
	}
	return err
}

// merge records what was sent in a record that somebody else wrote meanwhile.
func (p *pass) merge(ctx context.Context, o outgoing) error {
	incidents, err := p.incidents.Incidents(ctx, o.inc.Key.Cluster)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(incidents, func(inc report.Incident) bool { return inc.Key == o.inc.Key })
	if i < 0 || !incidents[i].Opened.Equal(o.inc.Opened) && incidents[i].Said.TS != "" {
		return nil // it became another incident, with a message of its own
	}
	latest := incidents[i]
	latest.Said = mergeSaid(latest.Said, o.inc.Said)
	latest.Sketch = mergeSketch(latest.Sketch, o.inc.Sketch)
	latest.Untold = slices.DeleteFunc(latest.Untold, func(e report.Event) bool {
		// Told: it was there before, and is not due any more.
		return e.Sequence <= o.inc.Events && !slices.ContainsFunc(o.inc.Untold, func(due report.Event) bool { return due.ID == e.ID })
	})
	_, err = p.incidents.SaveIncident(ctx, latest)
	return err
}

// mergeSaid is what two invocations have said, taken together.
func mergeSaid(latest, ours report.Said) report.Said {
	if latest.TS == "" && ours.TS != "" {
		latest.Channel, latest.TS, latest.Sending = ours.Channel, ours.TS, ours.Sending
	}
	// Whose edit came last is not known: one more puts it right.
	latest.Digest, latest.Behind = "", true
	for i, n := range latest.Notes {
		j := slices.IndexFunc(ours.Notes, func(o report.Note) bool { return o.ID == n.ID })
		if n.TS == "" && j >= 0 && ours.Notes[j].TS != "" {
			latest.Notes[i] = ours.Notes[j]
		}
	}
	return latest
}

// tellBus sends the finding events that are due.
func (p *pass) tellBus(ctx context.Context, o *outgoing) bool {
	if len(o.inc.Untold) == 0 {
		return false
	}
	if err := p.bus.Tell(ctx, o.inc.Untold); err != nil {
		p.count("BusFailures", 1)
		p.failed(ctx, "the bus could not be told, it will be with the next observation", o.inc.Key, err)
		return false
	}
	p.count("EventsSent", len(o.inc.Untold))
	o.inc.Untold = nil
	return true
}

// say brings Slack up to date: the message first, as the notes hang on it.
func (p *pass) say(ctx context.Context, o *outgoing) (changed bool) {
	if p.silent {
		return false
	}
	if o.message != nil {
		if err := p.sayMessage(ctx, o); err != nil {
			return p.unsaid(ctx, o, &o.inc.Said.Sending, err)
		}
		changed = true
	}
	said := &o.inc.Said
	if said.TS == "" {
		return changed
	}
	for i := range said.Notes {
		n := &said.Notes[i]
		if n.TS != "" {
			continue
		}
		ts, err := p.sayNote(ctx, o, *n)
		if p.lost(said.Channel, err) {
			// The thread went with its message: the next pass begins another.
			said.TS, said.Digest, said.Behind = "", "", true
			return true
		}
		if err != nil {
			p.unsaid(ctx, o, &n.Sending, err)
			return true
		}
		*n = n.Sent(ts)
		changed = true
	}
	// The picture comes last: it never holds back the words.
	return p.picture(ctx, o) || changed
}

func (p *pass) sayMessage(ctx context.Context, o *outgoing) error {
	said := &o.inc.Said
	if said.TS == "" && slices.Contains(o.searched, "") {
		ts, err := p.search(ctx, slack.Search{Channel: p.channel, Tag: o.message.Tag, Since: said.Sending})
		if err != nil {
			return err
		}
		said.Channel, said.TS = p.channel, ts
	}
	if said.TS != "" {
		err := p.slack.Update(ctx, said.Channel, said.TS, *o.message)
		if !p.lost(said.Channel, err) {
			return p.shown(o, "SlackUpdates", err)
		}
		// The incident is not over, so it is said anew.
		p.log.WarnContext(ctx, "the message is gone, it is posted anew", "cluster", o.inc.Key.Cluster, "check", o.inc.Key.Check, "resource", o.inc.Key.Resource)
		said.TS, said.Sending = "", p.now()
		if o.inc, err = p.incidents.SaveIncident(ctx, o.inc); err != nil {
			return err
		}
	}
	ts, err := p.slack.Post(ctx, p.channel, *o.message)
	if err == nil {
		said.Channel, said.TS = p.channel, ts
	}
	return p.shown(o, "SlackPosts", err)
}

// lost tells that a message cannot be reached any more: somebody deleted it,
// or it is in a channel that was archived or left, and another one is set now.
func (p *pass) lost(channel string, err error) bool {
	var e *slack.Error
	return errors.As(err, &e) && (e.Kind == slack.MessageGone || e.Kind == slack.Channel && channel != p.channel)
}

// shown records that the message is as it should be.
func (p *pass) shown(o *outgoing, metric string, err error) error {
	if err != nil {
		return err
	}
	p.count(metric, 1)
	said := &o.inc.Said
	said.Digest, said.Behind, said.Sending = o.message.Digest(), false, time.Time{}
	return nil
}

func (p *pass) sayNote(ctx context.Context, o *outgoing, n report.Note) (ts string, err error) {
	said := o.inc.Said
	m := slack.RenderNote(o.inc.AsOf(n), n)
	if slices.Contains(o.searched, n.ID) {
		ts, err := p.search(ctx, slack.Search{Channel: said.Channel, Thread: said.TS, Tag: m.Tag, Since: n.Sending})
		if err != nil || ts != "" {
			return ts, err
		}
	}
	ts, err = p.slack.Reply(ctx, said.Channel, said.TS, m)
	if err == nil {
		p.count("SlackNotes", 1)
	}
	return ts, err
}

// search looks for what an earlier pass may have sent.
func (p *pass) search(ctx context.Context, s slack.Search) (ts string, err error) {
	found, err := p.slack.Find(ctx, s)
	if err != nil {
		return "", err
	}
	if found.Unsure != nil {
		p.log.WarnContext(ctx, "cannot look whether an earlier attempt was heard, this may be said twice", "error", found.Unsure.Error())
	}
	if found.TS != "" {
		p.count("SlackFound", 1)
	}
	return found.TS, nil
}

// unsaid deals with what Slack did not take, and tells whether the record is
// to be written. sending is the mark of what was tried.
func (p *pass) unsaid(ctx context.Context, o *outgoing, sending *time.Time, err error) (changed bool) {
	p.count("SlackFailures", 1)
	var e *slack.Error
	if errors.As(err, &e) && e.Kind != slack.Unavailable && !sending.IsZero() {
		// Slack answered, so it is certain that nothing was sent.
		*sending = time.Time{}
		changed = true
	}
	if e != nil && e.Retryable() || errors.Is(err, context.DeadlineExceeded) {
		p.silent = true
		p.log.WarnContext(ctx, "Slack was not told, it will be with the next observation", "cluster", o.inc.Key.Cluster, "check", o.inc.Key.Check, "resource", o.inc.Key.Resource, "error", err.Error())
		return changed
	}
	p.failed(ctx, "Slack was not told, and waiting does not help", o.inc.Key, err)
	return changed
}
