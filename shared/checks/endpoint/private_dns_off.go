package endpoint

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

func PrivateDNSOff() check.Check {
	return check.WithPathSources(check.Check{
		ID:         checkid.EndpointPrivateDNSOff,
		Title:      "An interface endpoint does not take its service's name",
		Confidence: finding.Certain,
		Explains:   []checkid.ID{checkid.AnyJoinCause},
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints},
		After:      []checkid.ID{checkid.RouteNoEgress, checkid.RouteBlackhole, checkid.RouteNATUnusable, checkid.RouteNATNoInternet, checkid.RouteIGWNoPublicIP},
		AtLaunch:   true,
		Cause: "The subnet has no way to the internet, and an interface endpoint for what nodes need has private DNS off: the service's name leads to public addresses. " +
			"Where a private hosted zone of one's own could stand in for it, which cannot be seen, the finding is likely only.",
		Fix: "Switch private DNS on. It needs the VPC's DNS support and DNS hostnames.",
		Links: []string{
			"https://docs.aws.amazon.com/vpc/latest/privatelink/privatelink-access-aws-services.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html",
		},
		Run: func(s *facts.View) []finding.Finding {
			c := routes.Of(s)
			return gaps(c, nameless, func(g gap) finding.Finding {
				ids := g.unused()
				fix := finding.Fix{Console: link.VPC(s, "Endpoints:vpcId="+g.vpc), Text: fmt.Sprintf("Switch private DNS on: %s.", phrase.Some(ids, 5))}
				var commands []string
				for _, a := range g.absent {
					commands = append(commands, makeEndpoints(c, g, a))
				}
				fix.Command = command.Several(commands)
				return gapFinding(c, g, ids[0], phrase.Title("%s for %s %s private DNS off", phrase.Subject(ids, "endpoint"), phrase.And(path.Names(g.services())), phrase.Verb(ids, "has", "have")), fix)
			})
		},
	})
}
