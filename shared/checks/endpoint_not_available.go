package checks

import (
	"fmt"
	"strings"

	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

func endpointNotAvailable() Check {
	return walking(Check{
		ID:         "endpoint/not-available",
		Title:      "An endpoint that nodes need passes no traffic",
		Confidence: Certain,
		Explains:   []ID{AnyJoinCause},
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints},
		After:      []ID{"route/no-egress", "route/blackhole", "route/nat-unusable", "route/nat-no-internet", "route/igw-no-public-ip"},
		AtLaunch:   true,
		Cause:      "The subnet has no way to the internet, and the endpoint for what nodes need is pending, waits to be accepted, was rejected, failed, or is being deleted.",
		Fix:        "Wait while it is pending, accept it where it waits for that, and make it anew where it failed.",
		Links: []string{
			"https://docs.aws.amazon.com/vpc/latest/privatelink/create-interface-endpoint.html",
			"https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_VpcEndpoint.html",
		},
		Run: func(s *View) []Finding {
			c := s.RouteScope()
			return c.gaps(unavailable, func(g gap) Finding {
				ids := g.unused()
				f := c.finding(g, ids[0], title("%s for %s %s not available", subject(ids, "endpoint"), and(path.Names(g.services())), verb(ids, "is", "are")), c.fixNotAvailable(g))
				for _, a := range g.absent {
					if a.unused.Error != "" {
						f.Evidence = append(f.Evidence, Evidence{What: a.unused.ID, Value: clip(a.unused.Error)})
					}
				}
				return f
			})
		},
	})
}

func (c *scene) fixNotAvailable(g gap) Fix {
	fix := Fix{Console: console(c.s, "Endpoints:vpcId="+g.vpc)}
	waiting := true
	for _, a := range g.absent {
		waiting = waiting && strings.EqualFold(a.unused.State, "pending")
	}
	if waiting {
		fix.Text = "Wait: a new endpoint takes a few minutes to become available. Nodes that miss their time then need replacing."
		return fix
	}
	fix.Text = fmt.Sprintf("Accept or make anew: %s.", some(g.reasons(), 5))
	fix.Command = aws(c.s, "ec2 describe-vpc-endpoints", "--vpc-endpoint-ids", g.unused(), "--query", "VpcEndpoints[].[VpcEndpointId,State,LastError]")
	return fix
}
