package checks

import (
	"fmt"

	"rollcall/shared/path"
	"rollcall/shared/snapshot"
)

func blackholeRoute() Check {
	return Check{
		ID:         "route/blackhole",
		Title:      "The winning route leads to something that is gone",
		Confidence: Certain,
		// NAT gateways are not needed: where they were read, one that EC2
		// still describes is route/nat-unusable; where not, the row's own
		// state is proof enough.
		Needs:    []snapshot.Source{snapshot.Clusters, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints},
		After:    []ID{"route/nat-unusable"},
		AtLaunch: true,
		Cause:    "The row that wins for a service that nodes need is a blackhole: its NAT gateway, interface, instance or attachment was deleted or detached, and the row was left behind.",
		Fix:      "Lead the row to a target that exists: a NAT gateway that works, or the internet gateway that is attached to this VPC.",
		Links:    []string{"https://docs.aws.amazon.com/vpc/latest/userguide/WorkWithRouteTables.html"},
		Run: func(s *snapshot.Snapshot) []Finding {
			c := look(s)
			return c.each(func(l lot) Finding { return c.blackhole(l) })
		},
	}
}

func (c *scene) blackhole(l lot) Finding {
	for _, p := range l.paths {
		if p.Verdict == path.Blackhole {
			return c.intoNothing(l, p)
		}
	}
	if w, away := l.away(); away && rowless(w) {
		return beyond(l, w)
	}
	return l.pass()
}

func (c *scene) intoNothing(l lot, p path.Path) Finding {
	var lost []path.Service
	for _, other := range l.paths {
		if other.Verdict == path.Blackhole {
			lost = append(lost, other.Service)
		}
	}
	what := "which was deleted or detached: EC2 calls the row a blackhole"
	if p.Reason != "blackhole" {
		what = "but " + p.Reason
	}
	return Finding{
		Outcome:   Fail,
		Resource:  l.table.ID,
		Covers:    l.ids(),
		Instances: c.stranded(l.ids()),
		Resources: p.Resources(),
		Title:     title("%s leads to %s, which is gone", l.table.ID, p.At),
		Why: fmt.Sprintf("%s sends %s to %s, %s. Nodes in %s cannot reach %s.",
			l.table.ID, path.Destination(p.Row), p.At, what, some(l.ids(), 3), and(path.Names(lost))),
		Evidence: l.evidence(),
		Fix:      c.fixBlackhole(l, p),
	}
}

// fixBlackhole leads the row that is a blackhole elsewhere. Only a default
// route can be led to any NAT gateway.
func (c *scene) fixBlackhole(l lot, p path.Path) Fix {
	switch {
	case p.Row.Target.Kind == snapshot.ToInternetGateway:
		return c.toGateway(l, p)
	case path.Destination(p.Row) == "0.0.0.0/0":
		return c.wayOut(l, "replace-route", p.At)
	}
	return Fix{
		Text:    fmt.Sprintf("Lead %s of %s to a target that exists, or delete the row.", path.Destination(p.Row), l.table.ID),
		Console: tableLink(c.s, l.table.ID),
	}
}

// toGateway leads a public subnet back to an internet gateway: a NAT gateway
// would cut off what is reached from outside.
func (c *scene) toGateway(l lot, p path.Path) Fix {
	fix := Fix{Console: tableLink(c.s, l.table.ID)}
	igw, attached := c.net.Gateway(l.table.VPC)
	if !attached || igw.ID == p.At {
		fix.Text = fmt.Sprintf("Attach an internet gateway to %s (the row names %s), and lead %s of %s to it.", l.table.VPC, p.At, path.Destination(p.Row), l.table.ID)
		return fix
	}
	fix.Text = fmt.Sprintf("%s is attached to %s", igw.ID, l.table.VPC)
	fix.Command = route(c.s, "replace-route", l.table.ID, path.Destination(p.Row), "--gateway-id "+igw.ID)
	return fix
}
