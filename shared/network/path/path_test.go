package path

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rollcall/shared/snapshot"
	w "rollcall/shared/snapshot/snapshottest"
	"rollcall/tools/expect"
)

// A row that EC2 marks as a blackhole says so of a gateway that works; one that
// does not work is judged by what EC2 says of it.
func TestBlackholeOfANATGateway(t *testing.T) {
	for _, tt := range []struct {
		state, row string
		want       Verdict
	}{
		{"available", "active", Reaches},
		{"available", "blackhole", Blackhole},
		{"deleted", "blackhole", NATUnusable},
		{"deleted", "active", NATUnusable},
		{"failed", "blackhole", NATUnusable},
	} {
		s := w.PrivateWithNAT()
		s.NATGateways[0].State = tt.state
		for i, r := range w.Table(s, w.PrivateRTB).Routes {
			if r.Target.Kind == snapshot.ToNATGateway {
				w.Table(s, w.PrivateRTB).Routes[i].State = tt.row
			}
		}
		got := New(s).Internet(w.Private)
		if got.Verdict != tt.want || tt.want != Reaches && got.At != w.NAT {
			t.Errorf("gateway %s, row %s: %s at %s, want %s", tt.state, tt.row, got.Verdict, got.At, tt.want)
		}
	}
}

func TestReturns(t *testing.T) {
	const source = "10.42.1.0/24"
	active := func(kind snapshot.TargetKind, to string) snapshot.Route { return w.To(to, kind, "x-0a") }
	gone := active(snapshot.ToTransitGateway, "10.42.0.0/16")
	gone.State = blackhole
	for name, tt := range map[string]struct {
		rows []snapshot.Route
		want bool
	}{
		"a transit gateway":                 {[]snapshot.Route{active(snapshot.ToTransitGateway, "10.42.0.0/16")}, true},
		"a transit gateway that is gone":    {[]snapshot.Route{gone}, false},
		"one that is gone, and a wider one": {[]snapshot.Route{gone, active(snapshot.ToTransitGateway, "10.0.0.0/8")}, false},
		"the internet":                      {[]snapshot.Route{active(snapshot.ToInternetGateway, "0.0.0.0/0")}, false},
		"a NAT gateway":                     {[]snapshot.Route{active(snapshot.ToNATGateway, "0.0.0.0/0")}, false},
		"the local row":                     {[]snapshot.Route{active(snapshot.ToLocal, "10.42.0.0/16")}, false},
		"parts of it":                       {[]snapshot.Route{active(snapshot.ToTransitGateway, "10.42.1.0/25")}, true},
		"a prefix list that was not read":   {[]snapshot.Route{{PrefixList: "pl-0a", State: "active", Target: snapshot.Target{Kind: snapshot.ToTransitGateway}}}, true},
		"nothing":                           {nil, false},
	} {
		n := New(w.PrivateWithNAT())
		expect.Equal(t, fmt.Sprintf("%s: returns", name), n.returns(Table{RouteTable: snapshot.RouteTable{ID: "rtb-0x", Routes: tt.rows}}, walk{source: netip.MustParsePrefix(source)}), tt.want)
	}
}

// The halves of the internet that take different rows: where both lead there or
// neither does the first speaks for both, else it cannot be told.
func TestTwoHalves(t *testing.T) {
	good := func(half string) snapshot.Route { return w.To(half, snapshot.ToNATGateway, w.NAT) }
	other := func(half string) snapshot.Route { return w.To(half, snapshot.ToNATGateway, "nat-0second") }
	deleted := func(half string) snapshot.Route { return w.To(half, snapshot.ToNATGateway, "nat-0deleted") }
	hidden := func(half string) snapshot.Route { return w.To(half, snapshot.ToNATGateway, "nat-0foreign") }
	gone := func(half string) snapshot.Route {
		r := w.To(half, snapshot.ToNATGateway, "nat-0old")
		r.State = blackhole
		return r
	}
	const low, high = "0.0.0.0/1", "128.0.0.0/1"
	for name, tt := range map[string]struct {
		rows   []snapshot.Route
		want   Verdict
		reason string
	}{
		"one good":                       {[]snapshot.Route{good(low), good(high)}, Reaches, ""},
		"two good":                       {[]snapshot.Route{good(low), other(high)}, Reaches, ""},
		"bad in two ways":                {[]snapshot.Route{gone(low), deleted(high)}, Blackhole, ""},
		"bad in two ways, the other way": {[]snapshot.Route{deleted(low), gone(high)}, NATUnusable, ""},
		"good and bad":                   {[]snapshot.Route{good(low), gone(high)}, LeavesView, "differently"},
		"bad and good":                   {[]snapshot.Route{gone(low), good(high)}, LeavesView, "differently"},
		"bad and not seen":               {[]snapshot.Route{gone(low), hidden(high)}, LeavesView, "differently"},
		"not seen and bad":               {[]snapshot.Route{hidden(low), gone(high)}, LeavesView, "differently"},
		"good and not seen":              {[]snapshot.Route{good(low), hidden(high)}, LeavesView, "differently"},
	} {
		s := w.PrivateWithNAT()
		second, removed := s.NATGateways[0], s.NATGateways[0]
		second.ID = "nat-0second"
		removed.ID, removed.State = "nat-0deleted", "deleted"
		s.NATGateways = append(s.NATGateways, second, removed)
		w.Table(s, w.PrivateRTB).Routes = append([]snapshot.Route{w.Local()}, tt.rows...)
		got := New(s).Internet(w.Private)
		if got.Verdict != tt.want || !strings.Contains(got.Reason, tt.reason) {
			t.Errorf("%s: %s (%s), want %s %q", name, got.Verdict, got.Reason, tt.want, tt.reason)
		}
	}
}

// Both halves lead to the internet, by the gateways of two VPCs.
func TestTwoHalvesBothGood(t *testing.T) {
	s := spoke()
	w.Table(s, w.PrivateRTB).Routes = []snapshot.Route{
		w.Local(), w.To("0.0.0.0/1", snapshot.ToTransitGateway, "tgw-0a"), w.To("128.0.0.0/1", snapshot.ToNATGateway, w.NAT),
	}
	if got := New(s).Internet(w.Private); got.Verdict != Reaches || got.At != "igw-0hub" {
		t.Errorf("Internet = %s at %s (%s), want that of the first half", got.Verdict, got.At, got.Reason)
	}
}

