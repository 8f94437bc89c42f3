package path

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"rollcall/shared/snapshot"
)

// transit follows a row to a transit gateway: the VPC's attachment, the route
// table that the attachment uses, the attachment that this table leads to, and
// the route tables of the subnets in which that one stands. What belongs to
// another account, or is no VPC, ends the view.
func (n *Network) transit(table Table, row snapshot.Route, hops []Hop, w walk) Way {
	id := row.Target.ID
	hops = append(hops, Hop{ID: id, Note: string(row.Target.Kind)})
	if row.State == blackhole {
		return Way{Verdict: Blackhole, At: id, Hops: hops, Reason: blackhole}
	}
	away := func(at, reason string) Way {
		return Way{Verdict: LeavesView, At: at, Hops: hops, Reason: reason, Unread: n.unread(snapshot.TransitGateways)}
	}
	a, found := n.attachment(id, table.VPC)
	if !found {
		return away(id, "what is behind the transit gateway is not read")
	}
	hops = append(hops, Hop{ID: a.ID, Note: a.State})
	w = w.translated(a)
	switch usable, known := attached(a.State); {
	case known && !usable:
		return Way{Verdict: Blackhole, At: a.ID, Hops: hops, Reason: fmt.Sprintf("the attachment of %s is %s", table.VPC, a.State)}
	case !known:
		return away(a.ID, fmt.Sprintf("the attachment's state %q is unknown", a.State))
	case a.Table == "":
		return away(id, "the route table that the attachment uses is not visible")
	case w.switched == maxSwitched:
		return away(a.Table, fmt.Sprintf("the path passes more than %d transit gateway route tables", maxSwitched))
	case slices.Contains(w.passed, a.Table):
		return Way{Verdict: NoRoute, At: a.Table, Table: a.Table, Hops: hops, Reason: "the path is a loop"}
	}
	w = w.past(a.Table)
	w.switched++
	return n.switched(a, hops, w)
}

// translated is the walk over an attachment. Where the transit gateway translates its
// source addresses, answers go to addresses that are not known here (EC2 API,
// ModifyTransitGatewayAttachmentNatConfiguration).
func (w walk) translated(a snapshot.Attachment) walk {
	if a.Translates {
		w.source = netip.Prefix{}
	}
	return w
}

// maxSwitched bounds a way. Two tables (spoke and hub) are usual, four are an
// inspection VPC more; beyond that every subnet of every VPC would be tried.
const maxSwitched = 4

// switched follows the route table that an attachment uses.
func (n *Network) switched(from snapshot.Attachment, hops []Hop, w walk) Way {
	rows := n.transits[from.Table]
	here := Hop{ID: from.Table}
	end := func(v Verdict, reason string) Way {
		return Way{Verdict: v, At: from.Table, Table: from.Table, Hops: append(slices.Clone(hops), here), Reason: reason}
	}
	if _, lacks := n.s.Lacks(snapshot.TransitGateways, from.Table); lacks || len(rows) == 0 {
		w := end(LeavesView, "the routes of this transit gateway route table are not read")
		w.Unread = n.unread(snapshot.TransitGateways)
		return w
	}
	row, ok := coveringTransit(rows, w.to[0])
	if !ok {
		if slices.ContainsFunc(rows, func(r snapshot.TransitRoute) bool { return w.vpc == "" && public(r.Destination) }) {
			return end(LeavesView, "it has routes for parts of the internet only")
		}
		return end(NoRoute, fmt.Sprintf("this transit gateway route table has no route for %s", w))
	}
	here.Row = row.Destination.String()
	if row.State == blackhole {
		return end(Blackhole, fmt.Sprintf("its route for %s is a blackhole", row.Destination))
	}
	to, reason := n.next(from.Gateway, row)
	if reason != "" {
		return end(LeavesView, reason)
	}
	hops = append(slices.Clone(hops), here, Hop{ID: to.ID, Note: to.Resource})
	w = w.translated(to)
	if to.Kind != "vpc" {
		return Way{Verdict: LeavesView, At: to.ID, Table: from.Table, Hops: hops, Reason: fmt.Sprintf("what is behind the %s attachment is not read", to.Kind)}
	}
	if back, broken := n.backThrough(to, w); broken {
		back.Hops = hops
		return back
	}
	w.via = from.Gateway
	if to.Resource == w.vpc {
		return n.answered(Way{Verdict: Reaches, At: w.vpc, Hops: append(hops, Hop{ID: w.vpc})}, w, from.Gateway)
	}
	return n.arrive(to, hops, w)
}

