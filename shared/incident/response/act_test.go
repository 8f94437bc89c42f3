package response_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/incident/reconcile"
	"rollcall/shared/incident/response"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
)

func TestWrongPressesAreRefused(t *testing.T) {
	approve := incidenttest.Press(report.ApprovePlan, 5)
	with := func(p report.Press, change func(*report.Press)) report.Press { change(&p); return p }
	acted := func(t *testing.T, state incident.OfferState) incident.Incident {
		inc := incidenttest.Proposed(t)
		inc.Offers[0].State, inc.Offers[0].By, inc.Offers[0].Decided = state, incidenttest.Oncall, incidenttest.At(3)
		return inc
	}
	in := func(change func(*incident.Incident)) func(*testing.T) incident.Incident {
		return func(t *testing.T) incident.Incident {
			inc := incidenttest.Proposed(t)
			change(&inc)
			return inc
		}
	}
	for name, test := range map[string]struct {
		inc   func(*testing.T) incident.Incident
		press report.Press
		who   response.Who
		now   int
		want  incident.Answer
	}{
		"a stranger":                  {incidenttest.Proposed, with(approve, func(p *report.Press) { p.User = incidenttest.Stranger }), response.Who{}, 5, incident.Answer{Reason: incident.NotAllowed}},
		"a stranger who refuses":      {incidenttest.Proposed, with(incidenttest.Press(report.RefusePlan, 5), func(p *report.Press) { p.User = incidenttest.Stranger }), response.Who{}, 5, incident.Answer{Reason: incident.NotAllowed}},
		"nobody is set":               {incidenttest.Proposed, approve, response.Who{May: response.NoApprovers}, 5, incident.Answer{Reason: incident.NobodyAllowed}},
		"the group could not be read": {incidenttest.Proposed, approve, response.Who{May: response.Unknown, Says: "S0ONCALL01: missing_scope"}, 5, incident.Answer{Reason: incident.GroupNotRead, Says: "S0ONCALL01: missing_scope"}},
		"a word that nobody knows":    {incidenttest.Proposed, approve, response.Who{May: "perhaps"}, 5, incident.Answer{Reason: incident.NotAllowed}},
		"no hash":                     {incidenttest.Proposed, with(approve, func(p *report.Press) { p.Plan = "" }), incidenttest.May, 5, incident.Answer{Reason: incident.NoSuchPlan}},
		"another incident's plan":     {incidenttest.Proposed, with(approve, func(p *report.Press) { p.Plan = incidenttest.RoutePlan("nat-other").Hash() }), incidenttest.May, 5, incident.Answer{Reason: incident.NoSuchPlan}},
		"no plan at all":              {incidenttest.Broken, approve, incidenttest.May, 5, incident.Answer{Reason: incident.NoSuchPlan}},
		"a plan that another replaced": {func(t *testing.T) incident.Incident {
			return response.Propose(incidenttest.Proposed(t), incidenttest.Proposal("p2", 3, incidenttest.RoutePlan("nat-0bb5"), optin.Approve), incidenttest.At(3)).Incident
		}, approve, incidenttest.May, 5, incident.Answer{Reason: incident.PlanChanged, Remedy: optin.AddNATRoute, State: incident.Outdated, Says: "another plan took its place"}},
		"the plan in the record is another": {in(func(i *incident.Incident) {
			r := *i.Offers[0].Plan.Route
			r.NAT = "nat-evil"
			i.Offers[0].Plan.Route = &r
		}), approve, incidenttest.May, 5, incident.Answer{Reason: incident.PlanChanged, Remedy: optin.AddNATRoute, State: incident.Offered}},
		"an earlier offer of the same plan": {incidenttest.Proposed, incidenttest.Press(report.ApprovePlan, 1), incidenttest.May, 5, incident.Answer{Reason: incident.PlanChanged, Remedy: optin.AddNATRoute, State: incident.Offered}},
		"expired to the second":             {incidenttest.Proposed, incidenttest.Press(report.ApprovePlan, 62), incidenttest.May, 62, incident.Answer{Reason: incident.PlanExpired, Until: incidenttest.At(62), Remedy: optin.AddNATRoute, State: incident.Offered}},
		"pressed in time, read too late":    {incidenttest.Proposed, incidenttest.Press(report.ApprovePlan, 61), incidenttest.May, 90, incident.Answer{Reason: incident.PlanExpired, Until: incidenttest.At(62), Remedy: optin.AddNATRoute, State: incident.Offered}},
		"pressed too late by its own time":  {incidenttest.Proposed, incidenttest.Press(report.ApprovePlan, 62), incidenttest.May, 61, incident.Answer{Reason: incident.PlanExpired, Until: incidenttest.At(62), Remedy: optin.AddNATRoute, State: incident.Offered}},
		"approved before":                   {func(t *testing.T) incident.Incident { return acted(t, incident.Approved) }, approve, incidenttest.May, 5, incident.Answer{Reason: incident.AlreadyDecided, By: incidenttest.Oncall, When: incidenttest.At(3), Remedy: optin.AddNATRoute, State: incident.Approved}},
		"refused before":                    {func(t *testing.T) incident.Incident { return acted(t, incident.RefusedByUs) }, approve, incidenttest.May, 5, incident.Answer{Reason: incident.AlreadyDecided, By: incidenttest.Oncall, When: incidenttest.At(3), Remedy: optin.AddNATRoute, State: incident.RefusedByUs}},
		"done before":                       {func(t *testing.T) incident.Incident { return acted(t, incident.Acted) }, approve, incidenttest.May, 5, incident.Answer{Reason: incident.AlreadyDecided, By: incidenttest.Oncall, When: incidenttest.At(3), Remedy: optin.AddNATRoute, State: incident.Acted}},
		"the cause is gone":                 {in(func(i *incident.Incident) { i.State = incident.Cleared }), approve, incidenttest.May, 5, incident.Answer{Reason: incident.CauseIsGone, Remedy: optin.AddNATRoute, State: incident.Offered}},
		"closed":                            {in(func(i *incident.Incident) { i.State, i.Resolved = incident.Closed, incidenttest.At(4) }), approve, incidenttest.May, 5, incident.Answer{Reason: incident.IncidentClosed, When: incidenttest.At(4)}},
		"closed, and acknowledged":          {in(func(i *incident.Incident) { i.State, i.Resolved = incident.Closed, incidenttest.At(4) }), incidenttest.Press(report.Acknowledge, 5), incidenttest.May, 5, incident.Answer{Reason: incident.IncidentClosed, When: incidenttest.At(4)}},
		"an older number":                   {in(func(i *incident.Incident) { i.Number, i.Opened = 2, incidenttest.At(4) }), approve, incidenttest.May, 5, incident.Answer{Reason: incident.EarlierOpening, When: incidenttest.At(4)}},
		"from before it opened again":       {in(func(i *incident.Incident) { i.Opened = incidenttest.At(6) }), with(approve, func(p *report.Press) { p.Number = 0 }), incidenttest.May, 7, incident.Answer{Reason: incident.EarlierOpening, When: incidenttest.At(6)}},
		"another message":                   {incidenttest.Proposed, with(approve, func(p *report.Press) { p.TS = "9.9" }), incidenttest.May, 5, incident.Answer{Reason: incident.EarlierOpening, When: incidenttest.At(0)}},
		"another channel":                   {incidenttest.Proposed, with(approve, func(p *report.Press) { p.Channel = "C0EVIL" }), incidenttest.May, 5, incident.Answer{Reason: incident.EarlierOpening, When: incidenttest.At(0)}},
		"another incident":                  {incidenttest.Proposed, with(approve, func(p *report.Press) { p.Key = incidenttest.TheHole }), incidenttest.May, 5, incident.Answer{Reason: incident.IncidentNotFound}},
		"nobody was told of it":             {in(func(i *incident.Incident) { i.Number = 0 }), approve, incidenttest.May, 5, incident.Answer{Reason: incident.IncidentNotFound}},
		"an unknown action":                 {incidenttest.Proposed, incidenttest.Press("delete", 5), incidenttest.May, 5, incident.Answer{Reason: incident.UnknownAction}},
		"a mute of a week":                  {incidenttest.Proposed, with(incidenttest.Press(report.MuteFor, 5), func(p *report.Press) { p.For = 168 * time.Hour }), incidenttest.May, 5, incident.Answer{Reason: incident.NoSuchTime}},
		"a mute of no time":                 {incidenttest.Proposed, with(incidenttest.Press(report.MuteFor, 5), func(p *report.Press) { p.For = 0 }), incidenttest.May, 5, incident.Answer{Reason: incident.NoSuchTime}},
		"not muted":                         {incidenttest.Proposed, incidenttest.Press(report.Unmute, 5), incidenttest.May, 5, incident.Answer{Reason: incident.NotMuted}},
		"the mute is over":                  {in(func(i *incident.Incident) { i.Mute = &incident.Mute{Until: incidenttest.At(5)} }), incidenttest.Press(report.Unmute, 5), incidenttest.May, 5, incident.Answer{Reason: incident.NotMuted}},
		"acknowledged before":               {in(func(i *incident.Incident) { i.Ack = &incident.Ack{By: incidenttest.Stranger, At: incidenttest.At(3)} }), incidenttest.Press(report.Acknowledge, 5), incidenttest.May, 5, incident.Answer{Reason: incident.AlreadyTaken, By: incidenttest.Stranger, When: incidenttest.At(3)}},
		"asked a moment ago":                {in(func(i *incident.Incident) { i.Asked = incidenttest.At(5).Add(-59 * time.Second) }), incidenttest.Press(report.CheckAgain, 5), incidenttest.May, 5, incident.Answer{Reason: incident.AskedJustNow, Until: incidenttest.At(5).Add(time.Second)}},
	} {
		t.Run(name, func(t *testing.T) {
			before := test.inc(t)
			d, got := response.Act(before, test.press, test.who, incidenttest.At(test.now))
			if diff := cmp.Diff(test.want, got); diff != "" || got.Done() {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			after := d.Incident
			if len(after.Acts) != 1 || after.Acts[0].Answer != got || after.Acts[0].User != test.press.User || after.Acts[0].ID != "press" || d.Reason != incident.PressRefused || !d.Changed {
				t.Errorf("the audit is %+v, the reason %q", after.Acts, d.Reason)
			}
			after.Acts, after.Applied = before.Acts, before.Applied
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("the refused press changed the incident (-before +after):\n%s", diff)
			}
		})
	}
}

