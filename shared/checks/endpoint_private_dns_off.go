package checks

import (
	"fmt"

	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

func endpointPrivateDNSOff() Check {
	return walking(Check{
		ID:         "endpoint/private-dns-off",
		Title:      "An interface endpoint does not take its service's name",
		Confidence: Certain,
		Explains:   []ID{AnyJoinCause},
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints},
		After:      []ID{"route/no-egress", "route/blackhole", "route/nat-unusable", "route/nat-no-internet", "route/igw-no-public-ip"},
		AtLaunch:   true,
		Cause: "The subnet has no way to the internet, and an interface endpoint for what nodes need has private DNS off: the service's name leads to public addresses. " +
			"Where a private hosted zone of one's own could stand in for it, which cannot be seen, the finding is likely only.",
		Fix: "Switch private DNS on. It needs the VPC's DNS support and DNS hostnames.",
		Links: []string{
			"https://docs.aws.amazon.com/vpc/latest/privatelink/privatelink-access-aws-services.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html",
		},
		Run: func(s *View) []Finding {
			c := s.RouteScope()
			return c.gaps(nameless, func(g gap) Finding {
				ids := g.unused()
				fix := Fix{Console: console(s, "Endpoints:vpcId="+g.vpc), Text: fmt.Sprintf("Switch private DNS on: %s.", some(ids, 5))}
				var commands []string
				for _, a := range g.absent {
					commands = append(commands, c.make(g, a))
				}
				fix.Command = several(commands)
				return c.finding(g, ids[0], title("%s for %s %s private DNS off", subject(ids, "endpoint"), and(path.Names(g.services())), verb(ids, "has", "have")), fix)
			})
		},
	})
}
