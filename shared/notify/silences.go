package notify

import (
	"cmp"
	"context"
	"errors"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/outbox"
	"rollcall/shared/routing"
	"rollcall/shared/silence"
	"rollcall/shared/slack"
	"rollcall/shared/slack/slackapi"
)

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

// ofSilence is what Slack is told of one silence.
func ofSilence(s silence.Silence) outbox.Target { return outbox.Target("silence/" + s.ID) }

// silenceChannel is where it is said: where the cluster's incidents go that no route sends
// elsewhere for their severity or nodegroup.
func (c *Cluster) silenceChannel(s silence.Silence) string {
	channel, _ := routing.Of(routing.Subject{Spoke: s.Spoke, Cluster: s.Cluster, Severity: string(incident.Warning)}, c.Policy.Routes, c.Policy.Channel)
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
// gone. A line that somebody deleted needs no edit.
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
		c.Log.WarnContext(ctx, "Slack was not told of a silence, it will be with the next message", "cluster", s.Cluster, "silence", s.ID, "error", err.Error())
		return
	}
	c.holdBack(ctx, refuser(err, c.silenceChannel(s), ofSilence(s)), err, "cluster", s.Cluster, "silence", s.ID)
}
