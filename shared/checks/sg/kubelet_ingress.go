package sg

import (
	"fmt"
	"net/netip"
	"rollcall/shared/checkid"
	"slices"

	"rollcall/shared/checks/check"
	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/filter"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

func KubeletIngress() check.Check {
	return check.WithPathSources(check.Check{
		ID:         checkid.SGKubeletIngress,
		Title:      "The nodes do not admit the control plane on 10250",
		Confidence: finding.Possible,
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Instances, snapshot.Subnets, snapshot.SecurityGroups},
		AtLaunch:   true,
		Cause:      "No rule of the nodes' security groups admits 10250 from the control plane's interfaces. Nodes join all the same; logs, exec, metrics and port-forward do not work.",
		Fix:        "Admit 10250 from the cluster's security group in the nodes'.",
		Links:      []string{"https://docs.aws.amazon.com/eks/latest/userguide/sec-group-reqs.html"},
		Run:        RunKubeletIngress,
	})
}

func RunKubeletIngress(s *facts.View) []finding.Finding {
	g := s.Placements()
	var v finding.Verdicts
	var found []*facts.SgBlock
	name := s.Cluster.Name
	from := controlPlane(g)
	for _, p := range g.Posts {
		v.Pass(name, facts.IDs(p.Well))
		switch {
		case len(p.Suspects) == 0:
			continue
		case p.Subnet.ID == "" || p.Subnet.VPC == "":
			v.Unknown(name, facts.IDs(p.Suspects), p.Blocked...)
			continue
		}
		o, why, by := facts.Outcome(g.Fw.In(p.Groups, from, facts.TCP, facts.KubeletPort))
		switch {
		case o == finding.Pass:
			v.Pass(name, facts.IDs(p.Suspects), finding.Evidence{What: "Admitted by", Value: facts.TenOf(by)})
		case p.Subnet.VPC != s.Cluster.VPC:
			// What arrives may have been translated on the way.
			v.Unknown(name, facts.IDs(p.Suspects), snapshot.Failure{
				Source: snapshot.SecurityGroups, Reason: snapshot.NotRead,
				Message: fmt.Sprintf("the control plane is in %s, the nodes in %s", s.Cluster.VPC, p.Subnet.VPC),
			})
		case o == finding.Fail:
			b, list := facts.Bar(found, p.Groups[0])
			b.Add(p, p.Suspects, path.API)
			found = list
		default:
			v.Unknown(name, facts.IDs(p.Suspects), why...)
		}
	}
	for _, b := range found {
		v.Fail(kubeletIngressFinding(g, b))
	}
	return v.Findings()
}

// controlPlane is the control plane as a peer: its interfaces where they were
// read, else the subnets in which they may stand.
func controlPlane(g *facts.Placements) (p filter.Peer) {
	c := g.S.Cluster
	if c.SecurityGroup != "" {
		p.Groups = append(p.Groups, c.SecurityGroup)
	}
	p.Groups = append(p.Groups, c.SecurityGroups...)
	for _, e := range g.S.Interfaces {
		if path.ControlPlane(e, c.Name) {
			for _, a := range e.PrivateIPs {
				p.Ranges = append(p.Ranges, netip.PrefixFrom(a, a.BitLen()))
			}
		}
	}
	if len(p.Ranges) > 0 {
		return p
	}
	for _, id := range c.Subnets {
		if s, known := g.Net.Subnet(id); known && s.CIDR.IsValid() {
			p.Ranges = append(p.Ranges, s.CIDR)
		}
	}
	return p
}

func kubeletIngressFinding(g *facts.Placements, b *facts.SgBlock) finding.Finding {
	groups := b.Groups()
	from := controlPlane(g).Groups
	f := finding.Finding{
		Outcome: finding.Fail, Resource: b.Group, Covers: facts.IDs(b.Instances), Instances: facts.IDs(b.Instances),
		Resources: append(slices.Clone(groups), from...),
		Title:     phrase.Title("%s does not admit 10250 from the control plane", b.Group),
		Why: fmt.Sprintf("Nodes in %s have %s. No inbound rule admits tcp 10250 from the control plane (%s). They can join; logs and exec will not work.",
			phrase.Some(b.Subnets(), 3), phrase.And(groups), phrase.Some(from, 3)),
		Evidence: g.GroupRules(groups, false),
		Fix:      finding.Fix{Text: fmt.Sprintf("Admit 10250 from the cluster's security group in %s.", b.Group), Console: link.SecurityGroup(g.S, b.Group)},
	}
	if len(from) > 0 {
		f.Fix.Command = command.Admit(g.S, b.Group, facts.KubeletPort, from[0])
	}
	return f
}
