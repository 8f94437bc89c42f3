package preflight

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"rollcall/shared/snapshot"
)

const (
	createSubnetPage = "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateSubnet.html"
	subnetSizePage   = "https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html"
)

// refuse says what EC2 would not make of a subnet, and of what no node can be in it.
func (p *SubnetPlan) refuse(r *refusing) {
	s := r.S
	if p.made == nil {
		r.placed("subnet", []string{p.id})
	} else {
		if p.made.VpcId != s.Cluster.VPC && s.Cluster.VPC != "" {
			r.refuse("subnet", "VpcId", subnetsPage, "Make it in "+s.Cluster.VPC+".", "The subnet would be of another VPC",
				"Nodes stand in the cluster's VPC, %s, and the subnet would be of %s.", s.Cluster.VPC, p.made.VpcId)
			return
		}
		r.list = append(r.list, p.refusedRange(s)...)
		p.refusedZone(r)
	}
	for i, n := range r.fleets {
		if n.template == nil && (n.ref.ID != "" || n.ref.Name != "") {
			r.templateUnseen("nodegroup "+s.Nodegroups[i].Name, n.ref)
		}
		if !n.bare && r.instanceTypes("nodegroup "+n.owner, n) {
			r.offered("nodegroup "+n.owner, n)
		}
	}
}

// refusedRange judges the range of a planned subnet: its size, the VPC's ranges, the
// other subnets (EC2 API reference, CreateSubnet; VPC user guide, "Subnet CIDR
// blocks": between /28 and /16, within the VPC's, not overlapping; IPv6 /44 to /64
// in steps of 4).
func (p *SubnetPlan) refusedRange(s *snapshot.Snapshot) []Refusal {
	var list []Refusal
	refuse := func(field, title, why, fix string) {
		list = append(list, Refusal{ID: refused + "range", Field: field, Title: title, Why: why, Fix: fix, Source: createSubnetPage})
	}
	four, err := netip.ParsePrefix(p.made.CidrBlock)
	if err != nil || !four.Addr().Is4() || four.Bits() < 16 || four.Bits() > 28 {
		refuse("CidrBlock", "The range is of no size that EC2 takes", p.made.CidrBlock+": a subnet has from /16 to /28 of IPv4 (InvalidSubnet.Range).", "Choose a range from /16 to /28.")
		list[0].Source = subnetSizePage
		return list
	}
	i := slices.IndexFunc(s.VPCs, func(v snapshot.VPC) bool { return v.ID == p.made.VpcId })
	if i < 0 {
		return list
	}
	v := s.VPCs[i]
	within := func(ranges []netip.Prefix, x netip.Prefix) bool {
		return slices.ContainsFunc(ranges, func(of netip.Prefix) bool { return of.Bits() <= x.Bits() && of.Contains(x.Addr()) })
	}
	if len(v.CIDRs) > 0 && !within(v.CIDRs, four) {
		refuse("CidrBlock", "The range is not in the VPC's",
			fmt.Sprintf("%s is in none of %s, the ranges of %s (InvalidSubnet.Range).", four, prefixes(v.CIDRs), v.ID), "Choose a free range of the VPC, or associate another range with it first.")
	}
	var taken []string
	for _, other := range p.others {
		if other.VPC == v.ID && other.CIDR.IsValid() && other.CIDR.Overlaps(four) {
			taken = append(taken, other.ID+" ("+other.CIDR.String()+")")
		}
	}
	if len(taken) > 0 {
		refuse("CidrBlock", "The range is taken", fmt.Sprintf("%s overlaps %s (InvalidSubnet.Conflict).", four, strings.Join(taken, ", ")), "Choose a free range of the VPC.")
	}
	if six, err := netip.ParsePrefix(p.made.Ipv6CidrBlock); err == nil {
		if !within(v.IPv6, six) || six.Bits() < 44 || six.Bits() > 64 || six.Bits()%4 != 0 {
			refuse("Ipv6CidrBlock", "The IPv6 range is not in the VPC's",
				fmt.Sprintf("%s is no /44 to /64, in steps of 4, of %s, the IPv6 ranges of %s (InvalidSubnet.Range).", six, prefixes(v.IPv6), v.ID), "Choose a free /64 of the VPC.")
		}
	}
	return list
}

func prefixes(list []netip.Prefix) string {
	if len(list) == 0 {
		return "no ranges"
	}
	var out []string
	for _, p := range list {
		out = append(out, p.String())
	}
	return strings.Join(out, ", ")
}

func (p *SubnetPlan) refusedZone(r *refusing) {
	asked := p.made.AvailabilityZone + p.made.ZoneID
	if asked == "" {
		return
	}
	if !r.S.Has(snapshot.ZonesOf) {
		r.blind("zone", "AvailabilityZone", r.S.Why(snapshot.ZonesOf))
		return
	}
	var names []string
	for _, z := range r.S.Zones {
		if z.Name == asked || z.ID == asked {
			return
		}
		names = append(names, z.Name)
	}
	r.refuse("zone", "AvailabilityZone", createSubnetPage, "Name one of "+strings.Join(names, ", ")+".", "The zone does not exist",
		"EC2 has no zone %s in %s for this account (InvalidParameterValue).", asked, r.S.Region)
}
