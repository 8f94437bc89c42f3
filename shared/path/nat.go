package path

import (
	"fmt"
	"slices"

	"rollcall/shared/snapshot"
)

// nat judges a row that leads to a NAT gateway. A gateway that EC2 still
// describes is judged by its state; the row's own state counts when it is gone.
func (n *Network) nat(row snapshot.Route, hops []Hop, through []string) Way {
	id := row.Target.ID
	nat, seen := n.nats[id]
	if !seen {
		hops = append(hops, Hop{ID: id})
		switch {
		case row.State == blackhole:
			return Way{Verdict: Blackhole, At: id, Hops: hops, Reason: "blackhole"}
		case !n.s.Has(snapshot.NATGateways):
			return Way{Verdict: LeavesView, At: id, Hops: hops, Reason: "the NAT gateways were not read"}
		}
		return Way{Verdict: LeavesView, At: id, Hops: hops, Reason: "this account cannot see it"}
	}
	if nat.State == "available" && row.State == blackhole {
		return Way{Verdict: Blackhole, At: id, Hops: append(hops, n.natHop(nat)), Reason: "blackhole"}
	}
	w := n.onward(nat, through)
	w.Hops = append(hops, w.Hops...)
	return w
}

func (n *Network) natHop(nat snapshot.NATGateway) Hop {
	note := nat.State
	if !nat.Public {
		note += ", private"
	}
	if zone := n.zone(nat); zone != "" {
		note += ", " + zone
	}
	return Hop{ID: nat.ID, Note: note}
}

// onward follows the way from a NAT gateway to the internet. It begins with
// the gateway's own hop.
func (n *Network) onward(nat snapshot.NATGateway, through []string) Way {
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
	if slices.Contains(through, nat.ID) {
		return bad(NATNoInternet, "its own subnet's route leads back to it")
	}
	through = append(slices.Clone(through), nat.ID)
	next := n.after(nat, through)
	next.Hops = append(here, next.Hops...)
	if !nat.Public {
		return n.private(nat, next)
	}
	switch next.Verdict {
	case NeedsPublicIP: // a public NAT gateway has one
		next.Verdict, next.Reason = Reaches, ""
		return next
	case LeavesView:
		return next
	case NoRoute:
		next.Reason = fmt.Sprintf("the table of its own subnet (%s) has no way to an internet gateway", next.At)
	case Blackhole:
		next.Reason = fmt.Sprintf("the way out of its own subnet is a blackhole (%s)", next.At)
	default:
		next.Reason = fmt.Sprintf("its own subnet's route leads to %s and not to an internet gateway", next.Row.Target.ID)
	}
	if next.At == nat.ID {
		next.Reason = "its own subnet's route leads back to it"
	}
	next.Verdict, next.At = NATNoInternet, nat.ID
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

// after is the way out of the place where a NAT gateway stands.
func (n *Network) after(nat snapshot.NATGateway, through []string) Way {
	if nat.RouteTable == "" && nat.Subnet == "" {
		return Way{Verdict: LeavesView, At: nat.ID, Reason: "its route table is not known"}
	}
	if nat.RouteTable == "" {
		return n.internet(nat.Subnet, through)
	}
	// A regional NAT gateway has its own table and no subnet.
	table, ok := n.tables[nat.RouteTable]
	if !ok {
		return Way{Verdict: LeavesView, At: nat.RouteTable, Reason: "this route table was not read"}
	}
	return n.out(Table{RouteTable: *table}, nil, through)
}

// private judges a private NAT gateway, which has no public address: only
// another NAT gateway or something beyond view can take its traffic out.
func (n *Network) private(nat snapshot.NATGateway, next Way) Way {
	switch next.Verdict {
	case Reaches, LeavesView:
		return next
	case NATUnusable, NATNoInternet:
		if next.At != nat.ID {
			return next // the fault is the other gateway's
		}
	}
	next.Verdict, next.At = NATUnusable, nat.ID
	next.Reason = "it is a private NAT gateway, and nothing behind it leads to the internet"
	return next
}
