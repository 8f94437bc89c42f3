package spot

import (
	"cmp"
	"math"
	"time"

	"rollcall/shared/snapshot"
)

// Watch tells which pools fail by more than chance. Launches go in by the time
// at which they began; looks and launches may take turns. Read looks once at
// all that it has; a simulation looks every hour. The zero value is ready.
type Watch struct {
	pools           map[Place]int
	groups, subnets map[string]int
	places          []Place
	spells          []spell
}

// spell is a stretch of time with its launches, and what they say.
type spell struct {
	bucket int64
	trials []trial
	units  [comparisons][]unit
	told   int // how many of the trials the units are of
}

// number numbers names.
func number[K comparable](of *map[K]int, name K) int {
	if *of == nil {
		*of = map[K]int{}
	}
	i, known := (*of)[name]
	if !known {
		i = len(*of)
		(*of)[name] = i
	}
	return i
}

// Add takes a Spot launch in, as far as its end says something about its pool.
func (w *Watch) Add(p snapshot.Past) {
	l := labelOf(p)
	if !p.Spot || p.Type == "" || p.Zone == "" || !l.judged && !l.started {
		return
	}
	place := Place{p.Type, p.Zone}
	pool := number(&w.pools, place)
	if pool == len(w.places) {
		w.places = append(w.places, place)
	}
	at := p.Started.Unix()
	if n := len(w.spells); n == 0 || w.spells[n-1].bucket != at/stretch {
		w.spells = append(w.spells, spell{bucket: at / stretch})
	}
	s := &w.spells[len(w.spells)-1]
	s.trials = append(s.trials, trial{
		draw: drawOf(p.ID), at: at, pool: pool, label: l,
		group: number(&w.groups, cmp.Or(p.Nodegroup, p.Group)), place: number(&w.subnets, cmp.Or(p.Subnet, p.Zone)),
	})
}

// drawOf is the FNV-1a hash of an id.
func drawOf(id string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(id) {
		h = (h ^ uint64(id[i])) * 1099511628211
	}
	return h
}

// dropBefore forgets what began before from, and works out what the rest says.
func (w *Watch) dropBefore(from time.Time) {
	gone := 0
	for gone < len(w.spells) && w.spells[gone].bucket < from.Unix()/stretch {
		gone++
	}
	w.spells = w.spells[gone:]
	for i := range w.spells {
		s := &w.spells[i]
		if s.told == len(s.trials) {
			continue
		}
		var before []trial
		if i > 0 && w.spells[i-1].bucket == s.bucket-1 {
			before = w.spells[i-1].trials
		}
		for c := range comparisons {
			s.units[c] = evidence(s.trials, before, c)
		}
		s.told = len(s.trials)
	}
}

// Perhaps tells that a pool may be failing: that the exact test is worth its
// while. The chance that each stretch by itself has as many failures is never
// more than the chance that all together have.
func (w *Watch) Perhaps(from time.Time) bool {
	w.dropBefore(from)
	var sums [comparisons][]float64
	least := math.Log(chance / looks / comparisons)
	for c := range comparisons {
		sums[c] = make([]float64, len(w.places))
		for _, s := range w.spells {
			for _, u := range s.units[c] {
				sums[c][u.pool] += u.least
				if sums[c][u.pool] <= least {
					return true
				}
			}
		}
	}
	return false
}
