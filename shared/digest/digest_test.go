package digest

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/config"
	"rollcall/shared/incident"
	"rollcall/shared/outbox"
	"rollcall/shared/overview"
	"rollcall/shared/remedy"
	"rollcall/shared/report"
	"rollcall/shared/silence"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
)

var (
	to       = time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	from     = to.AddDate(0, 0, -7)
	at       = to.Add(8*time.Hour + 4*time.Minute)
	payments = spoke.ID{Account: "222233334444", Region: "us-west-2"}
)

// TestCount: each launch of the time is counted once, by its end; one that has missed its
// time and is open has not joined so far.
func TestCount(t *testing.T) {
	launch := func(end snapshot.End, hours float64) snapshot.Past {
		return snapshot.Past{Started: from.Add(time.Duration(hours * float64(time.Hour))), End: end}
	}
	joined := launch(snapshot.Joined, 1)
	joined.Ready = joined.Started.Add(time.Minute)
	missed := launch(snapshot.Open, 2)
	missed.Missed, missed.Cause = missed.Started.Add(5*time.Minute), "route/no-egress"
	refused := launch(snapshot.Refused, 3)
	refused.Cause = "route/no-egress"
	got := Count("prod", []snapshot.Past{
		launch(snapshot.NotJoined, -0.01), joined, missed, refused, launch(snapshot.NotJoined, 4), launch(snapshot.Reclaimed, 5), launch(snapshot.Open, 6),
		launch(snapshot.Terminated, 7), launch(snapshot.Unclear, 8), launch(snapshot.Joined, 0), launch(snapshot.Joined, 168),
	}, from, to)
	want := Cluster{
		Name: "prod", Launches: report.Tally{All: 9, Joined: 2, Failed: 3, Reclaimed: 1, Waiting: 1, Other: 2},
		Causes: []report.CauseCount{{Check: "route/no-egress", N: 2}, {N: 1}}, Joins: []time.Duration{time.Minute},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestJoining(t *testing.T) {
	var list []time.Duration
	for i := range 100 {
		list = append(list, time.Duration(100-i)*time.Second)
	}
	if diff := cmp.Diff(&report.Joining{Median: 50 * time.Second, Most95: 95 * time.Second, N: 100}, joining(list)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := joining(list[:4]); got != nil {
		t.Errorf("of four launches %+v", got)
	}
	if got := joining(list[:5]); got.Most95 != list[4] || got.Median != list[2] {
		t.Errorf("of five launches %+v", got)
	}
}

// looks are a cluster's turns every five minutes from one time to another, but in the gaps.
func looks(name string, begin, end time.Time, gaps ...overview.Gap) overview.Sweep {
	s := overview.Sweep{Cluster: name}
	for x := begin; x.Before(end); x = x.Add(5 * time.Minute) {
		if !slices.ContainsFunc(gaps, func(g overview.Gap) bool { return x.After(g.From) && x.Before(g.To) }) {
			s = s.After(overview.ClusterSweep{At: x})
		}
	}
	return s
}

// A quiet week is proved: all looks are there, nothing is reported but them.
func TestQuietWeek(t *testing.T) {
	p := NewPeriod([]Part{{Sweeps: []overview.Sweep{looks("dev", from.Add(-time.Hour), at), looks("prod", from.Add(2*time.Minute), at)}, Clusters: []Cluster{{Name: "dev"}, {Name: "prod"}}}}, from, to, at)
	want := report.Period{From: from, To: to, At: at, Clusters: 2, Looks: report.Looks{Made: 4032}}
	if diff := cmp.Diff(want, p); diff != "" || p.Gaps() || len(p.Next()) > 0 {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Of the time before the first look nothing is known, and that is said: a week is not quiet
// for having begun on its last evening.
func TestFirstWeek(t *testing.T) {
	first := to.Add(-time.Hour)
	p := NewPeriod([]Part{{Sweeps: []overview.Sweep{looks("prod", first, at), looks("dev", first.Add(time.Minute), at)}}}, from, to, at)
	if !p.Looks.Since.Equal(first) || p.Looks.New != 2 || p.Looks.Made != 24 {
		t.Errorf("%+v", p.Looks)
	}
	if p := NewPeriod([]Part{{Sweeps: []overview.Sweep{looks("prod", from.Add(time.Minute), at), looks("dev", first, at)}}}, from, to, at); !p.Looks.Since.IsZero() || p.Looks.New != 1 {
		t.Errorf("%+v", p.Looks)
	}
}

// TestUnseen: what was not looked at is reported once: of all, of an account, or of a cluster.
func TestUnseen(t *testing.T) {
	out := overview.Gap{From: from.Add(30 * time.Hour), To: from.Add(62 * time.Hour)}
	short := overview.Gap{From: from.Add(100 * time.Hour), To: from.Add(101 * time.Hour)}
	well := func(name string, gaps ...overview.Gap) overview.Sweep {
		return looks(name, from.Add(-time.Hour), at, gaps...)
	}
	type told struct {
		Reason         report.UnseenReason
		Whose, Cluster string
		Hours          float64
		Still          bool
	}
	for name, c := range map[string]struct {
		parts []Part
		want  []told
	}{
		"sweeps did not run": {
			[]Part{{Sweeps: []overview.Sweep{well("a", out), well("b", out, short)}}, {Whose: "payments", Spoke: payments, Sweeps: []overview.Sweep{well("c", out)}}},
			[]told{{report.NothingLooked, "", "", 32, false}, {report.ClusterUnseen, "", "b", 1, false}},
		},
		"an account did not let it in": {
			[]Part{{Sweeps: []overview.Sweep{well("a")}}, {Whose: "payments", Spoke: payments, Sweeps: []overview.Sweep{looks("b", from, out.From), looks("c", from, out.From)}}},
			[]told{{report.SpokeUnseen, "payments", "", 138, true}},
		},
		"an account was never seen": {
			[]Part{{Sweeps: []overview.Sweep{well("a")}}, {Whose: "payments", Spoke: payments}},
			[]told{{report.SpokeUnknown, "payments", "", 0, true}},
		},
		"an account whose records could not be read": {
			[]Part{{Sweeps: []overview.Sweep{well("a")}}, {Whose: "payments", Spoke: payments, Unread: []string{"which clusters are watched"}}}, nil,
		},
		"a cluster is gone": {
			[]Part{{Sweeps: []overview.Sweep{well("a"), looks("b", from, out.From)}}},
			[]told{{report.ClusterStopped, "", "b", 138, true}},
		},
		"a cluster that was gone before": {[]Part{{Sweeps: []overview.Sweep{well("a"), looks("b", from.AddDate(0, 0, -3), from.Add(-time.Hour))}}}, nil},
		"nothing since before the week":  {[]Part{{Sweeps: []overview.Sweep{looks("a", from.AddDate(0, 0, -3), from.Add(-time.Hour))}}}, []told{{report.NothingLooked, "", "", 168, true}}},
		"a new cluster":                  {[]Part{{Sweeps: []overview.Sweep{well("a"), looks("b", out.From, at)}}}, nil},
		"a new cluster, and no sweeps":   {[]Part{{Sweeps: []overview.Sweep{well("a", out), looks("b", out.To, at)}}}, []told{{report.NothingLooked, "", "", 32, false}}},
		"a record of an earlier release": {[]Part{{Sweeps: []overview.Sweep{{Cluster: "a", At: at}}}}, nil},
		"two that were not at the same time": {
			[]Part{{Sweeps: []overview.Sweep{well("a", out), well("b", short)}}},
			[]told{{report.ClusterUnseen, "", "a", 32, false}, {report.ClusterUnseen, "", "b", 1, false}},
		},
	} {
		var got []told
		for _, u := range NewPeriod(c.parts, from, to, at).Unseen {
			hours := u.To.Sub(u.From).Round(30 * time.Minute).Hours()
			got = append(got, told{u.Reason, u.Whose, u.Cluster, hours, u.Still})
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A Kubernetes API that was silent, and looks of which a part failed, are reported with their share.
func TestPartlySeen(t *testing.T) {
	s := looks("edge", from, at)
	s = s.After(overview.ClusterSweep{At: to.Add(-time.Hour), Silent: true}).After(overview.ClusterSweep{At: to.Add(-time.Minute), Failed: []string{"zone-watch"}})
	p := NewPeriod([]Part{{Sweeps: []overview.Sweep{s}}}, from, to, at)
	want := []report.Unseen{{Reason: report.APISilent, Cluster: "edge", N: 1, Of: 2018}, {Reason: report.PartFailed, Cluster: "edge", N: 1, Of: 2018}}
	if diff := cmp.Diff(want, p.Unseen); diff != "" || p.Gaps() {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func someIncident(opened time.Duration, change func(*incident.Incident)) incident.Incident {
	inc := incident.Incident{Key: report.Key{Cluster: "prod", Check: "route/no-egress", Resource: "rtb-1"}, State: incident.Open, Number: 1, Opened: from.Add(opened)}
	inc.Cause.Title, inc.Cause.Confidence = "rtb-1 has no route", "certain"
	change(&inc)
	return inc
}

func closedAfter(after time.Duration) func(*incident.Incident) {
	return func(inc *incident.Incident) {
		inc.State, inc.Resolution, inc.Resolved = incident.Closed, incident.Proved, inc.Opened.Add(after)
	}
}

// TestIncidents: those of the time are counted, what is open comes first, and Rollcall's own
// are reported with what it could not read.
func TestIncidents(t *testing.T) {
	none := func(*incident.Incident) {}
	list := []incident.Incident{
		someIncident(-100*time.Hour, closedAfter(time.Hour)),
		someIncident(-time.Hour, closedAfter(3*time.Hour)),
		someIncident(time.Hour, closedAfter(9*time.Hour)),
		someIncident(-300*time.Hour, none),
		someIncident(169*time.Hour, none),
		someIncident(169*time.Hour, closedAfter(time.Hour)),
		someIncident(160*time.Hour, closedAfter(9*time.Hour)),
		someIncident(time.Hour, func(inc *incident.Incident) { inc.Number = 0 }),
		someIncident(time.Hour, func(inc *incident.Incident) { inc.Key.Check = incident.CannotLook }),
	}
	p := NewPeriod([]Part{{Clusters: []Cluster{{Name: "prod", Incidents: list}}}}, from, to, at)
	if p.Opened != 2 || p.Resolved != 2 || p.Open != 2 || p.Seen != 5 || len(p.Unseen) != 1 || p.Unseen[0].Reason != report.Denied || !p.Unseen[0].Still {
		t.Errorf("%+v", p)
	}
	var hours []float64
	for i, inc := range p.Incidents {
		if inc.IsOpen() != (i < 2) {
			t.Errorf("%d is %+v", i, inc)
		}
		hours = append(hours, inc.Lasted(at).Round(time.Hour).Hours())
	}
	if want := []float64{476, 7, 9, 9, 3}; !slices.Equal(hours, want) {
		t.Errorf("they lasted %v, want %v", hours, want)
	}
	if want := []report.PeriodCluster{{Cluster: "prod", Seen: 5, Open: 2}}; cmp.Diff(want, p.Wrong) != "" {
		t.Errorf("wrong: %+v", p.Wrong)
	}
}

// TestFeedback: what people said in the time is counted by check, however old the incident is.
func TestFeedback(t *testing.T) {
	p := report.Period{From: time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC), To: time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)}
	say := func(day int, says report.Action) incident.Feedback {
		return incident.Feedback{At: time.Date(2026, 11, day, 12, 0, 0, 0, time.UTC), Says: says}
	}
	old := incident.Incident{Key: report.Key{Check: "route/no-egress"}, State: incident.Closed, Number: 1, Feedback: []incident.Feedback{
		say(15, report.SayWrong), say(16, report.SayRight), say(20, report.SayRight), say(22, report.SayNotUseful), say(23, report.SayWrong),
	}}
	other := old
	other.Feedback = []incident.Feedback{say(17, report.SayWrong)}
	last := other
	last.Key.Check = "zone/impaired"
	for _, inc := range []incident.Incident{old, last, other} {
		addFeedback(&p, inc)
	}
	order(&p)
	want := []report.FeedbackCount{{Check: "route/no-egress", Right: 2, Wrong: 1, NotUseful: 1}, {Check: "zone/impaired", Wrong: 1}}
	if diff := cmp.Diff(want, p.Feedback); diff != "" {
		t.Errorf("feedback (-want +got):\n%s", diff)
	}
}

// TestRemedies: what ran in the time is counted by what came of it, and what waits now.
func TestRemedies(t *testing.T) {
	ran := func(state incident.OfferState, after time.Duration, result remedy.Status) incident.Offer {
		return incident.Offer{Plan: remedy.Plan{Remedy: "add-nat-route"}, State: state, Run: &remedy.Run{Began: from.Add(after), Ended: from.Add(after), Result: result}}
	}
	inc := someIncident(time.Hour, func(inc *incident.Incident) {
		inc.Offers = []incident.Offer{
			ran(incident.Helped, time.Hour, remedy.Done), ran(incident.Helped, 2*time.Hour, remedy.Done), ran(incident.Helped, -time.Hour, remedy.Done), ran(incident.Unhelpful, time.Hour, remedy.Done),
			ran(incident.Acted, time.Hour, remedy.Done), ran(incident.Acted, time.Hour, remedy.Failed),
			{Plan: remedy.Plan{Remedy: "cover-zones"}, State: incident.Offered, Expires: at.Add(time.Minute)}, {Plan: remedy.Plan{Remedy: "cover-zones"}, State: incident.Offered, Expires: at},
		}
	})
	p := NewPeriod([]Part{{Clusters: []Cluster{{Name: "prod", Incidents: []incident.Incident{inc}, Freed: []snapshot.Returned{{Interfaces: 2, Addresses: 30}, {Interfaces: 1, Addresses: 1}}}}}}, from, to, at)
	want := []report.PeriodRemedy{
		{Remedy: "add-nat-route", Came: report.RemedyHelped, N: 2}, {Remedy: "add-nat-route", Came: report.RemedyUnhelpful, N: 1}, {Remedy: "add-nat-route", Came: report.RemedyUnverified, N: 1},
		{Remedy: "add-nat-route", Came: report.RemedyNotDone, N: 1}, {Remedy: "cover-zones", Came: report.RemedyWaits, N: 1},
	}
	if diff := cmp.Diff(want, p.Remedies); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if want := (report.Freed{Interfaces: 3, Addresses: 31, Clusters: 1}); p.Freed != want || !p.Incidents[0].Approval {
		t.Errorf("freed %+v, incident %+v", p.Freed, p.Incidents[0])
	}
}

// What is silenced, refused or running out is as of now, the most urgent first.
func TestNow(t *testing.T) {
	a, b := looks("a", from, at), looks("b", from, at)
	a.Soonest = &overview.Subnet{ID: "subnet-a", Free: 5, At: at}
	b.Soonest = &overview.Subnet{ID: "subnet-b", Free: 90, Empty: at.Add(time.Hour), At: at}
	old := looks("c", from, at)
	old.Soonest = &overview.Subnet{ID: "subnet-c", At: at.Add(-25 * time.Hour)}
	p := NewPeriod([]Part{{
		Whose: "platform", Sweeps: []overview.Sweep{a, b, old},
		Silences: []silence.Silence{{ID: "1", From: from, Until: at.Add(time.Hour)}, {ID: "2", From: from, Until: at.Add(time.Minute)}, {ID: "3", From: from, Until: at}},
		Records:  []outbox.ClusterRecord{{Cluster: "a", Refusals: []outbox.Refusal{{Target: "slack/C1", Code: "is_archived", Since: from}}}},
	}}, from, to, at)
	if len(p.Soonest) != 2 || p.Soonest[0].ID != "subnet-b" || p.Soonest[1].ID != "subnet-a" {
		t.Errorf("soonest %+v", p.Soonest)
	}
	if len(p.Silences) != 2 || p.Silences[0].ID != "2" || p.Silences[0].Whose != "platform" || p.Silenced != 2 {
		t.Errorf("silences %+v", p.Silences)
	}
	if len(p.Faults) != 1 || p.Faults[0].Target != "slack/C1" {
		t.Errorf("faults %+v", p.Faults)
	}
}

// named are records of which the name alone is asked.
type named struct {
	Table
	alias string
	err   error
	asked *int
}

func (n named) Alias(context.Context) (store.Alias, bool, error) {
	*n.asked++
	return store.Alias{Alias: n.alias}, n.alias != "", n.err
}

// TestNamesOfAll: what the settings call an account goes before its alias, which is not even
// read; what cannot be read is the account's number.
func TestNamesOfAll(t *testing.T) {
	list := map[string]named{"": {}, "222233334444": {alias: "acme"}, "333344445555": {alias: "other"}, "444455556666": {alias: "lost", err: errors.New("throttled")}}
	asked := 0
	env := map[string]string{
		"AWS_REGION": "us-west-2", "ROLLCALL_ACCOUNT": "111122223333", "ROLLCALL_EXTERNAL_ID": "rollcall-1",
		"ROLLCALL_SPOKES": "222233334444/us-west-2,333344445555/us-west-2=search,444455556666/us-west-2",
	}
	c, err := config.Load(func(name string) string { return env[name] }, config.SpokeVariables())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	var log bytes.Buffer
	for _, w := range All(c, func(id spoke.ID) Records { n := list[id.Account]; n.asked = &asked; return n }) {
		got = append(got, w.name(t.Context(), slog.New(slog.NewTextHandler(&log, nil))).Whose)
	}
	if want := "111122223333 acme search 444455556666"; strings.Join(got, " ") != want || asked != 3 {
		t.Errorf("they are called %q after %d reads, want %s after 3", got, asked, want)
	}
	if strings.Count(log.String(), "throttled") != 1 {
		t.Errorf("the log is %s", log.String())
	}
}
