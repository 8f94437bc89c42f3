package endpoint

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/facts/routes"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/checks/route"
	"rollcall/shared/network/path"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

// fixMissing makes what is missing. A VPC with gateway endpoints only (they
// cost nothing, so most have one) and a NAT gateway that works is not private
// by design: there the plain fix is the route that was forgotten.
func fixMissing(c *routes.Scope, g gap) finding.Fix {
	fix := finding.Fix{Console: link.VPC(c.S, "Endpoints:vpcId="+g.vpc)}
	first := g.lots[0]
	nat, why, works := route.ToNAT(c, g.vpc, first.Zones(), "")
	if works && !interfaces(c, g.vpc) && len(g.lots) == 1 {
		return route.WayOut(c, first, "create-route", "")
	}
	var commands []string
	for _, a := range g.absent {
		commands = append(commands, makeEndpoints(c, g, a))
	}
	if !slices.Contains(commands, "") {
		fix.Command = shell.All(commands...)
	}
	fix.Text = "Make what is missing: " + phrase.And(path.Names(g.services())) + "."
	if works {
		fix.Text += fmt.Sprintf(" Or lead 0.0.0.0/0 of %s to %s (%s).", first.Table.ID, nat.ID, strings.TrimPrefix(why, nat.ID+": "))
	}
	return fix
}

// interfaces tells that the VPC has an interface endpoint for a needed service.
func interfaces(c *routes.Scope, vpc string) bool {
	return slices.ContainsFunc(path.Needed(), func(service path.Service) bool {
		return slices.ContainsFunc(c.Net.Endpoints(vpc, service), func(e snapshot.Endpoint) bool {
			return strings.EqualFold(e.Kind, "Interface") && facts.There(e)
		})
	})
}

// makeEndpoints is the command that ends one absence; empty where it takes a decision.
func makeEndpoints(c *routes.Scope, g gap, a absence) string {
	var tables []string
	for _, l := range g.lots {
		tables = append(tables, l.Table.ID)
	}
	switch {
	case a.service == path.API:
		return command.AWS(c.S, "eks update-cluster-config", "--name", c.S.Cluster.Name, "--resources-vpc-config", "endpointPrivateAccess=true")
	case a.lack == nameless:
		return command.AWS(c.S, "ec2 modify-vpc-endpoint", "--vpc-endpoint-id", a.unused.ID, "--private-dns-enabled")
	case c.S.Partition == "aws-cn":
		return "" // there the names of services differ from service to service
	case a.service == path.S3:
		return command.AWS(c.S, "ec2 create-vpc-endpoint", "--vpc-id", g.vpc, "--vpc-endpoint-type", "Gateway",
			"--service-name", fmt.Sprintf("com.amazonaws.%s.s3", c.S.Region), "--route-table-ids", tables)
	}
	words := []any{
		"--vpc-id", g.vpc, "--vpc-endpoint-type", "Interface", "--service-name", fmt.Sprintf("com.amazonaws.%s.%s", c.S.Region, a.service),
		"--private-dns-enabled", "--subnet-ids", g.onePerZone(),
	}
	if c.S.Cluster.SecurityGroup != "" {
		words = append(words, "--security-group-ids", c.S.Cluster.SecurityGroup)
	}
	return command.AWS(c.S, "ec2 create-vpc-endpoint", words...)
}

// onePerZone are subnets for an interface endpoint, which takes one in a zone.
func (g gap) onePerZone() []string {
	var ids, zones []string
	for _, l := range g.lots {
		for _, s := range l.Subnets {
			if !slices.Contains(zones, s.Zone) {
				zones = append(zones, s.Zone)
				ids = append(ids, s.ID)
			}
		}
	}
	return ids
}
