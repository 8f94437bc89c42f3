package checks

import (
	"fmt"
	"net/netip"
	"strings"

	"rollcall/shared/snapshot"
)

// nameServers are the name servers that a VPC's DHCP options give to its
// instances.
type nameServers struct {
	options snapshot.DHCPOptions
	// amazon tells that Amazon's resolver is among them, first that it is the
	// one that is asked first.
	amazon, first bool
	// own are the other ones; odd are values that are no address.
	own []netip.Addr
	odd []string
	// blocked is why they are not known.
	blocked *snapshot.Failure
}

// nameServers finds a VPC's name servers. Amazon's resolver has a name, two
// link-local addresses, and the second address of each of the VPC's ranges
// (VPC user guide, "Understanding Amazon DNS"). What goes there is not seen by
// security groups or network ACLs.
func (g *ground) nameServers(vpc string) nameServers {
	for _, source := range []snapshot.Source{snapshot.VPCs, snapshot.DHCP} {
		if !g.s.Has(source) {
			why := g.s.Why(source)
			return nameServers{blocked: &why}
		}
	}
	for _, v := range g.s.VPCs {
		if v.ID != vpc {
			continue
		}
		for _, o := range g.s.DHCPOptions {
			if o.ID == v.DHCP {
				return servers(v, o)
			}
		}
		return nameServers{blocked: &snapshot.Failure{Source: snapshot.DHCP, Reason: snapshot.NotRead, Message: fmt.Sprintf("the DHCP options %s of %s are not among those that EC2 lists", v.DHCP, vpc)}}
	}
	return nameServers{blocked: &snapshot.Failure{Source: snapshot.VPCs, Reason: snapshot.NotRead, Message: vpc + " is not among the VPCs that EC2 lists"}}
}

func servers(v snapshot.VPC, o snapshot.DHCPOptions) nameServers {
	n := nameServers{options: o}
	for i, text := range o.DomainNameServers {
		text = strings.TrimSpace(text)
		a, err := netip.ParseAddr(text)
		switch {
		case strings.EqualFold(text, "AmazonProvidedDNS"), err == nil && amazons(v, a):
			n.amazon = true
			n.first = n.first || i == 0
		case err != nil:
			n.odd = append(n.odd, text)
		default:
			n.own = append(n.own, a)
		}
	}
	return n
}

// amazons tells that an address is Amazon's resolver.
func amazons(v snapshot.VPC, a netip.Addr) bool {
	switch a.String() {
	case "169.254.169.253", "fd00:ec2::253":
		return true
	}
	for _, c := range v.CIDRs {
		if c.IsValid() && c.Masked().Addr().Next().Next() == a {
			return true
		}
	}
	return false
}
