package checks

import (
	"fmt"

	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

func blackholeRoute() Check {
	return usingTemplates(walking(Check{
		ID:         "route/blackhole",
		Title:      "The winning route leads to something that is gone",
		Confidence: Certain,
		Explains:   []ID{AnyJoinCause},
		// The targets are not needed: where they were read, one that EC2 still
		// describes has a check of its own; where not, the row's own state is
		// proof enough.
		Needs:    []snapshot.Source{snapshot.Clusters, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints},
		After:    []ID{"route/nat-unusable", "route/igw-detached", "route/nat-instance-source-check"},
		AtLaunch: true,
		Cause:    "The row that wins for a service that nodes need is a blackhole: its NAT gateway, interface, instance, peering connection or attachment was deleted, and the row was left behind. So is a row of a transit gateway's table.",
		Fix:      "Lead the row to a target that exists: a NAT gateway that works, or the internet gateway that is attached to this VPC.",
		Links:    []string{"https://docs.aws.amazon.com/vpc/latest/userguide/WorkWithRouteTables.html"},
		Run: func(s *View) []Finding {
			c := s.RouteScope()
			return c.ways(wayCheck{fault: path.Blackhole, id: inTable, open: rowless, say: blackholeFinding})
		},
	}))
}

func blackholeFinding(c *scene, f wayFault) Finding {
	l, p := f.lots[0], f.way
	subnets := f.subnets()
	finding := Finding{
		Outcome:   Fail,
		Resource:  f.id,
		Covers:    subnets,
		Instances: c.stranded(subnets),
		Resources: p.Resources(),
		Title:     title("%s leads to %s, which is gone", f.id, p.At),
		Evidence:  f.evidence(),
		Fix:       c.leadElsewhere(l, p),
	}
	what := "which was deleted or detached: EC2 calls the row a blackhole"
	if p.Reason != "blackhole" {
		what = "but " + p.Reason
		finding.Title = title("%s leads to %s, which passes nothing", f.id, p.At)
	}
	lost := and(path.Names(f.lost()))
	finding.Why = fmt.Sprintf("%s sends %s to %s, %s. Nodes in %s cannot reach %s.", l.table.ID, path.Destination(p.Row), p.At, what, some(subnets, 3), lost)
	if f.id != l.table.ID {
		finding.Why = fmt.Sprintf("The way out of %s leads by %s to %s, %s. Nodes in %s cannot reach %s.",
			some(f.tables(), 3), p.Row.Target.ID, p.At, what, some(subnets, 3), lost)
		finding.Fix = Fix{Text: fmt.Sprintf("Lead the row of %s to a target that exists.", f.id), Console: farTableLink(c.s, f.id)}
	}
	if p.At == f.id {
		finding.Title = title("%s has a blackhole for the internet", f.id)
	}
	return finding
}

// leadElsewhere leads the row that was taken to something that works. Only a
// default route can be led to any NAT gateway.
func (c *scene) leadElsewhere(l lot, p path.Path) Fix {
	switch {
	case p.Row.Target.Kind == snapshot.ToInternetGateway:
		return c.toGateway(l, p)
	case path.Destination(p.Row) == "0.0.0.0/0":
		return c.wayOut(l, "replace-route", p.At)
	}
	return Fix{
		Text:    fmt.Sprintf("Lead %s of %s to a target that works, or delete the row.", path.Destination(p.Row), l.table.ID),
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
	fix.Command = route(c.s, "replace-route", l.table.ID, path.Destination(p.Row), "--gateway-id", igw.ID)
	return fix
}
