package response_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rollcall/shared/checkid"
	"rollcall/shared/config"
	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/incident/reconcile"
	"rollcall/shared/incident/response"
	"rollcall/shared/ownership"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	"rollcall/shared/routing"
)

// becomes holds a step against the reason that it should have and against all
// that it should change of an incident; where that is nothing (nil), nothing is to
// be saved. What it was given stays as it was.
func becomes(t *testing.T, name string, inc incident.Incident, do func(incident.Incident) incident.Decision, reason incident.Reason, change func(*incident.Incident)) incident.Incident {
	t.Helper()
	inc = inc.Clone()
	inc.Delivery.Dirty = false
	room := append(make([]string, 0, len(inc.Applied)+1), inc.Applied...)
	inc.Applied = room
	want, before := inc.Clone(), incidenttest.Encoded(t, inc)
	if change != nil {
		want.Delivery.Dirty = true
		change(&want)
	}
	d := do(inc)
	if d.Reason != reason || d.Changed != (change != nil) {
		t.Errorf("%s: %q, changed %t; want %q, %t", name, d.Reason, d.Changed, reason, change != nil)
	}
	if diff := cmp.Diff(want, d.Incident, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
	if !bytes.Equal(before, incidenttest.Encoded(t, inc)) || room[:cap(room)][len(room)] != "" {
		t.Errorf("%s: the incident that it was given is another now", name)
	}
	return d.Incident
}

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
		if d.Reason == incident.IsCalled || d.Reason == incident.IsReminded || d.Reason == incident.IsEscalated {
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
	routes, err := routing.Parse("eks-workshop/critical=@S0ONCALL01@S0LEADS001")
	if err != nil {
		t.Fatal(err)
	}
	leads, once := p, never
	leads.Routes, once.Routes = routes, routes
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
		"nobody takes it on": {p, nil, []int{0, 30, 60, 90}},
		"then it escalates":  {leads, nil, []int{0, 30, 60, 90, 120}},
		"somebody came": {leads, func(m int, i *incident.Incident) {
			if m == 100 {
				i.Ack = &incident.Ack{By: incidenttest.Oncall}
			}
		}, []int{0, 30, 60, 90}},
		"no reminders":           {never, nil, []int{0}},
		"nor an escalation":      {once, nil, []int{0}},
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

// A call that could not be posted in time is dropped.
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

// A call of what the channel gets anyway stands there: one new line, not two.
// No call is made once the incident is acknowledged.
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

func TestChangesAreSaidOnce(t *testing.T) {
	inc := incidenttest.Broken(t)
	other := incidenttest.Changes("c0", report.RecentChanges{Changes: []report.Change{incidenttest.Change("a", -18)}})
	other.Opened = incidenttest.At(-60)
	if d := response.ApplyChanges(inc, other, incidenttest.At(6)); d.Reason != incident.OutOfDate || d.Changed {
		t.Errorf("of an earlier opening: %q", d.Reason)
	}
	steps := []struct {
		trail report.RecentChanges
		want  incident.Reason
		found int
	}{
		{report.RecentChanges{Open: true}, incident.NothingNew, 0},
		{report.RecentChanges{Open: true, Changes: []report.Change{incidenttest.Change("a", -18)}}, incident.HasChanges, 1},
		{report.RecentChanges{Open: true, Changes: []report.Change{incidenttest.Change("b", -5), incidenttest.Change("a", -18)}}, incident.NothingNew, 2},
		{report.RecentChanges{Open: true, Blind: "cloudtrail:LookupEvents throttled"}, incident.NothingNew, 2},
		{report.RecentChanges{Changes: []report.Change{incidenttest.Change("b", -5)}}, incident.HasChanges, 2}, // the thread has one of them
		{report.RecentChanges{Changes: []report.Change{incidenttest.Change("b", -5)}, Shown: 1}, incident.NothingNew, 2},
	}
	for i, s := range steps {
		c := incidenttest.Changes(fmt.Sprint("c", i+1), s.trail)
		d := response.ApplyChanges(inc, c, incidenttest.At(6+i))
		if d.Reason != s.want || len(d.Incident.RecentChanges.Changes) != s.found || !d.Incident.Delivery.Dirty {
			t.Errorf("step %d: %q, %+v", i, d.Reason, d.Incident.RecentChanges)
		}
		if again := response.ApplyChanges(d.Incident, c, incidenttest.At(6+i)); again.Reason != incident.AlreadyApplied {
			t.Errorf("step %d twice: %q", i, again.Reason)
		}
		inc = d.Incident
	}
	if got := inc.RecentChanges.Changes[0].ID; got != "b" || strings.Count(incidenttest.NotesOf(inc), "changes") != 2 {
		t.Errorf("the newest is %q, the thread has %q", got, incidenttest.NotesOf(inc))
	}
	if d := response.ApplyChanges(incidenttest.Broken(t), incidenttest.Changes("c9", report.RecentChanges{}), incidenttest.At(6)); d.Reason != incident.HasChanges {
		t.Errorf("that nothing was found is %q", d.Reason)
	}
}

func TestTrailIsBounded(t *testing.T) {
	trail := report.RecentChanges{More: 7}
	for i := range 500 {
		c := incidenttest.Change(fmt.Sprint(i), -i)
		c.Principal = strings.Repeat("ä", 3000)
		trail.Changes = append(trail.Changes, c)
	}
	got := response.ApplyChanges(incidenttest.Broken(t), incidenttest.Changes("c", trail), incidenttest.At(6)).Incident
	if n := len(got.RecentChanges.Changes); n != response.MaxChanges || got.RecentChanges.More != 457 || got.RecentChanges.Changes[0].ID != "0" || got.Size() > 120<<10 {
		t.Errorf("%d changes and %d more, %d bytes", n, got.RecentChanges.More, got.Size())
	}
	if small := got.Fit(8 << 10); small.RecentChanges.More != 497 || len(small.RecentChanges.Changes) != 10 {
		t.Errorf("where there is no room: %d changes and %d more", len(small.RecentChanges.Changes), small.RecentChanges.More)
	}
}

func TestRouteByTagsOfItsNodegroups(t *testing.T) {
	routes, err := routing.Parse("eks-workshop/team:payments=C0PAY,all/critical=C0PAGES")
	if err != nil {
		t.Fatal(err)
	}
	p := incidenttest.Policy
	p.Routes, p.TagKeys, p.Channel = routes, routing.TagKeys(routes), "C0USUAL"
	obs := incidenttest.Observe(incidenttest.Route("i-1"), incidenttest.Launched("i-1", 0, report.Waiting), incidenttest.Named("a"))
	obs.At = incidenttest.At(0)
	obs.Tags = map[string]map[string]string{"workers": {"team": "payments", "owner": "x"}, "other": {"team": "search"}}
	inc := reconcile.Decide(nil, obs, incidenttest.At(0), p)[0].Incident
	if got := inc.Tags; len(got) != 1 || len(got["workers"]) != 1 {
		t.Errorf("kept are %v, want the one tag that routes ask for, of the nodegroup in question", got)
	}
	if channel, _ := incident.Route(inc, p); channel != "C0PAY" {
		t.Errorf("it goes to %s", channel)
	}
	inc.Tags = nil
	if channel, _ := incident.Route(inc, p); channel != "C0PAGES" {
		t.Errorf("without tags it goes to %s", channel)
	}
	inc.State = incident.Cleared
	if channel, _ := incident.Route(inc, p); channel != "C0USUAL" {
		t.Errorf("not critical it goes to %s", channel)
	}
}

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

func run(result remedy.Status, ended int) *remedy.Run {
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
	begun := func(o incident.Offer, result remedy.Status) incident.Offer { o.Run = run(result, 5); return o }
	none := report.Proposal{Head: report.Head{ID: "p2", At: incidenttest.At(9), Key: incidenttest.TheRoute}, Remedy: optin.AddNATRoute, Says: "there is no gateway"}
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
				i.SplitLine()
			}},
		"another, whose time nobody looked at": {with(broken, offer(incident.Offered, nat, 3)), incidenttest.Proposal("p2", 70, other, optin.Approve), incident.IsProposed,
			func(i *incident.Incident) {
				i.Offers[0].State = incident.Expired
				i.Offers = append(i.Offers, offer(incident.Offered, other, 70))
				o := i.Offers[1]
				i.AddNote(incident.IsProposed, incidenttest.At(70)).Offer = &o
				i.SplitLine()
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
			i.SplitLine()
		}},
		"beside what there is of another remedy": {with(broken, begun(offer(incident.Approved, replacePlan("i-1"), 20), "")), incidenttest.Proposal("p2", 9, nat, optin.Approve), incident.IsProposed,
			func(i *incident.Incident) {
				i.Offers = append(i.Offers, offer(incident.Offered, nat, 9))
				o := i.Offers[1]
				i.AddNote(incident.IsProposed, incidenttest.At(9)).Offer = &o
				i.SplitLine()
			}},
		"what helped before":                    {with(broken, offer(incident.Helped, nat, 3)), incidenttest.Proposal("p2", 9, nat, optin.Approve), incident.NothingNew, nil},
		"what did not help":                     {with(broken, offer(incident.Unhelpful, nat, 3)), incidenttest.Proposal("p2", 9, nat, optin.Approve), incident.NothingNew, nil},
		"what nobody knows whether it was done": {with(broken, begun(offer(incident.Acted, nat, 3), remedy.Uncertain)), incidenttest.Proposal("p2", 9, nat, optin.Approve), incident.NothingNew, nil},

		"taken back": {with(broken, offer(incident.Offered, nat, 3)), none, incident.IsOutdated, func(i *incident.Incident) {
			i.Offers[0].State, i.Offers[0].Says = incident.Outdated, none.Says
		}},
		"taken back, after another was done": {with(broken, begun(offer(incident.Acted, other, 2), remedy.Done), offer(incident.Offered, nat, 3)), none, incident.IsOutdated, func(i *incident.Incident) {
			i.Offers[1].State, i.Offers[1].Says = incident.Outdated, none.Says
		}},
		"a wait taken back": {with(broken, offer(incident.Deferred, nat, 3)), none, incident.IsOutdated, func(i *incident.Incident) {
			i.Offers[0].State, i.Offers[0].Says = incident.Outdated, none.Says
		}},
		"a wait taken back, after a part was done": {with(broken, begun(offer(incident.Acted, other, 2), remedy.Done), offer(incident.Deferred, nat, 3)), none, incident.IsOutdated, func(i *incident.Incident) {
			i.Offers = i.Offers[:1]
		}},
		"why there is none":                {broken, none, incident.IsOutdated, func(i *incident.Incident) { o := why(none.Says); o.Made = none.At; i.Offers = []incident.Offer{o} }},
		"there is none, and nobody says":   {broken, quiet, incident.NothingNew, nil},
		"there is none, for another cause": {with(broken, why("not opted in")), none, incident.IsOutdated, func(i *incident.Incident) { i.Offers[0].Says = none.Says }},
		"there is none, as before":         {with(broken, why(none.Says)), none, incident.NothingNew, nil},
		"there is none, nor any news":      {with(broken, why("not opted in")), quiet, incident.NothingNew, nil},
		"there is none after a run":        {with(broken, begun(offer(incident.Acted, nat, 3), remedy.Done)), none, incident.NothingNew, nil},
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

// What the passing of time makes of an incident, all of it.
func TestWhatTimeChanges(t *testing.T) {
	nat := incidenttest.RoutePlan("nat-0aa4")
	broken := incidenttest.Broken(t)
	in := func(change func(*incident.Incident)) incident.Incident {
		inc := broken.Clone()
		change(&inc)
		return inc
	}
	approved := func(decided, began int) incident.Incident {
		o := offer(incident.Approved, nat, 0)
		o.Expires, o.Decided = incidenttest.At(10), incidenttest.At(decided)
		if began > 0 {
			o.Run = run("", began+1)
		}
		return with(broken, o)
	}
	lost := func(i *incident.Incident) {
		i.Offers[0].State, i.Offers[0].Says = incident.Expired, "it was approved, but no result arrived"
	}
	waiting := func(state incident.State) incident.Incident {
		o := offer(incident.Deferred, nat, 3)
		o.After = incidenttest.At(9)
		inc := with(broken, o)
		inc.State = state
		return inc
	}
	twoWeeks := int(incident.MaxUnseen / time.Minute)
	for name, test := range map[string]struct {
		inc    incident.Incident
		minute int
		reason incident.Reason
		change func(*incident.Incident)
	}{
		"of what nobody was told nothing comes": {in(func(i *incident.Incident) { i.Number, i.Mute = 0, &incident.Mute{} }), 9, incident.NothingNew, nil},
		"a mute ends":                           {in(func(i *incident.Incident) { i.Mute = &incident.Mute{Until: incidenttest.At(9)} }), 9, incident.IsUnmuted, func(i *incident.Incident) { i.Mute = nil }},
		"an offer expires":                      {with(broken, offer(incident.Offered, nat, 0)), 60, incident.IsExpired, func(i *incident.Incident) { i.Offers[0].State = incident.Expired }},
		"a yes is heard of yet":                 {approved(9, 0), 23, incident.NothingNew, nil},
		"a yes is not heard of":                 {approved(9, 0), 24, incident.IsExpired, lost},
		"it is being done":                      {approved(9, 10), 69, incident.NothingNew, nil},
		"it is done for too long":               {approved(9, 10), 70, incident.IsExpired, lost},
		"a wait is over": {waiting(incident.Open), 9, incident.IsDue, func(i *incident.Incident) {
			i.Offers[0].Woken = incidenttest.At(9)
			i.AddEvent(incident.IsDue, incidenttest.At(9))
		}},
		"and its incident too":              {waiting(incident.Closed), 9, incident.NothingNew, nil},
		"and its incident is of no account": {waiting(incident.Pending), 9, incident.NothingNew, nil},
		"an hour of silence":                {broken, 60, incident.NothingNew, nil},
		"two weeks of silence": {broken, twoWeeks, incident.IsWithdrawn, func(i *incident.Incident) {
			at := incidenttest.At(twoWeeks)
			i.Apply(i.AfterSilence(at), at)
			i.Changed = at
			i.AddNote(incident.IsWithdrawn, at)
			i.AddEvent(incident.IsWithdrawn, at)
		}},
	} {
		becomes(t, name, test.inc, func(inc incident.Incident) incident.Decision {
			return response.Tick(inc, incidenttest.At(test.minute), incidenttest.Policy)
		}, test.reason, test.change)
	}
}

// Who is called, and what calls are taken back.
func TestWhoIsCalled(t *testing.T) {
	p := calling(t)
	never := p
	never.RemindAfter = 0
	all, err := routing.Parse("eks-workshop=@S0ONCALL01+here")
	if err != nil {
		t.Fatal(err)
	}
	always := p
	always.Routes = all
	escalating, err := routing.Parse("eks-workshop/critical=@S0ONCALL01+here@S0LEADS001")
	if err != nil {
		t.Fatal(err)
	}
	leads := p
	leads.Routes = escalating
	in := func(change func(*incident.Incident)) incident.Incident {
		inc := incidenttest.Broken(t)
		change(&inc)
		return inc
	}
	called := func(r incident.Reason, ts string) func(*incident.Incident) {
		return func(i *incident.Incident) {
			i.Called, i.Calls = incidenttest.At(0), 1
			i.AddNote(r, incidenttest.At(0)).TS = ts
		}
	}
	taken := func(r incident.Reason, ts string, sending time.Time) incident.Incident {
		return in(func(i *incident.Incident) {
			called(r, ts)(i)
			i.Delivery.Notes[len(i.Delivery.Notes)-1].Sending = sending
			i.Ack = &incident.Ack{By: incidenttest.Oncall}
		})
	}
	calls := func(r incident.Reason, minute, n int) func(*incident.Incident) {
		return func(i *incident.Incident) {
			i.Called, i.Calls = incidenttest.At(minute), n
			i.AddNote(r, incidenttest.At(minute)).Mention = []string{"S0ONCALL01", "here"}
		}
	}
	back := func(i *incident.Incident) { i.Delivery.Notes = i.Delivery.Notes[:len(i.Delivery.Notes)-1] }
	for name, test := range map[string]struct {
		inc    incident.Incident
		policy incident.Policy
		minute int
		reason incident.Reason
		change func(*incident.Incident)
	}{
		"the first time":           {incidenttest.Broken(t), p, 0, incident.IsCalled, calls(incident.IsCalled, 0, 1)},
		"the second time":          {in(called(incident.IsCalled, "1.2")), p, 30, incident.IsReminded, calls(incident.IsReminded, 30, 2)},
		"not again after the last": {in(func(i *incident.Incident) { i.Called, i.Calls = incidenttest.At(0), response.MostCalls }), p, 30, incident.NothingNew, nil},
		"the escalation": {in(func(i *incident.Incident) { i.Called, i.Calls = incidenttest.At(0), response.MostCalls }), leads, 30, incident.IsEscalated, func(i *incident.Incident) {
			i.Called, i.Calls = incidenttest.At(30), response.MostCalls+1
			i.AddNote(incident.IsEscalated, incidenttest.At(30)).Mention = []string{"S0LEADS001"}
		}},
		"not twice":                {in(func(i *incident.Incident) { i.Called, i.Calls = incidenttest.At(0), response.MostCalls+1 }), leads, 300, incident.NothingNew, nil},
		"not before":               {in(called(incident.IsCalled, "1.2")), p, 29, incident.NothingNew, nil},
		"only once":                {in(called(incident.IsCalled, "1.2")), never, 300, incident.NothingNew, nil},
		"the last was not taken":   {in(called(incident.IsReminded, "")), p, 30, incident.NothingNew, nil},
		"it is a warning":          {in(func(i *incident.Incident) { i.Cause.Confidence = "possible" }), always, 0, incident.NothingNew, nil},
		"it is not said yet":       {in(func(i *incident.Incident) { i.State = incident.Pending }), p, 0, incident.NothingNew, nil},
		"it was given up on":       {in(func(i *incident.Incident) { i.State, i.Resolution = incident.Closed, incident.GivenUpOn }), p, 0, incident.NothingNew, nil},
		"taken back":               {taken(incident.IsCalled, "", time.Time{}), p, 5, incident.IsCalmed, back},
		"the second is taken back": {taken(incident.IsReminded, "", time.Time{}), p, 5, incident.IsCalmed, back},
		"what Slack took stays":    {taken(incident.IsCalled, "1.2", time.Time{}), p, 5, incident.NothingNew, nil},
		"what Slack may have too":  {taken(incident.IsCalled, "", incidenttest.At(4)), p, 5, incident.NothingNew, nil},
		"nothing else is":          {taken(incident.RemedyDone, "", time.Time{}), p, 5, incident.NothingNew, nil},
	} {
		becomes(t, name, test.inc, func(inc incident.Incident) incident.Decision {
			return response.Tick(inc, incidenttest.At(test.minute), test.policy)
		}, test.reason, test.change)
	}
}

// What a wait makes of the offers that there are.
func TestWhatAWaitChanges(t *testing.T) {
	nat, parts := incidenttest.RoutePlan("nat-0aa4"), replacePlan("i-1")
	broken := incidenttest.Broken(t)
	cleared := broken.Clone()
	cleared.State, cleared.Cleared = incident.Cleared, incidenttest.At(1)
	wait := func(policy optin.Policy, why string, after int) report.Proposal {
		p := waits("w1", 9, after, policy, why)
		p.Plan, p.Hash, p.Tried = parts, parts.Hash(), 2
		return p
	}
	route := wait(optin.Auto, report.LimitReached, 20)
	route.Remedy, route.Plan, route.Hash = optin.AddNATRoute, nat, nat.Hash()
	kept := func(p report.Proposal, after int, again bool) incident.Offer {
		return incident.Offer{Plan: p.Plan, Hash: p.Hash, Policy: p.Policy, State: incident.Deferred, Made: incidenttest.At(9), After: incidenttest.At(after),
			Tried: 2, Reason: p.Reason, Says: p.Says, Again: again}
	}
	says := func(i *incident.Incident) {
		o := i.Offers[len(i.Offers)-1]
		i.AddNote(incident.IsDeferred, incidenttest.At(9)).Offer = &o
	}
	auto := func(o incident.Offer, begun bool) incident.Offer {
		o.Policy = optin.Auto
		if begun {
			o.Run = run("", 4)
		}
		return o
	}
	before := func(why string) incident.Offer {
		o := offer(incident.Deferred, parts, 3)
		o.Reason = why
		return o
	}
	again := offer(incident.Acted, parts, 2)
	again.Again = true
	limited, failed := wait(optin.Auto, report.LimitReached, 20), wait(optin.Auto, string(remedy.CouldNotLook), 20)
	asked, more := wait(optin.Approve, report.LimitReached, 20), wait(optin.Auto, report.MoreLeft, 20)
	none := incident.Offer{State: incident.Outdated, Made: incidenttest.At(2), Says: "no"}
	none.Plan.Remedy = optin.ReplaceInstance
	old := offer(incident.Outdated, parts, 2)
	sooner, later := wait(optin.Auto, report.LimitReached, 9), wait(optin.Auto, report.LimitReached, 200)
	for name, test := range map[string]struct {
		inc    incident.Incident
		p      report.Proposal
		reason incident.Reason
		change func(*incident.Incident)
	}{
		"for the limit":                  {cleared, limited, incident.IsDeferred, func(i *incident.Incident) { i.Offers = []incident.Offer{kept(limited, 20, true)}; says(i) }},
		"for a look":                     {cleared, failed, incident.IsDeferred, func(i *incident.Incident) { i.Offers = []incident.Offer{kept(failed, 20, false)} }},
		"of what is left":                {cleared, more, incident.IsDeferred, func(i *incident.Incident) { i.Offers = []incident.Offer{kept(more, 20, true)} }},
		"of what a person decides":       {cleared, asked, incident.IsDeferred, func(i *incident.Incident) { i.Offers = []incident.Offer{kept(asked, 20, true)} }},
		"after a part":                   {with(cleared, again), failed, incident.IsDeferred, func(i *incident.Incident) { i.Offers = append(i.Offers, kept(failed, 20, true)) }},
		"after what waited for nothing":  {with(cleared, old), failed, incident.IsDeferred, func(i *incident.Incident) { i.Offers = append(i.Offers, kept(failed, 20, false)) }},
		"no sooner than in a minute":     {cleared, sooner, incident.IsDeferred, func(i *incident.Incident) { i.Offers = []incident.Offer{kept(sooner, 10, true)}; says(i) }},
		"no later than in two hours":     {cleared, later, incident.IsDeferred, func(i *incident.Incident) { i.Offers = []incident.Offer{kept(later, 129, true)}; says(i) }},
		"for the limit still":            {with(cleared, before(report.LimitReached)), limited, incident.IsDeferred, func(i *incident.Incident) { i.Offers = []incident.Offer{kept(limited, 20, true)} }},
		"for a look, and then the limit": {with(cleared, before(string(remedy.CouldNotLook))), limited, incident.IsDeferred, func(i *incident.Incident) { i.Offers = []incident.Offer{kept(limited, 20, true)}; says(i) }},
		"in the place of why there was none": {with(cleared, none), limited, incident.IsDeferred, func(i *incident.Incident) {
			i.Offers = []incident.Offer{kept(limited, 20, true)}
			says(i)
		}},
		"in the place of the policy's yes":   {with(cleared, auto(offer(incident.Approved, parts, 3), false)), limited, incident.IsDeferred, func(i *incident.Incident) { i.Offers = []incident.Offer{kept(limited, 20, true)}; says(i) }},
		"not of what the policy has done":    {with(cleared, auto(offer(incident.Approved, parts, 3), true)), limited, incident.NothingNew, nil},
		"not of what a person has approved":  {with(cleared, offer(incident.Approved, parts, 3)), limited, incident.NothingNew, nil},
		"not of what a person may approve":   {with(cleared, offer(incident.Offered, parts, 3)), limited, incident.NothingNew, nil},
		"of the cause's own remedy":          {broken, route, incident.IsDeferred, func(i *incident.Incident) { i.Offers = []incident.Offer{kept(route, 20, true)}; says(i) }},
		"of that one when the cause is gone": {cleared, func() report.Proposal { p := route; p.Hash = ""; return p }(), incident.OutOfDate, nil},
		"of a replacement before it is gone": {broken, limited, incident.OutOfDate, nil},
		"older than what is known":           {with(cleared, offer(incident.Acted, parts, 10)), limited, incident.OutOfDate, nil},
	} {
		change := test.change
		if change != nil {
			change = func(i *incident.Incident) { test.change(i); i.Applied = append(i.Applied, "w1") }
		}
		becomes(t, name, test.inc, propose(test.p), test.reason, change)
	}
}

func TestVet(t *testing.T) {
	now := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	good := report.Press{Head: report.Head{ID: "p", At: now, Key: report.Key{Cluster: "prod", Check: "route/no-egress", Resource: "rtb-1"}}, User: report.User{ID: "U1"}, Channel: "C1", TS: "1.2"}
	known := &report.PressRecord{Format: report.PressRecordFormat, Digest: "d"}
	for name, test := range map[string]struct {
		change func(*report.Press)
		digest string
		record *report.PressRecord
		want   incident.AnswerReason
	}{
		"passed on":       {nil, "d", known, ""},
		"no record":       {nil, "d", nil, incident.NotPassedOn},
		"claimed alone":   {nil, "", &report.PressRecord{Format: report.PressRecordFormat}, incident.NotPassedOn},
		"another message": {nil, "e", known, incident.NotPassedOn},
		"no channel":      {func(p *report.Press) { p.Channel = "" }, "d", known, incident.Incomplete},
		"no message":      {func(p *report.Press) { p.TS = "" }, "d", known, incident.Incomplete},
		"nobody":          {func(p *report.Press) { p.User.ID = "" }, "d", known, incident.Incomplete},
		"three hours old": {func(p *report.Press) { p.At = now.Add(-response.PressLasts) }, "d", known, ""},
		"older":           {func(p *report.Press) { p.At = now.Add(-response.PressLasts - 1) }, "d", known, incident.TooLate},
		"a minute ahead":  {func(p *report.Press) { p.At = now.Add(time.Minute) }, "d", known, ""},
		"further ahead":   {func(p *report.Press) { p.At = now.Add(time.Minute + 1) }, "d", known, incident.FromFuture},
		"no time":         {func(p *report.Press) { p.At = time.Time{} }, "d", known, incident.TooLate},
	} {
		p := good
		if test.change != nil {
			test.change(&p)
		}
		a := response.VetPress(p, test.digest, test.record, now)
		if a.Reason != test.want || a.Done() || a.Proven() != (test.want != incident.NotPassedOn) {
			t.Errorf("%s: %+v, want %q", name, a, test.want)
		}
	}
}

// TestTheDigestIsOfTheBytesThatTravel: what arrives has the digest of what was
// sent, and one that differs anywhere has another.
func TestTheDigestIsOfTheBytesThatTravel(t *testing.T) {
	p := report.Press{Head: report.Head{ID: "p", At: time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC), Key: report.Key{Cluster: "prod", Check: "route/no-egress", Resource: "rtb-1"}}, Action: report.ApprovePlan, Plan: "a"}
	sent, err := report.EncodePress(p)
	if err != nil {
		t.Fatal(err)
	}
	got, err := report.DecodeMessage(sent.Body)
	if err != nil || got.Press == nil || got.Digest != sent.Digest() || len(got.Digest) != 64 || got.Press.Plan != "a" {
		t.Errorf("arrived %+v, %v", got, err)
	}
	p.Plan = "b"
	if other, err := report.EncodePress(p); err != nil || other.Digest() == sent.Digest() {
		t.Errorf("another plan has the same digest: %v", err)
	}
}

