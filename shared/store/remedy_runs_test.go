package store

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/remedy/replaceinstance"
)

func run(id string, r optin.Remedy, at time.Time) remedy.Run {
	return remedy.Run{Format: remedy.Format, ID: id, Plan: remedy.Plan{Format: remedy.Format, Remedy: r, Cluster: "prod"}, Began: at}
}

func TestRunIsClaimedOnce(t *testing.T) {
	now := start
	s := open(t, &now)
	var all sync.WaitGroup
	var mu sync.Mutex
	claims := 0
	for range 8 {
		all.Go(func() {
			there, claimed, err := s.ClaimRun(t.Context(), run("a", optin.AddNATRoute, now))
			mu.Lock()
			defer mu.Unlock()
			if err != nil || there.ID != "a" || there.Version != 1 {
				t.Errorf("%+v, %v", there, err)
			}
			if claimed {
				claims++
			}
		})
	}
	all.Wait()
	if claims != 1 {
		t.Errorf("%d claimed it", claims)
	}
	list, err := s.Runs(t.Context(), "prod")
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	list[0].Result, list[0].Ended = action.Done, now
	if _, err := s.SaveRun(t.Context(), list[0]); err != nil {
		t.Fatal(err)
	}
	var taken *Conflict
	if _, err := s.SaveRun(t.Context(), list[0]); !errors.As(err, &taken) {
		t.Errorf("written over what was not read: %v", err)
	}
	if there, claimed, err := s.ClaimRun(t.Context(), run("a", optin.AddNATRoute, now)); err != nil || claimed || there.Result != action.Done {
		t.Errorf("claimed %v, %+v, %v", claimed, there, err)
	}
	now = now.Add(keepAudits - time.Hour)
	if list, _ := s.Runs(t.Context(), "prod"); len(list) != 1 {
		t.Error("it is not kept for a year")
	}
	if list, _ := s.Runs(t.Context(), "dev"); len(list) != 0 {
		t.Error("another cluster's")
	}
}

func TestRunsAreLimited(t *testing.T) {
	now := start
	s := open(t, &now)
	count := func(d remedy.Run) bool {
		t.Helper()
		room, err := s.CountRun(t.Context(), d, 3)
		if err != nil {
			t.Fatal(err)
		}
		return room.IsZero()
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	within := 0
	for n := range 6 {
		all.Go(func() {
			room, err := s.CountRun(t.Context(), run(fmt.Sprint(n), optin.ReplaceInstance, now), 3)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			if err == nil && room.IsZero() {
				within++
			}
		})
	}
	all.Wait()
	if within != 3 {
		t.Errorf("%d within a limit of 3", within)
	}
	now = now.Add(59 * time.Minute)
	if count(run("x", optin.ReplaceInstance, now)) {
		t.Error("over the limit within the hour")
	}
	for n := range 6 {
		if !count(run("x", optin.AddNATRoute, now)) {
			t.Errorf("count %d: another remedy has a limit of its own, and the same deed counts once", n)
		}
	}
	now = start.Add(lately)
	if !count(run("x", optin.ReplaceInstance, now)) {
		t.Error("an hour later")
	}
}

// Each instance counts, and when there is room for more is known.
func TestLimitTellsWhenThereIsRoom(t *testing.T) {
	now := start
	s := open(t, &now)
	of := func(id string, n int) remedy.Run {
		d := run(id, optin.ReplaceInstance, now)
		d.Plan.Replace = &replaceinstance.Plan{Instances: make([]replaceinstance.Replaced, n)}
		return d
	}
	count := func(id string, n int) time.Time {
		t.Helper()
		room, err := s.CountRun(t.Context(), of(id, n), 5)
		if err != nil {
			t.Fatal(err)
		}
		return room
	}
	for _, step := range []struct {
		at   time.Duration
		id   string
		n    int
		room time.Duration // 0: it is counted
	}{
		{0, "a", 2, 0},
		{10 * time.Minute, "b", 2, 0},
		{20 * time.Minute, "c", 2, lately},
		{20 * time.Minute, "d", 1, 0},
		{21 * time.Minute, "e", 5, 20*time.Minute + lately},
		{21 * time.Minute, "e", 3, 10*time.Minute + lately},
		{30 * time.Minute, "a", 2, 0}, // counted, and done only now
		{lately, "c", 1, 10*time.Minute + lately},
		{10*time.Minute + lately, "c", 2, 0},
	} {
		now = start.Add(step.at)
		want := time.Time{}
		if step.room > 0 {
			want = start.Add(step.room)
		}
		if got := count(step.id, step.n); !got.Equal(want) {
			t.Errorf("after %s: %d of %s: room at %s, want %s", step.at, step.n, step.id, got, want)
		}
	}
	if _, err := s.CountRun(t.Context(), of("f", 6), 5); err == nil {
		t.Error("more than the limit is counted")
	}
}
