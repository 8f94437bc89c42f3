package response_test

import (
	"slices"
	"testing"

	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/incident/response"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/remedy/replaceinstance"
	"rollcall/shared/report"
)

func replacePlan(ids ...string) remedy.Plan {
	p := incidenttest.RoutePlan("")
	p.Remedy, p.Route, p.Replace = optin.ReplaceInstance, nil, &replaceinstance.Plan{}
	for _, id := range ids {
		p.Replace.Instances = append(p.Replace.Instances, replaceinstance.Replaced{Instance: id, Group: "workers"})
	}
	return p
}

// healed is the route incident whose cause is gone since minute 2.
func healed(t *testing.T) incident.Incident {
	t.Helper()
	inc := incidenttest.Look(incidenttest.Broken(t), 2, incidenttest.Passed("route/no-egress", incidenttest.Subnet))
	if inc.State != incident.Cleared {
		t.Fatalf("it is %s", inc.State)
	}
	return inc
}

func waits(id string, minute, after int, policy optin.Policy, why string) report.Proposal {
	p := incidenttest.Proposal(id, minute, replacePlan("i-1"), policy)
	p.Reason, p.Says, p.After = why, "The limit of 3 an hour is reached.", incidenttest.At(after)
	return p
}

func tick(inc incident.Incident, minute int) incident.Decision {
	return response.Tick(inc, incidenttest.At(minute), incidenttest.Policy)
}

func due(inc incident.Incident) (n int) {
	for _, e := range inc.PendingEvents {
		if e.Reason == incident.IsDue && e.Kind == incident.EventChanged {
			n++
		}
	}
	return n
}

// The bus is told once when the time has come, and not before.
func TestDeferredIsWokenOnce(t *testing.T) {
	d := response.Propose(healed(t), waits("w1", 6, 50, optin.Auto, report.LimitReached), incidenttest.At(6))
	inc := d.Incident
	if o := inc.Offers[0]; d.Reason != incident.IsDeferred || len(inc.Offers) != 1 || o.State != incident.Deferred || !o.After.Equal(incidenttest.At(50)) || len(inc.Acts) != 0 {
		t.Fatalf("%q, %+v", d.Reason, inc.Offers)
	}
	if n := inc.Delivery.Notes[len(inc.Delivery.Notes)-1]; n.Reason != incident.IsDeferred || n.Offer == nil {
		t.Errorf("the thread has %+v", n)
	}
	if again := response.Propose(inc, waits("w1", 6, 50, optin.Auto, report.LimitReached), incidenttest.At(7)); again.Reason != incident.AlreadyApplied {
		t.Errorf("told twice: %q", again.Reason)
	}
	if d := tick(inc, 49); d.Changed {
		t.Errorf("too early: %q", d.Reason)
	}
	d = tick(inc, 50)
	if d.Reason != incident.IsDue || due(d.Incident) != 1 {
		t.Fatalf("%q, %+v", d.Reason, d.Incident.PendingEvents)
	}
	woken := d.Incident
	if d := tick(woken, 55); d.Changed {
		t.Errorf("woken twice: %q", d.Reason)
	}
	// The limit is still full: another time, one offer, and no second note.
	later := response.Propose(woken, waits("w2", 51, 80, optin.Auto, report.LimitReached), incidenttest.At(51)).Incident
	if o := later.Offers; len(o) != 1 || !o[0].After.Equal(incidenttest.At(80)) || !o[0].Woken.IsZero() || len(later.Delivery.Notes) != len(woken.Delivery.Notes) {
		t.Errorf("still full: %+v, notes %d, were %d", o, len(later.Delivery.Notes), len(woken.Delivery.Notes))
	}
	if d := tick(later, 80); d.Reason != incident.IsDue {
		t.Errorf("the second time: %q", d.Reason)
	}
	// Nobody answers: it ends.
	if d := tick(woken, 65); d.Reason != incident.IsOutdated || d.Incident.Offers[0].State != incident.Outdated {
		t.Errorf("nothing is heard of it: %q, %+v", d.Reason, d.Incident.Offers)
	}
}

