package sg

import (
	"fmt"
	"net/netip"
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

func NodeEgress() check.Check {
	return check.WithPathSources(check.Check{
		ID:         checkid.SGNodeEgress,
		Title:      "The nodes' security groups let nothing out where nodes must go",
		Confidence: finding.Certain,
		Explains:   []checkid.ID{checkid.AnyJoinCause},
		Needs: []snapshot.Source{
			snapshot.Clusters, snapshot.Instances, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints, snapshot.SecurityGroups,
		},
		// A proxy makes it less than certain; more than that neither decides.
		Uses:     []snapshot.Source{snapshot.UserDataOf, snapshot.LaunchTemplates},
		AtLaunch: true,
		Cause: "No rule of the nodes' security groups admits 443 to what a node must reach on the path that wins: the control plane, an endpoint or the internet. " +
			"Where the VPC has name servers of its own, 53 to them counts as well; security groups do not filter what goes to Amazon's own resolver.",
		Fix: "Add an outbound rule for 443 (and for 53 to name servers of your own) to a security group of the nodes.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/sec-group-reqs.html",
			"https://docs.aws.amazon.com/vpc/latest/userguide/vpc-security-groups.html",
		},
		Run: RunNodeEgress,
	})
}

// shutOut is what the security groups of a post do not let out.
type shutOut struct {
	confidence finding.Confidence
	services   []path.Service // on 443
	servers    []string       // on 53
	protocol   string         // of 53
	far        []netip.Prefix // where it is, when it is in private networks
	anywhere   bool           // some of it is at public addresses
	blocked    []snapshot.Failure
	by         []string
}

func RunNodeEgress(s *facts.View) []finding.Finding {
	g := s.Placements()
	var v finding.Verdicts
	type bad struct {
		*facts.SgBlock
		shutOut
	}
	var found []*bad
	for _, p := range g.Posts {
		switch {
		case p.Empty():
			continue
		case p.Idle():
			v.Pass(phrase.FirstOf(p.Groups, s.Cluster.Name), facts.IDs(p.Well))
			continue
		case len(p.Blocked) > 0:
			v.Unknown(s.Cluster.Name, facts.IDs(p.Suspects), p.Blocked...)
			continue
		}
		out := shutOutOf(g, p)
		switch {
		case len(out.services)+len(out.servers) > 0:
			i := slices.IndexFunc(found, func(b *bad) bool { return b.Group == p.Groups[0] })
			if i < 0 {
				i = len(found)
				found = append(found, &bad{SgBlock: &facts.SgBlock{Group: p.Groups[0]}})
			}
			b := found[i]
			b.Add(p, p.Suspects, out.services...)
			b.shutOut.confidence = finding.Surer(b.shutOut.confidence, out.confidence)
			b.servers, b.far = finding.Adding(b.servers, out.servers...), finding.Adding(b.far, out.far...)
			b.protocol, b.anywhere = out.protocol, b.anywhere || out.anywhere
		case len(out.blocked) > 0:
			v.Unknown(phrase.FirstOf(p.Groups, s.Cluster.Name), facts.IDs(p.Suspects), out.blocked...)
		default:
			v.Pass(phrase.FirstOf(p.Groups, s.Cluster.Name), facts.IDs(p.Suspects), finding.Evidence{What: "Lets out 443", Value: facts.TenOf(out.by)})
		}
		v.Pass(phrase.FirstOf(p.Groups, s.Cluster.Name), facts.IDs(p.Well))
	}
	for _, b := range found {
		v.Fail(nodeEgress(g, b.SgBlock, b.shutOut))
	}
	return v.Findings()
}

