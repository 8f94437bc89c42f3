package response_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/routing"

	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/incident/response"
	"rollcall/shared/report"
)

func calling(t *testing.T) incident.Policy {
	t.Helper()
	routes, err := routing.Parse("eks-workshop/critical=@S0ONCALL01+here")
	if err != nil {
		t.Fatal(err)
	}
	p := incidenttest.Policy
	p.Routes, p.RemindAfter, p.Channel = routes, 30*time.Minute, "C0123456789"
	return p
}

// calls are the minutes at which people are called, looking every five.
func calls(inc incident.Incident, p incident.Policy, until int, change func(minute int, inc *incident.Incident)) (list []int) {
	for minute := 0; minute <= until; minute += 5 {
		if change != nil {
			change(minute, &inc)
		}
		d := response.Tick(inc, incidenttest.At(minute), p)
		if d.Reason == incident.IsCalled || d.Reason == incident.IsReminded {
			list = append(list, minute)
		}
		inc = d.Incident
		for i := range inc.Delivery.Notes { // Slack takes them
			inc.Delivery.Notes[i].TS = "1.2"
		}
	}
	return list
}

func TestPeopleAreCalledAgainOnlyAfterTheSetTime(t *testing.T) {
	p := calling(t)
	never := p
	never.RemindAfter = 0
	nobody := p
	nobody.Routes = nil
	at10 := func(f func(*incident.Incident)) func(int, *incident.Incident) {
		return func(minute int, inc *incident.Incident) {
			if minute == 10 {
				f(inc)
			}
		}
	}
	for name, test := range map[string]struct {
		policy incident.Policy
		change func(int, *incident.Incident)
		want   []int
	}{
		"nobody takes it on":     {p, nil, []int{0, 30, 60, 90}},
		"no reminders":           {never, nil, []int{0}},
		"no route names anybody": {nobody, nil, nil},
		"acknowledged":           {p, at10(func(i *incident.Incident) { i.Ack = &incident.Ack{By: incidenttest.Oncall} }), []int{0}},
		"muted for an hour":      {p, at10(func(i *incident.Incident) { i.Mute = &incident.Mute{Until: incidenttest.At(70)} }), []int{0, 70, 100, 130}},
		"the cause is gone":      {p, at10(func(i *incident.Incident) { i.State = incident.Cleared }), []int{0}},
		"not critical":           {p, func(_ int, i *incident.Incident) { i.Cause.Confidence = "possible" }, nil},
		"critical later": {p, func(m int, i *incident.Incident) {
			if m < 20 {
				i.Cause.Confidence = "possible"
			} else {
				i.Cause.Confidence = "certain"
			}
		}, []int{20, 50, 80, 110}},
	} {
		if diff := cmp.Diff(test.want, calls(incidenttest.Broken(t), test.policy, 300, test.change)); diff != "" {
			t.Errorf("%s: minutes of calls (-want +got):\n%s", name, diff)
		}
	}
}

// One that comes and goes does not call each time.
func TestItIsCalmAfterACall(t *testing.T) {
	p := calling(t)
	inc := response.Tick(incidenttest.Broken(t), incidenttest.At(0), p).Incident
	if n := inc.Delivery.Notes[len(inc.Delivery.Notes)-1]; strings.Join(n.Mention, " ") != "S0ONCALL01 here" || n.Reason != incident.IsCalled {
		t.Errorf("the call is %+v", n)
	}
	inc.Delivery.Notes[len(inc.Delivery.Notes)-1].TS = "1.2"
	inc = incidenttest.Look(inc, 1, incidenttest.Passed("route/no-egress", incidenttest.Subnet), incidenttest.Launched("i-2", 1, report.Joined), incidenttest.ReadyAt(2))
	inc = incidenttest.Look(inc, 3, incidenttest.Passed("route/no-egress", incidenttest.Subnet), incidenttest.Launched("i-2", 1, report.Joined), incidenttest.ReadyAt(2))
	inc = incidenttest.Look(inc, 10, incidenttest.Route("i-3"), incidenttest.Launched("i-3", 10, report.Waiting))
	if inc.Number != 2 || inc.Calls != 0 {
		t.Fatalf("it is %q the time %d", inc.State, inc.Number)
	}
	if d := response.Tick(inc, incidenttest.At(10), p); d.Changed {
		t.Errorf("called again after ten minutes: %q", d.Reason)
	}
	if d := response.Tick(inc, incidenttest.At(30), p); d.Reason != incident.IsCalled {
		t.Errorf("not called after the set time: %q", d.Reason)
	}
}

