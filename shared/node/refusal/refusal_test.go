package refusal

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checkid"
	"rollcall/shared/snapshot"
)

var start = time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC)

func after(minutes float64) time.Time {
	return start.Add(time.Duration(minutes * float64(time.Minute)))
}

// run is a run of calls from and to some minutes after the start.
func run(class checkid.ID, first, last float64) snapshot.RefusedLaunch {
	return snapshot.RefusedLaunch{Launcher: "nodepool/gpu", Class: class, First: after(first), Last: after(last)}
}

const (
	forbidden = checkid.LaunchPolicyDenied
	shortage  = checkid.LaunchInsufficientCapacity
)

func TestStands(t *testing.T) {
	with := func(r snapshot.RefusedLaunch, worked, back float64) snapshot.RefusedLaunch {
		if worked > 0 {
			r.Worked = after(worked)
		}
		if back > 0 {
			r.Back = after(back)
		}
		return r
	}
	for _, test := range []struct {
		name string
		run  snapshot.RefusedLaunch
		now  float64
		want Standing
	}{
		{"forbidden is so at once", run(forbidden, 0, 0), 0, Refused},
		{"forbidden an hour ago", run(forbidden, 0, 0), 60, Refused},
		{"forbidden longer ago", run(forbidden, 0, 0), 60.1, Over},
		{"a shortage is waited out", run(shortage, 0, 4.9), 5, Brief},
		{"told once, long ago", run(shortage, 0, 0), 30, Brief},
		{"a shortage that stays", run(shortage, 0, 5), 5, Refused},
		{"an instance since", with(run(forbidden, 0, 5), 6, 0), 7, Worked},
		{"an instance at the same time is none since", with(run(forbidden, 0, 5), 5, 0), 7, Refused},
		{"an instance before", with(run(forbidden, 4, 5), 3, 0), 7, Refused},
		{"in turn", with(run(forbidden, 4, 5), 6, 4), 19.9, Refused},
		{"in turn, and calm since", with(run(forbidden, 4, 5), 6, 4), 20, Worked},
		{"over, whatever worked", with(run(forbidden, 0, 5), 6, 0), 66, Over},
	} {
		if got := Stands(test.run, after(test.now)); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

func TestTake(t *testing.T) {
	for _, test := range []struct {
		name   string
		have   snapshot.RefusedLaunch
		worked float64
		at     float64
		want   Change
		first  float64
		back   bool
	}{
		{"the next", run(forbidden, 10, 11), 0, 12, Goes, 10, false},
		{"a second later", run(forbidden, 10, 11), 0, 11.5, Nothing, 10, false},
		{"the same", run(forbidden, 10, 11), 0, 11, Nothing, 10, false},
		{"late, within the run", run(forbidden, 10, 12), 0, 11, Nothing, 10, false},
		{"late, before the run", run(forbidden, 10, 12), 0, 9, Earlier, 9, false},
		{"late, an hour before the run", run(forbidden, 70, 71), 0, 9, Nothing, 70, false},
		{"late, before an instance that came before the run", run(forbidden, 10, 12), 9.5, 9, Nothing, 10, false},
		{"late, before the run that an instance has ended", run(forbidden, 10, 12), 13, 9, Nothing, 10, false},
		{"after an instance", run(forbidden, 10, 12), 13, 14, Began, 14, true},
		{"late, after the run and before the instance", run(forbidden, 10, 12), 14, 13, Goes, 10, false},
		{"hours later", run(forbidden, 10, 12), 0, 73, Began, 73, false},
		{"hours later, after an instance", run(forbidden, 10, 12), 13, 73, Began, 73, false},
		{"the one with which a shortage has lasted, seconds after the last", run(shortage, 10, 14.5), 0, 15.1, Goes, 10, false},
		{"and the one after it", run(shortage, 10, 15.1), 0, 15.3, Nothing, 10, false},
	} {
		if test.worked > 0 {
			test.have.Worked = after(test.worked)
		}
		got, change := Take(&test.have, run(test.have.Class, 0, test.at))
		if change != test.want || !got.First.Equal(after(test.first)) || got.Back.IsZero() == test.back || !got.Worked.Equal(test.have.Worked) {
			t.Errorf("%s: %s, %+v", test.name, change, got)
		}
	}
	if got, change := Take(nil, run(forbidden, 3, 5)); change != Began || !got.First.Equal(after(5)) {
		t.Errorf("the first: %s, %+v", change, got)
	}
}

func TestWork(t *testing.T) {
	r := run(forbidden, 0, 5)
	for _, at := range []float64{3, 5} {
		if got, news := Work(r, after(at)); news || !got.Worked.IsZero() {
			t.Errorf("an instance of minute %v: %+v, %v", at, got, news)
		}
	}
	got, news := Work(r, after(6))
	if !news || !got.Worked.Equal(after(6)) {
		t.Errorf("an instance after it: %+v, %v", got, news)
	}
	if got, news = Work(got, after(7)); news || !got.Worked.Equal(after(7)) {
		t.Errorf("another one: %+v, %v", got, news)
	}
}

// In whichever order calls come, late and twice, it is known in the end how long
// the run is, but for less than a Step.
func TestAnyOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		n := 1 + rng.IntN(12)
		var calls []float64
		for i := range n {
			calls = append(calls, float64(i)*rng.Float64()*5)
		}
		calls = append(calls, calls[:rng.IntN(n)]...)
		least, most := calls[0], calls[0]
		for _, c := range calls {
			least, most = min(least, c), max(most, c)
		}
		rng.Shuffle(len(calls), func(i, j int) { calls[i], calls[j] = calls[j], calls[i] })
		var have *snapshot.RefusedLaunch
		writes := 0
		for _, c := range calls {
			next, change := Take(have, run(forbidden, 0, c))
			if change != Nothing {
				have, writes = &next, writes+1
			}
		}
		if !have.First.Equal(after(least)) || after(most).Sub(have.Last) >= Step {
			t.Fatalf("calls %v: %s to %s", calls, have.First, have.Last)
		}
	}
}

// A storm is a write a minute.
func TestStormIsFewWrites(t *testing.T) {
	for _, class := range []checkid.ID{forbidden, shortage} {
		var have *snapshot.RefusedLaunch
		changes := map[Change]int{}
		for i := range 5000 {
			next, change := Take(have, run(class, 0, float64(i)*60/5000))
			changes[change]++
			have = &next
		}
		if diff := cmp.Diff(1, changes[Began]); diff != "" || changes[Goes] > 61 || changes[Earlier] > 0 {
			t.Errorf("%s: %v", class, changes)
		}
	}
}

func TestWhatPasses(t *testing.T) {
	for class, passes := range map[checkid.ID]bool{
		checkid.LaunchPolicyDenied: false, checkid.LaunchUnauthorized: false, checkid.LaunchKMSKey: false, checkid.LaunchAMI: false, checkid.LaunchTemplate: false,
		checkid.LaunchSecurityGroup: false, checkid.LaunchServiceRole: false, checkid.LaunchAccountValidation: false,
		checkid.LaunchInsufficientCapacity: true, checkid.LaunchSubnetFull: true, checkid.LaunchThrottled: true, checkid.LaunchProfile: true,
	} {
		if Passes(class) != passes {
			t.Errorf("%s: %v", class, !passes)
		}
	}
}
