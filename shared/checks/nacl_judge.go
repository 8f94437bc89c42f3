package checks

import (
	"fmt"
	"slices"

	"rollcall/shared/firewall"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// fence is a network ACL that keeps nodes from what they need, in the making.
type fence struct {
	acl        snapshot.NetworkACL
	confidence Confidence
	posts      []*post
	services   []path.Service
	hits       []ruled
	chance     bool
}

// fences judges every post, by requests or by answers.
func (g *ground) fences(back bool, say func(*ground, *fence) Finding) []Finding {
	var v verdicts
	var found []*fence
	for _, p := range g.posts {
		resource := firstOf([]string{p.subnet.ID}, g.s.Cluster.Name)
		acl, known := g.fw.ACL(p.subnet.ID)
		if known {
			resource = acl.ID
		}
		if p.idle() {
			v.pass(resource, p.place())
			continue
		}
		if len(p.blocked) > 0 {
			v.unknown(resource, p.place(), p.blocked...)
			continue
		}
		failed := false
		var blocked []snapshot.Failure
		paths := p.usable()
		barriers := make([]barrier, len(paths))
		contradicted := false
		for i, w := range paths {
			barriers[i] = g.barrier(p, w, back)
			blocked = adding(blocked, barriers[i].blocked...)
			// A Ready node of this subnet reports to the API through the same ACL.
			contradicted = contradicted || w.Service == path.API && barriers[i].outcome == Fail && g.witness(p.subnet.ID)
		}
		for i, b := range barriers {
			if b.outcome != Fail {
				continue
			}
			failed = true
			if contradicted {
				b.confidence = Likely
			}
			for _, hit := range b.hits {
				found = fenced(found, p, paths[i], b, hit)
			}
		}
		switch {
		case failed:
		case len(blocked) > 0:
			v.unknown(resource, p.place(), blocked...)
		default:
			v.pass(resource, p.place(), Evidence{What: resource, Value: tenOf(entries(acl, !back))})
		}
	}
	for _, f := range found {
		v.fail(say(g, f))
	}
	return v.findings()
}

func (g *ground) witness(subnet string) bool {
	return slices.ContainsFunc(g.posts, func(p *post) bool { return p.subnet.ID == subnet && len(p.well) > 0 })
}

// fenced adds a hit to the one of the list that is its ACL's.
func fenced(found []*fence, p *post, w path.Path, b barrier, hit ruled) []*fence {
	i := slices.IndexFunc(found, func(f *fence) bool { return f.acl.ID == hit.acl.ID })
	if i < 0 {
		i = len(found)
		found = append(found, &fence{acl: hit.acl})
	}
	f := found[i]
	f.confidence = surer(f.confidence, b.confidence)
	f.posts = adding(f.posts, p)
	f.services = adding(f.services, w.Service)
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

func (f *fence) covers() []string {
	var list []string
	for _, p := range f.posts {
		list = adding(list, p.place()...)
	}
	return list
}

func (f *fence) instances() []string {
	var list []string
	for _, p := range f.posts {
		list = append(list, ids(p.suspects)...)
	}
	return list
}

// subnets are those at whose edge the ACL was met.
func (f *fence) subnets() []string {
	var list []string
	for _, h := range f.hits {
		list = adding(list, h.subnet)
	}
	return list
}

// denied is what was denied, as a person would say it: "tcp 443 out to
// 0.0.0.0/0 (rule * denies all traffic)".
func (f *fence) denied() []string {
	const limit = 3
	var list []string
	for _, h := range f.hits[:min(len(f.hits), limit)] {
		direction := "in from"
		if h.egress {
			direction = "out to"
		}
		var by []string
		for _, e := range h.verdict.By {
			by = append(by, firewall.Entry(e))
		}
		ports := make([]string, len(h.verdict.Shut))
		for i, p := range h.verdict.Shut {
			ports[i] = p.String()
		}
		list = append(list, fmt.Sprintf("tcp %s %s %s (%s)", and(ports), direction, h.cidr, some(by, 3)))
	}
	return list
}

// entries are an ACL's rules in one direction, one line each.
func entries(acl snapshot.NetworkACL, egress bool) []string {
	var list []string
	for _, e := range acl.Entries {
		if e.Egress == egress {
			list = append(list, firewall.Entry(e))
		}
	}
	return list
}

// evidence is the ACL's rules, and the paths that meet them.
func (f *fence) evidence() []Evidence {
	var list []Evidence
	for _, egress := range []bool{true, false} {
		if !slices.ContainsFunc(f.hits, func(h ruled) bool { return h.egress == egress }) {
			continue
		}
		what := "Inbound rules of " + f.acl.ID
		if egress {
			what = "Outbound rules of " + f.acl.ID
		}
		list = append(list, Evidence{What: what, Value: tenOf(entries(f.acl, egress))})
	}
	list = append(list, Evidence{What: "Subnets of " + f.acl.ID, Value: some(f.acl.Subnets, 5)})
	return append(list, f.posts[0].walks(f.services)...)
}