// What is said of an instance that forwards: by its interface, by itself, and
// by the way out of its own subnet.
func TestWaysThroughAppliances(t *testing.T) {
	// The row names the interface, the instance, or both.
	to := func(id, instance, state string) func(*snapshot.Snapshot) {
		return rows(snapshot.Route{Destination: prefix("0.0.0.0/0"), State: state, Target: snapshot.Target{Kind: snapshot.ToInterface, ID: id, Instance: instance}})
	}
	eni := func(change func(*snapshot.Interface)) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			e := snapshot.Interface{ID: "eni-0nat", VPC: w.VPC, Subnet: w.Public, Status: "in-use", Kind: "interface", Instance: "i-0nat",
				PublicIP: netip.MustParseAddr("203.0.113.20")}
			change(&e)
			s.Interfaces = append(s.Interfaces, e)
		}
	}
	instance := func(state string, change func(*snapshot.Instance)) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			i := snapshot.Instance{ID: "i-0nat", VPC: w.VPC, Subnet: w.Public, State: state, Interfaces: []string{"eni-0nat"}, PublicIP: netip.MustParseAddr("203.0.113.21")}
			change(&i)
			s.Instances = append(s.Instances, i)
		}
	}
	plain, same := func(*snapshot.Interface) {}, func(*snapshot.Instance) {}
	for _, test := range []struct {
		name   string
		change []func(*snapshot.Snapshot)
		want   told
	}{
		{"its interface alone", []func(*snapshot.Snapshot){to("eni-0nat", "", "active"), eni(plain)},
			told{Reaches, "igw-0a", "rtb-0public", "", "203.0.113.20 ",
				toHop + "eni-0nat (network interface of i-0nat) → subnet-0public → rtb-0public 0.0.0.0/0 → igw-0a"}},
		{"its interface, and the instance runs", []func(*snapshot.Snapshot){to("eni-0nat", "", "active"), eni(plain), instance("running", same)},
			told{Reaches, "igw-0a", "rtb-0public", "", "203.0.113.20 ",
				toHop + "eni-0nat (network interface of i-0nat, running) → subnet-0public → rtb-0public 0.0.0.0/0 → igw-0a"}},
		{"the instance is stopped", []func(*snapshot.Snapshot){to("eni-0nat", "", "active"), eni(plain), instance("stopped", same)},
			told{NATInstance, "eni-0nat", "rtb-0private", "", "", toHop + "eni-0nat (network interface of i-0nat, stopped): i-0nat is stopped"}},
		{"the instance is terminated, and the row is a blackhole", []func(*snapshot.Snapshot){to("eni-0nat", "", blackhole), eni(plain), instance("terminated", same)},
			told{Blackhole, "eni-0nat", "rtb-0private", "", "", toHop + "eni-0nat (network interface of i-0nat, terminated): blackhole"}},
		{"the instance runs, and the row is a blackhole", []func(*snapshot.Snapshot){to("eni-0nat", "", blackhole), eni(plain), instance("running", same)},
			told{NATInstance, "eni-0nat", "rtb-0private", "", "",
				toHop + "eni-0nat (network interface of i-0nat, running): EC2 marks the route as a blackhole: its instance is not running"}},
		{"nothing is read, and the row is a blackhole", []func(*snapshot.Snapshot){to("eni-0nat", "", blackhole)},
			told{Blackhole, "eni-0nat", "rtb-0private", "", "", toHop + "eni-0nat (network interface): blackhole"}},
		{"nothing is read", []func(*snapshot.Snapshot){to("eni-0nat", "", "active")},
			told{LeavesView, "eni-0nat", "rtb-0private", "", "", toHop + "eni-0nat (network interface): what is behind the network interface is not read"}},
		{"interfaces could not be read", []func(*snapshot.Snapshot){to("eni-0nat", "", "active"), func(s *snapshot.Snapshot) { w.Without(s, snapshot.Interfaces) }},
			told{LeavesView, "eni-0nat", "rtb-0private", "network interfaces", "",
				toHop + "eni-0nat (network interface): what is behind the network interface is not read"}},
		{"the row names only the instance", []func(*snapshot.Snapshot){to("", "i-0nat", "active"), instance("running", same)},
			told{Reaches, "igw-0a", "rtb-0public", "", "203.0.113.21 ",
				toHop + "i-0nat (network interface of i-0nat, running) → subnet-0public → rtb-0public 0.0.0.0/0 → igw-0a"}},
		{"the row names only the instance, and its check is on", []func(*snapshot.Snapshot){to("", "i-0nat",
			"active"), instance("running", func(i *snapshot.Instance) { i.SourceCheck = true })}, told{NATInstance, "i-0nat", "rtb-0private", "", "",
			toHop + "i-0nat (network interface of i-0nat, running): its source/destination check is on, so EC2 drops what it forwards"}},
		{"the interface is not read, and is the instance's first", []func(*snapshot.Snapshot){to("eni-0nat", "i-0nat", "active"), instance("running", same)},
			told{Reaches, "igw-0a", "rtb-0public", "", "203.0.113.21 ",
				toHop + "eni-0nat (network interface of i-0nat, running) → subnet-0public → rtb-0public 0.0.0.0/0 → igw-0a"}},
		{"the interface is not read, and is the instance's second", []func(*snapshot.Snapshot){to("eni-0nat", "i-0nat",
			"active"), instance("running", func(i *snapshot.Instance) { i.Interfaces = []string{"eni-0first", "eni-0nat"} })}, told{LeavesView, "eni-0nat", "rtb-0private", "", "",
			toHop + "eni-0nat (network interface of i-0nat, running): what is behind the network interface is not read"}},
		{"the interface is not read, and the instance has none", []func(*snapshot.Snapshot){to("eni-0nat", "i-0nat",
			"active"), instance("running", func(i *snapshot.Instance) { i.Interfaces = nil })}, told{LeavesView, "eni-0nat", "rtb-0private", "", "",
			toHop + "eni-0nat (network interface of i-0nat, running): what is behind the network interface is not read"}},
		{"the interface is not read, is the second, and the instance is stopped",
			[]func(*snapshot.Snapshot){to("eni-0nat", "i-0nat", "active"), instance("stopped", func(i *snapshot.Instance) { i.Interfaces, i.SourceCheck = []string{"eni-0first"}, true })}, told{NATInstance, "eni-0nat", "rtb-0private", "", "",
				toHop + "eni-0nat (network interface of i-0nat, stopped): i-0nat is stopped"}},
		{"attached to nothing", []func(*snapshot.Snapshot){to("eni-0nat", "", "active"), eni(func(e *snapshot.Interface) { e.Status, e.Instance = "available", "" })},
			told{NATInstance, "eni-0nat", "rtb-0private", "", "", toHop + "eni-0nat (network interface): it is not attached to an instance"}},
		{"its check is on, whatever the instance's first has", []func(*snapshot.Snapshot){to("eni-0nat", "",
			"active"), eni(func(e *snapshot.Interface) { e.SourceCheck = true }), instance("running", same)}, told{NATInstance, "eni-0nat", "rtb-0private", "", "",
			toHop + "eni-0nat (network interface of i-0nat, running): its source/destination check is on, so EC2 drops what it forwards"}},
		{"its check is off, whatever the instance's first has", []func(*snapshot.Snapshot){to("eni-0nat", "",
			"active"), eni(plain), instance("running", func(i *snapshot.Instance) { i.SourceCheck = true })}, told{Reaches, "igw-0a", "rtb-0public", "", "203.0.113.20 ",
			toHop + "eni-0nat (network interface of i-0nat, running) → subnet-0public → rtb-0public 0.0.0.0/0 → igw-0a"}},
		{"for high performance", []func(*snapshot.Snapshot){to("eni-0nat", "", "active"), eni(func(e *snapshot.Interface) { e.Kind = "efa" })},
			told{Reaches, "igw-0a", "rtb-0public", "", "203.0.113.20 ",
				toHop + "eni-0nat (network interface of i-0nat) → subnet-0public → rtb-0public 0.0.0.0/0 → igw-0a"}},
		{"its subnet is not known", []func(*snapshot.Snapshot){to("eni-0nat", "", "active"), eni(func(e *snapshot.Interface) { e.Subnet = "" })},
			told{LeavesView, "eni-0nat", "rtb-0private", "", "", toHop + "eni-0nat (network interface of i-0nat): the appliance's own subnet is unknown"}},
		{"it has no public address", []func(*snapshot.Snapshot){to("eni-0nat", "", "active"), eni(func(e *snapshot.Interface) { e.PublicIP = netip.Addr{} })},
			told{LeavesView, "eni-0nat", "rtb-0public", "", "",
				toHop + "eni-0nat (network interface of i-0nat) → subnet-0public → rtb-0public 0.0.0.0/0 → igw-0a: the appliance has no public address on this interface"}},
		{"its subnet leads back to it", []func(*snapshot.Snapshot){to("eni-0nat", "", "active"), eni(func(e *snapshot.Interface) { e.Subnet = w.Private })},
			told{NoRoute, "eni-0nat", "rtb-0private", "", "",
				toHop + "eni-0nat (network interface of i-0nat) → subnet-0private → rtb-0private 0.0.0.0/0 → eni-0nat (network interface of i-0nat): its own subnet's route points back to it"}},
		{"its subnet leads to a NAT gateway that failed", []func(*snapshot.Snapshot){to("eni-0nat", "", "active"), eni(plain), func(s *snapshot.Snapshot) {
			s.NATGateways[0].State = "failed"
			w.Table(s, w.PublicRTB).Routes = []snapshot.Route{w.To("0.0.0.0/0", snapshot.ToNATGateway, w.NAT)}
		}}, told{NATUnusable, "nat-0a", "rtb-0public", "", "",
			toHop + "eni-0nat (network interface of i-0nat) → subnet-0public → rtb-0public 0.0.0.0/0 → nat-0a (failed, us-west-2a): it has failed"}},
		{"a NAT gateway in front of one that is stopped", []func(*snapshot.Snapshot){eni(plain), instance("stopped", same), func(s *snapshot.Snapshot) {
			w.Table(s, w.PublicRTB).Routes = []snapshot.Route{{Destination: prefix("0.0.0.0/0"), State: "active",
				Target: snapshot.Target{Kind: snapshot.ToInterface, ID: "eni-0nat"}}}
		}}, told{NATInstance, "eni-0nat", "rtb-0public", "", "",
			toHop + "nat-0a (available, us-west-2a) → subnet-0public → rtb-0public 0.0.0.0/0 → eni-0nat (network interface of i-0nat, stopped): i-0nat is stopped"}},
		{"a NAT gateway in front of a gateway that is not attached", []func(*snapshot.Snapshot){func(s *snapshot.Snapshot) { s.InternetGateways[0].Attached = nil }},
			told{Detached, "igw-0a", "rtb-0public", "", "",
				toHop + "nat-0a (available, us-west-2a) → subnet-0public → rtb-0public 0.0.0.0/0 → igw-0a: it is not attached to vpc-0a"}},
		{"a firewall endpoint that is deleted", []func(*snapshot.Snapshot){rows(w.To("0.0.0.0/0", snapshot.ToEndpoint, "vpce-0fw")), func(s *snapshot.Snapshot) {
			s.Endpoints = []snapshot.Endpoint{{ID: "vpce-0fw", Kind: "GatewayLoadBalancer", State: "deleted"}}
		}}, told{Blackhole, "vpce-0fw", "rtb-0private", "", "", toHop + "vpce-0fw (GatewayLoadBalancer endpoint, deleted): the endpoint is deleted"}},
		{"a firewall endpoint that works", []func(*snapshot.Snapshot){rows(w.To("0.0.0.0/0", snapshot.ToEndpoint, "vpce-0fw")), func(s *snapshot.Snapshot) {
			s.Endpoints = []snapshot.Endpoint{{ID: "vpce-0fw", Kind: "GatewayLoadBalancer", State: "available"}}
		}}, told{LeavesView, "vpce-0fw", "rtb-0private", "", "",
			toHop + "vpce-0fw (GatewayLoadBalancer endpoint, available): what is behind the vpc endpoint is not read"}},
		{"an endpoint that is not read", []func(*snapshot.Snapshot){rows(w.To("0.0.0.0/0", snapshot.ToEndpoint, "vpce-0fw"))},
			told{LeavesView, "vpce-0fw", "rtb-0private", "", "", toHop + "vpce-0fw (vpc endpoint): what is behind the vpc endpoint is not read"}},
		{"an egress-only gateway", []func(*snapshot.Snapshot){rows(w.To("0.0.0.0/0", snapshot.ToEgressOnly, "eigw-0a"))},
			told{NoRoute, "rtb-0private", "rtb-0private", "", "",
				toHop + "eigw-0a (egress-only internet gateway): an egress-only internet gateway carries IPv6 to the internet only"}},
		{"a peering connection that is gone", []func(*snapshot.Snapshot){rows(w.To("0.0.0.0/0", snapshot.ToPeering, "pcx-0a")), func(s *snapshot.Snapshot) {
			s.Peerings = []snapshot.Peering{{ID: "pcx-0a", State: "deleted"}}
		}}, told{Blackhole, "pcx-0a", "rtb-0private", "", "", toHop + "pcx-0a (vpc peering connection, deleted): the peering connection is deleted"}},
		{"a peering connection", []func(*snapshot.Snapshot){rows(w.To("0.0.0.0/0", snapshot.ToPeering, "pcx-0a")), func(s *snapshot.Snapshot) {
			s.Peerings = []snapshot.Peering{{ID: "pcx-0a", State: "active"}}
		}}, told{NoRoute, "rtb-0private", "rtb-0private", "", "",
			toHop + "pcx-0a (vpc peering connection, active): pcx-0a is a peering connection, which never reaches the internet"}},
		{"a subnet that is not known", []func(*snapshot.Snapshot){func(s *snapshot.Snapshot) { s.RouteTables = nil }},
			told{LeavesView, "subnet-0private", "", "", "", "subnet-0private: its route table is unknown"}},
	} {
		s := w.PrivateWithNAT()
		for _, change := range test.change {
			change(s)
		}
		expect.Same(t, test.name, tell(New(s).Internet(w.Private)), test.want)
	}
}

