package facts

import (
	"net/netip"
	"slices"
	"strings"

	"rollcall/shared/network/filter"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// endpointAddress is one place where the far end of a path answers: an interface of an
// endpoint or of the control plane, in its subnet, or the internet. Which one
// of several a connection meets is not known.
type endpointAddress struct {
	Subnet string // empty for the internet
	Ranges []netip.Prefix
}

// End is the last stop of a path: where the connection ends. It is false when
// the path leaves what is read before that.
func (g *Placements) End(p path.Path) (path.Stop, bool) {
	stops := g.Net.Stops(p)
	if len(stops) == 0 || !stops[len(stops)-1].Ends {
		return path.Stop{}, false
	}
	return stops[len(stops)-1], true
}

// EndpointAddresses are the doors of a path's end.
func (g *Placements) EndpointAddresses(p path.Path, stop path.Stop) []endpointAddress {
	if len(stop.Subnets) == 0 {
		return []endpointAddress{{Ranges: g.Reach(p, stop)}}
	}
	var doors []endpointAddress
	for _, id := range stop.Subnets {
		d := endpointAddress{Subnet: id}
		subnet, known := g.Net.Subnet(id)
		if known {
			for _, r := range stop.Ranges {
				if subnet.CIDR.IsValid() && subnet.CIDR.Overlaps(r) && r.Bits() >= subnet.CIDR.Bits() {
					d.Ranges = append(d.Ranges, r)
				}
			}
			if len(d.Ranges) == 0 && subnet.CIDR.IsValid() {
				d.Ranges = []netip.Prefix{subnet.CIDR}
			}
		}
		doors = append(doors, d)
	}
	return doors
}

// Reach is what a stop without a subnet answers on. "Everywhere" means the
// public addresses, and for a gateway endpoint those of its prefix list. Nodes
// have IPv4 addresses in every cluster; IPv6 counts where there is nothing else.
func (g *Placements) Reach(p path.Path, stop path.Stop) []netip.Prefix {
	if p.Means == path.ByGateway && p.Row.PrefixList != "" && g.S.Has(snapshot.PrefixListEntries) {
		for _, l := range g.S.PrefixLists {
			if l.ID == p.Row.PrefixList && len(l.CIDRs) > 0 {
				return l.CIDRs
			}
		}
	}
	var four, six []netip.Prefix
	for _, r := range stop.Ranges {
		switch {
		case !r.IsValid():
		case r.Addr().Is6() && r.Bits() == 0:
			six = append(six, filter.Internet6()...)
		case r.Addr().Is6():
			six = append(six, r)
		case r.Bits() == 0:
			four = append(four, filter.Internet()...)
		default:
			four = append(four, r)
		}
	}
	if len(four) > 0 {
		return four
	}
	return six
}

// EndsPublic tells that a path ends at public addresses.
func EndsPublic(p path.Path) bool { return p.Means == path.ByInternet || p.Means == path.ByGateway }

// nodeAddress is the address that a node talks from.
func nodeAddress(i *snapshot.Instance) (netip.Prefix, bool) {
	a := i.PrivateIP
	if !a.IsValid() && len(i.IPv6) > 0 {
		a = i.IPv6[0]
	}
	if !a.IsValid() {
		return netip.Prefix{}, false
	}
	return netip.PrefixFrom(a, a.BitLen()), true
}

// VPCRanges are the IPv4 ranges of a VPC, as far as they were read.
func (g *Placements) VPCRanges(id string) []netip.Prefix {
	for _, v := range g.S.VPCs {
		if v.ID == id {
			return v.CIDRs
		}
	}
	return nil
}

// TenOf writes what a person would have looked up, at most ten.
func TenOf(list []string) string {
	const limit = 10
	if more := len(list) - limit; more > 0 {
		list = append(slices.Clone(list[:limit]), "and more")
	}
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, "; ")
}

func There(e snapshot.Endpoint) bool {
	return path.Available(e) || strings.HasPrefix(strings.ToLower(e.State), "pending")
}
