package endpoint

import (
	"fmt"
	"strings"

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

func NotAvailable() check.Check {
	return check.WithPathSources(check.Check{
		ID:         checkid.EndpointNotAvailable,
		Title:      "An endpoint that nodes need passes no traffic",
		Confidence: finding.Certain,
		Explains:   []checkid.ID{checkid.AnyJoinCause},
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints},
		After:      []checkid.ID{checkid.RouteNoEgress, checkid.RouteBlackhole, checkid.RouteNATUnusable, checkid.RouteNATNoInternet, checkid.RouteIGWNoPublicIP},
		AtLaunch:   true,
		Cause:      "The subnet has no way to the internet, and the endpoint for what nodes need is pending, waits to be accepted, was rejected, failed, or is being deleted.",
		Fix:        "Wait while it is pending, accept it where it waits for that, and make it anew where it failed.",
		Links: []string{
			"https://docs.aws.amazon.com/vpc/latest/privatelink/create-interface-endpoint.html",
			"https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_VpcEndpoint.html",
		},
		Run: func(s *facts.View) []finding.Finding {
			c := routes.Of(s)
			return gaps(c, unavailable, func(g gap) finding.Finding {
				ids := g.unused()
				f := gapFinding(c, g, ids[0], phrase.Title("%s for %s %s not available", phrase.Subject(ids, "endpoint"), phrase.And(path.Names(g.services())), phrase.Verb(ids, "is", "are")), fixNotAvailable(c, g))
				for _, a := range g.absent {
					if a.unused.Error != "" {
						f.Evidence = append(f.Evidence, finding.Evidence{What: a.unused.ID, Value: phrase.Clip(a.unused.Error)})
					}
				}
				return f
			})
		},
	})
}

func fixNotAvailable(c *routes.Scope, g gap) finding.Fix {
	fix := finding.Fix{Console: link.VPC(c.S, "Endpoints:vpcId="+g.vpc)}
	waiting := true
	for _, a := range g.absent {
		waiting = waiting && strings.EqualFold(a.unused.State, "pending")
	}
	if waiting {
		fix.Text = "Wait: a new endpoint takes a few minutes to become available. Nodes that miss their time then need replacing."
		return fix
	}
	fix.Text = fmt.Sprintf("Accept or make anew: %s.", phrase.Some(g.reasons(), 5))
	fix.Command = command.AWS(c.S, "ec2 describe-vpc-endpoints", "--vpc-endpoint-ids", g.unused(), "--query", "VpcEndpoints[].[VpcEndpointId,State,LastError]")
	return fix
}
