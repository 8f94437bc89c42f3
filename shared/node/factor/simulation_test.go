package factor

import (
	"flag"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"rollcall/local/testfull"
)

// make factor plays all histories of docs/factor.md, which takes ten minutes of a core.
var allHistories = flag.Bool("factor.all", false, "play all histories, as docs/factor.md has them")

// histories is how many of a kind are played.
func histories(all, full, smaller int) int {
	if *allHistories {
		return all
	}
	return testfull.Of(full, smaller)
}

func healthyKinds() []kindOfHistory {
	return []kindOfHistory{
		{name: "failures by chance, one nodegroup", groups: 1, bursts: 6, size: 2},
		{name: "failures by chance, six nodegroups", groups: 6, bursts: 16, size: 3},
		{name: "hours in which most fail", groups: 3, bursts: 10, size: 3, hours: 0.3},
		{name: "bursts that fail together", groups: 3, bursts: 10, size: 3, fates: 0.04},
		{name: "all of it", groups: 4, bursts: 12, size: 3, hours: 0.3, fates: 0.02},
	}
}

func badKinds() []kindOfHistory {
	var list []kindOfHistory
	for _, k := range []kindOfHistory{
		{name: "AMI of one of four nodegroups", groups: 4, bad: AMI, rate: 1},
		{name: "AMI of the only nodegroup", groups: 1, bad: AMI, rate: 1},
		{name: "template version of one of four", groups: 4, bad: Template, rate: 1},
		{name: "family", groups: 4, bad: Family, rate: 1},
		{name: "family, every second launch fails", groups: 4, bad: Family, rate: 0.5},
	} {
		k.bursts, k.size = 16*float64(k.groups), 3
		list = append(list, k)
	}
	return list
}

// playAll plays a number of histories of a kind.
func playAll(k kindOfHistory, n int, seed uint64) []story {
	list := make([]story, n)
	var next atomic.Int64
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				list[i] = play(k, seed, uint64(i))
			}
		})
	}
	wait.Wait()
	return list
}

// No healthy value is accused in 10,000 histories of 90 days, 2,000 of each kind
// (make factor); make test-full plays a tenth of them. What each rule keeps out is held
// in judge_test.go; the smallest number shows that the histories are played.
func TestHealthyAreNotAccused(t *testing.T) {
	n := histories(2000, 200, 6)
	for _, k := range healthyKinds() {
		accused, launches, looks := 0, 0, 0
		for i, s := range playAll(k, n, 7) {
			launches, looks = launches+s.launches, looks+s.looks
			if s.accused != nil {
				accused++
				t.Errorf("%s, history %d: accuses %v", k.name, i, s.accused)
			}
		}
		t.Logf("%-40s %d of %d accuse; %d launches and %d looks each", k.name, accused, n, launches/n, looks/n)
	}
}

// What is wrong is named, soon. The smaller number still shows a value that
// is never named.
func TestBadAreNamed(t *testing.T) {
	n := histories(400, 40, 6)
	for _, k := range badKinds() {
		var launches []int
		var waits []time.Duration
		accused := 0
		for i, s := range playAll(k, n, 11) {
			if s.accused != nil {
				accused++
				t.Logf("%s, history %d: accuses %v", k.name, i, s.accused)
			}
			if s.after > 0 {
				launches, waits = append(launches, s.after), append(waits, s.wait)
			}
		}
		slices.Sort(launches)
		slices.Sort(waits)
		if len(launches) < n*9/10 {
			t.Errorf("%s: named in %d of %d", k.name, len(launches), n)
			continue
		}
		at := func(share float64) string {
			i := int(share * float64(len(launches)-1))
			return fmt.Sprintf("%d launches, %s", launches[i], waits[i].Round(time.Minute))
		}
		t.Logf("%-40s named in %d of %d: median %s; nine of ten %s; others accused in %d", k.name, len(launches), n, at(0.5), at(0.9), accused)
	}
}
