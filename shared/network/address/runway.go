package address

import (
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
	// TooFewSamples is that nobody looked often enough, or lately.
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

// Falls tells that an end is foretold.
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

// Within tells that it does not last for a horizon.
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
