package response_test

import (
	"testing"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/incident/response"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	"rollcall/shared/routing"
)

// What the passing of time makes of an incident, all of it.
func TestWhatTimeChanges(t *testing.T) {
	nat := incidenttest.RoutePlan("nat-0aa4")
	broken := incidenttest.Broken(t)
	in := func(change func(*incident.Incident)) incident.Incident {
		inc := broken.Clone()
		change(&inc)
		return inc
	}
	approved := func(decided, began int) incident.Incident {
		o := offer(incident.Approved, nat, 0)
		o.Expires, o.Decided = incidenttest.At(10), incidenttest.At(decided)
		if began > 0 {
			o.Run = run("", began+1)
		}
		return with(broken, o)
	}
	lost := func(i *incident.Incident) {
		i.Offers[0].State, i.Offers[0].Says = incident.Expired, "it was approved, and nothing was heard of it"
	}
	waiting := func(state incident.State) incident.Incident {
		o := offer(incident.Deferred, nat, 3)
		o.After = incidenttest.At(9)
		inc := with(broken, o)
		inc.State = state
		return inc
	}
	twoWeeks := int(incident.MaxUnseen / time.Minute)
	for name, test := range map[string]struct {
		inc    incident.Incident
		minute int
		reason incident.Reason
		change func(*incident.Incident)
	}{
		"of what nobody was told nothing comes": {in(func(i *incident.Incident) { i.Number, i.Mute = 0, &incident.Mute{} }), 9, incident.NothingNew, nil},
		"a mute ends":                           {in(func(i *incident.Incident) { i.Mute = &incident.Mute{Until: incidenttest.At(9)} }), 9, incident.IsUnmuted, func(i *incident.Incident) { i.Mute = nil }},
		"an offer expires":                      {with(broken, offer(incident.Offered, nat, 0)), 60, incident.IsExpired, func(i *incident.Incident) { i.Offers[0].State = incident.Expired }},
		"a yes is heard of yet":                 {approved(9, 0), 23, incident.NothingNew, nil},
		"a yes is not heard of":                 {approved(9, 0), 24, incident.IsExpired, lost},
		"it is being done":                      {approved(9, 10), 69, incident.NothingNew, nil},
		"it is done for too long":               {approved(9, 10), 70, incident.IsExpired, lost},
		"a wait is over": {waiting(incident.Open), 9, incident.IsDue, func(i *incident.Incident) {
			i.Offers[0].Woken = incidenttest.At(9)
			i.AddEvent(incident.IsDue, incidenttest.At(9))
		}},
		"and its incident too":              {waiting(incident.Closed), 9, incident.NothingNew, nil},
		"and its incident is of no account": {waiting(incident.Pending), 9, incident.NothingNew, nil},
		"an hour of silence":                {broken, 60, incident.NothingNew, nil},
		"two weeks of silence": {broken, twoWeeks, incident.IsWithdrawn, func(i *incident.Incident) {
			at := incidenttest.At(twoWeeks)
			i.Apply(i.AfterSilence(at), at)
			i.Changed = at
			i.AddNote(incident.IsWithdrawn, at)
			i.AddEvent(incident.IsWithdrawn, at)
		}},
	} {
		becomes(t, name, test.inc, func(inc incident.Incident) incident.Decision {
			return response.Tick(inc, incidenttest.At(test.minute), incidenttest.Policy)
		}, test.reason, test.change)
	}
}

