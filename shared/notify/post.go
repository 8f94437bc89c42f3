package notify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/smithy-go"

	"rollcall/shared/bus"
	"rollcall/shared/incident"
	"rollcall/shared/outbox"
	"rollcall/shared/report"
	"rollcall/shared/routing"
	"rollcall/shared/silence"
	"rollcall/shared/slack"
	"rollcall/shared/slack/hook"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/store"
)

// mostRefusals is in how many batches Slack may refuse a message because of
// its picture: it takes pictures in after it has answered, usually in a second.
const mostRefusals = 3

// post says one summary: its picture first, as the message shows it, then the
// message, then its details. Each step is recorded, so that a crash neither
// repeats nor loses it. What Slack did not take is tried again with the
// cluster's next batch. The error is of the record alone.
func (c *Cluster) post(ctx context.Context, post outbox.Posting) (outbox.Posting, error) {
	if post.TS == "" {
		said, err := c.postMessage(ctx, &post)
		if err != nil || !said {
			return post, err
		}
	}
	if post.Due() {
		said, err := c.postDetails(ctx, &post)
		if err != nil || !said {
			return post, err
		}
	}
	return c.savePosting(ctx, post.Delivered())
}

// postMessage sends the picture and the message that shows it.
func (c *Cluster) postMessage(ctx context.Context, post *outbox.Posting) (said bool, err error) {
	cut := !post.Sending.IsZero()
	if !cut && !c.upload(ctx, post) {
		return false, nil
	}
	m := slack.RenderSummary(post.Summary, post.Picture)
	if cut { // an earlier invocation was cut off: Slack may have it
		ts, err := c.search(ctx, slackapi.Search{Channel: c.summariesOf(post.Summary.Cluster), Tag: m.Tag, Since: post.Sending})
		if err != nil {
			c.postingNotTaken(ctx, *post, err)
			return false, nil
		}
		post.Channel, post.TS = c.summariesOf(post.Summary.Cluster), ts
	}
	if post.TS == "" {
		post.Sending = c.Now()
		if *post, err = c.Postings.SavePosting(ctx, *post); err != nil {
			return false, err
		}
		ts, err := c.Slack.Post(ctx, c.summariesOf(post.Summary.Cluster), m)
		if err != nil {
			return false, c.refused(ctx, *post, err)
		}
		c.Count("SlackSummaries", 1)
		post.Channel, post.TS = c.summariesOf(post.Summary.Cluster), ts
		c.accepted(c.targetsOfSummary(*post)...)
	}
	*post, err = c.savePosting(ctx, *post)
	return true, err
}

// upload gives Slack the picture, and reports whether the message can go out
// now: with it, or without it and with the reason.
func (c *Cluster) upload(ctx context.Context, post *outbox.Posting) (ok bool) {
	if len(post.Summary.Chart) == 0 || post.Picture.File != "" || post.Picture.Missing != "" {
		return true
	}
	name := "spot-" + post.Summary.Cluster + "-" + post.Summary.Spot.To.UTC().Format("2006-01-02") + ".png"
	id, err := c.Files.Upload(ctx, slackapi.File{
		Name: name, Title: "Spot in " + post.Summary.Cluster, Alt: slack.RenderSummary(post.Summary, outbox.Picture{}).Text, Data: post.Summary.Chart,
	})
	if err == nil {
		c.Count("SlackPictures", 1)
		post.Picture.File = id
		return true
	}
	var e *slackapi.Error
	switch errors.As(err, &e); {
	case e != nil && e.Code == "missing_scope":
		post.Picture.Missing = "the Slack app lacks the scope files:write; add it to the app and install it again"
	case e != nil && e.Kind == slackapi.Refused:
		post.Picture.Missing = "Slack did not take it (" + e.Method + " " + e.Code + ")"
	default:
		c.postingNotTaken(ctx, *post, err)
		return false
	}
	c.Count("SlackFailures", 1)
	c.pictureless(ctx, "the summary goes out without its picture", err, "cluster", post.Summary.Cluster, "summary", post.Summary.ID)
	return true
}

