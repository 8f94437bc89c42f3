package response_test

import (
	"strings"
	"testing"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/incident/response"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
)

// propose is a proposal, taken in at its own minute.
func propose(p report.Proposal) func(incident.Incident) incident.Decision {
	return func(inc incident.Incident) incident.Decision { return response.Propose(inc, p, p.At) }
}

// offer is one of the route plan, or of the replacement, in a state.
func offer(state incident.OfferState, p remedy.Plan, minute int) incident.Offer {
	return incident.Offer{
		Plan: p, Hash: p.Hash(), Policy: optin.Approve, State: state, Made: incidenttest.At(minute), Expires: incidenttest.At(minute + 60),
	}
}

func run(result action.Status, ended int) *remedy.Run {
	r := &remedy.Run{ID: "d0", Began: incidenttest.At(ended - 1), Ended: incidenttest.At(ended), Result: result}
	if result == "" {
		r.Ended = time.Time{}
	}
	return r
}

func with(inc incident.Incident, offers ...incident.Offer) incident.Incident {
	inc = inc.Clone()
	inc.Offers = offers
	return inc
}

// What a proposal makes of the offers that there are.
func TestWhatAProposalChanges(t *testing.T) {
	nat, other := incidenttest.RoutePlan("nat-0aa4"), incidenttest.RoutePlan("nat-0bb5")
	broken := incidenttest.Broken(t)
	auto := func(o incident.Offer) incident.Offer {
		o.Policy, o.Decided = optin.Auto, o.Made
		return o
	}
	begun := func(o incident.Offer, result action.Status) incident.Offer { o.Run = run(result, 5); return o }
	none := report.Proposal{ID: "p2", At: incidenttest.At(9), Key: incidenttest.TheRoute, Remedy: optin.AddNATRoute, Says: "there is no gateway"}
	quiet := none
	quiet.Says = ""
	why := func(says string) incident.Offer {
		return incident.Offer{Plan: remedy.Plan{Remedy: optin.AddNATRoute}, State: incident.Outdated, Made: incidenttest.At(3), Says: says}
	}
	unbounded := incidenttest.Proposal("p2", 9, nat, optin.Approve)
	unbounded.Lasts = 0
	for name, test := range map[string]struct {
		inc    incident.Incident
		p      report.Proposal
		reason incident.Reason
		change func(*incident.Incident)
	}{
		"the policy's plan again":           {with(broken, auto(offer(incident.Approved, nat, 3))), incidenttest.Proposal("p2", 9, nat, optin.Auto), incident.NothingNew, nil},
		"another while the policy's is run": {with(broken, begun(auto(offer(incident.Approved, nat, 3)), "")), incidenttest.Proposal("p2", 9, other, optin.Approve), incident.NothingNew, nil},
		"another in the place of the policy's, whose time is over": {with(broken, auto(offer(incident.Approved, nat, 3))), incidenttest.Proposal("p2", 70, other, optin.Approve), incident.IsProposed,
			func(i *incident.Incident) {
				i.Offers[0].State, i.Offers[0].Says = incident.Outdated, "another plan took its place"
				i.Offers = append(i.Offers, offer(incident.Offered, other, 70))
				o := i.Offers[1]
				i.AddNote(incident.IsProposed, incidenttest.At(70)).Offer = &o
			}},
		"another, whose time nobody looked at": {with(broken, offer(incident.Offered, nat, 3)), incidenttest.Proposal("p2", 70, other, optin.Approve), incident.IsProposed,
			func(i *incident.Incident) {
				i.Offers[0].State = incident.Expired
				i.Offers = append(i.Offers, offer(incident.Offered, other, 70))
				o := i.Offers[1]
				i.AddNote(incident.IsProposed, incidenttest.At(70)).Offer = &o
			}},
		"the same after its time is no news": {with(broken, offer(incident.Offered, nat, 3)), incidenttest.Proposal("p2", 70, nat, optin.Approve), incident.IsProposed,
			func(i *incident.Incident) {
				i.Offers[0].State = incident.Expired
				i.Offers = append(i.Offers, offer(incident.Offered, nat, 70))
			}},
		"one that does not say how long it lasts": {broken, unbounded, incident.IsProposed, func(i *incident.Incident) {
			i.Offers = []incident.Offer{offer(incident.Offered, nat, 9)}
			o := i.Offers[0]
			i.AddNote(incident.IsProposed, incidenttest.At(9)).Offer = &o
		}},
		"beside what there is of another remedy": {with(broken, begun(offer(incident.Approved, replacePlan("i-1"), 20), "")), incidenttest.Proposal("p2", 9, nat, optin.Approve), incident.IsProposed,
			func(i *incident.Incident) {
				i.Offers = append(i.Offers, offer(incident.Offered, nat, 9))
				o := i.Offers[1]
				i.AddNote(incident.IsProposed, incidenttest.At(9)).Offer = &o
			}},
		"what helped before":                    {with(broken, offer(incident.Helped, nat, 3)), incidenttest.Proposal("p2", 9, nat, optin.Approve), incident.NothingNew, nil},
		"what did not help":                     {with(broken, offer(incident.Unhelpful, nat, 3)), incidenttest.Proposal("p2", 9, nat, optin.Approve), incident.NothingNew, nil},
		"what nobody knows whether it was done": {with(broken, begun(offer(incident.Acted, nat, 3), action.Uncertain)), incidenttest.Proposal("p2", 9, nat, optin.Approve), incident.NothingNew, nil},

		"taken back": {with(broken, offer(incident.Offered, nat, 3)), none, incident.IsOutdated, func(i *incident.Incident) {
			i.Offers[0].State, i.Offers[0].Says = incident.Outdated, none.Says
		}},
		"taken back, after another was done": {with(broken, begun(offer(incident.Acted, other, 2), action.Done), offer(incident.Offered, nat, 3)), none, incident.IsOutdated, func(i *incident.Incident) {
			i.Offers[1].State, i.Offers[1].Says = incident.Outdated, none.Says
		}},
		"a wait taken back": {with(broken, offer(incident.Deferred, nat, 3)), none, incident.IsOutdated, func(i *incident.Incident) {
			i.Offers[0].State, i.Offers[0].Says = incident.Outdated, none.Says
		}},
		"a wait taken back, after a part was done": {with(broken, begun(offer(incident.Acted, other, 2), action.Done), offer(incident.Deferred, nat, 3)), none, incident.IsOutdated, func(i *incident.Incident) {
			i.Offers = i.Offers[:1]
		}},
		"why there is none":                {broken, none, incident.IsOutdated, func(i *incident.Incident) { o := why(none.Says); o.Made = none.At; i.Offers = []incident.Offer{o} }},
		"there is none, and nobody says":   {broken, quiet, incident.NothingNew, nil},
		"there is none, for another cause": {with(broken, why("not opted in")), none, incident.IsOutdated, func(i *incident.Incident) { i.Offers[0].Says = none.Says }},
		"there is none, as before":         {with(broken, why(none.Says)), none, incident.NothingNew, nil},
		"there is none, nor any news":      {with(broken, why("not opted in")), quiet, incident.NothingNew, nil},
		"there is none after a run":        {with(broken, begun(offer(incident.Acted, nat, 3), action.Done)), none, incident.NothingNew, nil},
		"older than what is known":         {with(broken, offer(incident.Offered, nat, 30)), incidenttest.Proposal("p2", 9, other, optin.Approve), incident.OutOfDate, nil},
		"as old as what is known":          {with(broken, offer(incident.Offered, nat, 9)), incidenttest.Proposal("p2", 9, other, optin.Approve), incident.OutOfDate, nil},
		"renewed":                          {with(broken, offer(incident.Offered, nat, 3)), incidenttest.Proposal("p2", 9, nat, optin.Approve), incident.IsRenewed, func(i *incident.Incident) { i.Offers[0].Expires = incidenttest.At(69) }},
	} {
		change := test.change
		if change != nil {
			change = func(i *incident.Incident) { test.change(i); i.Applied = append(i.Applied, "p2") }
		}
		becomes(t, name, test.inc, propose(test.p), test.reason, change)
	}
}

