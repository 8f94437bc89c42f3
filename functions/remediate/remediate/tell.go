package remediate

import (
	"context"

	"rollcall/shared/incident"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/report"
)

// decline says that what a person approved is not done. Nothing was changed.
func (h handler) decline(ctx context.Context, inc incident.Incident, approved incident.Offer, reason action.Reason, says string) error {
	h.log.WarnContext(ctx, "an approved plan is not done", "cluster", inc.Key.Cluster, "check", inc.Key.Check, "resource", inc.Key.Resource, "hash", approved.Hash, "by", approved.By.ID, "reason", reason)
	return h.sendResult(ctx, inc, refusedRun(h.newRun(inc, approved.Plan, &approved), reason, says))
}

// refusedDeed is a run that was none. It is told, and claims nothing.
func refusedRun(d remedy.Run, reason action.Reason, says string) remedy.Run {
	d.Ended, d.Result, d.Reason, d.Says = d.Began, action.Refused, string(reason), says
	return d
}

// sendResult tells report what came of a plan. Where the world may be another now,
// the check that found the cause is wanted at once.
func (h handler) sendResult(ctx context.Context, inc incident.Incident, d remedy.Run) error {
	h.count("RemedyResults", 1)
	told := report.RemedyResult{ID: "deed/" + inc.Key.Cluster + "/" + d.ID + "/" + string(d.Result), At: d.Ended, Key: inc.Key, Run: d}
	if err := h.send.SendRemedyResult(ctx, told); err != nil {
		return err
	}
	if d.Result == action.Refused || d.Result == action.Failed || inc.State == incident.Closed {
		return nil
	}
	return h.bus.Tell(ctx, []incident.Event{h.event(inc, incident.EventCheckWanted, "deed/"+d.ID)})
}

func (h handler) event(inc incident.Incident, kind incident.EventKind, of string) incident.Event {
	return incident.Event{
		ID: inc.Key.Cluster + "/" + of + "/" + string(kind), Format: incident.EventFormat, Kind: kind, Reason: "remedy", At: h.now(),
		Partition: inc.Partition, Account: inc.Account, Region: inc.Region,
		Cluster: inc.Key.Cluster, Check: inc.Key.Check, Resource: inc.Key.Resource,
		State: inc.State, Number: inc.Number, Sequence: inc.Events, Began: inc.Began, Opened: inc.Opened, Cleared: inc.Cleared,
		Confidence: inc.Cause.Confidence, Title: inc.Cause.Title, Why: inc.Cause.Why, Affected: inc.Affected,
	}
}
