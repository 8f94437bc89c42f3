package reconcile

import "rollcall/shared/incident"

// updateCapacity takes in what the groups of an open incident want and have. A message
// gives numbers of one moment: where its launches stand otherwise now, and this look did
// not count its groups, what an earlier one counted is not said any more.
func (rec *reconciler) updateCapacity(u *incident.Update) {
	before := u.Capacity
	if u.State != incident.Open {
		u.Capacity = nil // it is said of what is open alone
		return
	}
	counted := u.CapacityIn(rec.Observation)
	switch {
	case counted != nil && (before == nil || !rec.Observation.At.Before(before.At)):
		u.Capacity = counted
	case !u.CapacityStands(rec.Observation.At):
		u.Capacity = nil
	}
	u.Touched = u.Touched || !before.Same(u.Capacity)
}