// The attachment that a row leads to: one that is seen, or that of another
// account, of which the row itself names the VPC.
func TestNextAttachment(t *testing.T) {
	n := New(spoke())
	for _, test := range []struct {
		row    snapshot.TransitRoute
		want   snapshot.Attachment
		reason string
	}{
		{snapshot.TransitRoute{Attachments: []string{"tgw-attach-0hub"}}, n.s.Attachments[0], ""},
		{snapshot.TransitRoute{Destination: prefix("10.0.0.0/8")}, snapshot.Attachment{}, "its route for 10.0.0.0/8 points to 0 attachments"},
		{snapshot.TransitRoute{Destination: prefix("10.0.0.0/8"), Attachments: []string{"a", "b"}}, snapshot.Attachment{}, "its route for 10.0.0.0/8 points to 2 attachments"},
		{snapshot.TransitRoute{Attachments: []string{"tgw-attach-0x"}, Resources: []string{"vpc-0x"}},
			snapshot.Attachment{ID: "tgw-attach-0x", Gateway: "tgw-0a", Kind: "vpc", Resource: "vpc-0x"}, ""},
		{snapshot.TransitRoute{Attachments: []string{"tgw-attach-0x"}, Resources: []string{"vpn-0x"}}, snapshot.Attachment{}, "its target tgw-attach-0x is not visible"},
		{snapshot.TransitRoute{Attachments: []string{"tgw-attach-0x"}, Resources: []string{"vpc-0x", "vpc-0y"}},
			snapshot.Attachment{}, "its target tgw-attach-0x is not visible"},
		{snapshot.TransitRoute{Attachments: []string{"tgw-attach-0x"}}, snapshot.Attachment{}, "its target tgw-attach-0x is not visible"},
	} {
		got, reason := n.next("tgw-0a", test.row)
		if diff := cmp.Diff(test.want, got); diff != "" || reason != test.reason {
			t.Errorf("%+v: %q, want %q (-want +got):\n%s", test.row, reason, test.reason, diff)
		}
	}
}

// The attachment in use is that of the VPC to the gateway; an older one counts
// only where there is none.
func TestAttachmentInUse(t *testing.T) {
	is := func(id, gateway, kind, resource, state string) snapshot.Attachment {
		return snapshot.Attachment{ID: id, Gateway: gateway, Kind: kind, Resource: resource, State: state}
	}
	for _, test := range []struct {
		name string
		list []snapshot.Attachment
		want string
	}{
		{"none", nil, ""},
		{"of another gateway", []snapshot.Attachment{is("a", "tgw-0b", "vpc", w.VPC, "available")}, ""},
		{"of another kind", []snapshot.Attachment{is("a", "tgw-0a", "vpn", w.VPC, "available")}, ""},
		{"of another VPC", []snapshot.Attachment{is("a", "tgw-0a", "vpc", "vpc-0x", "available")}, ""},
		{"an old one", []snapshot.Attachment{is("a", "tgw-0a", "vpc", w.VPC, "deleted")}, "a"},
		{"an old one first", []snapshot.Attachment{is("a", "tgw-0a", "vpc", w.VPC, "deleted"), is("b", "tgw-0a", "vpc", w.VPC, "available")}, "b"},
		{"an old one last", []snapshot.Attachment{is("b", "tgw-0a", "vpc", w.VPC, "available"), is("a", "tgw-0a", "vpc", w.VPC, "deleted")}, "b"},
		{"behind others", []snapshot.Attachment{is("x", "tgw-0b", "vpc", w.VPC, "available"), is("y", "tgw-0a", "vpc", "vpc-0x", "available"), is("b", "tgw-0a", "vpc", w.VPC,
			"available")}, "b"},
	} {
		s := w.PrivateWithNAT()
		s.Attachments = test.list
		if got, found := New(s).attachment("tgw-0a", w.VPC); got.ID != test.want || found != (test.want != "") {
			t.Errorf("%s: %q (%v), want %q", test.name, got.ID, found, test.want)
		}
	}
}

