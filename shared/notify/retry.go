package notify

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/smithy-go"

	"rollcall/shared/bus"
	"rollcall/shared/outbox"
	"rollcall/shared/report"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/store"
)

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

// onHold notes that something is due for targets, and tells whether one of them is
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
	case errors.Is(err, slackapi.ErrNoToken):
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
