package checks

import (
	"fmt"

	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

func natUnusable() Check {
	return usingTemplates(walking(Check{
		ID:         "route/nat-unusable",
		Title:      "The NAT gateway passes no traffic",
		Confidence: Certain,
		Explains:   []ID{AnyJoinCause},
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints, snapshot.NATGateways},
		AtLaunch:   true,
		Cause:      "The NAT gateway that wins for what nodes need is pending, failed, deleting or deleted, or it is a private one with nothing behind it that leads to the internet. A deleted gateway can be described for about an hour.",
		Fix:        "Lead the route to a NAT gateway that works, or make a new one: a failed gateway cannot be repaired.",
		Links:      []string{"https://docs.aws.amazon.com/vpc/latest/userguide/nat-gateway-troubleshooting.html"},
		Run: func(s *View) []Finding {
			c := s.RouteScope()
			return c.ways(wayCheck{fault: path.NATUnusable, id: atEnd, open: func(w path.Way) bool { return maySpareNAT(c, w) }, say: natUnusableFinding})
		},
	}))
}

// maySpareNAT tells that a way that leaves what is read may still end at an
// unusable NAT gateway. A public one that is available is usable, wherever it
// leads.
func maySpareNAT(c *scene, w path.Way) bool {
	nat, seen := c.net.NAT(w.Row.Target.ID)
	return rowless(w) || byNAT(w) && !(seen && nat.Public)
}

func natUnusableFinding(c *scene, f wayFault) Finding {
	nat, _ := c.net.NAT(f.id)
	state := path.NATState(nat.State)
	if nat.State == "available" {
		state = "is private and leads nowhere"
	}
	ids := f.subnets()
	return Finding{
		Outcome:   Fail,
		Resource:  f.id,
		Covers:    ids,
		Instances: c.stranded(ids),
		Resources: f.way.Resources(),
		Title:     title("%s %s", f.id, state),
		Why: fmt.Sprintf("%s %s %s to %s, but %s. Nodes in %s cannot reach %s.",
			some(f.tables(), 3), verb(f.tables(), "sends", "send"), path.Destination(f.way.Row), f.way.Row.Target.ID,
			clip(f.way.Reason), some(ids, 3), and(path.Names(f.lost()))),
		Evidence: f.evidence(),
		Fix:      c.fixNAT(f, nat),
	}
}

func (c *scene) fixNAT(f wayFault, nat snapshot.NATGateway) Fix {
	fix := Fix{Console: console(c.s, "NatGatewayDetails:natGatewayId="+f.id)}
	var commands []string
	for _, l := range f.lots {
		other, why, ok := c.toNAT(l.table.VPC, l.zones(), f.id)
		if !ok {
			break
		}
		fix.Text = why
		commands = append(commands, route(c.s, "replace-route", l.table.ID, path.Destination(f.way.Row), "--nat-gateway-id", other.ID))
	}
	switch {
	case nat.State == "pending":
		return Fix{Text: "Wait: a new NAT gateway takes a few minutes to become available. Nodes that miss their time then need replacing.", Console: fix.Console}
	case len(commands) == len(f.lots):
		fix.Command = several(commands)
	default:
		fix.Text = fmt.Sprintf("Make a new public NAT gateway in a public subnet, and lead %s of %s to it. No other NAT gateway of %s works.", path.Destination(f.way.Row), some(f.tables(), 3), nat.VPC)
	}
	return fix
}
