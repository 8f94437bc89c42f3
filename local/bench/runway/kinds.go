package main

import "math"

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
			for range m.count(m.about(1, 10)) {
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
		{name: "leak, 2 to 20 days, on a daily wave", falls: true, example: true, about: "the wave takes up to a third", shape: func(m *maker) {
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
			m.fall(m.rng.IntN(2*24*perHr), 1/m.about(24, 240))
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
	weekly := m.about(1, 20)
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
	daily := m.about(1, 20)
	for range m.count(7 * daily) {
		m.hold(m.rng.IntN(ticks), 4+m.rng.IntN(68), m.rng.IntN(6), m.between(0.02, largest))
	}
}

// leak takes all that is free in that many hours, from some day on.
func (m *maker) leak(least, most float64) {
	m.base(m.between(0.05, 0.5))
	m.fall(m.starts(), 1/m.about(least, most))
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
