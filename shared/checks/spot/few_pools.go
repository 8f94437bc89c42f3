package spot

import (
	"fmt"
	"rollcall/shared/checkid"
	"slices"

	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/node/spot"
	"rollcall/shared/snapshot"
)

func FewPools() check.Check {
	return check.Check{
		ID:         checkid.SpotFewPools,
		Title:      "What launches Spot has too few pools to ride out a shortage",
		Confidence: finding.Advice,
		WatchedBy:  []check.Detector{check.SpotReport},
		Needs:      []snapshot.Source{snapshot.Nodegroups, snapshot.Subnets},
		Uses:       []snapshot.Source{snapshot.NodePoolsOf, snapshot.EC2NodeClassesOf, snapshot.AutoNodeClassesOf},
		CoversToo:  check.NodePools,
		Cause:      fmt.Sprintf("A pool is an instance type in a zone. A nodegroup with fewer than %d of them loses its capacity when EC2 takes back or refuses one. So does a NodePool that launches Spot instances only, where its requirements name so few types, or families with sizes or CPUs; one that leaves more open has plenty.", spot.FewPools),
		Fix:        "Add instance types of the same size, of other generations and families, and subnets in more zones. AWS advises ten types or more.",
		Links: []string{
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-best-practices.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html",
		},
		Run: runFewPools,
	}
}

func runFewPools(s *facts.View) []finding.Finding {
	zones := make(map[string]string, len(s.Subnets))
	for _, n := range s.Subnets {
		zones[n.ID] = n.Zone
	}
	var list []finding.Finding
	var well []string
	for _, g := range s.Nodegroups {
		if !g.Spot || g.Max == 0 {
			well = append(well, g.Name)
			continue
		}
		in, lost := zonesOf(g.Subnets, zones)
		types := max(1, len(g.Types)) // without any the launch template names one
		switch {
		case types*len(in) >= spot.FewPools:
			well = append(well, g.Name)
		case lost != "":
			list = append(list, finding.Finding{
				Outcome: finding.Unknown, Resource: g.Name, Covers: []string{g.Name},
				Blocked: []snapshot.Failure{{Source: snapshot.Subnets, Reason: snapshot.NotRead, Message: lost + " is not among the subnets that EC2 lists"}},
			})
		default:
			list = append(list, tooFewPools(s, g, in))
		}
	}
	missing := make([]string, 0, len(s.Missing[snapshot.Nodegroups]))
	for name := range s.Missing[snapshot.Nodegroups] {
		missing = append(missing, name)
	}
	slices.Sort(missing)
	for _, name := range missing {
		list = append(list, finding.Finding{Outcome: finding.Unknown, Resource: name, Covers: []string{name}, Blocked: []snapshot.Failure{s.Missing[snapshot.Nodegroups][name]}})
	}
	pools, good := fewInPools(s)
	list, well = append(list, pools...), append(well, good...)
	if unread := len(pools) == 1 && pools[0].Resource == s.Cluster.Name; !unread && (len(well) > 0 || len(list) == 0) {
		well = append(well, s.Cluster.Name)
	}
	if len(well) > 0 {
		list = append(list, finding.Finding{Outcome: finding.Pass, Resource: s.Cluster.Name, Covers: well})
	}
	return list
}

// zonesOf are the zones of subnets, and one subnet that is not known.
func zonesOf(subnets []string, of map[string]string) (zones []string, lost string) {
	for _, id := range subnets {
		zone, known := of[id]
		if !known {
			lost = id
			continue
		}
		zones = append(zones, zone)
	}
	slices.Sort(zones)
	return slices.Compact(zones), lost
}

func tooFewPools(s *facts.View, g snapshot.Nodegroup, zones []string) finding.Finding {
	types := g.Types
	if len(types) == 0 {
		types = []string{"the launch template's type"}
	}
	n := len(types) * len(zones)
	return finding.Finding{
		Outcome: finding.Fail, Resource: g.Name, Covers: []string{g.Name}, Resources: g.Subnets,
		Title: phrase.Title("%s has only %d Spot %s", g.Name, n, phrase.Plural(n, "pool", "pools")),
		Why: fmt.Sprintf("%s can launch %s in %s: %d %s. When EC2 has no more of one, a large part of the nodegroup goes with it.",
			g.Name, phrase.Some(types, 5), phrase.Some(zones, 5), n, phrase.Plural(n, "pool", "pools")),
		Evidence: []finding.Evidence{{What: "Types", Value: phrase.And(types)}, {What: "Zones", Value: phrase.And(zones)}},
		Fix: finding.Fix{
			Text:    fmt.Sprintf("Add types of the same size to %s (the types of a managed node group cannot be changed: make a new one), or subnets in more zones.", g.Name),
			Console: fmt.Sprintf("%s/eks/home?region=%s#/clusters/%s/nodegroups/%s", link.Host(s), s.Region, s.Cluster.Name, g.Name),
		},
	}
}
