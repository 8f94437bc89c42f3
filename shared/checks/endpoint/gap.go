package endpoint

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/checks/facts/routes"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// lack is why a service has no endpoint that works.
type lack string

const (
	absent      lack = "absent"      // there is none
	unavailable lack = "unavailable" // its state is not "available"
	nameless    lack = "nameless"    // an interface endpoint with private DNS off
	unrouted    lack = "unrouted"    // a gateway endpoint that the table does not lead to
)

// gap is what a VPC lacks in one way for some lots of subnets.
type gap struct {
	vpc    string
	lots   []routes.Table
	absent []absence
}

// absence is a service that is not reached, and the endpoint for it that is
// there but cannot be used, if any.
type absence struct {
	service path.Service
	lack    lack
	unused  snapshot.Endpoint
	because string
}

// gaps finds what VPCs without a way to the internet lack in one way. A VPC
// that has endpoints for some of what nodes need is private by design; one
// that has none is route/no-egress.
func gaps(c *routes.Scope, kind lack, say func(gap) finding.Finding) []finding.Finding {
	list := slices.Clone(c.Blind)
	var gaps []gap
	for _, l := range c.Lots {
		w, away := l.Away()
		lacks := absences(c, l, kind)
		switch shut := l.Internet.Verdict == path.NoRoute && len(c.Endpointed(l.Table.VPC)) > 0; {
		case shut && len(lacks) > 0:
			if doubt := gapDoubt(c, l, lacks); doubt != "" {
				if f, excused := c.Excused(l, doubt); excused {
					list = append(list, f)
					continue
				}
			}
			gaps = widen(gaps, l, lacks)
		case shut && len(l.Outside()) > 0, l.Internet.Verdict == path.NoRoute && len(l.Outside()) > 0:
			list = append(list, l.Pass()) // another check names what is wrong
		case away:
			list = append(list, routes.Beyond(l, w))
		case shut && kind == absent && l.Asking != nil:
			list = append(list, finding.Unread(l.Table.ID, l.IDs(), *l.Asking))
		default:
			list = append(list, l.Pass())
		}
	}
	for _, g := range gaps {
		list = append(list, say(g))
	}
	return list
}

func widen(gaps []gap, l routes.Table, lacks []absence) []gap {
	i := slices.IndexFunc(gaps, func(g gap) bool { return g.vpc == l.Table.VPC })
	if i < 0 {
		i = len(gaps)
		gaps = append(gaps, gap{vpc: l.Table.VPC})
	}
	g := &gaps[i]
	g.lots = append(g.lots, l)
	for _, a := range lacks {
		if !slices.ContainsFunc(g.absent, func(have absence) bool { return have.service == a.service }) {
			g.absent = append(g.absent, a)
		}
	}
	return gaps
}

// absences are the services that a lot lacks in one way.
func absences(c *routes.Scope, l routes.Table, kind lack) []absence {
	var list []absence
	for _, service := range l.Outside() {
		if a := absenceOf(c, service, l); a.lack == kind {
			list = append(list, a)
		}
	}
	if kind != unrouted {
		return list
	}
	// EC2 adds the row with the association; one without the other is not
	// what EC2 says of a table that works.
	for _, p := range l.Paths {
		if p.Means == path.ByGateway && routes.Rowless(p.Way) {
			for _, e := range c.Net.Endpoints(l.Table.VPC, p.Service) {
				if e.ID == p.At {
					list = append(list, absence{service: p.Service, lack: unrouted, unused: e, because: fmt.Sprintf("%s has no row to %s", l.Table.ID, e.ID)})
				}
			}
		}
	}
	return list
}

// absenceOf tells why a service has no endpoint that works for a lot.
func absenceOf(c *routes.Scope, service path.Service, l routes.Table) absence {
	a := absence{service: service, lack: absent}
	if service == path.API {
		a.because = "private access of the cluster's endpoint is off"
		return a
	}
	for _, e := range c.Net.Endpoints(l.Table.VPC, service) {
		switch {
		case a.lack == unrouted:
			// It takes no more than a row: nothing else about S3 is better known.
		case !path.Available(e):
			if a.lack == absent {
				a.lack, a.unused, a.because = unavailable, e, e.ID+" is "+e.State
			}
		case strings.EqualFold(e.Kind, "Gateway"):
			a.lack, a.unused, a.because = unrouted, e, fmt.Sprintf("%s is not in %s", e.ID, l.Table.ID)
		default:
			a.lack, a.unused, a.because = nameless, e, e.ID+" has private DNS off"
		}
	}
	return a
}