// An attachment stands where its own interfaces are; where they are not read,
// all of the VPC's subnets that have a table may be meant.
func TestWhereAnAttachmentStands(t *testing.T) {
	a := snapshot.Attachment{ID: "tgw-attach-0hub", Resource: "vpc-0hub"}
	eni := func(vpc, kind, description, subnet string) snapshot.Interface {
		return snapshot.Interface{ID: "eni-" + subnet, VPC: vpc, Kind: kind, Description: description, Subnet: subnet}
	}
	const words = "Network Interface for Transit Gateway Attachment tgw-attach-0hub"
	for _, test := range []struct {
		name  string
		list  []snapshot.Interface
		want  []string
		known bool
	}{
		{"in two", []snapshot.Interface{eni("vpc-0hub", "transit_gateway", words, "b"), eni("vpc-0hub", "transit_gateway", words, "a"), eni("vpc-0hub",
			"transit_gateway", words,
			"b")}, []string{"b", "a"}, true},
		{"of another VPC", []snapshot.Interface{eni("vpc-0x", "transit_gateway", words, "a")}, []string{"subnet-0in", "subnet-0out"}, false},
		{"of another kind", []snapshot.Interface{eni("vpc-0hub", "interface", words, "a")}, []string{"subnet-0in", "subnet-0out"}, false},
		{"of another attachment", []snapshot.Interface{eni("vpc-0hub", "transit_gateway", "tgw-attach-0x", "a")}, []string{"subnet-0in", "subnet-0out"}, false},
		{"not read", nil, []string{"subnet-0in", "subnet-0out"}, false},
	} {
		s := spoke()
		s.Interfaces = test.list
		s.Subnets = append(s.Subnets, snapshot.Subnet{ID: "subnet-0bare", VPC: "vpc-0bare"})
		got, known := New(s).stands(a)
		if diff := cmp.Diff(test.want, got); diff != "" || known != test.known {
			t.Errorf("%s: known %v (-want +got):\n%s", test.name, known, diff)
		}
	}
	s := spoke()
	s.Subnets = append(s.Subnets, snapshot.Subnet{ID: "subnet-0bare", VPC: "vpc-0bare"})
	if got, _ := New(s).stands(snapshot.Attachment{ID: "x", Resource: "vpc-0bare"}); got != nil {
		t.Errorf("subnets without a table: %v", got)
	}
}

// Where the private endpoint of a cluster in another VPC answers.
func TestControlPlaneElsewhere(t *testing.T) {
	const far = "vpc-0far"
	eni := func(vpc, description, address string) snapshot.Interface {
		return snapshot.Interface{VPC: vpc, Description: description, PrivateIPs: []netip.Addr{netip.MustParseAddr(address)}}
	}
	own := "Amazon EKS " + w.ClusterName
	subnets := []snapshot.Subnet{{ID: "subnet-0f", VPC: far, CIDR: prefix("10.60.1.0/24")}, {ID: "subnet-0six", VPC: far}, {ID: "subnet-0x",
		VPC: "vpc-0x", CIDR: prefix("10.61.1.0/24")}}
	for _, test := range []struct {
		name   string
		change func(*snapshot.Snapshot)
		want   []netip.Prefix
	}{
		{"at its interfaces", func(s *snapshot.Snapshot) {
			s.Interfaces = []snapshot.Interface{eni("vpc-0x", own, "10.61.1.9"), eni(far, "Amazon EKS other", "10.60.1.8"), eni(far, own, "10.60.1.9"), eni(far, own, "10.60.2.9")}
		}, []netip.Prefix{prefix("10.60.1.9/32"), prefix("10.60.2.9/32")}},
		{"in its subnets", func(s *snapshot.Snapshot) {
			s.Cluster.Subnets = []string{"subnet-0x", "subnet-0none", "subnet-0six", "subnet-0f"}
		}, []netip.Prefix{prefix("10.60.1.0/24")}},
		{"in its VPC", func(*snapshot.Snapshot) {}, []netip.Prefix{prefix("10.60.0.0/16")}},
		{"nobody knows where", func(s *snapshot.Snapshot) { s.VPCs = nil }, nil},
	} {
		s := w.PrivateWithNAT()
		s.Cluster.VPC, s.Cluster.Subnets, s.Interfaces = far, nil, nil
		s.Subnets = append(s.Subnets, subnets...)
		s.VPCs = []snapshot.VPC{{ID: "vpc-0x", CIDRs: []netip.Prefix{prefix("10.61.0.0/16")}}, {ID: far, CIDRs: []netip.Prefix{prefix("10.60.0.0/16")}}}
		test.change(s)
		n := New(s)
		expect.Same(t, test.name, n.controlPlane(), test.want, byValue)
		table, _ := n.Table(w.Private)
		way := n.crossVPC(w.Private, table)
		if unknown := "the cluster's private endpoint is in vpc-0far, whose addresses are not read"; (way.Reason == unknown) != (test.want == nil) {
			t.Errorf("%s: %s", test.name, way)
		}
	}
}

// A peering connection leads to the VPC of its other end alone.
func TestPeeringToTheCluster(t *testing.T) {
	const far = "vpc-0far"
	for _, test := range []struct {
		name string
		list []snapshot.Peering
		want string
	}{
		{"not read", nil, "leaves view at pcx-0a: the other end of the peering connection is not read"},
		{"the cluster's VPC asked", []snapshot.Peering{{ID: "pcx-0a", State: "active", Requester: snapshot.PeerVPC{VPC: far},
			Accepter: snapshot.PeerVPC{VPC: w.VPC}}}, "reaches at vpc-0far: "},
		{"the cluster's VPC accepted", []snapshot.Peering{{ID: "pcx-0a", State: "Active", Requester: snapshot.PeerVPC{VPC: w.VPC},
			Accepter: snapshot.PeerVPC{VPC: far}}}, "reaches at vpc-0far: "},
		{"to another VPC", []snapshot.Peering{{ID: "pcx-0a", State: "active", Requester: snapshot.PeerVPC{VPC: w.VPC}, Accepter: snapshot.PeerVPC{VPC: "vpc-0x"}}},
			"no route at rtb-0private: pcx-0a does not reach vpc-0far, and peering connections do not forward further"},
		{"not accepted yet", []snapshot.Peering{{ID: "pcx-0a", State: "pending-acceptance", Requester: snapshot.PeerVPC{VPC: w.VPC}, Accepter: snapshot.PeerVPC{VPC: far}}},
			"blackhole at pcx-0a: the peering connection is pending-acceptance"},
	} {
		s := w.PrivateWithNAT()
		rows(w.To("10.60.0.0/16", snapshot.ToPeering, "pcx-0a"))(s)
		s.Peerings, s.Cluster.Subnets = test.list, nil
		n := New(s)
		got := n.from(w.Private, walk{to: []netip.Prefix{prefix("10.60.1.9/32")}, vpc: far, source: n.subnets[w.Private].CIDR})
		if text := string(got.Verdict) + " at " + got.At + ": " + got.Reason; text != test.want {
			t.Errorf("%s: %s, want %s", test.name, text, test.want)
		}
		ends := slices.ContainsFunc(got.Hops, func(h Hop) bool { return h.ID == far })
		if ends != got.Good() {
			t.Errorf("%s: hops %v", test.name, got.Hops)
		}
	}
}

// rows sets the private table's rows beside the local one.
func rows(list ...snapshot.Route) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		w.Table(s, w.PrivateRTB).Routes = append([]snapshot.Route{w.Local()}, list...)
	}
}

