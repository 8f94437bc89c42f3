package main

import (
	"math"
	"math/rand/v2"
	"time"

	"rollcall/shared/snapshot"
)

const (
	tick  = 5 * time.Minute
	ticks = 30 * 24 * 12 // a month
	need  = 10           // what one more m5.large takes at start
	perHr = int(time.Hour / tick)
)

// subnet is one month of one subnet: what it has free every five minutes.
type subnet struct {
	total int
	free  []int
	seen  []bool // whether anybody looked
	// from is when the fall that ends at empty began, empty when it had no more
	// than need; both -1 where it never is.
	from, empty int
	start       time.Time
}

func (s *subnet) at(i int) time.Time { return s.start.Add(time.Duration(i) * tick) }

func (s *subnet) sample(i int) snapshot.Sample {
	return snapshot.Sample{Subnet: "subnet-1", At: s.at(i), Free: s.free[i], Total: s.total}
}

// kind is a kind of subnets.
type kind struct {
	name, about string
	// shape adds to a month what is used of a subnet, as a share of it.
	shape func(*maker)
	// falls tells that it is empty in the end; else its use never reaches the end.
	falls bool
	// clean falls have nothing on top of them: for those a bound holds.
	clean bool
	// example kinds are drawn on the page.
	example bool
}

// maker makes a month.
type maker struct {
	rng   *rand.Rand
	used  [ticks]float64 // share
	total int
	from  int     // when a fall begins
	most  float64 // no use is above, where nothing falls
	start time.Time
}

// month is the subnet of that number of a kind.
func month(k kind, seed, number uint64) *subnet {
	m := &maker{rng: rand.New(rand.NewPCG(seed, number)), from: -1}
	m.total = []int{123, 251, 507, 1019, 4091}[m.rng.IntN(5)]
	m.start = time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(m.rng.IntN(14*24)) * time.Hour)
	// Something is left in the end: an m5.large fits twice at least.
	m.most = 1 - max(m.between(0.03, 0.15), 2*float64(need)/float64(m.total))
	k.shape(m)
	s := &subnet{total: m.total, free: make([]int, ticks), seen: make([]bool, ticks), from: m.from, empty: -1, start: m.start}
	for i := range ticks {
		use := max(m.used[i], 0)
		if !k.falls {
			use = min(use, m.most)
		}
		s.free[i] = max(m.total-int(math.Round(use*float64(m.total))), 0)
		s.seen[i] = m.rng.Float64() >= 0.01
		if s.empty < 0 && s.free[i] <= need && i > 0 {
			s.empty = i
		}
	}
	// Twice a month nobody looks for some hours.
	for range 2 {
		from := m.rng.IntN(ticks)
		for i := from; i < min(from+m.rng.IntN(6*perHr), ticks); i++ {
			s.seen[i] = false
		}
	}
	return s
}

func (m *maker) between(a, b float64) float64 { return a + (b-a)*m.rng.Float64() }

// about is a number between two, those of each size as likely.
func (m *maker) about(a, b float64) float64 { return a * math.Pow(b/a, m.rng.Float64()) }

func (m *maker) each(f func(i int, hour float64) float64) {
	for i := range ticks {
		m.used[i] += f(i, m.start.Sub(time.Unix(0, 0)).Hours()+float64(i)/float64(perHr))
	}
}

// base is what is always used, and the noise of a few pods that come and go.
func (m *maker) base(share float64) {
	noise, left := 0.0, 0
	size := m.between(0, 0.01)
	m.each(func(int, float64) float64 {
		if left--; left < 0 {
			noise, left = size*m.rng.NormFloat64(), m.rng.IntN(6)
		}
		return share + noise
	})
}

// hold adds a use from a tick on, for some ticks, that takes some to begin and
// to end.
func (m *maker) hold(at, length, ramp int, share float64) {
	for i := max(at, 0); i < min(at+length+2*ramp, ticks); i++ {
		up := min(float64(i-at+1)/float64(ramp+1), 1)
		down := min(float64(at+length+2*ramp-i)/float64(ramp+1), 1)
		m.used[i] += share * min(up, down)
	}
}

// wave adds the use of the day, up to a share: pods that come in the morning and
// go in the evening. On weekends a part of it.
func (m *maker) wave(share, weekend float64) {
	morning, evening := m.between(5, 10), m.between(16, 22)
	rise, decline := m.between(0.5, 4), m.between(0.5, 4)
	round := m.rng.Float64() < 0.5
	today, jitter, day := 1.0, 0.0, -1
	m.each(func(_ int, hour float64) float64 {
		if d := int(hour / 24); d != day {
			day, today, jitter = d, 1+0.04*m.rng.NormFloat64(), 0.25*m.rng.NormFloat64()
		}
		h := math.Mod(hour, 24)
		level := min(1/(1+math.Exp(-4*(h-morning-jitter)/rise)), 1/(1+math.Exp(4*(h-evening-jitter)/decline)))
		if round {
			level = 0.5 - 0.5*math.Cos((h-morning+6)*math.Pi/12)
		}
		// The first of August 2026 is a Saturday; 1 January 1970 was a Thursday.
		if weekday := (day + 4) % 7; weekday == 0 || weekday == 6 {
			return share * level * today * weekend
		}
		return share * level * today
	})
}
