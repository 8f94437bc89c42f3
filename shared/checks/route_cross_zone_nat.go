package checks

import (
	"fmt"
	"slices"

	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

func crossZoneNAT() Check {
	return usingTemplates(walking(Check{
		ID:         "route/cross-zone-nat",
		Title:      "The NAT gateway is in another zone",
		Confidence: Advice,
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints, snapshot.NATGateways},
		AtLaunch:   true,
		Cause:      "The subnet's way out is a NAT gateway in another availability zone. It works, costs the transfer between zones, and fails with the other zone.",
		Fix:        "Give each zone a NAT gateway and each zone's subnets a route table that leads to it, or use a regional NAT gateway.",
		Links:      []string{"https://docs.aws.amazon.com/vpc/latest/userguide/nat-gateway-basics.html"},
		Run: func(s *View) []Finding {
			// It works, so no instance is in trouble because of it: the subnets
			// that the groups launch into are judged.
			c := lookInto(s, slices.Concat(s.Scope.Subnets, s.Scope.Launchable))
			return c.each(crossZoneFinding)
		},
	}))
}

// crossZone judges one lot: only a way that works, and begins with a NAT
// gateway whose zone is known.
func crossZoneFinding(c *scene, l lot) Finding {
	if len(l.outside()) == 0 || l.internet.Verdict != path.Reaches || !byNAT(l.internet) {
		return l.pass()
	}
	nat, _ := c.net.NAT(l.internet.Row.Target.ID)
	zone := c.net.Zone(nat)
	var far []string
	var zones []string
	for _, s := range l.subnets {
		if zone == "" || s.Zone == "" || s.Zone == zone {
			continue
		}
		far = append(far, s.ID)
		if !slices.Contains(zones, s.Zone) {
			zones = append(zones, s.Zone)
		}
	}
	if len(far) == 0 {
		return l.pass()
	}
	return Finding{
		Outcome:   Fail,
		Resource:  l.table.ID,
		Covers:    far,
		Resources: l.internet.Resources(),
		Title:     title("%s %s out by %s in %s", subject(far, "subnet"), verb(far, "goes", "go"), nat.ID, zone),
		Why: fmt.Sprintf("%s sends %s to %s in %s; %s %s in %s. Nodes join, but their traffic is charged between zones, and stops when %s fails.",
			l.table.ID, path.Destination(l.internet.Row), nat.ID, zone, some(far, 3), verb(far, "is", "are"), and(zones), zone),
		Evidence: l.evidence(),
		Fix:      c.fixCrossZone(l, nat, zones),
	}
}

// fixCrossZone leads a table whose subnets all stand in one zone to that
// zone's gateway; other tables have to be split first.
func (c *scene) fixCrossZone(l lot, nat snapshot.NATGateway, zones []string) Fix {
	fix := Fix{Console: tableLink(c.s, l.table.ID)}
	if len(l.zones()) == 1 && len(zones) == 1 {
		for _, other := range c.net.WorkingNATs(l.table.VPC, zones[0]) {
			if other.ID == nat.ID || other.Zone != zones[0] && other.RouteTable == "" {
				continue
			}
			fix.Text = fmt.Sprintf("%s: available, same zone", other.ID)
			fix.Command = route(c.s, "replace-route", l.table.ID, path.Destination(l.internet.Row), "--nat-gateway-id", other.ID)
			return fix
		}
		fix.Text = fmt.Sprintf("Make a NAT gateway in a public subnet of %s, and lead %s of %s to it.", zones[0], path.Destination(l.internet.Row), l.table.ID)
		return fix
	}
	fix.Text = fmt.Sprintf("Give each of %s a route table and a NAT gateway of its own. %s serves %s.", and(zones), l.table.ID, and(l.zones()))
	return fix
}