// refused records that Slack did not take the message.
func (c *Cluster) refused(ctx context.Context, post outbox.Posting, err error) error {
	var e *slackapi.Error
	if errors.As(err, &e) && e.Kind != slackapi.Unavailable {
		post.Sending = time.Time{} // Slack answered, so it is certain that nothing was sent
		if e.Code == "invalid_blocks" && post.Picture.File != "" {
			post.Picture.Refusals++
			if post.Picture.Refusals < mostRefusals {
				c.Count("SlackFailures", 1)
				c.Log.WarnContext(ctx, "Slack does not show the picture yet, it is tried again with the next batch", "cluster", post.Summary.Cluster, "summary", post.Summary.ID, "error", err.Error())
				_, err := c.savePosting(ctx, post)
				return err
			}
			post.Picture = outbox.Picture{Missing: "Slack did not take a message with it", Refusals: post.Picture.Refusals}
			c.Count("SlackFailures", 1)
			c.pictureless(ctx, "the summary goes out without its picture", err, "cluster", post.Summary.Cluster, "summary", post.Summary.ID)
			_, err := c.savePosting(ctx, post)
			return err
		}
	}
	c.postingNotTaken(ctx, post, err)
	_, err = c.savePosting(ctx, post)
	return err
}

// postDetails sends the replies with the details.
func (c *Cluster) postDetails(ctx context.Context, post *outbox.Posting) (said bool, err error) {
	for i, m := range slack.RenderSummaryDetails(post.Summary) {
		if post.Reply(i).TS != "" {
			continue
		}
		gone, said, err := c.postReply(ctx, post, i, m)
		if err != nil || !said || gone {
			return said, err
		}
	}
	return true, nil
}

// postReply sends one of them; gone reports that the thread no longer exists:
// its message was deleted, and its details are not wanted.
func (c *Cluster) postReply(ctx context.Context, post *outbox.Posting, i int, m slackapi.Message) (gone, said bool, err error) {
	if sending := post.Reply(i).Sending; !sending.IsZero() {
		ts, err := c.search(ctx, slackapi.Search{Channel: post.Channel, Thread: post.TS, Tag: m.Tag, Since: sending})
		if lost(err, post.Channel, c.summariesOf(post.Summary.Cluster)) {
			return true, true, nil
		}
		if err != nil {
			c.postingNotTaken(ctx, *post, err)
			return false, false, nil
		}
		if ts != "" {
			*post = post.WithReply(i, outbox.Reply{TS: ts})
			return false, true, nil
		}
	}
	if *post, err = c.Postings.SavePosting(ctx, post.WithReply(i, outbox.Reply{Sending: c.Now()})); err != nil {
		return false, false, err
	}
	ts, err := c.Slack.Reply(ctx, post.Channel, post.TS, m)
	switch {
	case err == nil:
		c.Count("SlackNotes", 1)
		*post = post.WithReply(i, outbox.Reply{TS: ts})
		c.accepted(c.targetsOfSummary(*post)...)
		return false, true, nil
	case lost(err, post.Channel, c.summariesOf(post.Summary.Cluster)):
		return true, true, nil
	}
	c.postingNotTaken(ctx, *post, err)
	var e *slackapi.Error
	if errors.As(err, &e) && e.Kind != slackapi.Unavailable {
		*post, err = c.savePosting(ctx, post.WithReply(i, outbox.Reply{})) // it answered: nothing was sent
		return false, false, err
	}
	return false, false, nil
}

// savePosting records what Slack took, even if time is running out: the frame keeps
// two seconds for this.
func (c *Cluster) savePosting(ctx context.Context, post outbox.Posting) (outbox.Posting, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 1500*time.Millisecond)
	defer cancel()
	return c.Postings.SavePosting(ctx, post)
}

