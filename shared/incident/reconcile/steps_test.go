package reconcile

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
	"rollcall/shared/incident/correlate"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// at is a minute of a day; looks are of minute 500, decided on in minute 501.
func at(minute int) time.Time {
	return time.Date(2026, 11, 20, 0, minute, 0, 0, time.UTC)
}

func looking(obs report.Observation) *reconciler {
	obs.At, obs.Cluster = at(500), "prod"
	return &reconciler{correlate.Look{Observation: obs, Now: at(501), Policy: incident.Policy{ProofTime: time.Hour, ReopenTime: 100 * time.Minute, TagKeys: []string{"team"}}}}
}

// open is an incident of a route table that was last seen in minute 400.
func open(changes ...func(*incident.Update)) *incident.Update {
	u := &incident.Update{Incident: incident.Incident{
		Key: report.Key{Cluster: "prod", Check: "route/a", Resource: "rtb-1"}, State: incident.Open, Number: 1, Began: at(300), Opened: at(301), Seen: at(400),
		Covers: []string{"subnet-1"}, Verdicts: []incident.Verdict{{Of: "subnet-1", Found: incident.Failing, At: at(400)}},
	}}
	u.Cause = diagnose.Cause{Check: "route/a", Resource: "rtb-1", Confidence: checks.Certain, Title: "title", Covers: u.Covers}
	for _, change := range changes {
		change(u)
	}
	return u
}

func closed(minute int) func(*incident.Update) {
	return func(u *incident.Update) {
		u.State, u.Resolution, u.Resolved = incident.Closed, incident.Withdrawn, at(minute)
		u.Verdicts[0].Found = incident.Passing
	}
}

func check(id checks.ID, resource string) func(*incident.Update) {
	return func(u *incident.Update) {
		u.Key.Check, u.Key.Resource, u.Cause.Check, u.Cause.Resource = id, resource, id, resource
	}
}