// A plan may be as large as an incident can keep, and no larger.
func TestHowLargeAPlanMayBe(t *testing.T) {
	const most = 16 << 10
	p := incidenttest.RoutePlan("")
	p.Route.NAT = strings.Repeat("n", most-len(incidenttest.Encoded(t, p)))
	if n := len(incidenttest.Encoded(t, p)); n != most {
		t.Fatalf("%d bytes", n)
	}
	if d := propose(incidenttest.Proposal("p1", 2, p, optin.Approve))(incidenttest.Broken(t)); d.Reason != incident.IsProposed {
		t.Errorf("of 16 KB: %q", d.Reason)
	}
	p.Route.NAT += "n"
	if d := propose(incidenttest.Proposal("p1", 2, p, optin.Approve))(incidenttest.Broken(t)); d.Reason != incident.IsMalformed || d.Changed {
		t.Errorf("of one byte more: %q", d.Reason)
	}
}

// An offer that ran out can be had again: a fresh look is asked for, and nothing of the
// old yes or its time is kept. What never was, stands, was refused or was of an earlier
// opening is not made again.
func TestOfferAgain(t *testing.T) {
	after := 70 // minutes; the offer of minute 2 lasts an hour
	ran := func(change func(*incident.Incident)) incident.Incident {
		inc := response.Tick(incidenttest.Proposed(t), incidenttest.At(after), incidenttest.Policy).Incident
		if change != nil {
			change(&inc)
		}
		return inc
	}
	for name, test := range map[string]struct {
		inc  incident.Incident
		who  response.Who
		want incident.AnswerReason
	}{
		"it ran out":                  {ran(nil), incidenttest.May, incident.AnswerOffering},
		"it ran out, and none ticked": {incidenttest.Proposed(t), incidenttest.May, incident.AnswerOffering},
		"by no responder":             {ran(nil), response.Who{}, incident.NotResponder},
		"asked a moment ago":          {ran(func(i *incident.Incident) { i.Asked = incidenttest.At(after) }), incidenttest.May, incident.AskedJustNow},
		"there never was one":         {incidenttest.Broken(t), incidenttest.May, incident.NothingRanOut},
		"a person refused it":         {ran(func(i *incident.Incident) { i.Offers[0].State = incident.RefusedByUs }), incidenttest.May, incident.NothingRanOut},
		"it was done":                 {ran(func(i *incident.Incident) { i.Offers[0].State = incident.Helped }), incidenttest.May, incident.NothingRanOut},
		"the cause is gone":           {ran(func(i *incident.Incident) { i.State = incident.Cleared }), incidenttest.May, incident.NothingRanOut},
		"of an earlier opening":       {ran(func(i *incident.Incident) { i.Offers[0].Made = i.Opened.Add(-1) }), incidenttest.May, incident.NothingRanOut},
		"another took its place": {ran(func(i *incident.Incident) {
			o := i.Offers[0]
			o.State = incident.Outdated
			i.Offers = append(i.Offers, o)
		}), incidenttest.May, incident.NothingRanOut},
	} {
		test.inc.PendingEvents = nil
		d, a := response.Act(test.inc, incidenttest.Press(report.OfferAgain, after), test.who, incidenttest.At(after))
		if a.Reason != test.want {
			t.Errorf("%s: %s, want %s", name, a.Reason, test.want)
		}
		woken := len(d.Incident.PendingEvents) == 1 && d.Incident.PendingEvents[0].Reason == incident.IsDue
		if woken != (test.want == incident.AnswerOffering) {
			t.Errorf("%s: told %+v", name, d.Incident.PendingEvents)
		}
		for i, o := range d.Incident.Offers {
			if o.State != test.inc.Offers[i].State || !o.Expires.Equal(test.inc.Offers[i].Expires) {
				t.Errorf("%s: the press itself makes the offer %s until %s", name, o.State, o.Expires)
			}
		}
	}
	// Check again does the same beside its own.
	inc := ran(nil)
	inc.PendingEvents = nil
	d, _ := response.Act(inc, incidenttest.Press(report.CheckAgain, after), incidenttest.May, incidenttest.At(after))
	if len(d.Incident.PendingEvents) != 2 || d.Incident.PendingEvents[0].Reason != incident.IsAsked || d.Incident.PendingEvents[1].Reason != incident.IsDue {
		t.Errorf("a check tells %+v, want that it is wanted, and that a plan is due", d.Incident.PendingEvents)
	}
	// The fresh plan has its own time, and the old button its own answer.
	again := response.Propose(ran(nil), incidenttest.Proposal("again", after, incidenttest.RoutePlan("nat-0aa4"), optin.Approve), incidenttest.At(after))
	if o := again.Incident.LastOffer(incident.Offered); again.Reason != incident.IsProposed || o == nil || !o.Expires.After(incidenttest.At(after)) {
		t.Errorf("%s, offers %+v", again.Reason, again.Incident.Offers)
	}
	if _, a := response.Act(again.Incident, incidenttest.Press(report.ApprovePlan, after-5), incidenttest.May, incidenttest.At(after+1)); a.Reason != incident.PlanExpired {
		t.Errorf("the button of the offer that ran out: %s, want %s", a.Reason, incident.PlanExpired)
	}
}
