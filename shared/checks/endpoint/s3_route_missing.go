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
	"rollcall/shared/snapshot"
)

func S3RouteMissing() check.Check {
	return check.WithPathSources(check.Check{
		ID:         checkid.EndpointS3RouteMissing,
		Title:      "The route table does not lead to the gateway endpoint for S3",
		Confidence: finding.Certain,
		Explains:   []checkid.ID{checkid.AnyJoinCause},
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints},
		After:      []checkid.ID{checkid.RouteNoEgress, checkid.RouteBlackhole, checkid.RouteNATUnusable, checkid.RouteNATNoInternet, checkid.RouteIGWNoPublicIP},
		AtLaunch:   true,
		Cause: "The subnet has no way to the internet, and the VPC's gateway endpoint for S3 is not in the subnet's route table. " +
			"ECR keeps image layers in S3: the node can log in to the registry and cannot pull.",
		Fix: "Add the route table to the gateway endpoint.",
		Links: []string{
			"https://docs.aws.amazon.com/vpc/latest/privatelink/gateway-endpoints.html",
			"https://docs.aws.amazon.com/AmazonECR/latest/userguide/vpc-endpoints.html",
		},
		Run: func(s *facts.View) []finding.Finding {
			c := routes.Of(s)
			return gaps(c, unrouted, func(g gap) finding.Finding {
				endpoint := g.absent[0].unused.ID
				var tables []string
				for _, l := range g.lots {
					tables = finding.Adding(tables, l.Table.ID)
				}
				return gapFinding(c, g, endpoint, phrase.Title("%s %s not lead to %s for %s", phrase.Some(tables, 1), phrase.Verb(tables, "does", "do"), endpoint, g.absent[0].service.Name()), finding.Fix{
					Text:    fmt.Sprintf("Add %s to %s.", phrase.And(tables), endpoint),
					Command: command.AWS(s, "ec2 modify-vpc-endpoint", "--vpc-endpoint-id", endpoint, "--add-route-table-ids", tables),
					Console: link.VPC(s, "Endpoints:vpcId="+g.vpc),
				})
			})
		},
	})
}
