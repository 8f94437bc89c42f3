package spot

import (
	"cmp"
	"slices"

	"rollcall/shared/snapshot"
)

// pools are the launches by type, zone and kind, and what the test says of
// those of Spot.
func pools(in Input) []Pool {
	type key struct {
		Place
		spot bool
	}
	index := map[key]int{}
	var list []Pool
	causes := map[key]map[string]int{}
	groups := map[key]map[string]bool{}
	var w Watch
	for _, p := range in.History {
		k := key{Place{p.Type, p.Zone}, p.Spot}
		i, known := index[k]
		if !known {
			i = len(list)
			index[k], causes[k], groups[k] = i, map[string]int{}, map[string]bool{}
			list = append(list, Pool{Type: p.Type, Zone: p.Zone, Spot: p.Spot, High: 1, P: 1})
		}
		pool := &list[i]
		pool.add(p)
		groups[k][cmp.Or(p.Nodegroup, p.Group)] = true
		if failure(p) {
			causes[k][causeOf(p)]++
		}
		if p.Started.After(pool.Last) {
			pool.Last = p.Started
		}
		switch l := labelOf(p); {
		case l.failed:
			pool.Streak = 0
		case l.judged:
			pool.Streak++
		}
		w.Add(p)
	}
	for k, i := range index {
		for name := range groups[k] {
			list[i].Nodegroups = append(list[i].Nodegroups, name)
		}
		slices.Sort(list[i].Nodegroups)
		list[i].Causes = frequent(causes[k])
	}
	for _, st := range w.Look(in.From) {
		pool := &list[index[key{st.Place, true}]]
		pool.Judged, pool.Failed, pool.Rest, pool.RestFailed = st.Judged, st.Failed, st.Rest, st.RestFailed
		pool.Low, pool.High, pool.P, pool.Failing = st.Low, st.High, st.P, st.Failing
	}
	slices.SortStableFunc(list, worse)
	return list
}

// worse sorts pools: Spot first, those that do worst first.
func worse(a, b Pool) int {
	lost := func(p Pool) float64 {
		if p.Launched == 0 {
			return 0
		}
		return float64(p.Reclaimed+p.NotJoined) / float64(p.Launched)
	}
	return cmp.Or(
		first(a.Spot, b.Spot), first(a.Failing, b.Failing),
		cmp.Compare(lost(b), lost(a)), cmp.Compare(b.Refused, a.Refused), cmp.Compare(b.Requested, a.Requested),
		cmp.Compare(a.Type, b.Type), cmp.Compare(a.Zone, b.Zone),
	)
}

// first sorts what is before what is not.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// causeOf is what a launch that failed is counted under: the check that named
// its cause, else its end.
func causeOf(p snapshot.Past) string {
	if p.End == snapshot.Reclaimed {
		return string(snapshot.Reclaimed)
	}
	return cmp.Or(string(p.Cause), string(p.End))
}

// frequent are the causes, most frequent first.
func frequent(of map[string]int) []Cause {
	var list []Cause
	for name, n := range of {
		list = append(list, Cause{name, n})
	}
	slices.SortFunc(list, func(a, b Cause) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// Name is how people write a pool: "c5.large in us-west-2b".
func (p Pool) Name() string {
	return cmp.Or(p.Type, "launches of which the type is not known") + " in " + cmp.Or(p.Zone, "a zone that is not known")
}

// Key is how records name it: "c5.large/us-west-2b".
func (p Pool) Key() string { return p.Type + "/" + p.Zone }