// postingNotTaken deals with what Slack did not take: it waits for the next batch
// where waiting helps, and else rings the alarm.
func (c *Cluster) postingNotTaken(ctx context.Context, post outbox.Posting, err error) {
	c.Count("SlackFailures", 1)
	var e *slackapi.Error
	if errors.As(err, &e) && e.Retryable() || errors.Is(err, context.DeadlineExceeded) {
		c.slackDown = true
		c.Log.WarnContext(ctx, "could not post to Slack, will retry with the next batch", "cluster", post.Summary.Cluster, "summary", post.Summary.ID, "error", err.Error())
		return
	}
	c.holdBack(ctx, refuser(err, c.roomOf(post), outbox.OfSummary(post.Summary.ID)), err, "cluster", post.Summary.Cluster, "summary", post.Summary.ID)
}

// targetsOf are whom an incident's words go to: Slack, its channel, and Slack
// with this content.
func (c *Cluster) targetsOf(inc incident.Incident) []outbox.Target {
	return []outbox.Target{outbox.ToSlack, outbox.ToChannel(c.room(inc)), outbox.OfIncident(inc.Key)}
}

// room is the channel that an incident's message is in, or goes to.
func (c *Cluster) room(inc incident.Incident) string {
	return cmp.Or(inc.Delivery.Channel, c.channelOf(inc))
}

// notTaken deals with what Slack did not take, and reports whether the record is
// to be written. sending is the mark of what was tried.
func (c *Cluster) notTaken(ctx context.Context, o *outgoing, sending *time.Time, err error) (changed bool) {
	c.Count("SlackFailures", 1)
	var e *slackapi.Error
	if errors.As(err, &e) && e.Kind != slackapi.Unavailable && !sending.IsZero() {
		// Slack answered, so it is certain that nothing was sent.
		*sending = time.Time{}
		changed = true
	}
	about := []any{"cluster", o.inc.Key.Cluster, "check", o.inc.Key.Check, "resource", o.inc.Key.Resource}
	if e != nil && e.Retryable() || errors.Is(err, context.DeadlineExceeded) {
		c.slackDown = true
		c.Log.WarnContext(ctx, "could not post to Slack, will retry with the next observation", append(about, "error", err.Error())...)
		return changed
	}
	c.holdBack(ctx, refuser(err, c.room(o.inc), outbox.OfIncident(o.inc.Key)), err, about...)
	return changed
}

// holdBack holds back what goes to who refuses. A token that Slack does not take
// is the same for all clusters.
func (c *Cluster) holdBack(ctx context.Context, t outbox.Target, err error, about ...any) {
	if t == outbox.ToSlack {
		c.slackDown = true
	}
	c.recordRefusal(ctx, t, "could not post to Slack, needs a change", err, about...)
}

// Tick asks the function to look after the clusters of which something is to be
// tried again, or nothing was heard of for long: what is refused is retried by this
// clock alone, so that no observation waits for it. The wish goes through the
// queue, which gives a cluster to one invocation at a time. As long as anything is
// refused each tick counts it, so that the alarm rings once and until it is mended.
func (n Notifier) Tick(ctx context.Context) error {
	records, err := n.Clusters.ClusterRecords(ctx)
	if newer := new(store.NewerFormat); err != nil && !errors.As(err, &newer) {
		return fmt.Errorf("read which clusters are to be looked after: %w", err)
	}
	var wrong []error
	for _, r := range records {
		if len(r.Refusals) > 0 {
			n.Count("Undelivered", len(r.Refusals))
		}
		if r.Due(n.Now()) || r.Open && n.Left(r.Cluster) {
			if err := n.Again.SendResult(ctx, n.wake(r.Cluster)); err != nil {
				wrong = append(wrong, err)
				continue
			}
			n.Count("Resumed", 1)
		}
	}
	return errors.Join(wrong...)
}

// wake is an observation that saw nothing: with it what is due of a cluster is
// said, behind all that was observed before.
func (n Notifier) wake(cluster string) report.Observation {
	now := n.Now()
	return report.Observation{Format: report.Format, ID: "resume/" + cluster + "/" + now.UTC().Format(time.RFC3339Nano), By: n.By, At: now, Cluster: cluster}
}

