package notify

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/store"
)

// lastCall is what must be left of the time for one more call to Slack, which
// answers in well under a second: one that the end of time cuts off may have
// been taken, and has to be looked for.
const lastCall = 5 * time.Second

// endOfBudget is when the time of a cluster ends, of those whose messages came
// together: however much one has to say, there is time for the others.
func endOfBudget(ctx context.Context, clusters int) time.Time {
	deadline, ok := ctx.Deadline()
	if !ok {
		return time.Time{}
	}
	left := time.Until(deadline)
	return deadline.Add(-left + left/time.Duration(clusters))
}

// resume asks report itself to go on with the clusters that had more to say
// than there was time for: the next sweep may be five minutes away. The wish
// is an observation that saw nothing, behind all others of its cluster. While
// Slack does not answer nothing is asked for: the sweeps try again.
func (v *Invocation) resume(ctx context.Context) {
	if v.slackDown || v.Again == nil {
		return
	}
	slices.Sort(v.unfinished)
	for _, cluster := range slices.Compact(v.unfinished) {
		if err := v.Again.SendResult(ctx, v.wake(cluster)); err != nil {
			v.Log.WarnContext(ctx, "report could not ask itself to go on, the cluster's next observation will", "cluster", cluster, "error", err.Error())
			continue
		}
		v.Count("Resumed", 1)
	}
}

// budgetSpent tells that the cluster's time is over. What is not sent yet stands in the
// record, for the next invocation.
func (c *Cluster) budgetSpent() bool {
	if c.timeBudgetEnds.IsZero() || time.Until(c.timeBudgetEnds) > lastCall {
		return false
	}
	c.unfinished = append(c.unfinished, c.name)
	return true
}

// oldestFirst is the order in which incidents are said: that of their first
// opening, as it would have been had Slack been there.
func oldestFirst(list []outgoing) []outgoing {
	slices.SortStableFunc(list, func(a, b outgoing) int {
		atA, beganA := firstOf(a.inc)
		atB, beganB := firstOf(b.inc)
		return cmp.Or(atA.Compare(atB), beganA.Compare(beganB)) // those of one batch open at the same time
	})
	return list
}

// firstOf is when there was first something to say of an incident, and when
// that began. One that came back while Slack was away has two openings in its
// thread.
func firstOf(inc incident.Incident) (at, began time.Time) {
	notes := inc.Delivery.Notes
	if len(notes) == 0 || !notes[0].At.Before(inc.Opened) {
		return inc.Opened, inc.Began
	}
	if notes[0].Then != nil {
		return notes[0].At, notes[0].Then.Began
	}
	return notes[0].At, inc.Began
}

// beginSend marks in the record what is about to be sent for the first time, and
// tells whether it may be: whoever finds the mark and no timestamp asks Slack
// before sending again. Nothing is marked that is not about to be sent: while
// Slack is away, each mark would cost a search.
func (c *Cluster) beginSend(ctx context.Context, o *outgoing) bool {
	if c.budgetSpent() {
		return false
	}
	for attempt := 1; ; attempt++ {
		o.markSending(c.Now())
		if len(o.sendsBegun) == 0 {
			return true
		}
		saved, err := c.Incidents.SaveIncident(ctx, o.inc)
		var conflict *store.Conflict
		if errors.As(err, &conflict) && attempt < attempts {
			c.Count("LostRaces", 1)
			err = c.reload(ctx, o)
			if err == nil {
				continue
			}
		}
		if err != nil {
			o.markError = err
			return false
		}
		o.inc = saved
		return true
	}
}

// markSending marks what has never been sent.
func (o *outgoing) markSending(now time.Time) {
	said := &o.inc.Delivery
	never := func(id, ts string, sending *time.Time) {
		if ts == "" && sending.IsZero() {
			*sending = now
			o.sendsBegun = append(o.sendsBegun, id)
		}
	}
	if o.message != nil {
		never("", said.TS, &said.Sending)
		o.sendsTried = append(o.sendsTried, "")
	}
	for i := range said.Notes {
		if o.inc.Silence != nil {
			break // the thread waits
		}
		never(said.Notes[i].ID, said.Notes[i].TS, &said.Notes[i].Sending)
	}
}

// reload takes the incident as another invocation has written it meanwhile. What the
// bus was told already is not due in it any more.
func (c *Cluster) reload(ctx context.Context, o *outgoing) error {
	incidents, err := c.Incidents.Incidents(ctx, o.inc.Key.Cluster)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(incidents, func(inc incident.Incident) bool { return inc.Key == o.inc.Key })
	if i < 0 {
		return errGone
	}
	latest := incidents[i]
	latest.AddPublished(o.inc.Published)
	latest.PendingEvents = slices.DeleteFunc(latest.PendingEvents, func(e incident.Event) bool {
		return e.Sequence <= o.inc.Events && !slices.ContainsFunc(o.inc.PendingEvents, func(due incident.Event) bool { return due.ID == e.ID })
	})
	now := c.dueOf(latest, c.Now())
	o.inc, o.message, o.mayBeSent, o.sendsBegun, o.sendsTried = now.inc, now.message, now.mayBeSent, nil, nil
	return nil
}

var errGone = errors.New("the incident's record is gone")

// cancelSend takes the marks back of what was not tried.
func (o *outgoing) cancelSend() {
	never := func(id string) bool { return slices.Contains(o.sendsBegun, id) && !slices.Contains(o.sendsTried, id) }
	for i := range o.inc.Delivery.Notes {
		if n := &o.inc.Delivery.Notes[i]; n.TS == "" && never(n.ID) {
			n.Sending = time.Time{}
			o.marksCancelled = true
		}
	}
}
