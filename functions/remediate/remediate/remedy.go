package remediate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/smithy-go"

	"rollcall/shared/incident"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	"rollcall/shared/spec"
)

// The reasons that are this function's own.
const (
	notOptedIn      action.Reason = "vpc-not-opted-in"
	approvalExpired action.Reason = "approval-expired"
	planChanged     action.Reason = "plan-changed"
	limitReached    action.Reason = "limit-reached"
	policyOff       action.Reason = "policy-off"
)

// remedy plans one remedy for an incident, and offers it or does it.
func (h handler) remedy(ctx context.Context, inc incident.Incident, r remedy.Remedy, event string) error {
	policy := h.policy(inc.Key.Cluster, r.Name)
	approved := latest(inc, r.Name, incident.Approved)
	if r.Elsewhere != "" && approved != nil {
		return nil // who does it is woken by the same approval
	}
	byPerson := approved != nil && approved.Policy == optin.Approve
	if byPerson {
		// report may not have taken in yet what came of it.
		if done, err := h.done(ctx, inc, runID(inc, approved.Plan, approved)); err != nil || done {
			return err
		}
	}
	switch {
	case policy == optin.Off && byPerson:
		return h.decline(ctx, inc, *approved, policyOff, "The remedy is switched off by now.")
	case policy == optin.Off:
		return h.takeBack(ctx, inc, r, &action.Refusal{Reason: policyOff, Says: "The remedy is switched off by now."})
	case byPerson && h.expired(*approved):
		return h.tooLate(ctx, inc, *approved)
	}
	o, no, err := h.plan(ctx, inc, r)
	if err != nil {
		return err
	}
	p := o.plan
	if no == nil && p.VPC() != "" && !slices.Contains(h.vpcs, p.VPC()) {
		no = &action.Refusal{Reason: notOptedIn, Says: fmt.Sprintf("%s is not among the VPCs in which remedies may change the network (setting remedyVpcs).", p.VPC())}
	}
	if no == nil && r.Elsewhere == "" {
		no = h.lacksRole(ctx)
	}
	h.log.InfoContext(ctx, "remedy", "cluster", inc.Key.Cluster, "check", inc.Key.Check, "resource", inc.Key.Resource, "remedy", r.Name, "policy", policy, "refusal", no, "hash", hashOf(p, no))
	switch {
	case no != nil && !no.Again.IsZero() && approved == nil:
		return h.send.RemedyAgain(ctx, event, no.Again.Sub(h.now()))
	case no != nil && byPerson && no.Reason == action.CouldNotLook:
		return h.unseen(ctx, inc, *approved, no)
	case no != nil && byPerson:
		return h.decline(ctx, inc, *approved, no.Reason, no.Says)
	case no != nil && h.passes(inc, r.Name, no):
		return h.tryLater(ctx, inc, r.Name, policy, no)
	case no != nil:
		return h.takeBack(ctx, inc, r, no)
	case byPerson && p.Hash() != approved.Hash:
		// What was approved is not what would be done now: nobody has approved that.
		if err := h.decline(ctx, inc, *approved, planChanged, "The world has changed since: the plan would be another one now."); err != nil {
			return err
		}
		return h.offer(ctx, inc, p, policy, "")
	case byPerson && h.expired(*approved): // while it was looked
		return h.tooLate(ctx, inc, *approved)
	case byPerson:
		return h.act(ctx, inc, o, approved)
	case policy == optin.Auto:
		return h.byPolicy(ctx, inc, o)
	}
	return h.offer(ctx, inc, p, policy, "")
}

// lacksRole refuses what could not be done for want of the spoke's role: nobody is asked to
// approve that. Where STS says nothing about the role it is tried.
func (h handler) lacksRole(ctx context.Context) *action.Refusal {
	err := h.role(ctx)
	var api smithy.APIError
	if err == nil || !errors.As(err, &api) || !roleRefused(api.ErrorCode()) {
		return nil
	}
	h.log.WarnContext(ctx, "the role in which remedies are done does not let in", "error", err.Error())
	return &action.Refusal{Reason: action.RoleNotAssumed, Says: "The role in which it is done, " + string(spec.SpokeRemediator) +
		", does not let Rollcall in. " + remedy.DeploySpoke(h.of)}
}

// lackedRole tells that a plan was not done for want of the role: now that it is there,
// which was asked before, it is offered again.
func lackedRole(o incident.Offer) bool {
	return o.Run != nil && o.Run.Reason == string(action.RoleNotAssumed)
}

// roleRefused tells the codes of STS that are about the role or its account (API reference,
// AssumeRole, "Errors"): it says AccessDenied too where there is no such role.
func roleRefused(code string) bool {
	return code == "AccessDenied" || code == "RegionDisabledException"
}

func (h handler) expired(o incident.Offer) bool {
	return !o.Expires.IsZero() && h.now().After(o.Expires)
}

func (h handler) tooLate(ctx context.Context, inc incident.Incident, o incident.Offer) error {
	return h.decline(ctx, inc, o, approvalExpired, fmt.Sprintf("The approval was good until %s.", o.Expires.UTC().Format("15:04:05 UTC")))
}

