package slack

import (
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/remedy/replaceinstance"
	"rollcall/shared/report"
)

// deferredScenes are remedies that are tried again later.
func deferredScenes(told func(incident.Reason, func(*incident.Note)) incident.Note) []scene {
	base := with(incidentOf(noEgress(), launches(7, report.Missed)), clearedAt, func(i *incident.Incident) { i.Changed = began.Add(20 * time.Minute) })
	p := thePlan()
	p.Remedy, p.Route, p.Replace = optin.ReplaceInstance, nil, &replaceinstance.Plan{Instances: []replaceinstance.Replaced{
		{Instance: "i-0ef3000003a5b0000", Group: "eks-workers-a1b2", Nodegroup: "workers", Zone: "us-west-2a"},
		{Instance: "i-0ef3000003a5b0011", Group: "eks-workers-a1b2", Nodegroup: "workers", Zone: "us-west-2a"},
	}}
	limit := "The limit of 3 an hour (setting remedyLimit) is reached."
	waiting := func(change func(*incident.Offer)) incident.Offer {
		of := incident.Offer{
			Plan: p, Hash: p.Hash(), Policy: optin.Auto, State: incident.Deferred, Made: began.Add(20 * time.Minute),
			After: began.Add(65 * time.Minute), Reason: report.LimitReached, Says: limit, Again: true,
		}
		if change != nil {
			change(&of)
		}
		return of
	}
	rest := waiting(func(of *incident.Offer) {
		of.Plan, of.Hash, of.Says = remedy.Plan{Remedy: optin.ReplaceInstance}, "", "There are 4 more to replace. "+limit
	})
	byPerson := waiting(func(of *incident.Offer) { of.Policy = optin.Approve })
	blind := waiting(func(of *incident.Offer) {
		of.Plan, of.Hash, of.Reason, of.Tried, of.Again = remedy.Plan{Remedy: optin.ReplaceInstance}, "", string(action.CouldNotLook), 2, false
		of.Says = "No plan is made where something could not be read: nodes, throttled (eks:DescribeCluster)."
	})
	done := offer(incident.Acted, func(of *incident.Offer) {
		of.Policy, of.By, of.Plan, of.Hash = optin.Auto, report.User{}, p, p.Hash()
		of.Run = run(*of, action.Done)
		of.Run.Changed = []string{"i-0ef3000003a5b0000", "i-0ef3000003a5b0011"}
	})
	refused := offer(incident.Acted, func(of *incident.Offer) {
		of.Plan, of.Hash = p, p.Hash()
		of.Run = run(*of, action.Refused)
		of.Run.Reason, of.Run.Says = report.LimitReached, limit+" It is offered again at 16:04 UTC. This approval is used up: it is not done then without another."
	})
	again := offer(incident.Offered, func(of *incident.Offer) {
		of.Plan, of.Hash, of.Again = p, p.Hash(), true
		of.Says = "The limit of an hour has room again. What was approved before was not done, and needs a new yes."
	})
	return []scene{
		{"act-deferred-limit", with(base, offers(waiting(nil))), []incident.Note{told(incident.IsDeferred, nil)}},
		{"act-deferred-rest", with(base, offers(done, rest)), []incident.Note{told(incident.RemedyDone, nil), told(incident.IsDeferred, nil)}},
		{"act-deferred-person", with(base, offers(refused, byPerson)), []incident.Note{told(incident.RemedyFailed, nil)}},
		{"act-deferred-offered-again", with(base, offers(refused, again)), []incident.Note{told(incident.IsProposed, nil)}},
		{"act-deferred-blind", with(base, offers(blind)), nil},
	}
}
