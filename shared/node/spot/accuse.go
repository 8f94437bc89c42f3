package spot

import (
	"cmp"
	"slices"
	"time"

	"rollcall/shared/node/exact"
)

// The bound on false accusations. In a history of 90 days, at which somebody
// looks every hour, the chance that any healthy pool is ever accused is at most
// chance: it is divided by the number of looks (Bonferroni: that holds however
// the looks hang together, and whatever window each looks at), by the two
// comparisons, and by the number of pools (Holm). A window of 7 days keeps what
// was repaired from being held against a pool for longer.
const (
	chance = 0.01
	looks  = 90 * 24
	// Window is how far back launches count against a pool.
	Window = 7 * 24 * time.Hour
)

// What a pool must have beside, to be accused: launches, failures, and a loss
// that matters. A thousand launches show a difference of one in a hundred,
// for which nobody would give up a pool.
const (
	fewestLaunches = 5
	fewestFailures = 3
	leastLoss      = 0.1
)

// Place names a pool of Spot capacity.
type Place struct{ Type, Zone string }

// PoolResult is how a pool does in the window.
type PoolResult struct {
	Place
	Judged, Failed int
	// Rest and RestFailed are the launches of the other pools of its nodegroups.
	Rest, RestFailed int
	// Low and High bound the share that joins, 95 %.
	Low, High float64
	// Plain is the chance of doing as badly by chance, in one look at one pool;
	// P is Plain after the correction for all pools and looks. Both are 1 where
	// there was nothing to compare it with.
	Plain, P float64
	// Units is how many of its launches, drawn one each half hour, there was
	// something to compare with.
	Units   int
	Failing bool
}

// Look tells how the pools stand, worst first.
func (w *Watch) Look(from time.Time) []PoolResult {
	w.dropBefore(from)
	if len(w.places) == 0 {
		return nil
	}
	list := make([]PoolResult, len(w.places))
	var strata [comparisons][][]exact.Stratum
	var failed [comparisons][]int
	for c := range comparisons {
		strata[c], failed[c] = make([][]exact.Stratum, len(list)), make([]int, len(list))
	}
	for _, s := range w.spells {
		for c := range comparisons {
			for _, u := range s.units[c] {
				strata[c][u.pool] = append(strata[c][u.pool], u.of)
				failed[c][u.pool] += u.failed
			}
		}
	}
	w.count(list)
	tested := 0
	for i := range list {
		st := &list[i]
		st.Place, st.Plain, st.P = w.places[i], 1, 1
		st.Low, st.High = exact.Interval(st.Judged-st.Failed, st.Judged)
		if st.Judged < fewestLaunches {
			continue
		}
		tested++
		for c := range comparisons {
			drawn := 0
			for _, s := range strata[c][i] {
				drawn += s.Drawn
			}
			st.Units = max(st.Units, drawn)
			st.Plain = min(st.Plain, comparisons*exact.Tail(strata[c][i], failed[c][i]))
		}
	}
	slices.SortStableFunc(list, func(a, b PoolResult) int {
		return cmp.Or(cmp.Compare(a.Plain, b.Plain), cmp.Compare(a.High, b.High), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Zone, b.Zone))
	})
	holm(list, tested)
	return list
}

// holm corrects for the number of pools and looks, and accuses. The list is
// sorted by Plain.
func holm(list []PoolResult, tested int) {
	worst := 0.0
	for i := range list {
		st := &list[i]
		if st.Judged < fewestLaunches {
			continue
		}
		worst = max(worst, min(1, st.Plain*float64(max(1, tested-i))*looks))
		st.P = worst
		rest := 1 - float64(st.RestFailed)/float64(max(1, st.Rest))
		loss := float64(st.Failed) / float64(st.Judged)
		st.Failing = st.P <= chance && st.Failed >= fewestFailures && loss >= leastLoss && st.High < rest
	}
}

// count counts the launches of each pool, and of the others of its nodegroups.
func (w *Watch) count(list []PoolResult) {
	type tally struct{ judged, failed int }
	groups := make([]tally, len(w.groups))
	type corner struct{ pool, group int }
	corners := map[corner]tally{}
	for _, s := range w.spells {
		for _, t := range s.trials {
			if !t.judged {
				continue
			}
			at := corner{pool: t.pool, group: t.group}
			add, own := &groups[t.group], corners[at]
			add.judged, own.judged = add.judged+1, own.judged+1
			if t.failed {
				add.failed, own.failed = add.failed+1, own.failed+1
			}
			corners[at] = own
		}
	}
	for at, own := range corners {
		st := &list[at.pool]
		st.Judged, st.Failed = st.Judged+own.judged, st.Failed+own.failed
		st.Rest, st.RestFailed = st.Rest+groups[at.group].judged-own.judged, st.RestFailed+groups[at.group].failed-own.failed
	}
}