func TestApprove(t *testing.T) {
	inc := incidenttest.Proposed(t)
	d, a := response.Act(inc, incidenttest.Press(report.ApprovePlan, 61), incidenttest.May, incidenttest.At(61))
	if d.Reason != incident.IsApproved || a.Reason != incident.AnswerApproved || !a.Done() {
		t.Fatalf("%q and %+v", d.Reason, a)
	}
	o := d.Incident.Offers[0]
	if o.State != incident.Approved || o.By != incidenttest.Oncall || !o.Decided.Equal(incidenttest.At(61)) || inc.Offers[0].State != incident.Offered {
		t.Errorf("the offer is %+v; before it was %q", o, inc.Offers[0].State)
	}
	e := d.Incident.PendingEvents[len(d.Incident.PendingEvents)-1]
	if e.Kind != incident.EventApproved || e.Offer == nil || e.Offer.Hash != o.Hash || e.Offer.By != incidenttest.Oncall || e.Sequence != d.Incident.Events {
		t.Errorf("the event is %+v", e)
	}
	n := d.Incident.Delivery.Notes[len(d.Incident.Delivery.Notes)-1]
	if n.Reason != incident.IsApproved || n.Offer == nil || n.Offer.By != incidenttest.Oncall || !d.Incident.Delivery.Dirty {
		t.Errorf("the note is %+v, behind %v", n, d.Incident.Delivery.Dirty)
	}
	again, none := response.Act(d.Incident, incidenttest.Press(report.ApprovePlan, 61), incidenttest.May, incidenttest.At(61))
	if again.Reason != incident.AlreadyApplied || again.Changed || none.Reason != "" {
		t.Errorf("delivered twice it is %q, %+v", again.Reason, none)
	}
	second := incidenttest.Press(report.ApprovePlan, 61)
	second.ID, second.User = "second", report.User{ID: "U0DANA0001"}
	if _, a := response.Act(d.Incident, second, incidenttest.May, incidenttest.At(61)); a.Reason != incident.AlreadyDecided || a.By != incidenttest.Oncall {
		t.Errorf("pressed twice it is %+v", a)
	}
}