func TestWrongProposalsChangeNothing(t *testing.T) {
	good := incidenttest.Proposal("p1", 2, incidenttest.RoutePlan("nat-0aa4"), optin.Approve)
	with := func(change func(*report.Proposal)) report.Proposal { p := good; change(&p); return p }
	rehash := func(change func(*remedy.Plan)) report.Proposal {
		return with(func(p *report.Proposal) { change(&p.Plan); p.Hash = p.Plan.Hash() })
	}
	ofSpoke := func(change func(*remedy.Plan)) report.Proposal {
		return with(func(p *report.Proposal) {
			p.Key.Spoke, p.Plan.Account, p.Plan.Region = incidenttest.Spoke, incidenttest.Spoke.Account, incidenttest.Spoke.Region
			change(&p.Plan)
			p.Hash = p.Plan.Hash()
		})
	}
	if d := response.Propose(incidenttest.Broken(t), ofSpoke(func(*remedy.Plan) {}), incidenttest.At(4)); d.Reason != incident.IsProposed {
		t.Errorf("a plan of the incident's own account and region: %q", d.Reason)
	}
	in := func(change func(*incident.Incident)) incident.Incident {
		inc := incidenttest.Broken(t)
		change(&inc)
		return inc
	}
	for name, test := range map[string]struct {
		inc  incident.Incident
		p    report.Proposal
		want incident.Reason
	}{
		"another hash":              {incidenttest.Broken(t), with(func(p *report.Proposal) { p.Hash = incidenttest.RoutePlan("nat-evil").Hash() }), incident.IsMalformed},
		"another plan":              {incidenttest.Broken(t), with(func(p *report.Proposal) { p.Plan = incidenttest.RoutePlan("nat-evil") }), incident.IsMalformed},
		"another remedy":            {incidenttest.Broken(t), with(func(p *report.Proposal) { p.Remedy = optin.ReplaceInstance }), incident.IsMalformed},
		"of another cluster":        {incidenttest.Broken(t), rehash(func(p *remedy.Plan) { p.Cluster = "dev" }), incident.IsMalformed},
		"of another check":          {incidenttest.Broken(t), rehash(func(p *remedy.Plan) { p.Check = "route/blackhole" }), incident.IsMalformed},
		"of another resource":       {incidenttest.Broken(t), rehash(func(p *remedy.Plan) { p.Resource = "rtb-0eee" }), incident.IsMalformed},
		"of another account":        {incidenttest.Broken(t), ofSpoke(func(p *remedy.Plan) { p.Account = "123456789012" }), incident.IsMalformed},
		"of another region":         {incidenttest.Broken(t), ofSpoke(func(p *remedy.Plan) { p.Region = "us-west-2" }), incident.IsMalformed},
		"of a newer form":           {incidenttest.Broken(t), rehash(func(p *remedy.Plan) { p.Format++ }), incident.IsMalformed},
		"policy off":                {incidenttest.Broken(t), with(func(p *report.Proposal) { p.Policy = optin.Off }), incident.IsMalformed},
		"no remedy":                 {incidenttest.Broken(t), report.Proposal{Head: report.Head{ID: "p1", At: incidenttest.At(2), Key: incidenttest.TheRoute}}, incident.IsMalformed},
		"closed":                    {in(func(i *incident.Incident) { i.State = incident.Closed }), good, incident.OutOfDate},
		"said to nobody":            {in(func(i *incident.Incident) { i.Number = 0 }), good, incident.OutOfDate},
		"from before it was opened": {in(func(i *incident.Incident) { i.Opened = incidenttest.At(3) }), good, incident.OutOfDate},
		"the cause is gone":         {in(func(i *incident.Incident) { i.State = incident.Cleared }), good, incident.OutOfDate},
		"nothing to take back":      {incidenttest.Broken(t), with(func(p *report.Proposal) { p.Hash, p.Plan = "", remedy.Plan{} }), incident.NothingNew},
		"again":                     {incidenttest.Proposed(t), good, incident.AlreadyApplied},
		"older than the last":       {incidenttest.Proposed(t), incidenttest.Proposal("p0", 1, incidenttest.RoutePlan("nat-0old"), optin.Approve), incident.OutOfDate},
	} {
		if d := response.Propose(test.inc, test.p, incidenttest.At(4)); d.Reason != test.want || d.Changed {
			t.Errorf("%s: %q, changed %v; want %q", name, d.Reason, d.Changed, test.want)
		}
	}
}

