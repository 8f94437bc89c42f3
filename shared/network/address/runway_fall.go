package address

import (
	"math"
	"slices"
)

// mostParts is into how many parts a window is divided at most: enough to tell an
// even fall from a few steps, few enough that noise evens out in each.
const mostParts = 12

// window is a time until now in which something may fall.
type window struct {
	spans  int64 // of the grid
	parts  int   // into which it is divided
	hourly bool  // else five minutes
}

// windows are from a quarter of an hour to two weeks, each about half as long
// again as the one before. Those of a day and more rest on whole hours.
func windows() []window {
	var list []window
	for _, n := range []int64{3, 4, 6, 9, 12, 18, 24, 36, 48, 72, 108, 144, 216, 288} { // of 5 minutes
		list = append(list, window{spans: n, parts: int(min(n, mostParts))})
	}
	for _, n := range []int64{36, 48, 72, 120} {
		list = append(list, window{spans: n, parts: mostParts, hourly: true})
	}
	// Of days whole ones are compared, which have no time of day.
	for _, n := range []int64{5, 7, 10, 14} {
		list = append(list, window{spans: 24 * n, parts: int(n), hourly: true})
	}
	return list
}

func (w window) hours() float64 {
	if w.hourly {
		return float64(w.spans)
	}
	return float64(w.spans) / 12
}

// fall is what a window shows, against the days before it.
type fall struct {
	window
	// lost is how many addresses were lost in it, perHour the pace (positive),
	// slowest and fastest its 90 % interval.
	lost, perHour, slowest, fastest float64
	// even is of how many equal steps the fall could be made: one for a single
	// deployment, the number of parts less one for a straight line.
	even float64
	// level is what is left at the end of the line, against the usual.
	level float64
	// stray is how far its parts are from the line, in the middle.
	stray float64
	usual *season
	// before is the least that the subnet came back from, in the week before.
	before float64
}

// measure is a straight line through the middles of a window's parts (Theil and
// Sen: the median of the slopes between all pairs, so that spikes do not
// matter), and false where that falls by no more than chance (Mann and Kendall,
// 1 % one-sided; of less than six parts all must fall).
//
// A window that has not lost more than atLeast from its first part to its last
// is left at once.
func (w window) measure(g *grid, end int64, usual *season, atLeast float64) (fall, bool) {
	first, known := w.part(g, end, 0, usual)
	last, there := w.part(g, end, w.parts-1, usual)
	if known && there && first-last <= atLeast {
		return fall{}, false
	}
	var values, times [mostParts + 2]float64
	n := 0
	for k := range w.parts {
		v, known := w.part(g, end, k, usual)
		if !known {
			continue
		}
		from, to := w.bounds(end, k)
		values[n], times[n] = v, (float64(from+to)/2-float64(end))*w.perSpan()
		n++
	}
	if n < 3 || 4*n < 3*w.parts {
		return fall{}, false
	}
	return w.line(values[:n], times[:n], usual)
}

// perSpan is how long a span is, in hours.
func (w window) perSpan() float64 {
	if w.hourly {
		return 1
	}
	return slot.Hours()
}

// bounds are where a part begins and ends.
func (w window) bounds(end int64, k int) (from, to int64) {
	begin := end - w.spans
	return begin + (w.spans*int64(k)+int64(w.parts)/2)/int64(w.parts), begin + (w.spans*int64(k+1)+int64(w.parts)/2)/int64(w.parts)
}

// part is what a part of the window had in the middle, against the usual; false
// where nobody looked for half of it.
func (w window) part(g *grid, end int64, k int, usual *season) (float64, bool) {
	var room [30]float64
	list := room[:0]
	from, to := w.bounds(end, k)
	for i := from; i < to; i++ {
		if v := g.at(i); v >= 0 {
			list = append(list, v-usual.at(float64(i)*w.perSpan()))
		}
	}
	if len(list) == 0 || 2*len(list) < int(to-from) {
		return 0, false
	}
	return w.middle(list, usual), true
}

// middle is what a part had in the middle; of whole days, in whose middles the
// lows of the day do not show, it is the hour that a tenth are below.
func (w window) middle(part []float64, usual *season) float64 {
	if !w.hourly || usual != nil {
		return median(part)
	}
	slices.Sort(part)
	return part[len(part)/10]
}

func (w window) line(values, times []float64, usual *season) (fall, bool) {
	n := len(values)
	var sum, squares float64
	for i := 1; i < n; i++ {
		d := values[i-1] - values[i]
		sum += d
		squares += d * d
	}
	f := fall{window: w, usual: usual}
	if sum <= 0 {
		return f, false
	}
	f.even = sum * sum / squares
	var room [(mostParts + 2) * (mostParts + 1) / 2]float64
	slopes := room[:0]
	falling := 0
	for i := range n {
		for j := i + 1; j < n; j++ {
			slope := (values[i] - values[j]) / (times[j] - times[i])
			slopes = append(slopes, slope)
			switch {
			case slope > 0:
				falling++
			case slope < 0:
				falling--
			}
		}
	}
	spread := math.Sqrt(float64(n*(n-1)*(2*n+5)) / 18) // of falling, where nothing falls (Kendall)
	const z1, z5 = 2.326, 1.645                        // quantiles of the normal distribution for 1 % and 5 %
	if n < 6 && falling < len(slopes) || n >= 6 && float64(falling) < z1*spread {
		return f, false
	}
	slices.Sort(slopes)
	at := func(i float64) float64 {
		return slopes[int(min(max(math.Round(i), 0), float64(len(slopes)-1)))]
	}
	middle := float64(len(slopes)-1) / 2
	f.perHour = (at(math.Floor(middle)) + at(math.Ceil(middle))) / 2
	f.slowest, f.fastest = at(middle-z5*spread/2), at(middle+z5*spread/2)
	if f.perHour <= 0 {
		return f, false
	}
	f.lost = f.perHour * (times[n-1] - times[0])
	f.level = level(values, times, f.perHour)
	f.stray = f.strays(values, times)
	return f, 4*f.stray < f.lost && f.goesOn(values, times)
}

// level is where the line ends: at now, which is time 0.
func level(values, times []float64, perHour float64) float64 {
	var room [mostParts + 2]float64
	ends := room[:len(values)]
	for i := range values {
		ends[i] = values[i] + perHour*times[i]
	}
	return median(ends)
}

// goesOn tells that the last third still falls, with a third of the pace at
// least.
func (f fall) goesOn(values, times []float64) bool {
	n := len(values)
	third := max(n/3, 1)
	late := (values[n-1-third] - values[n-1]) / (times[n-1] - times[n-1-third])
	return 3*late >= f.perHour
}

func (f fall) strays(values, times []float64) float64 {
	var room [mostParts + 2]float64
	stray := room[:len(values)]
	for i := range values {
		stray[i] = math.Abs(values[i] + f.perHour*times[i] - f.level)
	}
	return median(stray)
}

// median sorts its argument.
func median(list []float64) float64 {
	slices.Sort(list)
	n := len(list)
	if n%2 == 1 {
		return list[n/2]
	}
	return (list[n/2-1] + list[n/2]) / 2
}
