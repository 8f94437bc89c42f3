package incident_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
)

// The newest verdict counts, and of two at one time the failure.
func TestNewestVerdict(t *testing.T) {
	at := incidenttest.At
	inc := incident.Incident{Covers: []string{"b"}}
	for i, test := range []struct {
		of     string
		found  incident.Found
		minute int
		want   bool
	}{
		{"c", incident.Failing, 5, true},
		{"a", incident.Passing, 5, true},
		{"b", incident.Failing, 5, true},
		{"b", incident.Passing, 4, false},
		{"b", incident.Passing, 5, false},
		{"b", incident.Failing, 5, false},
		{"a", incident.Absent, 5, false},
		{"a", incident.Failing, 5, true},
		{"b", incident.Passing, 6, true},
		{"c", incident.Failing, 6, true},
	} {
		if got := inc.RecordVerdict(test.of, test.found, at(test.minute)); got != test.want {
			t.Errorf("step %d: %t", i, got)
		}
	}
	want := []incident.Verdict{{Of: "a", Found: incident.Failing, At: at(5)}, {Of: "b", Found: incident.Passing, At: at(6)}, {Of: "c", Found: incident.Failing, At: at(6)}}
	if diff := cmp.Diff(want, inc.Verdicts); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, inc.Covers); diff != "" {
		t.Errorf("covers (-want +got):\n%s", diff)
	}
	if v, known := inc.VerdictOn("b"); !known || v != want[1] {
		t.Errorf("of b: %+v, %t", v, known)
	}
	if v, known := inc.VerdictOn("d"); known || v != (incident.Verdict{}) {
		t.Errorf("of d: %+v, %t", v, known)
	}
}

func TestWhatHasEnded(t *testing.T) {
	with := func(check checks.ID, c checks.Confidence, status report.LaunchStatus, covers ...string) incident.Incident {
		inc := incident.Incident{Key: report.Key{Check: check}, Covers: covers, Launches: []report.Launch{{Instance: "i-1", Status: status}, {Instance: "i-2", Status: report.Gone}}}
		inc.Cause.Confidence = c
		return inc
	}
	for name, test := range map[string]struct {
		inc         incident.Incident
		ended, gave bool
	}{
		"both have":               {with("iam/x", checks.Certain, report.Gone, "i-1", "i-2"), true, false},
		"one has":                 {with("iam/x", checks.Certain, report.Missed, "i-1", "i-2"), false, false},
		"one is not known":        {with("iam/x", checks.Certain, report.Gone, "i-2", "i-3"), false, false},
		"it covers a subnet":      {with("iam/x", checks.Certain, report.Gone, "subnet-1"), false, false},
		"it covers nothing":       {with("iam/x", checks.Certain, report.Gone), false, false},
		"of a symptom":            {with("node/x", checks.Symptom, report.Gone, "i-1"), false, false},
		"of what cannot be seen":  {with(incident.CannotLook, checks.Certain, report.Gone, "i-1"), false, false},
		"ended early":             {with(checkid.InstanceEndedEarly, checks.Certain, report.Missed, "i-1"), true, false},
		"a symptom, given up on":  {with("node/x", checks.Symptom, report.GivenUp, "i-1"), false, true},
		"a cause, given up on":    {with("iam/x", checks.Certain, report.GivenUp, "i-1"), false, false},
		"a symptom, looked at":    {with("node/x", checks.Symptom, report.Missed, "i-1"), false, false},
		"ended early and covered": {with(checkid.InstanceEndedEarly, checks.Symptom, report.Gone), true, false},
	} {
		if ended, gave := test.inc.AllEnded(), test.inc.HasGivenUp("i-1"); ended != test.ended || gave != test.gave {
			t.Errorf("%s: ended %t, given up on %t", name, ended, gave)
		}
	}
}

