package facts

import (
	"fmt"
	"net/netip"
	"strings"

	"rollcall/shared/snapshot"
)

// NameServers are the name servers that a VPC's DHCP options give to its
// instances.
type NameServers struct {
	Options snapshot.DHCPOptions
	// Amazon tells that Amazon's resolver is among them, first that it is the
	// one that is asked first.
	Amazon, First bool
	// Own are the other ones; odd are values that are no address.
	Own []netip.Addr
	Odd []string
	// Blocked is why they are not known.
	Blocked *snapshot.Failure
}

// NameServers finds a VPC's name servers. Amazon's resolver has a name, two
// link-local addresses, and the second address of each of the VPC's ranges
// (VPC user guide, "Understanding Amazon DNS"). What goes there is not seen by
// security groups or network ACLs.
func (g *Placements) NameServers(vpc string) NameServers {
	for _, source := range []snapshot.Source{snapshot.VPCs, snapshot.DHCP} {
		if !g.S.Has(source) {
			why := g.S.Why(source)
			return NameServers{Blocked: &why}
		}
	}
	for _, v := range g.S.VPCs {
		if v.ID != vpc {
			continue
		}
		for _, o := range g.S.DHCPOptions {
			if o.ID == v.DHCP {
				return servers(v, o)
			}
		}
		return NameServers{Blocked: &snapshot.Failure{Source: snapshot.DHCP, Reason: snapshot.NotRead, Message: fmt.Sprintf("the DHCP options %s of %s are not among those that EC2 lists", v.DHCP, vpc)}}
	}
	return NameServers{Blocked: &snapshot.Failure{Source: snapshot.VPCs, Reason: snapshot.NotRead, Message: vpc + " is not among the VPCs that EC2 lists"}}
}

func servers(v snapshot.VPC, o snapshot.DHCPOptions) NameServers {
	n := NameServers{Options: o}
	for i, text := range o.DomainNameServers {
		text = strings.TrimSpace(text)
		a, err := netip.ParseAddr(text)
		switch {
		case strings.EqualFold(text, "AmazonProvidedDNS"), err == nil && amazons(v, a):
			n.Amazon = true
			n.First = n.First || i == 0
		case err != nil:
			n.Odd = append(n.Odd, text)
		default:
			n.Own = append(n.Own, a)
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
