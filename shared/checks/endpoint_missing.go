package checks

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/path"
	"rollcall/shared/snapshot"
)

func endpointMissing() Check {
	return Check{
		ID:         "endpoint/missing",
		Title:      "A VPC without internet lacks an endpoint that nodes need",
		Confidence: Certain,
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints},
		After:      []ID{"route/no-egress", "route/blackhole", "route/nat-unusable", "route/nat-no-internet", "route/igw-no-public-ip"},
		AtLaunch:   true,
		Cause: "The subnet has no way to the internet, and the VPC has endpoints for some of what nodes need but not for all: the cluster API (private access), EC2, ECR (api and dkr), S3 and STS. " +
			"An interface endpoint counts with private DNS on, a gateway endpoint where the subnet's route table leads to it.",
		Fix: "Make the endpoints that are missing (or switch on what keeps them from being used), with a security group that admits 443 from the nodes.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html",
			"https://docs.aws.amazon.com/vpc/latest/privatelink/create-interface-endpoint.html",
		},
		Run: func(s *snapshot.Snapshot) []Finding {
			c := look(s)
			list := slices.Clone(c.blind)
			var gaps []gap
			for _, l := range c.lots {
				w, away := l.away()
				switch shut := len(l.outside()) > 0 && l.internet.Verdict == path.NoRoute; {
				case shut && len(c.endpointed(l.table.VPC)) > 0:
					if f, excused := c.excusedGap(l); excused {
						list = append(list, f)
						continue
					}
					gaps = c.widen(gaps, l)
				case shut: // no endpoints at all is route/no-egress
					list = append(list, l.pass())
				case away:
					list = append(list, beyond(l, w))
				default:
					list = append(list, l.pass())
				}
			}
			for _, g := range gaps {
				list = append(list, c.endpointMissing(g))
			}
			return list
		},
	}
}

// gap is what a VPC lacks for some lots of subnets.
type gap struct {
	vpc    string
	lots   []lot
	absent []absence
}

// absence is a service that is not reached, and the endpoint for it that is
// there but cannot be used, if any.
type absence struct {
	service path.Service
	unused  snapshot.Endpoint
	because string
}

func (c *scene) widen(gaps []gap, l lot) []gap {
	i := slices.IndexFunc(gaps, func(g gap) bool { return g.vpc == l.table.VPC })
	if i < 0 {
		i = len(gaps)
		gaps = append(gaps, gap{vpc: l.table.VPC})
	}
	g := &gaps[i]
	g.lots = append(g.lots, l)
	for _, service := range l.outside() {
		if !slices.ContainsFunc(g.absent, func(a absence) bool { return a.service == service }) {
			g.absent = append(g.absent, c.absence(service, l))
		}
	}
	return gaps
}

// absence tells why a service has no endpoint that works for a lot.
func (c *scene) absence(service path.Service, l lot) absence {
	a := absence{service: service}
	if service == path.API {
		a.because = "private access of the cluster's endpoint is off"
		return a
	}
	for _, e := range c.net.Endpoints(l.table.VPC, service) {
		switch {
		case path.Available(a.unused) && strings.EqualFold(a.unused.Kind, "Gateway"):
			// It takes no more than a row: nothing else about S3 is better known.
		case !path.Available(e):
			a.unused, a.because = e, e.ID+" is "+e.State
		case strings.EqualFold(e.Kind, "Gateway"):
			a.unused, a.because = e, fmt.Sprintf("%s is not in %s", e.ID, l.table.ID)
		default:
			a.unused, a.because = e, e.ID+" has private DNS off"
		}
	}
	return a
}

func (g gap) subnets() []string {
	var ids []string
	for _, l := range g.lots {
		ids = append(ids, l.ids()...)
	}
	slices.Sort(ids)
	return ids
}

func (g gap) services() []path.Service {
	list := make([]path.Service, len(g.absent))
	for i, a := range g.absent {
		list[i] = a.service
	}
	return list
}

