package path

import (
	"fmt"
	"net/netip"
	"slices"

	"rollcall/shared/snapshot"
)

// nat judges a row that leads to a NAT gateway. A gateway that EC2 still
// describes is judged by its state; the row's own state counts when it is gone.
func (n *Network) nat(row snapshot.Route, hops []Hop, w walk) Way {
	id := row.Target.ID
	nat, seen := n.nats[id]
	if !seen {
		hops = append(hops, Hop{ID: id})
		switch {
		case row.State == blackhole:
			return Way{Verdict: Blackhole, At: id, Hops: hops, Reason: blackhole, Unread: n.unread(snapshot.NATGateways)}
		case !n.s.Has(snapshot.NATGateways):
			return Way{Verdict: LeavesView, At: id, Hops: hops, Reason: "the NAT gateways were not read", Unread: snapshot.NATGateways}
		}
		return Way{Verdict: LeavesView, At: id, Hops: hops, Reason: "this account cannot see it"}
	}
	if nat.State == "available" && row.State == blackhole {
		return Way{Verdict: Blackhole, At: id, Hops: append(hops, n.natHop(nat)), Reason: blackhole}
	}
	way := n.onward(nat, w)
	way.Hops = append(hops, way.Hops...)
	return way
}

func (n *Network) natHop(nat snapshot.NATGateway) Hop {
	note := nat.State
	if !nat.Public {
		note += ", private"
	}
	if zone := n.Zone(nat); zone != "" {
		note += ", " + zone
	}
	return Hop{ID: nat.ID, Note: note}
}

// onward follows the way on from a NAT gateway. It begins with the gateway's
// own hop.
func (n *Network) onward(nat snapshot.NATGateway, w walk) Way {
	here := []Hop{n.natHop(nat)}
	bad := func(v Verdict, reason string) Way {
		return Way{Verdict: v, At: nat.ID, Reason: reason, Hops: here}
	}
	if nat.State != "available" {
		reason := "it " + NATState(nat.State)
		if nat.Failure != "" {
			reason += ": " + nat.Failure
		}
		return bad(NATUnusable, reason)
	}
	if slices.Contains(w.passed, nat.ID) {
		return bad(NATNoInternet, "its own subnet's route leads back to it")
	}
	if table, ok := n.standsIn(nat); ok {
		if back, broken := n.backFrom(table, w); broken {
			back.Hops = here
			return back
		}
	}
	from := n.subnets[w.subnet]
	w = w.past(nat.ID)
	w.source, w.via, w.subnet, w.byNAT = n.subnets[nat.Subnet].CIDR, "", "", nat.Public // it translates
	next := n.after(nat, w)
	next.Hops = append(here, next.Hops...)
	switch {
	case w.vpc != "":
		return next
	case !nat.Public:
		return n.private(nat, next)
	}
	return n.public(nat, next, from)
}

// addresses are those from which a NAT gateway sends what comes from a subnet. Those of
// a regional one belong to a zone each. Until it has expanded to a zone it may serve it
// from any other (VPC user guide, "Regional NAT gateways for automatic multi-AZ
// expansion").
func addresses(nat snapshot.NATGateway, from snapshot.Subnet) []netip.Addr {
	var all, zonal []netip.Addr
	for _, a := range nat.Addresses {
		all = append(all, a.IP)
		if a.ZoneID != "" && a.ZoneID == from.ZoneID || a.Zone != "" && a.Zone == from.Zone {
			zonal = append(zonal, a.IP)
		}
	}
	if nat.RouteTable != "" && len(zonal) > 0 {
		return zonal
	}
	return all
}

