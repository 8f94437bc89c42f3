package spotreport

import (
	"cmp"
	"slices"
	"time"

	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// fewestJoins is how many nodes of a pool must have joined before its time is
// told: of fewer the middle is chance.
const fewestJoins = 5

// slowest is the Spot pool whose nodes took longest to join; nil where no pool
// has enough of them.
func slowest(past []snapshot.Past, from, to time.Time) *report.Slowest {
	type pool struct{ kind, zone string }
	times := map[pool][]time.Duration{}
	for _, p := range past {
		if d, ok := p.Joining(); ok && p.Spot && p.Type != "" && !p.Started.Before(from) && p.Started.Before(to) {
			times[pool{p.Type, p.Zone}] = append(times[pool{p.Type, p.Zone}], d)
		}
	}
	var all []report.Slowest
	for p, list := range times {
		if len(list) >= fewestJoins {
			slices.Sort(list)
			all = append(all, report.Slowest{Type: p.kind, Zone: p.zone, Median: list[len(list)/2], Joined: len(list)})
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b report.Slowest) int {
		return cmp.Or(cmp.Compare(b.Median, a.Median), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Zone, b.Zone))
	})
	return &all[0]
}
