package remediate

import (
	"context"
	"fmt"
	"slices"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
)

// lease is how long what was written ahead keeps others from a plan: the run
// that wrote it ends within its timeout (spec), and is at it no more after.
const lease = 2 * time.Minute

// deedID names a run by its plan and its approval: the same approval is good
// for one run. A policy approves a plan once each time that the incident is
// opened.
func runID(inc incident.Incident, p remedy.Plan, approved *incident.Offer) string {
	if approved == nil {
		return fmt.Sprintf("%s/auto-%s", p.Hash(), inc.Opened.UTC().Format("20060102T150405.000Z"))
	}
	return fmt.Sprintf("%s/%s", approved.Hash, approved.Decided.UTC().Format("20060102T150405.000Z"))
}

func (h handler) newRun(inc incident.Incident, p remedy.Plan, approved *incident.Offer) remedy.Run {
	d := remedy.Run{Format: remedy.Format, ID: runID(inc, p, approved), Plan: p, Hash: p.Hash(), Policy: optin.Auto, Began: h.now()}
	if approved != nil {
		d.Policy, d.ApprovedBy, d.Approved = optin.Approve, approved.By.ID, approved.Decided
	}
	return d
}

// act does what a person approved, unless the limit is reached. An approval that
// was refused is used up: nothing is done an hour later without them.
func (h handler) act(ctx context.Context, inc incident.Incident, o order, approved *incident.Offer) error {
	d := h.newRun(inc, o.plan, approved)
	room, err := h.memory.CountRun(ctx, d, h.limit)
	if err != nil {
		return err
	}
	if !room.IsZero() {
		d = refusedRun(d, limitReached, fmt.Sprintf("%s It is offered again at %s. This approval is used up: it is not done then without another.", h.limitSays(), clock(room)))
		d.Next = &remedy.Next{At: room, Reason: report.LimitReached, Says: h.limitSays()}
		return h.refuse(ctx, inc, d)
	}
	return h.carryOut(ctx, inc, d, o.left)
}

// refuse records that an approval is not acted upon, and tells it.
func (h handler) refuse(ctx context.Context, inc incident.Incident, d remedy.Run) error {
	there, claimed, err := h.memory.ClaimRun(ctx, d)
	if err != nil {
		return err
	}
	if !claimed {
		return fmt.Errorf("another run is at %s", d.ID)
	}
	return h.sendResult(ctx, inc, there)
}

// carryOut does a plan that is counted, once: it is written ahead, done, recorded,
// told. What one plan leaves is looked at again later.
func (h handler) carryOut(ctx context.Context, inc incident.Incident, d remedy.Run, left int) error {
	d, claimed, err := h.memory.ClaimRun(ctx, d)
	if err != nil {
		return err
	}
	if !claimed {
		return fmt.Errorf("another run is at %s", d.ID)
	}
	result := h.do.Do(ctx, d.Plan, d.ID)
	d.Result, d.Reason, d.Says, d.Changed, d.Requests = result.Status, result.Reason, result.Says, result.Changed, result.Requests
	h.count("RemedyRuns", 1)
	if d.Result == action.Uncertain {
		d = h.find(ctx, inc, d)
	}
	if left > 0 && d.Result != action.Failed {
		d.Next = h.rest(ctx, d, left)
	}
	return h.finish(ctx, inc, d)
}

// done tells that a run was done by an earlier run. One that is being done
// comes again when it is not any more (settle).
func (h handler) done(ctx context.Context, inc incident.Incident, id string) (bool, error) {
	list, err := h.memory.Runs(ctx, inc.Key.Cluster)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(list, func(d remedy.Run) bool { return d.ID == id }), nil
}

// find looks what came of a run whose answer was lost.
func (h handler) find(ctx context.Context, inc incident.Incident, d remedy.Run) remedy.Run {
	r := remedy.Of(d.Plan.Remedy)
	s, err := h.look(ctx, inc, r.Sources(""), r.More.GroupMembers)
	if err != nil {
		d.Result, d.Says = action.Uncertain, "No answer came, and what is so now could not be read."
		return d
	}
	switch done, known := d.Plan.Applied(s); {
	case !known:
		d.Result, d.Says = action.Uncertain, "No answer came, and what is so now could not be read."
	case done:
		d.Result, d.Says = action.Done, "No answer came; the world is now as planned."
	default:
		// It may still come about: EC2's answers lag behind by seconds.
		d.Result, d.Says = action.Uncertain, "No answer came, and the world is not as planned. It is not tried again."
	}
	return d
}

// finish records what came of a run, and tells it.
func (h handler) finish(ctx context.Context, inc incident.Incident, d remedy.Run) error {
	d.Ended = h.now()
	d, err := h.memory.SaveRun(ctx, d)
	if err != nil {
		return err
	}
	h.log.InfoContext(ctx, "run", "cluster", inc.Key.Cluster, "check", inc.Key.Check, "resource", inc.Key.Resource,
		"run", d.ID, "remedy", d.Plan.Remedy, "policy", d.Policy, "by", d.ApprovedBy, "result", d.Result, "reason", d.Reason, "changed", d.Changed, "requests", d.Requests)
	h.count("RemedyRuns"+string(d.Result), 1)
	return h.sendResult(ctx, inc, d)
}

// finishEarlierRuns finishes what earlier runs left: a run that was written ahead and
// has no end, whichever opening of the incident it was in, and one that was not
// told. What was claimed is never done again.
func (h handler) finishEarlierRuns(ctx context.Context, inc incident.Incident) error {
	list, err := h.memory.Runs(ctx, inc.Key.Cluster)
	if err != nil {
		return err
	}
	for _, d := range list {
		if d.Plan.Check != inc.Key.Check || d.Plan.Resource != inc.Key.Resource {
			continue
		}
		switch {
		case !d.Ended.IsZero() && (knownToReport(inc, d) || replacedByLater(inc, d) || d.Began.Before(inc.Opened)):
		case !d.Ended.IsZero():
			err = h.sendResult(ctx, inc, d)
		case h.now().Sub(d.Began) < lease:
			err = fmt.Errorf("a run is at %s", d.ID)
		default:
			d = h.find(ctx, inc, d)
			d.Reason = "interrupted"
			err = h.finish(ctx, inc, d)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// knownToReport tells that report knows of a run.
func knownToReport(inc incident.Incident, d remedy.Run) bool {
	return slices.ContainsFunc(inc.Offers, func(o incident.Offer) bool { return o.Run != nil && o.Run.ID == d.ID && o.Run.Result == d.Result })
}

// replacedByLater tells that report knew of a run and keeps later ones in its place: what
// is replaced in many parts has more runs than an incident keeps.
func replacedByLater(inc incident.Incident, d remedy.Run) bool {
	return len(inc.Offers) >= incident.MaxOffers && slices.ContainsFunc(inc.Offers, func(o incident.Offer) bool {
		return o.Run != nil && o.Run.Plan.Remedy == d.Plan.Remedy && o.Run.Began.After(d.Began)
	})
}
