package response_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/incident/response"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	"rollcall/shared/silence"
)

func replacePlan(ids ...string) remedy.Plan {
	p := incidenttest.RoutePlan("")
	p.Remedy, p.Route, p.Replace = optin.ReplaceInstance, nil, &remedy.ReplaceInstance{}
	for _, id := range ids {
		p.Replace.Instances = append(p.Replace.Instances, remedy.Replaced{Instance: id, Group: "workers"})
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

// The request is sent once when the time has come, and not before.
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
	// Without an answer it ends.
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
	off := report.Proposal{Head: report.Head{ID: "off", At: incidenttest.At(7), Key: incidenttest.TheRoute}, Remedy: optin.ReplaceInstance, Reason: "policy-off", Says: "The remedy has been disabled since."}
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
	told := report.RemedyResult{Head: report.Head{ID: "deed/1", At: incidenttest.At(8), Cluster: incidenttest.Cluster, Key: incidenttest.TheRoute}, Run: remedy.Run{
		Format: 1, ID: "d1", Plan: p, Hash: p.Hash(), Policy: optin.Approve, ApprovedBy: incidenttest.Oncall.ID, Approved: incidenttest.At(7), Began: incidenttest.At(8), Ended: incidenttest.At(8),
		Result: remedy.Refused, Reason: report.LimitReached, Says: "full", Next: &remedy.Next{At: incidenttest.At(40), Reason: report.LimitReached, Says: "full"},
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
	none := report.Proposal{Head: report.Head{ID: "none", At: incidenttest.At(51), Key: incidenttest.TheRoute}, Remedy: optin.ReplaceInstance, Reason: "nothing-to-do", Says: "No instance is left."}
	if free := incidenttest.Look(response.Propose(held, none, incidenttest.At(51)).Incident, 55, incidenttest.Passed("route/no-egress", incidenttest.Subnet)); free.State != incident.Closed || free.Resolution != incident.Proved {
		t.Errorf("nothing is left, and it is %s, %s", free.State, free.Resolution)
	}
	blind := response.Propose(healed(t), waits("w1", 6, 11, optin.Auto, string(remedy.CouldNotLook)), incidenttest.At(6)).Incident
	if got := incidenttest.Look(blind, 10, joins...); got.State != incident.Closed {
		t.Errorf("a look that fails keeps it %s", got.State)
	}
	// The end names what was done, not what it waited for.
	done := incident.Offer{Plan: replacePlan("i-1"), State: incident.Acted, Made: incidenttest.At(5), Run: &remedy.Run{ID: "d", Result: remedy.Done, Began: incidenttest.At(5), Ended: incidenttest.At(6)}}
	blind.Offers = append([]incident.Offer{done}, blind.Offers...)
	if got := incidenttest.Look(blind, 10, joins...); len(got.Offers) != 1 || got.Offers[0].Run == nil {
		t.Errorf("the end names %+v", got.Offers)
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
		inc = response.ApplyRemedyResult(inc, report.RemedyResult{Head: report.Head{ID: "deed/" + id, At: incidenttest.At(minute + 1), Key: incidenttest.TheRoute}, Run: remedy.Run{
			Format: 1, ID: id, Plan: p, Hash: p.Hash(), Policy: optin.Auto, Began: incidenttest.At(minute), Ended: incidenttest.At(minute + 1), Result: remedy.Done,
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

// What a reported run makes of an incident, all of it.
func TestWhatARunChanges(t *testing.T) {
	nat := incidenttest.RoutePlan("nat-0aa4")
	broken := incidenttest.Broken(t)
	told := func(result remedy.Status, change func(*report.RemedyResult)) report.RemedyResult {
		d := incidenttest.Run(result)
		d.ID = "told"
		if result == "" {
			d.Run.Ended = time.Time{}
		}
		if change != nil {
			change(&d)
		}
		return d
	}
	rehash := func(change func(*remedy.Plan)) func(*report.RemedyResult) {
		return func(d *report.RemedyResult) { change(&d.Run.Plan); d.Run.Hash = d.Run.Plan.Hash() }
	}
	another := func(d *report.RemedyResult) { d.Run.ID = "d2" }
	approved := offer(incident.Approved, nat, 3)
	known := func(state incident.OfferState, result remedy.Status) incident.Offer {
		o, d := offer(state, nat, 3), told(result, nil).Run
		o.Run = &d
		return o
	}
	said := func(r incident.Reason) func(*incident.Incident) {
		return func(i *incident.Incident) {
			o := i.Offers[len(i.Offers)-1]
			i.AddNote(r, incidenttest.At(8)).Offer = &o
			i.SplitLine()
			i.AddActed(r, o, incidenttest.At(8))
		}
	}
	becomesActed := func(result remedy.Status, r incident.Reason) func(*incident.Incident) {
		return func(i *incident.Incident) { i.Offers = []incident.Offer{known(incident.Acted, result)}; said(r)(i) }
	}
	ofNobody := func(d remedy.Run) incident.Offer {
		return incident.Offer{Plan: nat, Hash: nat.Hash(), Policy: optin.Approve, State: incident.Acted, Made: incidenttest.At(6), Decided: incidenttest.At(5), By: report.User{ID: incidenttest.Oncall.ID}, Run: &d}
	}
	next := &remedy.Next{At: incidenttest.At(60), Reason: report.LimitReached, Says: "more"}
	replaced := told(remedy.Done, rehash(func(p *remedy.Plan) { *p = replacePlan("i-1") }))
	replaced.Run.Next = next
	unsaid := broken.Clone()
	unsaid.Number = 0
	for name, test := range map[string]struct {
		inc    incident.Incident
		d      report.RemedyResult
		reason incident.Reason
		change func(*incident.Incident)
	}{
		"of what nobody was told":   {unsaid, told(remedy.Done, nil), incident.OutOfDate, nil},
		"of another check":          {with(broken, approved), told(remedy.Done, rehash(func(p *remedy.Plan) { p.Check = "route/blackhole" })), incident.IsMalformed, nil},
		"of another cluster":        {with(broken, approved), told(remedy.Done, rehash(func(p *remedy.Plan) { p.Cluster = "dev" })), incident.IsMalformed, nil},
		"of another resource":       {with(broken, approved), told(remedy.Done, rehash(func(p *remedy.Plan) { p.Resource = "rtb-0eee" })), incident.IsMalformed, nil},
		"written ahead":             {with(broken, approved), told("", nil), incident.NothingNew, func(i *incident.Incident) { i.Offers = []incident.Offer{known(incident.Approved, "")} }},
		"done":                      {with(broken, approved), told(remedy.Done, nil), incident.RemedyDone, becomesActed(remedy.Done, incident.RemedyDone)},
		"done after that":           {with(broken, known(incident.Approved, "")), told(remedy.Done, nil), incident.RemedyDone, becomesActed(remedy.Done, incident.RemedyDone)},
		"refused":                   {with(broken, approved), told(remedy.Refused, nil), incident.RemedyFailed, becomesActed(remedy.Refused, incident.RemedyFailed)},
		"the same once more":        {with(broken, known(incident.Acted, remedy.Refused)), told(remedy.Refused, nil), incident.OutOfDate, nil},
		"told ahead after the end":  {with(broken, known(incident.Acted, remedy.Uncertain)), told("", nil), incident.OutOfDate, nil},
		"otherwise after it failed": {with(broken, known(incident.Acted, remedy.Failed)), told(remedy.Done, nil), incident.OutOfDate, nil},
		"another one of the same plan": {with(broken, known(incident.Acted, remedy.Failed)), told(remedy.Done, another), incident.RemedyDone, func(i *incident.Incident) {
			d := told(remedy.Done, another).Run
			i.Offers = append(i.Offers, ofNobody(d))
			said(incident.RemedyDone)(i)
		}},
		"what was left waits for a cause that is gone": {with(broken), replaced, incident.RemedyDone, func(i *incident.Incident) {
			o := ofNobody(replaced.Run)
			o.Plan, o.Hash = replaced.Run.Plan, replaced.Run.Hash
			i.Offers = []incident.Offer{o}
			said(incident.RemedyDone)(i)
		}},
	} {
		change := test.change
		if change != nil {
			change = func(i *incident.Incident) { test.change(i); i.Applied = append(i.Applied, "told") }
		}
		becomes(t, name, test.inc, func(inc incident.Incident) incident.Decision {
			return response.ApplyRemedyResult(inc, test.d, incidenttest.At(8))
		}, test.reason, change)
	}
}

// What CloudTrail knows of the time before makes of an incident, all of it.
func TestWhatChangesChange(t *testing.T) {
	broken := incidenttest.Broken(t)
	a, b, c := incidenttest.Change("a", -18), incidenttest.Change("b", -5), incidenttest.Change("c", -1)
	with := func(shown, more int, noted bool, list ...report.Change) incident.Incident {
		inc := broken.Clone()
		inc.RecentChanges = &report.RecentChanges{Changes: list, Shown: shown, More: more}
		if noted {
			inc.AddNote(incident.HasChanges, incidenttest.At(4))
		}
		return inc
	}
	is := func(trail report.RecentChanges, noted bool) func(*incident.Incident) {
		return func(i *incident.Incident) {
			i.RecentChanges = &trail
			if noted {
				i.AddNote(incident.HasChanges, incidenttest.At(6)).RecentChanges = &trail
			}
			i.Applied = append(i.Applied, "c1")
		}
	}
	long, longest := strings.Repeat("w", 301), strings.Repeat("w", 300)
	cut := longest + "…"
	umlauts := strings.Repeat("w", 299) + "ä"
	wordy := func(w string) report.Change {
		return report.Change{ID: w, At: incidenttest.At(-1), Call: w, Resource: w, Actor: w, Principal: w, By: w, Error: w}
	}
	unsaid := incident.Incident{}
	for name, test := range map[string]struct {
		inc    incident.Incident
		found  report.RecentChanges
		reason incident.Reason
		change func(*incident.Incident)
	}{
		"some, newest first":        {broken, report.RecentChanges{Changes: []report.Change{a, c, b}}, incident.HasChanges, is(report.RecentChanges{Changes: []report.Change{c, b, a}, Shown: 3}, true)},
		"some yet, and it was said": {broken, report.RecentChanges{Changes: []report.Change{a}, Open: true, Shown: 7}, incident.HasChanges, is(report.RecentChanges{Changes: []report.Change{a}, Open: true, Shown: 1}, true)},
		"none yet":                  {broken, report.RecentChanges{Open: true, Shown: 7}, incident.NothingNew, is(report.RecentChanges{Open: true}, false)},
		"none at all":               {broken, report.RecentChanges{}, incident.HasChanges, is(report.RecentChanges{}, true)},
		"more, not all yet":         {with(1, 0, true, a), report.RecentChanges{Changes: []report.Change{b}, Open: true}, incident.NothingNew, is(report.RecentChanges{Changes: []report.Change{b, a}, Open: true, Shown: 1}, false)},
		"more, and that is all":     {with(1, 0, true, a), report.RecentChanges{Changes: []report.Change{b}}, incident.HasChanges, is(report.RecentChanges{Changes: []report.Change{b, a}, Shown: 2}, true)},
		"no more":                   {with(1, 0, true, a), report.RecentChanges{Changes: []report.Change{a}}, incident.NothingNew, is(report.RecentChanges{Changes: []report.Change{a}, Shown: 1}, false)},
		"fewer left out":            {with(1, 7, true, a), report.RecentChanges{More: 3}, incident.NothingNew, is(report.RecentChanges{Changes: []report.Change{a}, Shown: 1, More: 7}, false)},
		"more left out":             {with(1, 3, true, a), report.RecentChanges{More: 7}, incident.NothingNew, is(report.RecentChanges{Changes: []report.Change{a}, Shown: 1, More: 7}, false)},
		"long words": {broken, report.RecentChanges{Changes: []report.Change{wordy(long)}, LastGood: long, Blind: long}, incident.HasChanges,
			is(report.RecentChanges{Changes: []report.Change{wordy(cut)}, LastGood: cut, Blind: cut, Shown: 1}, true)},
		"words of the longest": {broken, report.RecentChanges{Changes: []report.Change{wordy(longest)}, LastGood: umlauts}, incident.HasChanges,
			is(report.RecentChanges{Changes: []report.Change{wordy(longest)}, LastGood: longest[:299] + "…", Shown: 1}, true)},
		"nobody was told of it": {unsaid, report.RecentChanges{}, incident.OutOfDate, nil},
	} {
		m := incidenttest.Changes("c1", test.found)
		m.Opened = test.inc.Opened
		before := incidenttest.Encoded(t, m)
		becomes(t, name, test.inc, func(inc incident.Incident) incident.Decision {
			return response.ApplyChanges(inc, m, incidenttest.At(6))
		}, test.reason, test.change)
		if diff := cmp.Diff(before, incidenttest.Encoded(t, m)); diff != "" {
			t.Errorf("%s: the message is another now (-before +after):\n%s", name, diff)
		}
	}
}

func quietFor(from, until int) silence.Silence {
	return silence.Silence{ID: "ab12cd34", Cluster: incidenttest.Cluster, From: incidenttest.At(from), Until: incidenttest.At(until), At: incidenttest.At(from), By: silence.Person(incidenttest.Oncall), Reason: "upgrade"}
}

// What a silence does not hide stays as it is; what it hides calls no responder, and ends once.
func TestSilence(t *testing.T) {
	open := incidenttest.Broken(t)
	other := quietFor(0, 60)
	other.Cluster = "another"
	pending := open
	pending.Number = 0
	closed := open
	closed.State = incident.Closed
	blind := open
	blind.Key.Check = incident.CannotLook
	for name, test := range map[string]struct {
		inc  incident.Incident
		list []silence.Silence
		want incident.Reason
	}{
		"nothing is silenced":     {open, nil, incident.NothingNew},
		"another cluster is":      {open, []silence.Silence{other}, incident.NothingNew},
		"it has not begun":        {open, []silence.Silence{quietFor(40, 60)}, incident.NothingNew},
		"it is over":              {open, []silence.Silence{quietFor(0, 30)}, incident.NothingNew},
		"it is not said yet":      {pending, []silence.Silence{quietFor(0, 60)}, incident.NothingNew},
		"it is closed":            {closed, []silence.Silence{quietFor(0, 60)}, incident.NothingNew},
		"Rollcall cannot see":     {blind, []silence.Silence{quietFor(0, 60)}, incident.NothingNew},
		"it is meant":             {open, []silence.Silence{other, quietFor(0, 60)}, incident.IsSilenced},
		"one that just began":     {open, []silence.Silence{quietFor(30, 60)}, incident.IsSilenced},
		"the longer of two hides": {open, []silence.Silence{quietFor(0, 40), quietFor(0, 60)}, incident.IsSilenced},
	} {
		d := response.Silence(test.inc, test.list, incidenttest.At(30))
		if d.Reason != test.want || d.Changed != (test.want == incident.IsSilenced) {
			t.Errorf("%s: %s, changed %t; want %s", name, d.Reason, d.Changed, test.want)
		}
		if d.Changed && (!d.Incident.Silence.Until.Equal(incidenttest.At(60)) || d.Incident.Silence.Reason != "upgrade" || !d.Incident.Delivery.Dirty) {
			t.Errorf("%s: %+v", name, d.Incident.Silence)
		}
	}
	d := response.Silence(open, []silence.Silence{quietFor(0, 60)}, incidenttest.At(30))
	if again := response.Silence(d.Incident, []silence.Silence{quietFor(0, 60)}, incidenttest.At(31)); again.Changed {
		t.Errorf("hidden a second time: %s", again.Reason)
	}
	notes := len(d.Incident.Delivery.Notes)
	over := response.Silence(d.Incident, []silence.Silence{quietFor(0, 60)}, incidenttest.At(60))
	if over.Reason != incident.IsUnsilenced || over.Incident.Silence != nil || len(over.Incident.Delivery.Notes) != notes+1 || !over.Incident.Delivery.Notes[notes].Line {
		t.Errorf("at its end: %s, %+v", over.Reason, over.Incident.Delivery.Notes)
	}
	if n := len(over.Incident.PendingEvents); n == 0 || over.Incident.PendingEvents[n-1].Silenced || over.Incident.PendingEvents[n-1].Reason != incident.IsUnsilenced {
		t.Errorf("the bus got %+v", over.Incident.PendingEvents)
	}
}

// A hidden incident that is critical makes no call; when the silence is over it does.
func TestSilenceMakesNoCall(t *testing.T) {
	policy := calling(t)
	inc := response.Silence(incidenttest.Broken(t), []silence.Silence{quietFor(0, 60)}, incidenttest.At(1)).Incident
	if d := response.Tick(inc, incidenttest.At(2), policy); d.Incident.Calls != 0 {
		t.Errorf("called %d times", d.Incident.Calls)
	}
	inc = response.Silence(inc, nil, incidenttest.At(61)).Incident
	if d := response.Tick(inc, incidenttest.At(61), policy); d.Incident.Calls != 1 {
		t.Errorf("called %d times after its end", d.Incident.Calls)
	}
}

// A plan that arrives meanwhile makes no reply.
func TestSilencedProposal(t *testing.T) {
	inc := response.Silence(incidenttest.Broken(t), []silence.Silence{quietFor(0, 60)}, incidenttest.At(1)).Incident
	notes := len(inc.Delivery.Notes)
	d := response.Propose(inc, incidenttest.Proposal("p1", 2, incidenttest.RoutePlan("nat-0aa4"), optin.Approve), incidenttest.At(2))
	if len(d.Incident.Delivery.Notes) != notes {
		t.Errorf("the thread gets %+v", d.Incident.Delivery.Notes[notes:])
	}
}

// TestSilenceOfWhatIsOver: what closed while it was hidden is on record alone where it was
// never posted, and is edited where there is a message; no event says that it is still there.
func TestSilenceOfWhatIsOver(t *testing.T) {
	hidden := response.Silence(incidenttest.Broken(t), []silence.Silence{quietFor(0, 60)}, incidenttest.At(30)).Incident
	hidden.State, hidden.PendingEvents, hidden.Delivery.Dirty = incident.Closed, nil, false
	hidden.AddNote(incident.IsProved, incidenttest.At(40))
	for name, test := range map[string]struct {
		ts    string
		dirty bool
		notes int
	}{
		"with a message":   {"1.2", true, len(hidden.Delivery.Notes)},
		"nobody ever knew": {"", false, 0},
	} {
		inc := hidden.Clone()
		inc.Delivery.TS, inc.Delivery.Sending, inc.Delivery.Dirty = test.ts, time.Time{}, test.ts == ""
		// While the silence lasts it hides what is over no longer, either.
		d := response.Silence(inc, []silence.Silence{quietFor(0, 60)}, incidenttest.At(50))
		if d.Reason != incident.IsUnsilenced || !d.Changed || d.Incident.Silence != nil || d.Incident.Delivery.Dirty != test.dirty ||
			len(d.Incident.Delivery.Notes) != test.notes || len(d.Incident.PendingEvents) != 0 || !d.Incident.Changed.Equal(incidenttest.At(50)) {
			t.Errorf("%s: %s, changed %t, %+v, %d events", name, d.Reason, d.Changed, d.Incident.Delivery, len(d.Incident.PendingEvents))
		}
		if again := response.Silence(d.Incident, []silence.Silence{quietFor(0, 60)}, incidenttest.At(51)); again.Changed || again.Reason != incident.NothingNew {
			t.Errorf("%s: and again: %s", name, again.Reason)
		}
	}
}

// TestSilenceLeavesItsInput: a decision is a new incident; the one that it was made of stays as
// it was. Events of this very moment are silenced, those of before are not.
func TestSilenceLeavesItsInput(t *testing.T) {
	open := incidenttest.Broken(t)
	open.Delivery.Dirty, open.PendingEvents = false, nil
	open.AddEvent(incident.Opened, incidenttest.At(29))
	open.AddEvent(incident.IsAcknowledged, incidenttest.At(30))
	list := []silence.Silence{quietFor(0, 60)}
	d := response.Silence(open, list, incidenttest.At(30))
	if open.Silence != nil || open.Delivery.Dirty || open.PendingEvents[1].Silenced || !d.Incident.Delivery.Dirty {
		t.Errorf("the decision changed what it was made of: %+v", open.PendingEvents)
	}
	if e := d.Incident.PendingEvents; e[0].Silenced || !e[1].Silenced {
		t.Errorf("silenced are %t, %t", e[0].Silenced, e[1].Silenced)
	}
	if longer := response.Silence(d.Incident, []silence.Silence{quietFor(0, 90)}, incidenttest.At(31)); longer.Reason != incident.IsSilenced || !longer.Incident.Silence.Until.Equal(incidenttest.At(90)) {
		t.Errorf("by a longer one: %s", longer.Reason)
	}
	before := d.Incident
	before.Delivery.Dirty = false
	over := response.Silence(before, nil, incidenttest.At(61))
	if before.Silence == nil || len(before.PendingEvents) != 2 || before.Delivery.Dirty || !over.Incident.Delivery.Dirty || !over.Incident.Changed.Equal(incidenttest.At(61)) || !over.Changed {
		t.Errorf("the end changed what it was made of, or not what it should: %+v", over.Incident.Delivery)
	}
}

// Who may not gets the reason, and the audit keeps it.
func TestRefusalHasItsReason(t *testing.T) {
	for name, test := range map[string]struct {
		who    response.Who
		action report.Action
		want   incident.Answer
	}{
		"nobody approves":                 {response.Who{May: response.NoApprovers}, report.ApprovePlan, incident.Answer{Reason: incident.NobodyAllowed}},
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

// The answer to an offer that ran out is when that one ended, and of one that
// another plan replaced that there is another.
func TestAPressIsAnsweredForItsOwnOffer(t *testing.T) {
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
