package response_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/incident/response"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/remedy/replaceinstance"
	"rollcall/shared/report"
)

// replacing is the route incident, cleared, with a replacement offered.
func replacing(t *testing.T) (incident.Incident, remedy.Plan) {
	t.Helper()
	inc := incidenttest.Broken(t)
	inc.State, inc.Cleared = incident.Cleared, incidenttest.At(4)
	p := incidenttest.RoutePlan("nat-0aa4")
	p.Remedy, p.Route = optin.ReplaceInstance, nil
	p.Replace = &replaceinstance.Plan{Instances: []replaceinstance.Replaced{{Instance: "i-1", Group: "eks-workers"}}}
	d := response.Propose(inc, incidenttest.Proposal("p1", 5, p, optin.Approve), incidenttest.At(5))
	if d.Reason != incident.IsProposed {
		t.Fatalf("the plan is %q", d.Reason)
	}
	return d.Incident, p
}

// What may be done in a cleared incident: its replacement approved, and any
// plan refused.
func TestPressesOnAClearedIncident(t *testing.T) {
	inc, p := replacing(t)
	yes := incidenttest.Press(report.ApprovePlan, 6)
	yes.Plan = p.Hash()
	if d, a := response.Act(inc, yes, incidenttest.May, incidenttest.At(6)); a.Reason != incident.AnswerApproved || d.Reason != incident.IsApproved {
		t.Errorf("a replacement is answered %+v", a)
	}
	gone := incidenttest.Proposed(t)
	gone.State, gone.Cleared = incident.Cleared, incidenttest.At(4)
	if _, a := response.Act(gone, incidenttest.Press(report.ApprovePlan, 6), incidenttest.May, incidenttest.At(6)); a.Reason != incident.CauseIsGone {
		t.Errorf("the plan of a cause that is gone is answered %+v", a)
	}
	if _, a := response.Act(gone, incidenttest.Press(report.RefusePlan, 6), incidenttest.May, incidenttest.At(6)); a.Reason != incident.AnswerRefused {
		t.Errorf("a no is answered %+v", a)
	}
}

// Why an offer cannot be approved is said as it is.
func TestOffersThatAreOver(t *testing.T) {
	with := func(change func(*incident.Offer)) incident.Incident {
		inc := incidenttest.Proposed(t)
		change(&inc.Offers[0])
		return inc
	}
	for name, test := range map[string]struct {
		inc  incident.Incident
		now  int
		want incident.AnswerReason
	}{
		"expired":                        {with(func(o *incident.Offer) { o.State = incident.Expired }), 5, incident.PlanExpired},
		"approved, and over since":       {with(func(o *incident.Offer) { o.State, o.By = incident.Approved, incidenttest.Stranger }), 200, incident.AlreadyDecided},
		"acted":                          {with(func(o *incident.Offer) { o.State = incident.Acted }), 5, incident.AlreadyDecided},
		"refused":                        {with(func(o *incident.Offer) { o.State, o.By = incident.RefusedByUs, incidenttest.Stranger }), 5, incident.AlreadyDecided},
		"outdated":                       {with(func(o *incident.Offer) { o.State = incident.Outdated }), 5, incident.PlanChanged},
		"another plan in its record":     {with(func(o *incident.Offer) { o.Plan = incidenttest.RoutePlan("nat-evil") }), 5, incident.PlanChanged},
		"a state that is not known":      {with(func(o *incident.Offer) { o.State = "resting" }), 5, incident.AlreadyDecided},
		"it was pressed before it stood": {with(func(o *incident.Offer) { o.Made = incidenttest.At(6) }), 5, incident.PlanChanged},
	} {
		before := len(test.inc.PendingEvents)
		if d, a := response.Act(test.inc, incidenttest.Press(report.ApprovePlan, 5), incidenttest.May, incidenttest.At(test.now)); a.Reason != test.want || len(d.Incident.PendingEvents) != before {
			t.Errorf("%s: %+v, want %s; %d events", name, a, test.want, len(d.Incident.PendingEvents)-before)
		}
	}
	// An offer that only says why there is no plan has no hash; no press has it.
	none := incidenttest.Broken(t)
	none.Offers = []incident.Offer{{Plan: remedy.Plan{Remedy: optin.AddNATRoute}, State: incident.Outdated, Made: incidenttest.At(2), Says: "no gateway"}}
	empty := incidenttest.Press(report.ApprovePlan, 5)
	empty.Plan = ""
	if _, a := response.Act(none, empty, incidenttest.May, incidenttest.At(5)); a.Reason != incident.NoSuchPlan {
		t.Errorf("no plan: %+v", a)
	}
}

// The plan is the same, the opening is not: what was offered before counts for
// nothing after.
func TestTheSamePlanOfAnotherOpening(t *testing.T) {
	inc := incidenttest.Proposed(t)
	inc.Number, inc.Opened = 2, incidenttest.At(10)
	old := incidenttest.Press(report.ApprovePlan, 11)
	if _, a := response.Act(inc, old, incidenttest.May, incidenttest.At(11)); a.Reason != incident.EarlierOpening {
		t.Errorf("the button of the first opening: %+v", a)
	}
	old.Number = 0
	old.At = incidenttest.At(9)
	if _, a := response.Act(inc, old, incidenttest.May, incidenttest.At(11)); a.Reason != incident.EarlierOpening {
		t.Errorf("a button without a number, pressed before: %+v", a)
	}
	old.Number, old.At = 2, incidenttest.At(11)
	if d, a := response.Act(inc, old, incidenttest.May, incidenttest.At(11)); a.Reason != incident.PlanChanged || len(d.Incident.PendingEvents) != len(inc.PendingEvents) {
		t.Errorf("a button of this opening, for an offer of the first: %+v", a)
	}
}

