package dns

import (
	"fmt"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/path"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

// maxHostname is the longest name of a node: Kubernetes keeps it in the label
// kubernetes.io/hostname, whose values have at most 63 characters.
const maxHostname = 63

func DHCPOptions() check.Check {
	return check.WithPathSources(check.Check{
		ID:         checkid.DNSDHCPOptions,
		Title:      "The VPC's DHCP options give nodes names that do not work",
		Confidence: finding.Likely,
		Needs: []snapshot.Source{
			snapshot.Clusters, snapshot.Instances, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints, snapshot.VPCs, snapshot.DHCP,
		},
		Uses:     []snapshot.Source{snapshot.UserDataOf, snapshot.LaunchTemplates},
		After:    []checkid.ID{checkid.DNSSupportOff},
		AtLaunch: true,
		Cause: "The VPC's DHCP options name no name servers, or only ones of its own where a private endpoint must resolve; they have no domain-name, or several in one value, so that the host's name is not the one that EC2 gives; " +
			"or the host's name is longer than 63 characters. Name servers of one's own work where they forward to Amazon's resolver, which cannot be seen.",
		Fix: "Associate DHCP options with AmazonProvidedDNS and one domain-name, or let your name servers forward the private names to Amazon's resolver. Nodes must be replaced, or renew their lease.",
		Links: []string{
			"https://docs.aws.amazon.com/vpc/latest/userguide/VPC_DHCP_Options.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting.html",
			"https://github.com/awslabs/amazon-eks-ami/issues/1263",
		},
		Run: func(s *facts.View) []finding.Finding {
			g := s.Placements()
			var v finding.Verdicts
			for _, r := range byVPC(g, &v) {
				dhcp(g, r, &v)
			}
			return v.Findings()
		},
	})
}

// misnamed is one thing that DHCP options get wrong.
type misnamed struct {
	title, why string
	confidence finding.Confidence
}

func dhcp(g *facts.Placements, r *resolved, v *finding.Verdicts) {
	n := g.NameServers(r.vpc)
	if n.Blocked != nil {
		v.Unknown(r.vpc, r.covers(), *n.Blocked)
		return
	}
	own := nodesOwn(g, r.suspects())
	faults := append(faults(n, r.private, own), hostnames(r.suspects(), n.Options)...)
	if len(faults) == 0 {
		v.Pass(n.Options.ID, r.covers(), namesGiven(g, r.vpc)...)
		return
	}
	if witness := joinedSince(g, r); witness != "" {
		evidence := finding.Evidence{What: witness, Value: "is a Ready node that was launched later, with the same DHCP options"}
		v.Pass(n.Options.ID, r.covers(), append([]finding.Evidence{evidence}, namesGiven(g, r.vpc)...)...)
		return
	}
	var why []string
	confidence := finding.Confidence("")
	for _, f := range faults {
		why = append(why, f.why)
		confidence = finding.Surer(confidence, f.confidence)
	}
	v.Fail(finding.Finding{
		Outcome: finding.Fail, Confidence: finding.Weaker(confidence, finding.Likely), Resource: n.Options.ID,
		Covers: r.covers(), Instances: facts.IDs(r.suspects()), Resources: append([]string{n.Options.ID, r.vpc}, r.covers()...),
		Title:    phrase.Title("%s %s", n.Options.ID, faults[0].title),
		Why:      fmt.Sprintf("%s uses the DHCP options %s. %s", r.vpc, n.Options.ID, strings.Join(why, " ")),
		Evidence: append(namesGiven(g, r.vpc), r.posts[0].Walks(r.private)...),
		Fix:      fixDHCP(g, r, n),
	})
}

// faults are what is wrong with the options themselves. Where a name server
// is one's own, private names resolve only if it forwards them.
func faults(n facts.NameServers, private []path.Service, nodes []string) []misnamed {
	var list []misnamed
	besides := ""
	if len(nodes) > 0 {
		besides = " User data adds " + phrase.Some(nodes, 4) + ", which may answer."
	}
	switch own := len(n.Own) + len(n.Odd); {
	case own == 0 && !n.Amazon && len(nodes) > 0:
		list = append(list, misnamed{"gives no name servers", "They name no name server." + besides, finding.Possible})
	case own == 0 && !n.Amazon:
		list = append(list, misnamed{"gives no name servers", "They name no name server, so nodes have none to ask.", finding.Likely})
	case own > 0 && !n.First && len(private) > 0:
		confidence := finding.Likely
		if n.Amazon || len(nodes) > 0 {
			confidence = finding.Possible // it is asked when the first does not answer
		}
		list = append(list, misnamed{
			"gives name servers of its own",
			fmt.Sprintf("Nodes ask %s, which must forward to Amazon's resolver the private names of %s.", phrase.Some(n.Options.DomainNameServers, 4), phrase.And(path.Names(facts.Ordered(private)))) + besides,
			confidence,
		})
	}
	var names []string
	for _, value := range n.Options.DomainNames {
		names = append(names, strings.Fields(value)...)
	}
	switch {
	case len(names) == 0:
		list = append(list, misnamed{"gives no domain name", "They have no domain-name, so a node's host name is not the private name that EC2 gives.", finding.Likely})
	case len(names) > 1:
		list = append(list, misnamed{
			fmt.Sprintf("gives %d domain names at once", len(names)),
			fmt.Sprintf("Their domain-name is %q: most systems take it for one name, so a node's host name is not the private name that EC2 gives, and the cluster refuses it.", phrase.Clip(strings.Join(n.Options.DomainNames, " "))),
			finding.Likely,
		})
	}
	return list
}

// nodesOwn are the name servers that the user data of all of some instances adds to DHCP's:
// nodeadm writes them for systemd-resolved, which asks both (nodeadm/internal/system/resolve.go).
func nodesOwn(g *facts.Placements, list []*snapshot.Instance) []string {
	var servers []string
	st := g.S.Boot()
	for _, i := range list {
		t, _ := st.Data(i)
		if t == nil || t.Err != nil || len(t.NameServers) == 0 {
			return nil
		}
		servers = t.NameServers
	}
	return servers
}

// hostnames are names of nodes that are too long.
func hostnames(list []*snapshot.Instance, o snapshot.DHCPOptions) []misnamed {
	for _, i := range list {
		name := i.PrivateDNS
		host, _, _ := strings.Cut(name, ".")
		if i.PrivateIP.Is4() {
			host = "ip-" + strings.ReplaceAll(i.PrivateIP.String(), ".", "-")
		}
		if len(o.DomainNames) == 1 && host != "" {
			made := host + "." + strings.TrimSpace(o.DomainNames[0])
			if len(made) > len(name) && !strings.Contains(made, " ") {
				name = made
			}
		}
		if len(name) > maxHostname {
			return []misnamed{{"makes host names too long", fmt.Sprintf("The host name of %s is %s: %d characters, and a node's name has at most %d.", i.ID, phrase.Clip(name), len(name), maxHostname), finding.Likely}}
		}
	}
	return nil
}

// joinedSince is a Ready node of the VPC that was launched after one of those
// that did not join: what it resolved, they could have.
func joinedSince(g *facts.Placements, r *resolved) string {
	since := facts.Earliest(r.suspects())
	joined := g.S.Ready()
	for _, i := range g.S.Instances {
		if i.VPC == r.vpc && joined[i.ID] && !since.IsZero() && i.Launched.After(since) {
			return i.ID
		}
	}
	return ""
}

func fixDHCP(g *facts.Placements, r *resolved, n facts.NameServers) finding.Fix {
	domain := g.S.Region + ".compute.internal"
	if g.S.Region == "us-east-1" {
		domain = "ec2.internal" // EC2 user guide, "EC2 instance hostnames and domains"
	}
	servers := "AmazonProvidedDNS"
	text := fmt.Sprintf("Give %s options with AmazonProvidedDNS and the domain name %s, then replace the instances.", r.vpc, domain)
	if own := len(n.Own) + len(n.Odd); own > 0 {
		text += " Or let your name servers forward the private names to Amazon's resolver."
		if len(r.private) == 0 {
			servers = strings.Join(n.Options.DomainNameServers, ",")
			text = fmt.Sprintf("Give %s options with the domain name %s, then replace the instances.", r.vpc, domain)
		}
	}
	return finding.Fix{
		Text: text,
		Command: command.AWS(g.S, "ec2 associate-dhcp-options", "--vpc-id", r.vpc, "--dhcp-options-id", shell.Output(
			command.AWS(g.S, "ec2 create-dhcp-options", "--dhcp-configurations", "Key=domain-name-servers,Values="+servers, "Key=domain-name,Values="+domain,
				"--query", "DhcpOptions.DhcpOptionsId", "--output", "text"))),
		Console: link.VPC(g.S, "DhcpOptionsDetails:DhcpOptionsId="+n.Options.ID),
	}
}
