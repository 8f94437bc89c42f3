package report

import (
	"strings"
	"testing"

	"rollcall/shared/plan"
)

// deed is of the route plan, done from minute 6 to 7.
func deed(result plan.Result) DeedTold {
	p := routePlan("nat-0aa4")
	return DeedTold{
		Format: DeedFormat, Kind: DeedKind, ID: "deed/" + string(result), At: at(7), Cluster: cluster, Key: theRoute,
		Deed: plan.Deed{Format: 1, ID: "d1", Plan: p, Hash: p.Hash(), Policy: plan.Approve, ApprovedBy: oncall.ID, Approved: at(5), Began: at(6), Ended: at(7), Result: result},
	}
}

// repaired is the route incident whose plan was approved and done.
func repaired(t *testing.T, result plan.Result) Incident {
	t.Helper()
	d, _ := Act(proposed(t), press(ApprovePlan, 5), may, at(5))
	d = TakeDeed(d.Incident, deed(result), at(7))
	if !d.Changed {
		t.Fatalf("the deed is %q", d.Reason)
	}
	return d.Incident
}

func look(inc Incident, minute int, o ...func(*Observation)) Incident {
	obs := observe(append(o, named("look"+string(rune('a'+minute))))...)
	obs.At = at(minute)
	for _, d := range Decide([]Incident{inc}, obs, at(minute), policy) {
		if d.Incident.Key == inc.Key {
			inc = d.Incident
		}
	}
	return inc
}

func TestWrongDeeds(t *testing.T) {
	with := func(change func(*DeedTold)) DeedTold { d := deed(plan.Done); change(&d); return d }
	for name, d := range map[string]DeedTold{
		"of another plan":     with(func(d *DeedTold) { d.Deed.Hash = routePlan("nat-evil").Hash() }),
		"of another incident": with(func(d *DeedTold) { d.Key = otherRoute }),
		"without an id":       with(func(d *DeedTold) { d.Deed.ID = "" }),
	} {
		if got := TakeDeed(proposed(t), d, at(7)); got.Reason != IsMalformed || got.Changed {
			t.Errorf("%s: %q, changed %v", name, got.Reason, got.Changed)
		}
	}
	done := repaired(t, plan.Done)
	if got := TakeDeed(done, deed(plan.Done), at(8)); got.Reason != AlreadyApplied {
		t.Errorf("told twice: %q", got.Reason)
	}
	other := deed(plan.Failed)
	if got := TakeDeed(done, other, at(8)); got.Reason != OutOfDate || got.Changed {
		t.Errorf("told otherwise later: %q", got.Reason)
	}
	p := press(ApprovePlan, 8)
	p.ID = "again"
	if _, a := Act(done, p, may, at(8)); a.Reason != AlreadyDecided || a.State != Acted {
		t.Errorf("approved again after the deed: %+v", a)
	}
}

func TestDeeds(t *testing.T) {
	for result, want := range map[plan.Result]Reason{plan.Done: DeedDone, plan.Refused: DeedFailed, plan.Failed: DeedFailed, plan.Partly: DeedFailed, plan.Uncertain: DeedFailed} {
		inc := repaired(t, result)
		o, n := inc.Offers[0], inc.Said.Notes[len(inc.Said.Notes)-1]
		if o.State != Acted || o.Deed == nil || o.By != oncall || n.Reason != want || n.Offer.Deed.Result != result {
			t.Errorf("%s: offer %+v, note %+v", result, o, n)
		}
	}
	// Whatever the record says, it was done.
	stranger := TakeDeed(broken(t), deed(plan.Done), at(7)).Incident
	if o := stranger.Offers; len(o) != 1 || o[0].State != Acted || o[0].By.ID != oncall.ID {
		t.Errorf("a deed of an unknown plan is kept as %+v", o)
	}
	sure := TakeDeed(repaired(t, plan.Uncertain), deed(plan.Done), at(8))
	if o := sure.Incident.Offers; sure.Reason != DeedDone || len(o) != 1 || o[0].Deed.Result != plan.Done {
		t.Errorf("what was uncertain is known: %q, %+v", sure.Reason, o)
	}
	limited := TakeDeed(repaired(t, plan.Refused), deed(plan.Done), at(8))
	if o := limited.Incident.Offers; limited.Reason != DeedDone || len(o) != 1 || o[0].Deed.Result != plan.Done {
		t.Errorf("what the limit refused is done later: %q, %+v", limited.Reason, o)
	}
	// What failed may be offered again, what was done may not.
	again := proposal("p9", 9, routePlan("nat-0aa4"), plan.Approve)
	if d := Propose(repaired(t, plan.Failed), again, at(9)); d.Reason != IsProposed {
		t.Errorf("after a failure: %q", d.Reason)
	}
	for _, result := range []plan.Result{plan.Done, plan.Partly, plan.Uncertain} {
		if d := Propose(repaired(t, result), again, at(9)); d.Reason != NothingNew {
			t.Errorf("after %s: %q", result, d.Reason)
		}
	}
}

