package dns

import (
	"fmt"
	"slices"

	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// resolved is the posts of one VPC: DNS is set by VPC.
type resolved struct {
	vpc   string
	posts []*facts.Placement
	// private are the services whose names must lead to private addresses.
	private []path.Service
}

// byVPC sorts the posts that can be judged by VPC. Those of Ready nodes pass;
// those that nobody can place are Unknown.
func byVPC(g *facts.Placements, v *finding.Verdicts) []*resolved {
	var list []*resolved
	for _, p := range g.Posts {
		switch {
		case len(p.Blocked) > 0 && p.Idle():
			v.Pass(g.S.Cluster.Name, p.Place())
			continue
		case len(p.Blocked) > 0:
			v.Unknown(g.S.Cluster.Name, p.Place(), p.Blocked...)
			continue
		case p.Idle():
			v.Pass(p.Subnet.VPC, p.Place())
			continue
		}
		i := slices.IndexFunc(list, func(r *resolved) bool { return r.vpc == p.Subnet.VPC })
		if i < 0 {
			i = len(list)
			list = append(list, &resolved{vpc: p.Subnet.VPC})
		}
		r := list[i]
		r.posts = append(r.posts, p)
		for _, w := range p.Paths {
			if w.Means == path.ByInterface || w.Means == path.ByPrivateAPI {
				r.private = finding.Adding(r.private, w.Service)
			}
		}
	}
	return list
}

func (r *resolved) covers() []string {
	var list []string
	for _, p := range r.posts {
		list = finding.Adding(list, p.Place()...)
	}
	return list
}

func (r *resolved) suspects() []*snapshot.Instance {
	var list []*snapshot.Instance
	for _, p := range r.posts {
		list = append(list, p.Suspects...)
	}
	return list
}

// attributes are a VPC's DNS switches.
func attributes(g *facts.Placements, vpc string) (snapshot.VPCAttributes, []snapshot.Failure) {
	for _, a := range g.S.VPCAttributes {
		if a.VPC == vpc {
			return a, nil
		}
	}
	if why, lacks := g.S.Lacks(snapshot.VPCDNS, vpc); lacks {
		return snapshot.VPCAttributes{}, []snapshot.Failure{why}
	}
	return snapshot.VPCAttributes{}, []snapshot.Failure{{Source: snapshot.VPCDNS, Reason: snapshot.NotRead, Message: "the DNS attributes of " + vpc + " were not read"}}
}

// attributeFault is the finding on a switch that is off.
func attributeFault(g *facts.Placements, r *resolved, name, title, why string, a snapshot.VPCAttributes) finding.Finding {
	f := finding.Finding{
		Outcome: finding.Fail, Resource: r.vpc, Covers: r.covers(), Instances: facts.IDs(r.suspects()),
		Resources: append([]string{r.vpc}, r.covers()...), Title: title, Why: why,
		Evidence: []finding.Evidence{{What: "DNS attributes of " + r.vpc, Value: fmt.Sprintf("enableDnsSupport %t, enableDnsHostnames %t", a.DNSSupport, a.DNSHostnames)}},
		Fix: finding.Fix{
			Text:    fmt.Sprintf("Switch %s on in %s.", name, r.vpc),
			Command: command.AWS(g.S, "ec2 modify-vpc-attribute", "--vpc-id", r.vpc, "--"+name, "Value=true"),
			Console: link.VPC(g.S, "VpcDetails:VpcId="+r.vpc),
		},
	}
	f.Evidence = append(f.Evidence, namesGiven(g, r.vpc)...)
	f.Evidence = append(f.Evidence, r.posts[0].Walks(r.private)...)
	return f
}

// namesGiven is what a VPC's DHCP options say, as evidence.
func namesGiven(g *facts.Placements, vpc string) []finding.Evidence {
	n := g.NameServers(vpc)
	if n.Blocked != nil {
		return nil
	}
	return []finding.Evidence{{What: "DHCP options " + n.Options.ID, Value: fmt.Sprintf("domain-name-servers %s; domain-name %s", facts.TenOf(n.Options.DomainNameServers), facts.TenOf(n.Options.DomainNames))}}
}