func TestRefuse(t *testing.T) {
	d, a := response.Act(incidenttest.Proposed(t), incidenttest.Press(report.RefusePlan, 5), incidenttest.May, incidenttest.At(5))
	if a.Reason != incident.AnswerRefused || d.Incident.Offers[0].State != incident.RefusedByUs || d.Incident.PendingEvents[len(d.Incident.PendingEvents)-1].Kind == incident.EventApproved {
		t.Errorf("%+v, %+v", a, d.Incident.Offers)
	}
	again := response.Propose(d.Incident, incidenttest.Proposal("p2", 6, incidenttest.RoutePlan("nat-0aa4"), optin.Approve), incidenttest.At(6))
	if again.Reason != incident.NothingNew || again.Changed {
		t.Errorf("what a person refused is offered again: %q", again.Reason)
	}
}

func TestAcknowledgeMuteAndCheck(t *testing.T) {
	inc := incidenttest.Broken(t)
	d, a := response.Act(inc, incidenttest.Press(report.Acknowledge, 5), incidenttest.May, incidenttest.At(5))
	if a.Reason != incident.AnswerAcknowledged || d.Incident.Ack == nil || d.Incident.Ack.By != incidenttest.Oncall {
		t.Errorf("%+v, %+v", a, d.Incident.Ack)
	}
	d, a = response.Act(inc, incidenttest.Press(report.MuteFor, 5), incidenttest.May, incidenttest.At(6))
	if a.Reason != incident.AnswerMuted || !a.Until.Equal(incidenttest.At(65)) || !d.Incident.Muted(incidenttest.At(64)) || d.Incident.Muted(incidenttest.At(65)) {
		t.Errorf("%+v, %+v", a, d.Incident.Mute)
	}
	off := incidenttest.Press(report.Unmute, 7)
	off.ID = "off"
	if d, a = response.Act(d.Incident, off, incidenttest.May, incidenttest.At(7)); a.Reason != incident.AnswerUnmuted || d.Incident.Mute != nil {
		t.Errorf("%+v, %+v", a, d.Incident.Mute)
	}
	d, a = response.Act(inc, incidenttest.Press(report.CheckAgain, 5), incidenttest.May, incidenttest.At(5))
	if e := d.Incident.PendingEvents[len(d.Incident.PendingEvents)-1]; a.Reason != incident.AnswerChecking || e.Kind != incident.EventCheckWanted || e.Kind.DetailType() != "Rollcall Check Wanted" {
		t.Errorf("%+v, %+v", a, e)
	}
}

