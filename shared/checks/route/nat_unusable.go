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

func NATUnusable() check.Check {
	return usingTemplates(check.WithPathSources(check.Check{
		ID:         checkid.RouteNATUnusable,
		Title:      "The NAT gateway passes no traffic",
		Confidence: finding.Certain,
		Explains:   []checkid.ID{checkid.AnyJoinCause},
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints, snapshot.NATGateways},
		AtLaunch:   true,
		Cause:      "The NAT gateway that wins for what nodes need is pending, failed, deleting or deleted, or it is a private one with nothing behind it that leads to the internet. A deleted gateway can be described for about an hour.",
		Fix:        "Lead the route to a NAT gateway that works, or make a new one: a failed gateway cannot be repaired.",
		Links:      []string{"https://docs.aws.amazon.com/vpc/latest/userguide/nat-gateway-troubleshooting.html"},
		Run: func(s *facts.View) []finding.Finding {
			c := routes.Of(s)
			return ways(c, wayCheck{fault: path.NATUnusable, id: atEnd, open: func(w path.Way) bool { return maySpareNAT(c, w) }, say: natUnusableFinding})
		},
	}))
}

// maySpareNAT tells that a way that leaves what is read may still end at an
// unusable NAT gateway. A public one that is available is usable, wherever it
// leads.
func maySpareNAT(c *routes.Scope, w path.Way) bool {
	nat, seen := c.Net.NAT(w.Row.Target.ID)
	return routes.Rowless(w) || byNAT(w) && !(seen && nat.Public)
}

func natUnusableFinding(c *routes.Scope, f wayFault) finding.Finding {
	nat, _ := c.Net.NAT(f.id)
	state := path.NATState(nat.State)
	if nat.State == "available" {
		state = "is private and leads nowhere"
	}
	ids := f.subnets()
	return finding.Finding{
		Outcome:   finding.Fail,
		Resource:  f.id,
		Covers:    ids,
		Instances: c.Stranded(ids),
		Resources: f.way.Resources(),
		Title:     phrase.Title("%s %s", f.id, state),
		Why: fmt.Sprintf("%s %s %s to %s, but %s. Nodes in %s cannot reach %s.",
			phrase.Some(f.tables(), 3), phrase.Verb(f.tables(), "sends", "send"), path.Destination(f.way.Row), f.way.Row.Target.ID,
			phrase.Clip(f.way.Reason), phrase.Some(ids, 3), phrase.And(path.Names(f.lost()))),
		Evidence: f.evidence(),
		Fix:      fixNAT(c, f, nat),
	}
}

func fixNAT(c *routes.Scope, f wayFault, nat snapshot.NATGateway) finding.Fix {
	fix := finding.Fix{Console: link.VPC(c.S, "NatGatewayDetails:natGatewayId="+f.id)}
	var commands []string
	for _, l := range f.lots {
		other, why, ok := ToNAT(c, l.Table.VPC, l.Zones(), f.id)
		if !ok {
			break
		}
		fix.Text = why
		commands = append(commands, command.Route(c.S, "replace-route", l.Table.ID, path.Destination(f.way.Row), "--nat-gateway-id", other.ID))
	}
	switch {
	case nat.State == "pending":
		return finding.Fix{Text: "Wait: a new NAT gateway takes a few minutes to become available. Nodes that miss their time then need replacing.", Console: fix.Console}
	case len(commands) == len(f.lots):
		fix.Command = command.Several(commands)
	default:
		fix.Text = fmt.Sprintf("Make a new public NAT gateway in a public subnet, and lead %s of %s to it. No other NAT gateway of %s works.", path.Destination(f.way.Row), phrase.Some(f.tables(), 3), nat.VPC)
	}
	return fix
}