// onHold notes that something is due for targets, and reports whether one of them is
// not to be tried now.
func (c *Cluster) onHold(targets ...outbox.Target) (held bool) {
	for _, t := range targets {
		c.wanted[t] = true
		held = held || c.record.Held(t, c.Now())
	}
	return held
}

// accepted notes that targets took what they were sent.
func (c *Cluster) accepted(targets ...outbox.Target) {
	for _, t := range targets {
		c.changed = c.record.Keep(func(known outbox.Target) bool { return known != t }) || c.changed
	}
}

// recordRefusal notes that a target does not take what it is sent, for a reason that
// does not pass by itself. The first time is an error in the log.
func (c *Cluster) recordRefusal(ctx context.Context, t outbox.Target, what string, err error, about ...any) {
	c.wanted[t] = true
	first := c.record.Refused(t, codeOf(err), c.Now())
	c.changed = true
	about = append(about, "target", t, "error", err.Error())
	if first {
		c.Log.ErrorContext(ctx, what, about...)
		return
	}
	c.Log.WarnContext(ctx, what+", still", about...)
}

// End ends the cluster's time: it drops the refusals of what nothing is due for any
// more, where all of it was recorded, and writes what was learned. That it could not be
// written costs a try too many, nothing else.
func (c *Cluster) End(ctx context.Context, recorded bool) {
	if c.newer {
		return
	}
	if recorded {
		c.changed = c.record.Keep(func(t outbox.Target) bool { return c.wanted[t] }) || c.changed
		c.changed = c.record.Follow(c.open, c.owed, c.Now()) || c.changed
	}
	if len(c.record.Refusals) > 0 {
		c.Count("Undelivered", len(c.record.Refusals))
	}
	if !c.changed || c.record.Version == 0 && !c.record.Open && !c.record.Owed && len(c.record.Refusals) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 1500*time.Millisecond)
	defer cancel()
	if err := c.Clusters.SaveClusterRecord(ctx, c.record); err != nil {
		c.Log.WarnContext(ctx, "what is refused could not be remembered, it is tried again with the next message", "cluster", c.name, "error", err.Error())
	}
}

// refuser is who refuses, as far as an error of Slack tells: all of Slack, a
// channel, or Slack this content alone.
func refuser(err error, channel string, content outbox.Target) outbox.Target {
	var e *slackapi.Error
	switch {
	case !errors.As(err, &e), e.Kind == slackapi.Auth:
		return outbox.ToSlack // also a token that cannot be read
	case e.Kind == slackapi.Channel:
		return outbox.ToChannel(channel)
	}
	return content
}

// codeOf is the service's own name of an error.
func codeOf(err error) string {
	var (
		e       *slackapi.Error
		refused *bus.Refused
		api     smithy.APIError
	)
	switch {
	case errors.As(err, &e) && e.Code != "":
		return e.Code
	case e != nil:
		return string(e.Kind)
	case errors.Is(err, hook.ErrNoToken):
		return "no token"
	case errors.As(err, &refused):
		return refused.Code
	case errors.As(err, &api):
		return api.ErrorCode()
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer"
	}
	return "failed"
}

