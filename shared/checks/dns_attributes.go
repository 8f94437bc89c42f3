package checks

import (
	"fmt"
	"slices"

	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// resolved is the posts of one VPC: DNS is set by VPC.
type resolved struct {
	vpc   string
	posts []*post
	// private are the services whose names must lead to private addresses.
	private []path.Service
}

// byVPC sorts the posts that can be judged by VPC. Those of Ready nodes pass;
// those that nobody can place are Unknown.
func (g *ground) byVPC(v *verdicts) []*resolved {
	var list []*resolved
	for _, p := range g.posts {
		switch {
		case len(p.blocked) > 0 && p.idle():
			v.pass(g.s.Cluster.Name, p.place())
			continue
		case len(p.blocked) > 0:
			v.unknown(g.s.Cluster.Name, p.place(), p.blocked...)
			continue
		case p.idle():
			v.pass(p.subnet.VPC, p.place())
			continue
		}
		i := slices.IndexFunc(list, func(r *resolved) bool { return r.vpc == p.subnet.VPC })
		if i < 0 {
			i = len(list)
			list = append(list, &resolved{vpc: p.subnet.VPC})
		}
		r := list[i]
		r.posts = append(r.posts, p)
		for _, w := range p.paths {
			if w.Means == path.ByInterface || w.Means == path.ByPrivateAPI {
				r.private = adding(r.private, w.Service)
			}
		}
	}
	return list
}

func (r *resolved) covers() []string {
	var list []string
	for _, p := range r.posts {
		list = adding(list, p.place()...)
	}
	return list
}

func (r *resolved) suspects() []*snapshot.Instance {
	var list []*snapshot.Instance
	for _, p := range r.posts {
		list = append(list, p.suspects...)
	}
	return list
}

// attributes are a VPC's DNS switches.
func (g *ground) attributes(vpc string) (snapshot.VPCAttributes, []snapshot.Failure) {
	for _, a := range g.s.VPCAttributes {
		if a.VPC == vpc {
			return a, nil
		}
	}
	if why, lacks := g.s.Lacks(snapshot.VPCDNS, vpc); lacks {
		return snapshot.VPCAttributes{}, []snapshot.Failure{why}
	}
	return snapshot.VPCAttributes{}, []snapshot.Failure{{Source: snapshot.VPCDNS, Reason: snapshot.NotRead, Message: "the DNS attributes of " + vpc + " were not read"}}
}

// attributeFault is the finding on a switch that is off.
func (g *ground) attributeFault(r *resolved, name, title, why string, a snapshot.VPCAttributes) Finding {
	f := Finding{
		Outcome: Fail, Resource: r.vpc, Covers: r.covers(), Instances: ids(r.suspects()),
		Resources: append([]string{r.vpc}, r.covers()...), Title: title, Why: why,
		Evidence: []Evidence{{What: "DNS attributes of " + r.vpc, Value: fmt.Sprintf("enableDnsSupport %t, enableDnsHostnames %t", a.DNSSupport, a.DNSHostnames)}},
		Fix: Fix{
			Text:    fmt.Sprintf("Switch %s on in %s.", name, r.vpc),
			Command: aws(g.s, "ec2 modify-vpc-attribute", "--vpc-id", r.vpc, "--"+name, "Value=true"),
			Console: console(g.s, "VpcDetails:VpcId="+r.vpc),
		},
	}
	f.Evidence = append(f.Evidence, g.namesGiven(r.vpc)...)
	f.Evidence = append(f.Evidence, r.posts[0].walks(r.private)...)
	return f
}

// namesGiven is what a VPC's DHCP options say, as evidence.
func (g *ground) namesGiven(vpc string) []Evidence {
	n := g.nameServers(vpc)
	if n.blocked != nil {
		return nil
	}
	return []Evidence{{What: "DHCP options " + n.options.ID, Value: fmt.Sprintf("domain-name-servers %s; domain-name %s", tenOf(n.options.DomainNameServers), tenOf(n.options.DomainNames))}}
}