// Who is called, and what calls are taken back.
func TestWhoIsCalled(t *testing.T) {
	p := calling(t)
	never := p
	never.RemindAfter = 0
	all, err := routing.Parse("eks-workshop=@S0ONCALL01+here")
	if err != nil {
		t.Fatal(err)
	}
	always := p
	always.Routes = all
	in := func(change func(*incident.Incident)) incident.Incident {
		inc := incidenttest.Broken(t)
		change(&inc)
		return inc
	}
	called := func(r incident.Reason, ts string) func(*incident.Incident) {
		return func(i *incident.Incident) {
			i.Called, i.Calls = incidenttest.At(0), 1
			i.AddNote(r, incidenttest.At(0)).TS = ts
		}
	}
	taken := func(r incident.Reason, ts string, sending time.Time) incident.Incident {
		return in(func(i *incident.Incident) {
			called(r, ts)(i)
			i.Delivery.Notes[len(i.Delivery.Notes)-1].Sending = sending
			i.Ack = &incident.Ack{By: incidenttest.Oncall}
		})
	}
	calls := func(r incident.Reason, minute, n int) func(*incident.Incident) {
		return func(i *incident.Incident) {
			i.Called, i.Calls = incidenttest.At(minute), n
			i.AddNote(r, incidenttest.At(minute)).Mention = []string{"S0ONCALL01", "here"}
		}
	}
	back := func(i *incident.Incident) { i.Delivery.Notes = i.Delivery.Notes[:len(i.Delivery.Notes)-1] }
	for name, test := range map[string]struct {
		inc    incident.Incident
		policy incident.Policy
		minute int
		reason incident.Reason
		change func(*incident.Incident)
	}{
		"the first time":           {incidenttest.Broken(t), p, 0, incident.IsCalled, calls(incident.IsCalled, 0, 1)},
		"the second time":          {in(called(incident.IsCalled, "1.2")), p, 30, incident.IsReminded, calls(incident.IsReminded, 30, 2)},
		"not before":               {in(called(incident.IsCalled, "1.2")), p, 29, incident.NothingNew, nil},
		"only once":                {in(called(incident.IsCalled, "1.2")), never, 300, incident.NothingNew, nil},
		"the last was not taken":   {in(called(incident.IsReminded, "")), p, 30, incident.NothingNew, nil},
		"it is a warning":          {in(func(i *incident.Incident) { i.Cause.Confidence = "possible" }), always, 0, incident.NothingNew, nil},
		"it is not said yet":       {in(func(i *incident.Incident) { i.State = incident.Pending }), p, 0, incident.NothingNew, nil},
		"it was given up on":       {in(func(i *incident.Incident) { i.State, i.Resolution = incident.Closed, incident.GivenUpOn }), p, 0, incident.NothingNew, nil},
		"taken back":               {taken(incident.IsCalled, "", time.Time{}), p, 5, incident.IsCalmed, back},
		"the second is taken back": {taken(incident.IsReminded, "", time.Time{}), p, 5, incident.IsCalmed, back},
		"what Slack took stays":    {taken(incident.IsCalled, "1.2", time.Time{}), p, 5, incident.NothingNew, nil},
		"what Slack may have too":  {taken(incident.IsCalled, "", incidenttest.At(4)), p, 5, incident.NothingNew, nil},
		"nothing else is":          {taken(incident.RemedyDone, "", time.Time{}), p, 5, incident.NothingNew, nil},
	} {
		becomes(t, name, test.inc, func(inc incident.Incident) incident.Decision {
			return response.Tick(inc, incidenttest.At(test.minute), test.policy)
		}, test.reason, test.change)
	}
}

