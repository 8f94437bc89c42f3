package nacl

import (
	"fmt"
	"net/netip"
	"slices"

	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/network/filter"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// crossing is one packet at the edge of one subnet, where the subnet's network
// ACL judges it. ACLs remember no connection: answers are judged anew.
type crossing struct {
	subnet string
	egress bool
	remote []netip.Prefix
	ports  filter.Ports
	// cidr is the range that a rule to let it through would name.
	cidr netip.Prefix
	// whose are the ports of an answer: "Linux nodes", "nat-0a".
	whose string
}

// passage is one way to one door: all its crossings must be open. Within one
// subnet there is none (VPC user guide, "Network ACL basics").
type passage struct{ request, back []crossing }

// cross adds the crossings from one subnet into another, and those of the
// answer, which comes back to the ports of the one who asked.
func (p *passage) cross(from, to string, far, near crossing, ports filter.Ports, whose string) {
	if from == to {
		return
	}
	if from != "" {
		p.request = append(p.request, crossing{subnet: from, egress: true, remote: far.remote, cidr: far.cidr, ports: filter.Port(facts.HTTPSPort)})
		p.back = append(p.back, crossing{subnet: from, remote: far.remote, cidr: far.cidr, ports: ports, whose: whose})
	}
	if to != "" {
		p.request = append(p.request, crossing{subnet: to, remote: near.remote, cidr: near.cidr, ports: filter.Port(facts.HTTPSPort)})
		p.back = append(p.back, crossing{subnet: to, egress: true, remote: near.remote, cidr: near.cidr, ports: ports, whose: whose})
	}
}

// passages are the ways from a post to the doors of a path, and what of them
// cannot be judged.
func passages(g *facts.Placements, p *facts.Placement, w path.Path) ([]passage, []snapshot.Failure) {
	stops := g.Net.Stops(w)
	beyond := []snapshot.Failure{{Source: snapshot.NetworkACLs, Reason: snapshot.NotRead, Message: fmt.Sprintf("%s: %s", w.At, w.Reason)}}
	if len(stops) == 0 || !stops[len(stops)-1].Ends {
		return nil, beyond
	}
	if w.Verdict != path.LeavesView {
		beyond = nil
	}
	end := stops[len(stops)-1]
	whose := "Linux nodes"
	if p.Windows {
		whose = "Windows nodes"
	}
	near := crossing{remote: []netip.Prefix{p.Subnet.CIDR}, cidr: p.Subnet.CIDR}
	ports := filter.Ephemeral(p.Windows)
	if len(end.Subnets) > 0 {
		var list []passage
		for _, d := range g.EndpointAddresses(w, end) {
			var way passage
			subnet, _ := g.Net.Subnet(d.Subnet)
			way.cross(p.Subnet.ID, d.Subnet, crossing{remote: d.Ranges, cidr: subnet.CIDR}, near, ports, whose)
			list = append(list, way)
		}
		return list, beyond
	}
	far := crossing{remote: g.Reach(w, end)}
	if far.cidr = facts.Anywhere(); len(far.remote) > 0 && far.remote[0].Addr().Is6() {
		far.cidr = netip.PrefixFrom(netip.IPv6Unspecified(), 0)
	}
	var way passage
	at := p.Subnet.ID
	for _, stop := range stops[:len(stops)-1] {
		_, isNAT := g.Net.NAT(stop.ID)
		if !isNAT && wide(g, stop.Subnets, far.cidr) {
			continue // whatever it makes of packets, no ACL there stops them
		}
		if !isNAT || len(stop.Subnets) != 1 {
			// What a router or an appliance makes of a packet is not known:
			// it is followed to the edge of this subnet.
			if beyond == nil {
				beyond = []snapshot.Failure{{Source: snapshot.NetworkACLs, Reason: snapshot.NotRead, Message: fmt.Sprintf("what %s does with packets is not read", stop.ID)}}
			}
			if slices.Contains(stop.Subnets, at) {
				return []passage{way}, beyond
			}
			break
		}
		way.cross(at, stop.Subnets[0], far, near, ports, whose)
		at = stop.Subnets[0]
		subnet, _ := g.Net.Subnet(at)
		near = crossing{remote: []netip.Prefix{subnet.CIDR}, cidr: subnet.CIDR}
		ports, whose = filter.EphemeralNAT(), "the NAT gateway "+stop.ID
	}
	way.cross(at, "", far, near, ports, whose)
	return []passage{way}, beyond
}

// wide tells that the network ACLs of some subnets let all of TCP in and out,
// from and to all of an address family, as the one does that a VPC is made with.
func wide(g *facts.Placements, subnets []string, family netip.Prefix) bool {
	for _, id := range subnets {
		acl, known := g.Fw.ACL(id)
		if !known {
			return false
		}
		for _, egress := range []bool{true, false} {
			all := filter.Decide(acl, egress, facts.TCP, filter.Ports{From: 0, To: 65535}, []netip.Prefix{family})
			if filter.Sum(all).Admits != filter.All {
				return false
			}
		}
	}
	return len(subnets) > 0
}

// ruled is what an ACL did at a crossing.
type ruled struct {
	crossing
	acl     snapshot.NetworkACL
	verdict filter.Verdict
}

// rule asks the ACL of a crossing. It is false when the ACL was not read.
func rule(g *facts.Placements, c crossing) (ruled, bool) {
	acl, known := g.Fw.ACL(c.subnet)
	if !known {
		return ruled{crossing: c}, false
	}
	return ruled{crossing: c, acl: acl, verdict: filter.Sum(filter.Decide(acl, c.egress, facts.TCP, c.ports, c.remote))}, true
}

// barrier is what network ACLs do to one path in one direction.
type barrier struct {
	outcome    finding.Outcome
	confidence finding.Confidence
	hits       []ruled
	blocked    []snapshot.Failure
	// chance tells that only some of the doors are shut.
	chance bool
}

// barrierTo judges a path, by its requests or by its answers. All doors shut is
// certain. Some doors shut, or some of the ports of an answer, is likely: it
// depends on which door answers, or which port the client chose.
func barrierTo(g *facts.Placements, p *facts.Placement, w path.Path, back bool) barrier {
	ways, blocked := passages(g, p, w)
	b := barrier{outcome: finding.Pass, blocked: blocked}
	shut, part := 0, 0
	for _, way := range ways {
		list := way.request
		if back {
			list = way.back
		}
		worst := filter.All
		for _, c := range list {
			r, known := rule(g, c)
			switch {
			case !known:
				b.blocked = finding.Adding(b.blocked, snapshot.Failure{Source: snapshot.NetworkACLs, Reason: snapshot.NotRead, Message: "the network ACL of " + c.subnet + " is not among those that EC2 lists"})
			case r.verdict.Admits == filter.None:
				worst = filter.None
				b.hits = append(b.hits, r)
			case r.verdict.Admits == filter.Part:
				if worst != filter.None {
					worst = filter.Part
				}
				b.hits = append(b.hits, r)
			case r.verdict.Admits == filter.Unknown:
				b.blocked = finding.Adding(b.blocked, snapshot.Failure{
					Source: snapshot.NetworkACLs, Reason: snapshot.NotRead,
					Message: fmt.Sprintf("%s admits some of the addresses in question only, and which one counts is not known", r.acl.ID),
				})
			}
		}
		switch worst {
		case filter.None:
			shut++
		case filter.Part:
			part++
		}
	}
	switch {
	case shut+part == 0 && len(b.blocked) > 0:
		b.outcome = finding.Unknown
	case shut+part == 0:
	case shut == len(ways) && w.Verdict != path.LeavesView && w.NamesUnread == "":
		b.outcome, b.confidence = finding.Fail, finding.Certain
	default:
		b.outcome, b.confidence = finding.Fail, finding.Likely
		b.chance = shut > 0 && shut < len(ways)
	}
	return b
}
