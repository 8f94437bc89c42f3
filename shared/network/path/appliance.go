package path

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	"rollcall/shared/snapshot"
)

// forwarder is an instance that forwards for others, as far as its interface
// and the instance itself could be read.
type forwarder struct {
	id, instance string
	subnet       string
	state        string // of the instance; empty when it is not known
	seen         bool   // at least one of the two was read
	free         bool   // the interface is attached to nothing
	checked      bool   // the source/destination check is on
	other        bool   // not an instance's own interface
	public       netip.Addr
}

// appliance judges a row to an instance's interface: a NAT instance, or a
// firewall of one's own. What it does inside cannot be read; that it runs, may
// forward, and itself has a way out can.
func (n *Network) appliance(row snapshot.Route, hops []Hop, w walk) Way {
	f := n.forwarder(row.Target)
	note := string(row.Target.Kind)
	if f.instance != "" {
		note += " of " + f.instance
	}
	if f.state != "" {
		note += ", " + f.state
	}
	way := Way{At: f.id, Hops: append(hops, Hop{ID: f.id, Note: note})}
	unusable := func(reason string) Way {
		way.Verdict, way.Reason = NATInstance, reason
		return way
	}
	switch {
	case row.State == blackhole && (!f.seen || f.state == "terminated"):
		way.Verdict, way.Reason = Blackhole, blackhole
		if !f.seen {
			way.Unread = n.unread(snapshot.Interfaces)
		}
		return way
	case !f.seen || f.other:
		way.Verdict, way.Reason, way.Unread = LeavesView, "what is behind the network interface is not read", n.unread(snapshot.Interfaces)
		return way
	case f.free:
		return unusable("it is attached to no instance")
	case down(f.state):
		return unusable(fmt.Sprintf("%s is %s", cmp.Or(f.instance, "its instance"), f.state))
	case row.State == blackhole:
		return unusable("EC2 calls the row a blackhole: its instance does not run")
	case f.checked:
		return unusable("its source/destination check is on, so EC2 drops what it forwards")
	case slices.Contains(w.passed, f.id):
		way.Verdict, way.Reason = NoRoute, "its own subnet's route leads back to it"
		return way
	case f.subnet == "":
		way.Verdict, way.Reason = LeavesView, "the appliance's own subnet is not known"
		return way
	}
	w.byNAT = false
	next := n.from(f.subnet, w.past(f.id))
	next.Hops = append(way.Hops, next.Hops...)
	if next.Verdict != NeedsPublicIP {
		return next
	}
	if !f.public.IsValid() {
		// It may have another interface outside.
		next.Verdict, next.At, next.Reason = LeavesView, f.id, "the appliance has no public address on this interface"
		return next
	}
	next.Verdict, next.From = Reaches, []netip.Addr{f.public}
	return next
}

// down tells that an instance forwards nothing. One that is starting will, and
// a state newer than this code accuses nobody.
func down(state string) bool {
	switch state {
	case "stopped", "stopping", "shutting-down", "terminated":
		return true
	}
	return false
}

// forwarder is what is known of a row's interface. Old rows name only the
// instance; then its primary interface forwards.
func (n *Network) forwarder(t snapshot.Target) forwarder {
	f := forwarder{id: cmp.Or(t.ID, t.Instance), instance: t.Instance}
	e, seen := n.networkInterface(t.ID)
	if seen {
		f.seen = true
		f.subnet, f.checked, f.public = e.Subnet, e.SourceCheck, e.PublicIP
		f.instance = cmp.Or(e.Instance, f.instance)
		f.free = e.Status == "available"
		f.other = e.Kind != "" && e.Kind != "interface" && e.Kind != "efa"
	}
	i, known := n.instance(f.instance)
	if !known {
		return f
	}
	f.state = i.State
	primary := t.ID == "" || len(i.Interfaces) > 0 && i.Interfaces[0] == t.ID
	if !seen && (primary || down(i.State)) {
		f.seen = true
		f.subnet, f.checked, f.public = i.Subnet, primary && i.SourceCheck, i.PublicIP
	}
	return f
}

// Few ways lead through an interface, and a burst has thousands of instances:
// they are looked for when asked, and not indexed.

func (n *Network) networkInterface(id string) (snapshot.Interface, bool) {
	i := slices.IndexFunc(n.s.Interfaces, func(e snapshot.Interface) bool { return e.ID == id })
	if id == "" || i < 0 {
		return snapshot.Interface{}, false
	}
	return n.s.Interfaces[i], true
}

func (n *Network) instance(id string) (snapshot.Instance, bool) {
	for i := range n.s.Instances {
		if id != "" && n.s.Instances[i].ID == id {
			return n.s.Instances[i], true
		}
	}
	return snapshot.Instance{}, false
}
