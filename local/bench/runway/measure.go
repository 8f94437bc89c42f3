package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"rollcall/shared/network/address"
)

const horizon = 24 * time.Hour

// story is what one month came to.
type story struct {
	looks int
	// false alarms, warnings in all, and how often one came again in one fall.
	wrong, warned, again int
	// fell tells that it was empty, took how long that took, lead how long before
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
		now := s.at(i)
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

func measure(ctx context.Context, k kind, subnets int, seed uint64, done func()) (measured, error) {
	m := measured{kind: k, stories: make([]story, subnets)}
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range runtime.GOMAXPROCS(0) {
		g.Go(func() error {
			for {
				i := int(next.Add(1)) - 1
				if i >= subnets {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return fmt.Errorf("play %s: %w", k.name, err)
				}
				m.stories[i], _ = play(month(k, seed, uint64(i)))
				done()
			}
		})
	}
	if err := g.Wait(); err != nil {
		return measured{}, err
	}
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
	return m, nil
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