func TestProposalsReplaceOneAnother(t *testing.T) {
	inc := incidenttest.Proposed(t)
	if n := inc.Delivery.Notes[len(inc.Delivery.Notes)-1]; n.Reason != incident.IsProposed || n.Offer == nil || n.Offer.Hash != inc.Offers[0].Hash {
		t.Errorf("the note is %+v", n)
	}
	same := response.Propose(inc, incidenttest.Proposal("p2", 30, incidenttest.RoutePlan("nat-0aa4"), optin.Approve), incidenttest.At(30))
	if o := same.Incident.Offers; same.Reason != incident.IsRenewed || len(o) != 1 || !o[0].Expires.Equal(incidenttest.At(90)) || len(same.Incident.Delivery.Notes) != len(inc.Delivery.Notes) {
		t.Errorf("the same plan from a fresh look: %q, %+v", same.Reason, o)
	}
	other := response.Propose(inc, incidenttest.Proposal("p3", 30, incidenttest.RoutePlan("nat-0bb5"), optin.Approve), incidenttest.At(30)).Incident
	if o := other.Offers; len(o) != 2 || o[0].State != incident.Outdated || o[1].State != incident.Offered {
		t.Errorf("another plan: %+v", o)
	}
	back := response.Propose(inc, report.Proposal{Head: report.Head{ID: "p4", At: incidenttest.At(30), Key: incidenttest.TheRoute}, Remedy: optin.AddNATRoute, Says: "nat-0aa4 is gone"}, incidenttest.At(30))
	if o := back.Incident.Offers[0]; back.Reason != incident.IsOutdated || o.State != incident.Outdated || o.Says != "nat-0aa4 is gone" {
		t.Errorf("taken back: %q, %+v", back.Reason, o)
	}
	none := report.Proposal{Head: report.Head{ID: "p8", At: incidenttest.At(3), Key: incidenttest.TheRoute}, Remedy: optin.AddNATRoute, Says: "vpc-0a is not opted in"}
	why := response.Propose(incidenttest.Broken(t), none, incidenttest.At(3))
	if o := why.Incident.Offers; why.Reason != incident.IsOutdated || len(o) != 1 || o[0].State != incident.Outdated || o[0].Says != none.Says {
		t.Errorf("why there is no plan: %q, %+v", why.Reason, o)
	}
	if _, a := response.Act(why.Incident, incidenttest.Press(report.ApprovePlan, 5), incidenttest.May, incidenttest.At(5)); a.Reason != incident.NoSuchPlan {
		t.Errorf("what is no plan is approved: %+v", a)
	}
	auto := response.Propose(incidenttest.Broken(t), incidenttest.Proposal("p9", 2, incidenttest.RoutePlan("nat-0aa4"), optin.Auto), incidenttest.At(2)).Incident
	none.ID, none.At = "p10", incidenttest.At(3)
	if o := response.Propose(auto, none, incidenttest.At(3)).Incident.Offers[0]; o.State != incident.Outdated {
		t.Errorf("the policy's plan is not made any more, and is %q", o.State)
	}
	approved, _ := response.Act(inc, incidenttest.Press(report.ApprovePlan, 5), incidenttest.May, incidenttest.At(5))
	for _, p := range []report.Proposal{
		incidenttest.Proposal("p5", 6, incidenttest.RoutePlan("nat-0aa4"), optin.Approve), incidenttest.Proposal("p6", 6, incidenttest.RoutePlan("nat-0bb5"), optin.Approve),
		{Head: report.Head{ID: "p7", At: incidenttest.At(6), Key: incidenttest.TheRoute}, Remedy: optin.AddNATRoute},
	} {
		if d := response.Propose(approved.Incident, p, incidenttest.At(6)); d.Changed {
			t.Errorf("an approved plan is touched by %s: %q, %+v", p.ID, d.Reason, d.Incident.Offers)
		}
	}
}