// replacing is the route incident, cleared, with a replacement offered.
func replacing(t *testing.T) (incident.Incident, remedy.Plan) {
	t.Helper()
	inc := incidenttest.Broken(t)
	inc.State, inc.Cleared = incident.Cleared, incidenttest.At(4)
	p := incidenttest.RoutePlan("nat-0aa4")
	p.Remedy, p.Route = optin.ReplaceInstance, nil
	p.Replace = &remedy.ReplaceInstance{Instances: []remedy.Replaced{{Instance: "i-1", Group: "eks-workers"}}}
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

// A press that was a dead letter until its offer's time was over is answered so, also
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
	back := response.Propose(gone, report.Proposal{Head: report.Head{ID: "p4", At: incidenttest.At(30), Key: incidenttest.TheRoute}, Remedy: optin.AddNATRoute, Says: "nat-0aa4 is gone"}, incidenttest.At(30))
	if back.Reason != incident.IsOutdated {
		t.Errorf("taken back while the incident is cleared: %q", back.Reason)
	}
}

// An actor does one random thing to an incident: looks, proposes, presses,
// reports a run, lets time pass. What it did it may do again later.
type actor struct {
	*testing.T
	r    *rand.Rand
	seed uint64
	now  time.Time
	inc  incident.Incident
	n    int
	past []func()
	// passed and failed are the times of looks that saw.
	passed, failed []time.Time
	seen           map[string]int
}

