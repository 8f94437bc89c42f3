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

// Who may not is told why, and the audit keeps it.
func TestWhoMayNotIsToldWhy(t *testing.T) {
	for name, test := range map[string]struct {
		who    response.Who
		action report.Action
		want   incident.Answer
	}{
		"nobody approves":                 {response.Who{May: response.Nobody}, report.ApprovePlan, incident.Answer{Reason: incident.NobodyAllowed}},
		"the group was not read":          {response.Who{May: response.Unknown, Says: "ratelimited"}, report.Acknowledge, incident.Answer{Reason: incident.GroupNotRead, Says: "ratelimited"}},
		"of another workspace":            {response.Who{May: response.Foreign, Says: "x"}, report.Acknowledge, incident.Answer{Reason: incident.OtherWorkspace}},
		"of a workspace that nobody read": {response.Who{May: response.Unplaced, Says: "timeout"}, report.ApprovePlan, incident.Answer{Reason: incident.WorkspaceNotRead, Says: "timeout"}},
		"no approver approves":            {response.Who{May: response.MayNot}, report.ApprovePlan, incident.Answer{Reason: incident.NotAllowed}},
		"no approver refuses":             {response.Who{}, report.RefusePlan, incident.Answer{Reason: incident.NotAllowed}},
		"no responder acknowledges":       {response.Who{}, report.Acknowledge, incident.Answer{Reason: incident.NotResponder}},
		"no responder mutes":              {response.Who{}, report.MuteFor, incident.Answer{Reason: incident.NotResponder}},
		"whoever is not known at all":     {response.Who{May: "perhaps"}, report.Unmute, incident.Answer{Reason: incident.NotResponder}},
	} {
		d, got := response.Act(incidenttest.Proposed(t), incidenttest.Press(test.action, 5), test.who, incidenttest.At(5))
		if diff := cmp.Diff(test.want, got); diff != "" || d.Reason != incident.PressRefused || len(d.Incident.Acts) != 1 || d.Incident.Acts[0].Answer != test.want {
			t.Errorf("%s: %q, %+v (-want +got):\n%s", name, d.Reason, d.Incident.Acts, diff)
		}
	}
}

