package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/stat/distuv"

	"rollcall/shared/node/spot"
)

// measured is what one kind of history came to.
type measured struct {
	scenario  scenario
	histories int
	launches  int64
	// accused is in how many histories a healthy pool was accused at least once.
	accused int
	// named is in how many the faulty pool was, waits how many of its launches
	// it took there, sorted.
	named int
	waits []int
}

// story is what one history came to.
type story struct {
	launches int
	accused  bool
	named    bool
	until    int
}

// measure plays histories of a kind, and calls done after each.
func measure(ctx context.Context, s scenario, histories int, seed uint64, done func()) (measured, error) {
	stories, ids := make([]story, histories), instanceIDs()
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range runtime.GOMAXPROCS(0) {
		g.Go(func() error {
			for {
				i := int(next.Add(1)) - 1
				if i >= histories {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return fmt.Errorf("play %s: %w", s.name, err)
				}
				stories[i] = play(newHistory(s, ids, seed, uint64(i)))
				done()
			}
		})
	}
	if err := g.Wait(); err != nil {
		return measured{}, err
	}
	m := measured{scenario: s, histories: histories}
	for _, one := range stories {
		m.launches += int64(one.launches)
		if one.accused {
			m.accused++
		}
		if one.named {
			m.named++
			m.waits = append(m.waits, one.until)
		}
	}
	slices.Sort(m.waits)
	return m, nil
}

// instanceIDs are more ids than a history has launches.
func instanceIDs() []string {
	ids := make([]string, 1<<15)
	for i := range ids {
		ids[i] = fmt.Sprintf("i-%017x", i)
	}
	return ids
}

// play looks at a history every hour, as long as there is something new to
// find: a faulty pool that is not named yet, a healthy one not accused yet.
func play(h *history) story {
	var w spot.Watch
	var out story
	kind, zone := h.blamed, h.zones[0]
	fresh, tried := false, 0
	var last time.Time
	for day := range days {
		list := h.day(day)
		midnight := h.start.AddDate(0, 0, day)
		for hour := 1; hour <= 24; hour++ {
			now := midnight.Add(time.Duration(hour) * time.Hour)
			for len(list) > 0 && list[0].Started.Before(now) {
				p := list[0]
				list = list[1:]
				w.Add(*p)
				out.launches++
				fresh = true
				if h.faulty && p.Type == kind && p.Zone == zone {
					tried++
				}
			}
			// A look at which nothing is new and nothing too old finds the same.
			from := now.Add(-spot.Window).Truncate(6 * time.Hour)
			if !fresh && from.Equal(last) {
				continue
			}
			if fresh, last = false, from; !w.Perhaps(from) {
				continue
			}
			for _, st := range w.Look(from) {
				switch {
				case !st.Failing:
				case h.faulty && st.Type == kind && st.Zone == zone:
					if !out.named {
						out.named, out.until = true, tried
					}
				default:
					out.accused = true
				}
			}
			if h.faulty && out.named || out.accused && !h.faulty {
				return out
			}
		}
	}
	return out
}

// until is after how many launches a share of all histories had the faulty
// pool named.
func (m measured) until(share float64) string {
	i := int(share * float64(m.histories))
	if i >= len(m.waits) {
		return fmt.Sprintf("not within %d days", days)
	}
	return fmt.Sprint(m.waits[i])
}

// bound is the upper end of the interval (Clopper-Pearson, 95 %, one-sided) of
// the share of histories in which a healthy pool is accused.
func (m measured) bound() float64 {
	if m.accused >= m.histories {
		return 1
	}
	return distuv.Beta{Alpha: float64(m.accused + 1), Beta: float64(m.histories - m.accused)}.Quantile(0.95)
}
