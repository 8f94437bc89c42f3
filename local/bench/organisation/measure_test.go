package organisation

import (
	"time"

	"rollcall/local/bench/bill"
	"rollcall/shared/snapshot"
)

// result is what came of a play.
type result struct {
	play
	// launched are the launches, and ends how they ended.
	launched    int
	ends        map[snapshot.End]int
	turns, late int
	// calls are those of a tick, by the API: of all accounts.
	calls map[string]float64
	// peak are the most calls of a second, of all accounts together.
	peak map[string]int
	left map[string]float64
	// messages by cause, and how often they were edited.
	messages map[string]int
	edits    int
	usage    bill.Usage
}

// warm is after how long the measurement begins: the first tick reads what later ones have.
const warm = 5 * time.Minute

// measured lets the launches happen, and counts from the first tick on what they and the
// sweeps take.
func (p *played) measured(y play) result {
	began := min(int(warm/time.Minute), y.minutes-1)
	p.broken()
	p.launches(began, y.hourly)
	m := p.mark()
	p.launches(y.minutes-began, y.hourly)
	usage, calls := p.since(m)
	r := result{play: y, usage: usage, calls: map[string]float64{}, peak: map[string]int{}}
	for _, n := range p.launched {
		r.launched += n
	}
	ticks := float64(y.minutes-began) / 5
	seconds := map[string]map[int64]int{}
	for _, c := range calls {
		if usage.Invocations[c.Caller] == 0 {
			continue
		}
		api := c.Action()
		r.calls[api] += 1 / ticks
		if seconds[api] == nil {
			seconds[api] = map[int64]int{}
		}
		seconds[api][c.Time.Unix()]++
		r.peak[api] = max(r.peak[api], seconds[api][c.Time.Unix()])
	}
	return r
}
