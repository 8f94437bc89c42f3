package spot

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/node/spot"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

// fewInPools judges the NodePools that launch Spot instances and nothing else: one that
// may launch on demand too does so where no Spot pool has capacity (karpenter.sh,
// NodePools, "Capacity Type").
func fewInPools(s *facts.View) (list []finding.Finding, well []string) {
	if blocked, unread := facts.KarpenterUnread(s, snapshot.NodePoolsOf); unread {
		return []finding.Finding{{Outcome: finding.Unknown, Resource: s.Cluster.Name, Covers: []string{s.Cluster.Name}, Blocked: blocked}}, nil
	}
	for _, p := range s.NodePools {
		key := facts.PoolKey(p.Name)
		subnets, known := facts.PoolSubnets(s, p)
		types, bounded := mostTypes(p)
		var zones []string
		for _, n := range subnets {
			zones = append(zones, n.Zone)
		}
		slices.Sort(zones)
		zones = slices.Compact(zones)
		switch {
		case p.Deleting || !onlySpot(p) || !bounded || noneLeft(p):
			well = append(well, key)
		case !known:
			// Of a hundred types in one zone no shortage is one of all.
			list = append(list, finding.Finding{Outcome: finding.Unknown, Resource: p.Name, Covers: []string{key}, Blocked: []snapshot.Failure{poolsBlocked(s, p)}})
		case len(types)*len(zones) >= spot.FewPools || len(zones) == 0:
			well = append(well, key)
		default:
			list = append(list, fewInPool(s, p, types, zones))
		}
	}
	return list, well
}

// onlySpot tells that all nodes of a NodePool are Spot instances. What it leaves open
// is on demand, or both: neither hangs on Spot alone.
func onlySpot(p snapshot.NodePool) bool {
	return slices.ContainsFunc(p.Requirements, func(r snapshot.Requirement) bool {
		return r.Key == "karpenter.sh/capacity-type" && r.Operator == "In" && slices.Equal(r.Values, []string{"spot"})
	})
}

// noneLeft tells that its limits let a NodePool have no node at all: it is switched off.
func noneLeft(p snapshot.NodePool) bool {
	return p.Limits["cpu"] == "0" || p.Limits["nodes"] == "0"
}

// mostTypes are the instance types that the requirements of a NodePool leave at the
// most; bounded is false where they name neither types nor families with sizes or
// CPUs: then there are plenty.
func mostTypes(p snapshot.NodePool) (types []string, bounded bool) {
	named := func(suffixes ...string) (values []string, has bool) {
		for _, r := range p.Requirements {
			for _, suffix := range suffixes {
				own := r.Key == suffix || r.Key == snapshot.KarpenterGroup+"/"+suffix || r.Key == snapshot.AutoModeGroup+"/"+suffix
				if own && r.Operator == "In" && (!has || len(r.Values) < len(values)) {
					values, has = r.Values, true
				}
			}
		}
		return values, has
	}
	if list, has := named("node.kubernetes.io/instance-type"); has {
		return distinct(list), true
	}
	families, has := named("instance-family")
	if !has {
		return nil, false
	}
	sizes, has := named("instance-size")
	if !has {
		if sizes, has = named("instance-cpu"); !has {
			return nil, false
		}
		sizes = slices.Clone(sizes)
		for i := range sizes {
			sizes[i] += " CPUs"
		}
	}
	for _, family := range distinct(families) {
		for _, size := range distinct(sizes) {
			types = append(types, family+"."+size)
		}
	}
	return types, true
}

func distinct(list []string) []string {
	list = slices.Sorted(slices.Values(list))
	return slices.Compact(list)
}

func poolsBlocked(s *facts.View, p snapshot.NodePool) snapshot.Failure {
	source := snapshot.EC2NodeClassesOf
	if p.Class.Group == snapshot.AutoModeGroup {
		source = snapshot.AutoNodeClassesOf
	}
	if !s.Has(source) {
		return s.Why(source)
	}
	return snapshot.Failure{Source: source, Reason: snapshot.NotRead, Message: "its class does not say which subnets it selects"}
}

func fewInPool(s *facts.View, p snapshot.NodePool, types, zones []string) finding.Finding {
	n := len(types) * len(zones)
	return finding.Finding{
		Outcome: finding.Fail, Resource: p.Name, Covers: []string{facts.PoolKey(p.Name)},
		Title: phrase.Title("NodePool %s has only %d Spot %s", p.Name, n, phrase.Plural(n, "pool", "pools")),
		Why: fmt.Sprintf("NodePool %s launches Spot instances only, of %s in %s: %d %s at the most. When EC2 has no more of one, a large part of its nodes goes with it, and Karpenter has little else to ask for.",
			p.Name, phrase.Some(types, 5), phrase.Some(zones, 5), n, phrase.Plural(n, "pool", "pools")),
		Evidence: []finding.Evidence{{What: "Types", Value: strings.Join(types, ", ")}, {What: "Zones", Value: phrase.And(zones)}},
		Fix: finding.Fix{
			Text:    fmt.Sprintf("Let the requirements of NodePool %s leave more types open (categories and generations instead of names), or more zones; or let it launch on demand too.", p.Name),
			Command: shell.Command("kubectl", "edit", "nodepool", p.Name), Console: link.Cluster(s),
		},
	}
}
