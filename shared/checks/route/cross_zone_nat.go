package route

import (
	"fmt"
	"rollcall/shared/checkid"
	"slices"

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

func CrossZoneNAT() check.Check {
	return usingTemplates(check.WithPathSources(check.Check{
		ID:         checkid.RouteCrossZoneNAT,
		Title:      "The NAT gateway is in another zone",
		Confidence: finding.Advice,
		WatchedBy:  []check.Detector{check.JoinCheck, check.Sweep},
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints, snapshot.NATGateways},
		AtLaunch:   true,
		Cause:      "The subnet's default route is to a NAT gateway in another availability zone. It works, costs the transfer between zones, and fails with the other zone.",
		Fix:        "Give each zone a NAT gateway and each zone's subnets a route table that leads to it, or use a regional NAT gateway.",
		Links:      []string{"https://docs.aws.amazon.com/vpc/latest/userguide/nat-gateway-basics.html"},
		Run: func(s *facts.View) []finding.Finding {
			// It works, so no instance is in trouble because of it: the subnets
			// that the groups launch into are judged.
			c := routes.NewScope(s, slices.Concat(s.Scope.Subnets, s.Scope.Launchable))
			return c.Each(crossZoneFinding)
		},
	}))
}

// crossZone judges one lot: only a way that works, and begins with a NAT
// gateway whose zone is known.
func crossZoneFinding(c *routes.Scope, l routes.Table) finding.Finding {
	if len(l.Outside()) == 0 || l.Internet.Verdict != path.Reaches || !byNAT(l.Internet) {
		return l.Pass()
	}
	nat, _ := c.Net.NAT(l.Internet.Row.Target.ID)
	zone := c.Net.Zone(nat)
	var far []string
	var zones []string
	for _, s := range l.Subnets {
		if zone == "" || s.Zone == "" || s.Zone == zone {
			continue
		}
		far = append(far, s.ID)
		if !slices.Contains(zones, s.Zone) {
			zones = append(zones, s.Zone)
		}
	}
	if len(far) == 0 {
		return l.Pass()
	}
	return finding.Finding{
		Outcome:   finding.Fail,
		Resource:  l.Table.ID,
		Covers:    far,
		Resources: l.Internet.Resources(),
		Title:     phrase.Title("%s %s out by %s in %s", phrase.Subject(far, "subnet"), phrase.Verb(far, "goes", "go"), nat.ID, zone),
		Why: fmt.Sprintf("%s sends %s to %s in %s; %s %s in %s. Nodes join, but their traffic is charged between zones, and stops when %s fails.",
			l.Table.ID, path.Destination(l.Internet.Row), nat.ID, zone, phrase.Some(far, 3), phrase.Verb(far, "is", "are"), phrase.And(zones), zone),
		Evidence: l.Evidence(),
		Fix:      fixCrossZone(c, l, nat, zones),
	}
}

// fixCrossZone leads a table whose subnets all stand in one zone to that
// zone's gateway; other tables have to be split first.
func fixCrossZone(c *routes.Scope, l routes.Table, nat snapshot.NATGateway, zones []string) finding.Fix {
	fix := finding.Fix{Console: link.RouteTable(c.S, l.Table.ID)}
	if len(l.Zones()) == 1 && len(zones) == 1 {
		for _, other := range c.Net.WorkingNATs(l.Table.VPC, zones[0]) {
			if other.ID == nat.ID || other.Zone != zones[0] && other.RouteTable == "" {
				continue
			}
			fix.Text = fmt.Sprintf("%s: available, same zone", other.ID)
			fix.Command = command.Route(c.S, "replace-route", l.Table.ID, path.Destination(l.Internet.Row), "--nat-gateway-id", other.ID)
			return fix
		}
		fix.Text = fmt.Sprintf("Make a NAT gateway in a public subnet of %s, and lead %s of %s to it.", zones[0], path.Destination(l.Internet.Row), l.Table.ID)
		return fix
	}
	fix.Text = fmt.Sprintf("Give each of %s a route table and a NAT gateway of its own. %s serves %s.", phrase.And(zones), l.Table.ID, phrase.And(l.Zones()))
	return fix
}
