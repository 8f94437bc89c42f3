package route

import (
	"fmt"
	"net/netip"
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
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

func IPv6NoEgress() check.Check {
	return usingTemplates(check.WithPathSources(check.Check{
		ID:         checkid.RouteIPv6NoEgress,
		Title:      "The subnet of an IPv6 cluster has no IPv6 range or no IPv6 route",
		Confidence: finding.Certain,
		Explains:   []checkid.ID{checkid.AnyJoinCause},
		// Egress-only gateways are asked for where a row leads to one.
		Needs:    []snapshot.Source{snapshot.Clusters, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints},
		After:    []checkid.ID{checkid.RouteNoEgress},
		AtLaunch: true,
		Cause:    "Nodes of an IPv6 cluster take a /80 of their subnet's IPv6 range for pods, and reach what has IPv6 addresses (the cluster's dual-stack endpoint among it) over IPv6. The subnet has no such range, or its table has no ::/0 that leads out. IPv4 is needed too: EC2, ECR and STS answer on IPv4 unless told otherwise.",
		Fix:      "Give the subnet an IPv6 range, and lead ::/0 to an egress-only internet gateway (or the internet gateway, in a public subnet).",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/cni-ipv6.html",
			"https://docs.aws.amazon.com/vpc/latest/userguide/egress-only-internet-gateway.html",
		},
		Run: func(s *facts.View) []finding.Finding {
			c := routes.Of(s)
			list := slices.Clone(c.Blind)
			for _, l := range c.Lots {
				list = append(list, ipv6(c, l)...)
			}
			return list
		},
	}))
}

// ipv6 judges a lot: first each subnet's range, then the way out of those that
// have one. A VPC that reaches all it needs by endpoints needs none.
func ipv6(c *routes.Scope, l routes.Table) []finding.Finding {
	if !c.S.Cluster.IPv6 || l.Witness != "" {
		return []finding.Finding{l.Pass()}
	}
	var list []finding.Finding
	with := l
	with.Subnets = nil
	for _, s := range l.Subnets {
		if len(s.IPv6) > 0 || readyIn(c, routes.Table{Subnets: []snapshot.Subnet{s}}) {
			with.Subnets = append(with.Subnets, s)
			continue
		}
		list = append(list, noIPv6Range(c, l, s))
	}
	if len(with.Subnets) == 0 {
		return list
	}
	w := c.Net.Internet6(with.Subnets[0].ID)
	switch {
	case len(l.Outside()) == 0, readyIn(c, with):
		return append(list, with.Pass())
	case w.Good():
		f := with.Pass()
		f.Evidence = []finding.Evidence{{What: "IPv6 route to the internet", Value: w.String()}}
		return append(list, f)
	case w.Verdict == path.BlockedPublicAccess:
		return append(list, with.Pass()) // route/blocked-public-access
	case w.Verdict == path.LeavesView:
		return append(list, routes.Beyond(with, w))
	}
	return append(list, noIPv6Way(c, with, w))
}

// readyIn tells that a lot has a Ready node: joining needs no more there than
// there is.
func readyIn(c *routes.Scope, l routes.Table) bool {
	return slices.ContainsFunc(l.IDs(), func(subnet string) bool {
		return slices.ContainsFunc(c.All[subnet], func(i *snapshot.Instance) bool { return c.Ready[i.ID] })
	})
}

func noIPv6Range(c *routes.Scope, l routes.Table, s snapshot.Subnet) finding.Finding {
	one := l
	one.Subnets = []snapshot.Subnet{s}
	return finding.Finding{
		Outcome:   finding.Fail,
		Resource:  s.ID,
		Covers:    []string{s.ID},
		Instances: c.Stranded([]string{s.ID}),
		Resources: []string{s.ID, l.Table.ID},
		Title:     phrase.Title("%s has no IPv6 range, and the cluster is IPv6", s.ID),
		Why:       fmt.Sprintf("%s gives its pods IPv6 addresses, and %s has only %s. The network plugin finds no addresses there, and nodes do not become Ready.", c.S.Cluster.Name, s.ID, s.CIDR),
		Evidence:  append(one.Evidence(), finding.Evidence{What: "IPv6 ranges of " + s.VPC, Value: facts.Cidrs(ranges6(c, s.VPC))}),
		Fix:       fixIPv6Range(c, s),
	}
}

func ranges6(c *routes.Scope, vpc string) []netip.Prefix {
	for _, v := range c.S.VPCs {
		if v.ID == vpc {
			return v.IPv6
		}
	}
	return nil
}

// fixIPv6Range gives the subnet the first /64 of its VPC that no subnet has.
func fixIPv6Range(c *routes.Scope, s snapshot.Subnet) finding.Fix {
	fix := finding.Fix{
		Text:    fmt.Sprintf("Give %s an IPv6 range, then give %s a /64 of it and switch on auto-assignment. Then replace the instances.", s.VPC, s.ID),
		Console: link.VPC(c.S, "SubnetDetails:subnetId="+s.ID),
	}
	for _, block := range ranges6(c, s.VPC) {
		free, ok := free64(c, block)
		if !ok {
			continue
		}
		fix.Text = fmt.Sprintf("%s is a free /64 of %s. Then replace the instances.", free, s.VPC)
		fix.Command = shell.All(command.AWS(c.S, "ec2 associate-subnet-cidr-block", "--subnet-id", s.ID, "--ipv6-cidr-block", free),
			command.AWS(c.S, "ec2 modify-subnet-attribute", "--subnet-id", s.ID, "--assign-ipv6-address-on-creation"))
		return fix
	}
	return fix
}

// free64 is the first /64 of a block that overlaps no subnet. A VPC's block is
// a /44 to a /60; of the larger ones the first 256 are looked at.
func free64(c *routes.Scope, block netip.Prefix) (netip.Prefix, bool) {
	if !block.IsValid() || !block.Addr().Is6() || block.Bits() > 64 {
		return netip.Prefix{}, false
	}
	b := block.Masked().Addr().As16()
	for range 256 {
		p := netip.PrefixFrom(netip.AddrFrom16(b), 64)
		if !block.Contains(p.Addr()) {
			break
		}
		if !slices.ContainsFunc(c.S.Subnets, func(s snapshot.Subnet) bool { return slices.ContainsFunc(s.IPv6, p.Overlaps) }) {
			return p, true
		}
		if b[7]++; b[7] == 0 {
			break
		}
	}
	return netip.Prefix{}, false
}
