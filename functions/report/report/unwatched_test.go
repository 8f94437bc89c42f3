package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/incident"
	"rollcall/shared/notify/notifytest"
	"rollcall/shared/report"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
)

// TestDue: what is missing in the settings is closed after a quarter of an hour, and nothing
// else ever is.
func TestDue(t *testing.T) {
	now := notifytest.Start
	left := func(ago time.Duration) store.WatchedSpoke {
		return store.WatchedSpoke{Spoke: payments, Left: now.Add(-ago)}
	}
	watchedOne := store.WatchedSpoke{Spoke: payments}
	for name, test := range map[string]struct {
		records []store.WatchedSpoke
		watched []spoke.ID
		save    []store.WatchedSpoke
		left    []spoke.ID
	}{
		"a hub alone":                        {},
		"watched for the first time":         {watched: []spoke.ID{payments}, save: []store.WatchedSpoke{watchedOne}},
		"watched":                            {records: []store.WatchedSpoke{watchedOne}, watched: []spoke.ID{payments}},
		"missing":                            {records: []store.WatchedSpoke{watchedOne}, save: []store.WatchedSpoke{left(0)}},
		"missing, another region is there":   {records: []store.WatchedSpoke{watchedOne}, watched: []spoke.ID{europe}, save: []store.WatchedSpoke{left(0), {Spoke: europe}}},
		"missing, not long":                  {records: []store.WatchedSpoke{left(leaveAfter - time.Second)}},
		"missing long enough":                {records: []store.WatchedSpoke{left(leaveAfter)}, left: []spoke.ID{payments}},
		"there again before it was too late": {records: []store.WatchedSpoke{left(leaveAfter - time.Second)}, watched: []spoke.ID{payments}, save: []store.WatchedSpoke{watchedOne}},
		"there again, late":                  {records: []store.WatchedSpoke{left(time.Hour)}, watched: []spoke.ID{payments}, save: []store.WatchedSpoke{watchedOne}},
	} {
		save, gone := due(test.records, test.watched, now)
		if diff := cmp.Diff([]any{test.save, test.left}, []any{save, gone}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// leaving is the hub's handler of a bench, by what the settings watch beside the hub.
func (b *bench) leaving(watched ...spoke.ID) handler {
	h := b.handler
	h.unwatched = unwatched{spokes: b.store, watched: watched, of: func(id spoke.ID) handler {
		f := b.handler
		table := b.store.In(id)
		f.Incidents, f.Postings, f.Clusters, f.Acts, f.audit, f.Silences = table, table, table, table, table, table
		f.spoke, f.Unwatched = id, func(string) bool { return true }
		return f
	}}
	return h
}

// TestASpokeThatIsNotWatchedAnyMore: what is open of it is closed, once, in its own message,
// with its offers; the namesakes of the hub and of the other region stay as they are, and so
// do those of a spoke that was only missing for a while.
func TestASpokeThatIsNotWatchedAnyMore(t *testing.T) {
	b := newBench(t)
	invoke := framed(b)
	own := []spoke.ID{{}, payments, europe}
	var seen []string
	for _, id := range own {
		obs := notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)).For(id)
		obs.ID, obs.At = "observation", b.now
		p := proposal(b.now)
		if p.Key.Spoke = id; !id.Hub() {
			p.Format++
			p.Plan.Account, p.Plan.Region = id.Account, id.Region
		}
		p.Hash = p.Plan.Hash()
		seen = append(seen, b.body(obs), b.body(p))
	}
	if failed := invoke(seen...); len(failed) > 0 {
		t.Fatalf("given back: %q", failed)
	}
	leave := func(minute int, watched ...spoke.ID) {
		t.Helper()
		b.now = notifytest.Start.Add(time.Duration(minute) * time.Minute)
		if err := b.leaving(watched...).leave(t.Context(), json.RawMessage(`{}`)); err != nil {
			t.Fatal(err)
		}
	}
	stands := func(want string) {
		t.Helper()
		var list []string
		for _, id := range own {
			inc := b.incidentOf(id)
			list = append(list, strings.TrimSpace(fmt.Sprintf("%s %s %s", inc.State, inc.Resolution, inc.Offers[0].State)))
		}
		if got := strings.Join(list, ", "); got != want {
			t.Errorf("minute %v: %s, want %s", b.now.Sub(notifytest.Start), got, want)
		}
	}
	leave(0, payments, europe)
	leave(5, europe) // payments is taken out
	stands("open  offered, open  offered, open  offered")
	leave(10, payments, europe) // and back
	leave(15, europe)
	leave(25, europe)
	stands("open  offered, open  offered, open  offered")
	edits := len(b.channel.Posts())
	leave(30, europe)
	stands("open  offered, closed unwatched outdated, open  offered")
	inc := b.incidentOf(payments)
	if says := b.message(inc.Delivery.TS); !strings.Contains(says, "eks-workshop (payments, us-west-2)") || !strings.Contains(says, "closed, no longer watched, may still fail") {
		t.Errorf("its message is %q", says)
	}
	if n := inc.Delivery.Notes; n[len(n)-1].Reason != incident.IsWithdrawn {
		t.Errorf("notes %+v", n)
	}
	last := b.bus.Told[len(b.bus.Told)-1]
	if last.Kind != incident.EventResolved || last.Resolution != incident.Unwatched || last.Account != payments.Account || last.Region != payments.Region {
		t.Errorf("the bus is told %+v", last)
	}
	told, posts := len(b.bus.Told), len(b.channel.Posts())
	leave(35, europe)
	leave(40, europe)
	if len(b.bus.Told) != told || len(b.channel.Posts()) != posts || posts != edits {
		t.Errorf("said again, or in a message of its own: %d events, %d messages; before %d, %d, %d", len(b.bus.Told), len(b.channel.Posts()), told, posts, edits)
	}
	records, err := b.store.WatchedSpokes(t.Context())
	if diff := cmp.Diff([]store.WatchedSpoke{{Spoke: europe, Format: store.SpokeFormat}}, records); err != nil || diff != "" {
		t.Errorf("remembered, %v (-want +got):\n%s", err, diff)
	}
	if known, err := b.store.In(payments).Clusters(t.Context()); err != nil || !slices.Equal(known, []string{"eks-workshop"}) {
		t.Errorf("its closed incident is found in no cluster: %q, %v", known, err)
	}
	// What a spoke that is watched again finds opens it again.
	obs := notifytest.Failing(notifytest.Launch(notifytest.Instance1, 50, report.Waiting)).For(payments)
	obs.ID, obs.At = "again", notifytest.Start.Add(50*time.Minute)
	b.now = obs.At
	if failed := invoke(b.body(obs)); len(failed) > 0 || b.incidentOf(payments).State != incident.Open {
		t.Errorf("watched again: %s, given back %q", b.incidentOf(payments).State, failed)
	}
}

// TestAClusterThatIsNotWatchedAnyMore: one that the setting clusters does not name any more is
// looked after with the next tick, and closed; what a function of before still sends of it
// opens nothing.
func TestAClusterThatIsNotWatchedAnyMore(t *testing.T) {
	b := newBench(t)
	b.must(0, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)))
	var woken []string
	b.Again = notifytest.AgainFunc(func(o report.Observation) error { woken = append(woken, o.Cluster); return nil })
	tick := func() {
		t.Helper()
		if err := b.Tick(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	tick()
	b.Unwatched = notAmong(nil)
	tick()
	b.Unwatched = notAmong([]string{"eks-workshop", "dev"})
	tick()
	if len(woken) > 0 {
		t.Fatalf("what is watched is woken: %q", woken)
	}
	b.Unwatched = notAmong([]string{"dev"})
	if tick(); cmp.Diff([]string{"eks-workshop"}, woken) != "" {
		t.Fatalf("woken: %q", woken)
	}
	b.must(5, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting), notifytest.Launch(notifytest.Instance2, 4, report.Waiting)))
	inc := b.incident()
	if inc.State != incident.Closed || inc.Resolution != incident.Unwatched || inc.Affected != 1 {
		t.Errorf("%s, %s, %d affected", inc.State, inc.Resolution, inc.Affected)
	}
	posts := len(b.channel.Posts())
	b.must(10, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)))
	if tick(); b.incident().State != incident.Closed || len(b.channel.Posts()) != posts || len(woken) != 1 {
		t.Errorf("again: %s, %d messages, woken %q", b.incident().State, len(b.channel.Posts()), woken)
	}
	if left := notAmong([]string{"dev"}); left(report.AllClusters) || !left("eks-workshop") || left("dev") {
		t.Error("what is about no cluster in particular is closed with one")
	}
}
