package route

import (
	"net/netip"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// hubWorld is a VPC whose way out is a transit gateway to a hub VPC with a NAT
// gateway; its parts can be changed before it is put together.
type hubWorld struct {
	s               *snapshot.Snapshot
	rows            []snapshot.TransitRoute // of the table that the nodes' VPC uses
	back            []snapshot.TransitRoute // of the table that the hub uses
	private, public snapshot.RouteTable     // of the hub
	attachments     []snapshot.Attachment
}

// hubbed puts the hub and the nodes' VPC together. The node has not joined.
func hubbed(f func(*hubWorld)) *snapshot.Snapshot {
	const hub = "vpc-0hub"
	spoke := func(destination, attachment string, resource string) snapshot.TransitRoute {
		return snapshot.TransitRoute{Table: "tgw-rtb-0spoke", Destination: netip.MustParsePrefix(destination), State: "active", Attachments: []string{attachment}, Resources: []string{resource}}
	}
	back := spoke("10.42.0.0/16", "tgw-attach-0spoke", snapshottest.VPC)
	back.Table = "tgw-rtb-0hub"
	h := &hubWorld{
		s: checktest.Change(snapshottest.PrivateWithNAT(), checktest.Late, checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local(), snapshottest.To("0.0.0.0/0", snapshot.ToTransitGateway, "tgw-0a"))),
		rows: []snapshot.TransitRoute{
			spoke("10.43.0.0/16", "tgw-attach-0hub", hub), spoke("0.0.0.0/0", "tgw-attach-0hub", hub),
		},
		back:    []snapshot.TransitRoute{back},
		private: snapshot.RouteTable{ID: "rtb-0hubprivate", VPC: hub, Subnets: []string{"subnet-0hubprivate"}, Routes: []snapshot.Route{snapshottest.To("10.43.0.0/16", snapshot.ToLocal, "local"), snapshottest.To("0.0.0.0/0", snapshot.ToNATGateway, "nat-0hub")}},
		public:  snapshot.RouteTable{ID: "rtb-0hubpublic", VPC: hub, Subnets: []string{"subnet-0hubpublic"}, Routes: []snapshot.Route{snapshottest.To("10.43.0.0/16", snapshot.ToLocal, "local"), snapshottest.To("0.0.0.0/0", snapshot.ToInternetGateway, "igw-0hub"), snapshottest.To("10.42.0.0/16", snapshot.ToTransitGateway, "tgw-0a")}},
		attachments: []snapshot.Attachment{
			{ID: "tgw-attach-0hub", Gateway: "tgw-0a", Kind: "vpc", Resource: hub, State: "available", Table: "tgw-rtb-0hub"},
			{ID: "tgw-attach-0spoke", Gateway: "tgw-0a", Kind: "vpc", Resource: snapshottest.VPC, State: "available", Table: "tgw-rtb-0spoke"},
		},
	}
	f(h)
	s := h.s
	s.NATGateways = append(s.NATGateways, snapshot.NATGateway{ID: "nat-0hub", VPC: hub, Subnet: "subnet-0hubpublic", State: "available", Public: true, Zone: snapshottest.Zone, Addresses: []snapshot.NATAddress{{IP: netip.MustParseAddr("203.0.113.30")}}})
	s.InternetGateways = append(s.InternetGateways, snapshot.InternetGateway{ID: "igw-0hub", Attached: []string{hub}})
	s.Subnets = append(s.Subnets,
		snapshot.Subnet{ID: "subnet-0hubprivate", VPC: hub, Zone: snapshottest.Zone, CIDR: netip.MustParsePrefix("10.43.0.0/24")},
		snapshot.Subnet{ID: "subnet-0hubpublic", VPC: hub, Zone: snapshottest.Zone, CIDR: netip.MustParsePrefix("10.43.1.0/24")})
	s.RouteTables = append(s.RouteTables, h.private, h.public)
	s.Attachments = append(s.Attachments, h.attachments...)
	s.TransitRoutes = append(append(s.TransitRoutes, h.rows...), h.back...)
	s.Interfaces = append(s.Interfaces, snapshot.Interface{
		ID: "eni-0hubattach", VPC: hub, Subnet: "subnet-0hubprivate", Kind: "transit_gateway", Status: "in-use",
		Description: "Network Interface for Transit Gateway Attachment tgw-attach-0hub",
	})
	return s
}

// listed is a row to a prefix list that leads to the NAT gateway.
func listed(id string) snapshot.Route {
	return snapshot.Route{PrefixList: id, State: "active", Target: snapshot.Target{Kind: snapshot.ToNATGateway, ID: snapshottest.NAT}}
}
