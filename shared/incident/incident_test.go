package incident

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/catalog"
	"rollcall/shared/checkid"
	"rollcall/shared/checks/finding"
	"rollcall/shared/diagnosis"
	"rollcall/shared/ownership"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// When a message says anew when it was last checked: asked for, or an hour later.
func TestStampDue(t *testing.T) {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	at := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
	inc := func(looked, asked, told int) Incident {
		i := Incident{State: Open, Verdicts: []Verdict{{Of: "a", At: noon}, {Of: "b", At: at(looked)}}, Delivery: Delivery{Looked: at(told)}}
		if asked >= 0 {
			i.Asked = at(asked)
		}
		return i
	}
	never, closed, blank := inc(120, -1, 0), inc(120, -1, 0), inc(120, -1, 0)
	never.Delivery.Looked, closed.State, blank.Verdicts = time.Time{}, Closed, nil
	for name, test := range map[string]struct {
		inc  Incident
		want bool
	}{
		"the look that is told":           {inc(10, -1, 10), false},
		"a later look":                    {inc(69, -1, 10), false},
		"an hour later":                   {inc(70, -1, 10), true},
		"asked for, and looked":           {inc(13, 12, 10), true},
		"asked for, not looked yet":       {inc(11, 12, 10), false},
		"asked for, and told":             {inc(15, 12, 13), false},
		"of an earlier release":           {never, false},
		"it is over":                      {closed, false},
		"nothing was ever looked at":      {blank, false},
		"what failed last counts as well": {Incident{State: Open, Seen: at(70), Delivery: Delivery{Looked: at(10)}}, true},
	} {
		if got := test.inc.StampDue(); got != test.want {
			t.Errorf("%s: due %t, want %t", name, got, test.want)
		}
	}
}

// What is posted to the channel at once, and what is an edit or a reply alone.
func TestWantsLine(t *testing.T) {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	minutes := func(n int) time.Time { return noon.Add(time.Duration(n) * time.Minute) }
	critical := Incident{
		Key: report.Key{Check: checkid.RouteNoEgress}, State: Open, Opened: noon, Affected: 1,
		Cause: diagnosis.Cause{Confidence: catalog.Certain}, Launches: []report.Launch{{Instance: "i-1", Status: report.Missed}},
	}
	warning := critical
	warning.Affected, warning.Launches = 0, nil
	with := func(inc Incident, change func(*Incident)) Incident {
		change(&inc)
		return inc
	}
	for name, test := range map[string]struct {
		inc  Incident
		why  Reason
		at   time.Time
		want bool
	}{
		"opened: the message is the line":        {critical, Opened, noon, false},
		"it came back, critical":                 {with(critical, func(i *Incident) { i.Before = minutes(-1) }), Reopened, noon, true},
		"it came back at once, a warning":        {with(warning, func(i *Incident) { i.Before = minutes(-59) }), Reopened, noon, false},
		"it came back after an hour, a warning":  {with(warning, func(i *Incident) { i.Before = minutes(-60) }), Reopened, noon, true},
		"it came back, and was told lately":      {with(warning, func(i *Incident) { i.Before, i.Lined = minutes(-90), minutes(-5) }), Reopened, noon, false},
		"back before the proof, critical":        {critical, FailedAgain, minutes(30), true},
		"back before the proof, a warning":       {warning, FailedAgain, minutes(30), false},
		"it got worse":                           {critical, IsWorse, minutes(30), true},
		"a decision, in a message just posted":   {critical, IsProposed, minutes(1), false},
		"a decision, after the message was read": {critical, IsProposed, minutes(6), true},
		"a decision, just after another line":    {with(critical, func(i *Incident) { i.Lined = minutes(5) }), IsProposed, minutes(6), false},
		"another decision within the hour": {with(critical, func(i *Incident) {
			i.Delivery.Notes = []Note{{Reason: IsProposed, Line: true, At: minutes(6)}}
		}), IsProposed, minutes(21), false},
		"another decision an hour later": {with(critical, func(i *Incident) {
			i.Delivery.Notes = []Note{{Reason: IsProposed, Line: true, At: minutes(6)}}
		}), IsProposed, minutes(66), true},
		"what was approved failed":                {critical, RemedyFailed, minutes(5), true},
		"it did not help":                         {critical, IsUnhelpful, minutes(5), true},
		"it did not help what is over":            {with(critical, func(i *Incident) { i.State = Closed }), IsUnhelpful, minutes(5), false},
		"done":                                    {critical, RemedyDone, minutes(30), false},
		"the cause is gone":                       {critical, CauseGone, minutes(30), false},
		"proved":                                  {critical, IsProved, minutes(30), false},
		"CloudTrail's changes":                    {critical, HasChanges, minutes(30), false},
		"approved":                                {critical, IsApproved, minutes(30), false},
		"missed, as was said from the start":      {critical, HasMissed, minutes(30), false},
		"what belongs to it":                      {critical, HasJoined, minutes(30), false},
		"waits for the limit, which nobody moves": {critical, IsDeferred, minutes(30), false},
	} {
		if got := test.inc.wantsLine(test.why, test.at); got != test.want {
			t.Errorf("%s: a new line %t, want %t", name, got, test.want)
		}
		n := test.inc.AddNote(test.why, test.at)
		if n.Line != test.want || test.want && !test.inc.Lined.Equal(test.at) {
			t.Errorf("%s: the note has a line %t, the last one is of %s", name, n.Line, test.inc.Lined)
		}
	}
	muted := with(critical, func(i *Incident) { i.Mute = &Mute{Until: minutes(60)} })
	for _, r := range []Reason{Reopened, FailedAgain, IsWorse, IsProposed} {
		if muted.AddNote(r, minutes(30)) != nil {
			t.Errorf("%s is said while it is muted", r)
		}
	}
}

