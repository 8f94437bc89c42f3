package sweep

import (
	"hash/fnv"
	"slices"
	"time"

	"rollcall/shared/bus"
	"rollcall/shared/spoke"
)

// spreadOver is over how much of a tick the clusters' turns are spread, in hundredths: the
// rest is for those that take longer, before the next tick begins.
const spreadOver = 80

// spread gives each cluster of a tick its turn: in the order of their names, evenly, so
// that a cluster's turns are a tick apart as long as the clusters are the same. The phase,
// from 0 up to 1, is by how much of the distance between two they begin later.
func spread(clusters []string, phase float64, account, region string, tick time.Time, every time.Duration) []bus.Sweep {
	names := slices.Clone(clusters)
	slices.Sort(names)
	names = slices.Compact(names)
	list := make([]bus.Sweep, len(names))
	for i, name := range names {
		offset := time.Duration(float64(every) * spreadOver / 100 * (float64(i) + phase) / float64(len(names)))
		list[i] = bus.Sweep{Cluster: name, Account: account, Region: region, Due: tick.Add(offset.Truncate(time.Second))}
	}
	return list
}

// phase is a spoke's: each has its clusters begin at another time, or all would at once.
func phase(of spoke.ID) float64 {
	if of.Hub() {
		return 0
	}
	h := fnv.New32a()
	h.Write([]byte(of.String()))
	return float64(h.Sum32()) / (1 << 32)
}

// late tells a turn whose successor has come: what it would see that sees, and turns that
// nobody takes in time must not pile up.
func late(due, now time.Time, every time.Duration) bool { return now.Sub(due) >= every }