func TestAutoIsApprovedByPolicy(t *testing.T) {
	d := response.Propose(incidenttest.Broken(t), incidenttest.Proposal("p1", 2, incidenttest.RoutePlan("nat-0aa4"), optin.Auto), incidenttest.At(2))
	inc := d.Incident
	if o := inc.Offers[0]; d.Reason != incident.IsApproved || o.State != incident.Approved || o.By != (report.User{}) || !o.Decided.Equal(incidenttest.At(2)) {
		t.Errorf("%q, %+v", d.Reason, o)
	}
	if len(inc.Acts) != 1 || inc.Acts[0].User != (report.User{}) || inc.PendingEvents[len(inc.PendingEvents)-1].Kind == incident.EventApproved {
		t.Errorf("audit %+v, last event %q: remediate acts on its own", inc.Acts, inc.PendingEvents[len(inc.PendingEvents)-1].Kind)
	}
	if _, a := response.Act(inc, incidenttest.Press(report.ApprovePlan, 5), incidenttest.May, incidenttest.At(5)); a.Reason != incident.AlreadyDecided || a.By.ID != "" {
		t.Errorf("a person approves it again: %+v", a)
	}
	key := report.Key{Cluster: incidenttest.Cluster, Check: checkid.IPLeakedInterfaces, Resource: incidenttest.Subnet}
	leak := incidenttest.Broken(t)
	leak.Key = key
	p := remedy.Plan{Format: remedy.Format, Remedy: optin.DeleteLeakedInterfaces, Cluster: incidenttest.Cluster, Check: key.Check, Resource: incidenttest.Subnet, Cleanup: &remedy.DeleteLeakedInterfaces{Subnet: incidenttest.Subnet, Interfaces: []string{"eni-1"}}}
	got := response.Propose(leak, report.Proposal{Head: report.Head{ID: "p2", At: incidenttest.At(2), Cluster: incidenttest.Cluster, Key: key}, Remedy: p.Remedy, Policy: optin.Auto, Plan: p, Hash: p.Hash()}, incidenttest.At(2)).Incident
	if e := got.PendingEvents[len(got.PendingEvents)-1]; e.Kind != incident.EventApproved || e.Offer.Plan.Cleanup == nil {
		t.Errorf("eni-cleanup is not told: %+v", e)
	}
}

