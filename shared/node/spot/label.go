package spot

import (
	"slices"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/snapshot"
)

// early is within how long after its start an instance that is taken back
// counts against its pool wherever it stands. It is the same for those that
// joined and those that did not: where nothing can join, instances wait for
// longer, and more of them are taken back meanwhile.
const early = 10 * time.Minute

// label is what a launch says about its pool.
type label struct {
	// judged tells that its end says something: it joined, or it failed for a
	// reason that can be the pool's own.
	judged, failed bool
	// started tells that an instance was there long enough to be taken back,
	// taken that it was, early.
	started, taken bool
}

func labelOf(p snapshot.Past) label {
	var l label
	switch p.End {
	case snapshot.Joined:
		l.judged, l.started = true, true
		l.taken = within(p, p.Noticed)
	case snapshot.Reclaimed:
		l.judged, l.failed, l.started = true, true, true
		at := p.Noticed
		if at.IsZero() {
			at = p.Ended
		}
		l.taken = at.IsZero() || within(p, at)
	case snapshot.NotJoined:
		l.judged = own(p.Cause)
		l.failed, l.started = l.judged, true
	}
	return l
}

func within(p snapshot.Past, at time.Time) bool {
	return !at.IsZero() && at.Sub(p.Started) <= early
}

// own tells that a launch that did not join for this cause may have failed
// because of its pool: no cause was found, or one that says how the instance
// failed and not why. Routes, endpoints, roles, addresses and settings are the
// same for all pools of a subnet, and say nothing about one of them.
func own(cause checkid.ID) bool {
	if cause == "" || cause.Family() == checkid.Node {
		return cause != checkid.NodeCNINotReady
	}
	return slices.Contains([]checkid.ID{
		checkid.SpotReclaimedBeforeJoin, checkid.InstanceEndedEarly, checkid.InstanceStatusCheck, checkid.InstanceScheduledEvent, checkid.InstanceConsoleError, checkid.InstanceCommonFactor,
	}, cause)
}

// failure tells that a launch came to no node.
func failure(p snapshot.Past) bool {
	return p.End == snapshot.NotJoined || p.End == snapshot.Reclaimed || p.End == snapshot.Refused
}
