package overview

import (
	"slices"
	"time"
)

const (
	day = 24 * time.Hour
	// turnDays is for how many UTC days turns are counted: a week that is reported at most
	// six days late, and the days since.
	turnDays = 15
	// mostGaps keeps a record in a write unit or two (1 KB each, DynamoDB developer guide,
	// "Read/write capacity mode"): the longest are kept.
	mostGaps = 12
)

// Turns is how a cluster was looked at lately: the proof that a quiet week was one.
type Turns struct {
	// Since is when the first look was noted; zero in records of earlier releases.
	Since time.Time `json:"since,omitzero"`
	// First is the UTC day of the first of the counts, which are of one day after the other.
	First time.Time `json:"first,omitzero"`
	// Made are all looks, Failed those in which a detector's look failed, Silent those in
	// which the cluster's Kubernetes API did not answer.
	Made   []int `json:"made,omitempty"`
	Failed []int `json:"failed,omitempty"`
	Silent []int `json:"silent,omitempty"`
	// Gaps are the times between two looks that are longer than Late, in order.
	Gaps []Gap `json:"gaps,omitempty"`
}

// Gap is a time in which nobody looked.
type Gap struct {
	From time.Time `json:"f"`
	To   time.Time `json:"t"`
}

// Lasts is how long it was.
func (g Gap) Lasts() time.Duration { return g.To.Sub(g.From) }

// Subnet is a subnet and how long its addresses last.
type Subnet struct {
	ID    string `json:"id"`
	Zone  string `json:"zone,omitempty"`
	Free  int    `json:"free"`
	Total int    `json:"total,omitempty"`
	// Empty is when it runs out at the pace of late; zero where nothing falls.
	Empty time.Time `json:"empty,omitzero"`
	At    time.Time `json:"at"`
}

// Sooner tells which of two subnets is the one to look at: the one that runs out first,
// else the one with the fewest free addresses.
func (s Subnet) Sooner(than Subnet) bool {
	switch {
	case s.Empty.IsZero() != than.Empty.IsZero():
		return !s.Empty.IsZero()
	case !s.Empty.Equal(than.Empty):
		return s.Empty.Before(than.Empty)
	case s.Free != than.Free:
		return s.Free < than.Free
	}
	return s.ID < than.ID
}

// Turn is one look at a cluster.
type Turn struct {
	At     time.Time
	Failed []string
	Silent bool
	// Soonest is the subnet of the cluster that runs out first; nil where that was not seen.
	Soonest *Subnet
}

// After is the record of a cluster after one more look. A look that is told twice, or
// after a later one, is counted and makes no gap.
func (s Sweep) After(t Turn) Sweep {
	at := t.At.UTC().Truncate(time.Second)
	if !s.KnowsRelays {
		if s.answered() {
			s.RelayUntil = at.Add(relayGrace)
		}
		s.KnowsRelays = true
	}
	turns := s.Turns
	turns.Gaps = slices.Clone(turns.Gaps)
	switch {
	case turns.Since.IsZero():
		turns.Since = at
	case at.Sub(s.At) > Late:
		turns.Gaps = append(turns.Gaps, Gap{s.At.UTC(), at})
	}
	turns = turns.forget(at)
	i := turns.dayOf(at)
	turns.Made = count(turns.Made, i, true)
	turns.Failed = count(turns.Failed, i, len(t.Failed) > 0)
	turns.Silent = count(turns.Silent, i, t.Silent)
	s.Turns = turns
	if !at.Before(s.At) {
		s.At, s.Failed = at, t.Failed
	}
	if t.Soonest != nil {
		s.Soonest = t.Soonest
	}
	return s
}

// forget drops the days and the gaps that are too old, and of too many gaps the shortest.
func (t Turns) forget(at time.Time) Turns {
	oldest := at.Truncate(day).AddDate(0, 0, 1-turnDays)
	if t.First.IsZero() || t.First.Before(oldest) {
		n := len(t.Made)
		if !t.First.IsZero() {
			n = int(oldest.Sub(t.First) / day)
		}
		first := oldest
		if t.First.IsZero() {
			first = at.Truncate(day)
		}
		t.Made, t.Failed, t.Silent, t.First = from(t.Made, n), from(t.Failed, n), from(t.Silent, n), first
	}
	t.Gaps = slices.DeleteFunc(t.Gaps, func(g Gap) bool { return g.To.Before(oldest) })
	for len(t.Gaps) > mostGaps {
		shortest := 0
		for i, g := range t.Gaps {
			if g.Lasts() < t.Gaps[shortest].Lasts() {
				shortest = i
			}
		}
		t.Gaps = slices.Delete(t.Gaps, shortest, shortest+1)
	}
	return t
}

func from(list []int, n int) []int { return slices.Clone(list[min(max(n, 0), len(list)):]) }

// dayOf is the place of a time's day in the counts, before their beginning the first.
func (t Turns) dayOf(at time.Time) int { return max(int(at.Truncate(day).Sub(t.First)/day), 0) }

// count adds one to a day's number, or nothing.
func count(list []int, i int, yes bool) []int {
	if !yes {
		return list
	}
	for len(list) <= i {
		list = append(list, 0)
	}
	list[i]++
	return list
}

// Between are the looks of the UTC days that begin from one time on and before another.
func (t Turns) Between(from, to time.Time) (made, failed, silent int) {
	sum := func(list []int) (n int) {
		for i, k := range list {
			if d := t.First.AddDate(0, 0, i); !d.Before(from.Truncate(day)) && d.Before(to) {
				n += k
			}
		}
		return n
	}
	return sum(t.Made), sum(t.Failed), sum(t.Silent)
}

// GapsBetween are the times between two in which nobody looked at the cluster: those that
// are noted, and the one that still lasts. Before the first look that was noted nothing is
// known, and nothing told.
func (s Sweep) GapsBetween(from, to time.Time) (list []Gap) {
	if s.Turns.Since.IsZero() {
		return nil
	}
	if s.Turns.Since.After(from) {
		from = s.Turns.Since
	}
	gaps := slices.Clone(s.Turns.Gaps)
	if to.Sub(s.At) > Late {
		gaps = append(gaps, Gap{s.At, to})
	}
	for _, g := range gaps {
		if g.From.Before(from) {
			g.From = from
		}
		if g.To.After(to) {
			g.To = to
		}
		if g.Lasts() > 0 {
			list = append(list, g)
		}
	}
	return list
}
