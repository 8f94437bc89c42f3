package path

import (
	"net/netip"
	"testing"

	"rollcall/shared/snapshot"
	w "rollcall/shared/snapshot/snapshottest"
)

// spoke is a VPC whose default route is a transit gateway, to which a hub VPC
// with a NAT gateway is attached.
func spoke() *snapshot.Snapshot {
	const hub = "vpc-0hub"
	s := w.PrivateWithNAT()
	w.Table(s, w.PrivateRTB).Routes = []snapshot.Route{w.Local(), w.To("0.0.0.0/0", snapshot.ToTransitGateway, "tgw-0a")}
	local := w.To("10.43.0.0/16", snapshot.ToLocal, "local")
	s.Subnets = append(s.Subnets,
		snapshot.Subnet{ID: "subnet-0in", VPC: hub, CIDR: netip.MustParsePrefix("10.43.0.0/24")},
		snapshot.Subnet{ID: "subnet-0out", VPC: hub, CIDR: netip.MustParsePrefix("10.43.1.0/24")})
	s.RouteTables = append(s.RouteTables,
		snapshot.RouteTable{ID: "rtb-0in", VPC: hub, Subnets: []string{"subnet-0in"}, Routes: []snapshot.Route{local, w.To("0.0.0.0/0", snapshot.ToNATGateway, "nat-0hub")}},
		snapshot.RouteTable{ID: "rtb-0out", VPC: hub, Subnets: []string{"subnet-0out"}, Routes: []snapshot.Route{local, w.To("0.0.0.0/0", snapshot.ToInternetGateway, "igw-0hub"), w.To("10.0.0.0/8", snapshot.ToTransitGateway, "tgw-0a")}})
	s.NATGateways = append(s.NATGateways, snapshot.NATGateway{ID: "nat-0hub", VPC: hub, Subnet: "subnet-0out", State: "available", Public: true, Addresses: []snapshot.NATAddress{{IP: netip.MustParseAddr("203.0.113.30")}}})
	s.InternetGateways = append(s.InternetGateways, snapshot.InternetGateway{ID: "igw-0hub", Attached: []string{hub}})
	s.Attachments = []snapshot.Attachment{
		{ID: "tgw-attach-0hub", Gateway: "tgw-0a", Kind: "vpc", Resource: hub, State: "available", Table: "tgw-rtb-0hub"},
		{ID: "tgw-attach-0spoke", Gateway: "tgw-0a", Kind: "vpc", Resource: w.VPC, State: "available", Table: "tgw-rtb-0spoke"},
	}
	s.TransitRoutes = []snapshot.TransitRoute{
		{Table: "tgw-rtb-0hub", Destination: netip.MustParsePrefix("10.42.0.0/16"), State: "active", Attachments: []string{"tgw-attach-0spoke"}, Resources: []string{w.VPC}},
		{Table: "tgw-rtb-0spoke", Destination: netip.MustParsePrefix("0.0.0.0/0"), State: "active", Attachments: []string{"tgw-attach-0hub"}, Resources: []string{hub}},
	}
	s.Interfaces = append(s.Interfaces, snapshot.Interface{ID: "eni-0in", VPC: hub, Subnet: "subnet-0in", Kind: "transit_gateway", Description: "Network Interface for Transit Gateway Attachment tgw-attach-0hub"})
	return s
}