// It gets worse where it was less and is critical now: once in an hour, and not while
// the last line is still being read.
func TestGotWorse(t *testing.T) {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	critical := Incident{
		Key: report.Key{Check: checkid.RouteNoEgress}, State: Open, Opened: noon, Affected: 1,
		Cause: diagnosis.Cause{Confidence: catalog.Certain}, Launches: []report.Launch{{Instance: "i-1", Status: report.Missed}},
	}
	cleared := critical
	cleared.State = Cleared
	warning := critical
	warning.Affected, warning.Launches = 0, nil
	told := critical
	told.Delivery.Notes = []Note{{Reason: IsWorse, At: noon.Add(time.Hour)}}
	for name, test := range map[string]struct {
		inc   Incident
		was   Severity
		after time.Duration
		want  bool
	}{
		"a warning before":       {critical, Warning, 2 * time.Minute, true},
		"advice before":          {critical, Info, 2 * time.Minute, true},
		"critical before":        {critical, Critical, 2 * time.Minute, false},
		"it was not open":        {critical, "", 2 * time.Minute, false},
		"it is a warning":        {warning, Warning, 2 * time.Minute, false},
		"the cause is gone":      {cleared, Warning, 2 * time.Minute, false},
		"just opened":            {critical, Warning, 2*time.Minute - 1, false},
		"told within the hour":   {told, Warning, 2*time.Hour - 1, false},
		"told more than an hour": {told, Warning, 2 * time.Hour, true},
	} {
		u := Update{Incident: test.inc, Was: test.was}
		if got := u.GotWorse(noon.Add(test.after)); got != test.want {
			t.Errorf("%s: worse %t, want %t", name, got, test.want)
		}
	}
}

