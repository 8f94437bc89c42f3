package path

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/snapshot"
)

// Verdict is how a way ends.
type Verdict string

// The verdicts.
const (
	// Reaches: it leads there.
	Reaches Verdict = "reaches"
	// NeedsPublicIP: it leaves by an internet gateway, which only serves
	// addresses that have a public one.
	NeedsPublicIP Verdict = "needs a public address"
	// NoRoute: the table has no row for it.
	NoRoute Verdict = "no route"
	// Blackhole: the target of the winning row is gone, or detached.
	Blackhole Verdict = "blackhole"
	// NATUnusable: the NAT gateway does not pass traffic.
	NATUnusable Verdict = "nat gateway unusable"
	// NATNoInternet: the NAT gateway works and has no way to the internet.
	NATNoInternet Verdict = "nat gateway without internet"
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
	At     string
	Reason string
	// Row is the row of the first table that was taken; its zero value means none.
	Row  snapshot.Route
	Hops []Hop
}

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
	if w.Verdict != Reaches && w.Verdict != NeedsPublicIP {
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

// Internet is the way from a subnet to the public internet over IPv4.
func (n *Network) Internet(subnet string) Way {
	return n.internet(subnet, nil)
}

// internet follows a subnet's table; through are the NAT gateways passed so far.
func (n *Network) internet(subnet string, through []string) Way {
	table, ok := n.Table(subnet)
	if !ok {
		return Way{Verdict: LeavesView, At: subnet, Reason: "its route table is not known", Hops: []Hop{{ID: subnet}}}
	}
	return n.out(table, []Hop{{ID: subnet}}, through)
}

// out follows a table to the internet.
func (n *Network) out(table Table, before []Hop, through []string) Way {
	note := ""
	if table.Fallback {
		note = "main table"
	}
	here := Hop{ID: table.ID, Note: note}
	var ways []Way
	for _, half := range halves() {
		row, ok := covering(table.Routes, half, nil)
		if !ok {
			ways = append(ways, n.noRoute(table, append(slices.Clone(before), here)))
			continue
		}
		here.Row = Destination(row)
		w := n.hop(table, row, append(slices.Clone(before), here), through)
		w.Row = row
		ways = append(ways, w)
	}
	// Nearly always both halves take the same row.
	first, second := ways[0], ways[1]
	if first.Verdict == second.Verdict {
		return first
	}
	return Way{
		Verdict: LeavesView, At: table.ID, Row: first.Row, Hops: append(slices.Clone(before), here),
		Reason: "it sends the two halves of the internet different ways",
	}
}

// noRoute tells a table without a way out from one with rows for parts of
// the internet, which may or may not hold what a node needs.
func (n *Network) noRoute(table Table, hops []Hop) Way {
	for _, row := range table.Routes {
		list := row.PrefixList != "" && !n.gatewayEndpoint(row.Target.ID)
		if row.Target.Kind == snapshot.ToLocal || !list && !public(row.Destination) {
			continue
		}
		return Way{
			Verdict: LeavesView, At: row.Target.ID, Hops: hops,
			Reason: fmt.Sprintf("%s has rows for parts of the internet only (%s)", table.ID, Row(row)),
		}
	}
	if n.s.Cluster.IPv6 {
		for _, row := range table.Routes {
			if row.Destination.IsValid() && row.Destination.Addr().Is6() && row.Destination.Bits() == 0 && row.State != blackhole {
				return Way{
					Verdict: LeavesView, At: row.Target.ID, Hops: hops,
					Reason: fmt.Sprintf("its only way out is IPv6 (%s)", Row(row)),
				}
			}
		}
	}
	return Way{Verdict: NoRoute, At: table.ID, Reason: "no route", Hops: hops}
}

func (n *Network) gatewayEndpoint(id string) bool {
	return slices.ContainsFunc(n.s.Endpoints, func(e snapshot.Endpoint) bool {
		return e.ID == id && strings.EqualFold(e.Kind, "Gateway")
	})
}

// hop judges the target of a row for the internet.
func (n *Network) hop(table Table, row snapshot.Route, hops []Hop, through []string) Way {
	gone := row.State == blackhole
	switch row.Target.Kind {
	case snapshot.ToNATGateway:
		return n.nat(row, hops, through)
	case snapshot.ToInternetGateway:
		hops = append(hops, Hop{ID: row.Target.ID})
		igw, seen := n.igws[row.Target.ID]
		switch {
		case seen && !slices.Contains(igw.Attached, table.VPC):
			return Way{Verdict: Blackhole, At: row.Target.ID, Hops: hops, Reason: "it is not attached to " + table.VPC}
		case gone:
			return Way{Verdict: Blackhole, At: row.Target.ID, Hops: hops, Reason: "blackhole"}
		}
		// One that is not among those read is another account's (a shared
		// VPC): EC2 calls its row active only while it is attached.
		return Way{Verdict: NeedsPublicIP, At: row.Target.ID, Hops: hops}
	}
	hops = append(hops, Hop{ID: row.Target.ID, Note: string(row.Target.Kind)})
	if gone {
		return Way{Verdict: Blackhole, At: row.Target.ID, Hops: hops, Reason: "blackhole"}
	}
	return Way{
		Verdict: LeavesView, At: row.Target.ID, Hops: hops,
		Reason: fmt.Sprintf("what is behind the %s is not read", row.Target.Kind),
	}
}