func (a *actor) minute() int { return int(a.now.Sub(incidenttest.Start) / time.Minute) }

func (a *actor) id(what string) string { a.n++; return fmt.Sprint(what, a.n) }

func (a *actor) plan() remedy.Plan {
	return incidenttest.RoutePlan([]string{"nat-a", "nat-b"}[a.r.IntN(2)])
}

func (a *actor) look() func() {
	obs := incidenttest.Observe(incidenttest.Named(a.id("look")))
	obs.At = a.now.Add(-time.Duration(a.r.IntN(4)) * time.Minute)
	switch a.r.IntN(5) {
	case 0, 1:
		incidenttest.Route("i-1")(&obs)
		a.failed = append(a.failed, obs.At)
	case 2:
		incidenttest.Passed("route/no-egress", incidenttest.Subnet)(&obs)
		a.passed = append(a.passed, obs.At)
	case 3:
		incidenttest.BlindTo("ec2:DescribeRouteTables", "route-tables", "denied")(&obs)
	case 4:
		incidenttest.Launched(a.id("i-"), a.minute()-1, report.Joined)(&obs)
	}
	return func() {
		for _, d := range reconcile.Decide([]incident.Incident{a.inc}, obs, a.now, incidenttest.Policy) {
			if d.Incident.Key == a.inc.Key {
				a.step("look", d, report.Press{}, response.May(""))
			}
		}
	}
}

func (a *actor) propose() func() {
	p := a.plan()
	list := []optin.Policy{optin.Approve, optin.Approve, optin.Auto}
	prop := incidenttest.Proposal(a.id("proposal"), a.minute()-a.r.IntN(3), p, list[a.r.IntN(len(list))])
	prop.Lasts = time.Duration(a.r.IntN(20)) * time.Minute
	switch a.r.IntN(6) {
	case 0:
		prop.Hash, prop.Plan = "", remedy.Plan{}
	case 1:
		prop.Hash = incidenttest.RoutePlan("nat-forged").Hash()
	}
	return func() { a.step("propose", response.Propose(a.inc, prop, a.now), report.Press{}, response.May("")) }
}

func (a *actor) press() func() {
	list := []report.Action{report.ApprovePlan, report.ApprovePlan, report.ApprovePlan, report.RefusePlan, report.RefusePlan, report.RefusePlan, report.Acknowledge, report.MuteFor, report.Unmute, report.CheckAgain, "delete"}
	p := incidenttest.Press(list[a.r.IntN(len(list))], a.minute()-a.r.IntN(2))
	p.ID, p.Number, p.Plan = a.id("press"), a.inc.Number-a.r.IntN(8)/7, a.plan().Hash()
	who := []response.May{response.MayYes, response.MayYes, response.MayYes, response.MayNot, response.NoApprovers, response.Unknown, "perhaps"}[a.r.IntN(7)]
	return func() {
		d, _ := response.Act(a.inc, p, response.Who{May: who}, a.now)
		a.step("press", d, p, who)
	}
}

func (a *actor) run() func() {
	p := a.plan()
	result := []remedy.Status{remedy.Done, remedy.Done, remedy.Done, remedy.Failed, remedy.Refused, remedy.Partly, remedy.Uncertain, ""}[a.r.IntN(8)]
	ended := a.now.Add(-time.Duration(a.r.IntN(3)) * time.Minute)
	told := report.RemedyResult{Head: report.Head{ID: a.id("told"), At: a.now, Cluster: incidenttest.Cluster, Key: incidenttest.TheRoute}, Run: remedy.Run{
		ID: fmt.Sprint("run", a.r.IntN(6)), Plan: p, Hash: p.Hash(), Policy: optin.Approve, Began: ended.Add(-time.Second), Ended: ended, Result: result,
	}}
	return func() {
		a.step("run", response.ApplyRemedyResult(a.inc, told, a.now), report.Press{}, response.May(""))
	}
}

