package report

import (
	"slices"
	"testing"

	"rollcall/shared/plan"
)

func replacePlan(ids ...string) plan.Plan {
	p := routePlan("")
	p.Remedy, p.Route, p.Replace = plan.ReplaceInstance, nil, &plan.Replace{}
	for _, id := range ids {
		p.Replace.Instances = append(p.Replace.Instances, plan.Replaced{Instance: id, Group: "workers"})
	}
	return p
}

// healed is the route incident whose cause is gone since minute 2.
func healed(t *testing.T) Incident {
	t.Helper()
	inc := look(broken(t), 2, passed("route/no-egress", subnet))
	if inc.State != Cleared {
		t.Fatalf("it is %s", inc.State)
	}
	return inc
}

func waits(id string, minute, after int, policy plan.Policy, why string) Proposal {
	p := proposal(id, minute, replacePlan("i-1"), policy)
	p.Reason, p.Says, p.After = why, "The limit of 3 an hour is reached.", at(after)
	return p
}

func tick(inc Incident, minute int) Decision { return Tick(inc, at(minute), policy) }

func due(inc Incident) (n int) {
	for _, e := range inc.Untold {
		if e.Reason == IsDue && e.Kind == EventChanged {
			n++
		}
	}
	return n
}

// The bus is told once when the time has come, and not before.
func TestDeferredIsWokenOnce(t *testing.T) {
	d := Propose(healed(t), waits("w1", 6, 50, plan.Auto, LimitReached), at(6))
	inc := d.Incident
	if o := inc.Offers[0]; d.Reason != IsDeferred || len(inc.Offers) != 1 || o.State != Deferred || !o.After.Equal(at(50)) || len(inc.Acts) != 0 {
		t.Fatalf("%q, %+v", d.Reason, inc.Offers)
	}
	if n := inc.Said.Notes[len(inc.Said.Notes)-1]; n.Reason != IsDeferred || n.Offer == nil {
		t.Errorf("the thread has %+v", n)
	}
	if again := Propose(inc, waits("w1", 6, 50, plan.Auto, LimitReached), at(7)); again.Reason != AlreadyApplied {
		t.Errorf("told twice: %q", again.Reason)
	}
	if d := tick(inc, 49); d.Changed {
		t.Errorf("too early: %q", d.Reason)
	}
	d = tick(inc, 50)
	if d.Reason != IsDue || due(d.Incident) != 1 {
		t.Fatalf("%q, %+v", d.Reason, d.Incident.Untold)
	}
	woken := d.Incident
	if d := tick(woken, 55); d.Changed {
		t.Errorf("woken twice: %q", d.Reason)
	}
	// The limit is still full: another time, one offer, and no second note.
	later := Propose(woken, waits("w2", 51, 80, plan.Auto, LimitReached), at(51)).Incident
	if o := later.Offers; len(o) != 1 || !o[0].After.Equal(at(80)) || !o[0].Woken.IsZero() || len(later.Said.Notes) != len(woken.Said.Notes) {
		t.Errorf("still full: %+v, notes %d, were %d", o, len(later.Said.Notes), len(woken.Said.Notes))
	}
	if d := tick(later, 80); d.Reason != IsDue {
		t.Errorf("the second time: %q", d.Reason)
	}
	// Nobody answers: it ends.
	if d := tick(woken, 65); d.Reason != IsOutdated || d.Incident.Offers[0].State != Outdated {
		t.Errorf("nothing is heard of it: %q, %+v", d.Reason, d.Incident.Offers)
	}
}

