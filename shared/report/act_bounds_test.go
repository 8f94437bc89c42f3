package report

import (
	"github.com/google/go-cmp/cmp"
	"testing"
	"time"

	"rollcall/shared/plan"
)

// replacing is the route incident, cleared, with a replacement offered.
func replacing(t *testing.T) (Incident, plan.Plan) {
	t.Helper()
	inc := broken(t)
	inc.State, inc.Cleared = Cleared, at(4)
	p := routePlan("nat-0aa4")
	p.Remedy, p.Route = plan.ReplaceInstance, nil
	p.Replace = &plan.Replace{Instances: []plan.Replaced{{Instance: "i-1", Group: "eks-workers"}}}
	d := Propose(inc, proposal("p1", 5, p, plan.Approve), at(5))
	if d.Reason != IsProposed {
		t.Fatalf("the plan is %q", d.Reason)
	}
	return d.Incident, p
}

// What may be done in a cleared incident: its replacement approved, and any
// plan refused.
func TestPressesOnAClearedIncident(t *testing.T) {
	inc, p := replacing(t)
	yes := press(ApprovePlan, 6)
	yes.Plan = p.Hash()
	if d, a := Act(inc, yes, may, at(6)); a.Reason != AnswerApproved || d.Reason != IsApproved {
		t.Errorf("a replacement is answered %+v", a)
	}
	gone := proposed(t)
	gone.State, gone.Cleared = Cleared, at(4)
	if _, a := Act(gone, press(ApprovePlan, 6), may, at(6)); a.Reason != CauseIsGone {
		t.Errorf("the plan of a cause that is gone is answered %+v", a)
	}
	if _, a := Act(gone, press(RefusePlan, 6), may, at(6)); a.Reason != AnswerRefused {
		t.Errorf("a no is answered %+v", a)
	}
}

// Why an offer cannot be approved is said as it is.
func TestOffersThatAreOver(t *testing.T) {
	with := func(change func(*Offer)) Incident {
		inc := proposed(t)
		change(&inc.Offers[0])
		return inc
	}
	for name, test := range map[string]struct {
		inc  Incident
		now  int
		want AnswerReason
	}{
		"expired":                        {with(func(o *Offer) { o.State = Expired }), 5, PlanExpired},
		"approved, and over since":       {with(func(o *Offer) { o.State, o.By = Approved, stranger }), 200, AlreadyDecided},
		"acted":                          {with(func(o *Offer) { o.State = Acted }), 5, AlreadyDecided},
		"refused":                        {with(func(o *Offer) { o.State, o.By = RefusedByUs, stranger }), 5, AlreadyDecided},
		"outdated":                       {with(func(o *Offer) { o.State = Outdated }), 5, PlanChanged},
		"another plan in its record":     {with(func(o *Offer) { o.Plan = routePlan("nat-evil") }), 5, PlanChanged},
		"a state that is not known":      {with(func(o *Offer) { o.State = "resting" }), 5, AlreadyDecided},
		"it was pressed before it stood": {with(func(o *Offer) { o.Made = at(6) }), 5, PlanChanged},
	} {
		before := len(test.inc.Untold)
		if d, a := Act(test.inc, press(ApprovePlan, 5), may, at(test.now)); a.Reason != test.want || len(d.Incident.Untold) != before {
			t.Errorf("%s: %+v, want %s; %d events", name, a, test.want, len(d.Incident.Untold)-before)
		}
	}
	// An offer that only says why there is no plan has no hash; no press has it.
	none := broken(t)
	none.Offers = []Offer{{Plan: plan.Plan{Remedy: plan.AddNATRoute}, State: Outdated, Made: at(2), Says: "no gateway"}}
	empty := press(ApprovePlan, 5)
	empty.Plan = ""
	if _, a := Act(none, empty, may, at(5)); a.Reason != NoSuchPlan {
		t.Errorf("no plan: %+v", a)
	}
}

// The plan is the same, the opening is not: what was offered before counts for
// nothing after.
func TestTheSamePlanOfAnotherOpening(t *testing.T) {
	inc := proposed(t)
	inc.Number, inc.Opened = 2, at(10)
	old := press(ApprovePlan, 11)
	if _, a := Act(inc, old, may, at(11)); a.Reason != EarlierOpening {
		t.Errorf("the button of the first opening: %+v", a)
	}
	old.Number = 0
	old.At = at(9)
	if _, a := Act(inc, old, may, at(11)); a.Reason != EarlierOpening {
		t.Errorf("a button without a number, pressed before: %+v", a)
	}
	old.Number, old.At = 2, at(11)
	if d, a := Act(inc, old, may, at(11)); a.Reason != PlanChanged || len(d.Incident.Untold) != len(inc.Untold) {
		t.Errorf("a button of this opening, for an offer of the first: %+v", a)
	}
}

