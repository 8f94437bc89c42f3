package sg

import (
	"net/netip"
	"slices"

	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/snapshot"
)

// shutNames judges the way to name servers. TCP is for answers that do not
// fit a datagram: without it most names still resolve.
func shutNames(g *facts.Placements, p *facts.Placement, out *shutOut) {
	servers := g.NameServers(p.Subnet.VPC)
	if servers.Blocked != nil {
		if o, _, _ := facts.Outcome(g.Fw.Out(p.Groups, facts.Peer([]netip.Prefix{facts.Anywhere()}, nil), facts.Udp, facts.DNSPort)); o != finding.Pass {
			out.blocked = finding.Adding(out.blocked, *servers.Blocked)
		}
		return
	}
	if servers.Amazon || len(servers.Own) == 0 {
		return
	}
	for _, way := range []struct {
		name       string
		confidence finding.Confidence
	}{{"udp", finding.Certain}, {"tcp", finding.Possible}} {
		protocol := facts.Udp
		if way.name == "tcp" {
			protocol = facts.TCP
		}
		var shut []string
		var blocked []snapshot.Failure
		for _, a := range servers.Own {
			switch o, why, _ := facts.Outcome(g.Fw.Out(p.Groups, facts.Peer([]netip.Prefix{netip.PrefixFrom(a, a.BitLen())}, nil), protocol, facts.DNSPort)); o {
			case finding.Fail:
				shut = append(shut, a.String())
			case finding.Unknown:
				// A server in the VPC may be admitted by its own groups,
				// which are not read: see below.
				blocked = append(blocked, why...)
			}
		}
		switch {
		case len(shut) == len(servers.Own):
			if byOtherGroups(g, p.Groups) {
				way.confidence = finding.Possible
				if way.name == "udp" {
					way.confidence = finding.Likely
				}
			}
			out.servers, out.protocol = shut, way.name
			out.confidence = finding.Surer(out.confidence, way.confidence)
			return
		case len(blocked) > 0:
			out.blocked = finding.Adding(out.blocked, blocked...)
		}
	}
}

// byOtherGroups tells that the groups let something out to other groups. A
// name server may be in one of them; its own groups are not read.
func byOtherGroups(g *facts.Placements, groups []string) bool {
	return slices.ContainsFunc(groups, func(id string) bool {
		group, _ := g.Fw.Group(id)
		return slices.ContainsFunc(group.Egress, func(r snapshot.Rule) bool { return len(r.Groups) > 0 })
	})
}
