package path

import (
	"net/netip"
	"slices"
	"strings"

	"rollcall/shared/snapshot"
)

// Stop is a place on a path, after the node itself, at which network ACLs and
// security groups judge the packet, or where it ends.
type Stop struct {
	// ID is the endpoint, the NAT gateway, the NAT instance's interface, the
	// transit gateway's attachment, the cluster; empty for the internet.
	ID string
	// Subnets are where its interfaces stand, as far as they are known. A
	// packet meets one of them, which one is not known.
	Subnets []string
	// Groups are its security groups; nil where none applies. They judge what
	// arrives; those of a NAT instance also judge what it sends on.
	Groups []string
	// Ranges are the addresses that the node talks to at this stop.
	Ranges []netip.Prefix
	// Ends tells that the connection ends here: Groups must admit it.
	Ends bool
}

// Stops are the places that a path passes, in order. The last one is where
// the connection ends: an endpoint's interfaces, the control plane's, or the
// internet. A path that leaves what is read has the stops up to there, and
// the end that it would have.
func (n *Network) Stops(p Path) []Stop {
	switch p.Means {
	case ByPrivateAPI:
		end := n.controlPlaneStop()
		return append(n.passing(p.Way, end.Ranges), end)
	case ByInterface:
		e, seen := n.endpoint(p.At)
		if !seen || !p.Good() { // something in front of it cannot be looked behind
			return nil
		}
		return []Stop{{ID: e.ID, Subnets: e.Subnets, Groups: e.Groups, Ranges: n.cidrs(e.Subnets), Ends: true}}
	case ByGateway:
		// S3's gateway endpoint answers on the service's public addresses.
		ranges := n.lists[p.Row.PrefixList]
		if len(ranges) == 0 {
			ranges = everywhere(p.Way)
		}
		return []Stop{{ID: p.At, Ranges: ranges, Ends: true}}
	case ByOwnName:
		return nil // where it ends is not read
	}
	ranges := everywhere(p.Way)
	return append(n.passing(p.Way, ranges), Stop{Ranges: ranges, Ends: true})
}

// everywhere is the whole address family of a way.
func everywhere(w Way) []netip.Prefix {
	if d := w.Row.Destination; d.IsValid() && d.Addr().Is6() {
		return []netip.Prefix{netip.PrefixFrom(netip.IPv6Unspecified(), 0)}
	}
	return []netip.Prefix{netip.PrefixFrom(netip.IPv4Unspecified(), 0)}
}

// passing are the stops between the node and the end. An internet gateway, a
// peering connection and a regional NAT gateway have no subnet.
func (n *Network) passing(w Way, ranges []netip.Prefix) []Stop {
	var stops []Stop
	for _, h := range w.Hops {
		s := Stop{ID: h.ID, Ranges: ranges}
		if nat, ok := n.nats[h.ID]; ok && nat.Subnet != "" {
			s.Subnets = []string{nat.Subnet}
		}
		if e, ok := n.networkInterface(h.ID); ok && e.Subnet != "" {
			s.Subnets, s.Groups = []string{e.Subnet}, e.Groups
		} else if i, ok := n.instance(h.ID); ok && i.Subnet != "" { // an old row names only the instance
			s.Subnets, s.Groups = []string{i.Subnet}, i.Groups
		}
		for _, a := range n.s.Attachments {
			if a.ID != h.ID {
				continue
			}
			if subnets, known := n.stands(a); known {
				s.Subnets = subnets
			}
		}
		if len(s.Subnets) > 0 {
			stops = append(stops, s)
		}
	}
	return stops
}

// controlPlaneStop is where the private endpoint answers. Its interfaces are
// in one of the cluster's subnets each.
func (n *Network) controlPlaneStop() Stop {
	c := n.s.Cluster
	s := Stop{ID: c.Name, Ends: true}
	if c.SecurityGroup != "" {
		s.Groups = append(s.Groups, c.SecurityGroup)
	}
	s.Groups = append(s.Groups, c.SecurityGroups...)
	for _, e := range n.s.Interfaces {
		if !ControlPlane(e, c.Name) {
			continue
		}
		s.Subnets = append(s.Subnets, e.Subnet)
		for _, a := range e.PrivateIPs {
			s.Ranges = append(s.Ranges, netip.PrefixFrom(a, a.BitLen()))
		}
	}
	if len(s.Subnets) == 0 {
		s.Subnets = slices.Clone(c.Subnets)
		s.Ranges = n.cidrs(s.Subnets)
	}
	slices.Sort(s.Subnets)
	s.Subnets = slices.Compact(s.Subnets)
	return s
}

// ControlPlane tells that an interface is one of the cluster's own: EKS
// describes them as "Amazon EKS <cluster name>".
func ControlPlane(e snapshot.Interface, cluster string) bool {
	return strings.EqualFold(e.Description, "Amazon EKS "+cluster)
}
