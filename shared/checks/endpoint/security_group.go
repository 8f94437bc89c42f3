package endpoint

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// openEndpointSecurityGroup is the remedy that lets nodes in at an endpoint.
const openEndpointSecurityGroup = "open-endpoint-security-group"

func SecurityGroup() check.Check {
	return check.WithPathSources(check.Check{
		ID:         checkid.EndpointSecurityGroup,
		Remedy:     openEndpointSecurityGroup,
		Title:      "An endpoint that takes a service's name does not admit the nodes",
		Confidence: finding.Certain,
		Explains:   []checkid.ID{checkid.AnyJoinCause},
		Needs: []snapshot.Source{
			snapshot.Clusters, snapshot.Instances, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints, snapshot.SecurityGroups,
		},
		AtLaunch: true,
		Cause: "An interface endpoint with private DNS takes its service's name for the whole VPC, whatever the routes are, and its security groups do not admit 443 from the nodes. " +
			"It is so even where a NAT gateway would lead to the service.",
		Fix: "Admit 443 from the nodes' security group (or from the VPC) in the endpoint's.",
		Links: []string{
			"https://docs.aws.amazon.com/vpc/latest/privatelink/create-interface-endpoint.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html",
		},
		Run: runEndpointSecurityGroup,
	})
}

// guarded are endpoints with the same security groups, which keep the same
// nodes out: one set of rules, one fault.
type guarded struct {
	*facts.SgBlock
	groups    []string
	endpoints []string
}

func runEndpointSecurityGroup(s *facts.View) []finding.Finding {
	g := s.Placements()
	var v finding.Verdicts
	var found []*guarded
	name := s.Cluster.Name
	for _, p := range g.Open(&v, name) {
		var out, blind []*snapshot.Instance
		var why []snapshot.Failure
		var rules []finding.Evidence
		for _, w := range p.Usable() {
			if w.Means != path.ByInterface {
				continue
			}
			e, known := endpointOf(g, p, w)
			if !known {
				continue
			}
			shut, unclear, because, by := g.Admitted(p, e.Groups, facts.HTTPSPort)
			if w.Verdict == path.LeavesView && len(shut) > 0 {
				unclear, shut = append(unclear, shut...), nil
				because = finding.Adding(because, snapshot.Failure{Source: snapshot.RouteTables, Reason: snapshot.NotRead, Message: fmt.Sprintf("%s: %s", w.At, w.Reason)})
			}
			out, blind, why = append(out, shut...), append(blind, unclear...), finding.Adding(why, because...)
			if len(by) > 0 {
				rules = append(rules, finding.Evidence{What: fmt.Sprintf("%s (%s) admits", e.ID, w.Service.Name()), Value: facts.TenOf(by)})
			}
			if len(shut) > 0 {
				i := slices.IndexFunc(found, func(x *guarded) bool { return slices.Equal(x.groups, e.Groups) })
				if i < 0 {
					i = len(found)
					found = append(found, &guarded{SgBlock: &facts.SgBlock{Group: e.Groups[0]}, groups: e.Groups})
				}
				found[i].Add(p, shut, w.Service)
				found[i].endpoints = finding.Adding(found[i].endpoints, e.ID)
			}
		}
		v.Unknown(name, facts.IDs(facts.Except(blind, out)), why...)
		v.Pass(name, facts.IDs(facts.Except(p.Suspects, out, blind)), rules...)
	}
	for _, x := range found {
		v.Fail(endpointSecurityGroupFinding(g, x))
	}
	return v.Findings()
}

// endpointOf is the interface endpoint that wins for a path.
func endpointOf(g *facts.Placements, p *facts.Placement, w path.Path) (snapshot.Endpoint, bool) {
	for _, e := range g.Net.Endpoints(p.Subnet.VPC, w.Service) {
		if path.Available(e) && strings.EqualFold(e.Kind, "Interface") && e.PrivateDNS {
			return e, true
		}
	}
	return snapshot.Endpoint{}, false
}

func endpointSecurityGroupFinding(g *facts.Placements, x *guarded) finding.Finding {
	slices.Sort(x.endpoints)
	groups := x.SgBlock.Groups()
	services := facts.Ordered(x.Services)
	f := finding.Finding{
		Outcome: finding.Fail, Confidence: finding.Weaker(x.Confidence(finding.Certain), finding.Certain), Resource: x.endpoints[0], Covers: facts.IDs(x.Instances), Instances: facts.IDs(x.Instances),
		Resources: slices.Concat(x.endpoints, x.groups, groups),
		Title:     phrase.Title("%s for %s %s not admit the nodes", phrase.Subject(x.endpoints, "endpoint"), phrase.And(path.Names(services)), phrase.Verb(x.endpoints, "does", "do")),
		Why: fmt.Sprintf("%s %s the name of %s for the whole VPC (private DNS), with %s. No inbound rule there admits tcp 443 from nodes in %s, which have %s.",
			phrase.Some(x.endpoints, 5), phrase.Verb(x.endpoints, "takes", "take"), phrase.And(path.Names(services)), phrase.And(x.groups), phrase.Some(x.Subnets(), 3), phrase.And(groups)),
		Evidence: append(g.GroupRules(x.groups, false), x.Posts[0].Walks(services)...),
		Fix: finding.Fix{
			Text:    fmt.Sprintf("Admit 443 from the nodes in %s.", x.Group),
			Console: link.SecurityGroup(g.S, x.Group), Remedy: openEndpointSecurityGroup,
		},
	}
	if len(groups) > 0 {
		f.Fix.Command = command.Admit(g.S, x.Group, facts.HTTPSPort, groups[0])
	}
	internet := g.Net.Internet(x.Posts[0].Subnet.ID)
	if internet.Verdict == path.Reaches || internet.Verdict == path.NeedsPublicIP {
		f.Why += " The subnet's way to the internet does not help: the name leads to the endpoint."
	}
	return f
}
