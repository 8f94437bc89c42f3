package checks

import (
	"fmt"
	"slices"

	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

func apiPublicCIDR() Check {
	return usingTemplates(walking(Check{
		ID:         "route/api-public-cidr",
		Title:      "The API's public endpoint does not admit the nodes' address",
		Confidence: Certain,
		Explains:   []ID{AnyJoinCause},
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Subnets, snapshot.RouteTables, snapshot.NATGateways, snapshot.Instances},
		After:      []ID{"route/no-egress", "route/blackhole", "route/nat-unusable", "route/nat-no-internet", "route/igw-no-public-ip", "route/igw-detached", "route/nat-instance-source-check"},
		AtLaunch:   true,
		Cause:      "Nodes reach the cluster's API by its public endpoint only, and publicAccessCidrs leaves out the address that their traffic leaves from: the NAT gateway's, or their own.",
		Fix:        "Switch on private access, which keeps the nodes' traffic in the VPC, or add the address to publicAccessCidrs.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html",
			"https://docs.aws.amazon.com/eks/latest/APIReference/API_VpcConfigRequest.html",
		},
		Run: func(s *View) []Finding {
			c := s.RouteScope()
			return c.publicCIDRs()
		},
	}))
}

// excluded is a lot whose addresses the public endpoint does not admit.
type excluded struct {
	lot       lot
	from      []string // addresses, as CIDRs
	instances []string
	partly    bool // another address of the same gateway is admitted
}

func (c *scene) publicCIDRs() []Finding {
	list := slices.Clone(c.blind)
	var out []excluded
	for _, l := range c.lots {
		f, r := c.publicCIDR(l)
		if r != nil {
			out = append(out, *r)
			continue
		}
		list = append(list, f)
	}
	if len(out) > 0 {
		list = append(list, c.refusal(out))
	}
	return list
}

// publicCIDR judges one lot.
func (c *scene) publicCIDR(l lot) (Finding, *excluded) {
	cluster := c.s.Cluster
	p := l.api()
	switch {
	case p.Means != path.ByInternet, l.witness != "", p.Verdict != path.LeavesView && !p.Good():
		return c.admitted(l), nil
	case !cluster.EndpointPublic || len(cluster.PublicAccessCIDRs) == 0:
		return c.cannotTell(l, snapshot.Clusters, "EKS does not say whom the public endpoint admits"), nil
	case anyone(cluster.PublicAccessCIDRs, false):
		return c.admitted(l), nil
	case p.Verdict == path.LeavesView:
		return beyond(l, p.Way), nil
	}
	if f, settled := c.overIPv6(l); settled {
		return f, nil
	}
	if p.Verdict == path.NeedsPublicIP {
		return c.byOwnAddress(l)
	}
	if len(p.From) == 0 {
		return c.cannotTell(l, snapshot.NATGateways, "the address that traffic leaves from is not known: "+p.Way.String()), nil
	}
	r := excluded{lot: l, instances: c.stranded(l.ids())}
	for _, a := range p.From {
		if admits(cluster.PublicAccessCIDRs, a) {
			r.partly = true
			continue
		}
		r.from = append(r.from, host(a))
	}
	if len(r.from) == 0 {
		return c.admitted(l), nil
	}
	return Finding{}, &r
}

// byOwnAddress judges a lot whose instances leave from their own addresses.
// One that has none is route/igw-no-public-ip.
func (c *scene) byOwnAddress(l lot) (Finding, *excluded) {
	r := excluded{lot: l}
	admitted := 0
	for _, id := range l.ids() {
		for _, i := range c.all[id] {
			switch {
			case !i.PublicIP.IsValid():
			case admits(c.s.Cluster.PublicAccessCIDRs, i.PublicIP):
				admitted++
			case !c.ready[i.ID]:
				r.from = append(r.from, host(i.PublicIP))
				r.instances = append(r.instances, i.ID)
			}
		}
	}
	switch {
	case len(r.from) > 0:
		return Finding{}, &r
	case admitted > 0:
		return c.admitted(l), nil
	}
	return c.cannotTell(l, snapshot.Instances, "no instance there shows the address that it leaves from"), nil
}

func (c *scene) admitted(l lot) Finding {
	f := l.pass()
	f.Evidence = []Evidence{
		{What: "Path to " + path.API.Name(), Value: l.api().String()},
		{What: "publicAccessCidrs", Value: cidrs(c.s.Cluster.PublicAccessCIDRs)},
	}
	return f
}

func (c *scene) cannotTell(l lot, source snapshot.Source, why string) Finding {
	return Finding{
		Outcome: Unknown, Resource: l.table.ID, Covers: l.ids(),
		Blocked: []snapshot.Failure{{Source: source, Reason: snapshot.NotRead, Message: fmt.Sprintf("%s: %s", l.table.ID, why)}},
	}
}
