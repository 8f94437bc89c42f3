package checks

import (
	"net/netip"
	"slices"

	"rollcall/shared/snapshot"
)

// shutNames judges the way to name servers. TCP is for answers that do not
// fit a datagram: without it most names still resolve.
func (g *ground) shutNames(p *post, out *shutOut) {
	servers := g.nameServers(p.subnet.VPC)
	if servers.blocked != nil {
		if o, _, _ := outcome(g.fw.Out(p.groups, peer([]netip.Prefix{anywhere()}, nil), udp, dns53)); o != Pass {
			out.blocked = adding(out.blocked, *servers.blocked)
		}
		return
	}
	if servers.amazon || len(servers.own) == 0 {
		return
	}
	for _, way := range []struct {
		name       string
		confidence Confidence
	}{{"udp", Certain}, {"tcp", Possible}} {
		protocol := udp
		if way.name == "tcp" {
			protocol = tcp
		}
		var shut []string
		var blocked []snapshot.Failure
		for _, a := range servers.own {
			switch o, why, _ := outcome(g.fw.Out(p.groups, peer([]netip.Prefix{netip.PrefixFrom(a, a.BitLen())}, nil), protocol, dns53)); o {
			case Fail:
				shut = append(shut, a.String())
			case Unknown:
				// A server in the VPC may be admitted by its own groups,
				// which are not read: see below.
				blocked = append(blocked, why...)
			}
		}
		switch {
		case len(shut) == len(servers.own):
			if g.byOtherGroups(p.groups) {
				way.confidence = Possible
				if way.name == "udp" {
					way.confidence = Likely
				}
			}
			out.servers, out.protocol = shut, way.name
			out.confidence = surer(out.confidence, way.confidence)
			return
		case len(blocked) > 0:
			out.blocked = adding(out.blocked, blocked...)
		}
	}
}

// byOtherGroups tells that the groups let something out to other groups. A
// name server may be in one of them; its own groups are not read.
func (g *ground) byOtherGroups(groups []string) bool {
	return slices.ContainsFunc(groups, func(id string) bool {
		group, _ := g.fw.Group(id)
		return slices.ContainsFunc(group.Egress, func(r snapshot.Rule) bool { return len(r.Groups) > 0 })
	})
}
