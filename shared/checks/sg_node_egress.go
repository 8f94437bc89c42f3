package checks

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

func nodeEgress() Check {
	return walking(Check{
		ID:         "sg/node-egress",
		Title:      "The nodes' security groups let nothing out where nodes must go",
		Confidence: Certain,
		Explains:   []ID{AnyJoinCause},
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
		Run: runNodeEgress,
	})
}

// shutOut is what the security groups of a post do not let out.
type shutOut struct {
	confidence Confidence
	services   []path.Service // on 443
	servers    []string       // on 53
	protocol   string         // of 53
	far        []netip.Prefix // where it is, when it is in private networks
	anywhere   bool           // some of it is at public addresses
	blocked    []snapshot.Failure
	by         []string
}

func runNodeEgress(s *View) []Finding {
	g := s.Placements()
	var v verdicts
	type bad struct {
		*barred
		shutOut
	}
	var found []*bad
	for _, p := range g.posts {
		switch {
		case p.empty():
			continue
		case p.idle():
			v.pass(firstOf(p.groups, s.Cluster.Name), ids(p.well))
			continue
		case len(p.blocked) > 0:
			v.unknown(s.Cluster.Name, ids(p.suspects), p.blocked...)
			continue
		}
		out := g.shutOut(p)
		switch {
		case len(out.services)+len(out.servers) > 0:
			i := slices.IndexFunc(found, func(b *bad) bool { return b.group == p.groups[0] })
			if i < 0 {
				i = len(found)
				found = append(found, &bad{barred: &barred{group: p.groups[0]}})
			}
			b := found[i]
			b.add(p, p.suspects, out.services...)
			b.shutOut.confidence = surer(b.shutOut.confidence, out.confidence)
			b.servers, b.far = adding(b.servers, out.servers...), adding(b.far, out.far...)
			b.protocol, b.anywhere = out.protocol, b.anywhere || out.anywhere
		case len(out.blocked) > 0:
			v.unknown(firstOf(p.groups, s.Cluster.Name), ids(p.suspects), out.blocked...)
		default:
			v.pass(firstOf(p.groups, s.Cluster.Name), ids(p.suspects), Evidence{What: "Lets out 443", Value: tenOf(out.by)})
		}
		v.pass(firstOf(p.groups, s.Cluster.Name), ids(p.well))
	}
	for _, b := range found {
		v.fail(g.nodeEgress(b.barred, b.shutOut))
	}
	return v.findings()
}

// shutOut judges a post. A path is shut when all of its doors are; when only
// some are, it depends on which one answers.
func (g *ground) shutOut(p *post) shutOut {
	var out shutOut
	for _, w := range p.usable() {
		stop, known := g.end(w)
		if !known {
			out.blocked = adding(out.blocked, snapshot.Failure{Source: snapshot.RouteTables, Reason: snapshot.NotRead, Message: fmt.Sprintf("%s: %s", w.At, w.Reason)})
			continue
		}
		open, shut := 0, 0
		var far []netip.Prefix
		var blocked []snapshot.Failure
		for _, d := range g.doors(w, stop) {
			switch o, why, by := g.letsOut(p.groups, d, stop.Groups, https); o {
			case Pass:
				open++
				out.by = adding(out.by, by...)
			case Fail:
				shut++
				far = append(far, d.ranges...)
			default:
				blocked = append(blocked, why...)
			}
		}
		switch {
		case shut == 0:
			out.blocked = adding(out.blocked, blocked...)
			continue
		case open > 0 || len(blocked) > 0:
			out.confidence = surer(out.confidence, Likely)
		case endsPublic(w) && g.starts.proxied(p.suspects) != "":
			out.confidence = surer(out.confidence, Likely)
		default:
			out.confidence = Certain
		}
		out.services = append(out.services, w.Service)
		if endsPublic(w) {
			out.anywhere = true
		} else {
			out.far = adding(out.far, far...)
		}
	}
	g.shutNames(p, &out)
	return out
}

func (g *ground) nodeEgress(b *barred, out shutOut) Finding {
	var lost []string
	var commands []string
	if services := ordered(b.services); len(services) > 0 {
		lost = append(lost, "tcp 443 to "+and(path.Names(services)))
		to := out.far
		for _, p := range b.posts {
			if ranges := g.vpcRanges(p.subnet.VPC); len(ranges) > 0 {
				to = ranges
			}
		}
		if out.anywhere || len(to) == 0 {
			to = []netip.Prefix{anywhere()}
		}
		for _, r := range to {
			commands = append(commands, release(g.s, b.group, "tcp", https, r))
		}
	}
	if len(out.servers) > 0 {
		lost = append(lost, fmt.Sprintf("%s 53 to the name servers %s", out.protocol, some(out.servers, 3)))
		for _, a := range out.servers {
			addr := netip.MustParseAddr(a)
			commands = append(commands, release(g.s, b.group, out.protocol, dns53, netip.PrefixFrom(addr, addr.BitLen())))
		}
	}
	what := "443 to " + and(path.Names(ordered(b.services)))
	if len(b.services) == 0 {
		what = "53 to the name servers"
	}
	groups := b.groups()
	f := Finding{
		Outcome: Fail, Confidence: weaker(b.confidence(out.confidence), Certain),
		Resource: b.group, Covers: ids(b.instances), Instances: ids(b.instances),
		Resources: append(slices.Clone(groups), b.subnets()...),
		Title:     title("%s lets out no %s", b.group, what),
		Why: fmt.Sprintf("Nodes in %s have %s. No outbound rule admits %s.%s",
			some(b.subnets(), 3), and(groups), and(lost), g.foreign(b)),
		Evidence: append(g.groupRules(groups, true), b.posts[0].walks(b.services)...),
		Fix: Fix{
			Text:    fmt.Sprintf("Let %s out of %s.", strings.Join(lost, " and "), b.group),
			Command: several(commands), Console: groupLink(g.s, b.group),
		},
	}
	if out.confidence == Likely && len(out.servers) == 0 && !out.anywhere {
		f.Why += " Other addresses of the same service are admitted: it depends on which one answers."
	}
	return f
}

// firstOf is the first of a list, else something else.
func firstOf(list []string, or string) string {
	if len(list) > 0 {
		return list[0]
	}
	return or
}
