package look

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/askonce"
	"rollcall/shared/detect"
	"rollcall/shared/node/outcome"
	"rollcall/shared/nodegroup"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
	"rollcall/stage/reading"
	"rollcall/stage/simaws/world"
	"rollcall/stage/simaws/worldfile"
	"rollcall/tools/testfile"
)

// blackhole is an account with one instance that cannot join.
func blackhole(t *testing.T) Account {
	t.Helper()
	file, err := worldfile.Load("../../../stage/worlds/route-blackhole.yaml")
	if err != nil {
		t.Fatal(err)
	}
	w, err := world.New(file, world.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	now := file.Time.Add(12 * time.Minute)
	w.Advance(now)
	a := reading.OfWorld(w, file)
	open, err := a.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(open.Close)
	return Account{ID: a.ID, Region: a.Region, AWS: open.AWS, Endpoints: open.Endpoints, Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler)}
}

// firstCauses are the functions that told something, in their order, with their first cause.
func firstCauses(s Seen) []string {
	var list []string
	for _, o := range s.Observations {
		cause := ""
		if len(o.Diagnosis.Causes) > 0 {
			cause = " " + string(o.Diagnosis.Causes[0].Check)
		}
		list = append(list, o.By+cause)
	}
	return list
}

// What the functions tell comes in the order in which report would get it, and what one
// of them asked another does not ask again.
func TestAt(t *testing.T) {
	a := blackhole(t)
	a.Once = &askonce.Once{}
	s, err := At(t.Context(), a)
	if err != nil || len(s.Failed) > 0 {
		t.Fatal(err, s.Failed)
	}
	want := []string{"join-check route/blackhole", "nodegroup-watch", "spot-report", "subnet-watch", "zone-watch"}
	got := firstCauses(s)
	for i := range got {
		if i > 0 {
			got[i], _, _ = strings.Cut(got[i], " ") // advice
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	asked := a.Once.Asked()
	if s, err = At(t.Context(), a); err != nil || len(s.Observations) != len(want) || a.Once.Asked() != asked {
		t.Errorf("%v, %d questions more for the same look", err, a.Once.Asked()-asked)
	}
	a.Clusters = []string{"other"}
	if s, err = At(t.Context(), a); err != nil || len(s.Observations)+len(s.Failed) > 0 {
		t.Errorf("%v: a cluster that is not there tells %q, %v", err, firstCauses(s), s.Failed)
	}
}

// A refused call for instances of the cluster is looked at first; those of others, and
// what is none, are not.
func TestRefusedCalls(t *testing.T) {
	raw := testfile.Read(t, "../../../events/in/ec2-call-create-fleet-refused.json")
	var sample struct{ Detail json.RawMessage }
	testfile.Parse(t, raw, &sample)
	a := blackhole(t)
	record := func(cluster string) Record {
		text := strings.ReplaceAll(string(sample.Detail), "kubernetes.io/cluster/prod", "kubernetes.io/cluster/"+cluster)
		text = strings.ReplaceAll(text, "eks-workshop", cluster)
		var tree map[string]any
		testfile.Parse(t, []byte(text), &tree)
		tree["eventTime"] = a.Now().Add(-5 * time.Minute).Format(time.RFC3339)
		return testfile.JSON(t, tree)
	}
	for name, tt := range map[string]struct {
		records []Record
		first   string
	}{
		"none":               {nil, "join-check"},
		"of this cluster":    {[]Record{record("eks-workshop")}, "launch-watch"},
		"of another cluster": {[]Record{record("other")}, "join-check"},
		"what is none":       {[]Record{Record(`{"eventName": "RunInstances"}`), Record(`[]`)}, "join-check"},
	} {
		t.Run(name, func(t *testing.T) {
			a.Clusters = []string{"eks-workshop"}
			a.Refused = func(context.Context) []Record { return tt.records }
			s, err := At(t.Context(), a)
			if err != nil || len(s.Failed) > 0 || !strings.HasPrefix(firstCauses(s)[0], tt.first) {
				t.Errorf("%v, %v, told %q, want %s first", err, s.Failed, firstCauses(s), tt.first)
			}
		})
	}
}

// A function that panics is reported as one that failed, by its name.
func TestPanicsAreTold(t *testing.T) {
	a := blackhole(t)
	a.Endpoints = func(string) (string, []byte, http.RoundTripper, bool) { panic("no way") }
	s, err := At(t.Context(), a)
	if err != nil || len(s.Failed) == 0 || s.Failed[0].Function != "join-check" || s.Failed[0].Err.Error() != "it panicked: no way" {
		t.Errorf("%v, failed %v", err, s.Failed)
	}
}

// Whoever gives up gets that reason.
func TestGivenUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	a := blackhole(t)
	cancel()
	if _, err := At(ctx, a); err == nil {
		t.Error("a look that was given up says something")
	}
}

// The settings are those of a new deployment; no launch is given up.
func TestSettings(t *testing.T) {
	c, err := settings()
	if err != nil {
		t.Fatal(err)
	}
	got := []any{c.JoinTime, c.GiveUp, c.ReportHour, len(c.Cleanups), c.CleanupGrace, len(c.CleanupUntagged), c.RunwayHorizon, c.SubnetMetrics}
	want := []any{5 * time.Minute, time.Duration(math.MaxInt64), 8, 0, 30 * time.Minute, 0, 24 * time.Hour, false}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Without clusters that are asked for all are looked at.
func TestWatches(t *testing.T) {
	all, some := Account{}, Account{Clusters: []string{"prod"}}
	if !all.watches("dev") || !some.watches("prod") || some.watches("dev") {
		t.Errorf("all watch dev %v, some prod %v and dev %v", all.watches("dev"), some.watches("prod"), some.watches("dev"))
	}
}

var _ detect.LaunchTable = (*memory)(nil)

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t
}

func launch(id, cluster, started string, status outcome.LaunchStatus) store.LaunchRecord {
	return store.LaunchRecord{Launch: outcome.Launch{Instance: id, Status: status, Started: at(started)}, Cluster: cluster}
}

// What one function took down the next one finds, as in the table.
func TestLaunchesAreRemembered(t *testing.T) {
	m, ctx := newMemory(), t.Context()
	for _, l := range []store.LaunchRecord{
		launch("i-2", "prod", "2026-11-20T14:10:00Z", outcome.Missed), launch("i-1", "prod", "2026-11-20T14:00:00Z", outcome.Joined),
		launch("i-3", "dev", "2026-11-20T14:00:00Z", outcome.Missed), launch("i-0", "prod", "2026-11-20T14:00:00Z", outcome.Waiting),
	} {
		if created, err := m.CreateLaunch(ctx, l); err != nil || !created {
			t.Errorf("%s: %v, %v, want that it is new", l.Instance, created, err)
		}
	}
	if created, _ := m.CreateLaunch(ctx, launch("i-1", "prod", "2026-11-20T15:00:00Z", outcome.Missed)); created {
		t.Error("a launch that is known is new")
	}
	l, err := m.GetLaunches(ctx, []string{"i-1", "i-9"})
	if err != nil || len(l) != 1 || l["i-1"].Status != outcome.Joined || l["i-1"].Version != 1 {
		t.Errorf("%+v, %v, want i-1 as it was created", l, err)
	}
	changed := l["i-1"]
	changed.Looks = 7
	if err := m.SaveLaunch(ctx, changed); err != nil {
		t.Fatal(err)
	}
	if l, _ := m.GetLaunches(ctx, []string{"i-1"}); l["i-1"].Looks != 7 || l["i-1"].Version != 2 {
		t.Errorf("%+v, want what was saved", l["i-1"])
	}
	open, err := m.OpenLaunches(ctx, "prod")
	var ids []string
	for _, l := range open {
		ids = append(ids, l.Instance)
	}
	if diff := cmp.Diff([]string{"i-0", "i-2"}, ids); diff != "" || err != nil {
		t.Errorf("open (-want +got), %v:\n%s", err, diff)
	}
	history := func(list []snapshot.Past, err error) []string {
		if err != nil {
			t.Error(err)
		}
		var ids []string
		for _, p := range list {
			ids = append(ids, p.ID)
		}
		return ids
	}
	if diff := cmp.Diff([]string{"i-0", "i-1", "i-2"}, history(m.History(ctx, "prod", at("2026-11-20T14:00:00Z")))); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"i-2"}, history(m.History(ctx, "prod", at("2026-11-20T14:00:01Z")))); diff != "" {
		t.Errorf("history since (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"i-1", "i-2"}, history(m.RecentHistory(ctx, "prod", time.Time{}, 2))); diff != "" {
		t.Errorf("the newest (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"i-0", "i-1", "i-2"}, history(m.RecentHistory(ctx, "prod", time.Time{}, 9))); diff != "" {
		t.Errorf("fewer than asked for (-want +got):\n%s", diff)
	}
}

// One sample a minute counts, as in the table: the last.
func TestOneSampleAMinute(t *testing.T) {
	m, ctx := newMemory(), t.Context()
	sample := func(subnet, when string, free int) snapshot.Sample {
		return snapshot.Sample{Subnet: subnet, At: at(when), Free: free}
	}
	if err := m.RecordSamples(ctx, []snapshot.Sample{
		sample("subnet-1", "2026-11-20T14:01:10Z", 3), sample("subnet-1", "2026-11-20T14:00:10Z", 1), sample("subnet-1", "2026-11-20T14:00:50Z", 2), sample("subnet-2", "2026-11-20T14:00:10Z", 9),
	}); err != nil {
		t.Fatal(err)
	}
	got, err := m.Samples(ctx, "subnet-1", at("2026-11-20T14:00:50Z"))
	if diff := cmp.Diff([]snapshot.Sample{sample("subnet-1", "2026-11-20T14:00:50Z", 2), sample("subnet-1", "2026-11-20T14:01:10Z", 3)}, got); diff != "" || err != nil {
		t.Errorf("(-want +got), %v:\n%s", err, diff)
	}
}

func TestTheRestIsRemembered(t *testing.T) {
	m, ctx := newMemory(), t.Context()
	refusal := func(class string, asked int) store.RefusedRecord {
		return store.RefusedRecord{Cluster: "prod", RefusedLaunch: snapshot.RefusedLaunch{Launcher: "nodepool/a", Class: "launch/" + "subnet-full", Text: class, Asked: asked}}
	}
	for _, r := range []store.RefusedRecord{refusal("first", 1), refusal("second", 2)} {
		if err := m.SaveRefusedLaunch(ctx, r); err != nil {
			t.Error(err)
		}
	}
	other := refusal("other", 1)
	other.Launcher = "nodepool/b"
	if err := m.SaveRefusedLaunch(ctx, other); err != nil {
		t.Error(err)
	}
	refused, err := m.RefusedLaunches(ctx, "prod")
	if len(refused) != 2 || refused[0].Text != "second" || refused[1].Launcher != "nodepool/b" || err != nil {
		t.Errorf("refused %+v, %v, want the last of each launcher", refused, err)
	}
	if list, _ := m.RefusedLaunches(ctx, "dev"); list != nil {
		t.Errorf("refused %+v of another cluster", list)
	}
	if _, err := m.SaveNodegroup(ctx, nodegroup.Record{Cluster: "prod", Nodegroup: "workers", Status: "ACTIVE"}); err != nil {
		t.Error(err)
	}
	if groups, err := m.Nodegroups(ctx, "prod"); groups["workers"].Status != "ACTIVE" || groups["workers"].Version != 1 || err != nil {
		t.Errorf("nodegroups %+v, %v", groups, err)
	}
	if err := m.SaveJoinTimes(ctx, "prod", store.JoinTimes{Nodegroup: "workers"}); err != nil {
		t.Error(err)
	}
	if times, err := m.JoinTimes(ctx, "prod"); times["workers"].Version != 1 || err != nil {
		t.Errorf("join times %+v, %v", times, err)
	}
}

// Who needs to know what was refused waits until it is known, or until its time is over.
func TestRefusedLaunchesAreWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard := make(chan struct{})
		p := waitingTable{newMemory(), heard}
		brief, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := p.RefusedLaunches(brief, "prod"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want that the time is over", err)
		}
		go func() {
			time.Sleep(time.Second)
			_ = p.SaveRefusedLaunch(t.Context(), store.RefusedRecord{Cluster: "prod"})
			close(heard)
		}()
		if list, err := p.RefusedLaunches(t.Context(), "prod"); len(list) != 1 || err != nil {
			t.Errorf("%+v, %v, want what was taken down meanwhile", list, err)
		}
	})
}
