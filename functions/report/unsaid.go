package main

import (
	"context"
	"errors"
	"time"

	"rollcall/shared/slack"
)

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
