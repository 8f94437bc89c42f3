package address

import (
	"math"
	"time"
)

// ends is in how many hours a subnet has no more than need if it goes on losing
// so many an hour beside what it usually loses and regains; infinite if not.
func (s *Series) ends(f fall, perHour float64, need int) float64 {
	if perHour <= 0 {
		return math.Inf(1)
	}
	if f.usual == nil {
		now := f.level
		if f.hourly {
			// A line through the lows of days ends between them.
			now = float64(s.last.Free)
			for i := s.hours.end() - perDay; i < s.hours.end(); i++ {
				if v := s.hours.at(i); v > float64(need) {
					now = min(now, v)
				}
			}
			now -= min(2*f.stray, 0.05*f.lost) // the low of the next day may be as far below the line
		}
		return max(now-float64(need), 0) / perHour
	}
	left := s.follow(f.level, f, perHour, need)
	if left < 2*short {
		// So near, what it has now counts too: the day may be another than usual.
		left = s.follow(max(f.level, float64(s.last.Free)-f.usual.at(s.clock())), f, perHour, need)
	}
	return left
}

// clock is the last sample's time in hours.
func (s *Series) clock() float64 { return float64(s.last.At.Unix()) / 3600 }

// follow goes along the usual days from a level on. Of days that differ it is the
// one with less that empties the subnet.
func (s *Series) follow(level float64, f fall, perHour float64, need int) float64 {
	now := s.clock()
	level -= min(f.usual.sways, 0.05*f.lost)
	before := max(level+f.usual.at(now)-float64(need), 0)
	for h := 1.0; h < farthest; h++ {
		left := level - perHour*h + f.usual.at(now+h) - float64(need)
		if left <= 0 {
			return h - 1 + before/max(before-left, 1e-9)
		}
		before = left
	}
	return math.Inf(1)
}

// withFall writes a fall into a runway.
func (s *Series) withFall(r Runway, f fall, left float64) Runway {
	after := func(hours float64) time.Time {
		if math.IsInf(hours, 1) || hours > 365*perDay {
			return time.Time{}
		}
		return r.At.Add(time.Duration(hours * float64(time.Hour)))
	}
	r.Reason = Steady
	if f.hours() < short || left < short {
		r.Reason = Fast
	}
	r.PerHour, r.Empty = f.perHour, after(left)
	r.Earliest, r.Latest = after(min(s.ends(f, f.fastest, r.Need), left)), after(max(s.ends(f, f.slowest, r.Need), left))
	r.Since, r.From = s.began(f)
	return r
}

// began is when a fall began: where two lines meet that fit best, a level one and
// the fall, within twice the window.
func (s *Series) began(f fall) (time.Time, int) {
	g, step := &s.five, slot.Hours()
	if f.hourly {
		g, step = &s.hours, 1
	}
	end := g.end()
	const parts = 48
	var values, ago [parts]float64
	n, most := 0, float64(s.last.Free)
	for k := range int64(parts) {
		i := end - 2*f.spans + 2*f.spans*k/parts
		if v := g.at(i); v >= 0 && i < end {
			ago[n] = float64(end-i) * step
			most = max(most, v)
			values[n] = v - f.usual.at(float64(i)*step)
			n++
		}
	}
	best, at := math.Inf(1), f.hours()
	for k := range n {
		// Level before values[k], and falling from there.
		off := 0.0
		for i := range n {
			off += math.Abs(values[i] - f.level - f.perHour*min(ago[i], ago[k]))
		}
		if off < best {
			best, at = off, ago[k]
		}
	}
	// No more than it ever had in that time.
	from := min(math.Round(float64(s.last.Free)+f.perHour*at), most)
	return s.last.At.Add(-time.Duration(at * float64(time.Hour))).UTC(), max(int(from), s.last.Free)
}
