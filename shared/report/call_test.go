package report

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/audience"
)

func calling(t *testing.T) Policy {
	t.Helper()
	routes, err := audience.Parse("eks-workshop/critical=@S0ONCALL01+here")
	if err != nil {
		t.Fatal(err)
	}
	p := policy
	p.Routes, p.RemindAfter, p.Channel = routes, 30*time.Minute, "C0123456789"
	return p
}

// calls are the minutes at which people are called, looking every five.
func calls(inc Incident, p Policy, until int, change func(minute int, inc *Incident)) (list []int) {
	for minute := 0; minute <= until; minute += 5 {
		if change != nil {
			change(minute, &inc)
		}
		d := Tick(inc, at(minute), p)
		if d.Reason == IsCalled || d.Reason == IsReminded {
			list = append(list, minute)
		}
		inc = d.Incident
		for i := range inc.Said.Notes { // Slack takes them
			inc.Said.Notes[i].TS = "1.2"
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
	at10 := func(f func(*Incident)) func(int, *Incident) {
		return func(minute int, inc *Incident) {
			if minute == 10 {
				f(inc)
			}
		}
	}
	for name, test := range map[string]struct {
		policy Policy
		change func(int, *Incident)
		want   []int
	}{
		"nobody takes it on":     {p, nil, []int{0, 30, 60, 90}},
		"no reminders":           {never, nil, []int{0}},
		"no route names anybody": {nobody, nil, nil},
		"acknowledged":           {p, at10(func(i *Incident) { i.Ack = &Ack{By: oncall} }), []int{0}},
		"muted for an hour":      {p, at10(func(i *Incident) { i.Mute = &Mute{Until: at(70)} }), []int{0, 70, 100, 130}},
		"the cause is gone":      {p, at10(func(i *Incident) { i.State = Cleared }), []int{0}},
		"not critical":           {p, func(_ int, i *Incident) { i.Cause.Confidence = "possible" }, nil},
		"critical later": {p, func(m int, i *Incident) {
			if m < 20 {
				i.Cause.Confidence = "possible"
			} else {
				i.Cause.Confidence = "certain"
			}
		}, []int{20, 50, 80, 110}},
	} {
		if diff := cmp.Diff(test.want, calls(broken(t), test.policy, 300, test.change)); diff != "" {
			t.Errorf("%s: minutes of calls (-want +got):\n%s", name, diff)
		}
	}
}

// One that comes and goes does not call each time.
func TestItIsCalmAfterACall(t *testing.T) {
	p := calling(t)
	inc := Tick(broken(t), at(0), p).Incident
	if n := inc.Said.Notes[len(inc.Said.Notes)-1]; strings.Join(n.Mention, " ") != "S0ONCALL01 here" || n.Reason != IsCalled {
		t.Errorf("the call is %+v", n)
	}
	inc.Said.Notes[len(inc.Said.Notes)-1].TS = "1.2"
	inc = look(inc, 1, passed("route/no-egress", subnet), launched("i-2", 1, Joined), readyAt(2))
	inc = look(inc, 3, passed("route/no-egress", subnet), launched("i-2", 1, Joined), readyAt(2))
	inc = look(inc, 10, route("i-3"), launched("i-3", 10, Waiting))
	if inc.Number != 2 || inc.Calls != 0 {
		t.Fatalf("it is %q the time %d", inc.State, inc.Number)
	}
	if d := Tick(inc, at(10), p); d.Changed {
		t.Errorf("called again after ten minutes: %q", d.Reason)
	}
	if d := Tick(inc, at(30), p); d.Reason != IsCalled {
		t.Errorf("not called after the set time: %q", d.Reason)
	}
}

// What Slack could not be told in time calls nobody any more.
func TestCallsAreTakenBack(t *testing.T) {
	p := calling(t)
	inc := Tick(broken(t), at(0), p).Incident
	if d := Tick(inc, at(60), p); d.Changed {
		t.Errorf("a second call is added while the first waits: %q", d.Reason)
	}
	ack, _ := Act(inc, press(Acknowledge, 61), may, at(61))
	if d := Tick(ack.Incident, at(61), p); d.Reason != IsCalmed || strings.Contains(notesOf(d.Incident), "called") {
		t.Errorf("%q, and the thread gets %q", d.Reason, notesOf(d.Incident))
	}
}

// Muted: the message is edited, the ending and what people and remedies do is
// said; the rest is not, also not later.
func TestMuted(t *testing.T) {
	mute := press(MuteFor, 1)
	d, _ := Act(broken(t), mute, may, at(1))
	inc := d.Incident
	p := Propose(inc, proposal("p1", 2, routePlan("nat-0aa4"), "approve"), at(2))
	approve := press(ApprovePlan, 3)
	approve.ID = "approve"
	yes, _ := Act(p.Incident, approve, may, at(3))
	inc = look(yes.Incident, 4, route("i-1"), launched("i-1", 0, Missed))
	inc = look(inc, 8, passed("route/no-egress", subnet))
	inc = look(inc, 12, passed("route/no-egress", subnet), launched("i-2", 10, Joined))
	if got := notesOf(inc); got != "opened approved proved" || !inc.Said.Behind {
		t.Errorf("the thread has %q", got)
	}
	inc = look(inc, 20, route("i-3"), launched("i-3", 20, Waiting))
	if got := notesOf(inc); got != "opened approved proved" || inc.Number != 2 || inc.Ack != nil {
		t.Errorf("it came back while muted: %q, the time %d", got, inc.Number)
	}
	if d := Tick(inc, at(61), calling(t)); d.Incident.Mute != nil || d.Reason != IsCalled {
		t.Errorf("after the mute: %+v, %q", d.Incident.Mute, d.Reason)
	}
}
