package path

import (
	"fmt"
	"slices"

	"rollcall/shared/snapshot"
)

// Blocking is what VPC Block Public Access does in a place.
type Blocking struct {
	Mode snapshot.BlockMode
	// Unsure reports that the mode may be another: it is changing, or an exclusion of
	// which nothing was read may exempt the subnet.
	Unsure bool
}

// Mode returns what VPC Block Public Access does in a subnet, or in a VPC where the
// subnet is empty (a regional NAT gateway). A subnet's own mode counts, then its VPC's,
// then the account's. An exclusion of a VPC holds for all its subnets; one that allows
// egress only makes block-bidirectional into block-ingress (VPC user guide, "VPC BPA
// basics" and "Advanced example", scenarios 4 to 6).
func (n *Network) Mode(subnet, vpc string) Blocking {
	var b Blocking
	b.Mode = n.subnets[subnet].BlockMode
	if b.Mode == "" {
		i := slices.IndexFunc(n.s.VPCs, func(v snapshot.VPC) bool { return v.ID == vpc })
		if i >= 0 {
			b.Mode = n.s.VPCs[i].BlockMode
		}
		b.Unsure = n.s.PublicAccess == nil && subnet != ""
	}
	access := n.s.PublicAccess
	if access == nil || b.Mode == snapshot.BlockOff {
		return b
	}
	if b.Mode == "" {
		b.Mode = access.Mode
	}
	b.Unsure = b.Unsure || access.Changing
	for _, e := range access.Exclusions {
		switch {
		case e.Resource != subnet && e.Resource != vpc || e.Resource == "":
		case e.Changing:
			b.Unsure = true
		case !e.Active:
		case !e.Egress:
			return Blocking{Mode: snapshot.BlockOff}
		case b.Mode == snapshot.BlockBidirectional:
			b.Mode = snapshot.BlockIngress
		}
	}
	return b
}

// blocks reports whether the mode where a table is in force drops what its row to an
// internet gateway carries. In block-ingress only NAT gateways pass it.
func (n *Network) blocks(table Table, w walk) bool {
	switch n.Mode(w.subnet, table.VPC).Mode {
	case snapshot.BlockBidirectional:
		return true
	case snapshot.BlockIngress:
		return !w.byNAT
	}
	return false
}

// blocked is a way that ends at VPC Block Public Access: at the subnet where it leaves
// the VPC, or at the VPC where it leaves from none.
func (n *Network) blocked(table Table, w walk, hops []Hop) Way {
	where := w.subnet
	if where == "" {
		where = table.VPC
	}
	return Way{
		Verdict: BlockedPublicAccess, At: where, Hops: hops,
		Reason: fmt.Sprintf("VPC Block Public Access (%s) drops it in %s", n.Mode(w.subnet, table.VPC).Mode, where),
	}
}

// Class is what decides about a subnet's ways beside its route table: subnets of one
// table and class have the same ways.
func (n *Network) Class(subnet string) string {
	s := n.subnets[subnet]
	class := ""
	if m := n.Mode(subnet, s.VPC).Mode; m != "" && m != snapshot.BlockOff {
		class = string(m)
	}
	table, _ := n.Table(subnet)
	for _, r := range table.Routes {
		// A regional NAT gateway has addresses for each zone.
		if r.Target.Kind == snapshot.ToNATGateway && n.nats[r.Target.ID].RouteTable != "" {
			return class + " " + s.Zone
		}
	}
	return class
}
