package address

import (
	"math"
	"slices"
	"time"

	"rollcall/shared/snapshot"
)

// Reason is why a forecast says what it says.
type Reason string

// The reasons. Steady and Fast foretell an end; the others do not.
const (
	// Steady is a fall of hours or days that goes on evenly.
	Steady Reason = "steady fall"
	// Fast is one of minutes, or one that leaves no three hours.
	Fast Reason = "fast fall"
	// Wave is a fall that this subnet has had before at this time of the day, or
	// in this size, and that went back.
	Wave Reason = "wave"
	// Rising is that it has more from hour to hour.
	Rising Reason = "rising"
	// NoTrend is none of these.
	NoTrend Reason = "no trend"
	// TooFewSamples is too few readings, or no recent one.
	TooFewSamples Reason = "too few samples"
	// Reached is that it has no more than what is needed already.
	Reached Reason = "reached"
)

// Runway is how long a subnet's free addresses last.
type Runway struct {
	Reason Reason
	// At is the last sample's time, Free what the subnet had then.
	At   time.Time
	Free int
	// Need is what the subnet must have more of.
	Need int
	// Since is when the fall began, From what it had then, PerHour how many
	// addresses it has lost an hour, of late. Zero where nothing falls.
	Since   time.Time
	From    int
	PerHour float64
	// Empty is when Need is reached at that pace, Earliest and Latest the 90 %
	// interval of it. Latest is zero where the fall may as well end.
	Empty, Earliest, Latest time.Time
}

// Falls reports whether an end is foretold.
func (r Runway) Falls() bool { return r.Reason == Steady || r.Reason == Fast }

// Left is how long it lasts from a time on: 0 where it is over, and false where
// no end is foretold.
func (r Runway) Left(now time.Time) (time.Duration, bool) {
	switch {
	case r.Reason == Reached:
		return 0, true
	case !r.Falls():
		return 0, false
	}
	return max(r.Empty.Sub(now), 0), true
}

// Within reports whether it does not last for a horizon.
func (r Runway) Within(horizon time.Duration, now time.Time) bool {
	left, known := r.Left(now)
	return known && left <= horizon
}

// Forecast tells when a subnet will have no more than need free addresses: what
// one more node takes, or 0. The samples are of that subnet alone; those after
// now do not count. It rests on nothing but them.
func Forecast(samples []snapshot.Sample, need int, now time.Time) Runway {
	return SeriesOf(samples, now).Forecast(need, now)
}

