package detect

import (
	"slices"

	"rollcall/shared/diagnose"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// capacity is what the groups that causes and launches name want, and what they have. Of
// groups or nodes that were not read in full it says nothing, nor of a group that counts
// anything but instances.
func capacity(s *snapshot.Snapshot, d diagnose.Diagnosis, launches []report.Launch) (list []report.Capacity) {
	if !s.Has(snapshot.Groups) || !s.Has(snapshot.Nodes) {
		return nil
	}
	named := namedGroups(d, launches)
	ready := map[string]bool{}
	for _, n := range s.Nodes {
		ready[n.Instance] = ready[n.Instance] || n.Joined()
	}
	for _, g := range s.Groups {
		c := report.Capacity{Group: g.Name, Nodegroup: g.Owner(), Desired: g.Desired}
		if g.Weighted || !named[c.Group] && !named[c.Nodegroup] {
			continue
		}
		for _, in := range g.Instances {
			if ready[in.ID] && !slices.Contains(g.Warm, in.ID) {
				c.Ready++
			}
		}
		list = append(list, c)
	}
	return list
}
