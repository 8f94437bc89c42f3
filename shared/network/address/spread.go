package address

import (
	"slices"

	"rollcall/shared/snapshot"
)

// spread is how a group's nodes spread over its subnets.
type spread struct {
	group  snapshot.Group
	more   int // to its maximum
	wanted int // of these, to what it desires now
	// zones are its subnets' zones, and how many of its subnets each has; ran is
	// how many of its nodes run in each.
	zones map[string]int
	ran   map[string]int
	// unplaced tells that it is not known where all of its nodes run.
	unplaced bool
	// stops tells that it launches no more.
	stops bool
}

// shared is a group's part in one subnet.
type shared struct {
	nodes  Span
	wanted int
	idle   bool // it wants no node at all now
}

func spreadOf(g snapshot.Group, s *snapshot.Snapshot) spread {
	sp := spread{group: g, zones: map[string]int{}, ran: map[string]int{}}
	zone := map[string]string{}
	for _, n := range s.Subnets {
		zone[n.ID] = n.Zone
	}
	for _, id := range g.Subnets {
		sp.zones[zone[id]]++
	}
	ids := map[string]bool{}
	for _, i := range g.Instances {
		if !gone(i.Lifecycle) {
			ids[i.ID] = true
		}
	}
	placed := 0
	for _, i := range s.Instances {
		ended := i.Ended()
		if ended {
			delete(ids, i.ID)
			continue
		}
		if i.Tags["aws:autoscaling:groupName"] == g.Name && !slices.Contains(g.Warm, i.ID) {
			ids[i.ID] = true
		}
		if ids[i.ID] {
			placed++
			sp.ran[i.Zone]++
		}
	}
	sp.unplaced = placed < len(ids)
	sp.more = max(0, g.Max-len(ids))
	sp.wanted = min(sp.more, max(0, g.Desired-len(ids)))
	sp.stops = sp.more == 0 || slices.ContainsFunc(g.Suspended, func(p snapshot.Suspended) bool { return p.Process == "Launch" })
	return sp
}

// share is the part of a subnet. Auto Scaling keeps zones at the same number of
// nodes, and of a zone's subnets it takes any (EC2 Auto Scaling user guide,
// "Instance distribution"): so at its maximum a group has the same number in
// each zone. It is rounded down. When other zones have no capacity, it may be
// all.
func (sp spread) share(n snapshot.Subnet) shared {
	least, wanted := sp.more/len(sp.group.Subnets), sp.wanted/len(sp.group.Subnets)
	if !sp.unplaced {
		least = max(0, min(sp.more, sp.group.Max/len(sp.zones)-sp.ran[n.Zone])) / sp.zones[n.Zone]
		wanted = max(0, min(sp.wanted, sp.group.Desired/len(sp.zones)-sp.ran[n.Zone])) / sp.zones[n.Zone]
	}
	return shared{nodes: Span{least, sp.more}, wanted: wanted, idle: sp.group.Desired == 0}
}