// Warn is a forecast, and whether to warn of it: the subnet does not last for
// the horizon. A warning that was due within the last hours stays, if the fall
// is as good as the one it was given for and nothing came back: what is foretold
// sways by some hours, and a warning that comes and goes is worth nothing.
func Warn(samples []snapshot.Sample, need int, horizon time.Duration, now time.Time) (Runway, bool) {
	return replay(samples, need, horizon, now)
}

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
				if v := s.hours.value(i); v > float64(need) {
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
		left = s.follow(max(f.level, float64(s.last.Free)-f.usual.value(s.clock())), f, perHour, need)
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
	before := max(level+f.usual.value(now)-float64(need), 0)
	for h := 1.0; h < farthest; h++ {
		left := level - perHour*h + f.usual.value(now+h) - float64(need)
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
		if v := g.value(i); v >= 0 && i < end {
			ago[n] = float64(end-i) * step
			most = max(most, v)
			values[n] = v - f.usual.value(float64(i)*step)
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
// where half of it has no reading.
func (w window) part(g *grid, end int64, k int, usual *season) (float64, bool) {
	var room [30]float64
	list := room[:0]
	from, to := w.bounds(end, k)
	for i := from; i < to; i++ {
		if v := g.value(i); v >= 0 {
			list = append(list, v-usual.value(float64(i)*w.perSpan()))
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

// goesOn reports whether the last third still falls, with a third of the pace at
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

const (
	// short windows tell a fast fall, and shortest have no time of day.
	short    = 3.0 // hours
	shortest = 1.0
	// farthest is how far ahead the usual days are followed.
	farthest = 14 * perDay
	// margin is by how much of itself a subnet must have less than on other days.
	margin = 0.02
	// least is how much of itself a subnet must have lost over days.
	least = 0.08
)

// Forecast is that of the samples added so far.
func (s *Series) Forecast(need int, now time.Time) Runway {
	r := Runway{Reason: NoTrend, At: s.last.At, Free: s.last.Free, Need: need}
	switch {
	case s.count == 0 || now.Sub(s.last.At) > stale:
		r.Reason = TooFewSamples
		return r
	case s.last.Free <= need:
		r.Reason = Reached
		return r
	case s.count < 4:
		r.Reason = TooFewSamples
		return r
	}
	best, waves := math.Inf(1), false
	var worst fall
	consider := func(f fall) bool {
		left, ok, wave := s.judge(f, need)
		waves = waves || wave
		if ok && left < best {
			best, worst = left, f
		}
		return ok
	}
	end := s.five.end()
	lower, before := s.lower(need)
	if s.windows == nil {
		s.windows = windows()
	}
	for i, w := range s.windows {
		switch {
		case w.hourly || s.five.before(end) < w.spans:
			continue
		case !lower:
			waves = true
			continue
		}
		if f, ok := s.over(i, w, end); ok {
			f.before = before
			consider(f)
		}
	}
	for _, f := range s.longFalls() {
		// Of windows of whole days the shortest counts: in a longer one the fall
		// may have begun.
		if consider(f) && f.usual == nil {
			break
		}
	}
	switch {
	case !math.IsInf(best, 1):
		return s.withFall(r, worst, best)
	case waves && s.falling():
		r.Reason = Wave
	case s.rising():
		r.Reason = Rising
	}
	return r
}

// over is the fall over a window. Long windows end with a quarter or half of an
// hour, and are measured once in it.
func (s *Series) over(i int, w window, end int64) (fall, bool) {
	switch {
	case w.hours() > 6:
		end -= end % 6
	case w.hours() > short:
		end -= end % 3
	}
	known := &s.recent[i]
	if known.end != end || w.hours() <= short {
		known.end = end
		known.fall, known.ok = w.measure(&s.five, end, s.seasonBefore(i, w), 0)
	}
	return known.fall, known.ok
}

// longFalls are the falls over windows of whole hours. They change only as an
// hour ends.
func (s *Series) longFalls() []fall {
	end := s.hours.end() - 1
	if s.longAt == end && end > 0 {
		return s.long
	}
	s.long, s.longAt = s.long[:0], end
	for _, w := range s.windows {
		if !w.hourly || s.hours.before(end) < w.spans {
			continue
		}
		var usual *season
		if w.parts == mostParts {
			if usual = usually(&s.hours, end-w.spans); usual == nil {
				continue
			}
		}
		if f, ok := w.measure(&s.hours, end, usual, least/2*float64(s.last.Total)); ok {
			s.long = append(s.long, f)
		}
	}
	return s.long
}

// seasonBefore is the season before a window, which changes as an hour ends.
func (s *Series) seasonBefore(i int, w window) *season {
	if w.hours() < shortest {
		return nil
	}
	known, until := &s.recent[i], s.hours.end()-1-int64(w.hours())
	if known.until != until {
		known.usual, known.until = usually(&s.hours, until), until
	}
	return known.usual
}

// lower reports whether a subnet has less than on any other day at this time, and
// the least that it had in the week before today at any time and came back from.
func (s *Series) lower(need int) (bool, float64) {
	hour := s.hours.end() - 1
	other, known := low(&s.hours, hour, hour-perDay+2)
	if known && float64(s.last.Free) >= other-margin*float64(s.last.Total) {
		return false, 0
	}
	return true, lowest(&s.hours, hour-2, float64(need))
}

// falling and rising compare the last hour with the third before.
func (s *Series) falling() bool { return s.moved() < 0 }
func (s *Series) rising() bool  { return s.moved() > 0 }

func (s *Series) moved() float64 {
	end := s.five.end()
	before := s.five.value(end - 36)
	if before < 0 {
		return 0
	}
	return s.five.value(end-1) - before
}

// reach is for how long a fall is taken to go on, as a multiple of how long it
// has lasted: one of minutes foretells minutes, one of days a day. Where the
// day before is not known, it may be a wave.
func (f fall) reach(known float64) float64 {
	switch {
	case f.hourly && f.usual == nil && f.parts < 6:
		return 0.35
	case f.hourly && f.usual == nil:
		return 0.5
	case f.hourly:
		return 0.65
	case f.hours() < shortest && known < perDay:
		return 0 // whatever happens here every few hours has not been seen yet
	case known < perDay:
		return 0.12
	case f.hours() > shortest && known < 2*perDay+f.hours():
		return 0.3
	case f.hours() < short:
		return 0.7
	}
	return 1.25
}

// familiar is up to how many times as deep as one that went back a fall may go
// back too.
func (f fall) familiar() float64 {
	if f.hours() < short {
		return 2
	}
	return 1.6
}

// steps is of how many equal steps a fall must be made at least: noise and
// deployments that add up are made of few.
func (f fall) steps() float64 {
	n := float64(f.parts - 1)
	switch {
	case f.hourly && f.usual == nil && f.parts < 6:
		return 0.85 * n
	case f.hourly && f.usual == nil:
		return 0.7 * n
	case f.hours() >= short:
		return 0.55 * n
	}
	return max(0.45*n, 1.8)
}

// judge tells in how many hours a fall ends at need, and whether it is to be
// believed.
func (s *Series) judge(f fall, need int) (left float64, ok, wave bool) {
	parts := float64(f.parts - 1)
	if f.even < f.steps() {
		return 0, false, false
	}
	if f.hourly && (f.lost < least*float64(s.last.Total) || !s.stillFalls(f)) {
		return 0, false, false
	}
	if 4*(float64(s.last.Free)-f.usual.value(s.clock())-f.level) > f.lost {
		return 0, false, false // a quarter came back
	}
	if f.usual != nil && (f.lost < f.usual.sways || !f.hourly && f.lost < 3*f.usual.sways) {
		return 0, false, true
	}
	left = s.ends(f, f.perHour, need)
	if left > f.reach(float64(s.hours.before(s.hours.end())))*f.hours() {
		return left, false, false
	}
	if f.hourly {
		return left, true, false
	}
	if left < slot.Hours() {
		return left, false, false // the next look tells
	}
	// It came back from less before, or from as deep a fall.
	free := float64(s.last.Free)
	if free >= f.before && (f.hours() < short || f.even < 0.7*parts || 10*f.stray > f.lost) {
		return left, false, true
	}
	if f.hours() < 2*short {
		span := int64(math.Ceil(f.hours()))
		past := deepest(&s.hours, span+1, s.hours.end()-1-span)
		if f.lost <= f.familiar()*past && (f.hours() < short || free+f.lost-past > float64(need)) {
			return left, false, true
		}
	}
	return left, true, false
}

// stillFalls reports whether a fall of days goes on in the last hours, with a quarter
// of its pace at least.
func (s *Series) stillFalls(f fall) bool {
	last := s.hours.end() - 2 // the last whole hour
	hours := max(6, f.spans/8)
	around := func(hour int64) float64 {
		var room [3]float64
		list := room[:0]
		for i := hour - 2; i <= hour; i++ {
			if v := s.hours.value(i); v >= 0 {
				list = append(list, v-f.usual.value(float64(i)+0.5))
			}
		}
		if len(list) == 0 {
			return math.NaN()
		}
		return median(list)
	}
	if f.usual == nil {
		// Whole days are compared with the day before.
		hours = perDay
	}
	lost := around(last-hours) - around(last)
	return math.IsNaN(lost) || 4*lost >= f.perHour*float64(hours)
}

// season is what a subnet usually has at a time of the day, or of the week, by
// the days before a window. A nil season is 0 at any time.
type season struct {
	hours  *grid
	until  int64 // index of the hour from which on nothing counts
	period int64 // 24 or 168 hours
	// days are the means of the days before the window, the last first: what was
	// there days ago is taken as if it had been just before the window.
	days []float64
	// sways is how much one day differs from the day before at the same time: half
	// as much again as two of three hours differ by at most.
	sways float64
	known [168]float64
	done  [168]bool
}

const (
	perDay  = 24
	perWeek = 7 * 24
	// longest is how many days before a window count.
	longest = 7
)

// usually is the season before an hour: that of the week where a week is known,
// else that of the day. It is nil where not even a day is known, and enough
// more to see whether that fell itself.
func usually(hours *grid, until int64) *season {
	known := hours.before(until)
	if known < perDay+6 {
		return nil
	}
	s := &season{hours: hours, until: until, period: perDay}
	var room [perWeek]float64
	usual := share(differ(hours, until, perDay, nothing, room[:0]), 4, 5)
	s.days = means(hours, until)
	// Of a day or two it could be the fall itself that makes them differ.
	if known >= 3*perDay {
		s.sways = 1.5 * share(differ(hours, until, perDay, s.trend, room[:0]), 2, 3)
	}
	if known > perWeek+2*perDay && !s.wasFalling() && 2*share(differ(hours, until, perWeek, nothing, room[:0]), 4, 5) < usual {
		s.period, s.days = perWeek, nil
	}
	return s
}

// wasFalling reports whether the days before the window had less from one to the next, most
// of them: what is a week old then says little of today.
func (s *season) wasFalling() bool {
	falls := 0
	for i := 1; i < len(s.days); i++ {
		if s.days[i-1] < s.days[i] {
			falls++
		}
	}
	return 5*falls >= 3*(len(s.days)-1)
}

func nothing(int64) float64 { return 0 }

// differ is how much the hours of the week before an hour differ from those a
// period before, both without the trend; of what there is.
func differ(hours *grid, until, period int64, trend func(int64) float64, list []float64) []float64 {
	for i := until - 1; i >= until-perWeek && i-period >= hours.first; i-- {
		if now, before := hours.value(i), hours.value(i-period); now >= 0 && before >= 0 {
			list = append(list, now-trend(i)-before+trend(i-period))
		}
	}
	// A steady fall makes them no less alike.
	if len(list) > 0 {
		middle := median(list)
		for i := range list {
			list[i] = math.Abs(list[i] - middle)
		}
		slices.Sort(list)
	}
	return list
}

// share is what some of so many are below, of a sorted list.
func share(list []float64, some, of int) float64 {
	if len(list) == 0 {
		return 0
	}
	return list[len(list)*some/of]
}

// means are those of the days before an hour, the last first, as far as there are
// samples of each.
func means(hours *grid, until int64) []float64 {
	var list []float64
	for day := int64(1); day <= longest+1; day++ {
		sum, n := 0.0, 0
		for i := max(until-day*perDay, hours.first); i < until-(day-1)*perDay; i++ {
			if v := hours.value(i); v >= 0 {
				sum, n = sum+v, n+1
			}
		}
		if n < perDay/2 {
			break
		}
		list = append(list, sum/float64(n))
	}
	return list
}

// trend is how much more there was at an hour than just before the window, by the
// line through the means of days.
func (s *season) trend(hour int64) float64 {
	if len(s.days) < 2 {
		return 0
	}
	line := func(x float64) float64 { // in days back
		i := min(max(int(x-0.5), 0), len(s.days)-2)
		part := x - 0.5 - float64(i)
		return s.days[i]*(1-part) + s.days[i+1]*part
	}
	return line((float64(s.until-hour)-0.5)/perDay) - line(0)
}

// value is what the subnet usually has at an hour, between the middles of hours on
// a straight line.
func (s *season) value(hour float64) float64 {
	if s == nil {
		return 0
	}
	i := math.Floor(hour - 0.5)
	part := hour - 0.5 - i
	return s.hourly(int64(i))*(1-part) + s.hourly(int64(i)+1)*part
}

func (s *season) hourly(hour int64) float64 {
	k := hour % s.period
	if !s.done[k] {
		s.known[k], s.done[k] = s.look(hour), true
	}
	return s.known[k]
}

// look is the median of the same hours before: of the last two weeks those
// beside them too, or of the last days.
func (s *season) look(hour int64) float64 {
	back := (hour-s.until)/s.period + 1
	if hour < s.until {
		back = 0
	}
	var list [longest]float64
	n := 0
	for i := hour - back*s.period; n < len(list) && i >= s.hours.first-1; i -= s.period {
		beside := int64(0)
		if s.period == perWeek {
			beside = 1
		}
		for k := i - beside; k <= i+beside && n < len(list); k++ {
			if v := s.hours.value(k); v >= 0 && k < s.until {
				list[n] = v - s.trend(k)
				n++
			}
		}
	}
	if n == 0 {
		return s.hours.value(s.hours.first)
	}
	return median(list[:n])
}

// low is the least that the subnet had at a time of the day, one hour more or
// less, in the days before a window; false where none is known.
func low(hours *grid, hour, until int64) (float64, bool) {
	least, known := math.Inf(1), false
	for day, i := 0, hour-perDay; day < longest+1 && i >= hours.first-1; i -= perDay {
		if i+1 >= until {
			continue
		}
		day++
		for k := i - 1; k <= i+1; k++ {
			if v := hours.value(k); v >= 0 {
				least, known = min(least, v), true
			}
		}
	}
	return least, known
}

// deepest is how much the subnet lost at most within some hours, in the week
// before an hour, of what it had back since.
func deepest(hours *grid, within, until int64) float64 {
	most := 0.0
	for i := max(hours.first, until-perWeek); i < until; i++ {
		v := hours.value(i)
		if v < 0 {
			continue
		}
		top := v
		for k := max(i-within, hours.first); k < i; k++ {
			top = max(top, hours.value(k))
		}
		most = max(most, top-v)
	}
	return most
}

// lowest is the least that the subnet had in the week before an hour, but for
// days on which it had no more than need: that is what is to be foretold.
func lowest(hours *grid, until int64, need float64) float64 {
	least := math.Inf(1)
	for day := until - perWeek; day < until; day += perDay {
		low := math.Inf(1)
		for i := max(day, hours.first); i < min(day+perDay, until); i++ {
			if v := hours.value(i); v >= 0 {
				low = min(low, v)
			}
		}
		if low > need {
			least = min(least, low)
		}
	}
	return least
}
