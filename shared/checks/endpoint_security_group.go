package checks

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// openEndpointSecurityGroup is the remedy that lets nodes in at an endpoint.
const openEndpointSecurityGroup = "open-endpoint-security-group"

func endpointSecurityGroup() Check {
	return walking(Check{
		ID:         "endpoint/security-group",
		Title:      "An endpoint that takes a service's name does not admit the nodes",
		Confidence: Certain,
		Explains:   []ID{AnyJoinCause},
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
	*barred
	groups    []string
	endpoints []string
}

func runEndpointSecurityGroup(s *View) []Finding {
	g := s.Placements()
	var v verdicts
	var found []*guarded
	name := s.Cluster.Name
	for _, p := range g.open(&v, name) {
		var out, blind []*snapshot.Instance
		var why []snapshot.Failure
		var rules []Evidence
		for _, w := range p.usable() {
			if w.Means != path.ByInterface {
				continue
			}
			e, known := g.endpointOf(p, w)
			if !known {
				continue
			}
			shut, unclear, because, by := g.admitted(p, e.Groups, https)
			if w.Verdict == path.LeavesView && len(shut) > 0 {
				unclear, shut = append(unclear, shut...), nil
				because = adding(because, snapshot.Failure{Source: snapshot.RouteTables, Reason: snapshot.NotRead, Message: fmt.Sprintf("%s: %s", w.At, w.Reason)})
			}
			out, blind, why = append(out, shut...), append(blind, unclear...), adding(why, because...)
			if len(by) > 0 {
				rules = append(rules, Evidence{What: fmt.Sprintf("%s (%s) admits", e.ID, w.Service.Name()), Value: tenOf(by)})
			}
			if len(shut) > 0 {
				i := slices.IndexFunc(found, func(x *guarded) bool { return slices.Equal(x.groups, e.Groups) })
				if i < 0 {
					i = len(found)
					found = append(found, &guarded{barred: &barred{group: e.Groups[0]}, groups: e.Groups})
				}
				found[i].add(p, shut, w.Service)
				found[i].endpoints = adding(found[i].endpoints, e.ID)
			}
		}
		v.unknown(name, ids(except(blind, out)), why...)
		v.pass(name, ids(except(p.suspects, out, blind)), rules...)
	}
	for _, x := range found {
		v.fail(g.endpointSecurityGroup(x))
	}
	return v.findings()
}

// endpointOf is the interface endpoint that wins for a path.
func (g *ground) endpointOf(p *post, w path.Path) (snapshot.Endpoint, bool) {
	for _, e := range g.net.Endpoints(p.subnet.VPC, w.Service) {
		if path.Available(e) && strings.EqualFold(e.Kind, "Interface") && e.PrivateDNS {
			return e, true
		}
	}
	return snapshot.Endpoint{}, false
}

func (g *ground) endpointSecurityGroup(x *guarded) Finding {
	slices.Sort(x.endpoints)
	groups := x.barred.groups()
	services := ordered(x.services)
	f := Finding{
		Outcome: Fail, Confidence: weaker(x.confidence(Certain), Certain), Resource: x.endpoints[0], Covers: ids(x.instances), Instances: ids(x.instances),
		Resources: slices.Concat(x.endpoints, x.groups, groups),
		Title:     title("%s for %s %s not admit the nodes", subject(x.endpoints, "endpoint"), and(path.Names(services)), verb(x.endpoints, "does", "do")),
		Why: fmt.Sprintf("%s %s the name of %s for the whole VPC (private DNS), with %s. No inbound rule there admits tcp 443 from nodes in %s, which have %s.",
			some(x.endpoints, 5), verb(x.endpoints, "takes", "take"), and(path.Names(services)), and(x.groups), some(x.subnets(), 3), and(groups)),
		Evidence: append(g.groupRules(x.groups, false), x.posts[0].walks(services)...),
		Fix: Fix{
			Text:    fmt.Sprintf("Admit 443 from the nodes in %s.", x.group),
			Console: groupLink(g.s, x.group), Remedy: openEndpointSecurityGroup,
		},
	}
	if len(groups) > 0 {
		f.Fix.Command = admit(g.s, x.group, https, groups[0])
	}
	internet := g.net.Internet(x.posts[0].subnet.ID)
	if internet.Verdict == path.Reaches || internet.Verdict == path.NeedsPublicIP {
		f.Why += " The subnet's way to the internet does not help: the name leads to the endpoint."
	}
	return f
}
