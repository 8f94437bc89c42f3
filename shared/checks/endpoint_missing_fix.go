package checks

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/network/path"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

// fixMissing makes what is missing. A VPC with gateway endpoints only (they
// cost nothing, so most have one) and a NAT gateway that works is not private
// by design: there the plain fix is the route that was forgotten.
func (c *scene) fixMissing(g gap) Fix {
	fix := Fix{Console: console(c.s, "Endpoints:vpcId="+g.vpc)}
	first := g.lots[0]
	nat, why, works := c.toNAT(g.vpc, first.zones(), "")
	if works && !c.interfaces(g.vpc) && len(g.lots) == 1 {
		return c.wayOut(first, "create-route", "")
	}
	var commands []string
	for _, a := range g.absent {
		commands = append(commands, c.make(g, a))
	}
	if !slices.Contains(commands, "") {
		fix.Command = shell.All(commands...)
	}
	fix.Text = "Make what is missing: " + and(path.Names(g.services())) + "."
	if works {
		fix.Text += fmt.Sprintf(" Or lead 0.0.0.0/0 of %s to %s (%s).", first.table.ID, nat.ID, strings.TrimPrefix(why, nat.ID+": "))
	}
	return fix
}

// interfaces tells that the VPC has an interface endpoint for a needed service.
func (c *scene) interfaces(vpc string) bool {
	return slices.ContainsFunc(path.Needed(), func(service path.Service) bool {
		return slices.ContainsFunc(c.net.Endpoints(vpc, service), func(e snapshot.Endpoint) bool {
			return strings.EqualFold(e.Kind, "Interface") && there(e)
		})
	})
}

// make is the command that ends one absence; empty where it takes a decision.
func (c *scene) make(g gap, a absence) string {
	var tables []string
	for _, l := range g.lots {
		tables = append(tables, l.table.ID)
	}
	switch {
	case a.service == path.API:
		return aws(c.s, "eks update-cluster-config", "--name", c.s.Cluster.Name, "--resources-vpc-config", "endpointPrivateAccess=true")
	case a.lack == nameless:
		return aws(c.s, "ec2 modify-vpc-endpoint", "--vpc-endpoint-id", a.unused.ID, "--private-dns-enabled")
	case c.s.Partition == "aws-cn":
		return "" // there the names of services differ from service to service
	case a.service == path.S3:
		return aws(c.s, "ec2 create-vpc-endpoint", "--vpc-id", g.vpc, "--vpc-endpoint-type", "Gateway",
			"--service-name", fmt.Sprintf("com.amazonaws.%s.s3", c.s.Region), "--route-table-ids", tables)
	}
	words := []any{
		"--vpc-id", g.vpc, "--vpc-endpoint-type", "Interface", "--service-name", fmt.Sprintf("com.amazonaws.%s.%s", c.s.Region, a.service),
		"--private-dns-enabled", "--subnet-ids", g.onePerZone(),
	}
	if c.s.Cluster.SecurityGroup != "" {
		words = append(words, "--security-group-ids", c.s.Cluster.SecurityGroup)
	}
	return aws(c.s, "ec2 create-vpc-endpoint", words...)
}

// onePerZone are subnets for an interface endpoint, which takes one in a zone.
func (g gap) onePerZone() []string {
	var ids, zones []string
	for _, l := range g.lots {
		for _, s := range l.subnets {
			if !slices.Contains(zones, s.Zone) {
				zones = append(zones, s.Zone)
				ids = append(ids, s.ID)
			}
		}
	}
	return ids
}
