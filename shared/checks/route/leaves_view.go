package route

import (
	"fmt"
	"rollcall/shared/checkid"
	"slices"

	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/facts/routes"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// LeavesView never fails: that a way cannot be followed is no fault of the
// network. It is Unknown once for each hop, and names it.
func LeavesView() check.Check {
	return usingTemplates(check.WithPathSources(check.Check{
		ID:         checkid.RouteLeavesView,
		Title:      "A path leads to what cannot be read",
		Confidence: finding.Possible,
		NeverFails: true,
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints},
		AtLaunch:   true,
		Cause:      "The path to something that nodes need leads through a transit gateway or VPC of another account, a firewall, an appliance, a VPN or a prefix list whose inside cannot be read, and no Ready node shows that it works.",
		Fix:        "Look at the hop that is named, from the account that owns it. Where a permission is named, grant it.",
		Links:      []string{"https://docs.aws.amazon.com/vpc/latest/reachability/what-is-reachability-analyzer.html"},
		Run: func(s *facts.View) []finding.Finding {
			return leavesViewFinding(routes.Of(s))
		},
	}))
}

func leavesViewFinding(c *routes.Scope) []finding.Finding {
	list := slices.Clone(c.Blind)
	var away []finding.Finding
	for _, l := range c.Lots {
		var hops []finding.Finding
		for _, p := range l.Paths {
			if p.Verdict != path.LeavesView || l.Witness != "" {
				continue
			}
			f := routes.Beyond(l, p.Way)
			f.Evidence = facts.Walked(l.Paths)
			if !slices.ContainsFunc(hops, func(o finding.Finding) bool { return o.Resource == f.Resource }) {
				hops = append(hops, f)
			}
		}
		if len(hops) == 0 {
			f := l.Pass()
			f.Evidence = facts.Walked(l.Paths)
			if w, leaves := l.Away(); leaves {
				f.Evidence = append(f.Evidence, finding.Evidence{What: l.Witness, Value: fmt.Sprintf("is a Ready node: what is behind %s works", w.At)})
			}
			list = append(list, f)
			continue
		}
		for _, f := range hops {
			away = merge(away, f)
		}
	}
	return append(list, away...)
}

// merge adds an Unknown; what is unknown for one reason at one hop is one.
func merge(list []finding.Finding, f finding.Finding) []finding.Finding {
	i := slices.IndexFunc(list, func(o finding.Finding) bool { return o.Resource == f.Resource && slices.Equal(o.Blocked, f.Blocked) })
	if i < 0 {
		return append(list, f)
	}
	list[i].Covers = append(list[i].Covers, f.Covers...)
	list[i].Title = phrase.Title("%s leaves what can be read at %s", phrase.Subject(list[i].Covers, "subnet"), f.Resource)
	return list
}
