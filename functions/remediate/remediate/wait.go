package remediate

import (
	"context"
	"fmt"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
)

// The pace of looks that failed: 5, 10, 20, 40 minutes, then each hour. What is
// denied stays so until somebody grants it, what is throttled does not.
const (
	firstLook = 5 * time.Minute
	lastLook  = time.Hour
)

func pace(tried int) time.Duration {
	wait := firstLook
	for range tried {
		wait = min(2*wait, lastLook)
	}
	return wait
}

// passes tells of a refusal that may pass by itself. That others are at work in a
// group is waited for only where a remedy waits already: its instances come and
// go because of what the remedy did before.
func (h handler) passes(inc incident.Incident, r optin.Remedy, no *action.Refusal) bool {
	switch no.Reason {
	case action.CouldNotLook:
		return latest(inc, r, incident.Offered, incident.Approved) == nil
	case action.GroupScales, action.AnotherChange:
		return latest(inc, r, incident.Deferred) != nil
	}
	return false
}

// tryLater asks to be woken for another look. A wait that is not over stands,
// whatever else made this look happen.
func (h handler) tryLater(ctx context.Context, inc incident.Incident, r optin.Remedy, policy optin.Policy, no *action.Refusal) error {
	tried := 0
	if w := latest(inc, r, incident.Deferred); w != nil {
		if h.now().Before(w.After) {
			return nil
		}
		tried = w.Tried
	}
	return h.wait(ctx, inc, report.Proposal{Remedy: r, Policy: policy, Reason: string(no.Reason), Says: no.Says, After: h.now().Add(pace(tried)), Tried: tried + 1})
}

// unseen says that what a person approved is not done, as it could not be looked
// at once more. The plan is offered again when it can.
func (h handler) unseen(ctx context.Context, inc incident.Incident, approved incident.Offer, no *action.Refusal) error {
	d := refusedRun(h.newRun(inc, approved.Plan, &approved), no.Reason, no.Says+" It is looked at again at "+clock(h.now().Add(firstLook))+", and offered again if it can be. This approval is used up.")
	d.Next = &remedy.Next{At: h.now().Add(firstLook), Reason: string(no.Reason), Says: no.Says}
	return h.refuse(ctx, inc, d)
}

// wait has report wake this function, for a fresh look and a plan made anew. What
// waits already in the same way is not told again.
func (h handler) wait(ctx context.Context, inc incident.Incident, p report.Proposal) error {
	if w := latest(inc, p.Remedy, incident.Deferred); w != nil && w.Reason == p.Reason && w.Hash == p.Hash && w.After.Equal(p.After) {
		return nil
	}
	h.count("Deferred", 1)
	p.ID = h.proposalID(inc, p.Remedy, fmt.Sprintf("wait/%s/%s/%s", p.Reason, p.After.UTC().Format(time.RFC3339Nano), p.Hash))
	p.At, p.Key = h.now(), inc.Key
	return h.send.SendProposal(ctx, p)
}

// rest is when what a plan left is looked at: when the limit has room for it, and
// the group has got others for what was ended. Without an answer the limit is
// taken as reached.
func (h handler) rest(ctx context.Context, d remedy.Run, left int) *remedy.Next {
	next := remedy.Next{At: h.now().Add(firstLook), Reason: report.MoreLeft, Says: fmt.Sprintf("There are %d more to replace.", left)}
	if left == 1 {
		next.Says = "There is one more to replace."
	}
	room, err := h.memory.RoomForRuns(ctx, d.Plan.Cluster, d.Plan.Remedy, min(left, h.limit, remedy.Of(d.Plan.Remedy).Most), h.limit, h.now())
	if err != nil {
		h.log.WarnContext(ctx, "when the limit has room could not be read", "run", d.ID, "error", err.Error())
		room = h.now().Add(lastLook)
	}
	if room.After(next.At) {
		next.At, next.Reason, next.Says = room, report.LimitReached, next.Says+" "+h.limitSays()
	}
	return &next
}

// limitSays is the limit, for people.
func (h handler) limitSays() string {
	return fmt.Sprintf("The limit of %d an hour (setting remedyLimit) is reached.", h.limit)
}

// clock is a time within hours, for people.
func clock(t time.Time) string { return t.UTC().Format("15:04 UTC") }
