// Package nacl holds the checks of nacl: what network ACLs let through.
package nacl

import (
	"fmt"
	"net/netip"
	"slices"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/network/filter"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// Checks are the checks of the family.
func Checks() []check.Check {
	return []check.Check{
		check.New(checkid.NACLEgress, judgeEgress, snapshot.Clusters, snapshot.Instances, snapshot.Subnets,
			snapshot.RouteTables, snapshot.Endpoints, snapshot.NATGateways, snapshot.NetworkACLs).WithPathSources(),
		check.New(checkid.NACLReturn, judgeReturn, snapshot.Clusters, snapshot.Instances, snapshot.Subnets,
			snapshot.RouteTables, snapshot.Endpoints, snapshot.NATGateways, snapshot.NetworkACLs).WithPathSources(),
	}
}

// aclBlock is a network ACL that keeps nodes from what they need, in the making.
type aclBlock struct {
	acl        snapshot.NetworkACL
	confidence check.Confidence
	posts      []*check.Placement
	services   []path.Service
	hits       []ruled
	chance     bool
}

// fences judges every post, by requests or by answers.
func fences(g *check.Placements, back bool, say func(*check.Placements, *aclBlock) check.Finding) []check.Finding {
	var v check.Verdicts
	var found []*aclBlock
	for _, p := range g.Posts {
		resource := check.FirstOf([]string{p.Subnet.ID}, g.S.Cluster.Name)
		acl, known := g.Fw.ACL(p.Subnet.ID)
		if known {
			resource = acl.ID
		}
		if p.Idle() {
			v.Pass(resource, p.Place())
			continue
		}
		if len(p.Blocked) > 0 {
			v.Unknown(resource, p.Place(), p.Blocked...)
			continue
		}
		failed := false
		var blocked []snapshot.Failure
		paths := p.Usable()
		barriers := make([]barrier, len(paths))
		contradicted := false
		for i, w := range paths {
			barriers[i] = barrierTo(g, p, w, back)
			blocked = check.Adding(blocked, barriers[i].blocked...)
			// A Ready node of this subnet reports to the API through the same ACL.
			contradicted = contradicted || w.Service == path.API && barriers[i].outcome == check.Fail && hasReadyNode(g, p.Subnet.ID)
		}
		for i, b := range barriers {
			if b.outcome != check.Fail {
				continue
			}
			failed = true
			if contradicted {
				b.confidence = check.Likely
			}
			for _, hit := range b.hits {
				found = fenced(found, p, paths[i], b, hit)
			}
		}
		switch {
		case failed:
		case len(blocked) > 0:
			v.Unknown(resource, p.Place(), blocked...)
		default:
			v.Pass(resource, p.Place(), check.Evidence{What: resource, Value: check.TenOf(entries(acl, !back))})
		}
	}
	for _, f := range found {
		v.Fail(say(g, f))
	}
	return v.Findings()
}

func hasReadyNode(g *check.Placements, subnet string) bool {
	return slices.ContainsFunc(g.Posts, func(p *check.Placement) bool { return p.Subnet.ID == subnet && len(p.Well) > 0 })
}

// fenced adds a hit to the one of the list that is its ACL's.
func fenced(found []*aclBlock, p *check.Placement, w path.Path, b barrier, hit ruled) []*aclBlock {
	i := slices.IndexFunc(found, func(f *aclBlock) bool { return f.acl.ID == hit.acl.ID })
	if i < 0 {
		i = len(found)
		found = append(found, &aclBlock{acl: hit.acl})
	}
	f := found[i]
	f.confidence = check.Surer(f.confidence, b.confidence)
	f.posts = check.Adding(f.posts, p)
	f.services = check.Adding(f.services, w.Service)
	f.chance = f.chance || b.chance
	if !slices.ContainsFunc(f.hits, func(h ruled) bool { return same(h, hit) }) {
		f.hits = append(f.hits, hit)
	}
	return found
}

// same reports whether one rule would let both through.
func same(a, b ruled) bool {
	return a.egress == b.egress && a.ports == b.ports && a.cidr == b.cidr
}

func (f *aclBlock) covers() []string {
	var list []string
	for _, p := range f.posts {
		list = check.Adding(list, p.Place()...)
	}
	return list
}

func (f *aclBlock) instances() []string {
	var list []string
	for _, p := range f.posts {
		list = append(list, check.IDs(p.Suspects)...)
	}
	return list
}

// subnets are those at whose edge the ACL was met.
func (f *aclBlock) subnets() []string {
	var list []string
	for _, h := range f.hits {
		list = check.Adding(list, h.subnet)
	}
	return list
}

// denied is what was denied, as a person would say it: "tcp 443 out to
// 0.0.0.0/0 (rule * denies all traffic)".
func (f *aclBlock) denied() []string {
	const limit = 3
	var list []string
	for _, h := range f.hits[:min(len(f.hits), limit)] {
		direction := "in from"
		if h.egress {
			direction = "out to"
		}
		var by []string
		for _, e := range h.verdict.By {
			by = append(by, filter.Entry(e))
		}
		ports := make([]string, len(h.verdict.Shut))
		for i, p := range h.verdict.Shut {
			ports[i] = p.String()
		}
		list = append(list, fmt.Sprintf("tcp %s %s %s (%s)", check.And(ports), direction, h.cidr, check.Some(by, 3)))
	}
	return list
}

// entries are an ACL's rules in one direction, one line each.
func entries(acl snapshot.NetworkACL, egress bool) []string {
	var list []string
	for _, e := range acl.Entries {
		if e.Egress == egress {
			list = append(list, filter.Entry(e))
		}
	}
	return list
}

// evidence is the ACL's rules, and the paths that meet them.
func (f *aclBlock) evidence() []check.Evidence {
	var list []check.Evidence
	for _, egress := range []bool{true, false} {
		if !slices.ContainsFunc(f.hits, func(h ruled) bool { return h.egress == egress }) {
			continue
		}
		what := "Inbound rules of " + f.acl.ID
		if egress {
			what = "Outbound rules of " + f.acl.ID
		}
		list = append(list, check.Evidence{What: what, Value: check.TenOf(entries(f.acl, egress))})
	}
	list = append(list, check.Evidence{What: "Subnets of " + f.acl.ID, Value: check.Some(f.acl.Subnets, 5)})
	return append(list, f.posts[0].Walks(f.services)...)
}

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
		p.request = append(p.request, crossing{subnet: from, egress: true, remote: far.remote, cidr: far.cidr, ports: filter.Port(check.HTTPSPort)})
		p.back = append(p.back, crossing{subnet: from, remote: far.remote, cidr: far.cidr, ports: ports, whose: whose})
	}
	if to != "" {
		p.request = append(p.request, crossing{subnet: to, remote: near.remote, cidr: near.cidr, ports: filter.Port(check.HTTPSPort)})
		p.back = append(p.back, crossing{subnet: to, egress: true, remote: near.remote, cidr: near.cidr, ports: ports, whose: whose})
	}
}

