package path

import (
	"net/netip"
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

// Good tells that the way leads there, given a public address where it needs one.
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
