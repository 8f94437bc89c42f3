package notify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/outbox"
	"rollcall/shared/slack"
	"rollcall/shared/slack/slackapi"
)

// answersLast is how long after a press its answer is still sent: who pressed has
// seen by then in the message itself what came of it.
const answersLast = 15 * time.Minute

// CallTimeout is how long one call may take that is not a message: Slack answers in
// well under a second, and messages need what is left of the time.
const CallTimeout = lastCall

// audit writes the audit records of presses, before anybody is told what they
// came to. Without its record nothing that was approved is told.
func (c *Cluster) audit(ctx context.Context, acts []incident.ActRecord) (wrote bool, _ error) {
	for i := range acts {
		if acts[i].Audited {
			continue
		}
		if _, err := c.Acts.RecordAct(ctx, acts[i]); err != nil {
			return wrote, fmt.Errorf("the press %s of %s is not audited: %w", acts[i].ID, acts[i].Key.Cluster, err)
		}
		acts[i].Audited, wrote = true, true
		c.Count("Presses", 1)
	}
	return wrote, nil
}

// answer tells people, and only them, what came of their presses. It gives
// those that Slack did not take and that are worth another try. One that was
// cut off may be read twice: it says the same, and nobody else sees it.
func (c *Cluster) answer(ctx context.Context, acts []incident.ActRecord) (left []incident.ActRecord) {
	for _, a := range acts {
		if a.User.ID == "" || a.Channel == "" || a.Answer.Reason == "" || c.Now().Sub(a.Decided) > answersLast {
			continue
		}
		if c.slackDown || c.record.Held(outbox.ToSlack, c.Now()) || c.budgetSpent() {
			left = append(left, a)
			continue
		}
		err := c.answerOne(ctx, a)
		var e *slackapi.Error
		switch {
		case err == nil:
			c.Count("SlackAnswers", 1)
			continue
		case errors.As(err, &e) && e.Retryable(), errors.Is(err, context.DeadlineExceeded):
			// Slack limits each method by itself: that it has enough of answers does
			// not keep it from taking messages.
			c.slackDown = e == nil || e.Kind != slackapi.RateLimited
			left = append(left, a)
		}
		c.Count("SlackFailures", 1)
		c.Log.WarnContext(ctx, "a person was not told what came of their press", "cluster", a.Key.Cluster, "press", a.ID, "user", a.User.ID, "answer", a.Answer.Reason, "error", err.Error())
	}
	return left
}

// answerOne makes the call, and waits no longer for it than a cluster's time can spare.
func (c *Cluster) answerOne(ctx context.Context, a incident.ActRecord) error {
	ctx, cancel := context.WithTimeout(ctx, CallTimeout)
	defer cancel()
	return c.Answers.Ephemeral(ctx, a.Channel, a.User.ID, a.Thread, slack.RenderAnswer(a.Answer, c.Now()))
}

// answered tells which presses need no more attention.
func answered(before, left []incident.ActRecord) (ids []string) {
	for _, a := range before {
		if !slices.ContainsFunc(left, func(l incident.ActRecord) bool { return l.ID == a.ID }) {
			ids = append(ids, a.ID)
		}
	}
	return ids
}

// unanswered are the presses of a record that still need attention: in between
// another invocation may have taken more in. Those that this one audited are.
func unanswered(acts, audited []incident.ActRecord, answered []string) (left []incident.ActRecord) {
	for _, a := range acts {
		if slices.Contains(answered, a.ID) {
			continue
		}
		a.Audited = a.Audited || slices.ContainsFunc(audited, func(x incident.ActRecord) bool { return x.ID == a.ID && x.Audited })
		left = append(left, a)
	}
	return left
}

// answerStrays audits and answers presses whose incident is not there.
func (c *Cluster) answerStrays(ctx context.Context, acts []incident.ActRecord) error {
	for _, a := range acts {
		created, err := c.Acts.RecordAct(ctx, a)
		if err != nil {
			return fmt.Errorf("the press %s of %s is not audited: %w", a.ID, a.Key.Cluster, err)
		}
		if created { // else the queue delivered it twice, and it was answered
			c.Count("Presses", 1)
			c.Count("PressesRefused", 1)
			c.Log.InfoContext(ctx, "decided", "cluster", a.Key.Cluster, "check", a.Key.Check, "resource", a.Key.Resource, "reason", incident.PressRefused, "press", a.ID, "action", a.Action, "user", a.User.ID, "answer", a.Answer.Reason)
			c.answer(ctx, []incident.ActRecord{a})
		}
	}
	return nil
}