// DeliverSilences says in the channel, once, who silenced what, and takes the line back
// when it is over. What Slack does not take is tried again with the cluster's next message.
// The error is of the record alone.
func (c *Cluster) DeliverSilences(ctx context.Context) error {
	for i := range c.silences {
		s := &c.silences[i]
		begun := s.Begun.TS == "" && s.Standing(c.Now())
		over := s.Begun.TS != "" && s.Over.TS == "" && !s.Standing(c.Now())
		if !begun && !over || c.onHold(outbox.ToSlack, outbox.ToChannel(c.silenceChannel(*s)), ofSilence(*s)) || c.slackDown || c.budgetSpent() {
			continue
		}
		say := c.sayOver
		if begun {
			say = c.sayBegun
		}
		if err := say(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// ofSilence is what Slack shows of one silence.
func ofSilence(s silence.Silence) outbox.Target { return outbox.Target("silence/" + s.ID) }

// silenceChannel is where it is said: where the cluster's incidents go that no route sends
// elsewhere for their severity or nodegroup.
func (c *Cluster) silenceChannel(s silence.Silence) string {
	channel, _ := routing.Recipients(routing.Subject{Spoke: s.Spoke, Cluster: s.Cluster, Severity: string(incident.Warning)}, c.Policy.Routes, c.Policy.Channel)
	return cmp.Or(s.Begun.Channel, channel)
}

// sayBegun posts the line. That it is about to be is written first: who finds that and no
// timestamp looks for it in the channel.
func (c *Cluster) sayBegun(ctx context.Context, s *silence.Silence) (err error) {
	m := slack.RenderSilence(*s, c.Whose, c.shows())
	if !s.Begun.Sending.IsZero() {
		ts, err := c.search(ctx, slackapi.Search{Channel: s.Begun.Channel, Tag: m.Tag, Since: s.Begun.Sending})
		if err != nil {
			c.silenceNotTaken(ctx, *s, err)
			return nil
		}
		s.Begun.TS = ts
	}
	if s.Begun.TS == "" {
		s.Begun = silence.Line{Channel: c.silenceChannel(*s), Sending: c.Now()}
		if *s, err = c.Silences.SaveSilence(ctx, *s); err != nil {
			return err
		}
		ts, err := c.Slack.Post(ctx, s.Begun.Channel, m)
		if err != nil {
			c.silenceNotTaken(ctx, *s, err)
			var e *slackapi.Error
			if errors.As(err, &e) && e.Kind != slackapi.Unavailable {
				s.Begun = silence.Line{} // Slack answered: it is certain that nothing was sent
				return c.saveSilence(ctx, s)
			}
			return nil
		}
		c.Count("SlackPosts", 1)
		s.Begun.TS = ts
	}
	c.accepted(outbox.ToSlack, outbox.ToChannel(s.Begun.Channel), ofSilence(*s))
	s.Begun.Sending = time.Time{}
	return c.saveSilence(ctx, s)
}

// sayOver edits the line: who reads it later sees that it counts no more, and the button is
// gone. A deleted line needs no edit.
func (c *Cluster) sayOver(ctx context.Context, s *silence.Silence) error {
	err := c.Slack.Update(ctx, s.Begun.Channel, s.Begun.TS, slack.RenderSilence(*s, c.Whose, c.shows()))
	if err != nil && !lost(err, s.Begun.Channel, "") {
		c.silenceNotTaken(ctx, *s, err)
		return nil
	}
	c.Count("SlackUpdates", 1)
	c.accepted(outbox.ToSlack, outbox.ToChannel(s.Begun.Channel), ofSilence(*s))
	s.Over = silence.Line{Channel: s.Begun.Channel, TS: s.Begun.TS}
	return c.saveSilence(ctx, s)
}

// saveSilence records what Slack took, even if time is running out.
func (c *Cluster) saveSilence(ctx context.Context, s *silence.Silence) (err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 1500*time.Millisecond)
	defer cancel()
	*s, err = c.Silences.SaveSilence(ctx, *s)
	return err
}

func (c *Cluster) silenceNotTaken(ctx context.Context, s silence.Silence, err error) {
	c.Count("SlackFailures", 1)
	var e *slackapi.Error
	if errors.As(err, &e) && e.Retryable() || errors.Is(err, context.DeadlineExceeded) {
		c.slackDown = true
		c.Log.WarnContext(ctx, "could not post a silence to Slack, will retry with the next message", "cluster", s.Cluster, "silence", s.ID, "error", err.Error())
		return
	}
	c.holdBack(ctx, refuser(err, c.silenceChannel(s), ofSilence(s)), err, "cluster", s.Cluster, "silence", s.ID)
}

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
	list, err := c.postings(ctx)
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
// and the bus while Slack answers.
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
		c.recordRefusal(ctx, target, "could not publish to the bus, will retry", err, "cluster", c.name, "summary", post.Summary.ID)
		return post, nil
	}
	c.accepted(targets...)
	c.Count("EventsSent", 1)
	return c.savePosting(ctx, post.Published())
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
