package address_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"rollcall/shared/network/address"
	"rollcall/shared/snapshot"
	"rollcall/tools/expect"
	"rollcall/tools/testfull"
)

// monthsOfEach is how many subnets of a kind are played, a month of each. The thresholds were
// chosen with the seed 1; docs/runway.md is of seed 2, the test of 7.
var (
	monthsOfEach = flag.Int("runway.subnets", testfull.Count(4, 2), "subnets of each kind, as docs/runway.md has 150")
	monthsSeed   = flag.Uint64("runway.seed", 7, "seed of the subnets")
)

// A few months of each kind, held to bounds that leave room for how few they are: false
// alarms in a month of a subnet over all harmless kinds together, and how early clean leaks
// are reported. With 150 the bounds are those of the page.
func TestMonths(t *testing.T) {
	wrong, months := 0, 0.0
	for _, k := range harmless() {
		m := measure(t, k)
		wrong, months = wrong+m.wrong, months+m.months
		t.Logf("%-40s %.3f false alarms in a month of a subnet", m.name, m.perMonth(m.wrong))
	}
	most, least := 0.2, 0.0
	if *monthsOfEach >= 150 {
		most, least = 0.1, 0.99
	}
	t.Logf("%-40s %.3f", "all together", float64(wrong)/max(months, 1))
	if n := float64(wrong) / max(months, 1); n > most {
		t.Errorf("%.3f false alarms in a month of a subnet, want %.1f at most", n, most)
	}
	for _, k := range falling() {
		m := measure(t, k)
		early := m.slowly().warned(12 * time.Hour)
		n := float64(len(m.stories))
		t.Logf("%-40s %.1f %% said at all; median %s, 5th percentile %s; %.1f %% 1 h before, %.1f %% 4 h; of falls of a day and more %.1f %% of %d 12 h; too early %.2f, said again %.2f in a fall", m.name, 100*m.warned(1),
			span(m.lead(0.5)), span(m.lead(0.05)), 100*m.warned(time.Hour), 100*m.warned(4*time.Hour), 100*early, len(m.slowly().leads), float64(m.wrong)/n, float64(m.again)/n)
		switch {
		case m.clean && (early < least || *monthsOfEach < 150 && (m.warned(4*time.Hour) < 1 || m.again > 1)):
			t.Errorf("%s: %.2f are told 12 hours before, %.2f 4 hours, %d are told again", m.name, early, m.warned(4*time.Hour), m.again)
		case m.name == "leak, 4 to 24 hours" && m.warned(time.Hour) < 0.8:
			t.Errorf("%s: %.2f are told an hour before", m.name, m.warned(time.Hour))
		}
	}
}

// An alarm for nothing is counted, and one that comes true is not: the measure
// itself can fail.
func TestMeasureCounts(t *testing.T) {
	leak := kind{falls: true, shape: func(m *maker) {
		m.total = 1019
		m.fall(5*24*perHr, 1.0/40)
	}}
	s := month(leak, 1, 1)
	got, list := play(s)
	if got.wrong != 0 || got.warned != 1 || got.again != 0 || !got.fell || got.lead < 12*time.Hour || got.lead > 30*time.Hour {
		t.Errorf("a leak of 40 hours: %+v, %d warnings", got, len(list))
	}
	// The same until 6 hours before the end, and then for ever still.
	at := s.empty - 6*perHr
	for i := at; i < len(s.free); i++ {
		s.free[i] = s.free[at]
	}
	s.empty = -1
	if got, list = play(s); got.wrong != 1 || got.fell || len(list) != 1 {
		t.Errorf("a leak that stops: %+v, %d warnings", got, len(list))
	}
}

// harmless are subnets that are never empty.
func harmless() []kind {
	return []kind{
		{name: "daily wave", about: "pods come in the morning and go in the evening", shape: func(m *maker) {
			m.base(m.between(0.1, 0.4))
			m.wave(m.between(0.1, 0.55), 1)
		}},
		{name: "weekday wave", about: "the same, and on weekends a tenth of it", shape: func(m *maker) {
			m.base(m.between(0.1, 0.4))
			m.wave(m.between(0.1, 0.55), 0.1)
		}},
		{name: "steps", about: "deployments of 2 to 20 % up and down, one to twenty a week, each in up to half an hour", shape: steps},
		{name: "spikes", about: "one to ten a week, of 10 minutes at most, down to a few addresses", shape: func(m *maker) {
			m.base(m.between(0.1, 0.5))
			for range m.count(m.logUniform(1, 10)) {
				m.hold(m.rng.IntN(ticks), 1+m.rng.IntN(2), 0, m.between(0.2, 0.9))
			}
		}},
		{name: "batch jobs", about: "1 to 20 jobs a day that take 2 to 25 % for 20 minutes to 6 hours", shape: func(m *maker) {
			m.base(m.between(0.1, 0.35))
			m.batch(0.25)
		}},
		{name: "growth that ends", about: "10 to 50 % more is used after two to four weeks than before, on a daily wave", shape: func(m *maker) {
			m.base(m.between(0.1, 0.25))
			m.wave(m.between(0, 0.2), 1)
			grows, over := m.between(0.1, 0.5), m.between(14, 28)*24*float64(perHr)
			m.each(func(i int, _ float64) float64 { return grows * (1 - math.Exp(-3*float64(i)/over)) })
		}},
		{name: "cron bursts", about: "once or up to six times a day nearly all is used within 5 to 20 minutes, for up to an hour", shape: func(m *maker) {
			m.base(m.between(0.1, 0.4))
			every, ramp, length := 24*perHr/(1+m.rng.IntN(6)), m.rng.IntN(4), 2+m.rng.IntN(11)
			for at := m.rng.IntN(every); at < ticks; at += every {
				m.hold(at, length, ramp, m.between(0.4, 0.9))
			}
		}},
	}
}