func TestHop(t *testing.T) {
	to := func(kind snapshot.TargetKind, id string) snapshot.Route { return w.To("0.0.0.0/0", kind, id) }
	listed := snapshot.Route{PrefixList: "pl-0mine", State: "active", Target: snapshot.Target{Kind: snapshot.ToNATGateway, ID: w.NAT}}
	list := func(cidrs ...string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			rows(listed)(s)
			l := snapshot.PrefixList{ID: "pl-0mine"}
			for _, c := range cidrs {
				l.CIDRs = append(l.CIDRs, netip.MustParsePrefix(c))
			}
			s.PrefixLists = append(s.PrefixLists, l)
		}
	}
	appliance := func(change func(*snapshot.Interface)) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			rows(to(snapshot.ToInterface, "eni-0nat"))(s)
			e := snapshot.Interface{ID: "eni-0nat", VPC: w.VPC, Subnet: w.Public, Status: "in-use", Kind: "interface", Instance: "i-0nat", PublicIP: netip.MustParseAddr("203.0.113.20")}
			change(&e)
			s.Interfaces = append(s.Interfaces, e)
		}
	}
	tests := []struct {
		name   string
		change func(*snapshot.Snapshot)
		want   Verdict
		at     string
	}{
		{"a prefix list with the default route", list("0.0.0.0/0"), Reaches, w.IGW},
		{"a prefix list with the two halves", list("0.0.0.0/1", "128.0.0.0/1"), Reaches, w.IGW},
		{"a prefix list with private ranges", list("10.0.0.0/8"), NoRoute, w.PrivateRTB},
		{"an empty prefix list", list(), NoRoute, w.PrivateRTB},
		{"a prefix list with a part of the internet", list("52.0.0.0/8"), LeavesView, w.NAT},
		{"a prefix list that is not read", rows(listed), LeavesView, w.NAT},
		{"peering connection", rows(to(snapshot.ToPeering, "pcx-0a")), NoRoute, w.PrivateRTB},
		{"egress-only gateway over IPv4", rows(to(snapshot.ToEgressOnly, "eigw-0a")), NoRoute, w.PrivateRTB},
		{"core network", rows(to(snapshot.ToCoreNetwork, "arn:core")), LeavesView, "arn:core"},
		{"local gateway", rows(to(snapshot.ToLocalGateway, "lgw-0a")), LeavesView, "lgw-0a"},
		{"firewall endpoint that is available", func(s *snapshot.Snapshot) {
			rows(to(snapshot.ToEndpoint, "vpce-0fw"))(s)
			s.Endpoints = []snapshot.Endpoint{{ID: "vpce-0fw", Kind: "GatewayLoadBalancer", State: "available"}}
		}, LeavesView, "vpce-0fw"},
		{"firewall endpoint that is pending", func(s *snapshot.Snapshot) {
			rows(to(snapshot.ToEndpoint, "vpce-0fw"))(s)
			s.Endpoints = []snapshot.Endpoint{{ID: "vpce-0fw", Kind: "GatewayLoadBalancer", State: "pending"}}
		}, Blackhole, "vpce-0fw"},
		{"NAT instance", appliance(func(*snapshot.Interface) {}), Reaches, w.IGW},
		{"NAT instance with its check on", appliance(func(e *snapshot.Interface) { e.SourceCheck = true }), NATInstance, "eni-0nat"},
		{"NAT instance in the nodes' own subnet", appliance(func(e *snapshot.Interface) { e.Subnet = w.Private }), NoRoute, "eni-0nat"},
		{"a load balancer's interface", appliance(func(e *snapshot.Interface) { e.Kind = "gateway_load_balancer" }), LeavesView, "eni-0nat"},
		{"a NAT gateway behind a NAT instance", func(s *snapshot.Snapshot) {
			appliance(func(*snapshot.Interface) {})(s)
			w.Table(s, w.PublicRTB).Routes = []snapshot.Route{to(snapshot.ToNATGateway, "nat-0b")}
			s.NATGateways = append(s.NATGateways, snapshot.NATGateway{ID: "nat-0b", VPC: w.VPC, Subnet: w.Private, State: "available", Public: true})
		}, NATNoInternet, "nat-0b"},
	}
	for _, tt := range tests {
		s := w.PrivateWithNAT()
		tt.change(s)
		if got := New(s).Internet(w.Private); got.Verdict != tt.want || got.At != tt.at {
			t.Errorf("%s: Internet = %q at %q, want %q at %q (%s)", tt.name, got.Verdict, got.At, tt.want, tt.at, got)
		}
	}
}

func TestInternet6(t *testing.T) {
	tests := []struct {
		name   string
		change func(*snapshot.Snapshot)
		want   Verdict
		at     string
	}{
		{"no row", rows(), NoRoute, w.PrivateRTB},
		{"IPv4 rows do not count", rows(w.To("0.0.0.0/0", snapshot.ToNATGateway, w.NAT)), NoRoute, w.PrivateRTB},
		{"NAT64 is no way for IPv6", rows(w.To("64:ff9b::/96", snapshot.ToNATGateway, w.NAT)), NoRoute, w.PrivateRTB},
		{"egress-only gateway", func(s *snapshot.Snapshot) {
			rows(w.To("::/0", snapshot.ToEgressOnly, "eigw-0a"))(s)
			s.EgressOnly = []snapshot.EgressOnlyGateway{{ID: "eigw-0a", Attached: []string{w.VPC}}}
		}, Reaches, "eigw-0a"},
		{"the public range only", rows(w.To("2000::/3", snapshot.ToEgressOnly, "eigw-0a")), Reaches, "eigw-0a"},
		{"internet gateway", rows(w.To("::/0", snapshot.ToInternetGateway, w.IGW)), Reaches, w.IGW},
		{"egress-only gateway of another VPC", func(s *snapshot.Snapshot) {
			rows(w.To("::/0", snapshot.ToEgressOnly, "eigw-0a"))(s)
			s.EgressOnly = []snapshot.EgressOnlyGateway{{ID: "eigw-0a", Attached: []string{"vpc-0other"}}}
		}, Detached, "eigw-0a"},
		{"a peered VPC's range", rows(w.To("2600:1f14::/56", snapshot.ToPeering, "pcx-0a")), NoRoute, w.PrivateRTB},
		{"a part of the internet", rows(w.To("2600::/12", snapshot.ToEgressOnly, "eigw-0a")), LeavesView, "eigw-0a"},
	}
	for _, tt := range tests {
		s := w.PrivateWithNAT()
		tt.change(s)
		if got := New(s).Internet6(w.Private); got.Verdict != tt.want || got.At != tt.at {
			t.Errorf("%s: Internet6 = %q at %q, want %q at %q", tt.name, got.Verdict, got.At, tt.want, tt.at)
		}
	}
}

func TestLeavesFrom(t *testing.T) {
	own := netip.MustParseAddr("203.0.113.99")
	instance := func(s *snapshot.Snapshot) {
		rows(w.To("0.0.0.0/0", snapshot.ToInterface, "eni-0nat"))(s)
		s.Interfaces = append(s.Interfaces, snapshot.Interface{ID: "eni-0nat", Subnet: w.Public, Status: "in-use", Instance: "i-0nat", PublicIP: netip.MustParseAddr("203.0.113.20")})
	}
	tests := []struct {
		name   string
		world  *snapshot.Snapshot
		subnet string
		own    netip.Addr
		want   []string
	}{
		{"NAT gateway", w.PrivateWithNAT(), w.Private, own, []string{"203.0.113.7"}},
		{"internet gateway", w.PublicOnly(), w.Public, own, []string{"203.0.113.99"}},
		{"internet gateway, the node's address is not known", w.PublicOnly(), w.Public, netip.Addr{}, nil},
		{"NAT instance", change(w.PrivateWithNAT(), instance), w.Private, own, []string{"203.0.113.20"}},
		{"the hub's NAT gateway", spoke(), w.Private, own, []string{"203.0.113.30"}},
		{"a way that leaves view", change(w.PrivateWithNAT(), rows(w.To("0.0.0.0/0", snapshot.ToVPNGateway, "vgw-0a"))), w.Private, own, nil},
		{"no route to the internet", change(w.PrivateWithNAT(), rows()), w.Private, own, nil},
	}
	for _, tt := range tests {
		addresses, _ := New(tt.world).LeavesFrom(tt.subnet, tt.own)
		var got []string
		for _, a := range addresses {
			got = append(got, a.String())
		}
		expect.Same(t, fmt.Sprintf("%s: LeavesFrom", tt.name), got, tt.want)
	}
}

