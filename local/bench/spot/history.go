package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/snapshot"
)

// days is how long a history is: that of the bound in package spot.
const days = 90

// healthy is the share of launches that join where nothing is wrong.
const healthy = 0.98

// scenario is a kind of history.
type scenario struct {
	name  string
	about string
	types int
	zones int
	// bursts is how many bursts there are each day, size the mean number of
	// launches in one.
	bursts, size float64
	// together is the chance that all launches of a pool in a burst share one
	// fate, full that the later launches of a burst in a subnet all fail.
	together, full float64
	// zone is a zone that does not work for two days of each nine, named the
	// chance that a check says why.
	zone  bool
	named float64
	// hours tells that there are hours in which most launches fail.
	hours bool
	// joins is the share of the first pool's launches that join, if it is
	// faulty, and taken the share of the others that EC2 takes back.
	faulty bool
	joins  float64
	taken  float64
}

// history makes the launches of a history, one day after another.
type history struct {
	scenario
	rng   *rand.Rand
	start time.Time
	count int
	ids   []string
	types []string
	zones []string
	// blamed is the type whose pool in the first zone is to be found.
	blamed string
	// subnets are those of each nodegroup, one in each zone.
	groups  [2]string
	subnets [2][]string
	// list and order are a day's launches, and pointers to them by time.
	list  []snapshot.Past
	order []*snapshot.Past
	// bad are the hours of the day in which most launches fail.
	bad [24]bool
}

// newHistory is the history of that number. The ids are shared by all.
func newHistory(s scenario, ids []string, seed, number uint64) *history {
	h := &history{
		scenario: s, ids: ids, rng: rand.New(rand.NewPCG(seed, number)), start: time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC),
		groups: [2]string{"workers-a", "workers-b"},
	}
	h.count = h.rng.IntN(len(ids))
	for i := range s.types {
		h.types = append(h.types, "m"+strconv.Itoa(i)+".large")
	}
	h.blamed = h.types[0]
	for i := range s.zones {
		h.zones = append(h.zones, "us-west-2"+string(rune('a'+i)))
		for g := range h.groups {
			h.subnets[g] = append(h.subnets[g], h.groups[g]+h.zones[i])
		}
	}
	return h
}

// day is the launches of a day, oldest first. They are overwritten by the next.
func (h *history) day(n int) []*snapshot.Past {
	h.bad = [24]bool{}
	if h.hours && h.rng.Float64() < 0.3 {
		from := h.rng.IntN(22)
		h.bad[from], h.bad[from+1] = true, h.rng.Float64() < 0.5
	}
	h.list, h.order = h.list[:0], h.order[:0]
	midnight := h.start.AddDate(0, 0, n)
	for range h.poisson(h.bursts) {
		h.burst(n, midnight.Add(time.Duration(h.rng.Int64N(int64(24*time.Hour)))))
	}
	for i := range h.list {
		h.order = append(h.order, &h.list[i])
	}
	slices.SortStableFunc(h.order, func(a, b *snapshot.Past) int { return a.Started.Compare(b.Started) })
	return h.order
}

// burst adds the launches of a burst: of one of two nodegroups, in turn over
// the zones, most of a zone in the type that is easiest to have there just
// then, within up to ten minutes.
func (h *history) burst(day int, at time.Time) {
	group := h.rng.IntN(2)
	size := 1 + h.poisson(h.size-1)
	length := time.Duration(h.rng.Int64N(int64(10 * time.Minute)))
	easiest := make([]int, len(h.zones))
	for i := range easiest {
		easiest[i] = h.rng.IntN(len(h.types))
	}
	fates := map[int]bool{} // by pool: whether all fail
	full := -1
	if h.rng.Float64() < h.full {
		full = h.rng.IntN(len(h.zones))
	}
	first := h.rng.IntN(len(h.zones))
	for i := range size {
		zone := (first + i) % len(h.zones)
		kind := easiest[zone]
		if h.rng.Float64() < 0.4 {
			kind = h.rng.IntN(len(h.types))
		}
		began := at.Add(length * time.Duration(i) / time.Duration(size))
		p := snapshot.Past{
			ID: h.ids[h.count%len(h.ids)], Nodegroup: h.groups[group], Type: h.types[kind], Zone: h.zones[zone], Subnet: h.subnets[group][zone], Spot: true,
			Started: began, End: snapshot.Joined, Ready: began.Add(time.Minute),
		}
		h.count++
		pool := kind*len(h.zones) + zone
		if _, cast := fates[pool]; !cast {
			fates[pool] = h.rng.Float64() < h.together
		}
		h.decide(&p, day, pool, fates[pool] || full == zone && i >= size/2)
		h.list = append(h.list, p)
	}
}

// decide casts how a launch ends.
func (h *history) decide(p *snapshot.Past, day, pool int, doomed bool) {
	joins, taken := healthy, 0.5
	switch {
	case h.faulty && pool == 0:
		joins, taken = h.joins, h.taken
	case doomed:
		joins = 0
	case h.hours && h.bad[p.Started.Hour()]:
		joins, taken = 0.3, 0
	case h.scenario.zone && day%9 < 2 && p.Zone == h.zones[day/9%len(h.zones)]:
		joins, taken = 0.05, 0
		if h.rng.Float64() < h.named {
			p.Cause = checkid.RouteNoEgress
		}
	}
	switch {
	case h.rng.Float64() < joins:
		p.Cause = ""
	case h.rng.Float64() < taken:
		p.End, p.Cause, p.Ready = snapshot.Reclaimed, "", time.Time{}
		p.Noticed = p.Started.Add(time.Minute)
	default:
		p.End, p.Ready = snapshot.NotJoined, time.Time{}
	}
}

// poisson draws from a Poisson distribution with a small mean (Knuth).
func (h *history) poisson(mean float64) int {
	n, product, limit := 0, h.rng.Float64(), math.Exp(-mean)
	for product > limit {
		n++
		product *= h.rng.Float64()
	}
	return n
}