// shutOutOf judges a post. A path is shut when all of its doors are; when only
// some are, it depends on which one answers.
func shutOutOf(g *facts.Placements, p *facts.Placement) shutOut {
	var out shutOut
	for _, w := range p.Usable() {
		stop, known := g.End(w)
		if !known {
			out.blocked = finding.Adding(out.blocked, snapshot.Failure{Source: snapshot.RouteTables, Reason: snapshot.NotRead, Message: fmt.Sprintf("%s: %s", w.At, w.Reason)})
			continue
		}
		open, shut := 0, 0
		var far []netip.Prefix
		var blocked []snapshot.Failure
		for _, d := range g.EndpointAddresses(w, stop) {
			switch o, why, by := g.LetsOut(p.Groups, d, stop.Groups, facts.HTTPSPort); o {
			case finding.Pass:
				open++
				out.by = finding.Adding(out.by, by...)
			case finding.Fail:
				shut++
				far = append(far, d.Ranges...)
			default:
				blocked = append(blocked, why...)
			}
		}
		switch {
		case shut == 0:
			out.blocked = finding.Adding(out.blocked, blocked...)
			continue
		case open > 0 || len(blocked) > 0:
			out.confidence = finding.Surer(out.confidence, finding.Likely)
		case w.NamesUnread != "", facts.EndsPublic(w) && g.Starts.Proxied(p.Suspects) != "":
			out.confidence = finding.Surer(out.confidence, finding.Likely)
		default:
			out.confidence = finding.Certain
		}
		out.services = append(out.services, w.Service)
		if facts.EndsPublic(w) {
			out.anywhere = true
		} else {
			out.far = finding.Adding(out.far, far...)
		}
	}
	shutNames(g, p, &out)
	return out
}

func nodeEgress(g *facts.Placements, b *facts.SgBlock, out shutOut) finding.Finding {
	var lost []string
	var commands []string
	if services := facts.Ordered(b.Services); len(services) > 0 {
		lost = append(lost, "tcp 443 to "+phrase.And(path.Names(services)))
		to := out.far
		for _, p := range b.Posts {
			if ranges := g.VPCRanges(p.Subnet.VPC); len(ranges) > 0 {
				to = ranges
			}
		}
		if out.anywhere || len(to) == 0 {
			to = []netip.Prefix{facts.Anywhere()}
		}
		for _, r := range to {
			commands = append(commands, command.Release(g.S, b.Group, "tcp", facts.HTTPSPort, r))
		}
	}
	if len(out.servers) > 0 {
		lost = append(lost, fmt.Sprintf("%s 53 to the name servers %s", out.protocol, phrase.Some(out.servers, 3)))
		for _, a := range out.servers {
			addr := netip.MustParseAddr(a)
			commands = append(commands, command.Release(g.S, b.Group, out.protocol, facts.DNSPort, netip.PrefixFrom(addr, addr.BitLen())))
		}
	}
	what := "443 to " + phrase.And(path.Names(facts.Ordered(b.Services)))
	if len(b.Services) == 0 {
		what = "53 to the name servers"
	}
	groups := b.Groups()
	f := finding.Finding{
		Outcome: finding.Fail, Confidence: finding.Weaker(b.Confidence(out.confidence), finding.Certain),
		Resource: b.Group, Covers: facts.IDs(b.Instances), Instances: facts.IDs(b.Instances),
		Resources: append(slices.Clone(groups), b.Subnets()...),
		Title:     phrase.Title("%s lets out no %s", b.Group, what),
		Why: fmt.Sprintf("Nodes in %s have %s. No outbound rule admits %s.%s",
			phrase.Some(b.Subnets(), 3), phrase.And(groups), phrase.And(lost), g.Foreign(b)),
		Evidence: append(g.GroupRules(groups, true), b.Posts[0].Walks(b.Services)...),
		Fix: finding.Fix{
			Text:    fmt.Sprintf("Let %s out of %s.", strings.Join(lost, " and "), b.Group),
			Command: command.Several(commands), Console: link.SecurityGroup(g.S, b.Group),
		},
	}
	if out.confidence == finding.Likely && len(out.servers) == 0 && !out.anywhere {
		f.Why += " Other addresses of the same service are admitted: it depends on which one answers."
	}
	return f
}