// What is posted later, or never: a subnet without addresses without impact yet and that
// another message may explain.
func TestWithheld(t *testing.T) {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	empty := Incident{Key: report.Key{Check: checkid.IPSubnetExhausted}, State: Open, Number: 1, Opened: noon}
	with := func(change func(*Incident)) Incident {
		inc := empty
		change(&inc)
		return inc
	}
	ended := func(r Resolution) func(*Incident) {
		return func(i *Incident) { i.State, i.Resolution = Closed, r }
	}
	for name, test := range map[string]struct {
		inc   Incident
		after time.Duration
		want  bool
	}{
		"just opened":                {empty, 30 * time.Second, true},
		"a minute later":             {empty, time.Minute, false},
		"explained within the time":  {with(ended(Superseded)), 40 * time.Second, true},
		"explained, and long ago":    {with(ended(Superseded)), time.Hour, true},
		"it ended otherwise":         {with(ended(Proved)), 40 * time.Second, false},
		"a launch lacked an address": {with(func(i *Incident) { i.Affected = 1 }), 0, false},
		"posted already":             {with(func(i *Incident) { i.Delivery.TS = "1.1" }), 0, false},
		"perhaps posted":             {with(func(i *Incident) { i.Delivery.Sending = noon }), 0, false},
		"it came back":               {with(func(i *Incident) { i.Number = 2 }), 0, false},
		"another check":              {with(func(i *Incident) { i.Key.Check = checkid.RouteNoEgress }), 0, false},
	} {
		if got := test.inc.Withheld(noon.Add(test.after)); got != test.want {
			t.Errorf("%s: withheld %t, want %t", name, got, test.want)
		}
	}
}