func TestStops(t *testing.T) {
	everything, six := netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")
	end := Stop{Ranges: []netip.Prefix{everything}, Ends: true}
	instance := func(s *snapshot.Snapshot) {
		rows(w.To("0.0.0.0/0", snapshot.ToInterface, "eni-0nat"))(s)
		s.Interfaces = append(s.Interfaces, snapshot.Interface{ID: "eni-0nat", Subnet: w.Public, Status: "in-use", Instance: "i-0nat", Groups: []string{"sg-0nat"}})
	}
	tests := []struct {
		name    string
		world   *snapshot.Snapshot
		service Service
		want    []Stop
	}{
		{"NAT gateway", w.PrivateWithNAT(), EC2, []Stop{{ID: w.NAT, Subnets: []string{w.Public}, Ranges: end.Ranges}, end}},
		{"NAT instance", change(w.PrivateWithNAT(), instance), EC2, []Stop{{ID: "eni-0nat", Subnets: []string{w.Public}, Groups: []string{"sg-0nat"}, Ranges: end.Ranges}, end}},
		{"transit gateway", spoke(), EC2, []Stop{
			{ID: "tgw-attach-0hub", Subnets: []string{"subnet-0in"}, Ranges: end.Ranges}, {ID: "nat-0hub", Subnets: []string{"subnet-0out"}, Ranges: end.Ranges}, end,
		}},
		{"interface endpoint", w.EndpointsOnly(), EC2, []Stop{{
			ID: "vpce-0ec2", Subnets: []string{w.Private}, Groups: []string{w.EndpointGroup}, Ranges: []netip.Prefix{netip.MustParsePrefix("10.42.192.0/19")}, Ends: true,
		}}},
		{"gateway endpoint", w.EndpointsOnly(), S3, []Stop{{
			ID: "vpce-0s3", Ranges: []netip.Prefix{netip.MustParsePrefix("52.218.128.0/17"), netip.MustParsePrefix("3.5.76.0/22")}, Ends: true,
		}}},
		{"private endpoint of the cluster", w.EndpointsOnly(), API, []Stop{{
			ID: w.ClusterName, Subnets: []string{w.Private, w.Public}, Groups: []string{w.ClusterGroup}, Ends: true,
			Ranges: []netip.Prefix{netip.MustParsePrefix("10.42.192.5/32"), netip.MustParsePrefix("10.42.0.5/32")},
		}}},
	}
	for _, tt := range tests {
		n := New(tt.world)
		paths, _ := n.Needs(w.Private)
		i := slices.IndexFunc(paths, func(p Path) bool { return p.Service == tt.service })
		same := cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })
		expect.Same(t, fmt.Sprintf("%s: Stops", tt.name), n.Stops(paths[i]), tt.want, same)
	}
	s := change(w.PrivateWithNAT(), rows(w.To("::/0", snapshot.ToEgressOnly, "eigw-0a")))
	n := New(s)
	got := n.Stops(Path{Means: ByInternet, Way: n.Internet6(w.Private)})
	if len(got) != 1 || !got[0].Ends || got[0].Ranges[0] != six {
		t.Errorf("Stops over IPv6 = %+v, want the internet over IPv6 alone", got)
	}
}

func TestNeeds(t *testing.T) {
	nat, own := "internet: reaches", "name of its own: leaves view"
	toHub := func(s *snapshot.Snapshot) {
		t := w.Table(s, w.PrivateRTB)
		t.Routes = append(t.Routes, w.To("10.0.0.0/8", snapshot.ToTransitGateway, "tgw-0a"))
	}
	zone := func(domain string, names ...string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			z := snapshot.PrivateZone{ID: "Z0A1", VPC: w.VPC, Domain: domain, Records: []snapshot.ZoneRecord{{Name: domain, Type: "SOA"}}}
			for _, name := range names {
				z.Records = append(z.Records, snapshot.ZoneRecord{Name: name, Type: "A"})
			}
			s.PrivateZones = append(s.PrivateZones, z)
		}
	}
	profile := func(endpoint string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			s.DNSProfiles = []snapshot.DNSProfile{{ID: "rp-01", VPC: w.VPC, Resources: []snapshot.DNSProfileResource{{ARN: "arn:aws:ec2:us-west-2:111122223333:vpc-endpoint/" + endpoint}}}}
		}
	}
	tests := []struct {
		name  string
		world *snapshot.Snapshot
		want  map[Service]string
	}{
		{"NAT gateway", w.PrivateWithNAT(), map[Service]string{API: nat, EC2: nat, ECRAPI: nat, ECRDKR: nat, S3: nat, STS: nat}},
		{"private API endpoint wins over NAT", change(w.PrivateWithNAT(), func(s *snapshot.Snapshot) { s.Cluster.EndpointPrivate = true }),
			map[Service]string{API: "private endpoint of the cluster: reaches", EC2: nat, ECRAPI: nat, ECRDKR: nat, S3: nat, STS: nat}},
		{"interface endpoint wins over NAT by name, gateway endpoint by prefix list", change(w.PrivateWithNAT(), func(s *snapshot.Snapshot) {
			all := w.EndpointsOnly().Endpoints
			s.Endpoints = []snapshot.Endpoint{all[0], all[4]}
		}), map[Service]string{API: nat, EC2: "interface endpoint: reaches", ECRAPI: nat, ECRDKR: nat, S3: "gateway endpoint: reaches", STS: nat}},
		{"without private DNS an interface endpoint does not win", change(w.PrivateWithNAT(), func(s *snapshot.Snapshot) {
			s.Endpoints = w.EndpointsOnly().Endpoints[:1]
			s.Endpoints[0].PrivateDNS = false
		}), map[Service]string{API: nat, EC2: nat, ECRAPI: nat, ECRDKR: nat, S3: nat, STS: nat}},
		{"a gateway endpoint of another table does not win", change(w.PrivateWithNAT(), func(s *snapshot.Snapshot) {
			s.Endpoints = w.EndpointsOnly().Endpoints[4:]
			s.Endpoints[0].RouteTables = []string{w.PublicRTB}
		}), map[Service]string{API: nat, EC2: nat, ECRAPI: nat, ECRDKR: nat, S3: nat, STS: nat}},
		{"a row for S3's prefix list that leads to no gateway endpoint", change(w.PrivateWithNAT(), func(s *snapshot.Snapshot) {
			t := w.Table(s, w.PrivateRTB)
			t.Routes = append(t.Routes, snapshot.Route{PrefixList: "pl-0s3", State: "active", Target: snapshot.Target{Kind: snapshot.ToEndpoint, ID: "vpce-0fw"}})
		}), map[Service]string{API: nat, EC2: nat, ECRAPI: nat, ECRDKR: nat, S3: "internet: leaves view", STS: nat}},
		{"the local row leads to a middlebox", change(w.EndpointsOnly(), func(s *snapshot.Snapshot) {
			t := w.Table(s, w.PrivateRTB)
			t.Routes[0] = w.To("10.42.0.0/16", snapshot.ToEndpoint, "vpce-0fw")
		}), map[Service]string{
			API: "private endpoint of the cluster: leaves view", EC2: "interface endpoint: leaves view", ECRAPI: "interface endpoint: leaves view",
			ECRDKR: "interface endpoint: leaves view", S3: "gateway endpoint: reaches", STS: "interface endpoint: leaves view",
		}},
		{"a zone names the endpoints of another network", change(w.PrivateWithNAT(), toHub, zone("us-west-2.amazonaws.com", "ec2.us-west-2.amazonaws.com", "*.ecr.us-west-2.amazonaws.com")),
			map[Service]string{API: nat, EC2: own, ECRAPI: own, ECRDKR: own, S3: nat, STS: nat}},
		{"a zone of another account, whose records are not shown", change(w.PrivateWithNAT(), toHub, zone("sts.us-west-2.amazonaws.com"), func(s *snapshot.Snapshot) {
			s.PrivateZones[0].Unread = &snapshot.Failure{Source: snapshot.PrivateZonesOf, Reason: snapshot.NotShown}
		}), map[Service]string{API: nat, EC2: nat, ECRAPI: nat, ECRDKR: nat, S3: nat, STS: own}},
		{"a zone, and the registry is not known", change(w.PrivateWithNAT(), toHub, zone("us-west-2.amazonaws.com", "*.ecr.us-west-2.amazonaws.com"), func(s *snapshot.Snapshot) { s.CNI = nil }),
			map[Service]string{API: nat, EC2: nat, ECRAPI: own, ECRDKR: own, S3: nat, STS: nat}},
		{"a zone, and no way to another network", change(w.PrivateWithNAT(), zone("us-west-2.amazonaws.com", "ec2.us-west-2.amazonaws.com")),
			map[Service]string{API: nat, EC2: nat, ECRAPI: nat, ECRDKR: nat, S3: nat, STS: nat}},
		{"a zone of another VPC", change(w.PrivateWithNAT(), toHub, zone("ec2.us-west-2.amazonaws.com", "ec2.us-west-2.amazonaws.com"), func(s *snapshot.Snapshot) { s.PrivateZones[0].VPC = "vpc-0other" }),
			map[Service]string{API: nat, EC2: nat, ECRAPI: nat, ECRDKR: nat, S3: nat, STS: nat}},
		{"a zone names an endpoint of the VPC that has private DNS off", change(w.PrivateWithNAT(), zone("ec2.us-west-2.amazonaws.com", "ec2.us-west-2.amazonaws.com"), func(s *snapshot.Snapshot) {
			s.Endpoints = w.EndpointsOnly().Endpoints[:1]
			s.Endpoints[0].PrivateDNS = false
		}), map[Service]string{API: nat, EC2: own, ECRAPI: nat, ECRDKR: nat, S3: nat, STS: nat}},
		{"the VPC's own endpoint with private DNS wins over a Profile's", change(w.EndpointsOnly(), toHub, profile("vpce-0hub")), map[Service]string{
			API: "private endpoint of the cluster: reaches", EC2: "interface endpoint: reaches", ECRAPI: "interface endpoint: reaches",
			ECRDKR: "interface endpoint: reaches", S3: "gateway endpoint: reaches", STS: "interface endpoint: reaches",
		}},
		{"a Profile's endpoint, of which nobody says what it is for", change(w.PrivateWithNAT(), toHub, profile("vpce-0hub")),
			map[Service]string{API: nat, EC2: own, ECRAPI: own, ECRDKR: own, S3: own, STS: own}},
		{"a Profile's endpoint that is read", change(w.PrivateWithNAT(), toHub, profile("vpce-0hub"), func(s *snapshot.Snapshot) {
			s.Endpoints = []snapshot.Endpoint{{ID: "vpce-0hub", VPC: "vpc-0hub", Service: "com.amazonaws.us-west-2.sts", Kind: "Interface", State: "available"}}
		}), map[Service]string{API: nat, EC2: nat, ECRAPI: nat, ECRDKR: nat, S3: nat, STS: own}},
		{"a rule forwards a name", change(w.PrivateWithNAT(), toHub, func(s *snapshot.Snapshot) {
			s.ResolverRules = []snapshot.ResolverRule{{ID: "rslvr-rr-1", VPC: w.VPC, Domain: "sts.us-west-2.amazonaws.com", Forward: true}}
		}), map[Service]string{API: nat, EC2: nat, ECRAPI: nat, ECRDKR: nat, S3: nat, STS: own}},
		{"a rule forwards all that there is, as many networks do", change(w.PrivateWithNAT(), toHub, func(s *snapshot.Snapshot) {
			s.ResolverRules = []snapshot.ResolverRule{{ID: "rslvr-rr-1", VPC: w.VPC, Forward: true}}
		}), map[Service]string{API: nat, EC2: nat, ECRAPI: nat, ECRDKR: nat, S3: nat, STS: nat}},
		{"a cluster in another VPC, private only", change(w.PrivateWithNAT(), func(s *snapshot.Snapshot) {
			s.Cluster.VPC, s.Cluster.EndpointPrivate, s.Cluster.EndpointPublic = "vpc-0other", true, false
		}), map[Service]string{API: "private endpoint of the cluster: leaves view", EC2: nat, ECRAPI: nat, ECRDKR: nat, S3: nat, STS: nat}},
		{"a cluster in another VPC, public too", change(w.PrivateWithNAT(), func(s *snapshot.Snapshot) {
			s.Cluster.VPC, s.Cluster.EndpointPrivate = "vpc-0other", true
		}), map[Service]string{API: nat, EC2: nat, ECRAPI: nat, ECRDKR: nat, S3: nat, STS: nat}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			paths, ok := New(tt.world).Needs(w.Private)
			if !ok {
				t.Fatal("Needs does not know the table")
			}
			got := map[Service]string{}
			for _, p := range paths {
				got[p.Service] = fmt.Sprintf("%s: %s", p.Means, p.Verdict)
			}
			expect.Same(t, "Needs", got, tt.want)
		})
	}
}

