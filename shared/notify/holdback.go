package notify

import (
	"cmp"
	"context"
	"errors"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/outbox"
	"rollcall/shared/slack/slackapi"
)

// targetsOf are whom an incident's words go to: Slack, its channel, and Slack
// with this content.
func (c *Cluster) targetsOf(inc incident.Incident) []outbox.Target {
	return []outbox.Target{outbox.ToSlack, outbox.ToChannel(c.room(inc)), outbox.OfIncident(inc.Key)}
}

// room is the channel that an incident's message is in, or goes to.
func (c *Cluster) room(inc incident.Incident) string {
	return cmp.Or(inc.Delivery.Channel, c.channelOf(inc))
}

// notTaken deals with what Slack did not take, and tells whether the record is
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
		c.Log.WarnContext(ctx, "Slack was not told, it will be with the next observation", append(about, "error", err.Error())...)
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
	c.recordRefusal(ctx, t, "Slack was not told, and waiting does not help", err, about...)
}