// Only a look that was taken after the deed, and that saw, verifies it.
func TestVerification(t *testing.T) {
	well, fails := passed("route/no-egress", subnet), route("i-1")
	blind := blindTo("ec2:DescribeRouteTables", "route-tables", "denied")
	for name, test := range map[string]struct {
		result plan.Result
		minute int
		look   func(*Observation)
		want   OfferState
	}{
		"passes after":                         {plan.Done, 8, well, Helped},
		"passed before it ended":               {plan.Done, 7, well, Acted},
		"cannot look":                          {plan.Done, 9, blind, Acted},
		"nothing is said of it":                {plan.Done, 9, launched("i-9", 8, Waiting), Acted},
		"another check passes":                 {plan.Done, 9, passed("route/blackhole", subnet), Acted},
		"it passes for another subnet":         {plan.Done, 9, passed("route/no-egress", "subnet-other"), Acted},
		"fails too soon to tell":               {plan.Done, 8, fails, Acted},
		"still fails":                          {plan.Done, 9, fails, Unhelpful},
		"partly done, and passes":              {plan.Partly, 9, well, Helped},
		"uncertain, and passes":                {plan.Uncertain, 9, well, Helped},
		"a failed deed is thanked for nothing": {plan.Failed, 9, well, Acted},
		"a refused deed is blamed for nothing": {plan.Refused, 9, fails, Acted},
		"what it was about is gone":            {plan.Done, 9, absent(subnet), Acted},
	} {
		inc := look(repaired(t, test.result), test.minute, test.look)
		if got := inc.Offers[0].State; got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	inc := look(look(repaired(t, plan.Done), 9, fails), 14, fails)
	if got := strings.Count(notesOf(inc), "unhelpful"); got != 1 || inc.State != Open {
		t.Errorf("it is said %d times that it did not help; the incident is %q", got, inc.State)
	}
	inc = look(inc, 20, well)
	if inc.Offers[0].State != Unhelpful {
		t.Errorf("what did not help is %q when something else did", inc.Offers[0].State)
	}
}

func TestTheEndNamesWhatHelped(t *testing.T) {
	inc := look(repaired(t, plan.Done), 9, passed("route/no-egress", subnet))
	inc = look(inc, 12, passed("route/no-egress", subnet), launched("i-2", 10, Joined))
	by, ok := inc.FixedBy()
	if inc.State != Closed || inc.Ending != Proved || !ok || by.By != oncall || by.Plan.Route.NAT != "nat-0aa4" || !by.Verified.Equal(at(9)) {
		t.Errorf("%q, %q, fixed by %+v", inc.State, inc.Ending, by)
	}
	if got := notesOf(inc); got != "opened proposed approved remedy-done verified cleared proved" {
		t.Errorf("the thread has %q", got)
	}
	if _, ok := look(look(proposed(t), 9, passed("route/no-egress", subnet)), 12, launched("i-2", 10, Joined)).FixedBy(); ok {
		t.Error("nobody did anything, and a remedy is thanked")
	}
	// The deed may be told after the look that shows it.
	early, _ := Act(proposed(t), press(ApprovePlan, 5), may, at(5))
	late := TakeDeed(look(early.Incident, 9, passed("route/no-egress", subnet)), deed(plan.Done), at(10)).Incident
	if _, ok := late.FixedBy(); !ok || !strings.HasSuffix(notesOf(late), "remedy-done verified") {
		t.Errorf("told late: %+v, %q", late.Offers, notesOf(late))
	}
}

// A replaced instance is verified by a node that joined in its place.
func TestReplacementIsVerifiedByANode(t *testing.T) {
	inc := look(broken(t), 2, passed("route/no-egress", subnet), launched("i-1", 0, Missed))
	p := plan.Plan{Format: plan.Format, Remedy: plan.ReplaceInstance, Cluster: cluster, Check: theRoute.Check, Resource: table, Replace: &plan.Replace{Instances: []plan.Replaced{{Instance: "i-1", Group: "eks-workers"}}}}
	inc = Propose(inc, Proposal{ID: "r1", At: at(3), Cluster: cluster, Key: theRoute, Remedy: p.Remedy, Policy: plan.Auto, Plan: p, Hash: p.Hash()}, at(3)).Incident
	told := DeedTold{ID: "r2", At: at(4), Cluster: cluster, Key: theRoute, Deed: plan.Deed{ID: "r", Plan: p, Hash: p.Hash(), Policy: plan.Auto, Began: at(3), Ended: at(4), Result: plan.Done}}
	inc = look(TakeDeed(inc, told, at(4)).Incident, 5, passed("route/no-egress", subnet))
	if got := inc.Offers[0].State; got != Acted {
		t.Errorf("the cause was gone before, and still the deed is %q", got)
	}
	inc = look(inc, 8, launched("i-2", 5, Joined))
	if got := inc.Offers[0].State; got != Helped || inc.Ending != Proved {
		t.Errorf("a node joined, and the deed is %q", got)
	}
}

func notesOf(inc Incident) string {
	var reasons []string
	for _, n := range inc.Said.Notes {
		reasons = append(reasons, string(n.Reason))
	}
	return strings.Join(reasons, " ")
}