// Two looks at other times may have found the same; what differs in anything else has not.
func TestPodImpactSame(t *testing.T) {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	web := []diagnosis.Workload{{Namespace: "shop", Owner: "Deployment web", Pods: 2}}
	impact := func(change func(*PodImpact)) *PodImpact {
		p := &PodImpact{At: noon, Count: 2, Workloads: web, Owners: 1}
		change(p)
		return p
	}
	nothing := func(*PodImpact) {}
	denied := func(p *PodImpact) { p.Unread = &snapshot.Failure{Reason: snapshot.Denied} }
	for name, test := range map[string]struct {
		a, b *PodImpact
		want bool
	}{
		"none, twice":       {nil, nil, true},
		"none before":       {nil, impact(nothing), false},
		"none now":          {impact(nothing), nil, false},
		"later":             {impact(nothing), impact(func(p *PodImpact) { p.At = noon.Add(time.Hour) }), true},
		"more pods":         {impact(nothing), impact(func(p *PodImpact) { p.Count = 3 }), false},
		"other owners":      {impact(nothing), impact(func(p *PodImpact) { p.Workloads = nil }), false},
		"some are unsure":   {impact(nothing), impact(func(p *PodImpact) { p.Unsure = 1 }), false},
		"of the cluster":    {impact(nothing), impact(func(p *PodImpact) { p.OfCluster = true }), false},
		"served elsewhere":  {impact(nothing), impact(func(p *PodImpact) { p.Served = 1 }), false},
		"not read any more": {impact(nothing), impact(denied), false},
		"denied, twice":     {impact(denied), impact(denied), true},
	} {
		if got := test.a.Same(test.b); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// Only a count for the cause stands over one of the whole cluster; what is not known stands
// over nothing, and nothing stands over it.
func TestIsMorePreciseThan(t *testing.T) {
	cause, cluster, unread := PodImpact{}, PodImpact{OfCluster: true}, PodImpact{Unread: &snapshot.Failure{}}
	unreadCluster := PodImpact{OfCluster: true, Unread: &snapshot.Failure{}}
	for name, test := range map[string]struct {
		p, q PodImpact
		want bool
	}{
		"the cause's over the cluster's":   {cause, cluster, true},
		"the cluster's over the cause's":   {cluster, cause, false},
		"the cluster's over the cluster's": {cluster, cluster, false},
		"the cause's over the cause's":     {cause, cause, false},
		"unread over the cluster's":        {unread, cluster, false},
		"the cause's over unread":          {cause, unreadCluster, false},
	} {
		if got := test.p.IsMorePreciseThan(test.q); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// The last line of the channel leaves its details to a reply of the thread.
func TestSplitLine(t *testing.T) {
	evidence := []finding.Evidence{{What: "a"}}
	line := func(change func(*Note)) Note {
		n := Note{ID: "2", Line: true, Reason: IsWorse, Mention: []string{"U1"}}
		change(&n)
		return n
	}
	first := Note{ID: "1", Line: true, Reason: Opened, Evidence: evidence}
	for name, test := range map[string]struct {
		last  Note
		split bool
	}{
		"evidence":       {line(func(n *Note) { n.Evidence = evidence }), true},
		"facts":          {line(func(n *Note) { n.Facts = []report.Fact{{What: "a"}} }), true},
		"what is unread": {line(func(n *Note) { n.Blind = []snapshot.Failure{{}} }), true},
		"an offer":       {line(func(n *Note) { n.Offer = &Offer{} }), true},
		"no details":     {line(func(*Note) {}), false},
		"of the thread":  {line(func(n *Note) { n.Evidence, n.Line = evidence, false }), false},
		"missed again":   {line(func(n *Note) { n.Evidence, n.Reason = evidence, HasMissed }), false},
	} {
		inc := Incident{Delivery: Delivery{Notes: []Note{first, test.last}}}
		inc.SplitLine()
		want := []Note{first, test.last}
		if test.split {
			want[1].Evidence, want[1].Facts, want[1].Blind = nil, nil, nil
			details := test.last
			details.ID, details.Line, details.Details, details.Mention = "2-details", false, true, nil
			want = append(want, details)
		}
		if diff := cmp.Diff(want, inc.Delivery.Notes, cmp.AllowUnexported(Note{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	var none Incident
	none.SplitLine()
	one := Incident{Delivery: Delivery{Notes: []Note{first}}}
	if one.SplitLine(); len(none.Delivery.Notes) != 0 || len(one.Delivery.Notes) != 2 {
		t.Errorf("of no note %d, of one %d", len(none.Delivery.Notes), len(one.Delivery.Notes))
	}
}

// An owner's tags are those of what the incident is about, and of all that is around it.
func TestTagged(t *testing.T) {
	inc := Incident{
		Cause: diagnosis.Cause{Nodegroups: []string{"workers"}}, Covers: []string{snapshot.PoolKey("spot"), "subnet-0a"},
		Launches: []report.Launch{{Subnet: "subnet-0b", Group: "asg"}},
	}
	var got []string
	list := []report.Tagged{
		{Kind: ownership.Nodegroup, Name: "workers"}, {Kind: ownership.Nodegroup, Name: "asg"}, {Kind: ownership.Nodegroup, Name: "other"},
		{Kind: ownership.NodePool, Name: "spot"}, {Kind: ownership.NodePool, Name: "workers"}, {Kind: ownership.NodePool, Name: "other"},
		{Kind: ownership.Subnet, Name: "subnet-0a"}, {Kind: ownership.Subnet, Name: "subnet-0b"}, {Kind: ownership.Subnet, Name: "subnet-0c"},
		{Kind: ownership.Cluster, Name: "prod"},
	}
	for _, x := range inc.Tagged(list) {
		got = append(got, string(x.Kind)+" "+x.Name)
	}
	want := []string{"nodegroup workers", "nodegroup asg", "nodepool spot", "nodepool workers", "subnet subnet-0a", "subnet subnet-0b", "cluster prod"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A picture that Slack has taken is that of the words it was drawn for.
func TestChartShown(t *testing.T) {
	got := Chart{Next: "F2", Alt: "two", Of: "b", File: "F1", FileAlt: "one", FileOf: "a", Refusals: 2, Missing: "files:write"}.Shown()
	want := Chart{Alt: "two", Of: "b", File: "F2", FileAlt: "two", FileOf: "b"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	one, two := Incident{Number: 1}.Moment(), Incident{Number: 2}.Moment()
	if len(one) != 16 || one == two || one != (Incident{Number: 1, Events: 3}).Moment() {
		t.Errorf("%q, %q", one, two)
	}
}
