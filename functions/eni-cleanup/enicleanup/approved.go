package enicleanup

import (
	"context"
	"fmt"
	"slices"
	"time"

	"rollcall/shared/event"
	"rollcall/shared/incident"
	"rollcall/shared/network/leak"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
)

// approved deletes what a person, or the policy of an operator, has approved
// for an incident: those interfaces alone, each by all of the rules, within the
// run's cap and share. Of the event nothing is trusted but whom it is about;
// what was approved is read from the table, which report alone writes.
func (h handler) approved(ctx context.Context, t event.Trigger) error {
	list, err := h.desk.Incidents(ctx, t.Cluster)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(list, func(x incident.Incident) bool { return string(x.Key.Check) == t.Check && x.Key.Resource == t.Resource })
	if i < 0 {
		h.Log.InfoContext(ctx, "there is no such incident", "cluster", t.Cluster, "check", t.Check, "resource", t.Resource)
		return nil
	}
	inc := list[i]
	offer, ok := offerIn(inc)
	policy := h.remedied(inc.Key.Cluster)
	switch {
	case inc.State != incident.Open && inc.State != incident.Cleared, !ok:
		// report tells of an approval after it has saved it: there is none.
		return nil
	}
	d := remedy.Run{
		Format: remedy.Format, ID: fmt.Sprintf("%s/%s", offer.Hash, offer.Decided.UTC().Format("20060102T150405.000Z")),
		Plan: offer.Plan, Hash: offer.Hash, Policy: offer.Policy, ApprovedBy: offer.By.ID, Approved: offer.Decided, Began: h.Now(),
	}
	switch {
	case policy == optin.Off || policy == optin.Approve && offer.Policy != optin.Approve:
		return h.decline(ctx, inc, d, "policy-off", "The remedy is switched off by now.")
	case offer.Policy == optin.Approve && !offer.Expires.IsZero() && h.Now().After(offer.Expires):
		return h.decline(ctx, inc, d, "approval-expired", fmt.Sprintf("The approval was good until %s.", offer.Expires.UTC().Format("15:04:05 UTC")))
	case !h.of.Hub() && (offer.Plan.Account != h.of.Account || offer.Plan.Region != h.of.Region):
		return h.decline(ctx, inc, d, string(leak.OtherAccount), fmt.Sprintf("The plan is of account %s in %s, and this is %s.", offer.Plan.Account, offer.Plan.Region, h.of))
	case offer.Hash != offer.Plan.Hash() || offer.Plan.Cluster != inc.Key.Cluster || offer.Plan.Resource != inc.Key.Resource:
		return h.decline(ctx, inc, d, "plan-changed", "The plan is not the one that was approved.")
	}
	return h.deleteApproved(ctx, t, inc, d)
}

// offerIn is the newest plan of the incident, if a person approved it, or the
// policy: report writes down either, and nobody else.
func offerIn(inc incident.Incident) (incident.Offer, bool) {
	for _, o := range slices.Backward(inc.Offers) {
		if o.Plan.Remedy != optin.DeleteLeakedInterfaces || o.Made.Before(inc.Opened) || o.Plan.Cleanup == nil {
			continue
		}
		return o, o.Run == nil && o.State == incident.Approved
	}
	return incident.Offer{}, false
}

// deleteApproved runs for the VPC of the cluster, in mode delete for it alone.
func (h handler) deleteApproved(ctx context.Context, t event.Trigger, inc incident.Incident, d remedy.Run) error {
	only := map[string]bool{}
	for _, id := range d.Plan.Cleanup.Interfaces {
		only[id] = true
	}
	cluster := inc.Key.Cluster
	h.modes = func(name string) leak.Mode {
		if name == cluster {
			return leak.Delete
		}
		return leak.Report
	}
	t.Account = inc.Account
	t.ID = "deed/" + d.ID
	here := func(p place) bool { return p.vpc == d.Plan.Cleanup.VPC && slices.Contains(p.clusters(), cluster) }
	err := h.everywhere(ctx, t, here, only)
	audits, readErr := h.memory.Audits(ctx, cluster, d.Approved.Add(-time.Minute))
	if readErr != nil {
		return readErr // the deletes are audited; Lambda's next try tells them
	}
	addresses := 0
	for _, a := range audits {
		if only[a.Interface] && a.Result == leak.Deleted {
			d.Changed = append(d.Changed, a.Interface)
			addresses += a.Addresses()
			if a.Request != "" {
				d.Requests = append(d.Requests, a.Request)
			}
		}
	}
	slices.Sort(d.Changed)
	d.Ended = h.Now()
	switch n := len(d.Changed); {
	case n == len(only):
		d.Result = action.Done
	case n > 0:
		d.Result, d.Reason = action.Partly, "not-all"
	case err != nil:
		return err
	default:
		d.Result, d.Reason = action.Refused, "none-left"
	}
	d.Says = fmt.Sprintf("%d of %d interfaces were deleted, %d addresses came back.", len(d.Changed), len(only), addresses)
	if d.Result != action.Done {
		d.Says += " For the others a rule of eni-cleanup does not hold now, or its limit is reached."
	}
	return h.sendResult(ctx, inc, d)
}

func (h handler) decline(ctx context.Context, inc incident.Incident, d remedy.Run, reason, says string) error {
	d.Ended, d.Result, d.Reason, d.Says = d.Began, action.Refused, reason, says
	return h.sendResult(ctx, inc, d)
}

// sendResult tells report what came of it. Where something was deleted, the check
// that found the leak is wanted at once.
func (h handler) sendResult(ctx context.Context, inc incident.Incident, d remedy.Run) error {
	h.Log.InfoContext(ctx, "run", "cluster", inc.Key.Cluster, "resource", inc.Key.Resource, "run", d.ID, "policy", d.Policy,
		"by", d.ApprovedBy, "result", d.Result, "reason", d.Reason, "changed", d.Changed)
	told := report.RemedyResult{ID: "deed/" + inc.Key.Cluster + "/" + d.ID + "/" + string(d.Result), At: d.Ended, Key: inc.Key, Run: d}
	if err := h.send.SendRemedyResult(ctx, told); err != nil || len(d.Changed) == 0 {
		return err
	}
	return h.bus.Tell(ctx, []incident.Event{{
		ID: inc.Key.Cluster + "/deed/" + d.ID, Format: incident.EventFormat, Kind: incident.EventCheckWanted, Reason: "remedy", At: h.Now(),
		Partition: inc.Partition, Account: inc.Account, Region: inc.Region,
		Cluster: inc.Key.Cluster, Check: inc.Key.Check, Resource: inc.Key.Resource,
		State: inc.State, Number: inc.Number, Sequence: inc.Events, Began: inc.Began, Opened: inc.Opened, Cleared: inc.Cleared,
		Confidence: inc.Cause.Confidence, Title: inc.Cause.Title, Why: inc.Cause.Why, Affected: inc.Affected,
	}})
}
