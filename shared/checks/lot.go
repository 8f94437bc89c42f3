package checks

import (
	"fmt"
	"slices"

	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// lot is the subnets of the scope that share a route table, and with it every
// path to what their nodes need.
type lot struct {
	s       *View
	table   path.Table
	subnets []snapshot.Subnet
	paths   []path.Path
	// internet is the way out, whether or not a service needs it.
	internet path.Way
	// witness is a Ready node that speaks for what cannot be seen; often empty.
	witness string
}

func (l lot) ids() []string {
	ids := make([]string, len(l.subnets))
	for i, s := range l.subnets {
		ids[i] = s.ID
	}
	return ids
}

func (l lot) zones() []string {
	var zones []string
	for _, s := range l.subnets {
		if !slices.Contains(zones, s.Zone) && s.Zone != "" {
			zones = append(zones, s.Zone)
		}
	}
	return zones
}

// outside are the services that only the internet leads to.
func (l lot) outside() []path.Service {
	var list []path.Service
	for _, p := range l.paths {
		if p.Means == path.ByInternet {
			list = append(list, p.Service)
		}
	}
	return list
}

// inside are the services that are reached without the internet.
func (l lot) inside() []path.Service {
	var list []path.Service
	for _, p := range l.paths {
		if p.Means != path.ByInternet {
			list = append(list, p.Service)
		}
	}
	return list
}

// away is a path to a needed service that leaves what is read, if any.
func (l lot) away() (path.Way, bool) {
	for _, p := range l.paths {
		if p.Verdict == path.LeavesView {
			return p.Way, true
		}
	}
	return path.Way{}, false
}

// ends is a path over the internet to a needed service that ends in a
// verdict, if any. A private endpoint of the cluster in another VPC has a check
// of its own.
func (l lot) ends(v path.Verdict) (path.Path, bool) {
	i := slices.IndexFunc(l.paths, func(p path.Path) bool { return p.Verdict == v && p.Means != path.ByPrivateAPI })
	if i < 0 {
		return path.Path{}, false
	}
	return l.paths[i], true
}

// open is the way to the internet where a needed service takes it and it
// leaves what is read.
func (l lot) open() (path.Way, bool) {
	return l.internet, len(l.outside()) > 0 && l.internet.Verdict == path.LeavesView
}

// api is the path to the cluster's API.
func (l lot) api() path.Path {
	i := slices.IndexFunc(l.paths, func(p path.Path) bool { return p.Service == path.API })
	if i < 0 {
		return path.Path{}
	}
	return l.paths[i]
}

// proven tells that a Ready node shows that the lot's way to the internet
// works, whatever is seen of it (a proxy, say): its kubelet renews its lease
// with the API every 10 seconds over it, and within a minute of the last time
// it is not Ready any more (Kubernetes, "Node heartbeats").
func (l lot) proven() bool { return l.witness != "" && l.api().Means == path.ByInternet }

// works is the Pass of a lot whose way is proven.
func (l lot) works() Finding {
	f := l.pass()
	f.Evidence = []Evidence{{What: l.witness, Value: "is a Ready node and reaches the API, although no way is seen that works"}}
	return f
}

// rowless is a way whose first row is not known.
func rowless(w path.Way) bool { return w.Row.Target.Kind == "" }

// beyond is the Unknown for paths that leave what is read. Where a Ready node
// speaks for them, they work all the same.
func beyond(l lot, w path.Way) Finding {
	if l.witness != "" {
		f := l.pass()
		f.Evidence = []Evidence{{What: l.witness, Value: fmt.Sprintf("is a Ready node, by a way that leaves what can be read at %s", w.At)}}
		return f
	}
	blocked := snapshot.Failure{Source: snapshot.RouteTables, Reason: snapshot.NotRead}
	if w.Unread != "" {
		blocked = l.s.Why(w.Unread)
	}
	blocked.Message = fmt.Sprintf("%s: %s", w.At, w.Reason)
	return Finding{
		Outcome: Unknown, Resource: w.At, Covers: l.ids(), Resources: w.Resources(),
		Title:   title("%s leaves what can be read at %s", subject(l.ids(), "subnet"), w.At),
		Why:     w.String(),
		Blocked: []snapshot.Failure{blocked},
	}
}

// pass is the Pass of a lot: what wins, so that a closed incident can show it.
func (l lot) pass() Finding {
	value := "no internet needed: endpoints for " + and(path.Names(l.inside()))
	if len(l.outside()) > 0 {
		value = rows(l.table.Routes)
		if !rowless(l.internet) {
			value = path.Row(l.internet.Row)
		}
	}
	return Finding{
		Outcome: Pass, Resource: l.table.ID, Covers: l.ids(),
		Evidence: []Evidence{{What: l.table.ID, Value: value}},
	}
}
