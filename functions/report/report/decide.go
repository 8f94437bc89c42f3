package report

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/incident/reconcile"
	"rollcall/shared/incident/response"
	"rollcall/shared/report"
	"rollcall/shared/silence"
)

// decide takes in all messages, in order, and the time that has passed.
func (p *invocation) decide(ctx context.Context, incidents []incident.Incident, messages []report.Message, silences []silence.Silence, now time.Time) (
	after []incident.Incident, changed map[report.Key]bool, strays []incident.ActRecord,
) {
	changed = map[report.Key]bool{}
	take := func(list ...incident.Decision) {
		for _, d := range list {
			if d.Changed {
				incidents = replace(incidents, d.Incident)
				changed[d.Incident.Key] = true
			}
		}
	}
	policy := p.Policy
	policy.TagKeys = slices.Concat(policy.TagKeys, silence.TagKeys(silences))
	for _, m := range messages {
		strays = append(strays, stray(m, incidents, now)...)
		take(p.apply(ctx, incidents, m, policy, now)...)
	}
	for _, inc := range incidents {
		take(p.silence(ctx, inc, silences, now))
	}
	for _, inc := range incidents {
		take(response.Tick(inc, now, p.Policy))
	}
	return incidents, changed, strays
}

// silence tells what the silences of the cluster make of an incident.
func (p *invocation) silence(ctx context.Context, inc incident.Incident, list []silence.Silence, now time.Time) incident.Decision {
	d := response.Silence(inc, list, now)
	if d.Changed {
		p.logDecision(ctx, d)
	}
	return d
}

func replace(incidents []incident.Incident, inc incident.Incident) []incident.Incident {
	i := slices.IndexFunc(incidents, func(other incident.Incident) bool { return other.Key == inc.Key })
	if i < 0 {
		return append(incidents, inc)
	}
	incidents[i] = inc
	return incidents
}

// apply takes one message in, and gives what it makes of the incidents.
func (p *invocation) apply(ctx context.Context, incidents []incident.Incident, m report.Message, policy incident.Policy, now time.Time) []incident.Decision {
	if m.Observation != nil {
		decide := reconcile.Decide
		if p.Left(m.Observation.Cluster) {
			decide = reconcile.CloseUnwatched
		}
		list := decide(incidents, *m.Observation, now, policy)
		for _, d := range list {
			p.logDecision(ctx, d, "observation", m.Observation.ID, "by", m.Observation.By)
		}
		return list
	}
	key, id := keyOf(m)
	i := slices.IndexFunc(incidents, func(inc incident.Incident) bool { return inc.Key == key })
	if i < 0 {
		if m.Press == nil {
			p.Log.WarnContext(ctx, "a message is about an incident that is not there", "cluster", key.Cluster, "check", key.Check, "resource", key.Resource, "message", id)
			p.Count("StrayMessages", 1)
		}
		return nil
	}
	var d incident.Decision
	switch inc := incidents[i]; {
	case m.Press != nil:
		var a incident.Answer
		d, a = response.Act(inc, *m.Press, p.mayPress(ctx, *m.Press), now)
		p.logDecision(ctx, d, "press", id, "action", m.Press.Action, "user", m.Press.User.ID, "answer", a.Reason)
	case m.Proposal != nil:
		d = response.Propose(inc, *m.Proposal, now)
		p.logDecision(ctx, d, "proposal", id, "remedy", m.Proposal.Remedy, "policy", m.Proposal.Policy, "plan", m.Proposal.Hash)
	case m.RemedyResult != nil:
		d = response.ApplyRemedyResult(inc, *m.RemedyResult, now)
		p.logDecision(ctx, d, "run", m.RemedyResult.Run.ID, "remedy", m.RemedyResult.Run.Plan.Remedy, "result", m.RemedyResult.Run.Result)
	case m.Changes != nil:
		d = response.ApplyChanges(inc, *m.Changes, now)
		p.logDecision(ctx, d, "changes", id, "found", len(m.Changes.Found.Changes))
	}
	return []incident.Decision{d}
}

func keyOf(m report.Message) (key report.Key, id string) {
	switch {
	case m.Press != nil:
		return m.Press.Key, m.Press.ID
	case m.Proposal != nil:
		return m.Proposal.Key, m.Proposal.ID
	case m.RemedyResult != nil:
		return m.RemedyResult.Key, m.RemedyResult.ID
	}
	return m.Changes.Key, m.Changes.ID
}

// stray is a press whose incident is not there: closed long ago, or of a
// cluster that nothing is known of any more.
func stray(m report.Message, incidents []incident.Incident, now time.Time) []incident.ActRecord {
	if m.Press == nil || slices.ContainsFunc(incidents, func(inc incident.Incident) bool { return inc.Key == m.Press.Key }) {
		return nil
	}
	return []incident.ActRecord{response.NotFound(*m.Press, now)}
}

// logDecision logs and counts a decision.
func (p *invocation) logDecision(ctx context.Context, d incident.Decision, about ...any) {
	level := slog.LevelInfo
	if d.Reason == incident.NothingNew {
		level = slog.LevelDebug
	}
	key := d.Incident.Key
	p.Log.Log(ctx, level, "decided", append([]any{"cluster", key.Cluster, "check", key.Check, "resource", key.Resource,
		"reason", d.Reason, "state", d.Incident.State, "affected", d.Incident.Affected}, about...)...)
	switch d.Reason {
	case incident.Opened:
		p.Count("IncidentsOpened", 1)
	case incident.Reopened:
		p.Count("IncidentsReopened", 1)
	case incident.IsProved, incident.IsUnproved, incident.IsSuperseded, incident.IsWithdrawn, incident.IsGivenUpOn:
		p.Count("IncidentsClosed", 1)
	case incident.AlreadyApplied:
		p.Count("RepeatedObservations", 1)
	case incident.OutOfDate:
		p.Count("LateObservations", 1)
	case incident.PressRefused:
		p.Count("PressesRefused", 1)
	case incident.IsApproved:
		p.Count("RemediesApproved", 1)
	case incident.RemedyDone:
		p.Count("RemediesDone", 1)
	case incident.RemedyFailed:
		p.Count("RemediesFailed", 1)
	case incident.IsMalformed:
		p.Count("MalformedObservations", 1)
		p.Log.ErrorContext(ctx, "a plan or run is not what it says, it is left alone", about...)
	}
}