// Nothing waits where the remedy is not needed any more, and no wait is a loop.
func TestDeferredEnds(t *testing.T) {
	inc := response.Propose(healed(t), waits("w1", 6, 50, optin.Auto, report.LimitReached), incidenttest.At(6)).Incident
	back := incidenttest.Look(inc, 8, incidenttest.Route("i-1"))
	if back.State != incident.Open || back.Offers[0].State != incident.Outdated {
		t.Errorf("the cause is back: %s, %+v", back.State, back.Offers)
	}
	if d := tick(back, 50); due(d.Incident) != 0 {
		t.Error("woken though the cause is back")
	}
	closed := inc.Clone()
	closed.State, closed.Resolved = incident.Closed, incidenttest.At(9)
	if d := tick(closed, 50); due(d.Incident) != 0 {
		t.Error("woken though it is closed")
	}
	for name, p := range map[string]struct {
		inc incident.Incident
		p   report.Proposal
	}{
		"closed":    {closed, waits("w2", 10, 50, optin.Auto, report.LimitReached)},
		"the cause": {incidenttest.Broken(t), waits("w2", 10, 50, optin.Auto, report.LimitReached)},
		"another one": {inc, func() report.Proposal {
			p := waits("w2", 10, 50, optin.Auto, report.LimitReached)
			p.Hash = incidenttest.RoutePlan("x").Hash()
			return p
		}()},
		"older": {inc, waits("w2", 5, 50, optin.Auto, report.LimitReached)},
	} {
		if d := response.Propose(p.inc, p.p, incidenttest.At(10)); d.Changed {
			t.Errorf("%s: %q, %+v", name, d.Reason, d.Incident.Offers)
		}
	}
	for after, want := range map[int]int{8: 8, 6: 7, -100: 7, 100000: 126} {
		p := waits("w3", 6, after, optin.Auto, report.LimitReached)
		if got := response.Propose(healed(t), p, incidenttest.At(6)).Incident.Offers[0].After; !got.Equal(incidenttest.At(want)) {
			t.Errorf("after minute %d: woken at %s", after, got)
		}
	}
	off := report.Proposal{ID: "off", At: incidenttest.At(7), Key: incidenttest.TheRoute, Remedy: optin.ReplaceInstance, Reason: "policy-off", Says: "The remedy is switched off by now."}
	if d := response.Propose(inc, off, incidenttest.At(7)); d.Incident.Offers[0].State != incident.Outdated || due(tick(d.Incident, 50).Incident) != 0 {
		t.Errorf("switched off: %+v", d.Incident.Offers)
	}
}

// A person's yes that the limit refused is used up; the button comes again.
func TestRefusedByTheLimitIsOfferedAgain(t *testing.T) {
	p := replacePlan("i-1")
	inc := response.Propose(healed(t), incidenttest.Proposal("p1", 6, p, optin.Approve), incidenttest.At(6)).Incident
	yes := incidenttest.Press(report.ApprovePlan, 7)
	yes.Plan = p.Hash()
	d, a := response.Act(inc, yes, incidenttest.May, incidenttest.At(7))
	if a.Reason != incident.AnswerApproved {
		t.Fatalf("%+v", a)
	}
	told := report.RemedyResult{ID: "deed/1", At: incidenttest.At(8), Cluster: incidenttest.Cluster, Key: incidenttest.TheRoute, Run: remedy.Run{
		Format: 1, ID: "d1", Plan: p, Hash: p.Hash(), Policy: optin.Approve, ApprovedBy: incidenttest.Oncall.ID, Approved: incidenttest.At(7), Began: incidenttest.At(8), Ended: incidenttest.At(8),
		Result: action.Refused, Reason: report.LimitReached, Says: "full", Next: &remedy.Next{At: incidenttest.At(40), Reason: report.LimitReached, Says: "full"},
	}}
	inc = response.ApplyRemedyResult(d.Incident, told, incidenttest.At(8)).Incident
	if o := inc.Offers; len(o) != 2 || o[0].State != incident.Acted || o[1].State != incident.Deferred || o[1].Hash != p.Hash() || o[1].Policy != optin.Approve {
		t.Fatalf("%+v", o)
	}
	again := yes
	again.ID, again.At = "press-2", incidenttest.At(9)
	if _, a := response.Act(inc, again, incidenttest.May, incidenttest.At(9)); a.Reason != incident.NotNow || !a.Until.Equal(incidenttest.At(40)) {
		t.Errorf("pressed before its time: %+v", a)
	}
	d = tick(inc, 40)
	if due(d.Incident) != 1 {
		t.Fatalf("%q", d.Reason)
	}
	d = response.Propose(d.Incident, incidenttest.Proposal("p2", 41, p, optin.Approve), incidenttest.At(41))
	o := d.Incident.Offers
	if d.Reason != incident.IsProposed || len(o) != 2 || o[1].State != incident.Offered || !o[1].Again || d.Incident.Delivery.Notes[len(d.Incident.Delivery.Notes)-1].Reason != incident.IsProposed {
		t.Fatalf("%q, %+v", d.Reason, o)
	}
	again.ID, again.At = "press-3", incidenttest.At(42)
	if _, a := response.Act(d.Incident, again, incidenttest.May, incidenttest.At(42)); a.Reason != incident.AnswerApproved {
		t.Errorf("the new button: %+v", a)
	}
}

