package path

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rollcall/shared/snapshot"
	w "rollcall/shared/snapshot/snapshottest"
)

func prefix(s string) netip.Prefix { return netip.MustParsePrefix(s) }

var byValue = cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{})

// States are AWS's words (EC2, NatGateway, InstanceState,
// TransitGatewayVpcAttachment, VpcEndpoint); of one that is new nothing is said.
func TestStates(t *testing.T) {
	for _, state := range []string{"stopped", "stopping", "shutting-down", "terminated"} {
		if !down(state) {
			t.Errorf("an instance that is %s forwards", state)
		}
	}
	for _, state := range []string{"running", "pending", "resting", ""} {
		if down(state) {
			t.Errorf("an instance that is %q forwards nothing", state)
		}
	}
	for _, state := range []string{"pending", "pendingAcceptance", "deleting", "Deleted", "rejected", "failed", "expired"} {
		if !gone(state) {
			t.Errorf("an endpoint that is %s passes traffic", state)
		}
	}
	for _, state := range []string{"available", "Available", "resting", ""} {
		if gone(state) {
			t.Errorf("an endpoint that is %q passes nothing", state)
		}
	}
	for state, want := range map[string][2]bool{
		"available": {true, true}, "modifying": {true, true}, "resting": {false, false}, "": {false, false},
		"initiating": {false, true}, "initiatingRequest": {false, true}, "pendingAcceptance": {false, true}, "rollingBack": {false, true}, "pending": {false, true},
		"deleting": {false, true}, "deleted": {false, true}, "failed": {false, true}, "failing": {false, true}, "rejected": {false, true}, "rejecting": {false, true},
	} {
		if usable, known := attached(state); usable != want[0] || known != want[1] {
			t.Errorf("an attachment that is %q: usable %v, known %v, want %v", state, usable, known, want)
		}
	}
}

func TestPublic(t *testing.T) {
	for _, of := range []string{"10.0.0.0/8", "10.1.0.0/16", "172.16.0.0/12", "172.31.255.0/24", "192.168.0.0/16", "100.64.0.0/10", "169.254.169.254/32", "64:ff9b::/96",
		"fd00::/8"} {
		if public(prefix(of)) {
			t.Errorf("%s is taken for the internet", of)
		}
	}
	for _, of := range []string{"0.0.0.0/0", "0.0.0.0/1", "172.0.0.0/8", "192.0.0.0/8", "100.0.0.0/8", "8.8.8.8/32", "172.32.0.0/16", "2600::/12", "::/0", "3fff::/16"} {
		if !public(prefix(of)) {
			t.Errorf("%s is not taken for the internet", of)
		}
	}
	if public(netip.Prefix{}) {
		t.Error("no prefix is taken for the internet")
	}
	// The two halves are the whole, and the global range is a third of a bit.
	if diff := cmp.Diff([]netip.Prefix{prefix("0.0.0.0/1"), prefix("128.0.0.0/1")}, halves(), byValue); diff != "" {
		t.Errorf("halves (-want +got):\n%s", diff)
	}
	if got := globalUnicast(); got != prefix("2000::/3") {
		t.Errorf("global unicast %s", got)
	}
}

