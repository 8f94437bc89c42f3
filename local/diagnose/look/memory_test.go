package look

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/functions/join-check/joincheck"
	"rollcall/shared/node/outcome"
	"rollcall/shared/nodegroup"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
)

var _ joincheck.Launches = (*memory)(nil)

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