func (g gap) subnets() []string {
	var ids []string
	for _, l := range g.lots {
		ids = append(ids, l.IDs()...)
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

// unused are the endpoints that are there and cannot be used, by id.
func (g gap) unused() []string {
	var list []string
	for _, a := range g.absent {
		if a.unused.ID != "" {
			list = finding.Adding(list, a.unused.ID)
		}
	}
	slices.Sort(list)
	return list
}

func (g gap) reasons() []string {
	var list []string
	for _, a := range g.absent {
		if a.because != "" {
			list = finding.Adding(list, a.because)
		}
	}
	return list
}

// gapFinding is what all gaps say alike; the title and the fix are the check's.
func gapFinding(c *routes.Scope, g gap, resource, title string, fix finding.Fix) finding.Finding {
	covers := g.subnets()
	first := g.lots[0]
	f := finding.Finding{
		Outcome:    finding.Fail,
		Confidence: gapConfidence(c, g),
		Resource:   resource,
		Covers:     covers,
		Instances:  c.Stranded(covers),
		Resources:  finding.Adding([]string{g.vpc, first.Table.ID, first.Subnets[0].ID}, g.unused()...),
		Title:      title,
		Why: fmt.Sprintf("%s has no way to the internet: %s. Nodes in %s cannot reach %s; %s has endpoints for %s.",
			first.Table.ID, routes.Rows(first.Table.Routes), phrase.Some(covers, 3), phrase.And(path.Names(g.services())), g.vpc, phrase.And(path.Names(c.Endpointed(g.vpc)))),
		Fix: fix,
	}
	if because := g.reasons(); len(because) > 0 {
		f.Why += " There is a reason: " + phrase.Some(because, 5) + "."
	}
	const limit = 3
	for _, l := range g.lots[:min(len(g.lots), limit)] {
		f.Evidence = append(f.Evidence, l.Evidence()...)
	}
	f.Evidence = append(f.Evidence, endpointsSeen(c, g.vpc)...)
	return f
}

// gapDoubt is why a lot may be well although endpoints are missing: what is
// behind another network, or a hosted zone of one's own in front of endpoints
// with private DNS off. Such a zone needs both of the VPC's DNS attributes
// (Route 53 developer guide, "Considerations when working with a private
// hosted zone").
func gapDoubt(c *routes.Scope, l routes.Table, lacks []absence) string {
	if doubt := c.Doubt(l); doubt != "" {
		return doubt
	}
	if lacks[0].lack == unrouted && slices.ContainsFunc(lacks, func(a absence) bool { return slices.Contains(a.unused.RouteTables, l.Table.ID) }) {
		return "EC2 names the association and not the row"
	}
	if lacks[0].lack != nameless || zoneless(c, l.Table.VPC) {
		return ""
	}
	var own []string
	for _, a := range lacks {
		own = append(own, a.unused.ID)
	}
	return fmt.Sprintf("a hosted zone of your own may lead to %s", phrase.Some(own, 2))
}

// zoneless tells that no private hosted zone can work in a VPC.
func zoneless(c *routes.Scope, vpc string) bool {
	return c.S.Has(snapshot.VPCDNS) && slices.ContainsFunc(c.S.VPCAttributes, func(a snapshot.VPCAttributes) bool {
		return a.VPC == vpc && !(a.DNSSupport && a.DNSHostnames)
	})
}

// gapConfidence is weaker where names may lead to what cannot be seen.
func gapConfidence(c *routes.Scope, g gap) finding.Confidence {
	if slices.ContainsFunc(g.lots, func(l routes.Table) bool { return gapDoubt(c, l, g.absent) != "" }) {
		return finding.Likely
	}
	return ""
}

// endpointsSeen lists the VPC's endpoints for what nodes need, at most ten.
func endpointsSeen(c *routes.Scope, vpc string) []finding.Evidence {
	const limit = 10
	var list []finding.Evidence
	for _, service := range path.Needed() {
		for _, e := range c.Net.Endpoints(vpc, service) {
			if len(list) == limit {
				return list
			}
			value := fmt.Sprintf("%s, %s", e.Kind, e.State)
			switch {
			case strings.EqualFold(e.Kind, "Gateway"):
				value += ", in " + phrase.Some(e.RouteTables, 5)
			case e.PrivateDNS:
				value += ", private DNS on"
			default:
				value += ", private DNS off"
			}
			list = append(list, finding.Evidence{What: fmt.Sprintf("%s (%s)", e.ID, service.Name()), Value: value})
		}
	}
	return list
}
