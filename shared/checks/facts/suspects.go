package facts

import (
	"slices"

	"rollcall/shared/node/activity"
	"rollcall/shared/snapshot"
)

// Suspects are the instances of the scope that have not joined and could
// have: what they run with may be to blame. Instances that wait in a warm
// pool, that ended as somebody asked, or that EC2 itself took back, or is about
// to, are none: spot/reclaimed-before-join tells of these.
// One that ended otherwise, and never was a node, still is: it was perhaps
// ended because it did not join. Well are the Ready nodes: nothing kept them.
func (l InstanceIndex) Suspects() (suspects, well []*snapshot.Instance) {
	for _, i := range l.S.Scoped() {
		n := l.Nodes[i.ID]
		switch {
		case n != nil && n.Joined():
			well = append(well, i)
		case l.Warm[i.ID], l.Wanted[i.ID], l.TakenBack(i):
		case !i.Ended():
			suspects = append(suspects, i)
		case n == nil && (i.StateReason.Code == UserInitiated || i.StateReason.Code == ""):
			if _, remembered := l.Launches[i.ID]; remembered {
				suspects = append(suspects, i)
			}
		}
	}
	return suspects, well
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