// Of rows that hold a range the longest counts, of two the static one.
func TestCovering(t *testing.T) {
	static := func(to, id string) snapshot.Route { return w.To(to, snapshot.ToNATGateway, id) }
	learned := func(to, id string) snapshot.Route {
		r := static(to, id)
		r.Origin = "EnableVgwRoutePropagation"
		return r
	}
	listed := snapshot.Route{PrefixList: "pl-1", Target: snapshot.Target{ID: "listed"}}
	lists := Lists{"pl-1": {prefix("10.0.0.0/8"), {}, prefix("10.42.0.0/16")}}
	for _, test := range []struct {
		name string
		rows []snapshot.Route
		want string
	}{
		{"none", nil, ""},
		{"none that holds all of it", []snapshot.Route{static("10.42.1.0/25", "a"), static("10.43.0.0/16", "b"), {}}, ""},
		{"the longest, first", []snapshot.Route{static("10.42.0.0/16", "a"), static("0.0.0.0/0", "b")}, "a"},
		{"the longest, last", []snapshot.Route{static("0.0.0.0/0", "b"), static("10.42.0.0/16", "a")}, "a"},
		{"the range itself", []snapshot.Route{static("10.42.1.0/24", "a")}, "a"},
		{"the default route", []snapshot.Route{static("0.0.0.0/0", "a")}, "a"},
		{"a row that does not fit between", []snapshot.Route{static("0.0.0.0/0", "a"), static("10.43.0.0/16", "x"), static("10.0.0.0/8", "b")}, "b"},
		{"the static one, first", []snapshot.Route{static("10.42.0.0/16", "a"), learned("10.42.0.0/16", "b")}, "a"},
		{"the static one, last", []snapshot.Route{learned("10.42.0.0/16", "b"), static("10.42.0.0/16", "a")}, "a"},
		{"of two static ones the first", []snapshot.Route{static("10.42.0.0/16", "a"), static("10.42.0.0/16", "b")}, "a"},
		{"of two learned ones the first", []snapshot.Route{learned("10.42.0.0/16", "a"), learned("10.42.0.0/16", "b")}, "a"},
		{"a longer learned one", []snapshot.Route{static("10.0.0.0/8", "a"), learned("10.42.0.0/16", "b")}, "b"},
		{"a longer learned one, and a shorter static one after it", []snapshot.Route{learned("10.42.0.0/16", "b"), static("10.0.0.0/8", "a")}, "b"},
		{"the longest of a list", []snapshot.Route{static("10.0.0.0/12", "a"), listed}, "listed"},
	} {
		row, ok := covering(test.rows, prefix("10.42.1.0/24"), lists)
		if row.Target.ID != test.want || ok != (test.want != "") {
			t.Errorf("%s: %q (%v), want %q", test.name, row.Target.ID, ok, test.want)
		}
	}
	transit := func(list ...string) (rows []snapshot.TransitRoute) {
		for i, to := range list {
			r := snapshot.TransitRoute{State: fmt.Sprint(i)}
			if to != "" {
				r.Destination = prefix(to)
			}
			rows = append(rows, r)
		}
		return rows
	}
	for _, test := range []struct {
		rows []snapshot.TransitRoute
		want string
	}{
		{transit(), ""}, {transit("", "10.42.1.0/25"), ""}, {transit("0.0.0.0/0"), "0"}, {transit("0.0.0.0/0", "", "10.42.0.0/16", "10.0.0.0/8"), "2"},
		{transit("10.42.0.0/16", "10.42.0.0/16"), "0"},
	} {
		if row, ok := coveringTransit(test.rows, prefix("10.42.1.0/24")); row.State != test.want || ok != (test.want != "") {
			t.Errorf("%v: row %q (%v), want %q", test.rows, row.State, ok, test.want)
		}
	}
}

// What looks up says whether it found, and what.
func TestLookUps(t *testing.T) {
	s := w.PrivateWithNAT()
	s.Interfaces = append(s.Interfaces, snapshot.Interface{ID: "", Subnet: "none"}, snapshot.Interface{ID: "eni-0x", Subnet: w.Public})
	s.Instances = append(s.Instances, snapshot.Instance{ID: "", Subnet: "none"}, snapshot.Instance{ID: "i-0x", Subnet: w.Public})
	s.Endpoints = []snapshot.Endpoint{{ID: "vpce-0i", Kind: "Interface"}, {ID: "vpce-0g", Kind: "gateway"}}
	n := New(s)
	if got, ok := n.Subnet(w.Private); !ok || got.ID != w.Private {
		t.Errorf("subnet %+v, %v", got, ok)
	}
	if got, ok := n.Subnet("subnet-0none"); ok {
		t.Errorf("no subnet is %+v", got)
	}
	if got, ok := n.NAT(w.NAT); !ok || got.ID != w.NAT {
		t.Errorf("NAT gateway %+v, %v", got, ok)
	}
	if _, ok := n.NAT("nat-0none"); ok {
		t.Error("no NAT gateway is found")
	}
	if got, ok := n.Gateway(w.VPC); !ok || got.ID != w.IGW {
		t.Errorf("gateway %+v, %v", got, ok)
	}
	if _, ok := n.Gateway("vpc-0none"); ok {
		t.Error("a VPC without a gateway has one")
	}
	if got, ok := n.networkInterface(s.Interfaces[0].ID); !ok || got.ID != s.Interfaces[0].ID {
		t.Errorf("the first interface: %+v, %v", got, ok)
	}
	if got, ok := n.networkInterface("eni-0x"); !ok || got.Subnet != w.Public {
		t.Errorf("interface %+v, %v", got, ok)
	}
	if got, ok := n.instance("i-0x"); !ok || got.Subnet != w.Public {
		t.Errorf("instance %+v, %v", got, ok)
	}
	for _, id := range []string{"", "eni-0none", "i-0none"} {
		if _, ok := n.networkInterface(id); ok {
			t.Errorf("interface %q is found", id)
		}
		if _, ok := n.instance(id); ok {
			t.Errorf("instance %q is found", id)
		}
	}
	for id, want := range map[string]bool{"vpce-0g": true, "vpce-0i": false, "vpce-0none": false} {
		if got := n.gatewayEndpoint(id); got != want {
			t.Errorf("%s is a gateway endpoint: %v", id, got)
		}
	}
	table := snapshot.RouteTable{ID: "rtb-0a", Routes: []snapshot.Route{w.To("10.0.0.0/8", snapshot.ToEndpoint, "vpce-0a")}}
	for _, test := range []struct {
		endpoint snapshot.Endpoint
		want     bool
	}{
		{snapshot.Endpoint{ID: "vpce-0a"}, true}, {snapshot.Endpoint{ID: "vpce-0b", RouteTables: []string{"rtb-0a"}}, true},
		{snapshot.Endpoint{ID: "vpce-0b", RouteTables: []string{"rtb-0b"}}, false},
	} {
		if got := InTable(test.endpoint, table); got != test.want {
			t.Errorf("%+v is in the table: %v", test.endpoint, got)
		}
	}
	way := Way{Hops: []Hop{{ID: "a"}, {ID: "b"}, {ID: "a"}, {ID: "c"}}}
	if diff := cmp.Diff([]string{"a", "b", "c"}, way.Resources()); diff != "" {
		t.Errorf("resources (-want +got):\n%s", diff)
	}
}

