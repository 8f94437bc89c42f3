package endpoint

import (
	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/facts/routes"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/checks/route"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

func Missing() check.Check {
	return check.WithPathSources(check.Check{
		ID:         checkid.EndpointMissing,
		Remedy:     route.AddNATRoute,
		Title:      "A VPC without internet lacks an endpoint that nodes need",
		Confidence: finding.Certain,
		Explains:   []checkid.ID{checkid.AnyJoinCause},
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints},
		After:      []checkid.ID{checkid.RouteNoEgress, checkid.RouteBlackhole, checkid.RouteNATUnusable, checkid.RouteNATNoInternet, checkid.RouteIGWNoPublicIP},
		AtLaunch:   true,
		Cause: "The subnet has no way to the internet, and the VPC has endpoints for some of what nodes need but not for all: the cluster API (private access), EC2, ECR (api and dkr), S3 and STS, and EKS where the bootstrap asks it about the cluster. " +
			"An endpoint that is there and cannot be used is the matter of a check of its own.",
		Fix: "Make the endpoints that are missing, with a security group that admits 443 from the nodes; for the cluster API switch private access on.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html",
			"https://docs.aws.amazon.com/vpc/latest/privatelink/create-interface-endpoint.html",
		},
		Run: func(s *facts.View) []finding.Finding {
			c := routes.Of(s)
			return gaps(c, absent, func(g gap) finding.Finding {
				return gapFinding(c, g, g.vpc, g.missing(), fixMissing(c, g))
			})
		},
	})
}

func (g gap) missing() string {
	var made []path.Service
	for _, s := range g.services() {
		if s != path.API {
			made = append(made, s)
		}
	}
	if len(made) == 0 {
		return phrase.Title("private access to the cluster API is off, with no internet route")
	}
	return phrase.Title("%s has no endpoint for %s", g.vpc, phrase.And(path.Names(made)))
}
