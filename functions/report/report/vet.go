package report

import (
	"context"
	"fmt"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/incident/response"
	"rollcall/shared/report"
)

// Passed is what is known of the presses that slack-actions passed on.
type Passed interface {
	PassedPress(ctx context.Context, id string) (*report.PressRecord, error)
}

// Audited is what is known of the presses that were decided on.
type Audited interface {
	ActRecorded(ctx context.Context, p report.Press) (bool, error)
}

// vet lets those presses through that slack-actions passed on, and that were not
// decided on before: an incident's record forgets after a while what it has
// applied, the audit records do not. It gives what was refused and is to be told.
// What cannot be looked up is an error: the messages come again.
func (p *invocation) vet(ctx context.Context, messages []report.Message, now time.Time) (let []report.Message, refused []incident.ActRecord, _ error) {
	var unproven []report.Press
	for _, m := range messages {
		if m.Press == nil {
			let = append(let, m)
			continue
		}
		record, err := p.passed.PassedPress(ctx, m.Press.ID)
		if err != nil {
			return nil, nil, fmt.Errorf("see whether slack-actions passed the press on: %w", err)
		}
		answer := response.VetPress(*m.Press, m.Digest, record, now)
		switch {
		case !answer.Proven():
			unproven = append(unproven, *m.Press)
			continue
		case answer.Reason != "":
			refused = append(refused, response.Refused(*m.Press, answer, now))
			continue
		}
		decided, err := p.audit.ActRecorded(ctx, *m.Press)
		if err != nil {
			return nil, nil, err
		}
		if decided {
			p.Count("RepeatedObservations", 1)
			p.Log.InfoContext(ctx, "decided", "reason", incident.AlreadyApplied, "cluster", m.Press.Key.Cluster, "press", m.Press.ID)
			continue
		}
		let = append(let, m)
	}
	p.refuseUnproven(ctx, unproven)
	return let, refused, nil
}

// refuseUnproven says once for a batch what somebody made up. It has no audit
// record, and nobody is told: who is named in it had nothing to do with it.
func (p *invocation) refuseUnproven(ctx context.Context, presses []report.Press) {
	if len(presses) == 0 {
		return
	}
	first := presses[0]
	p.Count("PressesRefused", len(presses))
	p.Count("PressesNotPassedOn", len(presses))
	p.Log.ErrorContext(ctx, "a press was refused that slack-actions did not pass on: whoever sent it to the results queue made it up, or slack-actions had told the person that it failed",
		"reason", incident.PressRefused, "answer", incident.NotPassedOn, "presses", len(presses), "press", first.ID,
		"cluster", first.Key.Cluster, "check", first.Key.Check, "resource", first.Key.Resource, "action", first.Action, "user", first.User.ID)
}