func TestNamesJoinECR(t *testing.T) {
	tests := []struct{ got, want []string }{
		{Names(Needed()), []string{"the cluster API", "EC2", "ECR", "S3", "STS"}},
		{Names([]Service{ECRDKR, STS}), []string{"ECR (dkr)", "STS"}},
		{Names([]Service{ECRAPI}), []string{"ECR (api)"}},
	}
	for _, tt := range tests {
		expect.Same(t, "Names", tt.got, tt.want)
	}
}

func change(s *snapshot.Snapshot, changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
	for _, f := range changes {
		f(s)
	}
	return s
}

func TestTable(t *testing.T) {
	s := w.PrivateWithNAT()
	s.Subnets = append(s.Subnets, snapshot.Subnet{ID: "subnet-0loose", VPC: w.VPC}, snapshot.Subnet{ID: "subnet-0abroad", VPC: "vpc-0other"})
	n := New(s)
	tests := []struct {
		subnet, want string
		fallback, ok bool
	}{
		{w.Private, w.PrivateRTB, false, true},
		{"subnet-0loose", w.MainRTB, true, true},
		{"subnet-0abroad", "", false, false},
		{"subnet-0unheard-of", "", false, false},
	}
	for _, tt := range tests {
		got, ok := n.Table(tt.subnet)
		if got.ID != tt.want || got.Fallback != tt.fallback || ok != tt.ok {
			t.Errorf("Table(%s) = %q, fallback %t, %t, want %q, %t, %t", tt.subnet, got.ID, got.Fallback, ok, tt.want, tt.fallback, tt.ok)
		}
	}
}