// byPolicy does a plan that nobody needs to approve. That it is planned is told
// first, so that what is done stands in the thread behind it.
func (h handler) byPolicy(ctx context.Context, inc incident.Incident, o order) error {
	p, elsewhere := o.plan, remedy.Of(o.plan.Remedy).Elsewhere != ""
	if last := latest(inc, p.Remedy, incident.Approved, incident.Acted, incident.Helped, incident.Unhelpful); last != nil && last.Hash == p.Hash() && elsewhere {
		return nil
	}
	if done, err := h.done(ctx, inc, runID(inc, p, nil)); err != nil || done {
		return err
	}
	if before, err := h.takenBack(ctx, inc, p); err != nil {
		return err
	} else if before != "" {
		return h.offer(ctx, inc, p, optin.Approve, before)
	}
	if why := p.PersonDecides(); why != "" {
		return h.offer(ctx, inc, p, optin.Approve, why)
	}
	if elsewhere { // report wakes who does it, once the plan is in the incident
		return h.propose(ctx, inc, p, optin.Auto, "")
	}
	d := h.newRun(inc, p, nil)
	if room, err := h.memory.CountRun(ctx, d, h.limit); err != nil {
		return err
	} else if !room.IsZero() {
		return h.wait(ctx, inc, report.Proposal{Remedy: p.Remedy, Policy: optin.Auto, Plan: p, Hash: p.Hash(), Reason: report.LimitReached, Says: h.limitSays(), After: room})
	}
	if err := h.propose(ctx, inc, p, optin.Auto, ""); err != nil {
		return err
	}
	return h.carryOut(ctx, inc, d, o.left)
}

func hashOf(p remedy.Plan, no *action.Refusal) string {
	if no != nil {
		return ""
	}
	return p.Hash()
}

// latest is the newest offer of a remedy since the incident was opened, if it
// is in one of the states.
func latest(inc incident.Incident, r optin.Remedy, states ...incident.OfferState) *incident.Offer {
	for _, o := range slices.Backward(inc.Offers) {
		if o.Plan.Remedy != r || o.Made.Before(inc.Opened) {
			continue
		}
		if slices.Contains(states, o.State) {
			return &o
		}
		return nil
	}
	return nil
}

// offer sends a plan to be approved, unless the same one is offered, was
// refused by a person, or was done already.
func (h handler) offer(ctx context.Context, inc incident.Incident, p remedy.Plan, policy optin.Policy, says string) error {
	last := latest(inc, p.Remedy, incident.Offered, incident.Approved, incident.RefusedByUs, incident.Acted, incident.Helped, incident.Unhelpful)
	if last != nil && last.Hash == p.Hash() && !(last.State == incident.Offered && h.now().After(last.Expires)) && !lackedRole(*last) {
		return nil
	}
	if w := latest(inc, p.Remedy, incident.Deferred); w != nil && w.Reason == report.LimitReached {
		if h.now().Before(w.After) {
			return nil
		}
		if w.Hash != "" && says == "" {
			says = "The limit of an hour has room again. What was approved before was not done, and needs a new yes."
		}
	}
	return h.propose(ctx, inc, p, policy, says)
}

func (h handler) propose(ctx context.Context, inc incident.Incident, p remedy.Plan, policy optin.Policy, says string) error {
	h.count("Proposals", 1)
	return h.send.SendProposal(ctx, report.Proposal{
		ID: h.proposalID(inc, p.Remedy, p.Hash()), At: h.now(), Key: inc.Key,
		Remedy: p.Remedy, Policy: policy, Plan: p, Hash: p.Hash(), Lasts: h.approval, Says: says,
	})
}

// takeBack says why there is no plan, once for each reason; an offer that
// stands falls with it. That there is nothing to do, or not any more, is said of
// an offer alone.
func (h handler) takeBack(ctx context.Context, inc incident.Incident, r remedy.Remedy, no *action.Refusal) error {
	stands := latest(inc, r.Name, incident.Offered, incident.Deferred) != nil
	if stands && no.Reason == action.CouldNotLook {
		// That it could not be looked is nothing against the plan: once approved,
		// it is looked at again before anything is done.
		return nil
	}
	quiet := append([]action.Reason{policyOff, action.NothingToDo, action.NotSo, action.Gone, action.TooSoon, action.CauseIsThere, action.AlreadyThere}, r.Quiet...)
	if !stands && slices.Contains(quiet, no.Reason) {
		return nil
	}
	h.count("Refusals", 1)
	return h.send.SendProposal(ctx, report.Proposal{
		ID: h.proposalID(inc, r.Name, "none/"+string(no.Reason)), At: h.now(), Key: inc.Key,
		Remedy: r.Name, Policy: h.policy(inc.Key.Cluster, r.Name), Reason: string(no.Reason), Says: no.Says,
	})
}

// proposalID is the same for the same proposal of the same state of things. An offer that
// ran out is another state, however many there were before.
func (h handler) proposalID(inc incident.Incident, r optin.Remedy, what string) string {
	n, last := 0, int64(0)
	for _, o := range inc.Offers {
		if live := o.State == incident.Offered && !h.expired(o) || o.State == incident.Approved || o.State == incident.Deferred; o.Plan.Remedy == r && !live {
			n, last = n+1, o.Made.Unix()
		}
	}
	return fmt.Sprintf("%s/%s/%s/%s/%s/%s/%d-%d", inc.Key.Cluster, inc.Key.Check, inc.Key.Resource, inc.Opened.UTC().Format(time.RFC3339Nano), r, what, n, last)
}