// next is the attachment that a row leads to; the reason is why it is not known.
func (n *Network) next(gateway string, row snapshot.TransitRoute) (a snapshot.Attachment, reason string) {
	if len(row.Attachments) != 1 {
		return a, fmt.Sprintf("its route for %s points to %d attachments", row.Destination, len(row.Attachments))
	}
	i := slices.IndexFunc(n.s.Attachments, func(a snapshot.Attachment) bool { return a.ID == row.Attachments[0] })
	if i >= 0 {
		return n.s.Attachments[i], ""
	}
	// The attachment of another account: the row itself names what is attached.
	if len(row.Resources) == 1 && strings.HasPrefix(row.Resources[0], "vpc-") {
		return snapshot.Attachment{ID: row.Attachments[0], Gateway: gateway, Kind: "vpc", Resource: row.Resources[0]}, ""
	}
	return a, "its target " + row.Attachments[0] + " is not visible"
}

// arrive follows the tables of the subnets in which an attachment stands.
func (n *Network) arrive(a snapshot.Attachment, hops []Hop, w walk) Way {
	subnets, known := n.stands(a)
	if len(subnets) == 0 {
		return Way{Verdict: LeavesView, At: a.Resource, Hops: append(hops, Hop{ID: a.Resource}), Reason: fmt.Sprintf("%s is not read", a.Resource)}
	}
	var ways []Way
	tried := map[string]bool{}
	for _, id := range subnets {
		// Subnets with the same table have the same way.
		if table, ok := n.Table(id); ok && tried[table.ID+n.Class(id)] {
			continue
		} else if ok {
			tried[table.ID+n.Class(id)] = true
		}
		way := n.from(id, w)
		if way.Verdict == NeedsPublicIP {
			// It translates the addresses of its own VPC's interfaces only.
			way.Verdict, way.Reason = NoRoute, fmt.Sprintf("%s carries nothing that comes from another VPC without a NAT gateway", way.At)
			way.At = way.Table
		}
		way.Hops = append(slices.Clone(hops), way.Hops...)
		ways = append(ways, way)
	}
	first := ways[0]
	if all(ways, func(w Way) bool { return w.Verdict == first.Verdict && w.At == first.At }) ||
		all(ways, Way.Good) || all(ways, func(w Way) bool { return !w.Good() && w.Verdict != LeavesView }) {
		for _, w := range ways[1:] {
			first.From = append(first.From, w.From...)
		}
		return first
	}
	reason := fmt.Sprintf("the subnets of %s have different routes", a.ID)
	var unread snapshot.Source
	if !known {
		reason, unread = fmt.Sprintf("the subnets of the attachment in %s are not read", a.Resource), n.unread(snapshot.Interfaces)
	}
	return Way{Verdict: LeavesView, At: a.ID, Hops: hops, Reason: reason, Unread: unread}
}

func all(ways []Way, is func(Way) bool) bool {
	return !slices.ContainsFunc(ways, func(w Way) bool { return !is(w) })
}

// stands are the subnets in which a VPC attachment has its interfaces. EC2
// names them in the descriptions of its interfaces; where those were not read,
// all of the VPC's subnets may be meant.
func (n *Network) stands(a snapshot.Attachment) (subnets []string, known bool) {
	for _, e := range n.s.Interfaces {
		if e.VPC == a.Resource && e.Kind == "transit_gateway" && strings.Contains(e.Description, a.ID) && !slices.Contains(subnets, e.Subnet) {
			subnets = append(subnets, e.Subnet)
		}
	}
	if len(subnets) > 0 {
		return subnets, true
	}
	for _, s := range n.s.Subnets {
		if _, table := n.Table(s.ID); table && s.VPC == a.Resource {
			subnets = append(subnets, s.ID)
		}
	}
	return subnets, false
}

// attachment is the attachment of a VPC to a transit gateway: the one in use,
// where older ones are still described.
func (n *Network) attachment(gateway, vpc string) (snapshot.Attachment, bool) {
	var found snapshot.Attachment
	for _, a := range n.s.Attachments {
		if a.Gateway != gateway || a.Kind != "vpc" || a.Resource != vpc {
			continue
		}
		if usable, _ := attached(a.State); found.ID == "" || usable {
			found = a
		}
	}
	return found, found.ID != ""
}

// attached tells what an attachment's state means for traffic; known is false
// for a state newer than this code. One that is being modified still passes.
func attached(state string) (usable, known bool) {
	switch state {
	case "available", "modifying":
		return true, true
	case "initiating", "initiatingRequest", "pendingAcceptance", "rollingBack", "pending",
		"deleting", "deleted", "failed", "failing", "rejected", "rejecting":
		return false, true
	}
	return false, false
}

