// Package refusal decides how launches stand that no Auto Scaling group made and
// that EC2 refused: is the pool refused still, did it pass, is it over. A shortage
// comes and goes while Karpenter works as it is meant to; what is not allowed does
// not pass by itself.
package refusal

import (
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/snapshot"
)

const (
	// Counted is how long a refused call counts, as a failed scaling activity does:
	// Karpenter asks again within minutes for as long as pods wait.
	Counted = time.Hour
	// Patience is how long calls must have been refused for what may pass by itself
	// before it is a fault. Karpenter leaves out what was refused for three minutes
	// and asks for something else (aws/karpenter-provider-aws pkg/cache/cache.go):
	// two such rounds, and nothing came of it.
	Patience = 5 * time.Minute
	// Calm is how long nothing may have been refused before a launcher counts as
	// well again whose refusals came back already: one that is refused and served
	// in turn is refused.
	Calm = 15 * time.Minute
	// Step is how much newer a call must be than the last one kept to be worth a
	// write: thousands of calls an hour are sixty.
	Step = time.Minute
)

// Standing is how a run of refused calls stands.
type Standing string

// The standings.
const (
	Refused Standing = "refused"
	Brief   Standing = "brief"  // refused for what may pass, and not for long
	Worked  Standing = "worked" // an instance was started since
	Over    Standing = "over"   // not requested for an hour
)

// Stands tells how a run stands.
func Stands(r snapshot.RefusedLaunch, now time.Time) Standing {
	switch calm := now.Sub(r.Last); {
	case calm > Counted:
		return Over
	case r.Worked.After(r.Last) && (r.Back.IsZero() || calm >= Calm):
		return Worked
	case Passes(r.Class) && r.Last.Sub(r.First) < Patience:
		return Brief
	}
	return Refused
}

// Passes reports whether a class of refusals may pass by itself: what is short now, or
// what EC2 does not know yet. Karpenter looks for something else where it gets
// one (aws/karpenter-provider-aws pkg/errors/errors.go, unfulfillableCapacityErrorCodes;
// an instance profile is known some seconds after it was made).
func Passes(class checkid.ID) bool {
	switch class {
	case checkid.LaunchInsufficientCapacity, checkid.LaunchSpotLimit, checkid.LaunchSpotPrice, checkid.LaunchVCPULimit, checkid.LaunchFleetLimit,
		checkid.LaunchSubnetFull, checkid.LaunchCapacityReservation, checkid.LaunchUnsupportedType, checkid.LaunchThrottled, checkid.LaunchProfile,
		checkid.LaunchUnclassified:
		return true
	}
	return false
}

// Change is what a call makes of what is known.
type Change string

// The changes.
const (
	Began   Change = "began"   // the first of a run
	Goes    Change = "goes on" // later than what is known by a Step
	Earlier Change = "earlier" // it came late: the run began with it
	Nothing Change = "nothing" // known, or as good as known
)

// Take takes in a call: call is a run of itself alone, have what is known of its
// launcher and class, if anything is. Calls may come late, in any order, and twice.
func Take(have *snapshot.RefusedLaunch, call snapshot.RefusedLaunch) (snapshot.RefusedLaunch, Change) {
	call.First, call.Worked, call.Back = call.Last, time.Time{}, time.Time{}
	if have == nil {
		return call, Began
	}
	next, at := *have, call.Last
	switch {
	case !at.After(have.Last):
		// Before the run, and nothing was started in between.
		if at.Before(have.First) && at.After(have.Worked) && have.First.Sub(at) <= Counted && !have.Worked.After(have.Last) {
			next.First = at
			return next, Earlier
		}
		return next, Nothing
	case at.Sub(have.Last) > Counted:
		call.Worked = have.Worked
		return call, Began
	case have.Worked.After(have.Last) && at.After(have.Worked):
		call.Worked, call.Back = have.Worked, at
		return call, Began
	case at.Sub(have.Last) < Step && (!Passes(have.Class) || at.Sub(have.First) < Patience || have.Last.Sub(have.First) >= Patience):
		return next, Nothing
	}
	next.Last = at
	return next, Goes
}

// Work takes in that an instance of the launcher was started.
func Work(have snapshot.RefusedLaunch, at time.Time) (snapshot.RefusedLaunch, bool) {
	if !at.After(have.Worked) || !at.After(have.Last) {
		return have, false
	}
	news := !have.Worked.After(have.Last) // else it is known to work already
	have.Worked = at
	return have, news
}
