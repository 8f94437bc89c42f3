package route

import (
	"fmt"
	"slices"

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

// BlockedPublicAccess is VPC Block Public Access, which drops what the routes would
// carry (VPC user guide, "VPC BPA basics"). It counts where the traffic leaves the VPC:
// in the NAT gateway's subnet, or in the node's own.
func BlockedPublicAccess() check.Check {
	return usingTemplates(check.Using([]snapshot.Source{snapshot.PublicAccessOf}, check.WithPathSources(check.Check{
		ID:         checkid.RouteBlockedPublicAccess,
		Title:      "VPC Block Public Access drops the traffic to the internet",
		Confidence: finding.Certain,
		Explains:   []checkid.ID{checkid.AnyJoinCause},
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints},
		AtLaunch:   true,
		Cause: "The routes lead to an internet gateway or an egress-only one, and VPC Block Public Access drops the traffic there. The account, or its organization by a declarative policy, has switched it on for the Region, and no exclusion covers the subnet where the traffic leaves: the NAT gateway's, or the nodes' own. " +
			"block-bidirectional drops everything; block-ingress, and an exclusion that allows egress only, pass NAT gateways and egress-only gateways and drop what nodes send by an internet gateway from public addresses of their own.",
		Fix: "Exclude the subnet where the traffic leaves (the NAT gateway's with allow-egress), or give the VPC endpoints for what nodes need and the cluster private access. A further route or NAT gateway does not help.",
		Links: []string{
			"https://docs.aws.amazon.com/vpc/latest/userguide/security-vpc-bpa.html",
			"https://docs.aws.amazon.com/vpc/latest/userguide/security-vpc-bpa-basics.html",
		},
		Run: func(s *facts.View) []finding.Finding {
			c := routes.Of(s)
			list := ways(c, wayCheck{
				fault: path.BlockedPublicAccess, say: blockedFinding, open: routes.Rowless,
				id: func(l routes.Table, p path.Path) string { return blockedVPC(c, p.At) },
			})
			six := blockedOverIPv6(c)
			list = slices.DeleteFunc(list, func(f finding.Finding) bool {
				return f.Outcome == finding.Pass && slices.ContainsFunc(six, func(s finding.Finding) bool { return slices.Equal(s.Covers, f.Covers) })
			})
			return append(list, six...)
		},
	})))
}

// blockedVPC is the VPC of the place where the traffic is dropped.
func blockedVPC(c *routes.Scope, at string) string {
	if s, ok := c.Net.Subnet(at); ok {
		return s.VPC
	}
	return at
}

// blockedOverIPv6 are the findings on lots of an IPv6 cluster that get out over IPv4 and
// not over IPv6.
func blockedOverIPv6(c *routes.Scope) []finding.Finding {
	var list []finding.Finding
	for _, l := range c.Lots {
		_, four := l.Ends(path.BlockedPublicAccess)
		if four || !c.S.Cluster.IPv6 || l.Witness != "" || len(l.Outside()) == 0 {
			continue
		}
		w := c.Net.Internet6(l.Subnets[0].ID)
		if w.Verdict != path.BlockedPublicAccess {
			continue
		}
		f := blockedFinding(c, wayFault{id: blockedVPC(c, w.At), lots: []routes.Table{l}, way: path.Path{Way: w}})
		if l.API().Means == path.ByPrivateAPI {
			f.Confidence = finding.Likely // only what else answers over IPv6 is lost
		}
		list = append(list, f)
	}
	return list
}

func blockedFinding(c *routes.Scope, f wayFault) finding.Finding {
	subnets := f.subnets()
	var at, direct []string
	unsure := false
	for _, l := range f.lots {
		w := f.way.Way
		if p, ok := l.Ends(path.BlockedPublicAccess); ok {
			w = p.Way
		}
		at = finding.Adding(at, w.At)
		if !translated(c, w) {
			direct = finding.Adding(direct, w.At)
		}
		unsure = unsure || c.Net.Mode(subnetAt(c, w.At), f.id).Unsure
	}
	mode := c.Net.Mode(subnetAt(c, at[0]), f.id).Mode
	said := finding.Finding{
		Outcome: finding.Fail, Resource: f.id, Covers: subnets, Instances: c.Stranded(subnets),
		Resources: append(f.way.Resources(), at...),
		Title:     phrase.Title("Block Public Access drops the traffic of %s", phrase.Subject(subnets, "subnet")),
		Why: fmt.Sprintf("%s leads to %s, and VPC Block Public Access (%s) drops the traffic in %s. Nodes in %s cannot reach %s. %s",
			phrase.Some(f.tables(), 3), f.way.Row.Target.ID, mode, phrase.Some(at, 3), phrase.Some(subnets, 3), phrase.And(path.Names(lostTo(f))), whoBlocks(c)),
		Evidence: append(f.evidence(), blockedEvidence(c, at, f.id)...),
		Fix:      fixBlocked(c, f, at, direct),
	}
	if unsure {
		said.Confidence = finding.Likely
	}
	return said
}

