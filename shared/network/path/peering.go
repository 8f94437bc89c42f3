package path

import (
	"fmt"
	"strings"

	"rollcall/shared/snapshot"
)

// peering judges a row to a peering connection. Peering is not transitive: it
// leads to the addresses of the other VPC and nowhere else, so never to the
// internet (VPC peering guide, "How VPC peering connections work").
func (n *Network) peering(table Table, row snapshot.Route, hops []Hop, w walk) Way {
	id := row.Target.ID
	p, seen := n.peers[id]
	note := string(row.Target.Kind)
	if seen {
		note += ", " + p.State
	}
	way := Way{At: id, Hops: append(hops, Hop{ID: id, Note: note})}
	dead := seen && !strings.EqualFold(p.State, "active")
	switch {
	case row.State == blackhole:
		way.Verdict, way.Reason = Blackhole, blackhole
	case dead:
		way.Verdict, way.Reason = Blackhole, "the peering connection is "+p.State
	case w.vpc == "":
		way.Verdict, way.At, way.Reason = NoRoute, table.ID, id+" is a peering connection, which never leads to the internet"
	case !seen:
		way.Verdict, way.Reason, way.Unread = LeavesView, "the other end of the peering connection is not read", n.unread(snapshot.Peerings)
	case p.Requester.VPC != w.vpc && p.Accepter.VPC != w.vpc:
		way.Verdict, way.At, way.Reason = NoRoute, table.ID, fmt.Sprintf("%s does not lead to %s, and peering connections lead no further", id, w.vpc)
	default:
		way.Verdict, way.At = Reaches, w.vpc
		way.Hops = append(way.Hops, Hop{ID: w.vpc})
		return n.answered(way, w, id)
	}
	return way
}
