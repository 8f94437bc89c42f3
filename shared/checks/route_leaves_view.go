package checks

import (
	"fmt"
	"slices"

	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// leavesView never fails: that a way cannot be followed is no fault of the
// network. It is Unknown once for each hop, and names it.
func leavesView() Check {
	return usingTemplates(walking(Check{
		ID:         "route/leaves-view",
		Title:      "A path leads to what cannot be read",
		Confidence: Possible,
		NeverFails: true,
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints},
		AtLaunch:   true,
		Cause:      "The path to something that nodes need leads through a transit gateway or VPC of another account, a firewall, an appliance, a VPN or a prefix list whose inside cannot be read, and no Ready node shows that it works.",
		Fix:        "Look at the hop that is named, from the account that owns it. Where a permission is named, grant it.",
		Links:      []string{"https://docs.aws.amazon.com/vpc/latest/reachability/what-is-reachability-analyzer.html"},
		Run: func(s *View) []Finding {
			return s.RouteScope().leavesView()
		},
	}))
}

func (c *scene) leavesView() []Finding {
	list := slices.Clone(c.blind)
	var away []Finding
	for _, l := range c.lots {
		var hops []Finding
		for _, p := range l.paths {
			if p.Verdict != path.LeavesView || l.witness != "" {
				continue
			}
			f := beyond(l, p.Way)
			f.Evidence = l.walked()
			if !slices.ContainsFunc(hops, func(o Finding) bool { return o.Resource == f.Resource }) {
				hops = append(hops, f)
			}
		}
		if len(hops) == 0 {
			f := l.pass()
			f.Evidence = l.walked()
			if w, leaves := l.away(); leaves {
				f.Evidence = append(f.Evidence, Evidence{What: l.witness, Value: fmt.Sprintf("is a Ready node: what is behind %s works", w.At)})
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
func merge(list []Finding, f Finding) []Finding {
	i := slices.IndexFunc(list, func(o Finding) bool { return o.Resource == f.Resource && slices.Equal(o.Blocked, f.Blocked) })
	if i < 0 {
		return append(list, f)
	}
	list[i].Covers = append(list[i].Covers, f.Covers...)
	list[i].Title = title("%s leaves what can be read at %s", subject(list[i].Covers, "subnet"), f.Resource)
	return list
}
