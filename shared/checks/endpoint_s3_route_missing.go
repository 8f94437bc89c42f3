package checks

import (
	"fmt"

	"rollcall/shared/snapshot"
)

func endpointS3RouteMissing() Check {
	return walking(Check{
		ID:         "endpoint/s3-route-missing",
		Title:      "The route table does not lead to the gateway endpoint for S3",
		Confidence: Certain,
		Explains:   []ID{AnyJoinCause},
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints},
		After:      []ID{"route/no-egress", "route/blackhole", "route/nat-unusable", "route/nat-no-internet", "route/igw-no-public-ip"},
		AtLaunch:   true,
		Cause: "The subnet has no way to the internet, and the VPC's gateway endpoint for S3 is not in the subnet's route table. " +
			"ECR keeps image layers in S3: the node can log in to the registry and cannot pull.",
		Fix: "Add the route table to the gateway endpoint.",
		Links: []string{
			"https://docs.aws.amazon.com/vpc/latest/privatelink/gateway-endpoints.html",
			"https://docs.aws.amazon.com/AmazonECR/latest/userguide/vpc-endpoints.html",
		},
		Run: func(s *View) []Finding {
			c := s.RouteScope()
			return c.gaps(unrouted, func(g gap) Finding {
				endpoint := g.absent[0].unused.ID
				var tables []string
				for _, l := range g.lots {
					tables = adding(tables, l.table.ID)
				}
				return c.finding(g, endpoint, title("%s %s not lead to %s for %s", some(tables, 1), verb(tables, "does", "do"), endpoint, g.absent[0].service.Name()), Fix{
					Text:    fmt.Sprintf("Add %s to %s.", and(tables), endpoint),
					Command: aws(s, "ec2 modify-vpc-endpoint", "--vpc-endpoint-id", endpoint, "--add-route-table-ids", tables),
					Console: console(s, "Endpoints:vpcId="+g.vpc),
				})
			})
		},
	})
}
