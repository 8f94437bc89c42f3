package automation

import (
	"net/netip"
	"slices"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/network/filter"

	"rollcall/shared/snapshot"
)

// clusterGroups is step 1. It has no branch before it: it also runs where only
// the public endpoint is in use.
func clusterGroups(s Subject) answer {
	c := s.Account.Cluster
	groups := append([]string{c.SecurityGroup}, c.SecurityGroups...)
	if filter.New(s.Account).In(groups, peer(s.Node), filter.TCP, 443).Admits == filter.None {
		return flagged(cause(c.SecurityGroup+" does not admit the node on 443", checkid.SGClusterIngress))
	}
	return passed()
}

// nodeGroups is step 16: the groups must let 443 out to the control plane or
// to where the node's branch leads, and DNS to its name server.
func nodeGroups(s Subject) answer {
	f := filter.New(s.Account)
	c := s.Account.Cluster
	vpc := ranges(s)
	inside := filter.Peer{Ranges: vpc, Groups: append([]string{c.SecurityGroup}, c.SecurityGroups...)}
	if c.EndpointPrivate && f.Out(s.Node.Groups, inside, filter.TCP, 443).Admits == filter.None {
		return flagged(cause("nothing lets 443 out to the control plane", checkid.SGNodeEgress))
	}
	kind, _ := branch(s)
	if kind == snapshot.ToNATGateway || kind == snapshot.ToInternetGateway {
		out := filter.Peer{Ranges: filter.Internet()}
		if f.Out(s.Node.Groups, out, filter.TCP, 443).Admits == filter.None {
			return flagged(cause("nothing lets 443 out to the internet", checkid.SGNodeEgress))
		}
	}
	if kind == noDefault && f.Out(s.Node.Groups, filter.Peer{Ranges: vpc, Groups: endpointGroups(s)}, filter.TCP, 443).Admits == filter.None {
		return flagged(cause("nothing lets 443 out to the endpoints", checkid.SGNodeEgress))
	}
	if kind == noDefault && storage(s, f) {
		return flagged(cause("nothing lets 443 out to the gateway endpoint for S3", checkid.SGNodeEgress))
	}
	return nameServer(s, f)
}

// storage tells that S3 is behind a gateway endpoint, and that its addresses
// are shut.
func storage(s Subject, f *filter.Filters) bool {
	gateway := slices.ContainsFunc(s.Account.Endpoints, func(e snapshot.Endpoint) bool {
		return e.VPC == s.Node.VPC && e.Kind == "Gateway" && strings.HasSuffix(e.Service, ".s3")
	})
	list, ok := find(s.Account.PrefixLists, func(l snapshot.PrefixList) bool { return strings.HasSuffix(l.Name, ".s3") })
	return gateway && ok && f.Out(s.Node.Groups, filter.Peer{Ranges: list.CIDRs}, filter.TCP, 443).Admits == filter.None
}

// nameServer is DNS to servers of one's own: security groups do not filter
// what goes to Amazon's (VPC user guide, "Security group basics").
func nameServer(s Subject, f *filter.Filters) answer {
	vpc, _ := find(s.Account.VPCs, func(v snapshot.VPC) bool { return v.ID == s.Node.VPC })
	o, _ := find(s.Account.DHCPOptions, func(o snapshot.DHCPOptions) bool { return o.ID == vpc.DHCP })
	var servers []netip.Prefix
	for _, text := range o.DomainNameServers {
		a, err := netip.ParseAddr(text)
		if err != nil {
			return passed()
		}
		servers = append(servers, netip.PrefixFrom(a, a.BitLen()))
	}
	if len(servers) > 0 && f.Out(s.Node.Groups, filter.Peer{Ranges: servers}, filter.UDP, 53).Admits == filter.None {
		return flagged(cause("nothing lets DNS out to the VPC's name servers", checkid.SGNodeEgress))
	}
	return passed()
}

func endpointGroups(s Subject) []string {
	var groups []string
	for _, e := range s.Account.Endpoints {
		if e.VPC == s.Node.VPC {
			groups = append(groups, e.Groups...)
		}
	}
	return groups
}

