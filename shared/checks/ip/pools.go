package ip

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/address"
	"rollcall/shared/node/scheduling"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

// addressPools are what the NodePools may still launch, the heaviest first, which
// Karpenter tries first. One whose subnets nobody can tell is left out.
func addressPools(s *facts.View) []address.Pool {
	var list []address.Pool
	pools := slices.SortedStableFunc(slices.Values(s.NodePools), func(a, b snapshot.NodePool) int { return cmp.Compare(b.Weight, a.Weight) })
	for _, p := range pools {
		subnets, known := facts.PoolSubnets(s, p)
		if p.Deleting || !known || len(subnets) == 0 {
			continue
		}
		pool := address.Pool{Name: p.Name, Types: facts.PoolTypes(s.Snapshot, p), Auto: p.Class.Group == snapshot.AutoModeGroup, Idle: true}
		for _, n := range subnets {
			pool.Subnets = append(pool.Subnets, n.ID)
		}
		pool.Nodes, pool.CPUs = leftOf(p)
		for _, c := range s.NodeClaims {
			if c.Pool != p.Name || c.Deleting {
				continue
			}
			pool.Idle = false
			if c.Instance == "" {
				pool.Wanted++
			}
		}
		list = append(list, pool)
	}
	return list
}

// leftOf is what the limits of a NodePool leave that tell how many nodes may come.
func leftOf(p snapshot.NodePool) (nodes *int, cpus *float64) {
	if limit, has := p.Limits["nodes"]; has {
		if left, ok := scheduling.Remaining(limit, cmp.Or(p.Used["nodes"], "0")); ok {
			f, _ := left.Float64()
			n := int(f)
			nodes = &n
		}
	}
	if limit, has := p.Limits["cpu"]; has {
		if left, ok := scheduling.Remaining(limit, cmp.Or(p.Used["cpu"], "0")); ok {
			f, _ := left.Float64()
			cpus = &f
		}
	}
	return nodes, cpus
}

// judgePools holds the rule of NodePools with several subnets:
//
//	they do not fit in all of them together, asked for now or room for less than two   Fail, likely
//	they do not fit                                                                    Fail, advice
//	they fit                                                                           Pass
func judgePools(s *facts.View, pools []address.Pool, with podNetwork) []finding.Finding {
	var list []finding.Finding
	for _, fit := range address.FittingPools(s.Snapshot, with.Settings, pools) {
		n := fit.Nodes.Least
		sum := fmt.Sprintf("%d more %s x %d = %d; %s have %d free", n, fit.Small, fit.Each, n*fit.Each, phrase.Some(fit.Subnets, 3), fit.Free)
		f := finding.Finding{
			Outcome: finding.Pass, Resource: fit.Pool, Covers: []string{facts.PoolKey(fit.Pool)},
			Evidence: []finding.Evidence{{What: "Addresses of NodePool " + fit.Pool, Value: sum}},
		}
		if fit.Fits() {
			list = append(list, f)
			continue
		}
		f.Outcome = finding.Fail
		if !fit.Imminent() {
			f.Confidence = finding.Advice
		}
		f.Resources = slices.Clone(fit.Subnets)
		f.Behind = []checkid.ID{} // what explains a subnet does not explain all of them
		f.Title = phrase.Title("NodePool %s has no addresses for %d more %s", fit.Pool, n, phrase.Plural(n, "node", "nodes"))
		f.Why = fmt.Sprintf("NodePool %s may launch %d more %s by its limits, in %s: %s.", fit.Pool, n, phrase.Plural(n, "node", "nodes"), phrase.Some(fit.Subnets, 3), sum)
		if fit.Wanted > 0 {
			f.Why += fmt.Sprintf(" It asks for %d now.", fit.Wanted)
		}
		f.Fix = finding.Fix{
			Text:    fmt.Sprintf("Let the class of NodePool %s select larger subnets or more of them, lower its limits to what fits, or let nodes take fewer addresses (WARM_IP_TARGET and MINIMUM_IP_TARGET of aws-node).", fit.Pool),
			Command: shell.Command("kubectl", "get", "nodepool", fit.Pool, "-o", "yaml"), Console: link.Cluster(s),
		}
		list = append(list, f)
	}
	return list
}

// launcherNoun names what launches into a subnet: its groups, its NodePools, or both.
func launcherNoun(units map[string]bool) string {
	pools := 0
	for unit := range units {
		if strings.HasPrefix(unit, snapshot.PoolKey("")) {
			pools++
		}
	}
	switch groups := len(units) - pools; {
	case pools == 0:
		return fmt.Sprintf("%d %s", groups, phrase.Plural(groups, "group", "groups"))
	case groups == 0:
		return fmt.Sprintf("%d %s", pools, phrase.Plural(pools, "NodePool", "NodePools"))
	default:
		return fmt.Sprintf("%d %s and %d %s", groups, phrase.Plural(groups, "group", "groups"), pools, phrase.Plural(pools, "NodePool", "NodePools"))
	}
}