// becomes holds what a step makes of an incident against all that it should change.
func becomes(t *testing.T, name string, u *incident.Update, step func(*incident.Update), change func(*incident.Update)) {
	t.Helper()
	want := *u
	want.Incident = u.Clone()
	if change != nil {
		change(&want)
	}
	step(u)
	if diff := cmp.Diff(&want, u, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// What passed, exists no more, or joined, and what that makes of an incident.
func TestWhatVerdictsChange(t *testing.T) {
	const ip = checkid.IPLeakedInterfaces
	seen := func(obs *report.Observation, list ...diagnose.Passed) report.Observation {
		obs.Diagnosis.Passed = list
		return *obs
	}
	passed := func(list ...diagnose.Passed) report.Observation { return seen(&report.Observation{}, list...) }
	caused := func(list ...diagnose.Cause) report.Observation {
		return report.Observation{Diagnosis: diagnose.Diagnosis{Causes: list}}
	}
	evidence := []checks.Evidence{{What: "w"}}
	good := diagnose.Passed{Check: "route/a", Covers: []string{"subnet-0", "subnet-1"}, Evidence: evidence}
	bare := diagnose.Passed{Check: "route/a", Covers: []string{"subnet-1"}}
	verdict := func(found incident.Found) func(*incident.Update) {
		return func(u *incident.Update) {
			u.Verdicts[0] = incident.Verdict{Of: u.Verdicts[0].Of, Found: found, At: at(500)}
			u.Touched = true
		}
	}
	both := func(changes ...func(*incident.Update)) func(*incident.Update) {
		return func(u *incident.Update) {
			for _, change := range changes {
				change(u)
			}
		}
	}
	cleared := func(e ...checks.Evidence) func(*incident.Update) { return func(u *incident.Update) { u.ClearedBy = e } }
	later := func(u *incident.Update) { u.Seen, u.Verdicts[0].At = at(600), at(600) }
	partly := func(u *incident.Update) { u.Seen = at(600) } // by a look that did not see all of it
	subnet := func(u *incident.Update) {
		check(ip, "subnet-1")(u)
	}
	leakGone := diagnose.Passed{Check: ip, Covers: []string{"subnet-1"}, Evidence: evidence}
	elsewhere := diagnose.Passed{Check: ip, Covers: []string{"subnet-2"}, Evidence: evidence}
	mute := diagnose.Passed{Check: ip, Covers: []string{"subnet-1"}}
	advice := func(id checks.ID, resource string, covers ...string) diagnose.Cause {
		return diagnose.Cause{Check: id, Resource: resource, Covers: covers, Confidence: checks.Advice, Title: "few"}
	}
	likely := advice("route/a", "rtb-1", "subnet-0", "subnet-1")
	certain := likely
	certain.Confidence = checks.Certain
	other := advice("route/a", "rtb-2", "subnet-1")
	symptom := func(u *incident.Update) {
		u.Cause.Confidence, u.Covers, u.Verdicts[0].Of = checks.Symptom, []string{"i-1"}, "i-1"
	}
	launch := func(status report.LaunchStatus) report.Observation {
		return report.Observation{Launches: []report.Launch{{Instance: "i-1", Status: status, Subnet: "subnet-1"}}}
	}
	join := report.Launch{Instance: "i-1", Status: report.Joined, Subnet: "subnet-1", Ready: at(450)}
	joined := func(l report.Launch) report.Observation { return report.Observation{Launches: []report.Launch{l}} }
	undated := join
	undated.Ready = time.Time{}
	of := func(obs report.Observation, causes ...diagnose.Cause) report.Observation {
		obs.Diagnosis.Causes = causes
		return obs
	}
	joins := func(minute int) func(*incident.Update) {
		return func(u *incident.Update) {
			l := join
			l.Ready = at(minute)
			u.Joins, u.Touched = []report.Launch{l}, true
		}
	}
	more := func(u *incident.Update) { symptom(u); u.More = []string{"i-1"} }
	sight := func(u *incident.Update) {
		check(incident.CannotLook, "ec2:A")(u)
		u.Covers, u.Verdicts[0].Of, u.Blind = []string{"ec2:A"}, "ec2:A", []snapshot.Failure{{Call: "ec2:A", Source: "tables"}}
	}
	read := report.Observation{Read: []snapshot.Source{"tables"}}
	times := func(n int) func(*incident.Update) { return func(u *incident.Update) { u.Times = n } }
	old := func(u *incident.Update) {
		u.Effects = []incident.Effect{{Check: checkid.IPRunway, Title: "r", Last: at(400)}}
	}
	for name, test := range map[string]struct {
		u      *incident.Update
		obs    report.Observation
		change func(*incident.Update)
	}{
		"it passes":                              {open(), passed(diagnose.Passed{Check: "route/b", Covers: []string{"subnet-1"}}, good), both(verdict(incident.Passing), cleared(evidence...))},
		"it passes, and nobody says why":         {open(cleared(evidence...)), passed(bare), verdict(incident.Passing)},
		"it passes elsewhere":                    {open(), passed(diagnose.Passed{Check: "route/a", Covers: []string{"subnet-2"}, Evidence: evidence}), nil},
		"another check passes":                   {open(), passed(diagnose.Passed{Check: "route/b", Covers: []string{"subnet-1"}, Evidence: evidence}), nil},
		"it passed before":                       {open(later), passed(good), nil},
		"it passed in part":                      {open(partly), passed(good), verdict(incident.Passing)},
		"it passes, and is over":                 {open(closed(490)), passed(good), verdict(incident.Passing)},
		"it passes, and is long over":            {open(closed(400)), passed(good), nil},
		"it passes, and was just over":           {open(closed(401)), passed(good), verdict(incident.Passing)},
		"what came back of a leak":               {open(subnet, closed(490)), passed(leakGone), both(verdict(incident.Passing), cleared(evidence...))},
		"what came back, known":                  {open(subnet, closed(490), cleared(checks.Evidence{What: "known"})), passed(leakGone), verdict(incident.Passing)},
		"what came back elsewhere":               {open(subnet, closed(490)), passed(elsewhere), nil},
		"that it is gone, and not what came":     {open(subnet, closed(490)), passed(mute), verdict(incident.Passing)},
		"what came back before it was gone":      {open(subnet, closed(490), func(u *incident.Update) { u.Cleared = at(501) }), passed(leakGone), verdict(incident.Passing)},
		"what came back, by a look of that time": {open(subnet, closed(490), func(u *incident.Update) { u.Cleared = at(500); u.Verdicts[0].At = at(500) }), passed(leakGone), func(u *incident.Update) { u.ClearedBy, u.Touched = evidence, true }},
		"few are left":                           {open(subnet), caused(advice(ip, "subnet-1")), both(verdict(incident.Passing), cleared(checks.Evidence{What: "Left", Value: "few"}))},
		"few are left, and it is over":           {open(subnet, closed(490)), caused(advice(ip, "subnet-1")), verdict(incident.Passing)},
		"few were left before":                   {open(subnet, partly), caused(advice(ip, "subnet-1")), verdict(incident.Passing)},
		"another resource's now":                 {open(), caused(other), verdict(incident.Passing)},
		"its own still":                          {open(), caused(certain), nil},
		"it exists no more":                      {open(), report.Observation{Absent: []string{"subnet-1"}}, verdict(incident.Absent)},

		"a symptom's node joined":                                   {open(symptom), launch(report.Joined), verdict(incident.Passing)},
		"a symptom's node is gone":                                  {open(symptom), launch(report.Gone), verdict(incident.Absent)},
		"a symptom's node waits":                                    {open(symptom), launch(report.Missed), nil},
		"a cause's node is gone":                                    {open(func(u *incident.Update) { u.Covers, u.Verdicts[0].Of = []string{"i-1"}, "i-1" }), launch(report.Gone), nil},
		"one of many is given up":                                   {open(more), launch(report.GivenUp), func(u *incident.Update) { u.Covers, u.Verdicts, u.Touched = nil, nil, true }},
		"one is given up that is known by name":                     {open(symptom, func(u *incident.Update) { u.Launches = []report.Launch{{Instance: "i-1"}} }), launch(report.GivenUp), nil},
		"one is given up that is not affected":                      {open(symptom), launch(report.GivenUp), nil},
		"one is given up that it does not cover":                    {open(more, func(u *incident.Update) { u.Covers, u.Verdicts = []string{"i-2"}, u.Verdicts[:0] }), launch(report.GivenUp), nil},
		"a node joined":                                             {open(), joined(join), joins(450)},
		"a node joined, nobody knows when":                          {open(), joined(undated), joins(500)},
		"a node joined before":                                      {open(), joined(report.Launch{Instance: "i-1", Status: report.Joined, Subnet: "subnet-1", Ready: at(400)}), nil},
		"a node of another subnet joined":                           {open(), joined(report.Launch{Instance: "i-1", Status: report.Joined, Subnet: "subnet-2", Ready: at(450)}), nil},
		"a node waits":                                              {open(), launch(report.Waiting), nil},
		"a join that is no proof any more":                          {open(joins(400), func(u *incident.Update) { u.Touched = false }), report.Observation{}, func(u *incident.Update) { u.Joins = nil }},
		"a node joined in spite of what is likely":                  {open(), of(joined(join), advice("dns/a", "rtb-1", "subnet-1"), advice("route/a", "rtb-1", "subnet-0"), likely), both(joins(450), verdict(incident.Passing))},
		"a node joined, and it is advice of what it does not cover": {open(), of(joined(join), advice("route/a", "rtb-1", "subnet-0")), joins(450)},
		"a node joined, and another check advises":                  {open(), of(joined(join), advice("dns/a", "rtb-1", "subnet-1")), joins(450)},
		"a node joined, and it fails still":                         {open(), of(joined(join), certain), joins(450)},
		"it is advice, and no node joined":                          {open(), caused(likely), nil},
		"it was advice before":                                      {open(func(u *incident.Update) { u.Verdicts[0].At = at(501) }), of(joined(join), likely), joins(450)},

		"it can be read":                           {open(sight), read, verdict(incident.Passing)},
		"it cannot":                                {open(sight), report.Observation{}, nil},
		"what is read is no cause":                 {open(func(u *incident.Update) { u.Blind = []snapshot.Failure{{Source: "tables"}} }, check("route/a", "subnet-1")), read, nil},
		"a streak is broken":                       {open(sight, closed(490), times(2)), read, both(verdict(incident.Passing), times(0))},
		"a streak goes on":                         {open(sight, closed(490), times(2)), report.Observation{}, nil},
		"there was no streak":                      {open(sight, closed(490), func(u *incident.Update) { u.Verdicts[0].At = at(600) }), read, nil},
		"what is no sight has no streak":           {open(closed(490), times(2), func(u *incident.Update) { u.Blind = []snapshot.Failure{{Source: "tables"}} }), read, nil},
		"what belongs to it recovers":              {open(subnet, old), passed(diagnose.Passed{Check: checkid.IPRunway, Covers: []string{"subnet-1"}}), func(u *incident.Update) { u.Effects[0].Over, u.Touched = at(500), true }},
		"what belonged to it does, and it is over": {open(subnet, old, closed(490)), passed(diagnose.Passed{Check: checkid.IPRunway, Covers: []string{"subnet-1"}}), nil},
	} {
		becomes(t, name, test.u, looking(test.obs).applyVerdicts, test.change)
	}
}

// What a picture is drawn for, and when anew.
func TestWhenAPictureIsDrawn(t *testing.T) {
	png := []byte("png")
	obs := report.Observation{Charts: []report.Chart{{Of: "subnet-0", PNG: png}, {Of: "subnet-1"}, {Of: "subnet-1", Alt: "alt", PNG: png}}}
	ip := check(checkid.IPLeakedInterfaces, "subnet-1")
	have := func(c incident.Chart) func(*incident.Update) { return func(u *incident.Update) { u.Chart = &c } }
	drawn := func(turn, file, missing string) func(*incident.Update) {
		return func(u *incident.Update) {
			u.Chart, u.Touched = &incident.Chart{Alt: "alt", Of: u.Moment(), At: at(500), Turn: turn, PNG: png, File: file, Missing: missing}, true
		}
	}
	// A cleanup that ended it told what it gave back only after the picture was drawn.
	back := report.Observation{Charts: []report.Chart{{Of: "subnet-1", Alt: "alt", PNG: png, Returned: 90}}}
	redrawn := func(u *incident.Update) {
		drawn("1 proved", "F", "")(u)
		u.Chart.Returned = 90
	}
	following := func(u *incident.Update) {
		drawn("1 open short", "F", "")(u)
		u.Chart.FileAlt, u.Chart.FileOf = "old", "others"
	}
	touched := func(u *incident.Update) { u.Touched = true }
	proved := func(u *incident.Update) { u.Resolution, u.Cleared = incident.Proved, at(490) }
	for name, test := range map[string]struct {
		u      *incident.Update
		obs    report.Observation
		change func(*incident.Update)
	}{
		"the first":                    {open(ip), obs, drawn("1 open short", "", "")},
		"of no address":                {open(), obs, nil},
		"none for this subnet":         {open(ip), report.Observation{Charts: obs.Charts[:2]}, nil},
		"none":                         {open(ip), report.Observation{}, nil},
		"it is shown":                  {open(ip, have(incident.Chart{Turn: "1 open short", At: at(441), File: "F"})), obs, nil},
		"it is an hour old":            {open(ip, have(incident.Chart{Turn: "1 open short", At: at(440), File: "F", Missing: "m"})), obs, drawn("1 open short", "F", "m")},
		"beside other numbers":         {open(ip, have(incident.Chart{Turn: "1 open short", Of: "others", At: at(490), File: "F", FileAlt: "old", FileOf: "others"})), obs, following},
		"beside them for a moment":     {open(ip, have(incident.Chart{Turn: "1 open short", Of: "others", At: at(491), File: "F"})), obs, nil},
		"it waits":                     {open(ip, have(incident.Chart{Turn: "1 open short", At: at(441), PNG: []byte("o"), File: "F"})), obs, drawn("1 open short", "F", "")},
		"the incident has moved on":    {open(ip, have(incident.Chart{Turn: "1 open", At: at(499), File: "F"})), obs, drawn("1 open short", "F", "")},
		"a newer one is there":         {open(ip, have(incident.Chart{Turn: "1 open", At: at(501)})), obs, nil},
		"it is over":                   {open(ip, closed(490), proved), obs, drawn("1 proved", "", "")},
		"it is over for long":          {open(ip, closed(490), proved, have(incident.Chart{Turn: "1 proved", At: at(400)})), obs, nil},
		"it is over, and more is told": {open(ip, closed(490), proved, have(incident.Chart{Turn: "1 proved", At: at(491), File: "F"})), back, redrawn},
		"all of it is shown":           {open(ip, closed(490), proved, have(incident.Chart{Turn: "1 proved", At: at(491), File: "F", Returned: 90})), back, nil},
		"more is told of a later one":  {open(ip, closed(440), proved, have(incident.Chart{Turn: "1 proved", At: at(441), File: "F"})), back, nil},
		"more is told of an open one":  {open(ip, have(incident.Chart{Turn: "1 open short", At: at(491), File: "F"})), back, nil},
		"it is over since the look":    {open(ip, closed(490), proved, func(u *incident.Update) { u.Cleared = at(501) }), obs, nil},
		"open since the look":          {open(ip, func(u *incident.Update) { u.Cleared = at(501) }), obs, drawn("1 open short", "", "")},
		"nobody looks at it":           {open(ip, closed(490), have(incident.Chart{Alt: "a", At: at(1), File: "F", Next: "N", PNG: png, Turn: "t"}), touched), obs, have(incident.Chart{Alt: "a", At: at(1), File: "F", FileAlt: ""})},
		"nobody does, and it stays":    {open(ip, closed(490), have(incident.Chart{Alt: "a", Next: "N"})), obs, nil},
		"nobody does, and it is up":    {open(ip, closed(490), have(incident.Chart{Alt: "a", File: "F", Turn: "t"}), touched), obs, nil},
		"the one that waits is kept":   {open(ip, have(incident.Chart{Turn: "1 open short", At: at(501), PNG: png, Alt: "a"}), touched), obs, nil},
	} {
		becomes(t, name, test.u, looking(test.obs).updateChart, test.change)
	}
}

// How an incident's launches stand, and who missed roll call.
func TestWhoMissed(t *testing.T) {
	launches := func(l ...report.Launch) func(*incident.Update) {
		return func(u *incident.Update) { u.Launches = l }
	}
	l := func(id string, s report.LaunchStatus) report.Launch { return report.Launch{Instance: id, Status: s} }
	obs := report.Observation{Launches: []report.Launch{l("i-1", report.Missed), l("i-7", report.Missed), l("i-8", report.GivenUp), l("i-9", report.Gone)}}
	crowd := func(u *incident.Update) { u.More = []string{"i-7", "i-8", "i-9"} }
	note := func(n incident.Note) func(*incident.Update) {
		return func(u *incident.Update) { u.Delivery.Notes = []incident.Note{n} }
	}
	unsent := incident.Note{Reason: incident.HasMissed, At: at(501)}
	sent, sending, before, other := unsent, unsent, unsent, unsent
	sent.TS, sending.Sending, before.At, other.Reason = "1.2", at(501), at(500), incident.CauseGone
	missed := func(ids ...string) func(*incident.Update) {
		return func(u *incident.Update) {
			u.Missed = ids
			u.Because(incident.HasMissed)
		}
	}
	stands := launches(l("i-1", report.Missed))
	for name, test := range map[string]struct {
		u      *incident.Update
		change func(*incident.Update)
	}{
		"one":                            {open(launches(l("i-1", report.Waiting))), func(u *incident.Update) { stands(u); missed("i-1")(u) }},
		"with those beyond":              {open(launches(l("i-1", report.Waiting)), crowd), func(u *incident.Update) { stands(u); missed("i-1", "i-7", "i-8")(u) }},
		"those beyond, of the same look": {open(stands, crowd, note(unsent)), missed("i-7", "i-8")},
		"those beyond, which Slack has":  {open(stands, crowd, note(sent)), nil},
		"those beyond, which it may":     {open(stands, crowd, note(sending)), nil},
		"those beyond, of another look":  {open(stands, crowd, note(before)), nil},
		"those beyond, of another note":  {open(stands, crowd, note(other)), nil},
		"nobody, of the same look":       {open(stands, note(unsent)), nil},
		"one, and it is over":            {open(closed(490), crowd, launches(l("i-1", report.Waiting))), func(u *incident.Update) { stands(u); u.Missed, u.Touched = []string{"i-1"}, true }},
	} {
		becomes(t, name, test.u, looking(obs).updateLaunches, test.change)
	}
}

// A remedy is verified also just after the end; what is long over stays.
func TestWhatIsVerified(t *testing.T) {
	done := func(u *incident.Update) {
		u.Offers = []incident.Offer{{Plan: remedy.Plan{Remedy: optin.AddNATRoute}, State: incident.Acted, Run: &remedy.Run{Began: at(300), Ended: at(301), Result: action.Done}}}
		u.Verdicts[0].Found = incident.Passing
	}
	helped := func(u *incident.Update) {
		u.Offers[0].State, u.Offers[0].Verified = incident.Helped, at(400)
		u.Because(incident.IsVerified)
	}
	for name, test := range map[string]struct {
		u      *incident.Update
		change func(*incident.Update)
	}{
		"open":           {open(done), helped},
		"just over":      {open(done, closed(401)), helped},
		"long over":      {open(done, closed(400)), nil},
		"open for long":  {open(done, func(u *incident.Update) { u.Resolved = at(1) }), helped},
		"nothing to say": {open(), nil},
	} {
		becomes(t, name, test.u, looking(report.Observation{}).verifyRemedies, test.change)
	}
	// The blind spots of the look that cleared it are what its note tells.
	blind := []snapshot.Failure{{Call: "ec2:A"}}
	u := open(func(u *incident.Update) { u.Verdicts[0].Found, u.Verdicts[0].At = incident.Passing, at(490) })
	looking(report.Observation{Blind: blind}).transition(u)
	if u.State != incident.Cleared || !slices.Equal(u.Blind, blind) {
		t.Errorf("cleared: %s, %v", u.State, u.Blind)
	}
	u = open(closed(490), func(u *incident.Update) { u.State = incident.Pending })
	looking(report.Observation{Blind: blind}).transition(u)
	if u.State != incident.Closed || u.Blind != nil {
		t.Errorf("withdrawn: %s, %v", u.State, u.Blind)
	}
}