func TestTransit(t *testing.T) {
	const head = "subnet-0private → rtb-0private 0.0.0.0/0 → tgw-0a (transit gateway)"
	const attached = head + " → tgw-attach-0spoke (available)"
	const hub = attached + " → tgw-rtb-0spoke 0.0.0.0/0 → tgw-attach-0hub (vpc-0hub)"
	without := func(id string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			for i := range s.TransitRoutes {
				if s.TransitRoutes[i].Table == id {
					s.TransitRoutes[i].Destination = netip.MustParsePrefix("10.77.0.0/16")
				}
			}
		}
	}
	tests := []struct {
		name    string
		change  func(*snapshot.Snapshot)
		verdict Verdict
		at      string
		unread  snapshot.Source
		want    string
	}{
		{"to a hub with a NAT gateway", func(*snapshot.Snapshot) {}, Reaches, "igw-0hub", "",
			hub + " → subnet-0in → rtb-0in 0.0.0.0/0 → nat-0hub (available) → subnet-0out → rtb-0out 0.0.0.0/0 → igw-0hub"},
		{"not read", func(s *snapshot.Snapshot) { w.Without(s, snapshot.TransitGateways) }, LeavesView, "tgw-0a", snapshot.TransitGateways,
			head + ": what is behind the transit gateway is not read"},
		{"its rows are not read", func(s *snapshot.Snapshot) { s.TransitRoutes = nil }, LeavesView, "tgw-rtb-0spoke", "",
			attached + " → tgw-rtb-0spoke: the rows of this transit gateway route table are not read"},
		{"one table could not be read", func(s *snapshot.Snapshot) {
			s.Lack(snapshot.TransitGateways, "tgw-rtb-0spoke", snapshot.Failure{})
		}, LeavesView, "tgw-rtb-0spoke", "", attached + " → tgw-rtb-0spoke: the rows of this transit gateway route table are not read"},
		{"no row for the internet", without("tgw-rtb-0spoke"), NoRoute, "tgw-rtb-0spoke", "",
			attached + " → tgw-rtb-0spoke: this transit gateway route table has no row for the internet"},
		{"a blackhole", func(s *snapshot.Snapshot) { s.TransitRoutes[1].State = "blackhole" }, Blackhole, "tgw-rtb-0spoke", "",
			attached + " → tgw-rtb-0spoke 0.0.0.0/0: its row for 0.0.0.0/0 is a blackhole"},
		{"no row back", without("tgw-rtb-0hub"), NoRoute, "tgw-rtb-0hub", "",
			hub + ": tgw-rtb-0hub, the table of the answers, has no way back to 10.42.192.0/19"},
		{"the attachment waits to be accepted", func(s *snapshot.Snapshot) { s.Attachments[1].State = "pendingAcceptance" }, Blackhole, "tgw-attach-0spoke", "",
			head + " → tgw-attach-0spoke (pendingAcceptance): the attachment of vpc-0a is pendingAcceptance"},
		{"an attachment's state newer than this code", func(s *snapshot.Snapshot) { s.Attachments[1].State = "resting" }, LeavesView, "tgw-attach-0spoke", "",
			head + " → tgw-attach-0spoke (resting): the attachment's state \"resting\" is not known"},
		{"which table is not seen", func(s *snapshot.Snapshot) { s.Attachments[1].Table = "" }, LeavesView, "tgw-0a", "",
			attached + ": which of its route tables the attachment uses is not seen"},
		{"to a VPN", func(s *snapshot.Snapshot) { s.Attachments[0].Kind = "vpn" }, LeavesView, "tgw-attach-0hub", "",
			hub + ": what is behind the vpn attachment is not read"},
		{"the hub is not read", func(s *snapshot.Snapshot) { s.Attachments[0].Resource = "vpc-0far" }, LeavesView, "vpc-0far", "",
			attached + " → tgw-rtb-0spoke 0.0.0.0/0 → tgw-attach-0hub (vpc-0far) → vpc-0far: vpc-0far is not read"},
		{"the hub's attachment stands beside its internet gateway", func(s *snapshot.Snapshot) { s.Interfaces[len(s.Interfaces)-1].Subnet = "subnet-0out" }, NoRoute, "rtb-0out", "",
			hub + " → subnet-0out → rtb-0out 0.0.0.0/0 → igw-0hub: igw-0hub carries nothing that comes from another VPC without a NAT gateway"},
		{"where the hub's attachment stands is not read", func(s *snapshot.Snapshot) { w.Without(s, snapshot.Interfaces) }, LeavesView, "tgw-attach-0hub", snapshot.Interfaces,
			hub + ": in which subnets of vpc-0hub the attachment stands is not read"},
		{"the NAT gateway's table has no row back", func(s *snapshot.Snapshot) {
			table := w.Table(s, "rtb-0out")
			table.Routes = table.Routes[:2]
		}, NoRoute, "rtb-0out", "", hub + " → subnet-0in → rtb-0in 0.0.0.0/0 → nat-0hub (available): rtb-0out has no row that leads answers back to 10.42.192.0/19"},
		{"no rows back, and the gateway translates addresses on the nodes' attachment", func(s *snapshot.Snapshot) {
			without("tgw-rtb-0hub")(s)
			table := w.Table(s, "rtb-0out")
			table.Routes = table.Routes[:2]
			s.Attachments[1].Translates = true
		}, Reaches, "igw-0hub", "", hub + " → subnet-0in → rtb-0in 0.0.0.0/0 → nat-0hub (available) → subnet-0out → rtb-0out 0.0.0.0/0 → igw-0hub"},
		{"no row back, and the gateway translates addresses on the hub's attachment", func(s *snapshot.Snapshot) {
			without("tgw-rtb-0hub")(s)
			s.Attachments[0].Translates = true
		}, Reaches, "igw-0hub", "", hub + " → subnet-0in → rtb-0in 0.0.0.0/0 → nat-0hub (available) → subnet-0out → rtb-0out 0.0.0.0/0 → igw-0hub"},
		{"a ring of two", func(s *snapshot.Snapshot) {
			w.Table(s, "rtb-0in").Routes[1] = w.To("0.0.0.0/0", snapshot.ToTransitGateway, "tgw-0a")
			s.TransitRoutes = append(s.TransitRoutes, snapshot.TransitRoute{Table: "tgw-rtb-0hub", Destination: netip.MustParsePrefix("0.0.0.0/0"), State: "active", Attachments: []string{"tgw-attach-0hub"}})
		}, NoRoute, "tgw-rtb-0hub", "", hub + " → subnet-0in → rtb-0in 0.0.0.0/0 → tgw-0a (transit gateway) → tgw-attach-0hub (available) → tgw-rtb-0hub 0.0.0.0/0 → tgw-attach-0hub (vpc-0hub) → subnet-0in → rtb-0in 0.0.0.0/0 → tgw-0a (transit gateway) → tgw-attach-0hub (available): the way leads in a ring"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := spoke()
			tt.change(s)
			got := New(s).Internet(w.Private)
			if got.Verdict != tt.verdict || got.At != tt.at || got.Unread != tt.unread {
				t.Errorf("Internet = %q at %q (unread %q), want %q at %q (%q)", got.Verdict, got.At, got.Unread, tt.verdict, tt.at, tt.unread)
			}
			if got.String() != tt.want {
				t.Errorf("way = %q, want %q", got, tt.want)
			}
		})
	}
}