func TestOffersEnd(t *testing.T) {
	tick := func(inc incident.Incident, minute int) incident.Incident {
		return response.Tick(inc, incidenttest.At(minute), incidenttest.Policy).Incident
	}
	if o := tick(incidenttest.Proposed(t), 61).Offers[0]; o.State != incident.Offered {
		t.Errorf("a minute before its time it is %q", o.State)
	}
	expired := response.Tick(incidenttest.Proposed(t), incidenttest.At(62), incidenttest.Policy)
	if o := expired.Incident.Offers[0]; expired.Reason != incident.IsExpired || o.State != incident.Expired || !expired.Incident.Delivery.Dirty {
		t.Errorf("at its time: %q, %q", expired.Reason, o.State)
	}
	if d := response.Propose(expired.Incident, incidenttest.Proposal("p2", 63, incidenttest.RoutePlan("nat-0aa4"), optin.Approve), incidenttest.At(63)); d.Reason != incident.IsProposed || len(d.Incident.Delivery.Notes) != len(expired.Incident.Delivery.Notes) {
		t.Errorf("it may be offered anew, without another note: %q", d.Reason)
	}
	approved, _ := response.Act(incidenttest.Proposed(t), incidenttest.Press(report.ApprovePlan, 61), incidenttest.May, incidenttest.At(61))
	if o := tick(approved.Incident, 75).Offers[0]; o.State != incident.Approved {
		t.Errorf("just approved, it is %q", o.State)
	}
	if o := tick(approved.Incident, 76).Offers[0]; o.State != incident.Expired || o.Says == "" {
		t.Errorf("never heard of, it is %q", o.State)
	}
	for name, steps := range map[string][]report.Observation{
		"the cause is gone": {incidenttest.Observe(incidenttest.Passed("route/no-egress", incidenttest.Subnet), incidenttest.Named("x"))},
		"closed":            {incidenttest.Observe(incidenttest.Absent(incidenttest.Subnet), incidenttest.Named("x"))},
	} {
		inc := incidenttest.Proposed(t)
		for _, obs := range steps {
			obs.At = incidenttest.At(10)
			inc = reconcile.Decide([]incident.Incident{inc}, obs, incidenttest.At(10), incidenttest.Policy)[0].Incident
		}
		if o := inc.Offers[0]; o.State != incident.Outdated || o.Says == "" {
			t.Errorf("%s: the offer of a %s incident is %q (%s)", name, inc.State, o.State, o.Says)
		}
	}
}