// A press that was a dead letter until its offer's time was over is told so, also
// where the same plan, or another, is offered by then; and the new one is not
// approved by it.
func TestAPressReadAfterItsOfferRanOut(t *testing.T) {
	old := incidenttest.Press(report.ApprovePlan, 5) // of the offer of minute 2, which ends at 62
	for name, nat := range map[string]string{"the same plan": "nat-0aa4", "another plan": "nat-0bb5"} {
		renewed := response.Propose(incidenttest.Proposed(t), incidenttest.Proposal("p2", 70, incidenttest.RoutePlan(nat), optin.Approve), incidenttest.At(70)).Incident
		if o := renewed.Offers; len(o) != 2 || o[0].State != incident.Expired || o[1].State != incident.Offered {
			t.Fatalf("%s: %+v", name, o)
		}
		d, a := response.Act(renewed, old, incidenttest.May, incidenttest.At(71))
		if diff := cmp.Diff(incident.Answer{Reason: incident.PlanExpired, Until: incidenttest.At(62), Remedy: optin.AddNATRoute, State: incident.Expired}, a); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if o := d.Incident.Offers; o[1].State != incident.Offered || len(d.Incident.PendingEvents) != len(renewed.PendingEvents) {
			t.Errorf("%s: the new offer is %s", name, o[1].State)
		}
	}
	again := response.Propose(incidenttest.Proposed(t), incidenttest.Proposal("p2", 70, incidenttest.RoutePlan("nat-0aa4"), optin.Approve), incidenttest.At(70)).Incident
	if _, a := response.Act(again, incidenttest.Press(report.ApprovePlan, 71), incidenttest.May, incidenttest.At(72)); a.Reason != incident.AnswerApproved {
		t.Errorf("the new offer's own press: %+v", a)
	}
	older := incidenttest.Press(report.ApprovePlan, 1)
	if _, a := response.Act(again, older, incidenttest.May, incidenttest.At(72)); a.Reason != incident.PlanChanged {
		t.Errorf("a press before any offer: %+v", a)
	}
	again.Opened = incidenttest.At(65) // what ran out was of an earlier opening
	old.At, old.Number = incidenttest.At(66), 0
	if _, a := response.Act(again, old, incidenttest.May, incidenttest.At(72)); a.Reason != incident.PlanChanged {
		t.Errorf("of an earlier opening: %+v", a)
	}
}

func TestTimesThatAreAllowed(t *testing.T) {
	for _, length := range []time.Duration{time.Hour, 4 * time.Hour, 24 * time.Hour} {
		p := incidenttest.Press(report.MuteFor, 5)
		p.For = length
		if d, a := response.Act(incidenttest.Broken(t), p, incidenttest.May, incidenttest.At(5)); a.Reason != incident.AnswerMuted || !a.Until.Equal(incidenttest.At(5).Add(length)) || !d.Incident.Delivery.Dirty {
			t.Errorf("%s: %+v", length, a)
		}
	}
	inc := incidenttest.Broken(t)
	inc.Asked = incidenttest.At(4)
	if _, a := response.Act(inc, incidenttest.Press(report.CheckAgain, 5), incidenttest.May, incidenttest.At(5)); a.Reason != incident.AnswerChecking {
		t.Errorf("asked a minute ago: %+v", a)
	}
	unnumbered := incidenttest.Press(report.Acknowledge, 5)
	unnumbered.Number = 0
	if _, a := response.Act(incidenttest.Broken(t), unnumbered, incidenttest.May, incidenttest.At(5)); a.Reason != incident.AnswerAcknowledged {
		t.Errorf("a button that does not say of which opening it is: %+v", a)
	}
	inc = incidenttest.Broken(t)
	inc.Delivery.Dirty = false
	if d, _ := response.Act(inc, incidenttest.Press(report.Acknowledge, 5), incidenttest.May, incidenttest.At(5)); !d.Incident.Delivery.Dirty {
		t.Error("who acknowledged is not shown")
	}
}

// What the same plan, sent again, makes of an offer that stands.
func TestTheSamePlanAgain(t *testing.T) {
	inc := incidenttest.Proposed(t)
	d := response.Propose(inc, incidenttest.Proposal("p2", 6, incidenttest.RoutePlan("nat-0aa4"), optin.Auto), incidenttest.At(6))
	if o := d.Incident.Offers; len(o) != 2 || o[0].State != incident.Outdated || o[1].State != incident.Approved || o[1].Policy != optin.Auto {
		t.Errorf("by a policy that is auto by now: %q, %+v", d.Reason, o)
	}
	d = response.Propose(inc, incidenttest.Proposal("p2", 70, incidenttest.RoutePlan("nat-0aa4"), optin.Approve), incidenttest.At(70))
	if o := d.Incident.Offers; d.Reason != incident.IsProposed || len(o) != 2 || o[0].State == incident.Offered || o[1].State != incident.Offered {
		t.Errorf("after its time: %q, %+v", d.Reason, o)
	}
	gone := inc.Clone()
	gone.State, gone.Cleared = incident.Cleared, incidenttest.At(4)
	back := response.Propose(gone, report.Proposal{ID: "p4", At: incidenttest.At(30), Key: incidenttest.TheRoute, Remedy: optin.AddNATRoute, Says: "nat-0aa4 is gone"}, incidenttest.At(30))
	if back.Reason != incident.IsOutdated {
		t.Errorf("taken back while the incident is cleared: %q", back.Reason)
	}
}
