package spot

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/snapshot"
)

// random is a history in which some launches of each pool fail, and more of
// the first.
func random(seed uint64) []snapshot.Past {
	rng := rand.New(rand.NewPCG(seed, 1))
	bad := rng.Float64()
	list := week(3, func(p *snapshot.Past) {
		p.Started = p.Started.Add(time.Duration(rng.IntN(1800)) * time.Second)
		switch at := rng.Float64(); {
		case inPool(p) && at < bad, at < 0.05:
			end(p, []snapshot.End{snapshot.Reclaimed, snapshot.NotJoined}[rng.IntN(2)], "")
		}
	})
	return byStart(list)
}

// A look at every hour sees at the end what one look sees, and Perhaps never
// says no where the exact test says yes.
func TestWatchingIsLookingOnce(t *testing.T) {
	named := 0
	for seed := range uint64(40) {
		list := random(seed)
		var hourly, once Watch
		from := noon().Add(-time.Hour)
		for i, p := range list {
			hourly.Add(p)
			once.Add(p)
			if i%10 == 0 {
				possible := hourly.Perhaps(from)
				failing := slices.ContainsFunc(hourly.Look(from), func(st PoolResult) bool { return st.Failing })
				if failing && !possible {
					t.Fatalf("seed %d: a pool is failing, and Perhaps says no", seed)
				}
				if failing {
					named++
				}
			}
		}
		if diff := cmp.Diff(hourly.Look(from), once.Look(from)); diff != "" {
			t.Fatalf("seed %d: (-hourly +once):\n%s", seed, diff)
		}
	}
	if named == 0 {
		t.Error("no pool was ever failing: the test shows nothing")
	}
}

// The order in which launches of one second are told, and the names of other
// things, change nothing.
func TestReadIsDeterministic(t *testing.T) {
	list := random(3)
	want := read(list)
	rng := rand.New(rand.NewPCG(9, 9))
	for range 5 {
		mixed := slices.Clone(list)
		rng.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		if diff := cmp.Diff(read(mixed), want); diff != "" {
			t.Fatalf("another order (-got +want):\n%s", diff)
		}
	}
}

func TestOldLaunchesAreForgotten(t *testing.T) {
	var w Watch
	for _, p := range week(2, func(p *snapshot.Past) {
		if inPool(p) {
			end(p, snapshot.Reclaimed, "")
		}
	}) {
		w.Add(p)
	}
	if list := w.Look(noon()); !list[0].Failing {
		t.Fatalf("in the window the pool is not failing: %+v", list[0])
	}
	for _, st := range w.Look(noon().Add(3 * 24 * time.Hour)) {
		if st.Failing || st.Judged > 0 {
			t.Errorf("after the window: %+v", st)
		}
	}
}

// What lasts over the end of a half hour counts once.
func TestBurstOverTheHalfHourCountsOnce(t *testing.T) {
	launch := func(pool int, minute int) trial {
		return trial{draw: drawOf(strconv.Itoa(minute)), at: int64(minute * 60), pool: pool, label: label{judged: true, started: true}}
	}
	got := draw([]trial{launch(0, 25), launch(0, 32), launch(0, 61), launch(1, 5), launch(1, 50)}, nil, nearby)
	var at []int64
	for _, tr := range got {
		at = append(at, tr.at/60)
	}
	if diff := cmp.Diff(at, []int64{25, 61, 5, 50}); diff != "" {
		t.Errorf("drawn (-got +want):\n%s", diff)
	}
	if got := draw([]trial{launch(0, 363)}, []trial{launch(0, 358)}, nearby); len(got) != 0 {
		t.Errorf("over the end of a stretch: %v", got)
	}
}
