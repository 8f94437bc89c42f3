package incident_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/catalog"
	"rollcall/shared/checkid"
	"rollcall/shared/checks/finding"
	"rollcall/shared/diagnosis"
	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	"rollcall/shared/silence"
	"rollcall/shared/spoke"
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
	with := func(check checkid.ID, c catalog.Confidence, status report.LaunchStatus, covers ...string) incident.Incident {
		inc := incident.Incident{Key: report.Key{Check: check}, Covers: covers, Launches: []report.Launch{{Instance: "i-1", Status: status}, {Instance: "i-2", Status: report.Gone}}}
		inc.Cause.Confidence = c
		return inc
	}
	for name, test := range map[string]struct {
		inc         incident.Incident
		ended, gave bool
	}{
		"both have":               {with("iam/x", catalog.Certain, report.Gone, "i-1", "i-2"), true, false},
		"one has":                 {with("iam/x", catalog.Certain, report.Missed, "i-1", "i-2"), false, false},
		"one is not known":        {with("iam/x", catalog.Certain, report.Gone, "i-2", "i-3"), false, false},
		"it covers a subnet":      {with("iam/x", catalog.Certain, report.Gone, "subnet-1"), false, false},
		"it covers nothing":       {with("iam/x", catalog.Certain, report.Gone), false, false},
		"of a symptom":            {with("node/x", catalog.Symptom, report.Gone, "i-1"), false, false},
		"of what cannot be seen":  {with(incident.CannotLook, catalog.Certain, report.Gone, "i-1"), false, false},
		"ended early":             {with(checkid.InstanceEndedEarly, catalog.Certain, report.Missed, "i-1"), true, false},
		"a symptom, given up on":  {with("node/x", catalog.Symptom, report.GivenUp, "i-1"), false, true},
		"a cause, given up on":    {with("iam/x", catalog.Certain, report.GivenUp, "i-1"), false, false},
		"a symptom, looked at":    {with("node/x", catalog.Symptom, report.Missed, "i-1"), false, false},
		"ended early and covered": {with(checkid.InstanceEndedEarly, catalog.Symptom, report.Gone), true, false},
	} {
		if ended, gave := test.inc.AllEnded(), test.inc.HasGivenUp("i-1"); ended != test.ended || gave != test.gave {
			t.Errorf("%s: ended %t, given up on %t", name, ended, gave)
		}
	}
}