// What Slack could not be told in time calls nobody any more.
func TestCallsAreTakenBack(t *testing.T) {
	p := calling(t)
	inc := response.Tick(incidenttest.Broken(t), incidenttest.At(0), p).Incident
	if d := response.Tick(inc, incidenttest.At(60), p); d.Changed {
		t.Errorf("a second call is added while the first waits: %q", d.Reason)
	}
	ack, _ := response.Act(inc, incidenttest.Press(report.Acknowledge, 61), incidenttest.May, incidenttest.At(61))
	if d := response.Tick(ack.Incident, incidenttest.At(61), p); d.Reason != incident.IsCalmed || strings.Contains(incidenttest.NotesOf(d.Incident), "called") {
		t.Errorf("%q, and the thread gets %q", d.Reason, incidenttest.NotesOf(d.Incident))
	}
}

// Muted: the message is edited, the ending and what people and remedies do is
// said; the rest is not, also not later.
func TestMuted(t *testing.T) {
	mute := incidenttest.Press(report.MuteFor, 1)
	d, _ := response.Act(incidenttest.Broken(t), mute, incidenttest.May, incidenttest.At(1))
	inc := d.Incident
	p := response.Propose(inc, incidenttest.Proposal("p1", 2, incidenttest.RoutePlan("nat-0aa4"), "approve"), incidenttest.At(2))
	approve := incidenttest.Press(report.ApprovePlan, 3)
	approve.ID = "approve"
	yes, _ := response.Act(p.Incident, approve, incidenttest.May, incidenttest.At(3))
	inc = incidenttest.Look(yes.Incident, 4, incidenttest.Route("i-1"), incidenttest.Launched("i-1", 0, report.Missed))
	inc = incidenttest.Look(inc, 8, incidenttest.Passed("route/no-egress", incidenttest.Subnet))
	inc = incidenttest.Look(inc, 12, incidenttest.Passed("route/no-egress", incidenttest.Subnet), incidenttest.Launched("i-2", 10, report.Joined))
	if got := incidenttest.NotesOf(inc); got != "opened approved proved" || !inc.Delivery.Dirty {
		t.Errorf("the thread has %q", got)
	}
	inc = incidenttest.Look(inc, 20, incidenttest.Route("i-3"), incidenttest.Launched("i-3", 20, report.Waiting))
	if got := incidenttest.NotesOf(inc); got != "opened approved proved" || inc.Number != 2 || inc.Ack != nil {
		t.Errorf("it came back while muted: %q, the time %d", got, inc.Number)
	}
	if d := response.Tick(inc, incidenttest.At(61), calling(t)); d.Incident.Mute != nil || d.Reason != incident.IsCalled {
		t.Errorf("after the mute: %+v, %q", d.Incident.Mute, d.Reason)
	}
}

// Who is called of what everybody is told anyway is called there: one new line, not two.
// Nobody is called of it once somebody has taken it on.
func TestACallIsPartOfTheLine(t *testing.T) {
	inc, now := incidenttest.Broken(t), incidenttest.At(40)
	inc.Delivery.Notes = []incident.Note{{ID: "worse", Reason: incident.IsWorse, Line: true, At: now}}
	d := response.Tick(inc, now, calling(t))
	want := []incident.Note{{ID: "worse", Reason: incident.IsWorse, Line: true, At: now, Mention: []string{"S0ONCALL01", "here"}}}
	if diff := cmp.Diff(want, d.Incident.Delivery.Notes); diff != "" || d.Reason != incident.IsCalled || d.Incident.Calls != 1 {
		t.Errorf("%s, %d calls; notes (-want +got):\n%s", d.Reason, d.Incident.Calls, diff)
	}
	if again := response.Tick(d.Incident, now.Add(time.Hour), calling(t)); again.Reason != incident.NothingNew {
		t.Errorf("before Slack took it: %s, want nothing new", again.Reason)
	}
	taken := d.Incident
	taken.Ack = &incident.Ack{At: now}
	calm := response.Tick(taken, now.Add(time.Minute), calling(t))
	want[0].Mention = nil
	if diff := cmp.Diff(want, calm.Incident.Delivery.Notes); diff != "" || calm.Reason != incident.IsCalmed {
		t.Errorf("%s; notes (-want +got):\n%s", calm.Reason, diff)
	}
	// What was said before is not said again.
	inc.Delivery.Notes[0].At = now.Add(-time.Minute)
	if later := response.Tick(inc, now, calling(t)).Incident.Delivery.Notes; len(later) != 2 || later[1].Reason != incident.IsCalled {
		t.Errorf("notes %+v, want a call of its own", later)
	}
}