// public judges a public NAT gateway by the way out of its own subnet.
func (n *Network) public(nat snapshot.NATGateway, next Way, from snapshot.Subnet) Way {
	switch next.Verdict {
	case NeedsPublicIP: // a public NAT gateway has one
		if nat.Proxy != "" {
			// Its rules pass traffic or drop it (EC2 API, NatGatewayAttachedAppliance).
			next.Verdict, next.At, next.Reason = LeavesView, nat.ID, "what the proxy that is attached to it passes is not read ("+nat.Proxy+")"
			return next
		}
		next.Verdict, next.From = Reaches, addresses(nat, from)
		return next
	case BlockedPublicAccess:
		if nat.RouteTable != "" && n.Mode(from.ID, from.VPC).Mode != snapshot.BlockBidirectional {
			next.Verdict, next.Reason = LeavesView, "whether the exclusion of a subnet holds for a regional NAT gateway is not known"
		}
		return next
	case LeavesView, Detached, NATInstance:
		return next // the fault, or the doubt, is the next hop's
	case Reaches:
		if next.Row.Target.Kind != snapshot.ToNATGateway {
			return next // a transit gateway, or an appliance, takes it out
		}
		next.Reason = fmt.Sprintf("its own subnet's route leads to %s and not to an internet gateway", next.Row.Target.ID)
	case NoRoute:
		next.Reason = fmt.Sprintf("the table of its own subnet (%s) has no way to an internet gateway", next.At)
	case Blackhole:
		next.Reason = fmt.Sprintf("the default route of its own subnet is a blackhole (%s)", next.At)
	default:
		next.Reason = fmt.Sprintf("its own subnet's route leads to %s and not to an internet gateway", next.Row.Target.ID)
	}
	if next.At == nat.ID {
		next.Reason = "its own subnet's route leads back to it"
	}
	next.Verdict, next.At, next.From = NATNoInternet, nat.ID, nil
	return next
}

// NATState is a gateway's state as the end of a sentence.
func NATState(state string) string {
	switch state {
	case "failed":
		return "has failed"
	case "deleting":
		return "is being deleted"
	}
	return "is " + state
}

// standsIn is the route table in force where a NAT gateway stands: that of its
// subnet, or the own one of a regional gateway, which has no subnet.
func (n *Network) standsIn(nat snapshot.NATGateway) (Table, bool) {
	if nat.RouteTable == "" {
		return n.Table(nat.Subnet)
	}
	table, ok := n.tables[nat.RouteTable]
	if !ok {
		return Table{}, false
	}
	return Table{RouteTable: *table}, true
}

// after is the way out of the place where a NAT gateway stands.
func (n *Network) after(nat snapshot.NATGateway, w walk) Way {
	table, ok := n.standsIn(nat)
	switch {
	case nat.RouteTable == "" && nat.Subnet == "":
		return Way{Verdict: LeavesView, At: nat.ID, Reason: "its route table is not known"}
	case nat.RouteTable == "":
		return n.from(nat.Subnet, w)
	case !ok:
		return Way{Verdict: LeavesView, At: nat.RouteTable, Reason: "this route table was not read", Unread: n.unread(snapshot.RouteTables)}
	}
	return n.out(table, nil, w)
}

// private judges a private NAT gateway, which has no public address: only
// another NAT gateway or something beyond view can take its traffic out.
func (n *Network) private(nat snapshot.NATGateway, next Way) Way {
	switch next.Verdict {
	case Reaches, LeavesView, Detached, NATInstance:
		return next
	case BlockedPublicAccess:
		if slices.ContainsFunc(next.Hops, func(h Hop) bool { return h.ID != nat.ID && n.nats[h.ID].Public }) {
			return next // of another gateway, which has a public address
		}
	case NATUnusable, NATNoInternet:
		if next.At != nat.ID {
			return next // the fault is the other gateway's
		}
	}
	if next.Table != "" && next.At == next.Table && n.tables[next.Table] == nil {
		return next // the transit gateway's table is to blame
	}
	next.Verdict, next.At = NATUnusable, nat.ID
	next.Reason = "it is a private NAT gateway, and nothing behind it leads to the internet"
	return next
}
