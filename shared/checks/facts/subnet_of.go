package facts

import (
	"cmp"

	"rollcall/shared/node/scheduling"
	"rollcall/shared/snapshot"
)

// SubnetOf is the subnet of an instance. EC2 forgets that of a terminated one;
// its group's activity still names it, and where a group has one subnet, or the
// class of a NodePool one in the instance's zone, there is no choice.
func SubnetOf(s *View, i *snapshot.Instance) string {
	if i.Subnet != "" {
		return i.Subnet
	}
	for _, a := range s.Activities {
		if a.Instance == i.ID && a.Subnet != "" {
			return a.Subnet
		}
	}
	for _, g := range s.Groups {
		if g.Name == i.Tags["aws:autoscaling:groupName"] && len(g.Subnets) == 1 {
			return g.Subnets[0]
		}
	}
	pool := cmp.Or(i.Tags[scheduling.PoolLabel], i.Tags[AutoPoolTag])
	for _, p := range s.NodePools {
		if p.Name != pool {
			continue
		}
		var here []string
		list, _ := PoolSubnets(s, p)
		for _, n := range list {
			if n.Zone == i.Zone {
				here = append(here, n.ID)
			}
		}
		if len(here) == 1 {
			return here[0]
		}
	}
	return ""
}