// passages are the ways from a post to the doors of a path, and what of them
// cannot be judged.
func passages(g *check.Placements, p *check.Placement, w path.Path) ([]passage, []snapshot.Failure) {
	stops := g.Net.Stops(w)
	beyond := []snapshot.Failure{check.NotRead(snapshot.NetworkACLs, "%s: %s", w.At, w.Reason)}
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
	if far.cidr = check.Anywhere(); len(far.remote) > 0 && far.remote[0].Addr().Is6() {
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
				beyond = []snapshot.Failure{check.NotRead(snapshot.NetworkACLs, "whether %s filters packets is not read", stop.ID)}
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

// wide reports whether the network ACLs of some subnets let all of TCP in and out,
// from and to all of an address family, as the one does that a VPC is made with.
func wide(g *check.Placements, subnets []string, family netip.Prefix) bool {
	for _, id := range subnets {
		acl, known := g.Fw.ACL(id)
		if !known {
			return false
		}
		for _, egress := range []bool{true, false} {
			all := filter.Decide(acl, egress, check.TCP, filter.Ports{From: 0, To: 65535}, []netip.Prefix{family})
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
func rule(g *check.Placements, c crossing) (ruled, bool) {
	acl, known := g.Fw.ACL(c.subnet)
	if !known {
		return ruled{crossing: c}, false
	}
	return ruled{crossing: c, acl: acl, verdict: filter.Sum(filter.Decide(acl, c.egress, check.TCP, c.ports, c.remote))}, true
}

// barrier is what network ACLs do to one path in one direction.
type barrier struct {
	outcome    check.Outcome
	confidence check.Confidence
	hits       []ruled
	blocked    []snapshot.Failure
	// chance reports whether only some of the doors are shut.
	chance bool
}

// barrierTo judges a path, by its requests or by its answers. All doors shut is
// certain. Some doors shut, or some of the ports of an answer, is likely: it
// depends on which door answers, or which port the client chose.
func barrierTo(g *check.Placements, p *check.Placement, w path.Path, back bool) barrier {
	ways, blocked := passages(g, p, w)
	b := barrier{outcome: check.Pass, blocked: blocked}
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
				b.blocked = check.Adding(b.blocked, check.NotRead(snapshot.NetworkACLs, "the network ACL of %s is not among those that EC2 lists", c.subnet))
			case r.verdict.Admits == filter.None:
				worst = filter.None
				b.hits = append(b.hits, r)
			case r.verdict.Admits == filter.Part:
				if worst != filter.None {
					worst = filter.Part
				}
				b.hits = append(b.hits, r)
			case r.verdict.Admits == filter.Unknown:
				b.blocked = check.Adding(b.blocked, check.NotRead(snapshot.NetworkACLs, "%s allows only some of the addresses in question, and which one counts is unknown", r.acl.ID))
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
		b.outcome = check.Unknown
	case shut+part == 0:
	case shut == len(ways) && w.Verdict != path.LeavesView && w.NamesUnread == "":
		b.outcome, b.confidence = check.Fail, check.Certain
	default:
		b.outcome, b.confidence = check.Fail, check.Likely
		b.chance = shut > 0 && shut < len(ways)
	}
	return b
}

func judgeEgress(s *check.View) []check.Finding {
	g := s.Placements()
	return fences(g, false, naclEgressFinding)
}

func naclEgressFinding(g *check.Placements, f *aclBlock) check.Finding {
	direction := "into"
	if f.hits[0].egress {
		direction = "out of"
	}
	services := check.Ordered(f.services)
	why := fmt.Sprintf("%s of %s denies %s. Nodes in %s cannot reach %s.",
		f.acl.ID, check.Some(f.subnets(), 3), check.And(f.denied()), check.Some(f.covers(), 3), check.And(path.Names(services)))
	if f.chance {
		why = fmt.Sprintf("%s of %s denies %s. Nodes in %s reach %s only through the interfaces in other subnets: it depends on which one responds.",
			f.acl.ID, check.Some(f.subnets(), 3), check.And(f.denied()), check.Some(f.covers(), 3), check.And(path.Names(services)))
	}
	return naclFinding(g, f, check.Title("%s denies 443 %s %s", f.acl.ID, direction, check.Some(f.subnets(), 1)), why)
}

func naclFinding(g *check.Placements, f *aclBlock, title, why string) check.Finding {
	return check.Failed(f.acl.ID, f.covers()...).Affecting(f.instances()...).
		Involving(append([]string{f.acl.ID}, f.subnets()...)...).
		WithConfidence(check.Weaker(f.confidence, check.Certain)).
		Titled("%s", title).
		Because("%s", why).
		Showing(f.evidence()...).
		FixedBy(f.fix(g.S))
}

// fix adds rules before those that deny.
func (f *aclBlock) fix(s *check.View) check.Fix {
	fix := check.Fix{Console: s.VPCLink("NetworkAclDetails:networkAclId=" + f.acl.ID)}
	acl := f.acl
	acl.Entries = slices.Clone(acl.Entries)
	var commands []string
	for _, h := range f.hits {
		before := 32767
		for _, e := range h.verdict.By {
			before = min(before, e.Number)
		}
		number, free := filter.Free(acl, h.egress, before)
		if !free {
			fix.Text = fmt.Sprintf("No rule number is free below rule %d of %s: change that rule, or renumber the rules, so that %s passes.", before, f.acl.ID, check.And(f.denied()))
			return fix
		}
		acl.Entries = append(acl.Entries, snapshot.ACLEntry{Number: number, Egress: h.egress})
		commands = append(commands, allowEntry(s, acl.ID, number, h.crossing))
	}
	fix.Text = fmt.Sprintf("Allow it in %s: %s.", f.acl.ID, check.And(f.denied()))
	fix.Command = check.JoinCommands(commands)
	return fix
}

func allowEntry(s *check.View, acl string, number int, c crossing) string {
	direction, block := "--ingress", "--cidr-block"
	if c.egress {
		direction = "--egress"
	}
	if c.cidr.Addr().Is6() {
		block = "--ipv6-cidr-block"
	}
	return s.AWSCommand("ec2 create-network-acl-entry", "--network-acl-id", acl, direction, "--rule-number", number,
		"--protocol", "tcp", "--port-range", fmt.Sprintf("From=%d,To=%d", c.ports.From, c.ports.To), block, c.cidr, "--rule-action", "allow")
}

func judgeReturn(s *check.View) []check.Finding {
	g := s.Placements()
	return fences(g, true, naclReturnFinding)
}

func naclReturnFinding(g *check.Placements, f *aclBlock) check.Finding {
	hit := f.hits[0]
	for _, h := range f.hits {
		if h.verdict.Admits == filter.None {
			hit = h
			break
		}
	}
	services := check.Ordered(f.services)
	why := fmt.Sprintf("%s of %s denies %s. Responses from %s to nodes in %s come back to ports %s, chosen by %s",
		f.acl.ID, check.Some(f.subnets(), 3), check.And(f.denied()), check.And(path.Names(services)), check.Some(f.covers(), 3), hit.ports, hit.whose)
	if hit.verdict.Admits == filter.Part {
		why += ": connections on the denied ports fail, the others work"
	}
	if f.chance {
		why += ". Interfaces in other subnets are not affected: it depends on which one responds"
	}
	shut := make([]string, len(hit.verdict.Shut))
	for i, p := range hit.verdict.Shut {
		shut[i] = p.String()
	}
	return naclFinding(g, f, check.Title("%s denies responses to ports %s", f.acl.ID, check.Some(shut, 2)), why+".")
}
