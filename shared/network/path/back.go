package path

import (
	"fmt"
	"slices"

	"rollcall/shared/snapshot"
)

// A way through another VPC works only if answers find back: by the route
// table of the subnet that the answer leaves from, and by the route table that
// the transit gateway uses there. What is not read is taken for good.

// backThrough tells that the transit gateway has no way back from an
// attachment to where the packet came from.
func (n *Network) backThrough(a snapshot.Attachment, w walk) (Way, bool) {
	rows := n.transits[a.Table]
	if a.Table == "" || len(rows) == 0 || !w.source.IsValid() {
		return Way{}, false
	}
	if _, lacks := n.s.Lacks(snapshot.TransitGateways, a.Table); lacks {
		return Way{}, false
	}
	row, ok := coveringTransit(rows, w.source)
	if ok && row.State != blackhole {
		return Way{}, false
	}
	return Way{
		Verdict: NoRoute, At: a.Table, Table: a.Table,
		Reason: fmt.Sprintf("%s, the table of the answers, has no way back to %s", a.Table, w.source),
	}, true
}

// backFrom tells that a table in another VPC does not send answers back
// through the transit gateway.
func (n *Network) backFrom(table Table, w walk) (Way, bool) {
	if w.via == "" || !w.source.IsValid() || n.returns(table, w) {
		return Way{}, false
	}
	return Way{
		Verdict: NoRoute, At: table.ID, Table: table.ID,
		Reason: fmt.Sprintf("%s has no row that leads answers back to %s", table.ID, w.source),
	}, true
}

// returns tells that a table may lead back to where the packet came from. A
// row to the internet, or the local one, never does.
func (n *Network) returns(table Table, w walk) bool {
	if slices.ContainsFunc(table.Routes, func(r snapshot.Route) bool {
		_, read := n.lists[r.PrefixList]
		return r.PrefixList != "" && !read
	}) {
		return true // the list may hold it
	}
	row, ok := covering(table.Routes, w.source, n.lists)
	if !ok {
		// More specific rows may hold it in parts.
		return slices.ContainsFunc(table.Routes, func(r snapshot.Route) bool {
			return r.Target.Kind != snapshot.ToLocal && r.State != filtered && r.Destination.IsValid() && r.Destination.Overlaps(w.source)
		})
	}
	if row.State == blackhole {
		return false
	}
	switch row.Target.Kind {
	case snapshot.ToInternetGateway, snapshot.ToEgressOnly, snapshot.ToNATGateway, snapshot.ToLocal:
		return false
	}
	return true
}

// answered judges the way back from the cluster's VPC, in whose subnets the
// control plane's interfaces stand.
func (n *Network) answered(way Way, w walk, via string) Way {
	if !w.source.IsValid() {
		return way
	}
	w.via = via
	var broken []Way
	known := 0
	for _, id := range n.s.Cluster.Subnets {
		table, ok := n.Table(id)
		if !ok {
			return way
		}
		known++
		if back, none := n.backFrom(table, w); none {
			broken = append(broken, back)
		}
	}
	if known == 0 || len(broken) < known {
		return way // at least one of the interfaces can answer
	}
	broken[0].Hops = way.Hops
	return broken[0]
}
