package checks

import "rollcall/shared/snapshot"

// suspects are the instances of the scope that have not joined and could
// have: what they run with may be to blame. Instances that wait in a warm
// pool, that ended as somebody asked, or that EC2 itself took back, or is about
// to, are none: spot/reclaimed-before-join tells of these.
// One that ended otherwise, and never was a node, still is: it was perhaps
// ended because it did not join. Well are the Ready nodes: nothing kept them.
func (l ledger) suspects() (suspects, well []*snapshot.Instance) {
	for _, i := range l.s.Scoped() {
		n := l.nodes[i.ID]
		switch {
		case n != nil && n.Joined():
			well = append(well, i)
		case l.warm[i.ID], l.wanted[i.ID], l.takenBack(i):
		case !i.Ended():
			suspects = append(suspects, i)
		case n == nil && (i.StateReason.Code == userInitiated || i.StateReason.Code == ""):
			if _, remembered := l.launches[i.ID]; remembered {
				suspects = append(suspects, i)
			}
		}
	}
	return suspects, well
}

// ids are the instances' ids.
func ids(list []*snapshot.Instance) []string {
	out := make([]string, len(list))
	for i, in := range list {
		out[i] = in.ID
	}
	return out
}
