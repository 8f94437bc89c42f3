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
		return away(a.ID, fmt.Sprintf("the attachment's state %q is not known", a.State))
	case a.Table == "":
		return away(id, "which of its route tables the attachment uses is not seen")
	case w.switched == maxSwitched:
		return away(a.Table, fmt.Sprintf("the way passes more than %d transit gateway route tables", maxSwitched))
	case slices.Contains(w.passed, a.Table):
		return Way{Verdict: NoRoute, At: a.Table, Table: a.Table, Hops: hops, Reason: "the way leads in a ring"}
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
		w := end(LeavesView, "the rows of this transit gateway route table are not read")
		w.Unread = n.unread(snapshot.TransitGateways)
		return w
	}
	row, ok := coveringTransit(rows, w.to[0])
	if !ok {
		if slices.ContainsFunc(rows, func(r snapshot.TransitRoute) bool { return w.vpc == "" && public(r.Destination) }) {
			return end(LeavesView, "it has rows for parts of the internet only")
		}
		return end(NoRoute, fmt.Sprintf("this transit gateway route table has no row for %s", w))
	}
	here.Row = row.Destination.String()
	if row.State == blackhole {
		return end(Blackhole, fmt.Sprintf("its row for %s is a blackhole", row.Destination))
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
		return a, fmt.Sprintf("its row for %s leads to %d attachments", row.Destination, len(row.Attachments))
	}
	i := slices.IndexFunc(n.s.Attachments, func(a snapshot.Attachment) bool { return a.ID == row.Attachments[0] })
	if i >= 0 {
		return n.s.Attachments[i], ""
	}
	// The attachment of another account: the row itself names what is attached.
	if len(row.Resources) == 1 && strings.HasPrefix(row.Resources[0], "vpc-") {
		return snapshot.Attachment{ID: row.Attachments[0], Gateway: gateway, Kind: "vpc", Resource: row.Resources[0]}, ""
	}
	return a, row.Attachments[0] + ", to which it leads, cannot be seen"
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
	reason := fmt.Sprintf("the subnets in which %s stands lead different ways", a.ID)
	var unread snapshot.Source
	if !known {
		reason, unread = fmt.Sprintf("in which subnets of %s the attachment stands is not read", a.Resource), n.unread(snapshot.Interfaces)
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
