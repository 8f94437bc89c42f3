package checks

import (
	"fmt"
	"strings"

	"rollcall/shared/network/path"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

// maxHostname is the longest name of a node: Kubernetes keeps it in the label
// kubernetes.io/hostname, whose values have at most 63 characters.
const maxHostname = 63

func dhcpOptions() Check {
	return walking(Check{
		ID:         "dns/dhcp-options",
		Title:      "The VPC's DHCP options give nodes names that do not work",
		Confidence: Likely,
		Needs: []snapshot.Source{
			snapshot.Clusters, snapshot.Instances, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints, snapshot.VPCs, snapshot.DHCP,
		},
		After:    []ID{"dns/support-off"},
		AtLaunch: true,
		Cause: "The VPC's DHCP options name no name servers, or only ones of its own where a private endpoint must resolve; they have no domain-name, or several in one value, so that the host's name is not the one that EC2 gives; " +
			"or the host's name is longer than 63 characters. Name servers of one's own work where they forward to Amazon's resolver, which cannot be seen.",
		Fix: "Associate DHCP options with AmazonProvidedDNS and one domain-name, or let your name servers forward the private names to Amazon's resolver. Nodes must be replaced, or renew their lease.",
		Links: []string{
			"https://docs.aws.amazon.com/vpc/latest/userguide/VPC_DHCP_Options.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting.html",
			"https://github.com/awslabs/amazon-eks-ami/issues/1263",
		},
		Run: func(s *View) []Finding {
			g := s.Placements()
			var v verdicts
			for _, r := range g.byVPC(&v) {
				g.dhcp(r, &v)
			}
			return v.findings()
		},
	})
}

// misnamed is one thing that DHCP options get wrong.
type misnamed struct {
	title, why string
	confidence Confidence
}

func (g *ground) dhcp(r *resolved, v *verdicts) {
	n := g.nameServers(r.vpc)
	if n.blocked != nil {
		v.unknown(r.vpc, r.covers(), *n.blocked)
		return
	}
	faults := append(n.faults(r.private), hostnames(r.suspects(), n.options)...)
	if len(faults) == 0 {
		v.pass(n.options.ID, r.covers(), g.namesGiven(r.vpc)...)
		return
	}
	if witness := g.joinedSince(r); witness != "" {
		evidence := Evidence{What: witness, Value: "is a Ready node that was launched later, with the same DHCP options"}
		v.pass(n.options.ID, r.covers(), append([]Evidence{evidence}, g.namesGiven(r.vpc)...)...)
		return
	}
	var why []string
	confidence := Confidence("")
	for _, f := range faults {
		why = append(why, f.why)
		confidence = surer(confidence, f.confidence)
	}
	v.fail(Finding{
		Outcome: Fail, Confidence: weaker(confidence, Likely), Resource: n.options.ID,
		Covers: r.covers(), Instances: ids(r.suspects()), Resources: append([]string{n.options.ID, r.vpc}, r.covers()...),
		Title:    title("%s %s", n.options.ID, faults[0].title),
		Why:      fmt.Sprintf("%s uses the DHCP options %s. %s", r.vpc, n.options.ID, strings.Join(why, " ")),
		Evidence: append(g.namesGiven(r.vpc), r.posts[0].walks(r.private)...),
		Fix:      g.fixDHCP(r, n),
	})
}

// faults are what is wrong with the options themselves. Where a name server
// is one's own, private names resolve only if it forwards them.
func (n nameServers) faults(private []path.Service) []misnamed {
	var list []misnamed
	switch own := len(n.own) + len(n.odd); {
	case own == 0 && !n.amazon:
		list = append(list, misnamed{"gives no name servers", "They name no name server, so nodes have none to ask.", Likely})
	case own > 0 && !n.first && len(private) > 0:
		confidence := Likely
		if n.amazon {
			confidence = Possible // it is asked when the first does not answer
		}
		list = append(list, misnamed{
			"gives name servers of its own",
			fmt.Sprintf("Nodes ask %s, which must forward to Amazon's resolver the private names of %s.", some(n.options.DomainNameServers, 4), and(path.Names(ordered(private)))),
			confidence,
		})
	}
	var names []string
	for _, value := range n.options.DomainNames {
		names = append(names, strings.Fields(value)...)
	}
	switch {
	case len(names) == 0:
		list = append(list, misnamed{"gives no domain name", "They have no domain-name, so a node's host name is not the private name that EC2 gives.", Likely})
	case len(names) > 1:
		list = append(list, misnamed{
			fmt.Sprintf("gives %d domain names at once", len(names)),
			fmt.Sprintf("Their domain-name is %q: most systems take it for one name, so a node's host name is not the private name that EC2 gives, and the cluster refuses it.", clip(strings.Join(n.options.DomainNames, " "))),
			Likely,
		})
	}
	return list
}

// hostnames are names of nodes that are too long.
func hostnames(list []*snapshot.Instance, o snapshot.DHCPOptions) []misnamed {
	for _, i := range list {
		name := i.PrivateDNS
		if len(o.DomainNames) == 1 && i.PrivateIP.Is4() {
			made := fmt.Sprintf("ip-%s.%s", strings.ReplaceAll(i.PrivateIP.String(), ".", "-"), strings.TrimSpace(o.DomainNames[0]))
			if len(made) > len(name) && !strings.Contains(made, " ") {
				name = made
			}
		}
		if len(name) > maxHostname {
			return []misnamed{{"makes host names too long", fmt.Sprintf("The host name of %s is %s: %d characters, and a node's name has at most %d.", i.ID, clip(name), len(name), maxHostname), Likely}}
		}
	}
	return nil
}

// joinedSince is a Ready node of the VPC that was launched after one of those
// that did not join: what it resolved, they could have.
func (g *ground) joinedSince(r *resolved) string {
	since := earliest(r.suspects())
	joined := g.s.Ready()
	for _, i := range g.s.Instances {
		if i.VPC == r.vpc && joined[i.ID] && !since.IsZero() && i.Launched.After(since) {
			return i.ID
		}
	}
	return ""
}

func (g *ground) fixDHCP(r *resolved, n nameServers) Fix {
	domain := g.s.Region + ".compute.internal"
	if g.s.Region == "us-east-1" {
		domain = "ec2.internal" // EC2 user guide, "EC2 instance hostnames and domains"
	}
	servers := "AmazonProvidedDNS"
	text := fmt.Sprintf("Give %s options with AmazonProvidedDNS and the domain name %s, then replace the instances.", r.vpc, domain)
	if own := len(n.own) + len(n.odd); own > 0 {
		text += " Or let your name servers forward the private names to Amazon's resolver."
		if len(r.private) == 0 {
			servers = strings.Join(n.options.DomainNameServers, ",")
			text = fmt.Sprintf("Give %s options with the domain name %s, then replace the instances.", r.vpc, domain)
		}
	}
	return Fix{
		Text: text,
		Command: aws(g.s, "ec2 associate-dhcp-options", "--vpc-id", r.vpc, "--dhcp-options-id", shell.Output(
			aws(g.s, "ec2 create-dhcp-options", "--dhcp-configurations", "Key=domain-name-servers,Values="+servers, "Key=domain-name,Values="+domain,
				"--query", "DhcpOptions.DhcpOptionsId", "--output", "text"))),
		Console: console(g.s, "DhcpOptionsDetails:DhcpOptionsId="+n.options.ID),
	}
}
