package zones

import (
	"slices"
	"strings"

	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/node/scheduling"
	"rollcall/shared/snapshot"
)

// poolZonesKnown tells that the NodePools were read, and of each of them where it
// launches. EKS Auto Mode has NodePools too; where there are none, though nodes say
// that something launches beside the groups, nothing is known of it.
func poolZonesKnown(s *facts.View) bool {
	return s.Has(snapshot.NodePoolsOf) && len(s.NodePools) > 0 && !slices.ContainsFunc(s.NodePools, func(p snapshot.NodePool) bool {
		_, known := facts.PoolSubnets(s, p)
		return !p.Deleting && !known
	})
}

// poolFor is a NodePool that launches in one of the zones, and whose nodes take
// the pod, if one waits.
func (p *Zones) poolFor(zones []string, pod *snapshot.WaitingPod) string {
	for _, pool := range p.S.NodePools {
		if pool.Deleting || pod != nil && !scheduling.PoolTakes(pool, pod) {
			continue
		}
		if p.poolLaunches(pool, slices.DeleteFunc(slices.Clone(zones), func(z string) bool { return p.poolShifted(pool.Name, z) })) {
			return pool.Name
		}
	}
	return ""
}

// poolLaunches reports whether a NodePool has a subnet in one of the zones.
func (p *Zones) poolLaunches(pool snapshot.NodePool, zones []string) bool {
	subnets, _ := facts.PoolSubnets(p.S, pool)
	return slices.ContainsFunc(subnets, func(n snapshot.ZonedSubnet) bool { return slices.Contains(zones, n.Zone) })
}

// mostPools is of how many NodePools it is told where they launch.
const mostPools = 10

// PoolEvidence is where the NodePools launch, as far as that is known.
func (p *Zones) PoolEvidence() []finding.Evidence {
	var out []finding.Evidence
	for _, pool := range p.S.NodePools[:min(len(p.S.NodePools), mostPools)] {
		subnets, known := facts.PoolSubnets(p.S, pool)
		if !known {
			continue
		}
		var zones []string
		for _, n := range subnets {
			zones = append(zones, n.Zone)
		}
		value := "launches in " + strings.Join(slices.Compact(zones), ", ")
		if len(zones) == 0 {
			value = "launches nowhere: its class has no subnet in a zone that it allows"
		}
		out = append(out, finding.Evidence{What: "NodePool " + pool.Name, Value: value})
	}
	return out
}
