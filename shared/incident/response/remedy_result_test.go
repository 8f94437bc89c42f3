package response_test

import (
	"strings"
	"testing"

	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/incident/response"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/remedy/replaceinstance"
	"rollcall/shared/report"
)

// repaired is the route incident whose plan was approved and done.
func repaired(t *testing.T, result action.Status) incident.Incident {
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
		d := incidenttest.Run(action.Done)
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
	done := repaired(t, action.Done)
	if got := response.ApplyRemedyResult(done, incidenttest.Run(action.Done), incidenttest.At(8)); got.Reason != incident.AlreadyApplied {
		t.Errorf("told twice: %q", got.Reason)
	}
	other := incidenttest.Run(action.Failed)
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
	for result, want := range map[action.Status]incident.Reason{action.Done: incident.RemedyDone, action.Refused: incident.RemedyFailed, action.Failed: incident.RemedyFailed, action.Partly: incident.RemedyFailed, action.Uncertain: incident.RemedyFailed} {
		inc := repaired(t, result)
		o, n := inc.Offers[0], inc.Delivery.Notes[len(inc.Delivery.Notes)-1]
		if o.State != incident.Acted || o.Run == nil || o.By != incidenttest.Oncall || n.Reason != want || n.Offer.Run.Result != result {
			t.Errorf("%s: offer %+v, note %+v", result, o, n)
		}
	}
	// Whatever the record says, it was done.
	stranger := response.ApplyRemedyResult(incidenttest.Broken(t), incidenttest.Run(action.Done), incidenttest.At(7)).Incident
	if o := stranger.Offers; len(o) != 1 || o[0].State != incident.Acted || o[0].By.ID != incidenttest.Oncall.ID {
		t.Errorf("a run of an unknown plan is kept as %+v", o)
	}
	sure := response.ApplyRemedyResult(repaired(t, action.Uncertain), incidenttest.Run(action.Done), incidenttest.At(8))
	if o := sure.Incident.Offers; sure.Reason != incident.RemedyDone || len(o) != 1 || o[0].Run.Result != action.Done {
		t.Errorf("what was uncertain is known: %q, %+v", sure.Reason, o)
	}
	limited := response.ApplyRemedyResult(repaired(t, action.Refused), incidenttest.Run(action.Done), incidenttest.At(8))
	if o := limited.Incident.Offers; limited.Reason != incident.RemedyDone || len(o) != 1 || o[0].Run.Result != action.Done {
		t.Errorf("what the limit refused is done later: %q, %+v", limited.Reason, o)
	}
	// What failed may be offered again, what was done may not.
	again := incidenttest.Proposal("p9", 9, incidenttest.RoutePlan("nat-0aa4"), optin.Approve)
	if d := response.Propose(repaired(t, action.Failed), again, incidenttest.At(9)); d.Reason != incident.IsProposed {
		t.Errorf("after a failure: %q", d.Reason)
	}
	for _, result := range []action.Status{action.Done, action.Partly, action.Uncertain} {
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
		result action.Status
		minute int
		look   func(*report.Observation)
		want   incident.OfferState
	}{
		"passes after":                        {action.Done, 8, well, incident.Helped},
		"passed before it ended":              {action.Done, 7, well, incident.Acted},
		"cannot look":                         {action.Done, 9, blind, incident.Acted},
		"nothing is said of it":               {action.Done, 9, incidenttest.Launched("i-9", 8, report.Waiting), incident.Acted},
		"another check passes":                {action.Done, 9, incidenttest.Passed("route/blackhole", incidenttest.Subnet), incident.Acted},
		"it passes for another subnet":        {action.Done, 9, incidenttest.Passed("route/no-egress", "subnet-other"), incident.Acted},
		"fails too soon to tell":              {action.Done, 8, fails, incident.Acted},
		"still fails":                         {action.Done, 9, fails, incident.Unhelpful},
		"partly done, and passes":             {action.Partly, 9, well, incident.Helped},
		"uncertain, and passes":               {action.Uncertain, 9, well, incident.Helped},
		"a failed run is thanked for nothing": {action.Failed, 9, well, incident.Acted},
		"a refused run is blamed for nothing": {action.Refused, 9, fails, incident.Acted},
		"what it was about is gone":           {action.Done, 9, incidenttest.Absent(incidenttest.Subnet), incident.Acted},
	} {
		inc := incidenttest.Look(repaired(t, test.result), test.minute, test.look)
		if got := inc.Offers[0].State; got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	inc := incidenttest.Look(incidenttest.Look(repaired(t, action.Done), 9, fails), 14, fails)
	if got := strings.Count(incidenttest.NotesOf(inc), "unhelpful"); got != 1 || inc.State != incident.Open {
		t.Errorf("it is said %d times that it did not help; the incident is %q", got, inc.State)
	}
	inc = incidenttest.Look(inc, 20, well)
	if inc.Offers[0].State != incident.Unhelpful {
		t.Errorf("what did not help is %q when something else did", inc.Offers[0].State)
	}
}

func TestTheEndNamesWhatHelped(t *testing.T) {
	inc := incidenttest.Look(repaired(t, action.Done), 9, incidenttest.Passed("route/no-egress", incidenttest.Subnet))
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
		t.Error("nobody did anything, and a remedy is thanked")
	}
	// The run may be told after the look that shows it.
	early, _ := response.Act(incidenttest.Proposed(t), incidenttest.Press(report.ApprovePlan, 5), incidenttest.May, incidenttest.At(5))
	late := response.ApplyRemedyResult(incidenttest.Look(early.Incident, 9, incidenttest.Passed("route/no-egress", incidenttest.Subnet)), incidenttest.Run(action.Done), incidenttest.At(10)).Incident
	if _, ok := late.FixedBy(); !ok || !strings.HasSuffix(incidenttest.NotesOf(late), "remedy-done verified") {
		t.Errorf("told late: %+v, %q", late.Offers, incidenttest.NotesOf(late))
	}
}

