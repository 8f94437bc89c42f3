package path

import (
	"fmt"
	"net/netip"
)

// abroad is the way to the private endpoint of a cluster in another VPC.
// Without public access the name gives its private addresses everywhere, by
// public DNS too (EKS user guide, "Access a private only API server"): what
// decides is whether a route leads there.
func (n *Network) abroad(subnet string, table Table) Way {
	c := n.s.Cluster
	w := walk{to: n.controlPlane(), vpc: c.VPC, source: n.subnets[subnet].CIDR}
	if len(w.to) > 0 {
		return n.out(table, []Hop{{ID: subnet}}, w)
	}
	return Way{
		Verdict: LeavesView, At: c.VPC, Table: table.ID, Hops: []Hop{{ID: subnet}, {ID: table.ID, Note: mainNote(table)}},
		Reason: fmt.Sprintf("the cluster's private endpoint is in %s, whose addresses are not read", c.VPC),
	}
}

// controlPlane are the addresses at which the cluster's private endpoint can
// answer: its interfaces', else the ranges of the subnets where those stand,
// else the VPC's.
func (n *Network) controlPlane() []netip.Prefix {
	c := n.s.Cluster
	var list []netip.Prefix
	for _, e := range n.s.Interfaces {
		if e.VPC != c.VPC || !ControlPlane(e, c.Name) {
			continue
		}
		for _, a := range e.PrivateIPs {
			list = append(list, netip.PrefixFrom(a, a.BitLen()))
		}
	}
	if len(list) > 0 {
		return list
	}
	for _, id := range c.Subnets {
		if s, ok := n.subnets[id]; ok && s.VPC == c.VPC && s.CIDR.IsValid() {
			list = append(list, s.CIDR)
		}
	}
	if len(list) > 0 {
		return list
	}
	for _, v := range n.s.VPCs {
		if v.ID == c.VPC {
			return v.CIDRs
		}
	}
	return nil
}
