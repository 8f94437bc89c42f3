package spotreport

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checkid"
	"rollcall/shared/node/spot"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
)

// overdue are open launches that have missed their time, for a cause.
func overdue(n int, hours float64, cause checkid.ID) []snapshot.Past {
	list := launches(n, hours, snapshot.Open)
	for i := range list {
		list[i].ID += "-overdue"
		list[i].Zone, list[i].Missed, list[i].Cause = "us-west-2c", list[i].Started.Add(5*time.Minute), cause
	}
	return list
}

// What is past its time has not joined so far, for the reason that was found;
// what is not due yet is open. The test of the pools knows neither.
func TestOverdueHaveNotJoinedSoFar(t *testing.T) {
	b := newBench()
	b.past = slices.Concat(launches(6, 3, snapshot.Joined), launches(2, 0.01, snapshot.Open), overdue(8, 0.5, "route/no-egress"), overdue(40, 0.7, ""))
	before := slices.Clone(b.past)
	b.run(t)
	if len(b.summaries) != 1 {
		t.Fatalf("%d summaries, want 1", len(b.summaries))
	}
	r := b.summaries[0].Spot
	want := spot.Funnel{Requested: 56, Launched: 56, Joined: 6, NotJoined: 48, Open: 2}
	if diff := cmp.Diff(want, r.Spot); diff != "" {
		t.Errorf("funnel (-want +got):\n%s", diff)
	}
	for _, p := range r.Pools {
		if p.Zone != "us-west-2c" {
			continue
		}
		if diff := cmp.Diff([]spot.Cause{{Name: "not joined", Count: 40}, {Name: "route/no-egress", Count: 8}}, p.Causes); diff != "" || p.Failing || p.P != 1 {
			t.Errorf("p = %v, failing %v, causes (-want +got):\n%s", p.P, p.Failing, diff)
		}
	}
	if !slices.Contains(r.Assumed, "Counted as not joined so far, and still looked at: 48 of the launches.") {
		t.Errorf("assumed %q", r.Assumed)
	}
	slices.SortStableFunc(before, func(a, b snapshot.Past) int { return a.Started.Compare(b.Started) })
	if diff := cmp.Diff(before, b.past); diff != "" {
		t.Errorf("the history itself was changed (-want +got):\n%s", diff)
	}
}

// Of too many launches it says from when on it counts, and the pools are judged
// from then on too.
func TestHistoryThatWasCut(t *testing.T) {
	for _, wrap := range []func(error) error{
		func(err error) error { return err },
		func(err error) error { return fmt.Errorf("read the launches of prod: %w", errors.Join(err)) },
		func(err error) error {
			return fmt.Errorf("read: %w", errors.Join(&store.NewerFormat{Record: "x", Written: 2, Known: 1}, err))
		},
	} {
		b := newBench()
		since := morning.Truncate(time.Hour).Add(-4 * time.Hour)
		b.past = launches(3, 3, snapshot.NotJoined)
		b.memory.err = wrap(&store.OlderLeftOut{Since: since, Most: 3})
		b.run(t)
		if len(b.summaries) != 1 {
			t.Fatalf("%d summaries, want 1", len(b.summaries))
		}
		r := b.summaries[0].Spot
		if !r.From.Equal(since) || r.Spot.NotJoined != 3 {
			t.Errorf("from %s: %+v", r.From, r.Spot)
		}
		said := strings.Join(r.Assumed, " ")
		for _, want := range []string{"it counts from 04:00 UTC on 21 Nov on, older launches are left out", "by more than chance is judged since 04:00 UTC on 21 Nov"} {
			if !strings.Contains(said, want) {
				t.Errorf("assumed %q, want %q", said, want)
			}
		}
	}
	b := newBench()
	b.memory.err = fmt.Errorf("read: %w", errors.Join(errors.New("down"), &store.OlderLeftOut{Since: morning}))
	if _, err := b.handle(t.Context(), tick(b.clock)); err == nil || !strings.Contains(err.Error(), "down") {
		t.Errorf("error %v, want the other trouble", err)
	}
}
