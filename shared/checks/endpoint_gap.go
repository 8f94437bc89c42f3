package checks

import (
	"fmt"
	"slices"
	"strings"

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
	lots   []lot
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
func (c *scene) gaps(kind lack, say func(gap) Finding) []Finding {
	list := slices.Clone(c.blind)
	var gaps []gap
	for _, l := range c.lots {
		w, away := l.away()
		lacks := c.absences(l, kind)
		switch shut := l.internet.Verdict == path.NoRoute && len(c.endpointed(l.table.VPC)) > 0; {
		case shut && len(lacks) > 0:
			if doubt := c.gapDoubt(l, lacks); doubt != "" {
				if f, excused := c.excused(l, doubt); excused {
					list = append(list, f)
					continue
				}
			}
			gaps = widen(gaps, l, lacks)
		case shut && len(l.outside()) > 0, l.internet.Verdict == path.NoRoute && len(l.outside()) > 0:
			list = append(list, l.pass()) // another check names what is wrong
		case away:
			list = append(list, beyond(l, w))
		default:
			list = append(list, l.pass())
		}
	}
	for _, g := range gaps {
		list = append(list, say(g))
	}
	return list
}

func widen(gaps []gap, l lot, lacks []absence) []gap {
	i := slices.IndexFunc(gaps, func(g gap) bool { return g.vpc == l.table.VPC })
	if i < 0 {
		i = len(gaps)
		gaps = append(gaps, gap{vpc: l.table.VPC})
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
func (c *scene) absences(l lot, kind lack) []absence {
	var list []absence
	for _, service := range l.outside() {
		if a := c.absence(service, l); a.lack == kind {
			list = append(list, a)
		}
	}
	if kind != unrouted {
		return list
	}
	// EC2 adds the row with the association; one without the other is not
	// what EC2 says of a table that works.
	for _, p := range l.paths {
		if p.Means == path.ByGateway && rowless(p.Way) {
			for _, e := range c.net.Endpoints(l.table.VPC, p.Service) {
				if e.ID == p.At {
					list = append(list, absence{service: p.Service, lack: unrouted, unused: e, because: fmt.Sprintf("%s has no row to %s", l.table.ID, e.ID)})
				}
			}
		}
	}
	return list
}

// absence tells why a service has no endpoint that works for a lot.
func (c *scene) absence(service path.Service, l lot) absence {
	a := absence{service: service, lack: absent}
	if service == path.API {
		a.because = "private access of the cluster's endpoint is off"
		return a
	}
	for _, e := range c.net.Endpoints(l.table.VPC, service) {
		switch {
		case a.lack == unrouted:
			// It takes no more than a row: nothing else about S3 is better known.
		case !path.Available(e):
			if a.lack == absent {
				a.lack, a.unused, a.because = unavailable, e, e.ID+" is "+e.State
			}
		case strings.EqualFold(e.Kind, "Gateway"):
			a.lack, a.unused, a.because = unrouted, e, fmt.Sprintf("%s is not in %s", e.ID, l.table.ID)
		default:
			a.lack, a.unused, a.because = nameless, e, e.ID+" has private DNS off"
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

// unused are the endpoints that are there and cannot be used, by id.
func (g gap) unused() []string {
	var list []string
	for _, a := range g.absent {
		if a.unused.ID != "" {
			list = adding(list, a.unused.ID)
		}
	}
	slices.Sort(list)
	return list
}

func (g gap) reasons() []string {
	var list []string
	for _, a := range g.absent {
		if a.because != "" {
			list = adding(list, a.because)
		}
	}
	return list
}

// finding is what all gaps say alike; the title and the fix are the check's.
func (c *scene) finding(g gap, resource, title string, fix Fix) Finding {
	covers := g.subnets()
	first := g.lots[0]
	f := Finding{
		Outcome:    Fail,
		Confidence: c.gapConfidence(g),
		Resource:   resource,
		Covers:     covers,
		Instances:  c.stranded(covers),
		Resources:  adding([]string{g.vpc, first.table.ID, first.subnets[0].ID}, g.unused()...),
		Title:      title,
		Why: fmt.Sprintf("%s has no way to the internet: %s. Nodes in %s cannot reach %s; %s has endpoints for %s.",
			first.table.ID, rows(first.table.Routes), some(covers, 3), and(path.Names(g.services())), g.vpc, and(path.Names(c.endpointed(g.vpc)))),
		Fix: fix,
	}
	if because := g.reasons(); len(because) > 0 {
		f.Why += " There is a reason: " + some(because, 5) + "."
	}
	const limit = 3
	for _, l := range g.lots[:min(len(g.lots), limit)] {
		f.Evidence = append(f.Evidence, l.evidence()...)
	}
	f.Evidence = append(f.Evidence, c.endpointsSeen(g.vpc)...)
	return f
}