// What a wait makes of the offers that there are.
func TestWhatAWaitChanges(t *testing.T) {
	nat, parts := incidenttest.RoutePlan("nat-0aa4"), replacePlan("i-1")
	broken := incidenttest.Broken(t)
	cleared := broken.Clone()
	cleared.State, cleared.Cleared = incident.Cleared, incidenttest.At(1)
	wait := func(policy optin.Policy, why string, after int) report.Proposal {
		p := waits("w1", 9, after, policy, why)
		p.Plan, p.Hash, p.Tried = parts, parts.Hash(), 2
		return p
	}
	route := wait(optin.Auto, report.LimitReached, 20)
	route.Remedy, route.Plan, route.Hash = optin.AddNATRoute, nat, nat.Hash()
	kept := func(p report.Proposal, after int, again bool) incident.Offer {
		return incident.Offer{Plan: p.Plan, Hash: p.Hash, Policy: p.Policy, State: incident.Deferred, Made: incidenttest.At(9), After: incidenttest.At(after),
			Tried: 2, Reason: p.Reason, Says: p.Says, Again: again}
	}
	says := func(i *incident.Incident) {
		o := i.Offers[len(i.Offers)-1]
		i.AddNote(incident.IsDeferred, incidenttest.At(9)).Offer = &o
	}
	auto := func(o incident.Offer, begun bool) incident.Offer {
		o.Policy = optin.Auto
		if begun {
			o.Run = run("", 4)
		}
		return o
	}
	before := func(why string) incident.Offer {
		o := offer(incident.Deferred, parts, 3)
		o.Reason = why
		return o
	}
	again := offer(incident.Acted, parts, 2)
	again.Again = true
	limited, failed := wait(optin.Auto, report.LimitReached, 20), wait(optin.Auto, string(action.CouldNotLook), 20)
	asked, more := wait(optin.Approve, report.LimitReached, 20), wait(optin.Auto, report.MoreLeft, 20)
	none := incident.Offer{State: incident.Outdated, Made: incidenttest.At(2), Says: "no"}
	none.Plan.Remedy = optin.ReplaceInstance
	old := offer(incident.Outdated, parts, 2)
	sooner, later := wait(optin.Auto, report.LimitReached, 9), wait(optin.Auto, report.LimitReached, 200)
	for name, test := range map[string]struct {
		inc    incident.Incident
		p      report.Proposal
		reason incident.Reason
		change func(*incident.Incident)
	}{
		"for the limit":                  {cleared, limited, incident.IsDeferred, func(i *incident.Incident) { i.Offers = []incident.Offer{kept(limited, 20, true)}; says(i) }},
		"for a look":                     {cleared, failed, incident.IsDeferred, func(i *incident.Incident) { i.Offers = []incident.Offer{kept(failed, 20, false)} }},
		"of what is left":                {cleared, more, incident.IsDeferred, func(i *incident.Incident) { i.Offers = []incident.Offer{kept(more, 20, true)} }},
		"of what a person decides":       {cleared, asked, incident.IsDeferred, func(i *incident.Incident) { i.Offers = []incident.Offer{kept(asked, 20, true)} }},
		"after a part":                   {with(cleared, again), failed, incident.IsDeferred, func(i *incident.Incident) { i.Offers = append(i.Offers, kept(failed, 20, true)) }},
		"after what waited for nothing":  {with(cleared, old), failed, incident.IsDeferred, func(i *incident.Incident) { i.Offers = append(i.Offers, kept(failed, 20, false)) }},
		"no sooner than in a minute":     {cleared, sooner, incident.IsDeferred, func(i *incident.Incident) { i.Offers = []incident.Offer{kept(sooner, 10, true)}; says(i) }},
		"no later than in two hours":     {cleared, later, incident.IsDeferred, func(i *incident.Incident) { i.Offers = []incident.Offer{kept(later, 129, true)}; says(i) }},
		"for the limit still":            {with(cleared, before(report.LimitReached)), limited, incident.IsDeferred, func(i *incident.Incident) { i.Offers = []incident.Offer{kept(limited, 20, true)} }},
		"for a look, and then the limit": {with(cleared, before(string(action.CouldNotLook))), limited, incident.IsDeferred, func(i *incident.Incident) { i.Offers = []incident.Offer{kept(limited, 20, true)}; says(i) }},
		"in the place of why there was none": {with(cleared, none), limited, incident.IsDeferred, func(i *incident.Incident) {
			i.Offers = []incident.Offer{kept(limited, 20, true)}
			says(i)
		}},
		"in the place of the policy's yes":   {with(cleared, auto(offer(incident.Approved, parts, 3), false)), limited, incident.IsDeferred, func(i *incident.Incident) { i.Offers = []incident.Offer{kept(limited, 20, true)}; says(i) }},
		"not of what the policy has done":    {with(cleared, auto(offer(incident.Approved, parts, 3), true)), limited, incident.NothingNew, nil},
		"not of what a person has approved":  {with(cleared, offer(incident.Approved, parts, 3)), limited, incident.NothingNew, nil},
		"not of what a person may approve":   {with(cleared, offer(incident.Offered, parts, 3)), limited, incident.NothingNew, nil},
		"of the cause's own remedy":          {broken, route, incident.IsDeferred, func(i *incident.Incident) { i.Offers = []incident.Offer{kept(route, 20, true)}; says(i) }},
		"of that one when the cause is gone": {cleared, func() report.Proposal { p := route; p.Hash = ""; return p }(), incident.OutOfDate, nil},
		"of a replacement before it is gone": {broken, limited, incident.OutOfDate, nil},
		"older than what is known":           {with(cleared, offer(incident.Acted, parts, 10)), limited, incident.OutOfDate, nil},
	} {
		change := test.change
		if change != nil {
			change = func(i *incident.Incident) { test.change(i); i.Applied = append(i.Applied, "w1") }
		}
		becomes(t, name, test.inc, propose(test.p), test.reason, change)
	}
}