func TestOffersAreBounded(t *testing.T) {
	inc := incidenttest.Broken(t)
	for i := range 30 {
		p := incidenttest.Proposal(string(rune('A'+i)), 2+i, incidenttest.RoutePlan("nat-"+string(rune('A'+i))), optin.Approve)
		p.Lasts = 48 * time.Hour
		inc = response.Propose(inc, p, incidenttest.At(2+i)).Incident
	}
	if last := inc.Offers[len(inc.Offers)-1]; len(inc.Offers) != incident.MaxOffers || last.State != incident.Offered || last.Expires.Sub(last.Made) != response.LongestApproval {
		t.Errorf("%d offers, the last %+v", len(inc.Offers), last)
	}
}

// A decision that is wanted in an old message is a new line; that it is on another plan
// now is a reply, and a fresh plan after one ran out is asked for by whoever looks.
func TestADecisionIsWantedOnce(t *testing.T) {
	inc := incidenttest.Broken(t)
	lines := func(inc incident.Incident) (list []bool) {
		for _, n := range inc.Delivery.Notes {
			if n.Reason == incident.IsProposed && !n.Details {
				list = append(list, n.Line)
			}
		}
		return list
	}
	propose := func(id, nat string, minute int) {
		inc = response.Propose(inc, incidenttest.Proposal(id, minute, incidenttest.RoutePlan(nat), optin.Approve), incidenttest.At(minute)).Incident
	}
	propose("p1", "nat-0aa4", 20)
	lined := inc.Lined
	propose("p2", "nat-0bb4", 40)
	if diff := cmp.Diff([]bool{true, false}, lines(inc)); diff != "" || !inc.Lined.Equal(lined) {
		t.Errorf("lines (-want +got):\n%s last line %s, want %s", diff, inc.Lined, lined)
	}
	propose("p3", "nat-0cc4", 200) // the one before ran out
	if diff := cmp.Diff([]bool{true, false, true}, lines(inc)); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

// Whatever can be decoded of presses, plans, runs and changes can be decided
// on; what comes out can be stored, read again, and approves nothing that no
// approver pressed.
func FuzzDecodeTold(f *testing.F) {
	for _, v := range []any{
		incidenttest.Press(report.ApprovePlan, 5), incidenttest.Press(report.MuteFor, 5), incidenttest.Press("delete", 5), incidenttest.Proposal("p", 2, incidenttest.RoutePlan("nat-0aa4"), optin.Approve),
		incidenttest.Proposal("p", 2, incidenttest.RoutePlan("nat-0aa4"), optin.Auto), incidenttest.Run(remedy.Done), incidenttest.Run(""), incidenttest.Changes("c", report.RecentChanges{Changes: []report.Change{incidenttest.Change("a", -18)}}),
	} {
		body, err := json.Marshal(v)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	f.Add([]byte(`{"format":999,"kind":"press"}`))
	f.Add([]byte(`{"format":201,"kind":"deed","deed":{"plan":null}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		m, err := report.DecodeMessage(body)
		if err != nil {
			return
		}
		inc := incident.Incident{Key: incidenttest.TheRoute, Format: report.Format, State: incident.Open, Number: 1, Opened: incidenttest.At(0), Began: incidenttest.At(0)}
		for range 2 {
			var d incident.Decision
			switch {
			case m.Press != nil:
				d, _ = response.Act(inc, *m.Press, response.Who{}, incidenttest.At(10))
			case m.Proposal != nil:
				d = response.Propose(inc, *m.Proposal, incidenttest.At(10))
			case m.RemedyResult != nil:
				d = response.ApplyRemedyResult(inc, *m.RemedyResult, incidenttest.At(10))
			case m.Changes != nil:
				d = response.ApplyChanges(inc, *m.Changes, incidenttest.At(10))
			default:
				return
			}
			d = response.Tick(d.Incident, incidenttest.At(11), incidenttest.Policy)
			data, err := json.Marshal(d.Incident)
			if err != nil {
				return // times past the year 9999
			}
			if err := json.Unmarshal(data, &inc); err != nil {
				t.Fatalf("the record cannot be read again: %v", err)
			}
			for _, o := range inc.Offers {
				if o.State == incident.Approved && o.Policy != optin.Auto {
					t.Fatalf("no user may approve, and approved is %+v", o)
				}
			}
		}
	})
}

// repaired is the route incident whose plan was approved and done.
func repaired(t *testing.T, result remedy.Status) incident.Incident {
	t.Helper()
	d, _ := response.Act(incidenttest.Proposed(t), incidenttest.Press(report.ApprovePlan, 5), incidenttest.May, incidenttest.At(5))
	d = response.ApplyRemedyResult(d.Incident, incidenttest.Run(result), incidenttest.At(7))
	if !d.Changed {
		t.Fatalf("the run is %q", d.Reason)
	}
	return d.Incident
}

func TestWrongRuns(t *testing.T) {
	with := func(change func(*report.RemedyResult)) report.RemedyResult {
		d := incidenttest.Run(remedy.Done)
		change(&d)
		return d
	}
	for name, d := range map[string]report.RemedyResult{
		"of another plan":     with(func(d *report.RemedyResult) { d.Run.Hash = incidenttest.RoutePlan("nat-evil").Hash() }),
		"of another incident": with(func(d *report.RemedyResult) { d.Key = incidenttest.OtherRoute }),
		"without an id":       with(func(d *report.RemedyResult) { d.Run.ID = "" }),
		// The plan of the same check and resource in another account: its incident is another.
		"of another account": with(func(d *report.RemedyResult) {
			d.Key.Spoke = incidenttest.Spoke
			d.Run.Plan.Account, d.Run.Plan.Region = "123456789012", incidenttest.Spoke.Region
			d.Run.Hash = d.Run.Plan.Hash()
		}),
	} {
		if got := response.ApplyRemedyResult(incidenttest.Proposed(t), d, incidenttest.At(7)); got.Reason != incident.IsMalformed || got.Changed {
			t.Errorf("%s: %q, changed %v", name, got.Reason, got.Changed)
		}
	}
	done := repaired(t, remedy.Done)
	if got := response.ApplyRemedyResult(done, incidenttest.Run(remedy.Done), incidenttest.At(8)); got.Reason != incident.AlreadyApplied {
		t.Errorf("told twice: %q", got.Reason)
	}
	other := incidenttest.Run(remedy.Failed)
	if got := response.ApplyRemedyResult(done, other, incidenttest.At(8)); got.Reason != incident.OutOfDate || got.Changed {
		t.Errorf("told otherwise later: %q", got.Reason)
	}
	p := incidenttest.Press(report.ApprovePlan, 8)
	p.ID = "again"
	if _, a := response.Act(done, p, incidenttest.May, incidenttest.At(8)); a.Reason != incident.AlreadyDecided || a.State != incident.Acted {
		t.Errorf("approved again after the run: %+v", a)
	}
}

func TestRuns(t *testing.T) {
	for result, want := range map[remedy.Status]incident.Reason{remedy.Done: incident.RemedyDone, remedy.Refused: incident.RemedyFailed, remedy.Failed: incident.RemedyFailed, remedy.Partly: incident.RemedyFailed, remedy.Uncertain: incident.RemedyFailed} {
		inc := repaired(t, result)
		o, n := inc.Offers[0], inc.Delivery.Notes[len(inc.Delivery.Notes)-1]
		if o.State != incident.Acted || o.Run == nil || o.By != incidenttest.Oncall || n.Reason != want || n.Offer.Run.Result != result {
			t.Errorf("%s: offer %+v, note %+v", result, o, n)
		}
	}
	// Whatever the record says, it was done.
	stranger := response.ApplyRemedyResult(incidenttest.Broken(t), incidenttest.Run(remedy.Done), incidenttest.At(7)).Incident
	if o := stranger.Offers; len(o) != 1 || o[0].State != incident.Acted || o[0].By.ID != incidenttest.Oncall.ID {
		t.Errorf("a run of an unknown plan is kept as %+v", o)
	}
	sure := response.ApplyRemedyResult(repaired(t, remedy.Uncertain), incidenttest.Run(remedy.Done), incidenttest.At(8))
	if o := sure.Incident.Offers; sure.Reason != incident.RemedyDone || len(o) != 1 || o[0].Run.Result != remedy.Done {
		t.Errorf("what was uncertain is known: %q, %+v", sure.Reason, o)
	}
	limited := response.ApplyRemedyResult(repaired(t, remedy.Refused), incidenttest.Run(remedy.Done), incidenttest.At(8))
	if o := limited.Incident.Offers; limited.Reason != incident.RemedyDone || len(o) != 1 || o[0].Run.Result != remedy.Done {
		t.Errorf("what the limit refused is done later: %q, %+v", limited.Reason, o)
	}
	// What failed may be offered again, what was done may not.
	again := incidenttest.Proposal("p9", 9, incidenttest.RoutePlan("nat-0aa4"), optin.Approve)
	if d := response.Propose(repaired(t, remedy.Failed), again, incidenttest.At(9)); d.Reason != incident.IsProposed {
		t.Errorf("after a failure: %q", d.Reason)
	}
	for _, result := range []remedy.Status{remedy.Done, remedy.Partly, remedy.Uncertain} {
		if d := response.Propose(repaired(t, result), again, incidenttest.At(9)); d.Reason != incident.NothingNew {
			t.Errorf("after %s: %q", result, d.Reason)
		}
	}
}

// Only a look that was taken after the run, and that saw, verifies it.
func TestVerification(t *testing.T) {
	well, fails := incidenttest.Passed("route/no-egress", incidenttest.Subnet), incidenttest.Route("i-1")
	blind := incidenttest.BlindTo("ec2:DescribeRouteTables", "route-tables", "denied")
	for name, test := range map[string]struct {
		result remedy.Status
		minute int
		look   func(*report.Observation)
		want   incident.OfferState
	}{
		"passes after":                        {remedy.Done, 8, well, incident.Helped},
		"passed before it ended":              {remedy.Done, 7, well, incident.Acted},
		"cannot look":                         {remedy.Done, 9, blind, incident.Acted},
		"nothing is said of it":               {remedy.Done, 9, incidenttest.Launched("i-9", 8, report.Waiting), incident.Acted},
		"another check passes":                {remedy.Done, 9, incidenttest.Passed("route/blackhole", incidenttest.Subnet), incident.Acted},
		"it passes for another subnet":        {remedy.Done, 9, incidenttest.Passed("route/no-egress", "subnet-other"), incident.Acted},
		"fails too soon to tell":              {remedy.Done, 8, fails, incident.Acted},
		"still fails":                         {remedy.Done, 9, fails, incident.Unhelpful},
		"partly done, and passes":             {remedy.Partly, 9, well, incident.Helped},
		"uncertain, and passes":               {remedy.Uncertain, 9, well, incident.Helped},
		"a failed run is thanked for nothing": {remedy.Failed, 9, well, incident.Acted},
		"a refused run is blamed for nothing": {remedy.Refused, 9, fails, incident.Acted},
		"what it was about is gone":           {remedy.Done, 9, incidenttest.Absent(incidenttest.Subnet), incident.Acted},
	} {
		inc := incidenttest.Look(repaired(t, test.result), test.minute, test.look)
		if got := inc.Offers[0].State; got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	inc := incidenttest.Look(incidenttest.Look(repaired(t, remedy.Done), 9, fails), 14, fails)
	if got := strings.Count(incidenttest.NotesOf(inc), "unhelpful"); got != 1 || inc.State != incident.Open {
		t.Errorf("it is said %d times that it did not help; the incident is %q", got, inc.State)
	}
	inc = incidenttest.Look(inc, 20, well)
	if inc.Offers[0].State != incident.Unhelpful {
		t.Errorf("what did not help is %q when something else did", inc.Offers[0].State)
	}
}

func TestTheEndNamesWhatHelped(t *testing.T) {
	inc := incidenttest.Look(repaired(t, remedy.Done), 9, incidenttest.Passed("route/no-egress", incidenttest.Subnet))
	inc = incidenttest.Look(inc, 12, incidenttest.Passed("route/no-egress", incidenttest.Subnet), incidenttest.Launched("i-2", 10, report.Joined))
	by, ok := inc.FixedBy()
	if inc.State != incident.Closed || inc.Resolution != incident.Proved || !ok || by.By != incidenttest.Oncall || by.Plan.Route.NAT != "nat-0aa4" || !by.Verified.Equal(incidenttest.At(9)) {
		t.Errorf("%q, %q, fixed by %+v", inc.State, inc.Resolution, by)
	}
	if got := incidenttest.NotesOf(inc); got != "opened proposed approved remedy-done cleared proved" {
		t.Errorf("the thread has %q", got)
	}
	for _, n := range inc.Delivery.Notes {
		if helped := n.Offer != nil && n.Offer.State == incident.Helped; helped != (n.Reason == incident.CauseGone) {
			t.Errorf("%s names what helped: %t", n.Reason, helped)
		}
	}
	if _, ok := incidenttest.Look(incidenttest.Look(incidenttest.Proposed(t), 9, incidenttest.Passed("route/no-egress", incidenttest.Subnet)), 12, incidenttest.Launched("i-2", 10, report.Joined)).FixedBy(); ok {
		t.Error("no remedy ran, and one is thanked")
	}
	// The run may be told after the look that shows it.
	early, _ := response.Act(incidenttest.Proposed(t), incidenttest.Press(report.ApprovePlan, 5), incidenttest.May, incidenttest.At(5))
	late := response.ApplyRemedyResult(incidenttest.Look(early.Incident, 9, incidenttest.Passed("route/no-egress", incidenttest.Subnet)), incidenttest.Run(remedy.Done), incidenttest.At(10)).Incident
	if _, ok := late.FixedBy(); !ok || !strings.HasSuffix(incidenttest.NotesOf(late), "remedy-done verified") {
		t.Errorf("told late: %+v, %q", late.Offers, incidenttest.NotesOf(late))
	}
}

// A replaced instance is verified by a node that joined in its place.
func TestReplacementIsVerifiedByANode(t *testing.T) {
	inc := incidenttest.Look(incidenttest.Broken(t), 2, incidenttest.Passed("route/no-egress", incidenttest.Subnet), incidenttest.Launched("i-1", 0, report.Missed))
	p := remedy.Plan{Format: remedy.Format, Remedy: optin.ReplaceInstance, Cluster: incidenttest.Cluster, Check: incidenttest.TheRoute.Check, Resource: incidenttest.Table, Replace: &remedy.ReplaceInstance{Instances: []remedy.Replaced{{Instance: "i-1", Group: "eks-workers"}}}}
	inc = response.Propose(inc, report.Proposal{Head: report.Head{ID: "r1", At: incidenttest.At(3), Cluster: incidenttest.Cluster, Key: incidenttest.TheRoute}, Remedy: p.Remedy, Policy: optin.Auto, Plan: p, Hash: p.Hash()}, incidenttest.At(3)).Incident
	told := report.RemedyResult{Head: report.Head{ID: "r2", At: incidenttest.At(4), Cluster: incidenttest.Cluster, Key: incidenttest.TheRoute}, Run: remedy.Run{ID: "r", Plan: p, Hash: p.Hash(), Policy: optin.Auto, Began: incidenttest.At(3), Ended: incidenttest.At(4), Result: remedy.Done}}
	inc = incidenttest.Look(response.ApplyRemedyResult(inc, told, incidenttest.At(4)).Incident, 5, incidenttest.Passed("route/no-egress", incidenttest.Subnet))
	if got := inc.Offers[0].State; got != incident.Acted {
		t.Errorf("the cause was gone before, and still the run is %q", got)
	}
	inc = incidenttest.Look(inc, 8, incidenttest.Launched("i-2", 5, report.Joined))
	if got := inc.Offers[0].State; got != incident.Helped || inc.Resolution != incident.Proved {
		t.Errorf("a node joined, and the run is %q", got)
	}
}

// What one look did not read is kept of another, and a look with nothing new edits nothing.
func TestOwnerOfAnIncident(t *testing.T) {
	tags, err := ownership.ParseTags(config.DefaultOwnerTags)
	if err != nil {
		t.Fatal(err)
	}
	p := incidenttest.Policy
	p.Owners = ownership.Settings{Names: tags, Hosts: []string{"wiki.example.com"}, Fixed: []ownership.Fixed{{Field: ownership.Dashboard, Value: "https://ops.example.com/d/1"}}}
	p.Logs = report.Logs{Group: "/aws/lambda/rollcall-report", Region: "us-west-2"}
	look := func(minute int, name string, logs string, tagged ...report.Tagged) report.Observation {
		obs := incidenttest.Observe(incidenttest.Route("i-1"), incidenttest.Launched("i-1", 0, report.Waiting), incidenttest.Named(name))
		obs.At, obs.Tagged = incidenttest.At(minute), tagged
		if logs != "" {
			obs.Logs = report.Logs{Group: logs, Region: "us-west-2"}
		}
		return obs
	}
	inc := reconcile.Decide(nil, look(0, "a", "",
		report.Tagged{Kind: ownership.Nodegroup, Name: "other", Tags: map[string]string{"team": "search"}},
		report.Tagged{Kind: ownership.Cluster, Name: "eks-workshop", Tags: map[string]string{"team": "platform", "runbook": "https://wiki.example.com/nodes"}},
	), incidenttest.At(0), p)[0].Incident
	dashboard := ownership.Value{Field: ownership.Dashboard, Text: "ops.example.com/d/1", URL: "https://ops.example.com/d/1"}
	runbook := ownership.Value{Field: ownership.Runbook, Text: "wiki.example.com/nodes", URL: "https://wiki.example.com/nodes", From: ownership.Cluster}
	want := ownership.Owner{{Field: ownership.Team, Text: "platform", From: ownership.Cluster}, runbook, dashboard}
	if diff := cmp.Diff(want, inc.Owner); diff != "" {
		t.Errorf("at first (-want +got):\n%s", diff)
	}
	if inc.Logs != p.Logs {
		t.Errorf("at first the log group is %s", inc.Logs.Group)
	}
	near := look(5, "b", "/aws/eks/eks-workshop/cluster",
		report.Tagged{Kind: ownership.Nodegroup, Name: "workers", Tags: map[string]string{"Owner": "payments", "runbook": "https://evil.example/"}})
	inc = reconcile.Decide([]incident.Incident{inc}, near, incidenttest.At(5), p)[0].Incident
	want[0] = ownership.Value{Field: ownership.Team, Text: "payments", From: ownership.Nodegroup}
	if diff := cmp.Diff(want, inc.Owner); diff != "" {
		t.Errorf("nearer, and no link of a host that is not allowed (-want +got):\n%s", diff)
	}
	inc = reconcile.Decide([]incident.Incident{inc}, look(10, "c", ""), incidenttest.At(10), p)[0].Incident
	if diff := cmp.Diff(want, inc.Owner); diff != "" {
		t.Errorf("a look that read no tags (-want +got):\n%s", diff)
	}
	if inc.Logs.Group != "/aws/eks/eks-workshop/cluster" {
		t.Errorf("the log group is %s", inc.Logs.Group)
	}
}

func TestFeedback(t *testing.T) {
	open := incidenttest.Broken(t)
	over := open.Clone()
	over.State, over.Resolution, over.Resolved = incident.Closed, incident.Proved, incidenttest.At(5)
	over.Delivery.TS, over.Delivery.Channel = "100.1", "C0123456789"
	press := func(id string, a report.Action, user string) report.Press {
		return report.Press{Head: report.Head{ID: id, At: incidenttest.At(10), Key: over.Key}, Number: over.Number, Action: a, User: report.User{ID: user}, Channel: "C0123456789", TS: "100.1"}
	}
	dana, kim := "U0DANA0001", "U0KIM00001"
	yes := response.Who{May: response.MayYes}
	inc := over
	act := func(p report.Press, want incident.AnswerReason) {
		t.Helper()
		d, a := response.Act(inc, p, yes, incidenttest.At(10))
		if a.Reason != want {
			t.Errorf("%s by %s: %s, want %s", p.Action, p.User.ID, a.Reason, want)
		}
		inc = d.Incident
	}
	act(press("1", report.SayRight, dana), incident.AnswerFeedback)
	act(press("2", report.SayNotUseful, kim), incident.AnswerFeedback)
	act(press("3", report.SayWrong, dana), incident.AnswerFeedback) // the last one counts
	more := press("4", report.SayMore, dana)
	more.TS, more.Text = "105.1", "it was the proxy" // written into an answer that she alone sees
	act(more, incident.AnswerNoted)
	more = press("5", report.SayMore, "U0SAM00001")
	act(more, incident.NoFeedback)
	elsewhere := press("6", report.SayRight, kim)
	elsewhere.Channel = "C0OTHER0001"
	act(elsewhere, incident.EarlierOpening)
	other := press("7", report.SayRight, kim)
	other.TS = "99.1"
	act(other, incident.EarlierOpening)
	old := press("8", report.SayRight, kim)
	old.Number = 7
	act(old, incident.EarlierOpening)
	want := []incident.Feedback{
		{By: report.User{ID: kim}, At: incidenttest.At(10), Number: 1, Says: report.SayNotUseful},
		{By: report.User{ID: dana}, At: incidenttest.At(10), Number: 1, Says: report.SayWrong, Text: "it was the proxy"},
	}
	if diff := cmp.Diff(want, inc.Feedback); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	if inc.State != incident.Closed || len(inc.PendingEvents) != len(over.PendingEvents) || len(inc.Delivery.Notes) != len(over.Delivery.Notes) {
		t.Error("feedback changed more than the feedback")
	}

	inc = open
	inc.Delivery.TS, inc.Delivery.Channel = over.Delivery.TS, over.Delivery.Channel
	act(press("9", report.SayRight, dana), incident.NotOver)
	if _, a := response.Act(over, press("10", report.SayRight, dana), response.Who{May: response.Foreign}, incidenttest.At(10)); a.Reason != incident.OtherWorkspace {
		t.Errorf("somebody of another company: %s", a.Reason)
	}
	inc = over
	for n := range 40 {
		act(press(fmt.Sprint("n", n), report.SayRight, fmt.Sprint("U", n)), incident.AnswerFeedback)
	}
	if len(inc.Feedback) != 30 || inc.Feedback[29].By.ID != "U39" {
		t.Errorf("%d are kept", len(inc.Feedback))
	}
}