func TestWorkspaceHas(t *testing.T) {
	ours := response.Workspace{ID: "T1", Enterprise: "E1"}
	small := response.Workspace{ID: "T1"}
	of := func(home, enterprise string) report.Press { return report.Press{Home: home, Enterprise: enterprise} }
	for name, test := range map[string]struct {
		w    response.Workspace
		p    report.Press
		want bool
	}{
		"of the workspace":                      {ours, of("T1", ""), true},
		"of a workspace without organization":   {small, of("T1", ""), true},
		"of another workspace of it":            {ours, of("T2", "E1"), true},
		"of the organization":                   {ours, of("E1", ""), true},
		"of another workspace":                  {ours, of("T2", ""), false},
		"of another organization":               {ours, of("T2", "E2"), false},
		"of another, and neither has one":       {small, of("T2", ""), false},
		"Slack does not say where they are of":  {ours, of("", "E1"), false},
		"nor where the app is":                  {response.Workspace{Enterprise: "E1"}, of("T1", "E1"), false},
		"nor either":                            {response.Workspace{}, of("", ""), false},
		"the organization says it of the press": {ours, of("T9", "E1"), true},
	} {
		if got := test.w.Has(test.p); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// What each press makes of an incident, all of it.
func TestWhatAPressChanges(t *testing.T) {
	noon, later := incidenttest.At(5), incidenttest.At(6)
	by := incidenttest.Oncall
	taken := incidenttest.Broken(t)
	taken.Ack = &incident.Ack{By: incidenttest.Stranger, At: incidenttest.At(3)}
	mine := incidenttest.Broken(t)
	mine.Ack = &incident.Ack{By: by, At: incidenttest.At(3)}
	muted := incidenttest.Broken(t)
	muted.Mute = &incident.Mute{Until: incidenttest.At(7)}
	mutedAndTaken := muted.Clone()
	mutedAndTaken.Ack = taken.Ack
	unposted := incidenttest.Broken(t)
	unposted.Delivery.Channel, unposted.Delivery.TS = "", ""
	inThread := incidenttest.Press(report.Acknowledge, 5)
	inThread.Thread = "1.0"
	fromThread := incidenttest.Press(report.Acknowledge, 5)
	fromThread.TS, fromThread.Thread = "1.9", "1.1"
	fourHours := incidenttest.Press(report.MuteFor, 5)
	fourHours.For = 4 * time.Hour
	yours := &incident.Ack{By: by, At: later, From: &report.User{ID: incidenttest.Stranger.ID}}
	for name, test := range map[string]struct {
		inc    incident.Incident
		p      report.Press
		reason incident.Reason
		answer incident.Answer
		change func(*incident.Incident)
	}{
		"acknowledged": {incidenttest.Broken(t), incidenttest.Press(report.Acknowledge, 5), incident.IsAcknowledged, incident.Answer{Reason: incident.AnswerAcknowledged},
			func(i *incident.Incident) {
				i.Ack = &incident.Ack{By: by, At: later}
				i.AddEvent(incident.IsAcknowledged, later)
			}},
		"from a reply in the thread": {incidenttest.Broken(t), fromThread, incident.IsAcknowledged, incident.Answer{Reason: incident.AnswerAcknowledged},
			func(i *incident.Incident) {
				i.Ack = &incident.Ack{By: by, At: later}
				i.AddEvent(incident.IsAcknowledged, later)
			}},
		"before Slack said where the message is": {unposted, inThread, incident.IsAcknowledged, incident.Answer{Reason: incident.AnswerAcknowledged},
			func(i *incident.Incident) {
				i.Ack = &incident.Ack{By: by, At: later}
				i.AddEvent(incident.IsAcknowledged, later)
			}},
		"taken over from nobody": {incidenttest.Broken(t), incidenttest.Press(report.TakeOver, 5), incident.IsAcknowledged, incident.Answer{Reason: incident.AnswerAcknowledged},
			func(i *incident.Incident) {
				i.Ack = &incident.Ack{By: by, At: later}
				i.AddEvent(incident.IsAcknowledged, later)
			}},
		"taken over": {taken, incidenttest.Press(report.TakeOver, 5), incident.IsTakenOver, incident.Answer{Reason: incident.AnswerTakenOver, By: incidenttest.Stranger, When: incidenttest.At(3)},
			func(i *incident.Incident) {
				i.Ack = yours
				i.AddEvent(incident.IsTakenOver, later)
				i.AddNote(incident.IsTakenOver, later).Ack = yours
			}},
		"taken over while muted": {mutedAndTaken, incidenttest.Press(report.TakeOver, 5), incident.IsTakenOver, incident.Answer{Reason: incident.AnswerTakenOver, By: incidenttest.Stranger, When: incidenttest.At(3)},
			func(i *incident.Incident) {
				i.Ack = yours
				i.AddEvent(incident.IsTakenOver, later)
				i.AddNote(incident.IsTakenOver, later).Ack = yours
			}},
		"taken over from oneself": {mine, incidenttest.Press(report.TakeOver, 5), incident.PressRefused, incident.Answer{Reason: incident.AlreadyYours, When: incidenttest.At(3)}, func(i *incident.Incident) { i.Delivery.Dirty = false }},
		"muted": {incidenttest.Broken(t), fourHours, incident.IsMuted, incident.Answer{Reason: incident.AnswerMuted, Until: noon.Add(4 * time.Hour)},
			func(i *incident.Incident) {
				i.Mute = &incident.Mute{By: by, At: noon, Until: noon.Add(4 * time.Hour)}
				i.Mutes = 1
			}},
		"unmuted": {muted, incidenttest.Press(report.Unmute, 5), incident.IsUnmuted, incident.Answer{Reason: incident.AnswerUnmuted}, func(i *incident.Incident) { i.Mute = nil }},
		"asked for": {incidenttest.Broken(t), incidenttest.Press(report.CheckAgain, 5), incident.IsAsked, incident.Answer{Reason: incident.AnswerChecking},
			func(i *incident.Incident) { i.Asked = later; i.AddEvent(incident.IsAsked, later) }},
		"refused": {incidenttest.Proposed(t), incidenttest.Press(report.RefusePlan, 5), incident.IsRefused, incident.Answer{Reason: incident.AnswerRefused, Remedy: optin.AddNATRoute, State: incident.RefusedByUs},
			func(i *incident.Incident) {
				o := &i.Offers[0]
				o.State, o.By, o.Decided = incident.RefusedByUs, by, later
				said := *o
				i.AddNote(incident.IsRefused, later).Offer = &said
			}},
	} {
		becomes(t, name, test.inc, func(inc incident.Incident) incident.Decision {
			d, got := response.Act(inc, test.p, incidenttest.May, later)
			if diff := cmp.Diff(test.answer, got); diff != "" {
				t.Errorf("%s: answer (-want +got):\n%s", name, diff)
			}
			return d
		}, test.reason, func(inc *incident.Incident) {
			test.change(inc)
			inc.Applied = append(inc.Applied, test.p.ID)
			inc.Acts = append(inc.Acts, incident.ActRecord{
				Format: incident.RecordFormat, ID: "press", At: noon, Decided: later, Key: incidenttest.TheRoute, Number: 1, Opened: inc.Opened,
				Action: test.p.Action, For: test.p.For, Plan: test.p.Plan, Remedy: test.answer.Remedy,
				User: by, Channel: test.p.Channel, TS: test.p.TS, Thread: test.p.Thread, Answer: test.answer,
			})
		})
	}
}

// A press that was not let in is on the record as it came.
func TestRefusedPressesAreOnRecord(t *testing.T) {
	p := incidenttest.Press(report.MuteFor, 5)
	p.Team, p.Home, p.Thread = "T1", "T2", "1.0"
	want := incident.ActRecord{
		Format: incident.RecordFormat, ID: "press", At: incidenttest.At(5), Decided: incidenttest.At(6), Key: incidenttest.TheRoute, Action: report.MuteFor, For: time.Hour,
		User: incidenttest.Oncall, Team: "T1", Home: "T2", Channel: "C0123456789", TS: "1.1", Thread: "1.0", Answer: incident.Answer{Reason: incident.TooLate, When: incidenttest.At(5)},
	}
	if diff := cmp.Diff(want, response.Refused(p, want.Answer, incidenttest.At(6))); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
	want.Answer = incident.Answer{Reason: incident.IncidentNotFound}
	if diff := cmp.Diff(want, response.NotFound(p, incidenttest.At(6))); diff != "" {
		t.Errorf("not found (-want +got):\n%s", diff)
	}
}

// A press of an offer that ran out is told when that one ended, and of one that
// another plan replaced that there is another.
func TestAPressIsToldOfItsOwnOffer(t *testing.T) {
	a, b := incidenttest.RoutePlan("nat-0aa4"), incidenttest.RoutePlan("nat-0bb5")
	offered := func(inc incident.Incident, id string, minute int, nat string) incident.Incident {
		return response.Propose(inc, incidenttest.Proposal(id, minute, incidenttest.RoutePlan(nat), optin.Approve), incidenttest.At(minute)).Incident
	}
	ran := offered(offered(incidenttest.Proposed(t), "p2", 70, "nat-0bb5"), "p3", 140, "nat-0aa4")
	replaced := offered(offered(incidenttest.Proposed(t), "p2", 3, "nat-0bb5"), "p3", 70, "nat-0aa4")
	if ran.Offers[0].State != incident.Expired || ran.Offers[1].State != incident.Expired || replaced.Offers[0].State != incident.Outdated || a.Hash() == b.Hash() {
		t.Fatalf("%+v, %+v", ran.Offers, replaced.Offers)
	}
	for name, test := range map[string]struct {
		inc          incident.Incident
		minute, read int
		want         incident.Answer
	}{
		"it ran out, as another did since": {ran, 75, 141, incident.Answer{Reason: incident.PlanExpired, Until: incidenttest.At(62), Remedy: optin.AddNATRoute, State: incident.Expired}},
		"another replaced it":              {replaced, 2, 71, incident.Answer{Reason: incident.PlanChanged, Remedy: optin.AddNATRoute, State: incident.Offered}},
	} {
		if _, got := response.Act(test.inc, incidenttest.Press(report.ApprovePlan, test.minute), incidenttest.May, incidenttest.At(test.read)); got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}
