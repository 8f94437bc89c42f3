package checks

import (
	"fmt"
	"net/netip"
	"slices"

	"rollcall/shared/network/path"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

func ipv6NoEgress() Check {
	return usingTemplates(walking(Check{
		ID:         "route/ipv6-no-egress",
		Title:      "An IPv6 cluster's subnet has no IPv6 range, or no way out over IPv6",
		Confidence: Certain,
		Explains:   []ID{AnyJoinCause},
		// Egress-only gateways are asked for where a row leads to one.
		Needs:    []snapshot.Source{snapshot.Clusters, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints},
		After:    []ID{"route/no-egress"},
		AtLaunch: true,
		Cause:    "Nodes of an IPv6 cluster take a /80 of their subnet's IPv6 range for pods, and reach what has IPv6 addresses (the cluster's dual-stack endpoint among it) over IPv6. The subnet has no such range, or its table has no ::/0 that leads out. IPv4 is needed too: EC2, ECR and STS answer on IPv4 unless told otherwise.",
		Fix:      "Give the subnet an IPv6 range, and lead ::/0 to an egress-only internet gateway (or the internet gateway, in a public subnet).",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/cni-ipv6.html",
			"https://docs.aws.amazon.com/vpc/latest/userguide/egress-only-internet-gateway.html",
		},
		Run: func(s *View) []Finding {
			c := s.RouteScope()
			list := slices.Clone(c.blind)
			for _, l := range c.lots {
				list = append(list, c.ipv6(l)...)
			}
			return list
		},
	}))
}

// ipv6 judges a lot: first each subnet's range, then the way out of those that
// have one. A VPC that reaches all it needs by endpoints needs no way out.
func (c *scene) ipv6(l lot) []Finding {
	if !c.s.Cluster.IPv6 || l.witness != "" {
		return []Finding{l.pass()}
	}
	var list []Finding
	with := l
	with.subnets = nil
	for _, s := range l.subnets {
		if len(s.IPv6) > 0 || c.readyIn(lot{subnets: []snapshot.Subnet{s}}) {
			with.subnets = append(with.subnets, s)
			continue
		}
		list = append(list, c.noIPv6Range(l, s))
	}
	if len(with.subnets) == 0 {
		return list
	}
	w := c.net.Internet6(with.subnets[0].ID)
	switch {
	case len(l.outside()) == 0, c.readyIn(with):
		return append(list, with.pass())
	case w.Good():
		f := with.pass()
		f.Evidence = []Evidence{{What: "Way out over IPv6", Value: w.String()}}
		return append(list, f)
	case w.Verdict == path.LeavesView:
		return append(list, beyond(with, w))
	}
	return append(list, c.noIPv6Way(with, w))
}

// readyIn tells that a lot has a Ready node: joining needs no more there than
// there is.
func (c *scene) readyIn(l lot) bool {
	return slices.ContainsFunc(l.ids(), func(subnet string) bool {
		return slices.ContainsFunc(c.all[subnet], func(i *snapshot.Instance) bool { return c.ready[i.ID] })
	})
}

func (c *scene) noIPv6Range(l lot, s snapshot.Subnet) Finding {
	one := l
	one.subnets = []snapshot.Subnet{s}
	return Finding{
		Outcome:   Fail,
		Resource:  s.ID,
		Covers:    []string{s.ID},
		Instances: c.stranded([]string{s.ID}),
		Resources: []string{s.ID, l.table.ID},
		Title:     title("%s has no IPv6 range, and the cluster is IPv6", s.ID),
		Why:       fmt.Sprintf("%s gives its pods IPv6 addresses, and %s has only %s. The network plugin finds no addresses there, and nodes do not become Ready.", c.s.Cluster.Name, s.ID, s.CIDR),
		Evidence:  append(one.evidence(), Evidence{What: "IPv6 ranges of " + s.VPC, Value: cidrs(c.ranges6(s.VPC))}),
		Fix:       c.fixIPv6Range(s),
	}
}

func (c *scene) ranges6(vpc string) []netip.Prefix {
	for _, v := range c.s.VPCs {
		if v.ID == vpc {
			return v.IPv6
		}
	}
	return nil
}

// fixIPv6Range gives the subnet the first /64 of its VPC that no subnet has.
func (c *scene) fixIPv6Range(s snapshot.Subnet) Fix {
	fix := Fix{
		Text:    fmt.Sprintf("Give %s an IPv6 range, then give %s a /64 of it and switch on auto-assignment. Then replace the instances.", s.VPC, s.ID),
		Console: console(c.s, "SubnetDetails:subnetId="+s.ID),
	}
	for _, block := range c.ranges6(s.VPC) {
		free, ok := c.free64(block)
		if !ok {
			continue
		}
		fix.Text = fmt.Sprintf("%s is a free /64 of %s. Then replace the instances.", free, s.VPC)
		fix.Command = shell.All(aws(c.s, "ec2 associate-subnet-cidr-block", "--subnet-id", s.ID, "--ipv6-cidr-block", free),
			aws(c.s, "ec2 modify-subnet-attribute", "--subnet-id", s.ID, "--assign-ipv6-address-on-creation"))
		return fix
	}
	return fix
}

// free64 is the first /64 of a block that overlaps no subnet. A VPC's block is
// a /44 to a /60; of the larger ones the first 256 are looked at.
func (c *scene) free64(block netip.Prefix) (netip.Prefix, bool) {
	if !block.IsValid() || !block.Addr().Is6() || block.Bits() > 64 {
		return netip.Prefix{}, false
	}
	b := block.Masked().Addr().As16()
	for range 256 {
		p := netip.PrefixFrom(netip.AddrFrom16(b), 64)
		if !block.Contains(p.Addr()) {
			break
		}
		if !slices.ContainsFunc(c.s.Subnets, func(s snapshot.Subnet) bool { return slices.ContainsFunc(s.IPv6, p.Overlaps) }) {
			return p, true
		}
		if b[7]++; b[7] == 0 {
			break
		}
	}
	return netip.Prefix{}, false
}
