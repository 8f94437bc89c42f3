package path

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/snapshot"
)

// hop judges the target of a row and follows it.
func (n *Network) hop(table Table, row snapshot.Route, hops []Hop, w walk) Way {
	switch row.Target.Kind {
	case snapshot.ToLocal:
		return n.own(table, row, hops, w)
	case snapshot.ToNATGateway:
		return n.nat(row, hops, w)
	case snapshot.ToInternetGateway:
		return n.internetGateway(table, row, hops, w)
	case snapshot.ToEgressOnly:
		return n.egressOnly(table, row, hops, w)
	case snapshot.ToTransitGateway:
		return n.transit(table, row, hops, w)
	case snapshot.ToPeering:
		return n.peering(table, row, hops, w)
	case snapshot.ToInterface:
		return n.appliance(row, hops, w)
	case snapshot.ToEndpoint:
		return n.through(row, hops)
	case snapshot.ToCarrierGateway:
		if n.Mode(w.subnet, table.VPC).Mode == snapshot.BlockBidirectional && row.State != blackhole {
			return n.blocked(table, w, append(hops, Hop{ID: row.Target.ID, Note: string(row.Target.Kind)}))
		}
	}
	return n.beyond(row, hops)
}

// beyond is a hop behind which nothing can be read: a virtual private gateway,
// Direct Connect, a core network, a local or carrier gateway, a kind newer
// than this code.
func (n *Network) beyond(row snapshot.Route, hops []Hop) Way {
	// A kind newer than this code may come without an id.
	id := cmp.Or(row.Target.ID, string(row.Target.Kind))
	w := Way{At: id, Hops: append(hops, Hop{ID: id, Note: string(row.Target.Kind)})}
	if row.State == blackhole {
		w.Verdict, w.Reason = Blackhole, blackhole
		return w
	}
	w.Verdict, w.Reason = LeavesView, fmt.Sprintf("what is behind the %s is not read", row.Target.Kind)
	return w
}

// own is the local row. It ends a walk into its own VPC; a walk elsewhere ends
// there too, where the two VPCs' ranges overlap.
func (n *Network) own(table Table, row snapshot.Route, hops []Hop, w walk) Way {
	if table.VPC == w.vpc {
		return Way{Verdict: Reaches, At: w.vpc, Hops: append(hops, Hop{ID: w.vpc})}
	}
	return Way{
		Verdict: NoRoute, At: table.ID, Hops: hops,
		Reason: fmt.Sprintf("its local row %s keeps these addresses in %s", Destination(row), table.VPC),
	}
}

// internetGateway judges a row to an internet gateway. One that EC2 still
// describes is judged by its attachments; the row's own state counts when it
// is gone.
func (n *Network) internetGateway(table Table, row snapshot.Route, hops []Hop, w walk) Way {
	id := row.Target.ID
	hops = append(hops, Hop{ID: id})
	igw, seen := n.igws[id]
	switch {
	case seen && !slices.Contains(igw.Attached, table.VPC):
		return Way{Verdict: Detached, At: id, Hops: hops, Reason: "it is not attached to " + table.VPC}
	case row.State == blackhole:
		return Way{Verdict: Blackhole, At: id, Hops: hops, Reason: blackhole, Unread: n.unread(snapshot.InternetGateways)}
	case w.vpc != "":
		return Way{Verdict: NoRoute, At: table.ID, Hops: hops, Reason: "an internet gateway carries no private addresses"}
	case w.via == "" && n.blocks(table, w):
		return n.blocked(table, w, hops)
	case w.six():
		// IPv6 addresses are public: nothing is translated.
		return Way{Verdict: Reaches, At: id, Hops: hops}
	}
	// One that is not among those read is another account's (a shared VPC):
	// EC2 calls its row active only while it is attached.
	return Way{Verdict: NeedsPublicIP, At: id, Hops: hops}
}

// egressOnly judges a row to an egress-only internet gateway, which carries
// IPv6 out. It is made with its attachment and lives with it.
func (n *Network) egressOnly(table Table, row snapshot.Route, hops []Hop, w walk) Way {
	id := row.Target.ID
	hops = append(hops, Hop{ID: id, Note: string(snapshot.ToEgressOnly)})
	gateway, seen := n.eigws[id]
	switch {
	case seen && !slices.Contains(gateway.Attached, table.VPC):
		return Way{Verdict: Detached, At: id, Hops: hops, Reason: "it is not attached to " + table.VPC}
	case row.State == blackhole:
		return Way{Verdict: Blackhole, At: id, Hops: hops, Reason: blackhole, Unread: n.unread(snapshot.EgressOnly)}
	case w.vpc != "" || !w.six():
		return Way{Verdict: NoRoute, At: table.ID, Hops: hops, Reason: "an egress-only internet gateway carries IPv6 to the internet only"}
	case n.Mode(w.subnet, table.VPC).Mode == snapshot.BlockBidirectional:
		return n.blocked(table, w, hops)
	}
	return Way{Verdict: Reaches, At: id, Hops: hops}
}

// through is a row to a gateway load balancer's or firewall's endpoint. What
// the appliances behind it let pass is not in what EC2 says.
func (n *Network) through(row snapshot.Route, hops []Hop) Way {
	id := row.Target.ID
	note := string(row.Target.Kind)
	if e, seen := n.endpoint(id); seen {
		note = fmt.Sprintf("%s endpoint, %s", e.Kind, e.State)
		if row.State != blackhole && gone(e.State) {
			return Way{Verdict: Blackhole, At: id, Hops: append(hops, Hop{ID: id, Note: note}), Reason: "the endpoint is " + e.State}
		}
	}
	w := n.beyond(row, hops)
	w.Hops[len(w.Hops)-1].Note = note
	return w
}

// gone tells that an endpoint passes nothing. A state newer than this code
// accuses nobody.
func gone(state string) bool {
	switch strings.ToLower(state) {
	case "pending", "pendingacceptance", "deleting", "deleted", "rejected", "failed", "expired":
		return true
	}
	return false
}

func (n *Network) endpoint(id string) (snapshot.Endpoint, bool) {
	i := slices.IndexFunc(n.s.Endpoints, func(e snapshot.Endpoint) bool { return e.ID == id })
	if i < 0 {
		return snapshot.Endpoint{}, false
	}
	return n.s.Endpoints[i], true
}

func (n *Network) gatewayEndpoint(id string) bool {
	e, seen := n.endpoint(id)
	return seen && strings.EqualFold(e.Kind, "Gateway")
}
