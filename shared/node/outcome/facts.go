package outcome

import (
	"cmp"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/node/activity"
)

// Facts is all that is known of one launch. Events are lost, come late, twice
// and in any order; so a fact is never taken back, and two sets of facts make
// one in whichever order they meet (Merge).
type Facts struct {
	Started time.Time
	Due     time.Time
	// Registered and Ready are the node's own times.
	Registered time.Time
	Ready      time.Time
	// Tagged is when Karpenter's tag was first seen, where nobody could see the
	// nodes.
	Tagged time.Time

	// Ended is when the instance ended, with EC2's state reason.
	Ended  time.Time
	Reason EndReason
	// Alive is when it was last seen to be there and to lack, Over when it was
	// first known to have ended: by an event, its group's activity or a look. EC2
	// does not always say when an instance ended.
	Alive time.Time
	Over  time.Time
	// By is the cause of the scaling activity that ended it, in Auto Scaling's
	// words.
	By string
	// Forgotten is when EC2 was first found not to know it any more.
	Forgotten time.Time

	// Noticed is EC2's warning that it takes the instance back, Rebalance its
	// word that this is likely, Maintenance that of AWS Health.
	Noticed     time.Time
	Rebalance   time.Time
	Maintenance time.Time

	// Missed is when a look ended that first found it due and no Ready node.
	Missed time.Time
	Root   Root
	// Refused is the class of a launch that came to nothing.
	Refused checkid.ID
	// GivenUp is when it was looked at for the last time.
	GivenUp time.Time
	// Blind is why the nodes, or EC2, could not be read at some look.
	Blind string
	// Unseen is why it cannot be told whether an instance that has ended had
	// been a node.
	Unseen string
}

// EndReason is EC2's state reason.
type EndReason struct {
	Code    string
	Message string
}

// Root is the root cause that was found of a launch that missed roll call.
type Root struct {
	Check checkid.ID
	// Sure tells that the finding was certain.
	Sure bool
	At   time.Time
}

// Merge is all that two sets of facts tell. It is commutative, associative and
// idempotent: each field takes the smaller of two values in an order in which
// what is not known comes last, so the earliest times win (but for Alive, the
// latest) and a known reason beats none.
func Merge(a, b Facts) Facts {
	return Facts{
		Started: earlier(a.Started, b.Started), Due: earlier(a.Due, b.Due),
		Registered: earlier(a.Registered, b.Registered), Ready: earlier(a.Ready, b.Ready), Tagged: earlier(a.Tagged, b.Tagged),
		Ended: earlier(a.Ended, b.Ended), Reason: clearer(a.Reason, b.Reason),
		Alive: later(a.Alive, b.Alive), Over: earlier(a.Over, b.Over),
		By: first(a.By, b.By), Forgotten: earlier(a.Forgotten, b.Forgotten),
		Noticed: earlier(a.Noticed, b.Noticed), Rebalance: earlier(a.Rebalance, b.Rebalance), Maintenance: earlier(a.Maintenance, b.Maintenance),
		Missed: earlier(a.Missed, b.Missed), Root: surer(a.Root, b.Root),
		Refused: classified(a.Refused, b.Refused), GivenUp: earlier(a.GivenUp, b.GivenUp),
		Blind: first(a.Blind, b.Blind), Unseen: first(a.Unseen, b.Unseen),
	}
}

// earlier is the earlier of two times, where a zero time is not known.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// later is the later of two times; a zero time is before all others.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// first is the first of two texts in the alphabet, where an empty one is not
// known.
func first[T ~string](a, b T) T {
	if a == "" || b != "" && b < a {
		return b
	}
	return a
}

// clearer is the reason that says more: one with a code, and of two codes one
// that is not a mere call (an instance that is stopped for one reason and
// terminated later is terminated by a call).
func clearer(a, b EndReason) EndReason {
	weight := func(r EndReason) int {
		switch {
		case r == EndReason{}:
			return 3
		case r.Code == "":
			return 2
		case r.Code == activity.UserInitiated:
			return 1
		}
		return 0
	}
	if cmp.Or(cmp.Compare(weight(a), weight(b)), cmp.Compare(a.Code, b.Code), cmp.Compare(len(b.Message), len(a.Message)), cmp.Compare(a.Message, b.Message)) <= 0 {
		return a
	}
	return b
}

// surer is the root cause that counts: a certain one, else the one that was
// found first.
func surer(a, b Root) Root {
	weight := func(r Root) int {
		switch {
		case r.Check == "":
			return 2
		case r.Sure:
			return 0
		}
		return 1
	}
	if cmp.Or(cmp.Compare(weight(a), weight(b)), a.At.Compare(b.At), cmp.Compare(a.Check, b.Check)) <= 0 {
		return a
	}
	return b
}

// classified is the class that says more.
func classified(a, b checkid.ID) checkid.ID {
	switch vague := checkid.LaunchUnclassified; {
	case a == vague && b != "":
		return b
	case b == vague && a != "":
		return a
	}
	return first(a, b)
}