func TestInternet(t *testing.T) {
	private := func(rows ...snapshot.Route) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { w.Table(s, w.PrivateRTB).Routes = rows }
	}
	to := func(kind snapshot.TargetKind, id string) snapshot.Route { return w.To("0.0.0.0/0", kind, id) }
	dead := to(snapshot.ToNATGateway, "nat-0old")
	dead.State = "blackhole"
	tests := []struct {
		name    string
		change  func(*snapshot.Snapshot)
		verdict Verdict
		at      string
		want    string
	}{
		{"NAT gateway", func(*snapshot.Snapshot) {}, Reaches, w.IGW,
			"subnet-0private → rtb-0private 0.0.0.0/0 → nat-0a (available, us-west-2a) → subnet-0public → rtb-0public 0.0.0.0/0 → igw-0a"},
		{"a NAT gateway with a proxy", func(s *snapshot.Snapshot) { s.NATGateways[0].Proxy = "arn:proxy" }, LeavesView, w.NAT,
			"subnet-0private → rtb-0private 0.0.0.0/0 → nat-0a (available, us-west-2a) → subnet-0public → rtb-0public 0.0.0.0/0 → igw-0a: whether the proxy attached to it passes traffic is not read (arn:proxy)"},
		{"a default route that the table filters", func(s *snapshot.Snapshot) { w.Table(s, w.PrivateRTB).Routes[1].State = "filtered" }, NoRoute, w.PrivateRTB, "subnet-0private → rtb-0private: no route"},
		{"local row only", private(w.Local()), NoRoute, w.PrivateRTB, "subnet-0private → rtb-0private: no route"},
		{"a table without rows", private(), NoRoute, w.PrivateRTB, "subnet-0private → rtb-0private: no route"},
		{"internet gateway", private(to(snapshot.ToInternetGateway, w.IGW)), NeedsPublicIP, w.IGW, "subnet-0private → rtb-0private 0.0.0.0/0 → igw-0a"},
		{"internet gateway of another VPC", func(s *snapshot.Snapshot) {
			private(to(snapshot.ToInternetGateway, w.IGW))(s)
			s.InternetGateways[0].Attached = []string{"vpc-0other"}
		}, Detached, w.IGW, "subnet-0private → rtb-0private 0.0.0.0/0 → igw-0a: it is not attached to vpc-0a"},
		{"deleted NAT gateway", private(dead), Blackhole, "nat-0old", "subnet-0private → rtb-0private 0.0.0.0/0 → nat-0old: blackhole"},
		{"transit gateway", private(to(snapshot.ToTransitGateway, "tgw-0a")), LeavesView, "tgw-0a",
			"subnet-0private → rtb-0private 0.0.0.0/0 → tgw-0a (transit gateway): what is behind the transit gateway is not read"},
		{"a target of a kind newer than this code", private(to(snapshot.ToUnknown, "new-0a")), LeavesView, "new-0a",
			"subnet-0private → rtb-0private 0.0.0.0/0 → new-0a (unknown target): what is behind the unknown target is not read"},
		{"halves that differ", private(w.To("0.0.0.0/1", snapshot.ToNATGateway, w.NAT), to(snapshot.ToTransitGateway, "tgw-0a")), LeavesView, w.PrivateRTB,
			"subnet-0private → rtb-0private: it routes parts of the internet differently"},
		{"a prefix list whose entries are not read", private(w.Local(), snapshot.Route{PrefixList: "pl-0a", State: "active", Target: snapshot.Target{Kind: snapshot.ToTransitGateway, ID: "tgw-0a"}}), LeavesView, "tgw-0a",
			"subnet-0private → rtb-0private: the entries of the prefix list are not read (pl-0a → tgw-0a)"},
		{"NAT gateways in a ring", func(s *snapshot.Snapshot) {
			s.NATGateways = append(s.NATGateways, snapshot.NATGateway{ID: "nat-0b", VPC: w.VPC, Subnet: w.Private, State: "available", Public: true})
			w.Table(s, w.PublicRTB).Routes = []snapshot.Route{to(snapshot.ToNATGateway, "nat-0b")}
		}, NATNoInternet, w.NAT,
			"subnet-0private → rtb-0private 0.0.0.0/0 → nat-0a (available, us-west-2a) → subnet-0public → rtb-0public 0.0.0.0/0 → nat-0b (available, us-west-2a) → subnet-0private → rtb-0private 0.0.0.0/0 → nat-0a (available, us-west-2a): its own subnet's route points to nat-0b and not to an internet gateway"},
		{"a private NAT gateway behind which a public one works", func(s *snapshot.Snapshot) {
			s.NATGateways = append(s.NATGateways, snapshot.NATGateway{ID: "nat-0p", VPC: w.VPC, Subnet: "subnet-0mid", State: "available"})
			s.Subnets = append(s.Subnets, snapshot.Subnet{ID: "subnet-0mid", VPC: w.VPC})
			s.RouteTables = append(s.RouteTables, snapshot.RouteTable{ID: "rtb-0mid", VPC: w.VPC, Subnets: []string{"subnet-0mid"}, Routes: []snapshot.Route{to(snapshot.ToNATGateway, w.NAT)}})
			private(to(snapshot.ToNATGateway, "nat-0p"))(s)
		}, Reaches, w.IGW,
			"subnet-0private → rtb-0private 0.0.0.0/0 → nat-0p (available, private) → subnet-0mid → rtb-0mid 0.0.0.0/0 → nat-0a (available, us-west-2a) → subnet-0public → rtb-0public 0.0.0.0/0 → igw-0a"},
		{"NAT gateways unread", func(s *snapshot.Snapshot) { w.Without(s, snapshot.NATGateways) }, LeavesView, w.NAT,
			"subnet-0private → rtb-0private 0.0.0.0/0 → nat-0a: the NAT gateways were not read"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := w.PrivateWithNAT()
			tt.change(s)
			got := New(s).Internet(w.Private)
			if got.Verdict != tt.verdict || got.At != tt.at {
				t.Errorf("Internet = %q at %q, want %q at %q", got.Verdict, got.At, tt.verdict, tt.at)
			}
			if got.String() != tt.want {
				t.Errorf("way = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestWorkingNATs(t *testing.T) {
	s := w.PrivateWithNAT()
	nat := func(id, zone, state string) snapshot.NATGateway {
		return snapshot.NATGateway{ID: id, VPC: w.VPC, Subnet: w.Public, State: state, Public: true, Zone: zone}
	}
	s.NATGateways = append(s.NATGateways, nat("nat-0c", "us-west-2b", "available"), nat("nat-0b", "us-west-2b", "failed"),
		snapshot.NATGateway{ID: "nat-0d", VPC: w.VPC, Subnet: "subnet-0unknown", State: "available", Public: true, Zone: "us-west-2b"},
		snapshot.NATGateway{ID: "nat-0e", VPC: "vpc-0other", Subnet: w.Public, State: "available", Public: true, Zone: "us-west-2b"})
	var got []string
	for _, nat := range New(s).WorkingNATs(w.VPC, "us-west-2b") {
		got = append(got, nat.ID)
	}
	if want := []string{"nat-0c", "nat-0a"}; len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("WorkingNATs = %q, want %q", got, want)
	}
}

func TestEndpointsOfAnyPartition(t *testing.T) {
	s := w.PrivateWithNAT()
	for _, service := range []string{"com.amazonaws.us-west-2.ecr.api", "cn.com.amazonaws.us-west-2.sts", "com.amazonaws.us-west-2.s3express", "com.amazonaws.us-east-1.ec2", "com.amazonaws.us-west-2.ec2-fips"} {
		s.Endpoints = append(s.Endpoints, snapshot.Endpoint{ID: service, VPC: w.VPC, Service: service})
	}
	n := New(s)
	for service, want := range map[Service]int{ECRAPI: 1, STS: 1, S3: 0, EC2: 0} {
		if got := len(n.Endpoints(w.VPC, service)); got != want {
			t.Errorf("%d endpoints for %s, want %d", got, service, want)
		}
	}
}

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
	expect.Same(t, "halves", halves(), []netip.Prefix{prefix("0.0.0.0/1"), prefix("128.0.0.0/1")}, byValue)
	expect.Equal(t, "global unicast", globalUnicast(), prefix("2000::/3"))
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
		expect.Equal(t, fmt.Sprintf("%s is a gateway endpoint", id), n.gatewayEndpoint(id), want)
	}
	table := snapshot.RouteTable{ID: "rtb-0a", Routes: []snapshot.Route{w.To("10.0.0.0/8", snapshot.ToEndpoint, "vpce-0a")}}
	for _, test := range []struct {
		endpoint snapshot.Endpoint
		want     bool
	}{
		{snapshot.Endpoint{ID: "vpce-0a"}, true}, {snapshot.Endpoint{ID: "vpce-0b", RouteTables: []string{"rtb-0a"}}, true},
		{snapshot.Endpoint{ID: "vpce-0b", RouteTables: []string{"rtb-0b"}}, false},
	} {
		expect.Equal(t, fmt.Sprintf("%+v is in the table", test.endpoint), InTable(test.endpoint, table), test.want)
	}
	way := Way{Hops: []Hop{{ID: "a"}, {ID: "b"}, {ID: "a"}, {ID: "c"}}}
	expect.Same(t, "resources", way.Resources(), []string{"a", "b", "c"})
}

// The gateways of the zone come first, regional ones are at home in each, and
// only those of the VPC that are public and work are named.
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
	expect.Same(t, "got", got, []string{"nat-0b ", "nat-0z us-west-2a", "nat-0c us-west-2b", "nat-0d us-west-2b"})
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
		if want := (Way{Verdict: NoRoute, At: "rtb-0x", Table: "rtb-0x", Reason: "rtb-0x has no route for responses to 10.42.1.0/24"}); got && way.String() != want.String() {
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