// Which launches that joined say something of an incident.
func TestConcerns(t *testing.T) {
	with := func(check checks.ID, c checks.Confidence, covers ...string) incident.Incident {
		inc := incident.Incident{Key: report.Key{Check: check}, Covers: covers, Launches: []report.Launch{{Instance: "i-1", Nodegroup: "workers"}, {Instance: "i-2", Group: "asg"}}}
		inc.Cause.Confidence, inc.Cause.Nodegroups = c, []string{"named"}
		return inc
	}
	launch := func(id, subnet, nodegroup, group string) report.Launch {
		return report.Launch{Instance: id, Subnet: subnet, Nodegroup: nodegroup, Group: group}
	}
	role := with("iam/x", checks.Certain, "role-1")
	for name, test := range map[string]struct {
		inc  incident.Incident
		l    report.Launch
		want bool
	}{
		"an affected one":                      {role, launch("i-1", "", "", ""), true},
		"from a covered subnet":                {with("route/x", checks.Certain, "subnet-1"), launch("i-9", "subnet-1", "", ""), true},
		"from another subnet":                  {with("route/x", checks.Certain, "subnet-1"), launch("i-9", "subnet-2", "workers", ""), false},
		"from a subnet that nobody knows":      {with("route/x", checks.Certain, "subnet-1"), launch("i-9", "", "workers", ""), true},
		"of a nodegroup of the cause":          {role, launch("i-9", "subnet-2", "named", ""), true},
		"of the nodegroup of an affected":      {role, launch("i-9", "subnet-2", "workers", ""), true},
		"of the group of an affected":          {role, launch("i-9", "subnet-2", "", "asg"), true},
		"of another":                           {role, launch("i-9", "subnet-2", "others", "other"), false},
		"of none":                              {role, launch("i-9", "subnet-2", "", ""), false},
		"another instance's luck":              {with("node/x", checks.Symptom, "i-1"), launch("i-9", "subnet-2", "workers", ""), false},
		"the instance's own":                   {with("node/x", checks.Symptom, "i-1"), launch("i-1", "subnet-2", "workers", ""), true},
		"of what Rollcall cannot see, nothing": {with(incident.CannotLook, checks.Certain, "i-1"), launch("i-1", "subnet-2", "workers", ""), false},
	} {
		if got := test.inc.Concerns(test.l); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	role.Cause.Nodegroups = []string{""}
	if role.Concerns(launch("i-9", "subnet-2", "", "")) {
		t.Error("one without a nodegroup is of a nodegroup without a name")
	}
}

// Of the launches that may be the proof the first and the last are kept.
func TestProofs(t *testing.T) {
	at := incidenttest.At
	joined := func(id string, minute int) report.Launch { return report.Launch{Instance: id, Ready: at(minute)} }
	with := func(seen int, ended ...int) incident.Incident {
		inc := incident.Incident{Key: report.Key{Check: "iam/x"}, Seen: at(seen), Covers: []string{"i-1"}, Launches: []report.Launch{{Instance: "i-1", Status: report.Missed}}}
		for i, minute := range ended {
			id := []string{"i-1", "i-2"}[i]
			inc.Launches = append(inc.Launches[:i], report.Launch{Instance: id, Status: report.Gone, Ended: at(minute)})
		}
		return inc
	}
	unknown := with(5)
	unknown.Launches[0].Status = report.Gone
	symptom := with(5)
	symptom.Cause.Confidence = checks.Symptom
	for name, test := range map[string]struct {
		inc  incident.Incident
		l    report.Launch
		want bool
	}{
		"after the cause was seen last":         {with(5), joined("i-9", 6), true},
		"when it was seen last":                 {with(5), joined("i-9", 5), false},
		"after all had ended":                   {with(5, 3), joined("i-9", 4), true},
		"before all had ended":                  {with(5, 3, 4), joined("i-9", 4), false},
		"before the first, as told, had ended":  {with(5, 4, 3), joined("i-9", 4), false},
		"nobody knows when they ended":          {unknown, joined("i-9", 5), false},
		"the symptom's own, whatever the clock": {symptom, joined("i-1", 4), true},
		"another one's, of a symptom":           {symptom, joined("i-9", 4), false},
		"an affected one's, of a cause":         {with(5), joined("i-1", 4), false},
	} {
		inc := test.inc.Clone()
		if got := inc.AddJoin(test.l); got != test.want || len(inc.Joins) != map[bool]int{true: 1}[test.want] {
			t.Errorf("%s: %t, %+v", name, got, inc.Joins)
		}
		inc.Joins = []report.Launch{test.l}
		if inc.DropOutdatedJoins(); len(inc.Joins) != map[bool]int{true: 1}[test.want] {
			t.Errorf("%s: kept %+v", name, inc.Joins)
		}
	}
	inc := with(1)
	if l, has := inc.FirstJoin(); has || l.Instance != "" {
		t.Errorf("a proof before any: %+v", l)
	}
	for i, step := range []struct {
		id     string
		minute int
		kept   []string
		added  bool
	}{
		{"i-5", 5, []string{"i-5"}, true},
		{"i-5", 9, []string{"i-5"}, false},
		{"i-3", 3, []string{"i-3", "i-5"}, true},
		{"i-4", 4, []string{"i-3", "i-5"}, true},
		{"i-7", 7, []string{"i-3", "i-7"}, true},
		{"i-6", 7, []string{"i-3", "i-7"}, true},
		{"i-8", 7, []string{"i-3", "i-8"}, true},
		{"i-2", 3, []string{"i-2", "i-8"}, true},
	} {
		added := inc.AddJoin(joined(step.id, step.minute))
		var got []string
		for _, l := range inc.Joins {
			got = append(got, l.Instance)
		}
		if diff := cmp.Diff(step.kept, got); diff != "" || added != step.added {
			t.Errorf("step %d, added %t (-want +got):\n%s", i, added, diff)
		}
	}
	if l, has := inc.FirstJoin(); !has || l.Instance != "i-2" {
		t.Errorf("the first is %+v", l)
	}
}

// When a run helped, or did not, by what was seen since.
func TestWhatVerifiesARun(t *testing.T) {
	at := incidenttest.At
	v := func(of string, found incident.Found, minute int) incident.Verdict {
		return incident.Verdict{Of: of, Found: found, At: at(minute)}
	}
	run := func(r optin.Remedy) incident.Offer { // from 4 to 5
		return incident.Offer{Plan: remedy.Plan{Remedy: r}, State: incident.Acted, Run: &remedy.Run{Began: at(4), Ended: at(5), Result: action.Done}}
	}
	with := func(o incident.Offer, verdicts ...incident.Verdict) incident.Incident {
		return incident.Incident{State: incident.Open, Offers: []incident.Offer{{State: incident.Expired}, o}, Verdicts: verdicts}
	}
	ended := func(state incident.State, how incident.Resolution, ready int) incident.Incident {
		inc := with(run(optin.ReplaceInstance))
		inc.State, inc.Resolution = state, how
		if ready > 0 {
			inc.Proof = &report.Launch{Ready: at(ready)}
		}
		return inc
	}
	unended, none, route := run(optin.AddNATRoute), run(optin.AddNATRoute), run(optin.AddNATRoute)
	unended.Run.Ended, none.Run = none.Verified, nil
	const fails, well, gone = incident.Failing, incident.Passing, incident.Absent
	for name, test := range map[string]struct {
		inc    incident.Incident
		state  incident.OfferState
		minute int
	}{
		"nothing was seen":                     {with(route), incident.Acted, 0},
		"it fails too soon to tell":            {with(route, v("a", fails, 6)), incident.Acted, 0},
		"it fails since":                       {with(route, v("a", fails, 7)), incident.Unhelpful, 7},
		"the first of two that fail":           {with(route, v("a", fails, 9), v("b", fails, 8), v("c", fails, 10)), incident.Unhelpful, 8},
		"it passed before":                     {with(route, v("a", well, 5)), incident.Acted, 0},
		"it passes since":                      {with(route, v("a", well, 6)), incident.Helped, 6},
		"the last of two that pass":            {with(route, v("a", well, 6), v("b", well, 8), v("c", well, 7)), incident.Helped, 8},
		"one passes, and one was not seen yet": {with(route, v("a", well, 6), v("b", well, 4)), incident.Acted, 0},
		"one passes, and one did not then":     {with(route, v("a", well, 8), v("b", fails, 4)), incident.Acted, 0},
		"one passes, and one is gone":          {with(route, v("a", well, 6), v("b", gone, 4)), incident.Helped, 6},
		"all are gone":                         {with(route, v("a", gone, 6)), incident.Acted, 0},
		"it is not over":                       {with(unended, v("a", well, 6)), incident.Acted, 0},
		"it is not known":                      {with(none, v("a", well, 6)), incident.Acted, 0},
		"a node joined in its place":           {ended(incident.Closed, incident.Proved, 6), incident.Helped, 6},
		"one had joined before":                {ended(incident.Closed, incident.Proved, 4), incident.Acted, 0},
		"none has":                             {ended(incident.Closed, incident.Proved, 0), incident.Acted, 0},
		"it is open again":                     {ended(incident.Open, incident.Proved, 6), incident.Acted, 0},
		"it ended otherwise":                   {ended(incident.Closed, incident.Withdrawn, 6), incident.Acted, 0},
	} {
		inc := test.inc.Clone()
		found := inc.VerifyRemedies()
		want := map[incident.OfferState][]incident.Reason{incident.Helped: {incident.IsVerified}, incident.Unhelpful: {incident.IsUnhelpful}}[test.state]
		o := inc.Offers[1]
		if diff := cmp.Diff(want, found); diff != "" || o.State != test.state || test.minute > 0 && !o.Verified.Equal(at(test.minute)) || test.minute == 0 && !o.Verified.IsZero() {
			t.Errorf("%s: %s at %s (-want +got):\n%s", name, o.State, o.Verified, diff)
		}
		if o.HasVerdict() != (test.state != incident.Acted) {
			t.Errorf("%s: has a verdict: %t", name, o.HasVerdict())
		}
	}
}

// The remedy that took the cause away is thanked before the one that replaced
// instances.
func TestWhatIsThanked(t *testing.T) {
	o := func(r optin.Remedy, s incident.OfferState, hash string) incident.Offer {
		return incident.Offer{Plan: remedy.Plan{Remedy: r}, State: s, Hash: hash}
	}
	route, later, replaced := o(optin.AddNATRoute, incident.Helped, "a"), o(optin.CoverZones, incident.Helped, "b"), o(optin.ReplaceInstance, incident.Helped, "c")
	for want, offers := range map[string][]incident.Offer{
		"":       {o(optin.AddNATRoute, incident.Acted, "a"), o(optin.AddNATRoute, incident.Unhelpful, "b")},
		"a":      {route, replaced},
		"a ":     {replaced, route},
		"b":      {route, later, replaced},
		"c":      {replaced, o(optin.ReplaceInstance, incident.Helped, "d")},
		"a    ":  {o(optin.AddNATRoute, incident.Acted, "x"), route},
		"c     ": {o(optin.AddNATRoute, incident.Acted, "x"), replaced},
	} {
		by, found := incident.Incident{Offers: offers}.FixedBy()
		if found != (want != "") || found && by.Hash != want[:1] {
			t.Errorf("want %q: %s, %t", want, by.Hash, found)
		}
	}
}
