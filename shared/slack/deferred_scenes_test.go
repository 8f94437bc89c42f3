package slack

import (
	"time"

	"rollcall/shared/plan"
	"rollcall/shared/report"
)

// deferredScenes are remedies that are tried again later.
func deferredScenes(told func(report.Reason, func(*report.Note)) report.Note) []scene {
	base := with(incident(noEgress(), launches(7, report.Missed)), clearedAt, func(i *report.Incident) { i.Changed = began.Add(20 * time.Minute) })
	p := thePlan()
	p.Remedy, p.Route, p.Replace = plan.ReplaceInstance, nil, &plan.Replace{Instances: []plan.Replaced{
		{Instance: "i-0ef3000003a5b0000", Group: "eks-workers-a1b2", Nodegroup: "workers", Zone: "us-west-2a"},
		{Instance: "i-0ef3000003a5b0011", Group: "eks-workers-a1b2", Nodegroup: "workers", Zone: "us-west-2a"},
	}}
	limit := "The limit of 3 an hour (setting remedyLimit) is reached."
	waiting := func(change func(*report.Offer)) report.Offer {
		of := report.Offer{
			Plan: p, Hash: p.Hash(), Policy: plan.Auto, State: report.Deferred, Made: began.Add(20 * time.Minute),
			After: began.Add(65 * time.Minute), Reason: report.LimitReached, Says: limit, Again: true,
		}
		if change != nil {
			change(&of)
		}
		return of
	}
	rest := waiting(func(of *report.Offer) {
		of.Plan, of.Hash, of.Says = plan.Plan{Remedy: plan.ReplaceInstance}, "", "There are 4 more to replace. "+limit
	})
	byPerson := waiting(func(of *report.Offer) { of.Policy = plan.Approve })
	blind := waiting(func(of *report.Offer) {
		of.Plan, of.Hash, of.Reason, of.Tried, of.Again = plan.Plan{Remedy: plan.ReplaceInstance}, "", string(plan.CouldNotLook), 2, false
		of.Says = "No plan is made where something could not be read: nodes, throttled (eks:DescribeCluster)."
	})
	done := offer(report.Acted, func(of *report.Offer) {
		of.Policy, of.By, of.Plan, of.Hash = plan.Auto, report.User{}, p, p.Hash()
		of.Deed = deed(*of, plan.Done)
		of.Deed.Changed = []string{"i-0ef3000003a5b0000", "i-0ef3000003a5b0011"}
	})
	refused := offer(report.Acted, func(of *report.Offer) {
		of.Plan, of.Hash = p, p.Hash()
		of.Deed = deed(*of, plan.Refused)
		of.Deed.Reason, of.Deed.Says = report.LimitReached, limit+" It is offered again at 16:04 UTC. This approval is used up: it is not done then without another."
	})
	again := offer(report.Offered, func(of *report.Offer) {
		of.Plan, of.Hash, of.Again = p, p.Hash(), true
		of.Says = "The limit of an hour has room again. What was approved before was not done, and needs a new yes."
	})
	return []scene{
		{"act-deferred-limit", with(base, offers(waiting(nil))), []report.Note{told(report.IsDeferred, nil)}},
		{"act-deferred-rest", with(base, offers(done, rest)), []report.Note{told(report.DeedDone, nil), told(report.IsDeferred, nil)}},
		{"act-deferred-person", with(base, offers(refused, byPerson)), []report.Note{told(report.DeedFailed, nil)}},
		{"act-deferred-offered-again", with(base, offers(refused, again)), []report.Note{told(report.IsProposed, nil)}},
		{"act-deferred-blind", with(base, offers(blind)), nil},
	}
}
