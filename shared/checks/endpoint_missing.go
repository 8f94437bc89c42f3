package checks

import (
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

func endpointMissing() Check {
	return walking(Check{
		ID:         "endpoint/missing",
		Title:      "A VPC without internet lacks an endpoint that nodes need",
		Confidence: Certain,
		Explains:   []ID{AnyJoinCause},
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints},
		After:      []ID{"route/no-egress", "route/blackhole", "route/nat-unusable", "route/nat-no-internet", "route/igw-no-public-ip"},
		AtLaunch:   true,
		Cause: "The subnet has no way to the internet, and the VPC has endpoints for some of what nodes need but not for all: the cluster API (private access), EC2, ECR (api and dkr), S3 and STS, and EKS where the bootstrap asks it about the cluster. " +
			"An endpoint that is there and cannot be used is the matter of a check of its own.",
		Fix: "Make the endpoints that are missing, with a security group that admits 443 from the nodes; for the cluster API switch private access on.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html",
			"https://docs.aws.amazon.com/vpc/latest/privatelink/create-interface-endpoint.html",
		},
		Run: func(s *View) []Finding {
			c := s.RouteScope()
			return c.gaps(absent, func(g gap) Finding {
				return c.finding(g, g.vpc, g.missing(), c.fixMissing(g))
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
		return title("private access of the cluster API is off, and there is no way out")
	}
	return title("%s has no endpoint for %s", g.vpc, and(path.Names(made)))
}
