package address

import (
	"slices"
	"time"

	"rollcall/shared/snapshot"
)

const (
	slot = 5 * time.Minute // how often subnet-watch looks
	// slots are kept for a day and a half, hours for as long as the longest
	// window and the days before it that it is compared with.
	mostSlots = 36 * 12
	mostHours = 35 * 24
	// What a subnet had stays true until somebody looks again, but not for longer.
	staysTrue = time.Hour
	// stale is how old the last sample may be.
	stale = 30 * time.Minute
)

// missing is the value of a time at which nobody looked.
const missing = -1

// Series is what a subnet had, as the forecast looks at it: the least of each
// five minutes, of each hour. Samples are added one by one, in the order of
// time; the zero Series has none.
type Series struct {
	last    snapshot.Sample
	count   int
	five    grid
	hours   grid
	windows []window
	// long are the falls over windows that whole hours decide, as of an hour.
	long   []fall
	longAt int64
	// recent are those over the others, in the order of windows.
	recent [32]recent
	// due is the last forecast for which a warning was due, at dueAt.
	due   Runway
	dueAt time.Time
}

// SeriesOf is the series of some samples, those until now.
func SeriesOf(samples []snapshot.Sample, now time.Time) *Series {
	samples = slices.Clone(samples)
	slices.SortStableFunc(samples, func(a, b snapshot.Sample) int { return a.At.Compare(b.At) })
	s := &Series{}
	for _, x := range samples {
		if !x.At.After(now) {
			s.Add(x)
		}
	}
	return s
}

// Add adds a sample; one that is older than the last does not count. A subnet
// that can give another number of addresses than before is another subnet.
func (s *Series) Add(x snapshot.Sample) {
	if x.Free < 0 || s.count > 0 && x.At.Before(s.last.At) {
		return
	}
	if s.count > 0 && x.Total > 0 && s.last.Total > 0 && x.Total != s.last.Total {
		*s = Series{}
	}
	if x.Total == 0 {
		x.Total = s.last.Total
	}
	s.last = x
	s.count++
	s.five.add(x.At.Unix()/int64(slot/time.Second), x.Free, int64(staysTrue/slot), mostSlots)
	s.hours.add(x.At.Unix()/3600, x.Free, int64(staysTrue/time.Hour)+1, mostHours)
}

// grid is the least value of each of equal spans of time.
type grid struct {
	first int64 // index of values[0]
	low   []float64
}

// add notes a value, and fills a gap of a few spans with what was before it.
func (g *grid) add(at int64, value int, gap int64, most int) {
	if len(g.low) == 0 {
		g.first = at
	}
	end := g.first + int64(len(g.low))
	if at-end > int64(most) {
		g.first, g.low, end = at, g.low[:0], at
	}
	fill := float64(missing)
	if at-end <= gap && len(g.low) > 0 {
		fill = g.low[len(g.low)-1]
	}
	for ; end < at; end++ {
		g.low = append(g.low, fill)
	}
	if end == at {
		g.low = append(g.low, float64(value))
	} else if i := at - g.first; i >= 0 && (g.low[i] < 0 || float64(value) < g.low[i]) {
		g.low[i] = float64(value)
	}
	if len(g.low) > 2*most {
		cut := len(g.low) - most
		g.low = append(g.low[:0], g.low[cut:]...)
		g.first += int64(cut)
	}
}

// at is the value of a span, missing where nobody looked.
func (g *grid) at(i int64) float64 {
	if i -= g.first; i >= 0 && i < int64(len(g.low)) {
		return g.low[i]
	}
	return missing
}

func (g *grid) end() int64 { return g.first + int64(len(g.low)) }

// before is how many spans there are before an index.
func (g *grid) before(i int64) int64 { return max(i-g.first, 0) }

// recent is a fall over a window of five minutes' steps, as of an end.
type recent struct {
	end  int64
	fall fall
	ok   bool
	// usual is the season before the window, as of until.
	usual *season
	until int64
}
