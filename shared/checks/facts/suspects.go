package facts

import (
	"slices"

	"rollcall/shared/node/activity"
	"rollcall/shared/node/outcome"
	"rollcall/shared/snapshot"
)

// Suspects are the instances of the scope that have not joined and could have: what
// they run with may be the cause. One that has ended is among them only if it never was
// a node (Past), however it ended. Instances of warm pools, those that were ended on
// request within their time to join, and those that EC2 took back are none:
// spot/reclaimed-before-join reports these. Well are the Ready nodes.
func (l InstanceIndex) Suspects() (suspects, well []*snapshot.Instance) {
	for _, i := range l.S.Scoped() {
		n := l.Nodes[i.ID]
		switch {
		case n != nil && n.Joined():
			well = append(well, i)
		case l.Warm[i.ID]:
		case i.Ended():
			if l.failedToJoin(i) {
				suspects = append(suspects, i)
			}
		case !l.TakenBack(i):
			suspects = append(suspects, i)
		}
	}
	return suspects, well
}

// failedToJoin reports whether an instance that has ended had its time to become a
// node, or was not let have it, and never was one. What ended by itself is judged by
// its own reason (instance/ended-early, launch/…).
func (l InstanceIndex) failedToJoin(i *snapshot.Instance) bool {
	launch, remembered := l.Launches[i.ID]
	if !remembered || l.Past(i) != Never {
		return false
	}
	lived, known := l.lived(i)
	if l.TakenBack(i) {
		return known && lived > outcome.Longest
	}
	if i.StateReason.Code != UserInitiated && i.StateReason.Code != "" {
		return false
	}
	return !l.Wanted[i.ID] || known && !i.StateReason.When.Before(launch.Due)
}

// IDs are the instances' ids.
func IDs(list []*snapshot.Instance) []string {
	out := make([]string, len(list))
	for i, in := range list {
		out[i] = in.ID
	}
	return out
}

// UserInitiated is the code both of a person's call and of a group's scale-in.
const UserInitiated = activity.UserInitiated

// Except are the instances of a list that are in none of the others.
func Except(list []*snapshot.Instance, others ...[]*snapshot.Instance) []*snapshot.Instance {
	out := map[*snapshot.Instance]bool{}
	for _, o := range others {
		for _, i := range o {
			out[i] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(list), func(i *snapshot.Instance) bool { return out[i] })
}
