package checks

import (
	"time"

	"rollcall/shared/node/activity"
	"rollcall/shared/snapshot"
)

// reclaimed is the id of the check that tells of it.
const reclaimed ID = "spot/reclaimed-before-join"

const (
	// warned is how long an interruption warning counts. EC2 gives two minutes;
	// hibernating takes longer, and what EC2 describes lags behind.
	warned = 10 * time.Minute
	// longest is the longest that a launch is given to join: one that EC2 takes
	// back later did not join, whatever kept it.
	longest = 15 * time.Minute
)

// takenBack tells that EC2 took an instance back, or has warned that it does: by
// EC2's reason, by the warning, or by a rebalance recommendation after which its
// group ended it. A recommendation alone takes nothing back. What had already
// missed roll call for a cause that was found is not excused by a warning.
func (l ledger) takenBack(i *snapshot.Instance) bool {
	if i.Ended() && l.reason(i).Class == activity.Class(reclaimed) {
		return true
	}
	launch, at := l.launches[i.ID], l.endOf(i)
	switch {
	case launch.Cause != "" && !at.Before(launch.Due):
		return false
	case !launch.Noticed.IsZero() && !at.Before(launch.Noticed) && at.Sub(launch.Noticed) <= warned:
		return true
	}
	return l.rebalanced(i) && l.activity[i.ID] != "" && activity.Rebalancing(l.activity[i.ID])
}

// rebalanced tells that an instance ended after EC2 had recommended to replace
// it: perhaps its group did.
func (l ledger) rebalanced(i *snapshot.Instance) bool {
	recommended := l.launches[i.ID].Rebalance
	return i.Ended() && !recommended.IsZero() && !l.endOf(i).Before(recommended)
}

// leaving tells that EC2 takes back an instance of which only the id is known
// here.
func (l ledger) leaving(id string) bool {
	i, known := l.instances[id]
	return known && l.takenBack(i)
}

func (l ledger) reason(i *snapshot.Instance) activity.Verdict {
	return activity.ClassifyReason(i.StateReason.Code, i.StateReason.Message)
}

// endOf is when an instance ended; now, for one that has not, or of which EC2
// does not say.
func (l ledger) endOf(i *snapshot.Instance) time.Time {
	if i.Ended() && !i.StateReason.When.IsZero() {
		return i.StateReason.When
	}
	return l.s.Time
}