func (c *scene) endpointMissing(g gap) Finding {
	ids := g.subnets()
	first := g.lots[0]
	f := Finding{
		Outcome:    Fail,
		Confidence: c.gapConfidence(g),
		Resource:   g.vpc,
		Covers:     ids,
		Instances:  c.stranded(ids),
		Resources:  []string{g.vpc, first.table.ID, first.subnets[0].ID},
		Title:      g.title(),
		Why: fmt.Sprintf("%s has no way to the internet: %s. Nodes in %s cannot reach %s; %s has endpoints for %s only.",
			first.table.ID, rows(first.table.Routes), some(ids, 3), and(path.Names(g.services())), g.vpc, and(path.Names(c.endpointed(g.vpc)))),
		Fix: c.fixMissing(g),
	}
	var because []string
	for _, a := range g.absent {
		if a.because != "" {
			because = append(because, a.because)
		}
		if a.unused.ID != "" {
			f.Resources = append(f.Resources, a.unused.ID)
		}
	}
	if len(because) > 0 {
		f.Why += " There is a reason for some: " + and(because) + "."
	}
	const limit = 3
	for _, l := range g.lots[:min(len(g.lots), limit)] {
		f.Evidence = append(f.Evidence, l.evidence()...)
	}
	f.Evidence = append(f.Evidence, c.endpointsSeen(g.vpc)...)
	return f
}

// excusedGap is the finding on a lot that may be served by what cannot be seen.
func (c *scene) excusedGap(l lot) (Finding, bool) {
	doubt := c.gapDoubt(l)
	if doubt == "" {
		return Finding{}, false
	}
	return c.excused(l, doubt)
}

// gapDoubt is why a lot may be well although endpoints are missing: what is
// behind another network, or a hosted zone of one's own in front of endpoints
// with private DNS off.
func (c *scene) gapDoubt(l lot) string {
	if doubt := c.doubt(l); doubt != "" {
		return doubt
	}
	var own []string
	for _, service := range l.outside() {
		a := c.absence(service, l)
		if !path.Available(a.unused) || !strings.EqualFold(a.unused.Kind, "Interface") {
			return ""
		}
		own = append(own, a.unused.ID)
	}
	return fmt.Sprintf("a hosted zone of your own may lead to %s", some(own, 2))
}

// gapConfidence is weaker where names may lead to what cannot be seen.
func (c *scene) gapConfidence(g gap) Confidence {
	if slices.ContainsFunc(g.lots, func(l lot) bool { return c.gapDoubt(l) != "" }) {
		return Likely
	}
	return ""
}

func (g gap) title() string {
	var made []path.Service
	for _, s := range g.services() {
		if s != path.API {
			made = append(made, s)
		}
	}
	switch {
	case len(made) == 0:
		return title("private access of the cluster API is off, and there is no way out")
	case len(g.absent) == 1 && g.absent[0].unused.ID != "" && strings.EqualFold(g.absent[0].unused.Kind, "Gateway") && path.Available(g.absent[0].unused):
		return title("%s does not lead to the endpoint for %s", g.lots[0].table.ID, made[0].Name())
	}
	return title("%s has no usable endpoint for %s", g.vpc, and(path.Names(made)))
}

// endpointsSeen lists the VPC's endpoints for what nodes need, at most ten.
func (c *scene) endpointsSeen(vpc string) []Evidence {
	const limit = 10
	var list []Evidence
	for _, service := range path.Needed() {
		for _, e := range c.net.Endpoints(vpc, service) {
			if len(list) == limit {
				return list
			}
			value := fmt.Sprintf("%s, %s", e.Kind, e.State)
			switch {
			case strings.EqualFold(e.Kind, "Gateway"):
				value += ", in " + some(e.RouteTables, 5)
			case e.PrivateDNS:
				value += ", private DNS on"
			default:
				value += ", private DNS off"
			}
			list = append(list, Evidence{What: fmt.Sprintf("%s (%s)", e.ID, service.Name()), Value: value})
		}
	}
	return list
}