// A replaced instance is verified by a node that joined in its place.
func TestReplacementIsVerifiedByANode(t *testing.T) {
	inc := incidenttest.Look(incidenttest.Broken(t), 2, incidenttest.Passed("route/no-egress", incidenttest.Subnet), incidenttest.Launched("i-1", 0, report.Missed))
	p := remedy.Plan{Format: remedy.Format, Remedy: optin.ReplaceInstance, Cluster: incidenttest.Cluster, Check: incidenttest.TheRoute.Check, Resource: incidenttest.Table, Replace: &replaceinstance.Plan{Instances: []replaceinstance.Replaced{{Instance: "i-1", Group: "eks-workers"}}}}
	inc = response.Propose(inc, report.Proposal{ID: "r1", At: incidenttest.At(3), Cluster: incidenttest.Cluster, Key: incidenttest.TheRoute, Remedy: p.Remedy, Policy: optin.Auto, Plan: p, Hash: p.Hash()}, incidenttest.At(3)).Incident
	told := report.RemedyResult{ID: "r2", At: incidenttest.At(4), Cluster: incidenttest.Cluster, Key: incidenttest.TheRoute, Run: remedy.Run{ID: "r", Plan: p, Hash: p.Hash(), Policy: optin.Auto, Began: incidenttest.At(3), Ended: incidenttest.At(4), Result: action.Done}}
	inc = incidenttest.Look(response.ApplyRemedyResult(inc, told, incidenttest.At(4)).Incident, 5, incidenttest.Passed("route/no-egress", incidenttest.Subnet))
	if got := inc.Offers[0].State; got != incident.Acted {
		t.Errorf("the cause was gone before, and still the run is %q", got)
	}
	inc = incidenttest.Look(inc, 8, incidenttest.Launched("i-2", 5, report.Joined))
	if got := inc.Offers[0].State; got != incident.Helped || inc.Resolution != incident.Proved {
		t.Errorf("a node joined, and the run is %q", got)
	}
}