// Which launches that joined say something of an incident.
func TestConcerns(t *testing.T) {
	with := func(check checkid.ID, c catalog.Confidence, covers ...string) incident.Incident {
		inc := incident.Incident{Key: report.Key{Check: check}, Covers: covers, Launches: []report.Launch{{Instance: "i-1", Nodegroup: "workers"}, {Instance: "i-2", Group: "asg"}}}
		inc.Cause.Confidence, inc.Cause.Nodegroups = c, []string{"named"}
		return inc
	}
	launch := func(id, subnet, nodegroup, group string) report.Launch {
		return report.Launch{Instance: id, Subnet: subnet, Nodegroup: nodegroup, Group: group}
	}
	role := with("iam/x", catalog.Certain, "role-1")
	for name, test := range map[string]struct {
		inc  incident.Incident
		l    report.Launch
		want bool
	}{
		"an affected one":                      {role, launch("i-1", "", "", ""), true},
		"from a covered subnet":                {with("route/x", catalog.Certain, "subnet-1"), launch("i-9", "subnet-1", "", ""), true},
		"from another subnet":                  {with("route/x", catalog.Certain, "subnet-1"), launch("i-9", "subnet-2", "workers", ""), false},
		"from a subnet that nobody knows":      {with("route/x", catalog.Certain, "subnet-1"), launch("i-9", "", "workers", ""), true},
		"of a nodegroup of the cause":          {role, launch("i-9", "subnet-2", "named", ""), true},
		"of the nodegroup of an affected":      {role, launch("i-9", "subnet-2", "workers", ""), true},
		"of the group of an affected":          {role, launch("i-9", "subnet-2", "", "asg"), true},
		"of another":                           {role, launch("i-9", "subnet-2", "others", "other"), false},
		"of none":                              {role, launch("i-9", "subnet-2", "", ""), false},
		"another instance's luck":              {with("node/x", catalog.Symptom, "i-1"), launch("i-9", "subnet-2", "workers", ""), false},
		"the instance's own":                   {with("node/x", catalog.Symptom, "i-1"), launch("i-1", "subnet-2", "workers", ""), true},
		"of what Rollcall cannot see, nothing": {with(incident.CannotLook, catalog.Certain, "i-1"), launch("i-1", "subnet-2", "workers", ""), false},
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
	symptom.Cause.Confidence = catalog.Symptom
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
		return incident.Offer{Plan: remedy.Plan{Remedy: r}, State: incident.Acted, Run: &remedy.Run{Began: at(4), Ended: at(5), Result: remedy.Done}}
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

// What a silence is about: an incident's cluster in its account, its check, and each of its
// nodegroups and groups once. What Rollcall says of itself is its own.
func TestSubject(t *testing.T) {
	payments := spoke.ID{Account: "222233334444", Region: "eu-west-1"}
	tags := map[string]map[string]string{"workers": {"team": "payments"}}
	inc := incident.Incident{
		Key:      report.Key{Spoke: payments, Cluster: "prod", Check: "route/no-egress", Resource: "rtb-1"},
		Cause:    diagnosis.Cause{Nodegroups: []string{"workers", "batch"}},
		Launches: []report.Launch{{Nodegroup: "workers", Group: "eks-workers"}, {Group: "own-group"}, {Nodegroup: "a"}, {}},
		Tags:     tags,
	}
	want := silence.Subject{Spoke: payments, Cluster: "prod", Check: "route/no-egress", Nodegroups: []string{"a", "batch", "own-group", "workers"}, Tags: tags}
	if diff := cmp.Diff(want, inc.Subject()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	inc.Key.Check = incident.CannotLook
	if !inc.Subject().Own {
		t.Error("what cannot be read is Rollcall's own")
	}
	inc.Key.Check, inc.Key.Cluster = checkid.ID("route/no-egress"), report.AllClusters
	if !inc.Subject().Own {
		t.Error("what is of all clusters is Rollcall's own")
	}
}

// A message that may be in the channel counts as posted; one whose sending never began does not.
func TestTold(t *testing.T) {
	var inc incident.Incident
	if inc.Posted() {
		t.Error("nothing was sent")
	}
	inc.Delivery.Sending = time.Unix(1, 0)
	if !inc.Posted() {
		t.Error("it may have been taken")
	}
	inc.Delivery.Sending, inc.Delivery.TS = time.Time{}, "1.2"
	if !inc.Posted() {
		t.Error("it was taken")
	}
}

// TestRanOut: of each remedy the newest offer that ran out, if the incident still wants it.
func TestRanOut(t *testing.T) {
	opened := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	now := opened.Add(time.Hour)
	offer := func(name optin.Remedy, state incident.OfferState, made, expires time.Duration) incident.Offer {
		o := incident.Offer{Plan: remedy.Plan{Remedy: name}, State: state, Made: opened.Add(made)}
		if expires > 0 {
			o.Expires = opened.Add(expires)
		}
		return o
	}
	const route, replace = optin.AddNATRoute, optin.ReplaceInstance
	old := offer(route, incident.Expired, time.Minute, 2*time.Minute)
	for name, test := range map[string]struct {
		state  incident.State
		offers []incident.Offer
		want   []int
	}{
		"none":                              {incident.Open, nil, nil},
		"it expired":                        {incident.Open, []incident.Offer{old}, []int{0}},
		"its time is over this moment":      {incident.Open, []incident.Offer{offer(route, incident.Offered, 0, time.Hour)}, []int{0}},
		"its time is not over":              {incident.Open, []incident.Offer{offer(route, incident.Offered, 0, time.Hour+1)}, nil},
		"it has no end":                     {incident.Open, []incident.Offer{offer(route, incident.Offered, 0, 0)}, nil},
		"somebody approved it":              {incident.Open, []incident.Offer{offer(route, incident.Approved, 0, time.Minute)}, nil},
		"there is a later one":              {incident.Open, []incident.Offer{old, offer(route, incident.Offered, time.Minute, 2*time.Hour)}, nil},
		"the later one ran out, too":        {incident.Open, []incident.Offer{old, old}, []int{1}},
		"a later one of another remedy":     {incident.Cleared, []incident.Offer{offer(replace, incident.Expired, 0, 0), old}, []int{0}},
		"two remedies, of which one is due": {incident.Open, []incident.Offer{offer(replace, incident.Expired, 0, 0), old}, []int{1}},
		"of an earlier opening":             {incident.Open, []incident.Offer{offer(route, incident.Expired, -1, 0)}, nil},
		"the cause is gone":                 {incident.Cleared, []incident.Offer{old}, nil},
		"what comes after, before its time": {incident.Open, []incident.Offer{offer(replace, incident.Expired, 0, 0)}, nil},
		"the incident is over":              {incident.Closed, []incident.Offer{old, offer(replace, incident.Expired, 0, 0)}, nil},
	} {
		inc := incident.Incident{State: test.state, Opened: opened, Offers: test.offers}
		var want []incident.Offer
		for _, i := range test.want {
			want = append(want, test.offers[i])
		}
		if diff := cmp.Diff(want, inc.RanOut(now)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// The event of what a remedy did has its offer; others that wait have none.
func TestAddActed(t *testing.T) {
	at := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	inc := incident.Incident{State: incident.Open, Number: 2}
	inc.AddEvent(incident.Opened, at)
	inc.AddActed("no event is sent for this", incident.Offer{Hash: "h0"}, at)
	inc.AddActed(incident.RemedyDone, incident.Offer{Hash: "h1"}, at)
	if n := len(inc.PendingEvents); n != 2 || inc.PendingEvents[0].Offer != nil || inc.PendingEvents[1].Offer == nil || inc.PendingEvents[1].Offer.Hash != "h1" {
		t.Fatalf("events %+v", inc.PendingEvents)
	}
	if got := inc.PendingEvents[1].Kind.DetailType(); got != "Rollcall Remedy Acted" {
		t.Errorf("its detail-type is %q", got)
	}
	none := incident.Incident{}
	if none.AddActed("no event is sent for this", incident.Offer{}, at); len(none.PendingEvents) > 0 {
		t.Errorf("events %+v", none.PendingEvents)
	}
}

// Words are those of the moment: an event keeps those that it has, and one of another state
// or another opening gets none.
func TestWord(t *testing.T) {
	at := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	inc := incident.Incident{State: incident.Open, Number: 2}
	for range 4 {
		inc.AddEvent(incident.Opened, at)
	}
	first := incident.Words{Headline: "before"}
	inc.PendingEvents[1].Words = &first
	inc.PendingEvents[2].State = incident.Closed
	inc.PendingEvents[3].Number = 1
	inc.Word(incident.Words{Headline: "now"})
	var got []string
	for _, e := range inc.PendingEvents {
		if e.Words == nil {
			got = append(got, "")
			continue
		}
		got = append(got, e.Words.Headline)
	}
	if diff := cmp.Diff([]string{"now", "before", "", ""}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A note that is sent late shows what there was, not what there is.
func TestAsOf(t *testing.T) {
	steps := []incidenttest.Step{
		{Name: "launch", Obs: incidenttest.Observe(incidenttest.Route("i-1", "i-2"), incidenttest.Launched("i-1", 0, report.Waiting), incidenttest.Launched("i-2", 0, report.Waiting)), Want: map[report.Key]incident.Reason{incidenttest.TheRoute: incident.Opened}},
		{Name: "missed", Minute: 5, Obs: incidenttest.Observe(incidenttest.Route("i-1", "i-2"), incidenttest.Launched("i-1", 0, report.Missed), incidenttest.Launched("i-2", 0, report.Missed)), Want: map[report.Key]incident.Reason{incidenttest.TheRoute: incident.HasMissed}},
	}
	then := incidenttest.Play(t, steps)[0]
	now := incidenttest.Play(t, append(steps,
		incidenttest.Step{Name: "gone", Minute: 10, Obs: incidenttest.Observe(incidenttest.Passed("route/no-egress", incidenttest.Subnet), incidenttest.Launched("i-1", 0, report.Gone), incidenttest.Launched("i-2", 0, report.Joined), incidenttest.ReadyAt(11)), Want: map[report.Key]incident.Reason{incidenttest.TheRoute: incident.IsProved}},
	))[0]
	got := now.AsOf(now.Delivery.Notes[1])
	for _, f := range []struct {
		name      string
		got, want any
	}{
		{"state", got.State, then.State},
		{"ending", got.Resolution, then.Resolution},
		{"resolved", got.Resolved, then.Resolved},
		{"cleared by", got.ClearedBy, then.ClearedBy},
		{"launches", got.Launches, then.Launches},
		{"affected", got.Affected, then.Affected},
		{"changed", got.Changed, incidenttest.At(5)},
	} {
		if diff := cmp.Diff(f.want, f.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", f.name, diff)
		}
	}
	if now.State != incident.Closed || now.Count(report.Gone) != 1 {
		t.Errorf("AsOf changed the incident: %q, %d gone", now.State, now.Count(report.Gone))
	}
}

func TestSent(t *testing.T) {
	n := incident.Note{ID: "opened", At: incidenttest.Start, Reason: incident.Opened, Times: 1, Sending: incidenttest.Start.Add(time.Minute), Count: 3, Then: &incident.Then{}}
	want := incident.Note{ID: "opened", At: incidenttest.Start, Reason: incident.Opened, Times: 1, TS: "1.2"}
	got := n.Sent("1.2")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("note (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(incident.Incident{State: incident.Open}, incident.Incident{State: incident.Open}.AsOf(got)); diff != "" {
		t.Errorf("a sent note changes nothing (-want +got):\n%s", diff)
	}
}

// Each step says to where, how it ends, and why; what takes no step says nothing.
func TestNextStepOfAnIncident(t *testing.T) {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	after := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
	node := report.Launch{Instance: "i-2", Subnet: "subnet-0ab1", Status: report.Joined, Ready: after(9)}
	of := func(change func(*incident.Incident)) incident.Incident {
		inc := incident.Incident{
			Key: report.Key{Cluster: "eks-workshop", Check: "route/no-egress", Resource: "rtb-0cd2"}, State: incident.Open, Number: 1, Seen: noon,
			Covers: []string{"subnet-0ab1"}, Verdicts: []incident.Verdict{{Of: "subnet-0ab1", Found: incident.Failing, At: noon}},
		}
		inc.Cause.Confidence = catalog.Certain
		change(&inc)
		return inc
	}
	passes := func(inc *incident.Incident) { inc.Verdicts[0].Found, inc.Verdicts[0].At = incident.Passing, after(5) }
	cleared := func(inc *incident.Incident) { passes(inc); inc.State, inc.Cleared = incident.Cleared, after(5) }
	for name, test := range map[string]struct {
		inc  incident.Incident
		now  int
		want incident.Transition
	}{
		"fails still":       {of(func(*incident.Incident) {}), 30, incident.Transition{}},
		"the cause is gone": {of(passes), 6, incident.Transition{To: incident.Cleared, Reason: incident.CauseGone, ClearedAt: after(5)}},
		"and is back":       {of(func(inc *incident.Incident) { inc.State, inc.Cleared = incident.Cleared, after(5) }), 6, incident.Transition{To: incident.Open, Reason: incident.FailedAgain}},
		"no node came yet":  {of(cleared), 64, incident.Transition{}},
		"no node came":      {of(cleared), 65, incident.Transition{To: incident.Closed, Reason: incident.IsUnproved, Resolution: incident.Unproved}},
		"a node came":       {of(func(inc *incident.Incident) { cleared(inc); inc.Joins = []report.Launch{node} }), 10, incident.Transition{To: incident.Closed, Reason: incident.IsProved, Resolution: incident.Proved, Proof: &node, SettledAt: after(9)}},
		"a replacement waits": {of(func(inc *incident.Incident) {
			cleared(inc)
			inc.Offers = []incident.Offer{{Plan: remedy.Plan{Remedy: optin.ReplaceInstance}, State: incident.Deferred, Again: true}}
		}), 65, incident.Transition{}},
		"a day is over for the replacement": {of(func(inc *incident.Incident) {
			cleared(inc)
			inc.Cleared = noon
			inc.Offers = []incident.Offer{{Plan: remedy.Plan{Remedy: optin.ReplaceInstance}, State: incident.Deferred, Again: true}}
		}), 24 * 60, incident.Transition{To: incident.Closed, Reason: incident.IsUnproved, Resolution: incident.Unproved}},
		"an instance that had ended is not looked at any more": {of(func(inc *incident.Incident) {
			inc.Key.Check, inc.Verdicts[0].Found = checkid.InstanceEndedEarly, incident.Absent
		}), 1, incident.Transition{To: incident.Closed, Reason: incident.IsWithdrawn, Resolution: incident.Withdrawn}},
		"all of it is gone":     {of(func(inc *incident.Incident) { inc.Verdicts[0].Found = incident.Absent }), 6, incident.Transition{To: incident.Closed, Reason: incident.IsWithdrawn, Resolution: incident.Withdrawn}},
		"nobody was told":       {of(func(inc *incident.Incident) { passes(inc); inc.State = incident.Pending }), 6, incident.Transition{To: incident.Closed, Reason: incident.NotYet, Resolution: incident.Withdrawn}},
		"EKS says it of itself": {of(func(inc *incident.Incident) { passes(inc); inc.Key.Check = "addon/degraded" }), 6, incident.Transition{To: incident.Closed, Reason: incident.IsProved, Resolution: incident.Proved, ClearedAt: after(5)}},
		"its instance is looked at no more": {of(func(inc *incident.Incident) {
			inc.Cause.Confidence = catalog.Symptom
			inc.Covers, inc.Verdicts[0].Of = []string{"i-1"}, "i-1"
			inc.Launches = []report.Launch{{Instance: "i-1", Status: report.GivenUp}}
		}), 6, incident.Transition{To: incident.Closed, Reason: incident.IsGivenUpOn, Resolution: incident.GivenUpOn}},
		"its instance has ended, and nothing can show it well": {of(func(inc *incident.Incident) { inc.Key.Check = checkid.InstanceEndedEarly }), 60, incident.Transition{To: incident.Closed, Reason: incident.IsUnproved, Resolution: incident.Unproved}},
		"it is over": {of(func(inc *incident.Incident) { passes(inc); inc.State = incident.Closed }), 6, incident.Transition{}},
	} {
		if diff := cmp.Diff(test.want, test.inc.Next(after(test.now), time.Hour)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestStepsFromOutside(t *testing.T) {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	by := report.Key{Cluster: "eks-workshop", Check: "ip/leaked-interfaces", Resource: "subnet-0ab1"}
	open := incident.Incident{State: incident.Open, Number: 1, Seen: noon, Opened: noon}
	pending, over := open, open
	pending.State, over.State = incident.Pending, incident.Closed
	cleared := open
	cleared.State = incident.Cleared
	unseen := incident.Transition{To: incident.Closed, Reason: incident.IsWithdrawn, Resolution: incident.Unseen}
	for name, test := range map[string]struct{ got, want incident.Transition }{
		"the cluster is deleted":         {open.AfterClusterDeleted(noon), incident.Transition{To: incident.Closed, Reason: incident.IsWithdrawn, Resolution: incident.ClusterDeleted, SettledAt: noon}},
		"and nobody was told":            {pending.AfterClusterDeleted(noon), incident.Transition{To: incident.Closed, Reason: incident.NotYet, Resolution: incident.ClusterDeleted, SettledAt: noon}},
		"it is not watched any more":     {open.AfterUnwatched(noon), incident.Transition{To: incident.Closed, Reason: incident.IsWithdrawn, Resolution: incident.Unwatched, SettledAt: noon}},
		"not watched, and not told":      {pending.AfterUnwatched(noon), incident.Transition{To: incident.Closed, Reason: incident.NotYet, Resolution: incident.Unwatched, SettledAt: noon}},
		"not watched, and over before":   {incident.Incident{State: incident.Closed}.AfterUnwatched(noon), incident.Transition{}},
		"it was seen after that":         {open.AfterClusterDeleted(noon.Add(-1)), incident.Transition{}},
		"it was over before":             {over.AfterClusterDeleted(noon), incident.Transition{}},
		"nothing is heard for a while":   {open.AfterSilence(noon.Add(incident.MaxUnseen - 1)), incident.Transition{}},
		"nothing is heard for two weeks": {open.AfterSilence(noon.Add(incident.MaxUnseen)), incident.Transition{To: incident.Closed, Reason: incident.IsWithdrawn, Resolution: incident.Unseen}},
		"nor of one that is cleared":     {cleared.AfterSilence(noon.Add(incident.MaxUnseen)), unseen},
		"nor of one that nobody knows":   {pending.AfterSilence(noon.Add(incident.MaxUnseen)), incident.Transition{}},
		"nor of one that is over":        {over.AfterSilence(noon.Add(incident.MaxUnseen)), incident.Transition{}},
		"another one explains it":        {incident.SupersededBy(by, noon), incident.Transition{To: incident.Closed, Reason: incident.IsSuperseded, Resolution: incident.Superseded, SettledAt: noon, By: &by}},
	} {
		if diff := cmp.Diff(test.want, test.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// What each step changes of an incident, all of it.
func TestWhatAStepChanges(t *testing.T) {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	by, node := report.Key{Resource: "subnet-0ab1"}, report.Launch{Instance: "i-2"}
	offers := func(route, replace incident.OfferState, says string) []incident.Offer {
		list := []incident.Offer{{Plan: remedy.Plan{Remedy: optin.AddNATRoute}, State: route}, {Plan: remedy.Plan{Remedy: optin.ReplaceInstance}, State: replace}}
		for i := range list {
			if list[i].State == incident.Outdated {
				list[i].Says = says
			}
		}
		return list
	}
	before := incident.Incident{
		State: incident.Open, Cleared: noon, ClearedBy: []finding.Evidence{{What: "w"}}, Settled: noon, Times: 2, Joins: []report.Launch{node}, Proof: &report.Launch{Instance: "i-0"},
		By: &report.Key{Resource: "old"}, Offers: offers(incident.Offered, incident.Offered, ""),
	}
	later := noon.Add(time.Minute)
	for name, test := range map[string]struct {
		t    incident.Transition
		want func(*incident.Incident)
	}{
		"none": {incident.Transition{Reason: incident.IsProved, ClearedAt: later}, func(*incident.Incident) {}},
		"the cause is back": {incident.Transition{To: incident.Open}, func(inc *incident.Incident) {
			inc.State, inc.Cleared, inc.ClearedBy, inc.Offers = incident.Open, time.Time{}, nil, offers(incident.Offered, incident.Outdated, "the cause is back")
		}},
		"the cause is gone": {incident.Transition{To: incident.Cleared, ClearedAt: later}, func(inc *incident.Incident) {
			inc.State, inc.Cleared, inc.Offers = incident.Cleared, later, offers(incident.Outdated, incident.Offered, "the cause is gone")
		}},
		"it is over": {incident.Transition{To: incident.Closed, Resolution: incident.Withdrawn}, func(inc *incident.Incident) {
			inc.State, inc.Resolution, inc.Resolved, inc.Times, inc.Joins = incident.Closed, incident.Withdrawn, later, 0, nil
			inc.Offers = offers(incident.Outdated, incident.Outdated, "the incident is over")
		}},
		"it is proved, and by what": {incident.Transition{To: incident.Closed, Resolution: incident.Proved, Proof: &node, By: &by, SettledAt: later, ClearedAt: later}, func(inc *incident.Incident) {
			inc.State, inc.Resolution, inc.Resolved, inc.Times, inc.Joins = incident.Closed, incident.Proved, later, 0, nil
			inc.Offers = offers(incident.Outdated, incident.Outdated, "the incident is over")
			inc.Proof, inc.By, inc.Settled, inc.Cleared = &node, &by, later, later
		}},
	} {
		got, want := before.Clone(), before.Clone()
		got.Apply(test.t, later)
		test.want(&want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		u := incident.Update{Incident: before.Clone()}
		u.Apply(test.t, later)
		reasons := []incident.Reason{test.t.Reason}
		if test.t.None() {
			reasons = nil
		}
		if diff := cmp.Diff(incident.Update{Incident: want, Reasons: reasons, Touched: !test.t.None()}, u); diff != "" {
			t.Errorf("%s, as an update (-want +got):\n%s", name, diff)
		}
	}
	var u incident.Update
	for _, r := range []incident.Reason{incident.IsProved, incident.HasMissed, incident.IsProved} {
		u.Because(r)
	}
	if diff := cmp.Diff([]incident.Reason{incident.IsProved, incident.HasMissed}, u.Reasons); diff != "" || !u.Touched {
		t.Errorf("why it changes, touched %t (-want +got):\n%s", u.Touched, diff)
	}
}
