package outcome

import "rollcall/shared/node/activity"

// Lost tells that a node that had joined ended though nobody asked for that:
// EC2 took it back, it ended by itself, or a health check failed. What somebody
// or a scale-in ended is not lost, nor is what ended for a reason that is not
// known. EC2's code for a call is the same whoever calls: only its warning, or
// the activity of the group, tells more.
func (f Facts) Lost() bool {
	if f.Ready.IsZero() {
		return false
	}
	if _, taken := f.taken(activity.ClassifyReason(f.Reason.Code, f.Reason.Message)); taken {
		return !f.Ended.IsZero() || !f.Over.IsZero() || f.Reason != EndReason{}
	}
	switch f.Reason.Code {
	case "", activity.UserInitiated, "Client.UserInitiatedHibernate":
		return activity.Failing(f.By)
	}
	return !activity.Asked(f.By)
}
