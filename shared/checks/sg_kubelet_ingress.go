package checks

import (
	"fmt"
	"net/netip"
	"slices"

	"rollcall/shared/firewall"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

func kubeletIngress() Check {
	return walking(Check{
		ID:         "sg/kubelet-ingress",
		Title:      "The nodes do not admit the control plane on 10250",
		Confidence: Possible,
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Instances, snapshot.Subnets, snapshot.SecurityGroups},
		AtLaunch:   true,
		Cause:      "No rule of the nodes' security groups admits 10250 from the control plane's interfaces. Nodes join all the same; logs, exec, metrics and port-forward do not work.",
		Fix:        "Admit 10250 from the cluster's security group in the nodes'.",
		Links:      []string{"https://docs.aws.amazon.com/eks/latest/userguide/sec-group-reqs.html"},
		Run:        runKubeletIngress,
	})
}

func runKubeletIngress(s *View) []Finding {
	g := s.Placements()
	var v verdicts
	var found []*barred
	name := s.Cluster.Name
	from := g.controlPlane()
	for _, p := range g.posts {
		v.pass(name, ids(p.well))
		switch {
		case len(p.suspects) == 0:
			continue
		case p.subnet.ID == "" || p.subnet.VPC == "":
			v.unknown(name, ids(p.suspects), p.blocked...)
			continue
		}
		o, why, by := outcome(g.fw.In(p.groups, from, tcp, kubeletPort))
		switch {
		case o == Pass:
			v.pass(name, ids(p.suspects), Evidence{What: "Admitted by", Value: tenOf(by)})
		case p.subnet.VPC != s.Cluster.VPC:
			// What arrives may have been translated on the way.
			v.unknown(name, ids(p.suspects), snapshot.Failure{
				Source: snapshot.SecurityGroups, Reason: snapshot.NotRead,
				Message: fmt.Sprintf("the control plane is in %s, the nodes in %s", s.Cluster.VPC, p.subnet.VPC),
			})
		case o == Fail:
			b, list := bar(found, p.groups[0])
			b.add(p, p.suspects, path.API)
			found = list
		default:
			v.unknown(name, ids(p.suspects), why...)
		}
	}
	for _, b := range found {
		v.fail(g.kubeletIngress(b))
	}
	return v.findings()
}

// controlPlane is the control plane as a peer: its interfaces where they were
// read, else the subnets in which they may stand.
func (g *ground) controlPlane() (p firewall.Peer) {
	c := g.s.Cluster
	if c.SecurityGroup != "" {
		p.Groups = append(p.Groups, c.SecurityGroup)
	}
	p.Groups = append(p.Groups, c.SecurityGroups...)
	for _, e := range g.s.Interfaces {
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
		if s, known := g.net.Subnet(id); known && s.CIDR.IsValid() {
			p.Ranges = append(p.Ranges, s.CIDR)
		}
	}
	return p
}

func (g *ground) kubeletIngress(b *barred) Finding {
	groups := b.groups()
	from := g.controlPlane().Groups
	f := Finding{
		Outcome: Fail, Resource: b.group, Covers: ids(b.instances), Instances: ids(b.instances),
		Resources: append(slices.Clone(groups), from...),
		Title:     title("%s does not admit 10250 from the control plane", b.group),
		Why: fmt.Sprintf("Nodes in %s have %s. No inbound rule admits tcp 10250 from the control plane (%s). They can join; logs and exec will not work.",
			some(b.subnets(), 3), and(groups), some(from, 3)),
		Evidence: g.groupRules(groups, false),
		Fix:      Fix{Text: fmt.Sprintf("Admit 10250 from the cluster's security group in %s.", b.group), Console: groupLink(g.s, b.group)},
	}
	if len(from) > 0 {
		f.Fix.Command = admit(g.s, b.group, kubeletPort, from[0])
	}
	return f
}
