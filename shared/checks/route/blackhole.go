package route

import (
	"fmt"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/facts/routes"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

func Blackhole() check.Check {
	return usingTemplates(check.WithPathSources(check.Check{
		ID:         checkid.RouteBlackhole,
		Title:      "The winning route leads to something that is gone",
		Confidence: finding.Certain,
		Explains:   []checkid.ID{checkid.AnyJoinCause},
		// The targets are not needed: where they were read, one that EC2 still
		// describes has a check of its own; where not, the row's own state shows
		// that nothing passes, and not why.
		Needs:    []snapshot.Source{snapshot.Clusters, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints},
		After:    []checkid.ID{checkid.RouteNATUnusable, checkid.RouteIGWDetached, checkid.RouteNATInstanceSourceCheck},
		AtLaunch: true,
		Cause:    "The row that wins for a service that nodes need is a blackhole: its NAT gateway, interface, instance, peering connection or attachment was deleted, and the row was left behind. So is a row of a transit gateway's table.",
		Fix:      "Lead the row to a target that exists: a NAT gateway that works, or the internet gateway that is attached to this VPC.",
		Links:    []string{"https://docs.aws.amazon.com/vpc/latest/userguide/WorkWithRouteTables.html"},
		Run: func(s *facts.View) []finding.Finding {
			c := routes.Of(s)
			return ways(c, wayCheck{fault: path.Blackhole, id: inTable, open: routes.Rowless, say: blackholeFinding})
		},
	}))
}

func blackholeFinding(c *routes.Scope, f wayFault) finding.Finding {
	l, p := f.lots[0], f.way
	subnets := f.subnets()
	said := finding.Finding{
		Outcome:   finding.Fail,
		Resource:  f.id,
		Covers:    subnets,
		Instances: c.Stranded(subnets),
		Resources: p.Resources(),
		Title:     phrase.Title("%s leads to %s, which is gone", f.id, p.At),
		Evidence:  f.evidence(),
		Fix:       leadElsewhere(c, l, p),
	}
	what := "which was deleted or detached: EC2 calls the row a blackhole"
	switch {
	case p.Unread != "":
		what = fmt.Sprintf("which passes nothing: EC2 calls the row a blackhole. Whether it was deleted, detached or stopped is not known: the %s were not read", p.Unread)
	case p.Reason != "blackhole":
		what = "but " + p.Reason
	}
	if p.Unread != "" || p.Reason != "blackhole" {
		said.Title = phrase.Title("%s leads to %s, which passes nothing", f.id, p.At)
	}
	lost := phrase.And(path.Names(f.lost()))
	said.Why = fmt.Sprintf("%s sends %s to %s, %s. Nodes in %s cannot reach %s.", l.Table.ID, path.Destination(p.Row), p.At, what, phrase.Some(subnets, 3), lost)
	if f.id != l.Table.ID {
		said.Why = fmt.Sprintf("The default route of %s leads by %s to %s, %s. Nodes in %s cannot reach %s.",
			phrase.Some(f.tables(), 3), p.Row.Target.ID, p.At, what, phrase.Some(subnets, 3), lost)
		said.Fix = finding.Fix{Text: fmt.Sprintf("Lead the row of %s to a target that exists.", f.id), Console: link.AnyRouteTable(c.S, f.id)}
	}
	if p.At == f.id {
		said.Title = phrase.Title("%s has a blackhole for the internet", f.id)
	}
	return said
}

// leadElsewhere leads the row that was taken to something that works. Only a
// default route can be led to any NAT gateway.
func leadElsewhere(c *routes.Scope, l routes.Table, p path.Path) finding.Fix {
	switch {
	case p.Row.Target.Kind == snapshot.ToInternetGateway:
		return toGateway(c, l, p)
	case path.Destination(p.Row) == "0.0.0.0/0":
		return WayOut(c, l, "replace-route", p.At)
	}
	return finding.Fix{
		Text:    fmt.Sprintf("Lead %s of %s to a target that works, or delete the row.", path.Destination(p.Row), l.Table.ID),
		Console: link.RouteTable(c.S, l.Table.ID),
	}
}

// toGateway leads a public subnet back to an internet gateway: a NAT gateway
// would cut off what is reached from outside.
func toGateway(c *routes.Scope, l routes.Table, p path.Path) finding.Fix {
	fix := finding.Fix{Console: link.RouteTable(c.S, l.Table.ID)}
	igw, attached := c.Net.Gateway(l.Table.VPC)
	if p.Unread != "" {
		fix.Text = fmt.Sprintf("Lead %s of %s to the internet gateway that is attached to %s, or attach %s to it. Which gateways there are could not be read.", path.Destination(p.Row), l.Table.ID, l.Table.VPC, p.At)
		return fix
	}
	if !attached || igw.ID == p.At {
		fix.Text = fmt.Sprintf("Attach an internet gateway to %s (the row names %s), and lead %s of %s to it.", l.Table.VPC, p.At, path.Destination(p.Row), l.Table.ID)
		return fix
	}
	fix.Text = fmt.Sprintf("%s is attached to %s", igw.ID, l.Table.VPC)
	fix.Command = command.Route(c.S, "replace-route", l.Table.ID, path.Destination(p.Row), "--gateway-id", igw.ID)
	return fix
}
