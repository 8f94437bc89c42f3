package sweep

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/bus"
	"rollcall/shared/spoke"
)

const every = 5 * time.Minute

func TestSpread(t *testing.T) {
	tick := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	due := func(name string, after time.Duration) bus.Sweep {
		return bus.Sweep{Cluster: name, Account: "111122223333", Region: "eu-west-1", Due: tick.Add(after)}
	}
	for name, test := range map[string]struct {
		clusters []string
		want     []bus.Sweep
	}{
		"none":                           {nil, []bus.Sweep{}},
		"one, at once":                   {[]string{"prod"}, []bus.Sweep{due("prod", 0)}},
		"by name, whatever the order":    {[]string{"c", "a", "d", "b"}, []bus.Sweep{due("a", 0), due("b", time.Minute), due("c", 2*time.Minute), due("d", 3*time.Minute)}},
		"one that is named twice is one": {[]string{"b", "a", "b"}, []bus.Sweep{due("a", 0), due("b", 2*time.Minute)}},
	} {
		if diff := cmp.Diff(test.want, spread(test.clusters, 0, "111122223333", "eu-west-1", tick, every)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// However many, they end before the tick does, and no second has more than its share.
func TestSpreadIsEven(t *testing.T) {
	for _, n := range []int{7, 100, 1000} {
		var names []string
		for i := range n {
			names = append(names, fmt.Sprintf("c%04d", i))
		}
		tick := time.Unix(0, 0)
		list := spread(names, 0, "1", "r", tick, every)
		bySecond := map[time.Time]int{}
		for _, s := range list {
			bySecond[s.Due]++
		}
		if last := list[n-1].Due.Sub(tick); last >= 4*time.Minute || last < 3*time.Minute {
			t.Errorf("%d clusters: the last is due after %s, want within 80 of 100", n, last)
		}
		for at, k := range bySecond {
			if most := n/240 + 1; k > most {
				t.Errorf("%d clusters: %d are due %s after the tick, want %d at most", n, k, at.Sub(tick), most)
			}
		}
	}
}

// Spokes of one cluster each do not all begin at once, and none ends late.
func TestSpokesHavePhases(t *testing.T) {
	tick := time.Unix(0, 0)
	byMinute := [4]int{}
	for i := range 100 {
		of := spoke.ID{Account: fmt.Sprintf("%012d", i), Region: "eu-west-1"}
		due := spread([]string{"prod"}, phase(of), "1", "r", tick, every)[0].Due.Sub(tick)
		if due < 0 || due >= 4*time.Minute {
			t.Fatalf("%s is due after %s", of, due)
		}
		byMinute[due/time.Minute]++
	}
	for minute, n := range byMinute {
		if n < 10 || n > 45 {
			t.Errorf("minute %d: %d of 100", minute, n)
		}
	}
	if phase(spoke.ID{}) != 0 {
		t.Error("the hub's own do not begin at once")
	}
}

func TestLate(t *testing.T) {
	due := time.Unix(0, 0)
	for after, want := range map[time.Duration]bool{-time.Second: false, 0: false, every - time.Second: false, every: true, time.Hour: true} {
		if got := late(due, due.Add(after), every); got != want {
			t.Errorf("%s after it was due: late %t, want %t", after, got, want)
		}
	}
}
