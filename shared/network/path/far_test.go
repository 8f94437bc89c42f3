package path

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/snapshot"
	w "rollcall/shared/snapshot/snapshottest"
)

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
				toHop + "eni-0nat (network interface of i-0nat, running): EC2 calls the row a blackhole: its instance does not run"}},
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
			told{NATInstance, "eni-0nat", "rtb-0private", "", "", toHop + "eni-0nat (network interface): it is attached to no instance"}},
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
			told{LeavesView, "eni-0nat", "rtb-0private", "", "", toHop + "eni-0nat (network interface of i-0nat): the appliance's own subnet is not known"}},
		{"it has no public address", []func(*snapshot.Snapshot){to("eni-0nat", "", "active"), eni(func(e *snapshot.Interface) { e.PublicIP = netip.Addr{} })},
			told{LeavesView, "eni-0nat", "rtb-0public", "", "",
				toHop + "eni-0nat (network interface of i-0nat) → subnet-0public → rtb-0public 0.0.0.0/0 → igw-0a: the appliance has no public address on this interface"}},
		{"its subnet leads back to it", []func(*snapshot.Snapshot){to("eni-0nat", "", "active"), eni(func(e *snapshot.Interface) { e.Subnet = w.Private })},
			told{NoRoute, "eni-0nat", "rtb-0private", "", "",
				toHop + "eni-0nat (network interface of i-0nat) → subnet-0private → rtb-0private 0.0.0.0/0" +
					" → eni-0nat (network interface of i-0nat): its own subnet's route leads back to it"}},
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
			toHop + "pcx-0a (vpc peering connection, active): pcx-0a is a peering connection, which never leads to the internet"}},
		{"a subnet that is not known", []func(*snapshot.Snapshot){func(s *snapshot.Snapshot) { s.RouteTables = nil }},
			told{LeavesView, "subnet-0private", "", "", "", "subnet-0private: its route table is not known"}},
	} {
		s := w.PrivateWithNAT()
		for _, change := range test.change {
			change(s)
		}
		if diff := cmp.Diff(test.want, tell(New(s).Internet(w.Private))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
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
		{snapshot.TransitRoute{Destination: prefix("10.0.0.0/8")}, snapshot.Attachment{}, "its row for 10.0.0.0/8 leads to 0 attachments"},
		{snapshot.TransitRoute{Destination: prefix("10.0.0.0/8"), Attachments: []string{"a", "b"}}, snapshot.Attachment{}, "its row for 10.0.0.0/8 leads to 2 attachments"},
		{snapshot.TransitRoute{Attachments: []string{"tgw-attach-0x"}, Resources: []string{"vpc-0x"}},
			snapshot.Attachment{ID: "tgw-attach-0x", Gateway: "tgw-0a", Kind: "vpc", Resource: "vpc-0x"}, ""},
		{snapshot.TransitRoute{Attachments: []string{"tgw-attach-0x"}, Resources: []string{"vpn-0x"}}, snapshot.Attachment{}, "tgw-attach-0x, to which it leads, cannot be seen"},
		{snapshot.TransitRoute{Attachments: []string{"tgw-attach-0x"}, Resources: []string{"vpc-0x", "vpc-0y"}},
			snapshot.Attachment{}, "tgw-attach-0x, to which it leads, cannot be seen"},
		{snapshot.TransitRoute{Attachments: []string{"tgw-attach-0x"}}, snapshot.Attachment{}, "tgw-attach-0x, to which it leads, cannot be seen"},
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
		if diff := cmp.Diff(test.want, n.controlPlane(), byValue); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		table, _ := n.Table(w.Private)
		way := n.abroad(w.Private, table)
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
			"no route at rtb-0private: pcx-0a does not lead to vpc-0far, and peering connections lead no further"},
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
