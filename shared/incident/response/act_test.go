package response_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/incident/response"
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
		"nobody is set":               {incidenttest.Proposed, approve, response.Who{May: response.Nobody}, 5, incident.Answer{Reason: incident.NobodyAllowed}},
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
