package notify

import (
	"context"
	"errors"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/slack"
	"rollcall/shared/slack/slackapi"
)

// uploadTimeout is how long a picture may take: the function has a minute for the
// words of all.
const uploadTimeout = 8 * time.Second

// showChart shows the newest chart of an incident's subnet in its message, which
// stands there already: it gives Slack the file, and edits the message. Stopped
// anywhere in between, the next invocation does it again, and nothing is said twice.
// It tells whether the record is to be written.
func (c *Cluster) showChart(ctx context.Context, o *outgoing) (changed bool) {
	said := &o.inc.Delivery
	if !o.inc.Chart.Due() || c.slackDown || c.filesDown || said.TS == "" || said.Dirty {
		return false
	}
	s := *o.inc.Chart
	o.inc.Chart = &s
	if s.Next == "" {
		if !c.uploadChart(ctx, o, &s) {
			return true
		}
	}
	shown := s.Shown()
	inc := o.inc
	inc.Chart = &shown
	m := slack.Render(inc, c.shows())
	err := c.Slack.Update(ctx, said.Channel, said.TS, m)
	var e *slackapi.Error
	switch {
	case err == nil:
		c.Count("SlackUpdates", 1)
		*o.inc.Chart = shown
		said.Digest, said.Looked = m.Digest(), inc.LastLook()
	case lost(err, said.Channel, c.channelOf(o.inc)):
		said.TS, said.Digest, said.Dirty = "", "", true
	case errors.As(err, &e) && e.Code == "invalid_blocks" && s.Refusals+1 < mostRefusals:
		s.Refusals++ // Slack has not taken it in yet
		c.Count("SlackFailures", 1)
		c.Log.WarnContext(ctx, "Slack does not show the picture yet, it is tried again with the next observation", "cluster", o.inc.Key.Cluster, "check", o.inc.Key.Check, "resource", o.inc.Key.Resource, "error", err.Error())
	case errors.As(err, &e) && e.Code == "invalid_blocks":
		s.Next, s.Refusals = "", 0
		c.Count("SlackFailures", 1)
		c.pictureless(ctx, "the message goes without its picture", err, "cluster", o.inc.Key.Cluster, "check", o.inc.Key.Check, "resource", o.inc.Key.Resource)
	default:
		c.notTaken(ctx, o, new(time.Time), err)
	}
	return true
}

// withChart has the edit that is due show the newest chart too, if Slack takes its
// file now: words and picture are of one look, and one edit. It gives the chart as it
// is then, or nil.
func (c *Cluster) withChart(ctx context.Context, o *outgoing) *incident.Chart {
	if !o.inc.Chart.Due() || c.filesDown || o.inc.Delivery.TS == "" || c.budgetSpent() {
		return nil
	}
	s := *o.inc.Chart
	o.inc.Chart = &s
	if s.Next == "" && !c.uploadChart(ctx, o, &s) {
		return nil
	}
	shown := s.Shown()
	inc := o.inc
	inc.Chart = &shown
	m := slack.Render(inc, c.shows())
	o.message = &m
	return &shown
}

// pictureless rings the alarm for a picture that is let go: the words are said.
func (c *Cluster) pictureless(ctx context.Context, what string, err error, about ...any) {
	c.Count("Undelivered", 1)
	c.Log.ErrorContext(ctx, what, append(about, "error", err.Error())...)
}

// uploadChart uploads the picture, and tells whether Slack has it. What waiting does
// not help is told once for an incident, and the picture is let go.
func (c *Cluster) uploadChart(ctx context.Context, o *outgoing, s *incident.Chart) bool {
	limited, cancel := context.WithTimeout(ctx, uploadTimeout)
	defer cancel()
	name := "addresses-" + o.inc.Key.Resource + "-" + s.At.UTC().Format("20060102-1504") + ".png"
	id, err := c.Files.Upload(limited, slackapi.File{Name: name, Title: "Free addresses of " + o.inc.Key.Resource, Alt: s.Alt, Data: s.PNG})
	if err == nil {
		c.Count("SlackPictures", 1)
		s.PNG, s.Next = nil, id
		return true
	}
	var e *slackapi.Error
	errors.As(err, &e)
	if e != nil && e.Retryable() || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		c.filesDown = true
		c.Count("SlackFailures", 1)
		c.Log.WarnContext(ctx, "Slack did not take the picture, it is tried again with the next observation", "cluster", o.inc.Key.Cluster, "check", o.inc.Key.Check, "resource", o.inc.Key.Resource, "error", err.Error())
		return false
	}
	reason := "refused"
	if e != nil && e.Code != "" {
		reason = e.Code
	}
	known := s.Missing == reason
	s.PNG, s.Missing = nil, reason
	c.Count("SlackFailures", 1)
	if !known {
		c.pictureless(ctx, "the message goes without its picture", err, "cluster", o.inc.Key.Cluster, "check", o.inc.Key.Check, "resource", o.inc.Key.Resource)
	}
	return false
}

// mergeChart is the picture of two invocations: the later one.
func mergeChart(latest, ours *incident.Chart) *incident.Chart {
	switch {
	case ours == nil:
		return latest
	case latest == nil || !latest.At.After(ours.At):
		return ours
	}
	merged := *latest
	merged.File, merged.FileAlt, merged.FileOf = ours.File, ours.FileAlt, ours.FileOf
	return &merged
}
