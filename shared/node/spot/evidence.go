package spot

import (
	"cmp"
	"math"
	"slices"
	"time"

	"rollcall/shared/node/exact"
)

// Launches of one pool that begin together share a fate: a subnet fills up, the
// pool is taken back as a whole, an API does not answer for a minute. Ten of
// ten failures of one burst are then one piece of evidence, not ten. So of each
// pool one launch of each half hour counts, drawn by its id; what lasts over
// the end of a half hour counts once. If a pool is like the others beside it,
// each of the drawn is as likely to be among those that failed, however the
// launches of one pool hang together. Where all fail, or none, nothing is said
// about any of them.

// half is the time in which launches of a pool share a fate, quiet how long
// before a drawn launch no other of its pool may have begun in the half hour
// before, and stretch what is kept and judged at once.
const (
	half    = int64(30 * time.Minute / time.Second)
	quiet   = int64(15 * time.Minute / time.Second)
	stretch = int64(6 * time.Hour / time.Second)
)

// trial is a launch as the test sees it. Names are numbers.
type trial struct {
	draw  uint64 // decides which launch is drawn
	at    int64  // seconds
	pool  int
	group int // nodegroup
	place int // subnet, else zone
	label
}

// The two comparisons.
const (
	// nearby compares what did not join for a reason that can be the pool's
	// with other types in the same subnet, in the same six hours: a zone that
	// does not work accuses no pool of it. There are seldom two types of one
	// subnet in the same half hour, as Auto Scaling takes those that are easiest
	// to have just then.
	nearby = iota
	// reclaims compares what EC2 took back early with all pools of the
	// nodegroup, in the same half hour: no fault of a network can look like it.
	reclaims
	comparisons
)

// counts tells that a trial takes part in a comparison.
func (t trial) counts(comparison int) bool {
	if comparison == reclaims {
		return t.started
	}
	return t.judged
}

// bad tells that it failed there.
func (t trial) bad(comparison int) bool {
	if comparison == reclaims {
		return t.taken
	}
	return t.failed
}

// unit is what one stretch says about one pool: how many of its drawn launches
// failed, among how many of all that are beside them.
type unit struct {
	pool   int
	failed int
	of     exact.Stratum
	// least is the logarithm of the chance that as many fail.
	least float64
}

// beside is where launches are compared with each other.
type beside struct {
	group, place int
	half         int64
}

// among is where a launch is compared.
func (t trial) among(comparison int) beside {
	if comparison == reclaims {
		return beside{group: t.group, half: t.at / half}
	}
	return beside{group: t.group, place: t.place}
}

// evidence is what one stretch says: a unit for each pool in each place where
// it has something to be compared with. The launches before are those of the
// stretch before it.
func evidence(here, before []trial, comparison int) []unit {
	// Most stretches have no failure at all, and most of the time goes by here.
	if !slices.ContainsFunc(here, func(t trial) bool { return t.counts(comparison) && t.bad(comparison) }) {
		return nil
	}
	drawn := draw(here, before, comparison)
	slices.SortFunc(drawn, func(a, b trial) int {
		x, y := a.among(comparison), b.among(comparison)
		return cmp.Or(cmp.Compare(x.group, y.group), cmp.Compare(x.place, y.place), cmp.Compare(x.half, y.half), cmp.Compare(a.pool, b.pool))
	})
	var list []unit
	for len(drawn) > 0 {
		n := 1
		for n < len(drawn) && drawn[n].among(comparison) == drawn[0].among(comparison) {
			n++
		}
		list = append(list, weigh(drawn[:n], comparison)...)
		drawn = drawn[n:]
	}
	return list
}

// weigh makes the units of one place; the launches are sorted by pool.
func weigh(drawn []trial, comparison int) []unit {
	failed := 0
	for _, t := range drawn {
		if t.bad(comparison) {
			failed++
		}
	}
	if failed == 0 || failed == len(drawn) || drawn[0].pool == drawn[len(drawn)-1].pool {
		return nil
	}
	var list []unit
	for _, t := range drawn {
		if n := len(list); n == 0 || list[n-1].pool != t.pool {
			list = append(list, unit{pool: t.pool, of: exact.Stratum{Launches: len(drawn), Failed: failed}})
		}
		u := &list[len(list)-1]
		u.of.Drawn++
		if t.bad(comparison) {
			u.failed++
		}
	}
	for i := range list {
		list[i].least = math.Log(exact.Tail([]exact.Stratum{list[i].of}, list[i].failed))
	}
	return list
}

// draw draws one launch of each pool in each half hour.
func draw(here, before []trial, comparison int) []trial {
	list := make([]trial, 0, len(here))
	for _, t := range here {
		if t.counts(comparison) {
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(a, b trial) int {
		return cmp.Or(cmp.Compare(a.pool, b.pool), cmp.Compare(a.at, b.at), cmp.Compare(a.draw, b.draw))
	})
	var drawn []trial
	var last trial // of the half hour before
	for i := 0; i < len(list); {
		n, best := i+1, list[i]
		for n < len(list) && list[n].pool == best.pool && list[n].at/half == best.at/half {
			if list[n].draw < best.draw {
				best = list[n]
			}
			n++
		}
		switch {
		case i > 0 && last.pool == best.pool && best.at-last.at < quiet:
		case lasts(best, before, comparison):
		default:
			drawn = append(drawn, best)
		}
		i, last = n, list[n-1]
	}
	return drawn
}

// lasts tells that the pool's launches of the stretch before go on into this
// one.
func lasts(t trial, before []trial, comparison int) bool {
	return t.at%stretch < quiet && slices.ContainsFunc(before, func(o trial) bool {
		return o.pool == t.pool && o.counts(comparison) && t.at-o.at < quiet
	})
}
