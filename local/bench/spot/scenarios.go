package main

import "fmt"

// wellScenarios are histories in which every pool is healthy.
func wellScenarios() []scenario {
	usual := scenario{types: 4, zones: 3, bursts: 12, size: 5}
	make := func(name, about string, change func(*scenario)) scenario {
		s := usual
		s.name, s.about = name, about
		change(&s)
		return s
	}
	return []scenario{
		make("independent", "each launch fails by itself", func(*scenario) {}),
		make("bursts that fail together", "in 3 of 100 bursts all launches of a pool fail, in 5 of 100 the later ones of a subnet, with no cause found", func(s *scenario) { s.together, s.full = 0.03, 0.05 }),
		make("a zone fails, cause named", "two days of nine a zone does not work; a check says why of 9 of 10", func(s *scenario) { s.zone, s.named = true, 0.9 }),
		make("a zone fails, cause unknown", "the same, and no check says why", func(s *scenario) { s.zone = true }),
		make("hours in which most fail", "every third day one or two hours in which 70 % fail, anywhere", func(s *scenario) { s.hours = true }),
		make("40 pools", "14 types in 3 zones, twice the bursts", func(s *scenario) { s.types, s.bursts = 14, 24 }),
		make("few launches", "one burst a day, of two launches", func(s *scenario) { s.bursts, s.size = 1, 2 }),
		make("two types, all together", "2 types in 2 zones, and both kinds of bursts that fail together", func(s *scenario) { s.types, s.zones, s.together, s.full = 2, 2, 0.05, 0.1 }),
	}
}

// faultyScenarios have one pool that does not work, from the first day on.
func faultyScenarios() []scenario {
	var list []scenario
	for _, kind := range []struct {
		name  string
		taken float64
	}{{"taken back before they join", 1}, {"do not join, no cause found", 0}} {
		for _, joins := range []float64{0, 0.25, 0.5, 0.75} {
			list = append(list, scenario{
				name: fmt.Sprintf("%.0f %% join, others %s", 100*joins, kind.name), about: kind.name,
				types: 4, zones: 3, bursts: 24, size: 5, faulty: true, joins: joins, taken: kind.taken,
			})
		}
	}
	return list
}
