// Package nacl holds the checks of nacl: what network ACLs let through.
package nacl

import (
	"fmt"
	"slices"

	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/filter"

	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// aclBlock is a network ACL that keeps nodes from what they need, in the making.
type aclBlock struct {
	acl        snapshot.NetworkACL
	confidence finding.Confidence
	posts      []*facts.Placement
	services   []path.Service
	hits       []ruled
	chance     bool
}

// fences judges every post, by requests or by answers.
func fences(g *facts.Placements, back bool, say func(*facts.Placements, *aclBlock) finding.Finding) []finding.Finding {
	var v finding.Verdicts
	var found []*aclBlock
	for _, p := range g.Posts {
		resource := phrase.FirstOf([]string{p.Subnet.ID}, g.S.Cluster.Name)
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
			blocked = finding.Adding(blocked, barriers[i].blocked...)
			// A Ready node of this subnet reports to the API through the same ACL.
			contradicted = contradicted || w.Service == path.API && barriers[i].outcome == finding.Fail && witness(g, p.Subnet.ID)
		}
		for i, b := range barriers {
			if b.outcome != finding.Fail {
				continue
			}
			failed = true
			if contradicted {
				b.confidence = finding.Likely
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
			v.Pass(resource, p.Place(), finding.Evidence{What: resource, Value: facts.TenOf(entries(acl, !back))})
		}
	}
	for _, f := range found {
		v.Fail(say(g, f))
	}
	return v.Findings()
}

func witness(g *facts.Placements, subnet string) bool {
	return slices.ContainsFunc(g.Posts, func(p *facts.Placement) bool { return p.Subnet.ID == subnet && len(p.Well) > 0 })
}

// fenced adds a hit to the one of the list that is its ACL's.
func fenced(found []*aclBlock, p *facts.Placement, w path.Path, b barrier, hit ruled) []*aclBlock {
	i := slices.IndexFunc(found, func(f *aclBlock) bool { return f.acl.ID == hit.acl.ID })
	if i < 0 {
		i = len(found)
		found = append(found, &aclBlock{acl: hit.acl})
	}
	f := found[i]
	f.confidence = finding.Surer(f.confidence, b.confidence)
	f.posts = finding.Adding(f.posts, p)
	f.services = finding.Adding(f.services, w.Service)
	f.chance = f.chance || b.chance
	if !slices.ContainsFunc(f.hits, func(h ruled) bool { return same(h, hit) }) {
		f.hits = append(f.hits, hit)
	}
	return found
}

// same tells that one rule would let both through.
func same(a, b ruled) bool {
	return a.egress == b.egress && a.ports == b.ports && a.cidr == b.cidr
}

func (f *aclBlock) covers() []string {
	var list []string
	for _, p := range f.posts {
		list = finding.Adding(list, p.Place()...)
	}
	return list
}

func (f *aclBlock) instances() []string {
	var list []string
	for _, p := range f.posts {
		list = append(list, facts.IDs(p.Suspects)...)
	}
	return list
}

// subnets are those at whose edge the ACL was met.
func (f *aclBlock) subnets() []string {
	var list []string
	for _, h := range f.hits {
		list = finding.Adding(list, h.subnet)
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
		list = append(list, fmt.Sprintf("tcp %s %s %s (%s)", phrase.And(ports), direction, h.cidr, phrase.Some(by, 3)))
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
func (f *aclBlock) evidence() []finding.Evidence {
	var list []finding.Evidence
	for _, egress := range []bool{true, false} {
		if !slices.ContainsFunc(f.hits, func(h ruled) bool { return h.egress == egress }) {
			continue
		}
		what := "Inbound rules of " + f.acl.ID
		if egress {
			what = "Outbound rules of " + f.acl.ID
		}
		list = append(list, finding.Evidence{What: what, Value: facts.TenOf(entries(f.acl, egress))})
	}
	list = append(list, finding.Evidence{What: "Subnets of " + f.acl.ID, Value: phrase.Some(f.acl.Subnets, 5)})
	return append(list, f.posts[0].Walks(f.services)...)
}
