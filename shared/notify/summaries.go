package notify

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"rollcall/shared/bus"
	"rollcall/shared/incident"
	"rollcall/shared/outbox"
	"rollcall/shared/report"
	"rollcall/shared/slack"
	"rollcall/shared/store"
)

// DeliverSummaries records a cluster's new summaries, then says what is due, also
// from earlier invocations. A summary that is recorded already is not recorded
// again, nor said again.
func (c *Cluster) DeliverSummaries(ctx context.Context, list []report.Summary) error {
	for attempt := 1; ; attempt++ {
		err := c.deliverSummaries(ctx, list)
		var conflict *store.Conflict
		if errors.As(err, &conflict) && attempt < attempts {
			c.Count("LostRaces", 1)
			continue
		}
		return err
	}
}

func (c *Cluster) deliverSummaries(ctx context.Context, summaries []report.Summary) error {
	list, err := c.Postings.Postings(ctx, c.name)
	if err != nil {
		return err
	}
	for _, s := range summaries {
		if s.Kind == report.CleanupSummary {
			if list, err = c.recordCleanup(ctx, list, s); err != nil {
				return err
			}
			continue
		}
		if slices.ContainsFunc(list, func(known outbox.Posting) bool { return known.Summary.ID == s.ID }) {
			c.Count("RepeatedSummaries", 1)
			continue
		}
		if s.Period != nil {
			s = c.addressed(ctx, s)
		}
		saved, err := c.Postings.SavePosting(ctx, outbox.New(s))
		if err != nil {
			return err
		}
		c.Log.InfoContext(ctx, "summary", "cluster", c.name, "summary", s.ID, "by", s.By, "failed", s.Failed(), "launches", s.Spot.Spot.Requested)
		list = append(list, saved)
	}
	for i, post := range list {
		if post, err = c.tellWeek(ctx, post); err != nil {
			return err
		}
		list[i] = post
		if !post.Due() || c.onHold(c.targetsOfSummary(post)...) || c.slackDown {
			continue
		}
		if post.Summary.Kind == report.CleanupSummary {
			err = c.sayCleanup(ctx, post)
		} else {
			list[i], err = c.post(ctx, post)
		}
		if err != nil {
			return err
		}
	}
	// Of a cluster another message comes with the next sweep; of a week none.
	c.owed = slices.ContainsFunc(list, func(p outbox.Posting) bool {
		return p.Summary.Kind == report.WeeklySummary && (p.Due() || p.Untold)
	})
	return nil
}

// tellWeek puts the event of a week on the bus, if it is not there. Slack may be away then,
// and the bus while Slack is told.
func (c *Cluster) tellWeek(ctx context.Context, post outbox.Posting) (outbox.Posting, error) {
	if !post.Untold || post.Summary.Period == nil {
		return post, nil
	}
	targets := []outbox.Target{outbox.ToBus, outbox.EventOf(post.Summary.ID)}
	if deadline, ends := ctx.Deadline(); ends && time.Until(deadline) < busTime || c.onHold(targets...) || c.busDown {
		return post, nil
	}
	week := slack.WeekEvent(post.Summary)
	post, err := c.announced(ctx, post, week)
	if err != nil {
		return post, err
	}
	if err := c.Bus.TellWeek(ctx, week); err != nil {
		c.Count("BusFailures", 1)
		target := outbox.ToBus
		if refused := new(bus.Refused); errors.As(err, &refused) || errors.Is(err, bus.ErrTooLarge) {
			target = outbox.EventOf(post.Summary.ID) // the bus takes others
		}
		c.busDown = target == outbox.ToBus
		c.recordRefusal(ctx, target, "the bus was not told, and is tried again", err, "cluster", c.name, "summary", post.Summary.ID)
		return post, nil
	}
	c.accepted(targets...)
	c.Count("EventsSent", 1)
	return c.savePosting(ctx, post.Told())
}

// announced records which event a week has, before the bus has it. One that is too large for the
// bus has none.
func (c *Cluster) announced(ctx context.Context, post outbox.Posting, week incident.Week) (outbox.Posting, error) {
	detail, err := week.Encode(incident.MaxWeek)
	if err != nil || detail == nil {
		return post, err
	}
	_, digest, err := incident.ReadWeek(detail)
	if err != nil || digest == post.Event {
		return post, err
	}
	post.Event = digest
	return c.savePosting(ctx, post)
}

// addressed has the message of a week link to those of its incidents. Where Slack does not
// say where it is the message goes without links.
func (c *Cluster) addressed(ctx context.Context, s report.Summary) report.Summary {
	if c.Workspace == nil || c.slackDown || c.record.Held(outbox.ToSlack, c.Now()) {
		return s
	}
	ctx, cancel := context.WithTimeout(ctx, CallTimeout)
	defer cancel()
	own, err := c.Workspace.Workspace(ctx)
	if err != nil {
		c.Log.WarnContext(ctx, "Slack did not say where the workspace is, the weekly message has no links", "summary", s.ID, "error", err.Error())
		return s
	}
	p := *s.Period
	p.Site = own.URL
	s.Period = &p
	return s
}

// targetsOfSummary are whom a summary goes to.
func (c *Cluster) targetsOfSummary(post outbox.Posting) []outbox.Target {
	return []outbox.Target{outbox.ToSlack, outbox.ToChannel(c.roomOf(post)), outbox.OfSummary(post.Summary.ID)}
}

// roomOf is the channel that a summary is in, or goes to.
func (c *Cluster) roomOf(post outbox.Posting) string {
	return cmp.Or(post.Channel, c.summariesOf(post.Summary.Cluster))
}
