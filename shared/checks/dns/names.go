package dns

import (
	"fmt"
	"slices"

	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/path"
)

// needed is a name that nodes resolve before they join.
type needed struct {
	name    string
	service path.Service
	// private tells that a zone of its own answers for it in the VPC: the cluster's
	// private endpoint, or an interface endpoint with private DNS.
	private bool
}

// neededNames are the names that nodes of a VPC must resolve.
func neededNames(g *facts.Placements, r *resolved) []needed {
	var list []needed
	for _, p := range r.posts[0].Paths {
		if name := g.Net.Name(p.Service); name != "" {
			list = append(list, needed{name, p.Service, slices.Contains(r.private, p.Service)})
		}
	}
	return list
}

// byResolver tells whether nodes of a VPC ask the VPC's resolver at all. Name servers of
// one's own are asked in its place.
func byResolver(g *facts.Placements, vpc string) bool {
	n := g.NameServers(vpc)
	return n.Blocked != nil || n.Amazon
}

// ofResolver runs a check of what the resolver of each VPC does with the names.
func ofResolver(judge func(*facts.Placements, *resolved, *finding.Verdicts)) func(*facts.View) []finding.Finding {
	return func(s *facts.View) []finding.Finding {
		g := s.Placements()
		var v finding.Verdicts
		for _, r := range byVPC(g, &v) {
			if !settled(g, r, &v) {
				judge(g, r, &v)
			}
		}
		return v.Findings()
	}
}

// settled passes what the resolver of a VPC does, where it is not asked, or where a node
// that was launched later has joined.
func settled(g *facts.Placements, r *resolved, v *finding.Verdicts) bool {
	if !byResolver(g, r.vpc) {
		v.Pass(r.vpc, r.covers(), namesGiven(g, r.vpc)...)
		return true
	}
	if witness := joinedSince(g, r); witness != "" {
		v.Pass(r.vpc, r.covers(), finding.Evidence{What: witness, Value: "is a Ready node that was launched later in the same VPC"})
		return true
	}
	return false
}

// readyBeside is a Ready node of the VPC, which resolves the same names; empty for none.
func readyBeside(g *facts.Placements, vpc string) string {
	joined := g.S.Ready()
	for _, i := range g.S.Instances {
		if i.VPC == vpc && joined[i.ID] {
			return i.ID
		}
	}
	return ""
}

// inVPC are the rules of one VPC.
func inVPC[T any](list []T, vpc string, of func(T) string) []T {
	var out []T
	for _, x := range list {
		if of(x) == vpc {
			out = append(out, x)
		}
	}
	return out
}

// inForceIn returns the resources of what is in force in a VPC: by itself, or by a Route 53
// Profile.
func inForceIn(id, profile, vpc string) []string {
	if profile == "" {
		return []string{id, vpc}
	}
	return []string{id, profile, vpc}
}

// servicesOf are the services of names.
func servicesOf(list []needed) []path.Service {
	var services []path.Service
	for _, n := range list {
		services = finding.Adding(services, n.service)
	}
	return facts.Ordered(services)
}

// few names one or two services, and counts more.
func few(list []needed) string {
	names := path.Names(servicesOf(list))
	if len(names) > 2 {
		return fmt.Sprintf("%d services", len(names))
	}
	return phrase.And(names)
}

// nameEvidence is what each name meets.
func nameEvidence(list []needed, what func(needed) string) []finding.Evidence {
	var out []finding.Evidence
	for _, n := range list {
		out = append(out, finding.Evidence{What: n.name, Value: what(n)})
	}
	return out
}