// Nothing waits where the remedy is not needed any more, and no wait is a loop.
func TestDeferredEnds(t *testing.T) {
	inc := Propose(healed(t), waits("w1", 6, 50, plan.Auto, LimitReached), at(6)).Incident
	back := look(inc, 8, route("i-1"))
	if back.State != Open || back.Offers[0].State != Outdated {
		t.Errorf("the cause is back: %s, %+v", back.State, back.Offers)
	}
	if d := tick(back, 50); due(d.Incident) != 0 {
		t.Error("woken though the cause is back")
	}
	closed := inc.clone()
	closed.State, closed.Resolved = Closed, at(9)
	if d := tick(closed, 50); due(d.Incident) != 0 {
		t.Error("woken though it is closed")
	}
	for name, p := range map[string]struct {
		inc Incident
		p   Proposal
	}{
		"closed":    {closed, waits("w2", 10, 50, plan.Auto, LimitReached)},
		"the cause": {broken(t), waits("w2", 10, 50, plan.Auto, LimitReached)},
		"another one": {inc, func() Proposal {
			p := waits("w2", 10, 50, plan.Auto, LimitReached)
			p.Hash = routePlan("x").Hash()
			return p
		}()},
		"older": {inc, waits("w2", 5, 50, plan.Auto, LimitReached)},
	} {
		if d := Propose(p.inc, p.p, at(10)); d.Changed {
			t.Errorf("%s: %q, %+v", name, d.Reason, d.Incident.Offers)
		}
	}
	for after, want := range map[int]int{8: 8, 6: 7, -100: 7, 100000: 126} {
		p := waits("w3", 6, after, plan.Auto, LimitReached)
		if got := Propose(healed(t), p, at(6)).Incident.Offers[0].After; !got.Equal(at(want)) {
			t.Errorf("after minute %d: woken at %s", after, got)
		}
	}
	off := Proposal{ID: "off", At: at(7), Key: theRoute, Remedy: plan.ReplaceInstance, Reason: "policy-off", Says: "The remedy is switched off by now."}
	if d := Propose(inc, off, at(7)); d.Incident.Offers[0].State != Outdated || due(tick(d.Incident, 50).Incident) != 0 {
		t.Errorf("switched off: %+v", d.Incident.Offers)
	}
}

// A person's yes that the limit refused is used up; the button comes again.
func TestRefusedByTheLimitIsOfferedAgain(t *testing.T) {
	p := replacePlan("i-1")
	inc := Propose(healed(t), proposal("p1", 6, p, plan.Approve), at(6)).Incident
	yes := press(ApprovePlan, 7)
	yes.Plan = p.Hash()
	d, a := Act(inc, yes, may, at(7))
	if a.Reason != AnswerApproved {
		t.Fatalf("%+v", a)
	}
	told := DeedTold{ID: "deed/1", At: at(8), Cluster: cluster, Key: theRoute, Deed: plan.Deed{
		Format: 1, ID: "d1", Plan: p, Hash: p.Hash(), Policy: plan.Approve, ApprovedBy: oncall.ID, Approved: at(7), Began: at(8), Ended: at(8),
		Result: plan.Refused, Reason: LimitReached, Says: "full", Next: &plan.Next{At: at(40), Reason: LimitReached, Says: "full"},
	}}
	inc = TakeDeed(d.Incident, told, at(8)).Incident
	if o := inc.Offers; len(o) != 2 || o[0].State != Acted || o[1].State != Deferred || o[1].Hash != p.Hash() || o[1].Policy != plan.Approve {
		t.Fatalf("%+v", o)
	}
	again := yes
	again.ID, again.At = "press-2", at(9)
	if _, a := Act(inc, again, may, at(9)); a.Reason != NotNow || !a.Until.Equal(at(40)) {
		t.Errorf("pressed before its time: %+v", a)
	}
	d = tick(inc, 40)
	if due(d.Incident) != 1 {
		t.Fatalf("%q", d.Reason)
	}
	d = Propose(d.Incident, proposal("p2", 41, p, plan.Approve), at(41))
	o := d.Incident.Offers
	if d.Reason != IsProposed || len(o) != 2 || o[1].State != Offered || !o[1].Again || d.Incident.Said.Notes[len(d.Incident.Said.Notes)-1].Reason != IsProposed {
		t.Fatalf("%q, %+v", d.Reason, o)
	}
	again.ID, again.At = "press-3", at(42)
	if _, a := Act(d.Incident, again, may, at(42)); a.Reason != AnswerApproved {
		t.Errorf("the new button: %+v", a)
	}
}