// While instances wait for the limit the incident is not over, though a node
// joined; without the wait it is, and a day later in any case.
func TestReplacingIsNotOver(t *testing.T) {
	joins := []func(*report.Observation){incidenttest.Passed("route/no-egress", incidenttest.Subnet), incidenttest.Launched("i-9", 8, report.Joined), incidenttest.ReadyAt(9), incidenttest.InSubnet(incidenttest.Subnet)}
	over := incidenttest.Look(healed(t), 10, joins...)
	inc := response.Propose(healed(t), waits("w1", 6, 50, optin.Auto, report.LimitReached), incidenttest.At(6)).Incident
	held := incidenttest.Look(inc, 10, joins...)
	if over.State != incident.Closed || held.State != incident.Cleared {
		t.Fatalf("without a wait %s, with it %s", over.State, held.State)
	}
	none := report.Proposal{ID: "none", At: incidenttest.At(51), Key: incidenttest.TheRoute, Remedy: optin.ReplaceInstance, Reason: "nothing-to-do", Says: "No instance is left."}
	if free := incidenttest.Look(response.Propose(held, none, incidenttest.At(51)).Incident, 55, incidenttest.Passed("route/no-egress", incidenttest.Subnet)); free.State != incident.Closed || free.Resolution != incident.Proved {
		t.Errorf("nothing is left, and it is %s, %s", free.State, free.Resolution)
	}
	blind := response.Propose(healed(t), waits("w1", 6, 11, optin.Auto, string(action.CouldNotLook)), incidenttest.At(6)).Incident
	if got := incidenttest.Look(blind, 10, joins...); got.State != incident.Closed {
		t.Errorf("a look that fails keeps it %s", got.State)
	}
	// What was done is what the end tells of, not what it waited for.
	done := incident.Offer{Plan: replacePlan("i-1"), State: incident.Acted, Made: incidenttest.At(5), Run: &remedy.Run{ID: "d", Result: action.Done, Began: incidenttest.At(5), Ended: incidenttest.At(6)}}
	blind.Offers = append([]incident.Offer{done}, blind.Offers...)
	if got := incidenttest.Look(blind, 10, joins...); len(got.Offers) != 1 || got.Offers[0].Run == nil {
		t.Errorf("the end tells of %+v", got.Offers)
	}
	late := held.Clone()
	late.Cleared = late.Cleared.Add(-incident.ReplacementWait)
	if got := incidenttest.Look(late, 60, incidenttest.Passed("route/no-egress", incidenttest.Subnet)); got.State != incident.Closed {
		t.Errorf("a day later it is %s", got.State)
	}
}

// What is replaced in many parts keeps its newest runs, and what waits.
func TestManyPartsStayFew(t *testing.T) {
	inc := healed(t)
	for n := range 20 {
		id := string(rune('a' + n))
		p := replacePlan("i-" + id)
		minute := 6 + n*62
		inc = response.Propose(inc, incidenttest.Proposal("p"+id, minute, p, optin.Auto), incidenttest.At(minute)).Incident
		inc = response.ApplyRemedyResult(inc, report.RemedyResult{ID: "deed/" + id, At: incidenttest.At(minute + 1), Key: incidenttest.TheRoute, Run: remedy.Run{
			Format: 1, ID: id, Plan: p, Hash: p.Hash(), Policy: optin.Auto, Began: incidenttest.At(minute), Ended: incidenttest.At(minute + 1), Result: action.Done,
			Next: &remedy.Next{At: incidenttest.At(minute + 62), Reason: report.LimitReached, Says: "more"},
		}}, incidenttest.At(minute+1)).Incident
		if len(inc.Offers) > incident.MaxOffers || inc.Offers[len(inc.Offers)-1].State != incident.Deferred {
			t.Fatalf("part %d: %d offers, the last %s", n, len(inc.Offers), inc.Offers[len(inc.Offers)-1].State)
		}
		if d := tick(inc, minute+62); due(d.Incident) == 0 {
			t.Fatalf("part %d is not woken: %q", n, d.Reason)
		}
	}
	if !slices.ContainsFunc(inc.Offers, func(o incident.Offer) bool { return o.Run != nil && o.Run.ID == "t" }) {
		t.Error("the newest run is forgotten")
	}
}
