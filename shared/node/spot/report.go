// Package spot tells from the history of a cluster's launches how its Spot
// capacity does: the funnel of each pool beside on-demand, which pools fail
// by more than chance, what bursts asked of their subnets, and which
// explanation of the failures the numbers support or rule out. It is pure.
package spot

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"rollcall/shared/snapshot"
)

// Input is what Read judges.
type Input struct {
	Cluster string
	From    time.Time
	To      time.Time
	// History is the launches that began in that time, the open ones too.
	History []snapshot.Past
	// Samples are what the subnets had in that time.
	Samples []snapshot.Sample
	Subnets []snapshot.Subnet
	Types   []snapshot.InstanceType
	Groups  []snapshot.Group
	// CNI is what aws-node runs with; nil where it could not be read: the
	// defaults are taken then, and the report says so.
	CNI *snapshot.CNI
	// IPv6 reports whether the cluster gives pods IPv6 addresses.
	IPv6 bool
}

// Watch tells which pools fail by more than chance. Launches go in by the time
// at which they began; looks and launches may take turns. Read looks once at
// all that it has; a simulation looks every hour. The zero value is ready.
type Watch struct {
	pools           map[Place]int
	groups, subnets map[string]int
	places          []Place
	spells          []run
}

// run is a stretch of time with its launches, and what they say.
type run struct {
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
		w.spells = append(w.spells, run{bucket: at / stretch})
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

// Perhaps reports whether a pool may be failing: that the exact test is worth its
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

// span writes a duration as people say it: "70 s", "7 min", "2 min 20 s".
func span(d time.Duration) string {
	seconds := int(d.Round(time.Second) / time.Second)
	switch {
	case seconds < 120:
		return fmt.Sprintf("%d s", seconds)
	case seconds%60 == 0:
		return fmt.Sprintf("%d min", seconds/60)
	}
	return fmt.Sprintf("%d min %d s", seconds/60, seconds%60)
}

// upper begins a sentence.
func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
