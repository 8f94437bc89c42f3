package automation

import (
	"net/netip"
	"slices"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/network/filter"

	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// somewhere stands for the public addresses of AWS.
func somewhere() netip.Addr { return netip.AddrFrom4([4]byte{52, 94, 0, 1}) }

// noDefault is the branch of a subnet without a default route.
const noDefault snapshot.TargetKind = "no default route"

// branch is the one of the three network checks that a run takes (document,
// line 353): a transit gateway, a NAT instance and the like are none of them.
func branch(s Subject) (kind snapshot.TargetKind, row snapshot.Route) {
	table, ok := path.New(s.Account).Table(s.Node.Subnet)
	if !ok {
		return "", row
	}
	row, ok = path.Best(table.Routes, somewhere(), nil)
	if !ok {
		return noDefault, row
	}
	return row.Target.Kind, row
}

// private is step 9a. That the gateway must be public is from the code of
// 2022; that its own subnet must lead out is the description's "connectivity
// through NAT gateway" read in its favour.
func private(s Subject) answer {
	kind, row := branch(s)
	if kind != snapshot.ToNATGateway {
		return passed()
	}
	nat, ok := find(s.Account.NATGateways, func(n snapshot.NATGateway) bool { return n.ID == row.Target.ID })
	switch {
	case !ok && row.State != "blackhole":
		return skipped("the NAT gateway is another account's")
	case !ok || nat.State != "available":
		return flagged(cause(row.Target.ID+" is not available", checkid.RouteNATUnusable, checkid.RouteBlackhole))
	case !nat.Public:
		return flagged(cause(nat.ID+" is a private NAT gateway", checkid.RouteNATUnusable))
	case nat.Subnet != "" && !leadsOut(s, nat):
		return flagged(cause("the subnet of "+nat.ID+" has no way to an internet gateway of its VPC", checkid.RouteNATNoInternet, checkid.RouteIGWDetached))
	}
	var from []netip.Addr
	for _, a := range nat.Addresses {
		from = append(from, a.IP)
	}
	return publicOnly(s, from)
}

func leadsOut(s Subject, nat snapshot.NATGateway) bool {
	table, ok := path.New(s.Account).Table(nat.Subnet)
	if !ok {
		return true // not seen: nothing to warn of
	}
	row, ok := path.Best(table.Routes, somewhere(), nil)
	return ok && row.State != "blackhole" && row.Target.Kind == snapshot.ToInternetGateway && attached(s, row.Target.ID)
}

func attached(s Subject, id string) bool {
	g, ok := find(s.Account.InternetGateways, func(g snapshot.InternetGateway) bool { return g.ID == id })
	return ok && slices.Contains(g.Attached, s.Node.VPC)
}

// public is step 9b.
func public(s Subject) answer {
	kind, row := branch(s)
	switch {
	case kind != snapshot.ToInternetGateway:
		return passed()
	case row.State == "blackhole" || !attached(s, row.Target.ID):
		return flagged(cause(row.Target.ID+" is not attached to "+s.Node.VPC, checkid.RouteIGWDetached, checkid.RouteBlackhole))
	case !s.Node.PublicIP.IsValid():
		return flagged(cause(s.Node.ID+" has no public address", checkid.RouteIGWNoPublicIP))
	}
	return publicOnly(s, []netip.Addr{s.Node.PublicIP})
}

// publicOnly is what both steps do with the input ClusterPublicOnly: in the
// code of 2022 the ranges are held against the node's address.
func publicOnly(s Subject, from []netip.Addr) answer {
	c := s.Account.Cluster
	if c.EndpointPrivate || !c.EndpointPublic || len(c.PublicAccessCIDRs) == 0 {
		return passed()
	}
	for _, a := range from {
		if !slices.ContainsFunc(c.PublicAccessCIDRs, func(p netip.Prefix) bool { return p.Contains(a) }) {
			return flagged(cause(a.String()+" is not in the ranges of the public endpoint", checkid.RouteAPIPublicCIDR))
		}
	}
	return passed()
}

// endpoints is step 9c. Policies are not looked at; private DNS and the state
// are taken as part of "connectivity".
func endpoints(s Subject) answer {
	if kind, _ := branch(s); kind != noDefault {
		return passed()
	}
	var found []Finding
	for _, service := range []string{"ec2", "ecr.api", "ecr.dkr", "sts", "s3"} {
		if f, bad := endpoint(s, service); bad {
			found = append(found, f)
		}
	}
	return flagged(found...)
}

func endpoint(s Subject, service string) (Finding, bool) {
	var worst Finding
	fault := func(text string, names ...checks.ID) { worst = cause(text, names...) }
	fault("no endpoint for "+service, checkid.EndpointMissing, checkid.RouteNoEgress)
	table, _ := path.New(s.Account).Table(s.Node.Subnet)
	filters := filter.New(s.Account)
	for _, e := range s.Account.Endpoints {
		if e.VPC != s.Node.VPC || !strings.HasSuffix(e.Service, "."+s.Account.Region+"."+service) {
			continue
		}
		switch {
		case !path.Available(e):
			fault(e.ID+" is "+e.State, checkid.EndpointNotAvailable)
		case e.Kind == "Gateway" && !path.InTable(e, table.RouteTable):
			fault(e.ID+" is not in the subnet's route table", checkid.EndpointS3RouteMissing)
		case e.Kind == "Interface" && !e.PrivateDNS:
			fault(e.ID+" has private DNS off", checkid.EndpointPrivateDNSOff)
		case e.Kind == "Interface" && filters.In(e.Groups, peer(s.Node), filter.TCP, 443).Admits == filter.None:
			fault(e.ID+" does not admit 443 from the node", checkid.EndpointSecurityGroup)
		default:
			return Finding{}, false
		}
	}
	return worst, true
}

// peer is the node as the other end of a connection.
func peer(in snapshot.Instance) filter.Peer {
	p := filter.Peer{Groups: in.Groups}
	if in.PrivateIP.IsValid() {
		p.Ranges = []netip.Prefix{netip.PrefixFrom(in.PrivateIP, in.PrivateIP.BitLen())}
	}
	return p
}
