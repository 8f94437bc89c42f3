package path

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/snapshot"
	w "rollcall/shared/snapshot/snapshottest"
)

// toHop is how the way from the private subnet begins.
const toHop = "subnet-0private → rtb-0private 0.0.0.0/0 → "

// told is all that a way says.
type told struct {
	Verdict Verdict
	At      string
	Table   string
	Unread  snapshot.Source
	From    string
	Way     string
}

func tell(w Way) told {
	t := told{Verdict: w.Verdict, At: w.At, Table: w.Table, Unread: w.Unread, Way: w.String()}
	for _, a := range w.From {
		t.From += a.String() + " "
	}
	return t
}

// What is said of a NAT gateway: by its state, and by what is behind it.
func TestWaysThroughNAT(t *testing.T) {
	gateway := func(change func(*snapshot.NATGateway)) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { change(&s.NATGateways[0]) }
	}
	public := func(rows ...snapshot.Route) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			w.Table(s, w.PublicRTB).Routes = append([]snapshot.Route{w.Local()}, rows...)
		}
	}
	both := func(list ...func(*snapshot.Snapshot)) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			for _, change := range list {
				change(s)
			}
		}
	}
	isPrivate := gateway(func(g *snapshot.NATGateway) { g.Public = false })
	regional := gateway(func(g *snapshot.NATGateway) { g.Subnet, g.RouteTable, g.Zone = "", "rtb-0regional", "" })
	ownTable := func(s *snapshot.Snapshot) {
		s.RouteTables = append(s.RouteTables, snapshot.RouteTable{ID: "rtb-0regional", VPC: w.VPC, Routes: []snapshot.Route{w.Local(), w.To("0.0.0.0/0",
			snapshot.ToInternetGateway, w.IGW)}})
	}
	gone := w.To("0.0.0.0/0", snapshot.ToInternetGateway, "igw-0old")
	gone.State = blackhole
	for _, test := range []struct {
		name   string
		change func(*snapshot.Snapshot)
		want   told
	}{
		{"as it should be", func(*snapshot.Snapshot) {},
			told{Reaches, "igw-0a", "rtb-0public", "", "203.0.113.7 ", toHop + "nat-0a (available, us-west-2a) → subnet-0public → rtb-0public 0.0.0.0/0 → igw-0a"}},
		{"failed", gateway(func(g *snapshot.NATGateway) { g.State = "failed" }),
			told{NATUnusable, "nat-0a", "rtb-0private", "", "", toHop + "nat-0a (failed, us-west-2a): it has failed"}},
		{"failed, and EC2 says why", gateway(func(g *snapshot.NATGateway) { g.State, g.Failure = "failed", "Subnet has insufficient free addresses" }),
			told{NATUnusable, "nat-0a", "rtb-0private", "", "", toHop + "nat-0a (failed, us-west-2a): it has failed: Subnet has insufficient free addresses"}},
		{"deleting", gateway(func(g *snapshot.NATGateway) { g.State = "deleting" }),
			told{NATUnusable, "nat-0a", "rtb-0private", "", "", toHop + "nat-0a (deleting, us-west-2a): it is being deleted"}},
		{"pending", gateway(func(g *snapshot.NATGateway) { g.State = "pending" }),
			told{NATUnusable, "nat-0a", "rtb-0private", "", "", toHop + "nat-0a (pending, us-west-2a): it is pending"}},
		{"not read", func(s *snapshot.Snapshot) { w.Without(s, snapshot.NATGateways) },
			told{LeavesView, "nat-0a", "rtb-0private", "nat gateways", "", toHop + "nat-0a: the NAT gateways were not read"}},
		{"of another account", func(s *snapshot.Snapshot) { s.NATGateways = nil },
			told{LeavesView, "nat-0a", "rtb-0private", "", "", toHop + "nat-0a: this account cannot see it"}},
		{"its subnet has no route to the internet", public(), told{NATNoInternet, "nat-0a", "rtb-0public", "",
			"", toHop + "nat-0a (available, us-west-2a) → subnet-0public → rtb-0public: the table of its own subnet (rtb-0public) has no way to an internet gateway"}},
		{"its subnet's way out is gone", public(gone), told{NATNoInternet, "nat-0a", "rtb-0public", "",
			"", toHop + "nat-0a (available, us-west-2a) → subnet-0public → rtb-0public 0.0.0.0/0 → igw-0old: the default route of its own subnet is a blackhole (igw-0old)"}},
		{"its subnet's way out leads back", public(w.To("0.0.0.0/0", snapshot.ToNATGateway, w.NAT)),
			told{NATNoInternet, "nat-0a", "rtb-0public", "", "",
				toHop + "nat-0a (available, us-west-2a) → subnet-0public → rtb-0public 0.0.0.0/0 → nat-0a (available, us-west-2a): its own subnet's route leads back to it"}},
		{"its subnet's way out is another NAT gateway that works", both(public(w.To("0.0.0.0/0", snapshot.ToNATGateway, "nat-0b")), func(s *snapshot.Snapshot) {
			s.NATGateways = append(s.NATGateways, snapshot.NATGateway{ID: "nat-0b", State: "available", Public: true, RouteTable: "rtb-0regional"})
			ownTable(s)
		}), told{NATNoInternet, "nat-0a", "rtb-0regional", "", "",
			toHop + "nat-0a (available, us-west-2a) → subnet-0public → rtb-0public 0.0.0.0/0 → nat-0b (available) → rtb-0regional 0.0.0.0/0" +
				" → igw-0a: its own subnet's route leads to nat-0b and not to an internet gateway"}},
		{"its subnet's way out is another NAT gateway that failed", both(public(w.To("0.0.0.0/0", snapshot.ToNATGateway, "nat-0b")), func(s *snapshot.Snapshot) {
			s.NATGateways = append(s.NATGateways, snapshot.NATGateway{ID: "nat-0b", State: "failed", Public: true})
		}), told{NATNoInternet, "nat-0a", "rtb-0public", "", "",
			toHop + "nat-0a (available, us-west-2a) → subnet-0public → rtb-0public 0.0.0.0/0" +
				" → nat-0b (failed): its own subnet's route leads to nat-0b and not to an internet gateway"}},
		{"its subnet's way out leaves view", public(w.To("0.0.0.0/0", snapshot.ToLocalGateway, "lgw-0a")),
			told{LeavesView, "lgw-0a", "rtb-0public", "", "",
				toHop + "nat-0a (available, us-west-2a) → subnet-0public → rtb-0public 0.0.0.0/0 → lgw-0a (local gateway): what is behind the local gateway is not read"}},
		{"its subnet has the main table, which has no route to the internet", func(s *snapshot.Snapshot) { w.Table(s, w.PublicRTB).Subnets = nil },
			told{NATNoInternet, "nat-0a", "rtb-0main", "", "",
				toHop + "nat-0a (available, us-west-2a) → subnet-0public → rtb-0main (main table): the table of its own subnet (rtb-0main) has no way to an internet gateway"}},
		{"its own row is a blackhole", func(s *snapshot.Snapshot) {
			rows := w.Table(s, w.PrivateRTB).Routes
			rows[slices.IndexFunc(rows, func(r snapshot.Route) bool { return r.Target.ID == w.NAT })].State = blackhole
		}, told{Blackhole, "nat-0a", "rtb-0private", "", "", toHop + "nat-0a (available, us-west-2a): blackhole"}},
		{"regional", both(regional, ownTable), told{Reaches, "igw-0a", "rtb-0regional", "", "203.0.113.7 ",
			toHop + "nat-0a (available) → rtb-0regional 0.0.0.0/0 → igw-0a"}},
		{"regional, and its table was not read", regional, told{LeavesView, "rtb-0regional", "rtb-0private", "", "",
			toHop + "nat-0a (available): this route table was not read"}},
		{"neither in a subnet nor with a table", gateway(func(g *snapshot.NATGateway) { g.Subnet = "" }),
			told{LeavesView, "nat-0a", "rtb-0private", "", "", toHop + "nat-0a (available, us-west-2a): its route table is not known"}},
		{"private, to an internet gateway", isPrivate, told{NATUnusable, "nat-0a", "rtb-0public", "",
			"",
			toHop + "nat-0a (available, private, us-west-2a) → subnet-0public → rtb-0public 0.0.0.0/0" +
				" → igw-0a: it is a private NAT gateway, and nothing behind it leads to the internet"}},
		{"private, without a route to the internet", both(isPrivate, public()), told{NATUnusable, "nat-0a", "rtb-0public", "",
			"",
			toHop + "nat-0a (available, private, us-west-2a) → subnet-0public → rtb-0public: it is a private NAT gateway, and nothing behind it leads to the internet"}},
		{"private, to one that works", both(isPrivate, public(w.To("0.0.0.0/0", snapshot.ToNATGateway, "nat-0b")), func(s *snapshot.Snapshot) {
			s.NATGateways = append(s.NATGateways, snapshot.NATGateway{ID: "nat-0b", State: "available", Public: true, RouteTable: "rtb-0regional"})
			ownTable(s)
		}), told{Reaches, "igw-0a", "rtb-0regional", "", "",
			toHop + "nat-0a (available, private, us-west-2a) → subnet-0public → rtb-0public 0.0.0.0/0 → nat-0b (available) → rtb-0regional 0.0.0.0/0 → igw-0a"}},
		{"private, to one that failed", both(isPrivate, public(w.To("0.0.0.0/0", snapshot.ToNATGateway, "nat-0b")), func(s *snapshot.Snapshot) {
			s.NATGateways = append(s.NATGateways, snapshot.NATGateway{ID: "nat-0b", State: "failed", Public: true})
		}), told{NATUnusable, "nat-0b", "rtb-0public", "", "",
			toHop + "nat-0a (available, private, us-west-2a) → subnet-0public → rtb-0public 0.0.0.0/0 → nat-0b (failed): it has failed"}},
		{"private, and back to itself", both(isPrivate, public(w.To("0.0.0.0/0", snapshot.ToNATGateway, w.NAT))),
			told{NATUnusable, "nat-0a", "rtb-0public", "", "",
				toHop + "nat-0a (available, private, us-west-2a) → subnet-0public → rtb-0public 0.0.0.0/0" +
					" → nat-0a (available, private, us-west-2a): it is a private NAT gateway, and nothing behind it leads to the internet"}},
		{"private, and out of view", both(isPrivate, public(w.To("0.0.0.0/0", snapshot.ToLocalGateway, "lgw-0a"))),
			told{LeavesView, "lgw-0a", "rtb-0public", "", "",
				toHop + "nat-0a (available, private, us-west-2a) → subnet-0public → rtb-0public 0.0.0.0/0 → lgw-0a (local gateway): what is behind the local gateway is not read"}},
		{"private, to a gateway that is not attached", both(isPrivate, public(w.To("0.0.0.0/0", snapshot.ToInternetGateway, "igw-0other")), func(s *snapshot.Snapshot) {
			s.InternetGateways = append(s.InternetGateways, snapshot.InternetGateway{ID: "igw-0other", Attached: []string{"vpc-0other"}})
		}), told{Detached, "igw-0other", "rtb-0public", "", "",
			toHop + "nat-0a (available, private, us-west-2a) → subnet-0public → rtb-0public 0.0.0.0/0 → igw-0other: it is not attached to vpc-0a"}},
	} {
		s := w.PrivateWithNAT()
		test.change(s)
		if diff := cmp.Diff(test.want, tell(New(s).Internet(w.Private))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}