// step holds what may never be against each change of an offer.
func (a *actor) step(what string, d incident.Decision, p report.Press, who response.May) {
	a.Helper()
	before, after := a.inc, d.Incident
	if !d.Changed {
		return
	}
	a.seen[what]++
	for _, o := range after.Offers {
		i := slices.IndexFunc(before.Offers, func(b incident.Offer) bool { return b.Hash == o.Hash && b.Made.Equal(o.Made) && b.Policy == o.Policy })
		was := incident.OfferState("")
		if i >= 0 {
			was = before.Offers[i].State
		}
		if was == o.State {
			continue
		}
		a.seen[string(o.State)]++
		switch {
		case o.State == incident.Approved && o.Policy == optin.Auto && what == "propose":
		case o.State == incident.Approved && (what != "press" || who != response.MayYes || p.Action != report.ApprovePlan || p.Plan != o.Hash || was != incident.Offered):
			a.Fatalf("seed %d: %s by %q approved what was %q: %+v", a.seed, what, who, was, o)
		case o.State == incident.Approved && (!a.now.Before(o.Expires) || p.At.Before(before.Opened) || p.Number != 0 && p.Number != before.Number || before.State == incident.Closed):
			a.Fatalf("seed %d: approved at %s by the press %+v: %+v", a.seed, a.now, p, o)
		case o.State == incident.Offered && was != "":
			a.Fatalf("seed %d: %s offers again what was %q", a.seed, what, was)
		case o.State == incident.Helped && !slices.ContainsFunc(a.passed, o.Run.Ended.Before):
			a.Fatalf("seed %d: verified, and no look saw it pass after %s: %v", a.seed, o.Run.Ended, a.passed)
		case o.State == incident.Unhelpful && !slices.ContainsFunc(a.failed, o.Run.Ended.Before):
			a.Fatalf("seed %d: unhelpful, and no look saw it fail after %s: %v", a.seed, o.Run.Ended, a.failed)
		}
	}
	if live := live(after); live > 1 || len(after.Offers) > incident.MaxOffers+1 {
		a.Fatalf("seed %d: %d offers of one remedy can be approved or are: %+v", a.seed, live, after.Offers)
	}
	approvals := 0
	for _, e := range after.PendingEvents[min(len(before.PendingEvents), len(after.PendingEvents)):] {
		if e.Kind == incident.EventApproved {
			approvals++
		}
	}
	if yes := what == "press" && d.Reason == incident.IsApproved; approvals > 1 || (approvals == 1) != yes {
		a.Fatalf("seed %d: %s (%q) told of %d approvals", a.seed, what, d.Reason, approvals)
	}
	a.inc = after
}

func live(inc incident.Incident) (n int) {
	for _, o := range inc.Offers {
		if o.State == incident.Offered || o.State == incident.Approved {
			n++
		}
	}
	return n
}

func TestModelOfRemedies(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(800) {
		a := &actor{T: t, r: rand.New(rand.NewPCG(seed, 13)), seed: seed, now: incidenttest.At(1), inc: incidenttest.Broken(t), seen: seen}
		for range 60 {
			a.now = a.now.Add(time.Duration(a.r.IntN(120)) * time.Second)
			do := []func() func(){a.look, a.propose, a.press, a.press, a.run}[a.r.IntN(5)]()
			a.past = append(a.past, do)
			if a.r.IntN(8) > 0 { // else it comes later
				do()
			}
			if a.r.IntN(5) == 0 { // late, or once more
				a.past[a.r.IntN(len(a.past))]()
			}
			if a.r.IntN(3) == 0 {
				a.step("tick", response.Tick(a.inc, a.now, incidenttest.Policy), report.Press{}, response.May(""))
			}
		}
		if size := a.inc.Size(); size > 256<<10 {
			t.Fatalf("seed %d: a record of %d bytes", seed, size)
		}
	}
	// A model that never gets anywhere would prove nothing.
	for what, least := range map[string]int{"press": 1000, "approved": 200, "refused": 25, "expired": 120, "outdated": 200, "acted": 200, "helped": 100, "unhelpful": 100} {
		if seen[what] < least {
			t.Errorf("%s only %d times", what, seen[what])
		}
	}
}