// falling are subnets that are empty in the end.
func falling() []kind {
	list := []kind{
		{name: "fast fall", about: "a scale-up of 5 to 20 addresses a minute that goes on", falls: true, shape: func(m *maker) {
			m.base(m.between(0.1, 0.4))
			m.fall(m.starts(), m.between(5, 20)*60/float64(m.total)/0.7)
		}},
		{name: "leak, 4 to 24 hours", about: "from full to empty", falls: true, shape: func(m *maker) { m.leak(4, 24) }},
		{name: "leak, 1 to 4 days", falls: true, clean: true, about: "from full to empty", shape: func(m *maker) { m.leak(24, 96) }},
		{name: "leak, 4 to 20 days", falls: true, clean: true, about: "from full to empty", shape: func(m *maker) { m.leak(96, 480) }},
		{name: "leak, 2 to 20 days, on a daily wave", falls: true, about: "the wave takes up to a third", shape: func(m *maker) {
			m.wave(m.between(0.1, 0.35), 1)
			m.leak(48, 480)
		}},
		{name: "leak, 2 to 20 days, on a weekday wave", falls: true, about: "the same with quiet weekends", shape: func(m *maker) {
			m.wave(m.between(0.1, 0.35), 0.1)
			m.leak(48, 480)
		}},
		{name: "leak, 2 to 20 days, among batch jobs", falls: true, about: "up to 20 jobs a day of up to 10 %", shape: func(m *maker) {
			m.batch(0.1)
			m.leak(48, 480)
		}},
		{name: "leak in a new subnet", falls: true, about: "a day to ten; it begins within two days of the first look", shape: func(m *maker) {
			m.base(m.between(0.05, 0.5))
			m.fall(m.rng.IntN(2*24*perHr), 1/m.logUniform(24, 240))
		}},
	}
	return list
}

// starts is when a fall begins: two days after the first look or later.
func (m *maker) starts() int { return 24*perHr*2 + m.rng.IntN(24*perHr*8) }

// count draws how many of a number a week there are in a month.
func (m *maker) count(weekly float64) int {
	n := 0
	for t := m.rng.ExpFloat64(); t < weekly*30/7; t += m.rng.ExpFloat64() {
		n++
	}
	return n
}

func steps(m *maker) {
	level := m.between(0.2, 0.6)
	m.base(0)
	weekly := m.logUniform(1, 20)
	next, target, ramp := 0.0, level, 0.0
	m.each(func(i int, _ float64) float64 {
		if float64(i) >= next {
			next = float64(i) + m.rng.ExpFloat64()*7*24*float64(perHr)/weekly
			size := m.between(0.02, 0.2)
			if m.rng.Float64() < 0.5 {
				size = -size
			}
			target = min(max(target+size, 0.1), m.most-0.02)
			ramp = math.Abs(target-level) / float64(1+m.rng.IntN(6))
		}
		level += min(max(target-level, -ramp), ramp)
		return level
	})
}

func (m *maker) batch(largest float64) {
	daily := m.logUniform(1, 20)
	for range m.count(7 * daily) {
		m.hold(m.rng.IntN(ticks), 4+m.rng.IntN(68), m.rng.IntN(6), m.between(0.02, largest))
	}
}

// leak takes all that is free in that many hours, from some day on.
func (m *maker) leak(least, most float64) {
	m.base(m.between(0.05, 0.5))
	m.fall(m.starts(), 1/m.logUniform(least, most))
}

// fall loses a share of what is free at a time in each hour from then on, one
// node's addresses at a time. The share is of what is usually free.
func (m *maker) fall(at int, hourly float64) {
	m.from = at
	most := 0.0
	for i := range ticks {
		most = max(most, m.used[i])
	}
	hourly *= 1 - min(most, 0.9)
	lost, due := 0.0, 0.0
	for i := at; i < ticks; i++ {
		due += hourly / float64(perHr) * m.rng.ExpFloat64()
		if due >= 1.0/float64(m.total) {
			lost, due = lost+due, 0
		}
		m.used[i] += lost
	}
}

const horizon = 24 * time.Hour