// A press that was a dead letter until its offer's time was over is told so, also
// where the same plan, or another, is offered by then; and the new one is not
// approved by it.
func TestAPressReadAfterItsOfferRanOut(t *testing.T) {
	old := press(ApprovePlan, 5) // of the offer of minute 2, which ends at 62
	for name, nat := range map[string]string{"the same plan": "nat-0aa4", "another plan": "nat-0bb5"} {
		renewed := Propose(proposed(t), proposal("p2", 70, routePlan(nat), plan.Approve), at(70)).Incident
		if o := renewed.Offers; len(o) != 2 || o[0].State != Expired || o[1].State != Offered {
			t.Fatalf("%s: %+v", name, o)
		}
		d, a := Act(renewed, old, may, at(71))
		if diff := cmp.Diff(Answer{Reason: PlanExpired, Until: at(62), Remedy: plan.AddNATRoute, State: Expired}, a); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if o := d.Incident.Offers; o[1].State != Offered || len(d.Incident.Untold) != len(renewed.Untold) {
			t.Errorf("%s: the new offer is %s", name, o[1].State)
		}
	}
	again := Propose(proposed(t), proposal("p2", 70, routePlan("nat-0aa4"), plan.Approve), at(70)).Incident
	if _, a := Act(again, press(ApprovePlan, 71), may, at(72)); a.Reason != AnswerApproved {
		t.Errorf("the new offer's own press: %+v", a)
	}
	older := press(ApprovePlan, 1)
	if _, a := Act(again, older, may, at(72)); a.Reason != PlanChanged {
		t.Errorf("a press before any offer: %+v", a)
	}
	again.Opened = at(65) // what ran out was of an earlier opening
	old.At, old.Number = at(66), 0
	if _, a := Act(again, old, may, at(72)); a.Reason != PlanChanged {
		t.Errorf("of an earlier opening: %+v", a)
	}
}

func TestTimesThatAreAllowed(t *testing.T) {
	for _, length := range []time.Duration{time.Hour, 4 * time.Hour, 24 * time.Hour} {
		p := press(MuteFor, 5)
		p.For = length
		if d, a := Act(broken(t), p, may, at(5)); a.Reason != AnswerMuted || !a.Until.Equal(at(5).Add(length)) || !d.Incident.Said.Behind {
			t.Errorf("%s: %+v", length, a)
		}
	}
	inc := broken(t)
	inc.Asked = at(4)
	if _, a := Act(inc, press(CheckAgain, 5), may, at(5)); a.Reason != AnswerChecking {
		t.Errorf("asked a minute ago: %+v", a)
	}
	unnumbered := press(Acknowledge, 5)
	unnumbered.Number = 0
	if _, a := Act(broken(t), unnumbered, may, at(5)); a.Reason != AnswerAcknowledged {
		t.Errorf("a button that does not say of which opening it is: %+v", a)
	}
	inc = broken(t)
	inc.Said.Behind = false
	if d, _ := Act(inc, press(Acknowledge, 5), may, at(5)); !d.Incident.Said.Behind {
		t.Error("who acknowledged is not shown")
	}
}

// What the same plan, sent again, makes of an offer that stands.
func TestTheSamePlanAgain(t *testing.T) {
	inc := proposed(t)
	d := Propose(inc, proposal("p2", 6, routePlan("nat-0aa4"), plan.Auto), at(6))
	if o := d.Incident.Offers; len(o) != 2 || o[0].State != Outdated || o[1].State != Approved || o[1].Policy != plan.Auto {
		t.Errorf("by a policy that is auto by now: %q, %+v", d.Reason, o)
	}
	d = Propose(inc, proposal("p2", 70, routePlan("nat-0aa4"), plan.Approve), at(70))
	if o := d.Incident.Offers; d.Reason != IsProposed || len(o) != 2 || o[0].State == Offered || o[1].State != Offered {
		t.Errorf("after its time: %q, %+v", d.Reason, o)
	}
	gone := inc.clone()
	gone.State, gone.Cleared = Cleared, at(4)
	back := Propose(gone, Proposal{ID: "p4", At: at(30), Key: theRoute, Remedy: plan.AddNATRoute, Says: "nat-0aa4 is gone"}, at(30))
	if back.Reason != IsOutdated {
		t.Errorf("taken back while the incident is cleared: %q", back.Reason)
	}
}
