package outcome

import (
	"cmp"
	"slices"
	"time"
)

// Bounds of what is learned. A node is rarely Ready within a minute of its
// launch. Longest is EKS's own patience with new nodes (a nodegroup's create
// fails after about 15 minutes), and SQS's longest delay.
const (
	Shortest = time.Minute
	Longest  = 15 * time.Minute
)

const (
	// maxJoins is how many joins are remembered per nodegroup: enough for a
	// 95th percentile that does not move with each, and few enough for an item.
	maxJoins = 200
	// keepJoins is how long they count: images and user data change.
	keepJoins = 30 * 24 * time.Hour
	// minJoins is how few tell nothing of a 95th percentile: of 20 one is above it.
	minJoins = 20
	// leastMargin is what is added at least: the roll is called in steps.
	leastMargin = 30 * time.Second
)

// Join is one launch that joined.
type Join struct {
	Instance string    `json:"i"`
	At       time.Time `json:"t"` // when it was Ready
	Seconds  int       `json:"s"` // from its launch
}

// Joins are the joins of one nodegroup, oldest first.
type Joins []Join

// With are the joins and some more, each instance once: the last 200 of the
// last 30 days. It does not change j.
func (j Joins) With(more []Join, now time.Time) Joins {
	byInstance := map[string]Join{}
	for _, join := range slices.Concat(j, more) {
		have, known := byInstance[join.Instance]
		if known && (have.At.Before(join.At) || have.At.Equal(join.At) && have.Seconds <= join.Seconds) {
			continue
		}
		byInstance[join.Instance] = join
	}
	var all Joins
	for _, join := range byInstance {
		if join.counts(now) {
			all = append(all, join)
		}
	}
	slices.SortFunc(all, func(a, b Join) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Instance, b.Instance)) })
	return all[max(0, len(all)-maxJoins):]
}

func (j Join) counts(now time.Time) bool { return j.Seconds > 0 && now.Sub(j.At) <= keepJoins }

// Allowance is how long a launch has to become a Ready node.
type Allowance struct {
	For time.Duration
	// Usual is within what 95 of 100 of its nodegroup were Ready, Samples from
	// how many that is known; both are zero where For is the setting.
	Usual   time.Duration
	Samples int
}

// Allow is what the joins of a nodegroup teach: the time within which 95 of 100
// were Ready, and half of it again, at least 30 seconds. Fewer than 20 teach
// nothing.
func (j Joins) Allow(setting time.Duration, now time.Time) Allowance {
	var seconds []int
	for _, join := range j {
		if join.counts(now) {
			seconds = append(seconds, join.Seconds)
		}
	}
	if len(seconds) < minJoins {
		return Allowance{For: setting}
	}
	slices.Sort(seconds)
	// The nearest rank: the smallest value with 95 of 100 at or below it.
	usual := time.Duration(seconds[(len(seconds)*95+99)/100-1]) * time.Second
	return Allowance{
		For:   min(max(usual+max(usual/2, leastMargin), Shortest), Longest),
		Usual: usual, Samples: len(seconds),
	}
}

// Teaches tells that a launch is a sample of how long joining takes. One that
// joined after it had missed roll call for a certain cause is none: it shows
// how long the repair took.
func (f Facts) Teaches() bool {
	return f.Ready.After(f.Started) && !f.Started.IsZero() && (f.Missed.IsZero() || !f.Root.Sure)
}
