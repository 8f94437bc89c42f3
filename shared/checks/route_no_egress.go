package checks

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/network/path"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

func noEgress() Check {
	return usingTemplates(walking(Check{
		ID:         "route/no-egress",
		Title:      "The subnet has no way out",
		Confidence: Certain,
		Explains:   []ID{AnyJoinCause},
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints},
		AtLaunch:   true,
		Cause: "The route table in force for the subnet (its own, else the VPC's main table) has no default route, and the VPC has no endpoints for what a node needs. " +
			"The instance runs, its Auto Scaling activity is successful, the nodegroup is ACTIVE, and no node ever registers.",
		Fix: "Add 0.0.0.0/0 to a NAT gateway that works (or an internet gateway, where nodes have public addresses), or associate the subnet with the table that its siblings use. Then replace the instances that did not join.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html",
			"https://docs.aws.amazon.com/vpc/latest/userguide/VPC_Route_Tables.html",
		},
		Run: func(s *View) []Finding {
			c := s.RouteScope()
			return c.ways(wayCheck{
				fault: path.NoRoute, id: inTable, excuse: noEgressExcuse, say: noEgressFinding,
				open: func(path.Way) bool { return true },
			})
		},
	}))
}

// noEgressExcuse is the finding on a lot without a way out that is not accused.
func noEgressExcuse(c *scene, l lot) (Finding, bool) {
	if some := c.endpointed(l.table.VPC); len(some) > 0 && rowless(l.internet) {
		// Private by design: endpoint/* names what is missing.
		f := l.pass()
		f.Evidence = []Evidence{{What: l.table.VPC, Value: "has endpoints for " + and(path.Names(some))}}
		return f, true
	}
	if doubt := c.doubt(l); doubt != "" {
		return c.excused(l, doubt)
	}
	return Finding{}, false
}

func noEgressFinding(c *scene, fault wayFault) Finding {
	l, subnets := fault.lots[0], fault.subnets()
	f := Finding{
		Outcome:   Fail,
		Resource:  fault.id,
		Covers:    subnets,
		Instances: c.stranded(subnets),
		Resources: append([]string{l.table.ID}, subnets...),
		Title:     title("%s %s no way out", subject(subnets, "subnet"), verb(subnets, "has", "have")),
		Evidence:  fault.evidence(),
	}
	if slices.ContainsFunc(fault.lots, func(l lot) bool { return c.doubt(l) != "" }) {
		f.Confidence = Likely
	}
	if rowless(l.internet) {
		f.Why = c.whyNoEgress(l, l.outside())
		f.Fix = c.fixNoEgress(l)
		return f
	}
	return c.wrongWay(f, fault)
}

// wrongWay completes the finding on lots whose default route leads somewhere
// that is no way to the internet: a peering connection, a transit gateway
// whose table has no row for it, a VPC whose answers do not come back.
func (c *scene) wrongWay(f Finding, fault wayFault) Finding {
	l, way := fault.lots[0], fault.way.Way
	f.Resources = way.Resources()
	f.Why = fmt.Sprintf("%s sends %s to %s, but %s. Nodes must reach %s.",
		some(fault.tables(), 3), path.Destination(way.Row), way.Row.Target.ID, way.Reason, and(path.Names(fault.lost())))
	if doubt := c.doubt(l); doubt != "" {
		f.Why += fmt.Sprintf(" That is all that can be seen: %s.", doubt)
	}
	if fault.id == l.table.ID {
		f.Fix = c.leadElsewhere(l, fault.way)
		return f
	}
	f.Fix = Fix{
		Text:    fmt.Sprintf("Add the row that is missing in %s, or lead %s of %s elsewhere.", fault.id, path.Destination(way.Row), some(fault.tables(), 3)),
		Console: farTableLink(c.s, fault.id),
	}
	return f
}

func (c *scene) whyNoEgress(l lot, outside []path.Service) string {
	where := l.table.ID
	if l.table.Fallback {
		where += ", the VPC's main table,"
	} else if zones := l.zones(); len(zones) > 0 {
		where += " (" + some(zones, 3) + ")"
	}
	has := "has no rows"
	switch n := len(l.table.Routes); {
	case n == 1:
		has = "has only " + path.Row(l.table.Routes[0])
	case n > 1 && n <= 4:
		list := make([]string, n)
		for i, r := range l.table.Routes {
			list[i] = path.Row(r)
		}
		has = "has only " + and(list)
	case n > 4:
		has = fmt.Sprintf("has %d rows and none for 0.0.0.0/0", n)
	}
	why := fmt.Sprintf("%s %s. Nodes must reach %s; this VPC has no endpoints for them.", where, has, and(path.Names(outside)))
	if len(l.inside()) > 0 {
		// Only the cluster API can be inside: there are no endpoints.
		why += " Only the cluster API is reached privately."
	}
	if doubt := c.doubt(l); doubt != "" {
		why += fmt.Sprintf(" That is all that can be seen: %s.", doubt)
	}
	return why
}

// endpointed are the needed services for which a VPC has an endpoint of any
// kind and setting, that is there or coming.
func (c *scene) endpointed(vpc string) []path.Service {
	var list []path.Service
	for _, service := range path.Needed() {
		if slices.ContainsFunc(c.net.Endpoints(vpc, service), there) {
			list = append(list, service)
		}
	}
	return list
}

func there(e snapshot.Endpoint) bool {
	return path.Available(e) || strings.HasPrefix(strings.ToLower(e.State), "pending")
}

// fixNoEgress adds the default route, but not to a main table on which other
// subnets may rely: a subnet that only fell back to it is better associated
// with the table of its siblings.
func (c *scene) fixNoEgress(l lot) Fix {
	if l.table.Fallback {
		if other, ok := c.sibling(l.table, l.zones()); ok {
			var commands []string
			for _, id := range l.ids() {
				commands = append(commands, aws(c.s, "ec2 associate-route-table", "--route-table-id", other.ID, "--subnet-id", id))
			}
			return Fix{
				Text:    fmt.Sprintf("%s: has a way out, and %s uses it; %s has no association of its own", other.ID, other.Subnets[0], subject(l.ids(), "subnet")),
				Command: several(commands),
				Console: tableLink(c.s, other.ID),
			}
		}
	}
	fix := c.wayOut(l, "create-route", "")
	if l.table.Main && fix.Command != "" {
		fix.Text += fmt.Sprintf(". %s is the main table: every subnet without an association of its own uses it", l.table.ID)
	}
	return fix
}

// several joins commands that are all needed, at most five.
func several(commands []string) string {
	const limit = 5
	return shell.All(commands[:min(len(commands), limit)]...)
}
