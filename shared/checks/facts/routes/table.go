package routes

import (
	"fmt"
	"slices"

	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// Table is the subnets of the scope that share a route table and whatever else decides
// about their ways, and so every path to what their nodes need.
type Table struct {
	S       *facts.View
	Table   path.Table
	Subnets []snapshot.Subnet
	Paths   []path.Path
	// Internet is the way out, whether or not a service needs it.
	Internet path.Way
	// Asking is why it is not known whether an instance that waits asks EKS about the
	// cluster, which only the internet leads to here; nil where that is known.
	Asking *snapshot.Failure
	// Witness is a Ready node that speaks for what cannot be seen; often empty.
	Witness string
}

func (l Table) IDs() []string {
	ids := make([]string, len(l.Subnets))
	for i, s := range l.Subnets {
		ids[i] = s.ID
	}
	return ids
}

func (l Table) Zones() []string {
	var zones []string
	for _, s := range l.Subnets {
		if !slices.Contains(zones, s.Zone) && s.Zone != "" {
			zones = append(zones, s.Zone)
		}
	}
	return zones
}

// Outside are the services that only the internet leads to.
func (l Table) Outside() []path.Service {
	var list []path.Service
	for _, p := range l.Paths {
		if p.Means == path.ByInternet {
			list = append(list, p.Service)
		}
	}
	return list
}

// Inside are the services that are reached without the internet.
func (l Table) Inside() []path.Service {
	var list []path.Service
	for _, p := range l.Paths {
		if p.Means != path.ByInternet {
			list = append(list, p.Service)
		}
	}
	return list
}

// Away is a path to a needed service that leaves what is read, if any.
func (l Table) Away() (path.Way, bool) {
	for _, p := range l.Paths {
		if p.Verdict == path.LeavesView {
			return p.Way, true
		}
	}
	return path.Way{}, false
}

// Ends is a path over the internet to a needed service that ends in a
// verdict, if any. A private endpoint of the cluster in another VPC has a check
// of its own.
func (l Table) Ends(v path.Verdict) (path.Path, bool) {
	i := slices.IndexFunc(l.Paths, func(p path.Path) bool { return p.Verdict == v && p.Means != path.ByPrivateAPI })
	if i < 0 {
		return path.Path{}, false
	}
	return l.Paths[i], true
}

// Open is the way to the internet where a needed service takes it and it
// leaves what is read.
func (l Table) Open() (path.Way, bool) {
	return l.Internet, len(l.Outside()) > 0 && l.Internet.Verdict == path.LeavesView
}

// API is the path to the cluster's API.
func (l Table) API() path.Path {
	i := slices.IndexFunc(l.Paths, func(p path.Path) bool { return p.Service == path.API })
	if i < 0 {
		return path.Path{}
	}
	return l.Paths[i]
}

// Proven tells that a Ready node shows that the lot's way to the internet
// works, whatever is seen of it (a proxy, say): its kubelet renews its lease
// with the API every 10 seconds over it, and within a minute of the last time
// it is not Ready any more (Kubernetes, "Node heartbeats").
func (l Table) Proven() bool { return l.Witness != "" && l.API().Means == path.ByInternet }

// Works is the Pass of a lot whose way is proven.
func (l Table) Works() finding.Finding {
	f := l.Pass()
	f.Evidence = []finding.Evidence{{What: l.Witness, Value: "is a Ready node and reaches the API, although no way is seen that works"}}
	return f
}

// Rowless is a way whose first row is not known.
func Rowless(w path.Way) bool { return w.Row.Target.Kind == "" }

// Beyond is the Unknown for paths that leave what is read. Where a Ready node
// speaks for them, they work all the same.
func Beyond(l Table, w path.Way) finding.Finding {
	if l.Witness != "" {
		f := l.Pass()
		f.Evidence = []finding.Evidence{{What: l.Witness, Value: fmt.Sprintf("is a Ready node, by a way that leaves what can be read at %s", w.At)}}
		return f
	}
	blocked := snapshot.Failure{Source: snapshot.RouteTables, Reason: snapshot.NotRead}
	if w.Unread != "" {
		blocked = l.S.Why(w.Unread)
	}
	blocked.Message = fmt.Sprintf("%s: %s", w.At, w.Reason)
	return finding.Finding{
		Outcome: finding.Unknown, Resource: w.At, Covers: l.IDs(), Resources: w.Resources(),
		Title:   phrase.Title("%s leaves what can be read at %s", phrase.Subject(l.IDs(), "subnet"), w.At),
		Why:     w.String(),
		Blocked: []snapshot.Failure{blocked},
	}
}

// Pass is the Pass of a lot: what wins, so that a closed incident can show it.
func (l Table) Pass() finding.Finding {
	value := "no internet needed: endpoints for " + phrase.And(path.Names(l.Inside()))
	if len(l.Outside()) > 0 {
		value = Rows(l.Table.Routes)
		if !Rowless(l.Internet) {
			value = path.Row(l.Internet.Row)
		}
	}
	return finding.Finding{
		Outcome: finding.Pass, Resource: l.Table.ID, Covers: l.IDs(),
		Evidence: []finding.Evidence{{What: l.Table.ID, Value: value}},
	}
}

// SixOut tells that a row is a default route over IPv6 that works.
func SixOut(r snapshot.Route) bool {
	return r.Destination.IsValid() && r.Destination.Addr().Is6() && r.Destination.Bits() == 0 && r.Usable()
}