// coveringTransit is the most specific row of a transit gateway's table that
// holds all of a range.
func coveringTransit(rows []snapshot.TransitRoute, all netip.Prefix) (snapshot.TransitRoute, bool) {
	var best snapshot.TransitRoute
	longest := -1
	for _, row := range rows {
		if row.Destination.IsValid() && contains(row.Destination, all) && row.Destination.Bits() > longest {
			best, longest = row, row.Destination.Bits()
		}
	}
	return best, longest >= 0
}

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
	// NAT gateway, which stands in none. byNAT reports whether a public NAT gateway has just
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
			Verdict: LeavesView, At: subnet, Reason: "its route table is unknown",
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
		return Way{Verdict: LeavesView, At: table.ID, Table: table.ID, Reason: "the addresses are unknown", Hops: append(slices.Clone(before), here)}
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
			Reason: fmt.Sprintf("it routes parts of %s differently", w),
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
		reason := fmt.Sprintf("%s has routes for parts of the internet only (%s)", table.ID, Row(row))
		var unread snapshot.Source
		if unknown {
			reason = fmt.Sprintf("the entries of the prefix list are not read (%s)", Row(row))
			unread = n.unread(snapshot.PrefixListEntries)
		}
		return Way{Verdict: LeavesView, At: row.Target.ID, Table: table.ID, Hops: hops, Reason: reason, Unread: unread}
	}
	return Way{Verdict: NoRoute, At: table.ID, Table: table.ID, Reason: "no route", Hops: hops}
}

// partly judges a row that does not hold all of the ranges: its prefix list may
// after all (unknown), or it holds a part of the internet.
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

// Verdict is how a way ends.
type Verdict string

// The verdicts.
const (
	// Reaches: it leads there.
	Reaches Verdict = "reaches"
	// NeedsPublicIP: it leaves by an internet gateway, which only serves
	// addresses that have a public one.
	NeedsPublicIP Verdict = "needs a public address"
	// NoRoute: a table on the way has no row for it, or a row to something
	// that never leads there.
	NoRoute Verdict = "no route"
	// Blackhole: the target of the winning row is gone.
	Blackhole Verdict = "blackhole"
	// Detached: the gateway is there, and not attached to this VPC.
	Detached Verdict = "gateway detached"
	// NATUnusable: the NAT gateway does not pass traffic.
	NATUnusable Verdict = "nat gateway unusable"
	// NATNoInternet: the NAT gateway works and has no way to the internet.
	NATNoInternet Verdict = "nat gateway without internet"
	// NATInstance: the instance that should forward does not run, or EC2
	// drops what it forwards.
	NATInstance Verdict = "nat instance unusable"
	// BlockedPublicAccess: VPC Block Public Access drops what its routes would carry.
	BlockedPublicAccess Verdict = "blocked public access"
	// LeavesView: a hop leads out of what was read.
	LeavesView Verdict = "leaves view"
)

// Hop is one step of a way.
type Hop struct {
	ID   string
	Note string // "available, us-west-2a"
	Row  string // the destination of the row that was taken from here
}

// Way is a way through the network.
type Way struct {
	Verdict Verdict
	// At is the resource at which the way ends: the one to blame for a
	// verdict that is not good, or the one that cannot be looked behind.
	At string
	// Reason is why it is not good; empty for Reaches and NeedsPublicIP.
	Reason string
	// Row is the row of the first table that was taken; its zero value means none.
	Row snapshot.Route
	// Table is the table whose row, or lack of one, decided: a route table, or
	// a transit gateway's.
	Table string
	// Unread is the source that would have told more; empty when none would. Of a
	// blackhole it would tell a target that is gone from one that is detached or stopped.
	Unread snapshot.Source
	// From are the public addresses that the traffic leaves from, where a
	// gateway or an instance on the way has translated it.
	From []netip.Addr
	Hops []Hop
}

// Good reports whether the way leads there, given a public address where it needs one.
func (w Way) Good() bool { return w.Verdict == Reaches || w.Verdict == NeedsPublicIP }

// String is the way for a person: "subnet-1 → rtb-1 (main table) 0.0.0.0/0 → nat-1 (failed): it has failed".
func (w Way) String() string {
	steps := make([]string, 0, len(w.Hops)+1)
	for _, h := range w.Hops {
		step := h.ID
		if h.Note != "" {
			step += " (" + h.Note + ")"
		}
		if h.Row != "" {
			step += " " + h.Row
		}
		steps = append(steps, step)
	}
	way := strings.Join(steps, " → ")
	if !w.Good() {
		way += ": " + w.Reason
	}
	return way
}

// Resources are the ids on the way, in its order.
func (w Way) Resources() []string {
	var ids []string
	for _, h := range w.Hops {
		if !slices.Contains(ids, h.ID) {
			ids = append(ids, h.ID)
		}
	}
	return ids
}