// While instances wait for the limit the incident is not over, though a node
// joined; without the wait it is, and a day later in any case.
func TestReplacingIsNotOver(t *testing.T) {
	joins := []func(*Observation){passed("route/no-egress", subnet), launched("i-9", 8, Joined), readyAt(9), inSubnet(subnet)}
	over := look(healed(t), 10, joins...)
	inc := Propose(healed(t), waits("w1", 6, 50, plan.Auto, LimitReached), at(6)).Incident
	held := look(inc, 10, joins...)
	if over.State != Closed || held.State != Cleared {
		t.Fatalf("without a wait %s, with it %s", over.State, held.State)
	}
	none := Proposal{ID: "none", At: at(51), Key: theRoute, Remedy: plan.ReplaceInstance, Reason: "nothing-to-do", Says: "No instance is left."}
	if free := look(Propose(held, none, at(51)).Incident, 55, passed("route/no-egress", subnet)); free.State != Closed || free.Ending != Proved {
		t.Errorf("nothing is left, and it is %s, %s", free.State, free.Ending)
	}
	blind := Propose(healed(t), waits("w1", 6, 11, plan.Auto, string(plan.CouldNotLook)), at(6)).Incident
	if got := look(blind, 10, joins...); got.State != Closed {
		t.Errorf("a look that fails keeps it %s", got.State)
	}
	// What was done is what the end tells of, not what it waited for.
	done := Offer{Plan: replacePlan("i-1"), State: Acted, Made: at(5), Deed: &plan.Deed{ID: "d", Result: plan.Done, Began: at(5), Ended: at(6)}}
	blind.Offers = append([]Offer{done}, blind.Offers...)
	if got := look(blind, 10, joins...); len(got.Offers) != 1 || got.Offers[0].Deed == nil {
		t.Errorf("the end tells of %+v", got.Offers)
	}
	late := held.clone()
	late.Cleared = late.Cleared.Add(-oneDay)
	if got := look(late, 60, passed("route/no-egress", subnet)); got.State != Closed {
		t.Errorf("a day later it is %s", got.State)
	}
}

// What is replaced in many parts keeps its newest deeds, and what waits.
func TestManyPartsStayFew(t *testing.T) {
	inc := healed(t)
	for n := range 20 {
		id := string(rune('a' + n))
		p := replacePlan("i-" + id)
		minute := 6 + n*62
		inc = Propose(inc, proposal("p"+id, minute, p, plan.Auto), at(minute)).Incident
		inc = TakeDeed(inc, DeedTold{ID: "deed/" + id, At: at(minute + 1), Key: theRoute, Deed: plan.Deed{
			Format: 1, ID: id, Plan: p, Hash: p.Hash(), Policy: plan.Auto, Began: at(minute), Ended: at(minute + 1), Result: plan.Done,
			Next: &plan.Next{At: at(minute + 62), Reason: LimitReached, Says: "more"},
		}}, at(minute+1)).Incident
		if len(inc.Offers) > MaxOffers || inc.Offers[len(inc.Offers)-1].State != Deferred {
			t.Fatalf("part %d: %d offers, the last %s", n, len(inc.Offers), inc.Offers[len(inc.Offers)-1].State)
		}
		if d := tick(inc, minute+62); due(d.Incident) == 0 {
			t.Fatalf("part %d is not woken: %q", n, d.Reason)
		}
	}
	if !slices.ContainsFunc(inc.Offers, func(o Offer) bool { return o.Deed != nil && o.Deed.ID == "t" }) {
		t.Error("the newest deed is forgotten")
	}
}