// story is what one month came to.
type story struct {
	looks int
	// false alarms, warnings in all, and how often one came again in one fall.
	wrong, warned, again int
	// fell reports whether it was empty, took how long that took, lead how long before
	// it was warned, 0 if not.
	fell       bool
	took, lead time.Duration
	months     float64
}

// episode is a warning from its first look to its last.
type episode struct {
	from, until int
	end         int // when it said that the subnet is empty at the latest: twice the time that it gave
	runway      address.Runway
}

// play looks at a month every five minutes, as subnet-watch does.
func play(s *subnet) (story, []episode) {
	var w address.Series
	var list []episode
	on := false
	last := len(s.free)
	if s.empty >= 0 {
		last = s.empty
	}
	out := story{months: float64(last) / ticks}
	for i := range last {
		if !s.seen[i] {
			continue
		}
		now := s.tickTime(i)
		w.Add(s.sample(i))
		r, warn := w.Warn(need, horizon, now)
		out.looks++
		if warn && !on {
			list = append(list, episode{from: i, end: i + 2*int(r.Empty.Sub(now)/tick) + 1, runway: r})
		}
		if on = warn; on {
			list[len(list)-1].until = i
		}
	}
	out.warned = len(list)
	for _, e := range list {
		if s.empty < 0 && e.end < len(s.free) || s.empty >= 0 && e.end < s.empty {
			out.wrong++
		}
	}
	if s.empty < 0 || s.from < 0 || s.empty < s.from {
		return out, list
	}
	out.fell, out.took = true, time.Duration(s.empty-s.from)*tick
	for _, e := range list {
		// What warned before the fall is no warning of it, unless it lasted.
		if e.until < s.from {
			continue
		}
		if out.lead == 0 {
			out.lead = time.Duration(s.empty-max(e.from, s.from)) * tick
			continue
		}
		out.again++
	}
	return out, list
}

// measured is what one kind came to.
type measured struct {
	kind
	stories []story
	leads   []time.Duration // sorted, of those that were empty
	months  float64
	wrong   int
	again   int
	looks   int
}

func measure(t *testing.T, k kind) measured {
	m := measured{kind: k, stories: make([]story, *monthsOfEach)}
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range m.stories {
		g.Go(func() error {
			m.stories[i], _ = play(month(k, *monthsSeed, uint64(i)))
			return t.Context().Err()
		})
	}
	expect.OK(t, g.Wait())
	for _, s := range m.stories {
		m.months += s.months
		m.wrong += s.wrong
		m.looks += s.looks
		m.again += s.again
		if s.fell {
			m.leads = append(m.leads, s.lead)
		}
	}
	slices.Sort(m.leads)
	return m
}

// slowly are the subnets of a kind that took more than a day to be empty.
func (m measured) slowly() measured {
	var slow measured
	for _, s := range m.stories {
		if s.fell && s.took >= 24*time.Hour {
			slow.leads = append(slow.leads, s.lead)
		}
	}
	slices.Sort(slow.leads)
	return slow
}

// lead is how long before it was empty a share of the subnets had been warned.
func (m measured) lead(share float64) time.Duration {
	if len(m.leads) == 0 {
		return 0
	}
	return m.leads[int(share*float64(len(m.leads)-1))]
}

// warned is the share that was warned so long before.
func (m measured) warned(before time.Duration) float64 {
	if len(m.leads) == 0 {
		return 0
	}
	i, _ := slices.BinarySearch(m.leads, before)
	return float64(len(m.leads)-i) / float64(len(m.leads))
}

// perMonth is how many of something there are in a month of a subnet.
func (m measured) perMonth(n int) float64 { return float64(n) / max(m.months, 1) }

func span(d time.Duration) string {
	if d < 2*time.Hour {
		return fmt.Sprintf("%d min", int(d.Minutes()))
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}

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

func (s *subnet) tickTime(i int) time.Time { return s.start.Add(time.Duration(i) * tick) }

func (s *subnet) sample(i int) snapshot.Sample {
	return snapshot.Sample{Subnet: "subnet-1", At: s.tickTime(i), Free: s.free[i], Total: s.total}
}

// kind is a kind of subnets.
type kind struct {
	name, about string
	// shape adds to a month what is used of a subnet, as a share of it.
	shape func(*maker)
	// falls reports whether it is empty in the end; else its use never reaches the end.
	falls bool
	// clean falls have nothing on top of them: for those a bound holds.
	clean bool
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
	// Twice a month no reading is taken for some hours.
	for range 2 {
		from := m.rng.IntN(ticks)
		for i := from; i < min(from+m.rng.IntN(6*perHr), ticks); i++ {
			s.seen[i] = false
		}
	}
	return s
}

func (m *maker) between(a, b float64) float64 { return a + (b-a)*m.rng.Float64() }

// logUniform is a number between two, those of each size as likely.
func (m *maker) logUniform(a, b float64) float64 { return a * math.Pow(b/a, m.rng.Float64()) }

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
