package facts

import (
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/node/activity"
	"rollcall/shared/snapshot"
)

// warned is how long an interruption warning counts. EC2 gives two minutes;
// hibernating takes longer, and what EC2 describes lags behind.
const warned = 10 * time.Minute

// TakenBack tells that EC2 took an instance back, or has warned that it does: by
// EC2's reason, by the warning, or by a rebalance recommendation after which its
// group ended it. A recommendation alone takes nothing back. What had already
// missed roll call for a cause that was found is not excused by a warning.
func (l InstanceIndex) TakenBack(i *snapshot.Instance) bool {
	if i.Ended() && l.Reason(i).Class == checkid.ID(checkid.SpotReclaimedBeforeJoin) {
		return true
	}
	launch, at := l.Launches[i.ID], l.EndOf(i)
	switch {
	case launch.Cause != "" && !at.Before(launch.Due):
		return false
	case !launch.Noticed.IsZero() && !at.Before(launch.Noticed) && at.Sub(launch.Noticed) <= warned:
		return true
	}
	return l.Rebalanced(i) && l.Activity[i.ID] != "" && activity.Rebalancing(l.Activity[i.ID])
}

// Rebalanced tells that an instance ended after EC2 had recommended to replace
// it: perhaps its group did.
func (l InstanceIndex) Rebalanced(i *snapshot.Instance) bool {
	recommended := l.Launches[i.ID].Rebalance
	return i.Ended() && !recommended.IsZero() && !l.EndOf(i).Before(recommended)
}

// Leaving tells that EC2 takes back an instance of which only the id is known
// here.
func (l InstanceIndex) Leaving(id string) bool {
	i, known := l.Instances[id]
	return known && l.TakenBack(i)
}

func (l InstanceIndex) Reason(i *snapshot.Instance) activity.Verdict {
	return activity.ClassifyReason(i.StateReason.Code, i.StateReason.Message)
}

// EndOf is when an instance ended; now, for one that has not, or of which EC2
// does not say.
func (l InstanceIndex) EndOf(i *snapshot.Instance) time.Time {
	if i.Ended() && !i.StateReason.When.IsZero() {
		return i.StateReason.When
	}
	return l.S.Time
}