// lostTo are the services that a fault takes away; over IPv6 those that need the
// internet.
func lostTo(f wayFault) []path.Service {
	if lost := f.lost(); len(lost) > 0 {
		return lost
	}
	return f.lots[0].Outside()
}

// translated reports whether a way leaves by a gateway that only lets connections out,
// for which an exclusion that allows egress is enough.
func translated(c *routes.Scope, w path.Way) bool {
	return w.Row.Target.Kind == snapshot.ToEgressOnly || slices.ContainsFunc(w.Hops, func(h path.Hop) bool {
		nat, ok := c.Net.NAT(h.ID)
		return ok && nat.Public
	})
}

// subnetAt is a place where traffic leaves, where that is a subnet.
func subnetAt(c *routes.Scope, at string) string {
	if _, ok := c.Net.Subnet(at); ok {
		return at
	}
	return ""
}

// whoBlocks says who set the mode, as far as that was read.
func whoBlocks(c *routes.Scope) string {
	switch a := c.S.PublicAccess; {
	case a == nil:
		return "Routes and gateways are as they should be."
	case a.ByPolicy:
		return "A declarative policy of the organization sets the mode."
	case a.Changing:
		return "The mode is being changed."
	}
	return "The account sets the mode."
}

func blockedEvidence(c *routes.Scope, at []string, vpc string) []finding.Evidence {
	var list []finding.Evidence
	for _, id := range at {
		list = append(list, finding.Evidence{What: "Block Public Access of " + id, Value: string(c.Net.Mode(subnetAt(c, id), vpc).Mode)})
	}
	if a := c.S.PublicAccess; a != nil {
		for _, e := range a.Exclusions {
			if e.Resource != vpc && !slices.Contains(at, e.Resource) {
				continue
			}
			value := "allow-bidirectional"
			if e.Egress {
				value = "allow-egress"
			}
			if !e.Active {
				value += ", not in force"
			}
			list = append(list, finding.Evidence{What: fmt.Sprintf("Exclusion %s of %s", e.ID, e.Resource), Value: value})
		}
	}
	return list
}

// fixBlocked gives a command only for what lets connections out and none in: whether
// nodes with public addresses may be reached from the internet is a decision.
func fixBlocked(c *routes.Scope, f wayFault, at, direct []string) finding.Fix {
	fix := finding.Fix{Console: link.VPC(c.S, "VpcDetails:VpcId="+f.id)}
	endpoints := fmt.Sprintf("give %s endpoints for what nodes need, and the cluster private access", f.lots[0].Table.VPC)
	exclusion := " in a subnet that is excluded with allow-egress"
	if c.Net.Mode("", f.id).Mode == snapshot.BlockIngress {
		exclusion = ""
	}
	who := ""
	if a := c.S.PublicAccess; a != nil && a.ByPolicy {
		who = " The mode is the organization's: ask those who manage its declarative policy."
	}
	switch {
	case c.S.PublicAccess != nil && c.S.PublicAccess.NoExclusions:
		fix.Text = fmt.Sprintf("The organization's policy allows no exclusions: %s.%s", endpoints, who)
	case len(direct) > 0:
		fix.Text = fmt.Sprintf("Move the nodes of %s behind a NAT gateway%s, or %s. Or, where nodes may be reached from the internet, exclude %s with allow-bidirectional.%s",
			phrase.Some(f.subnets(), 3), exclusion, endpoints, phrase.Some(direct, 3), who)
	default:
		var commands []string
		for _, id := range at {
			kind := "--subnet-id"
			if subnetAt(c, id) == "" {
				kind = "--vpc-id"
			}
			commands = append(commands, command.AWS(c.S, "ec2 create-vpc-block-public-access-exclusion", kind, id, "--internet-gateway-exclusion-mode", "allow-egress"))
		}
		fix.Text = fmt.Sprintf("Lets %s out and nothing in. Or %s.%s", phrase.Some(at, 3), endpoints, who)
		fix.Command = command.Several(commands)
	}
	return fix
}
