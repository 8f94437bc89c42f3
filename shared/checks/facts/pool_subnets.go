package facts

import (
	"cmp"
	"slices"
	"strings"

	"rollcall/shared/node/scheduling"
	"rollcall/shared/snapshot"
)

// PoolSubnets are the subnets into which a NodePool launches: those of its class,
// in the zones that its requirements allow. Known is false where nobody can say.
func PoolSubnets(s *View, p snapshot.NodePool) (list []snapshot.ZonedSubnet, known bool) {
	class, read := Class(s, p.Class)
	if class == nil {
		return nil, read // without its class it launches nothing
	}
	all := class.Selected
	if len(all) == 0 {
		// Conditions are written before the subnets, and a class that found none has none.
		if !s.Has(snapshot.Subnets) || len(class.Subnets) == 0 {
			return nil, class.Conditions["SubnetsReady"].Status == "False"
		}
		all = selectedSubnets(s, class)
	}
	for _, n := range all {
		if PoolAllowsZone(p, n.Zone) {
			list = append(list, n)
		}
	}
	slices.SortFunc(list, func(a, b snapshot.ZonedSubnet) int {
		return cmp.Or(strings.Compare(a.Zone, b.Zone), strings.Compare(a.ID, b.ID))
	})
	return list, true
}

// AllPoolSubnets are the subnets of all NodePools that launch nodes.
func AllPoolSubnets(s *snapshot.Snapshot) []string {
	v := NewView(s)
	var ids []string
	for _, p := range s.NodePools {
		if p.Deleting {
			continue
		}
		list, _ := PoolSubnets(v, p)
		for _, n := range list {
			ids = append(ids, n.ID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// typeLabel is the requirement by which a NodePool names its instance types.
const typeLabel = "node.kubernetes.io/instance-type"

// PoolTypes are the instance types that a NodePool names, else those that its nodes
// are of: of a hundred that would fit nobody knows which comes next.
func PoolTypes(s *snapshot.Snapshot, p snapshot.NodePool) []string {
	var names []string
	for _, r := range p.Requirements {
		if r.Key == typeLabel && r.Operator == "In" {
			names = append(names, r.Values...)
		}
	}
	if len(names) == 0 {
		for _, c := range s.NodeClaims {
			if c.Pool == p.Name && c.Type != "" {
				names = append(names, c.Type)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// AllPoolTypes are those of all NodePools.
func AllPoolTypes(s *snapshot.Snapshot) []string {
	var names []string
	for _, p := range s.NodePools {
		names = append(names, PoolTypes(s, p)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// PoolAllowsZone tells that the requirements of a NodePool leave a zone open.
func PoolAllowsZone(p snapshot.NodePool, zone string) bool {
	return scheduling.PoolAllows(p, snapshot.Requirement{Key: scheduling.ZoneLabel, Operator: "In", Values: []string{zone}})
}

// selectedSubnets are those of the cluster's VPC that one of the terms selects:
// by id, or by all of its tags, of which "*" takes any value
// (aws/karpenter-provider-aws pkg/providers/subnet/subnet.go, getFilterSets).
func selectedSubnets(s *View, class *snapshot.NodeClass) []snapshot.ZonedSubnet {
	var list []snapshot.ZonedSubnet
	for _, n := range s.Subnets {
		if slices.ContainsFunc(class.Subnets, func(t snapshot.SelectorTerm) bool { return selects(t, n) }) {
			list = append(list, snapshot.ZonedSubnet{ID: n.ID, Zone: n.Zone})
		}
	}
	return list
}

func selects(t snapshot.SelectorTerm, n snapshot.Subnet) bool {
	if t.ID != "" {
		return t.ID == n.ID
	}
	for key, want := range t.Tags {
		if value, has := n.Tags[key]; !has || want != "*" && value != want {
			return false
		}
	}
	return len(t.Tags) > 0
}
