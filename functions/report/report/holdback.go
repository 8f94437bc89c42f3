package report

import (
	"cmp"
	"context"
	"errors"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/notify/outbox"

	"rollcall/shared/slack"
)

// targetsOf are whom an incident's words go to: Slack, its channel, and Slack
// with this content.
func (p *invocation) targetsOf(inc incident.Incident) []outbox.Target {
	return []outbox.Target{outbox.ToSlack, outbox.ToChannel(p.room(inc)), outbox.OfIncident(inc.Key)}
}

// room is the channel that an incident's message is in, or goes to.
func (p *invocation) room(inc incident.Incident) string {
	return cmp.Or(inc.Delivery.Channel, p.channelOf(inc))
}

// notTaken deals with what Slack did not take, and tells whether the record is
// to be written. sending is the mark of what was tried.
func (p *invocation) notTaken(ctx context.Context, o *outgoing, sending *time.Time, err error) (changed bool) {
	p.count("SlackFailures", 1)
	var e *slack.Error
	if errors.As(err, &e) && e.Kind != slack.Unavailable && !sending.IsZero() {
		// Slack answered, so it is certain that nothing was sent.
		*sending = time.Time{}
		changed = true
	}
	about := []any{"cluster", o.inc.Key.Cluster, "check", o.inc.Key.Check, "resource", o.inc.Key.Resource}
	if e != nil && e.Retryable() || errors.Is(err, context.DeadlineExceeded) {
		p.slackDown = true
		p.log.WarnContext(ctx, "Slack was not told, it will be with the next observation", append(about, "error", err.Error())...)
		return changed
	}
	p.holdBack(ctx, refuser(err, p.room(o.inc), outbox.OfIncident(o.inc.Key)), err, about...)
	return changed
}

// holdBack holds back what goes to who refuses. A token that Slack does not take
// is the same for all clusters.
func (p *invocation) holdBack(ctx context.Context, t outbox.Target, err error, about ...any) {
	if t == outbox.ToSlack {
		p.slackDown = true
	}
	p.recordRefusal(ctx, t, "Slack was not told, and waiting does not help", err, about...)
}
