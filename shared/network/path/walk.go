package path

import (
	"fmt"
	"net/netip"
	"slices"

	"rollcall/shared/snapshot"
)

// walk follows ranges of addresses from table to table.
type walk struct {
	// to are the ranges, each of which is followed by itself.
	to []netip.Prefix
	// vpc is the VPC in which the ranges are; empty for the internet.
	vpc string
	// source is the range that the packet comes from: the node's subnet, or
	// that of what translated it last. Answers must lead back there. Its zero
	// value means that it is not known.
	source netip.Prefix
	// via is the transit gateway that was passed last, and switched how many of
	// their tables were.
	via      string
	switched int
	// subnet is where the table in force was taken from; empty for a table of a regional
	// NAT gateway, which stands in none. byNAT tells that a public NAT gateway has just
	// translated.
	subnet string
	byNAT  bool
	// passed are the gateways and tables on the way so far: one that comes
	// again is a ring, and ends the walk.
	passed []string
}

// past is the walk after a hop that it must not come back to.
func (w walk) past(id string) walk {
	w.passed = append(slices.Clone(w.passed), id)
	return w
}

func (w walk) six() bool { return len(w.to) > 0 && w.to[0].Addr().Is6() }

// String is what the walk is for, as the end of a sentence.
func (w walk) String() string {
	if w.vpc != "" {
		return w.vpc
	}
	return "the internet"
}

// Internet is the way from a subnet to the public internet over IPv4.
func (n *Network) Internet(subnet string) Way {
	return n.from(subnet, walk{to: halves(), source: n.subnets[subnet].CIDR})
}

// Internet6 is the way from a subnet to the public internet over IPv6.
func (n *Network) Internet6(subnet string) Way {
	w := walk{to: []netip.Prefix{globalUnicast()}}
	if six := n.subnets[subnet].IPv6; len(six) > 0 {
		w.source = six[0]
	}
	return n.from(subnet, w)
}

// from follows a subnet's table.
func (n *Network) from(subnet string, w walk) Way {
	table, ok := n.Table(subnet)
	if !ok {
		return Way{
			Verdict: LeavesView, At: subnet, Reason: "its route table is not known",
			Hops: []Hop{{ID: subnet}}, Unread: n.unread(snapshot.RouteTables),
		}
	}
	w.subnet = subnet
	return n.out(table, []Hop{{ID: subnet}}, w)
}

// unread is the source if it was not read: only then would reading it help.
func (n *Network) unread(source snapshot.Source) snapshot.Source {
	if n.s.Has(source) {
		return ""
	}
	return source
}

// out follows a table.
func (n *Network) out(table Table, before []Hop, w walk) Way {
	here := Hop{ID: table.ID, Note: mainNote(table)}
	var ways []Way
	for _, part := range w.to {
		row, ok := covering(table.Routes, part, n.lists)
		if !ok {
			ways = append(ways, n.noRoute(table, append(slices.Clone(before), here), w))
			continue
		}
		taken := here
		taken.Row = Destination(row)
		one := w
		one.to = []netip.Prefix{part}
		way := n.hop(table, row, append(slices.Clone(before), taken), one)
		way.Row = row
		if way.Table == "" {
			way.Table = table.ID
		}
		ways = append(ways, way)
	}
	if len(ways) == 0 {
		return Way{Verdict: LeavesView, At: table.ID, Table: table.ID, Reason: "it is not known to which addresses", Hops: append(slices.Clone(before), here)}
	}
	// Nearly always all parts take the same row.
	first := ways[0]
	for _, other := range ways[1:] {
		if other.Verdict == first.Verdict && other.At == first.At {
			continue
		}
		if other.Good() && first.Good() || !other.Good() && !first.Good() && other.Verdict != LeavesView && first.Verdict != LeavesView {
			continue // both lead there, or neither does: the first speaks for all
		}
		return Way{
			Verdict: LeavesView, At: table.ID, Table: table.ID, Row: first.Row, Hops: append(slices.Clone(before), here),
			Reason: fmt.Sprintf("it sends parts of %s different ways", w),
		}
	}
	return first
}

// noRoute tells a table without a way from one with rows for parts of the
// internet, which may or may not hold what a node needs.
func (n *Network) noRoute(table Table, hops []Hop, w walk) Way {
	for _, row := range table.Routes {
		unknown, parts := n.partly(row, w)
		if !unknown && !parts {
			continue
		}
		reason := fmt.Sprintf("%s has rows for parts of the internet only (%s)", table.ID, Row(row))
		var unread snapshot.Source
		if unknown {
			reason = fmt.Sprintf("the entries of the prefix list are not read (%s)", Row(row))
			unread = n.unread(snapshot.PrefixListEntries)
		}
		return Way{Verdict: LeavesView, At: row.Target.ID, Table: table.ID, Hops: hops, Reason: reason, Unread: unread}
	}
	return Way{Verdict: NoRoute, At: table.ID, Table: table.ID, Reason: "no route", Hops: hops}
}

// partly tells of a row that does not hold all of the ranges whether its
// prefix list may after all (unknown), or whether it holds a part of the
// internet.
func (n *Network) partly(row snapshot.Route, w walk) (unknown, parts bool) {
	if row.Target.Kind == snapshot.ToLocal || row.State == filtered || row.PrefixList != "" && n.gatewayEndpoint(row.Target.ID) {
		return false, false
	}
	prefixes := []netip.Prefix{row.Destination}
	if row.PrefixList != "" {
		entries, read := n.lists[row.PrefixList]
		if !read {
			return true, false
		}
		prefixes = entries
	}
	if w.vpc != "" {
		return false, slices.ContainsFunc(prefixes, func(p netip.Prefix) bool { return p.IsValid() && slices.ContainsFunc(w.to, p.Overlaps) })
	}
	return false, slices.ContainsFunc(prefixes, func(p netip.Prefix) bool {
		// Other VPCs' IPv6 ranges are public addresses too: a row to one by
		// peering is no way to the internet.
		return p.IsValid() && p.Addr().Is6() == w.six() && public(p) && row.Target.Kind != snapshot.ToPeering
	})
}