func ranges(s Subject) []netip.Prefix {
	v, _ := find(s.Account.VPCs, func(v snapshot.VPC) bool { return v.ID == s.Node.VPC })
	return v.CIDRs
}

// acls is step 18, the basic rules: 443 out of the node's subnet and the
// answers back, and 443 into the cluster's subnets and the answers out.
func acls(s Subject) answer {
	f := filter.New(s.Account)
	remote := ranges(s)
	if kind, _ := branch(s); kind == snapshot.ToNATGateway || kind == snapshot.ToInternetGateway {
		remote = filter.Internet()
	}
	var found []Finding
	if a, ok := f.ACL(s.Node.Subnet); ok {
		if denies(a, true, filter.Port(443), remote) || denies(a, true, filter.Port(443), ranges(s)) {
			found = append(found, cause(a.ID+" denies 443 out", checkid.NACLEgress))
		}
		if back := filter.Ephemeral(s.Node.Windows); denies(a, false, back, remote) || denies(a, false, back, ranges(s)) {
			found = append(found, cause(a.ID+" denies answers", checkid.NACLReturn))
		}
	}
	if s.Account.Cluster.EndpointPrivate {
		found = append(found, clusterACLs(s, f)...)
	}
	return flagged(append(found, natACL(s, f)...)...)
}

func clusterACLs(s Subject, f *filter.Filters) []Finding {
	var seen []string
	var found []Finding
	own, hasOwn := f.ACL(s.Node.Subnet)
	from, _ := find(s.Account.Subnets, func(n snapshot.Subnet) bool { return n.ID == s.Node.Subnet })
	node := []netip.Prefix{from.CIDR}
	for _, subnet := range s.Account.Cluster.Subnets {
		to, _ := find(s.Account.Subnets, func(n snapshot.Subnet) bool { return n.ID == subnet })
		if plane := []netip.Prefix{to.CIDR}; hasOwn && to.CIDR.IsValid() && subnet != s.Node.Subnet {
			if denies(own, true, filter.Port(443), plane) {
				found = append(found, cause(own.ID+" denies 443 to "+subnet, checkid.NACLEgress))
			}
			if denies(own, false, filter.Ephemeral(s.Node.Windows), plane) {
				found = append(found, cause(own.ID+" denies answers of "+subnet, checkid.NACLReturn))
			}
		}
		a, ok := f.ACL(subnet)
		if !ok || subnet == s.Node.Subnet || !from.CIDR.IsValid() || slices.Contains(seen, a.ID) {
			continue
		}
		seen = append(seen, a.ID)
		if denies(a, false, filter.Port(443), node) {
			found = append(found, cause(a.ID+" denies 443 to the cluster's subnets", checkid.NACLEgress))
		}
		if denies(a, true, filter.Ephemeral(s.Node.Windows), node) {
			found = append(found, cause(a.ID+" denies the control plane's answers", checkid.NACLReturn))
		}
	}
	return found
}

// natACL is the same for the NAT gateway's subnet, where that is one of the
// cluster's.
func natACL(s Subject, f *filter.Filters) []Finding {
	kind, row := branch(s)
	nat, ok := find(s.Account.NATGateways, func(n snapshot.NATGateway) bool { return n.ID == row.Target.ID })
	if kind != snapshot.ToNATGateway || !ok || !slices.Contains(s.Account.Cluster.Subnets, nat.Subnet) {
		return nil
	}
	a, ok := f.ACL(nat.Subnet)
	if !ok {
		return nil
	}
	var found []Finding
	if denies(a, true, filter.Port(443), filter.Internet()) {
		found = append(found, cause(a.ID+" denies 443 out", checkid.NACLEgress))
	}
	if denies(a, false, filter.EphemeralNAT(), filter.Internet()) {
		found = append(found, cause(a.ID+" denies answers to "+nat.ID, checkid.NACLReturn))
	}
	return found
}

// denies tells that an ACL shuts all or some of the ports for everybody asked about.
func denies(a snapshot.NetworkACL, egress bool, ports filter.Ports, remote []netip.Prefix) bool {
	return len(filter.Sum(filter.Decide(a, egress, filter.TCP, ports, remote)).Shut) > 0
}