// The gateways of the zone come first, regional ones are at home in each, and
// only those of the VPC that are public and work are told.
func TestWorkingNATsInOrder(t *testing.T) {
	s := w.PrivateWithNAT()
	good := s.NATGateways[0]
	other := func(id string, change func(*snapshot.NATGateway)) snapshot.NATGateway {
		g := good
		g.ID = id
		change(&g)
		return g
	}
	s.NATGateways = []snapshot.NATGateway{
		other("nat-0elsewhere", func(g *snapshot.NATGateway) { g.VPC = "vpc-0other" }),
		other("nat-0private", func(g *snapshot.NATGateway) { g.Public = false }),
		other("nat-0failed", func(g *snapshot.NATGateway) { g.State = "failed" }),
		other("nat-0d", func(g *snapshot.NATGateway) { g.Zone = "us-west-2b" }),
		other("nat-0c", func(g *snapshot.NATGateway) { g.Zone = "us-west-2b" }),
		other("nat-0b", func(g *snapshot.NATGateway) { g.RouteTable = w.PublicRTB; g.Subnet = ""; g.Zone = "" }),
		other("nat-0z", func(g *snapshot.NATGateway) { g.Zone = "" }), // that of its subnet
	}
	var got []string
	for _, g := range New(s).WorkingNATs(w.VPC, "us-west-2a") {
		got = append(got, g.ID+" "+g.Zone)
	}
	if diff := cmp.Diff([]string{"nat-0b ", "nat-0z us-west-2a", "nat-0c us-west-2b", "nat-0d us-west-2b"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Of answers: which table has a way back, and what is not known is taken for
// good.
func TestAnswers(t *testing.T) {
	source := walk{source: prefix("10.42.1.0/24"), via: "tgw-0a"}
	table := func(rows ...snapshot.Route) Table {
		return Table{RouteTable: snapshot.RouteTable{ID: "rtb-0x", Routes: rows}}
	}
	for _, test := range []struct {
		name string
		walk walk
		rows []snapshot.Route
		want bool
	}{
		{"a way back", source, []snapshot.Route{w.To("10.0.0.0/8", snapshot.ToTransitGateway, "tgw-0a")}, false},
		{"none", source, nil, true},
		{"none, and it came by no transit gateway", walk{source: source.source}, nil, false},
		{"none, and nobody knows from where it came", walk{via: "tgw-0a"}, nil, false},
		{"a part of the local range", source, []snapshot.Route{w.To("10.42.1.0/25", snapshot.ToLocal, "local")}, true},
		{"a row that holds none of it", source, []snapshot.Route{w.To("10.43.0.0/16", snapshot.ToTransitGateway, "tgw-0a")}, true},
		{"a row of no range", source, []snapshot.Route{{Target: snapshot.Target{Kind: snapshot.ToTransitGateway}}}, true},
		{"by an egress-only gateway", source, []snapshot.Route{w.To("10.0.0.0/8", snapshot.ToEgressOnly, "eigw-0a")}, true},
	} {
		way, got := New(w.PrivateWithNAT()).backFrom(table(test.rows...), test.walk)
		if got != test.want {
			t.Errorf("%s: broken %v", test.name, got)
		}
		if want := (Way{Verdict: NoRoute, At: "rtb-0x", Table: "rtb-0x", Reason: "rtb-0x has no row that leads answers back to 10.42.1.0/24"}); got && way.String() != want.String() {
			t.Errorf("%s: %s, want %s", test.name, way, want)
		}
	}
	// A list that was read holds what it holds.
	s := w.PrivateWithNAT()
	s.PrefixLists = []snapshot.PrefixList{{ID: "pl-0a", CIDRs: []netip.Prefix{prefix("10.43.0.0/16")}}}
	listed := snapshot.Route{PrefixList: "pl-0a", State: "active", Target: snapshot.Target{Kind: snapshot.ToTransitGateway}}
	if _, broken := New(s).backFrom(table(listed), source); !broken {
		t.Error("a list that does not hold it leads back")
	}

	for _, test := range []struct {
		name   string
		change func(*snapshot.Snapshot)
		walk   walk
		table  string
		want   bool
	}{
		{"a row back", func(*snapshot.Snapshot) {}, walk{source: prefix("10.42.192.0/19")}, "tgw-rtb-0hub", false},
		{"a row that is gone", func(s *snapshot.Snapshot) { s.TransitRoutes[0].State = blackhole }, walk{source: prefix("10.42.192.0/19")}, "tgw-rtb-0hub", true},
		{"a row that holds a part", func(*snapshot.Snapshot) {}, walk{source: prefix("10.0.0.0/8")}, "tgw-rtb-0hub", true},
		{"from nowhere that is known", func(*snapshot.Snapshot) {}, walk{}, "tgw-rtb-0hub", false},
		{"a table of no rows", func(*snapshot.Snapshot) {}, walk{source: prefix("10.0.0.0/8")}, "tgw-rtb-0x", false},
		{"no table", func(s *snapshot.Snapshot) { s.TransitRoutes[0].Table = "" }, walk{source: prefix("10.0.0.0/8")}, "", false},
		{"a table that could not be read", func(s *snapshot.Snapshot) { s.Lack(snapshot.TransitGateways, "tgw-rtb-0hub", snapshot.Failure{}) }, walk{source: prefix("10.0.0.0/8")},
			"tgw-rtb-0hub", false},
	} {
		s := spoke()
		test.change(s)
		way, got := New(s).backThrough(snapshot.Attachment{Table: test.table}, test.walk)
		if got != test.want || got && (way.Verdict != NoRoute || way.At != test.table || way.Table != test.table) {
			t.Errorf("%s: broken %v: %+v", test.name, got, way)
		}
	}
}

// One of the control plane's interfaces that can answer is enough.
func TestAnsweredByTheControlPlane(t *testing.T) {
	reaches := Way{Verdict: Reaches, At: w.VPC, Hops: []Hop{{ID: "subnet-0far"}, {ID: w.VPC}}}
	from := walk{source: prefix("10.99.0.0/16")}
	back := w.To("10.99.0.0/16", snapshot.ToTransitGateway, "tgw-0a")
	for _, test := range []struct {
		name   string
		tables []string // that lead back
		walk   walk
		change func(*snapshot.Snapshot)
		want   Verdict
	}{
		{"both lead back", []string{w.PrivateRTB, w.PublicRTB}, from, func(*snapshot.Snapshot) {}, Reaches},
		{"one does", []string{w.PrivateRTB}, from, func(*snapshot.Snapshot) {}, Reaches},
		{"the other does", []string{w.PublicRTB}, from, func(*snapshot.Snapshot) {}, Reaches},
		{"none does", nil, from, func(*snapshot.Snapshot) {}, NoRoute},
		{"none does, from nowhere that is known", nil, walk{}, func(*snapshot.Snapshot) {}, Reaches},
		{"none does, and one is not known", nil, from, func(s *snapshot.Snapshot) { s.Cluster.Subnets = append(s.Cluster.Subnets, "subnet-0none") }, Reaches},
		{"no subnets are known", nil, from, func(s *snapshot.Snapshot) { s.Cluster.Subnets = nil }, Reaches},
	} {
		s := w.PrivateWithNAT()
		s.Cluster.Subnets = []string{w.Private, w.Public}
		for _, id := range test.tables {
			w.Table(s, id).Routes = append(w.Table(s, id).Routes, back)
		}
		test.change(s)
		got := New(s).answered(reaches, test.walk, "tgw-0a")
		if got.Verdict != test.want || len(got.Hops) != 2 || got.Hops[1].ID != w.VPC || test.want == NoRoute && got.At != w.PrivateRTB {
			t.Errorf("%s: %s at %s, %v, want %s", test.name, got.Verdict, got.At, got.Hops, test.want)
		}
	}
}
