package path

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/snapshot"
	w "rollcall/shared/snapshot/snapshottest"
	"rollcall/tools/expect"
)

// A row is inside the VPC if a local row holds more than it.
func TestInsideVPC(t *testing.T) {
	table := Table{RouteTable: snapshot.RouteTable{Routes: []snapshot.Route{
		{Target: snapshot.Target{Kind: snapshot.ToLocal}}, w.To("10.43.0.0/16", snapshot.ToPeering, "pcx-0a"), w.Local(),
	}}}
	n := New(w.PrivateWithNAT())
	for of, want := range map[string]bool{
		"10.42.1.0/24": true, "10.42.0.0/17": true, "10.42.0.0/16": false, "10.0.0.0/8": false, "10.43.1.0/24": false, "10.44.1.0/24": false,
	} {
		expect.Equal(t, fmt.Sprint(of), n.insideVPC(prefix(of), table), want)
	}
	if n.insideVPC(netip.Prefix{}, table) {
		t.Error("no range is inside")
	}
}

// The private subnet is 10.42.192.0/19: what holds it and is no local row, and
// no default route, stands in the local row's place.
func TestReplacesLocal(t *testing.T) {
	to := func(of string) snapshot.Route { return w.To(of, snapshot.ToEndpoint, "vpce-0fw") }
	for _, test := range []struct {
		name   string
		row    snapshot.Route
		others []snapshot.Route
		subnet string
		want   bool
	}{
		{"the VPC's range", to("10.42.0.0/16"), nil, w.Private, true},
		{"half of the internet", to("0.0.0.0/1"), nil, w.Private, true},
		{"the default route", to("0.0.0.0/0"), nil, w.Private, false},
		{"another range", to("10.43.0.0/16"), []snapshot.Route{to("10.42.0.0/16")}, w.Private, false},
		{"a part of the subnet", to("10.42.192.0/20"), nil, w.Private, false},
		{"no range", snapshot.Route{}, nil, w.Private, false},
		{"beside the local row", to("10.0.0.0/8"), []snapshot.Route{w.Local()}, w.Private, false},
		{"behind one that is more specific", to("10.0.0.0/8"), []snapshot.Route{to("10.42.0.0/16")}, w.Private, false},
		{"the local row itself", w.Local(), nil, w.Private, false},
		{"of a subnet that is not known", to("10.42.0.0/16"), nil, "subnet-0none", false},
	} {
		table := Table{RouteTable: snapshot.RouteTable{Routes: append(test.others, test.row)}}
		expect.Equal(t, test.name, New(w.PrivateWithNAT()).replacesLocal(test.row, test.subnet, table), test.want)
	}
}

// Of a row that does not hold all of the ranges: whether its list may, and
// whether it holds a part.
func TestPartly(t *testing.T) {
	s := w.PrivateWithNAT()
	s.Endpoints = []snapshot.Endpoint{{ID: "vpce-0g", Kind: "Gateway"}}
	s.PrefixLists = []snapshot.PrefixList{{ID: "pl-0a", CIDRs: []netip.Prefix{{}, prefix("52.0.0.0/8"), prefix("10.60.0.0/16")}}}
	n := New(s)
	nat := func(of string) snapshot.Route { return w.To(of, snapshot.ToNATGateway, w.NAT) }
	listed := func(list, target string) snapshot.Route {
		return snapshot.Route{PrefixList: list, Target: snapshot.Target{Kind: snapshot.ToNATGateway, ID: target}}
	}
	internet, six := walk{to: halves()}, walk{to: []netip.Prefix{globalUnicast()}}
	far := func(of string) walk { return walk{to: []netip.Prefix{prefix(of)}, vpc: "vpc-0far"} }
	for _, test := range []struct {
		name           string
		row            snapshot.Route
		walk           walk
		unknown, parts bool
	}{
		{"a part of the internet", nat("52.0.0.0/8"), internet, false, true},
		{"a private range", nat("10.60.0.0/16"), internet, false, false},
		{"IPv4, for IPv6", nat("52.0.0.0/8"), six, false, false},
		{"IPv6, for IPv4", nat("2600::/12"), internet, false, false},
		{"IPv6", nat("2600::/12"), six, false, true},
		{"a peering connection", w.To("2600::/12", snapshot.ToPeering, "pcx-0a"), six, false, false},
		{"a local row of public addresses", w.To("52.0.0.0/8", snapshot.ToLocal, "local"), internet, false, false},
		{"no range", snapshot.Route{}, internet, false, false},
		{"a list", listed("pl-0a", w.NAT), internet, false, true},
		{"a list of a gateway endpoint", listed("pl-0a", "vpce-0g"), internet, false, false},
		{"a list that is not read", listed("pl-0x", w.NAT), internet, true, false},
		{"a list of a gateway endpoint that is not read", listed("pl-0x", "vpce-0g"), internet, false, false},
		{"a row, no list, to a gateway endpoint", w.To("52.0.0.0/8", snapshot.ToEndpoint, "vpce-0g"), internet, false, true},
		{"a part of the VPC", nat("10.60.0.0/16"), far("10.0.0.0/8"), false, true},
		{"a part of the VPC in a list", listed("pl-0a", w.NAT), far("10.60.0.0/15"), false, true},
		{"no part of the VPC", nat("10.61.0.0/16"), far("10.60.0.0/16"), false, false},
		{"no range, to a VPC", snapshot.Route{}, far("10.60.0.0/16"), false, false},
		{"a list for a VPC that is not read", listed("pl-0x", w.NAT), far("10.60.0.0/16"), true, false},
	} {
		if unknown, parts := n.partly(test.row, test.walk); unknown != test.unknown || parts != test.parts {
			t.Errorf("%s: unknown %v, parts %v", test.name, unknown, parts)
		}
	}
	if (walk{}).six() || !six.six() || internet.six() {
		t.Error("IPv6 is what begins with it")
	}
	expect.Equal(t, "walks are called", far("10.60.0.0/16").String()+", "+internet.String(), "vpc-0far, the internet")
}

// The places that judge a packet: what has no subnet is none.
func TestPassing(t *testing.T) {
	s := w.PrivateWithNAT()
	s.NATGateways = append(s.NATGateways, snapshot.NATGateway{ID: "nat-0regional"})
	s.Interfaces = []snapshot.Interface{{ID: "eni-0nowhere", Groups: []string{"sg-0a"}}, {ID: "eni-0a", Subnet: w.Public, Groups: []string{"sg-0a"}}}
	s.Instances = []snapshot.Instance{{ID: "i-0nowhere", Groups: []string{"sg-0b"}}, {ID: "i-0a", Subnet: w.Private, Groups: []string{"sg-0b"}}}
	s.Attachments = []snapshot.Attachment{{ID: "tgw-attach-0x", Resource: "vpc-0x"}, {ID: "tgw-attach-0a", Resource: w.VPC}}
	s.Interfaces = append(s.Interfaces, snapshot.Interface{ID: "eni-0tgw", VPC: w.VPC, Kind: "transit_gateway", Description: "tgw-attach-0a", Subnet: w.Private})
	var hops []Hop
	for _, id := range []string{w.Private, "nat-0regional", "eni-0nowhere", "i-0nowhere", "tgw-attach-0x", w.NAT, "eni-0a", "i-0a", "tgw-attach-0a", w.IGW} {
		hops = append(hops, Hop{ID: id})
	}
	want := []Stop{
		{ID: w.NAT, Subnets: []string{w.Public}},
		{ID: "eni-0a", Subnets: []string{w.Public}, Groups: []string{"sg-0a"}},
		{ID: "i-0a", Subnets: []string{w.Private}, Groups: []string{"sg-0b"}},
		{ID: "tgw-attach-0a", Subnets: []string{w.Private}},
	}
	expect.Same(t, "got", New(s).passing(Way{Hops: hops}, nil), want)
}

// Where a connection ends that leads to an endpoint, and to the control plane.
func TestEnds(t *testing.T) {
	s := w.EndpointsOnly()
	n := New(s)
	good := Way{Verdict: Reaches, At: "vpce-0ec2"}
	if got := n.Stops(Path{Means: ByInterface, Way: good}); len(got) != 1 || got[0].ID != "vpce-0ec2" || !got[0].Ends {
		t.Errorf("an endpoint: %+v", got)
	}
	if got := n.Stops(Path{Means: ByInterface, Way: Way{Verdict: LeavesView, At: "vpce-0ec2"}}); got != nil {
		t.Errorf("an endpoint behind what cannot be seen: %+v", got)
	}
	if got := n.Stops(Path{Means: ByInterface, Way: Way{Verdict: Reaches, At: "vpce-0none"}}); got != nil {
		t.Errorf("an endpoint that is not read: %+v", got)
	}
	one := prefix("52.0.0.0/8")
	s.PrefixLists = []snapshot.PrefixList{{ID: "pl-0one", CIDRs: []netip.Prefix{one}}}
	for list, want := range map[string]netip.Prefix{"pl-0one": one, "pl-0none": prefix("0.0.0.0/0")} {
		got := New(s).Stops(Path{Means: ByGateway, Way: Way{Verdict: Reaches, At: "vpce-0s3", Row: snapshot.Route{PrefixList: list}}})
		if len(got) != 1 || len(got[0].Ranges) != 1 || got[0].Ranges[0] != want || !got[0].Ends {
			t.Errorf("%s: %+v, want %s", list, got, want)
		}
	}

	s.Cluster.SecurityGroup, s.Cluster.SecurityGroups, s.Cluster.Subnets = "sg-0own", []string{"sg-0more"}, []string{w.Public, w.Private, w.Public}
	s.Interfaces = append([]snapshot.Interface{{ID: "eni-0other", Subnet: "subnet-0x"}}, s.Interfaces...)
	own := New(s).controlPlaneStop()
	if diff := cmp.Diff(Stop{
		ID: w.ClusterName, Ends: true, Groups: []string{"sg-0own", "sg-0more"}, Subnets: []string{w.Private, w.Public},
		Ranges: []netip.Prefix{prefix("10.42.192.5/32"), prefix("10.42.0.5/32")},
	}, own, byValue); diff != "" {
		t.Errorf("the control plane (-want +got):\n%s", diff)
	}
	s.Interfaces = nil
	unread := New(s).controlPlaneStop()
	if diff := cmp.Diff([]string{w.Private, w.Public}, unread.Subnets); diff != "" || len(unread.Ranges) != 3 {
		t.Errorf("the control plane, its interfaces not read: %v (-want +got):\n%s", unread.Ranges, diff)
	}
	s.Cluster.SecurityGroup = ""
	expect.Same(t, "without an own group", New(s).controlPlaneStop().Groups, []string{"sg-0more"})
}

// The longest prefix wins, whatever the table looks like: held against a
// search over single addresses of a universe of sixteen bits.
func TestLongestPrefixAgainstAnOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func() netip.Prefix {
		return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, byte(r.IntN(4)), byte(r.IntN(256))}), 16+r.IntN(17)).Masked()
	}
	for round := range 500 {
		var table []snapshot.Route
		lists := Lists{}
		for i := range r.IntN(8) {
			row := snapshot.Route{Destination: random(), State: "active", Target: snapshot.Target{ID: fmt.Sprint(i)}}
			if r.IntN(4) == 0 {
				row.Destination, row.PrefixList = netip.Prefix{}, fmt.Sprintf("pl-%d", i)
				for range r.IntN(3) {
					lists[row.PrefixList] = append(lists[row.PrefixList], random())
				}
			}
			table = append(table, row)
		}
		to := netip.AddrFrom4([4]byte{10, 0, byte(r.IntN(4)), byte(r.IntN(256))})
		want := -1
		for _, row := range table {
			entries := append([]netip.Prefix{}, lists[row.PrefixList]...)
			if row.Destination.IsValid() {
				entries = append(entries, row.Destination)
			}
			for _, p := range entries {
				// The oracle compares bit by bit.
				same := 0
				a, b := p.Addr().As4(), to.As4()
				for same < p.Bits() && (a[same/8]>>(7-same%8))&1 == (b[same/8]>>(7-same%8))&1 {
					same++
				}
				if same == p.Bits() {
					want = max(want, p.Bits())
				}
			}
		}
		got, found := Best(table, to, lists)
		if found != (want >= 0) {
			t.Fatalf("round %d: Best(%s) found %t, want %t", round, to, found, want >= 0)
		}
		if !found {
			continue
		}
		if bits, ok := matches(got, netip.PrefixFrom(to, 32), lists); !ok || bits != want {
			t.Fatalf("round %d: Best(%s) has %d bits, want %d", round, to, bits, want)
		}
	}
}

// tangle is a network whose rows lead anywhere, rings and loose ends among it.
func tangle(r *rand.Rand) *snapshot.Snapshot {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	s := &snapshot.Snapshot{Read: map[snapshot.Source]bool{}, Region: "us-west-2"}
	for _, source := range snapshot.All() {
		s.Read[source] = r.IntN(8) > 0
	}
	id := func(kind string) string { return fmt.Sprintf("%s-%d", kind, r.IntN(4)) }
	s.Cluster = snapshot.Cluster{Name: "c", VPC: id("vpc"), EndpointPrivate: r.IntN(2) == 0, EndpointPublic: r.IntN(2) == 0, IPv6: r.IntN(2) == 0, Subnets: []string{id("subnet")}}
	destinations := []string{"0.0.0.0/0", "0.0.0.0/1", "128.0.0.0/1", "10.0.0.0/8", "10.1.0.0/16", "52.0.0.0/8", "::/0", "2600::/12"}
	targets := map[snapshot.TargetKind]string{
		snapshot.ToLocal: "local", snapshot.ToInternetGateway: "igw", snapshot.ToNATGateway: "nat", snapshot.ToEgressOnly: "eigw", snapshot.ToTransitGateway: "tgw",
		snapshot.ToPeering: "pcx", snapshot.ToVPNGateway: "vgw", snapshot.ToInterface: "eni", snapshot.ToEndpoint: "vpce", snapshot.ToUnknown: "",
	}
	kinds := []snapshot.TargetKind{
		snapshot.ToLocal, snapshot.ToInternetGateway, snapshot.ToNATGateway, snapshot.ToNATGateway, snapshot.ToEgressOnly, snapshot.ToTransitGateway, snapshot.ToTransitGateway,
		snapshot.ToPeering, snapshot.ToVPNGateway, snapshot.ToInterface, snapshot.ToInterface, snapshot.ToEndpoint, snapshot.ToUnknown,
	}
	for i := range 4 {
		vpc := fmt.Sprintf("vpc-%d", i%2)
		s.VPCs = append(s.VPCs, snapshot.VPC{ID: vpc, CIDRs: []netip.Prefix{netip.MustParsePrefix(fmt.Sprintf("10.%d.0.0/16", i%2))}})
		s.Subnets = append(s.Subnets, snapshot.Subnet{ID: fmt.Sprintf("subnet-%d", i), VPC: vpc, CIDR: netip.MustParsePrefix(fmt.Sprintf("10.%d.%d.0/24", i%2, i))})
		table := snapshot.RouteTable{ID: fmt.Sprintf("rtb-%d", i), VPC: vpc, Subnets: []string{fmt.Sprintf("subnet-%d", i)}, Main: i < 2}
		for range r.IntN(4) {
			kind := kinds[r.IntN(len(kinds))]
			row := snapshot.Route{Destination: netip.MustParsePrefix(pick(destinations...)), State: pick("active", "active", "active", "blackhole", "newer"), Target: snapshot.Target{Kind: kind, ID: id(targets[kind])}}
			if r.IntN(8) == 0 {
				row.Destination, row.PrefixList = netip.Prefix{}, id("pl")
			}
			table.Routes = append(table.Routes, row)
		}
		s.RouteTables = append(s.RouteTables, table)
		s.NATGateways = append(s.NATGateways, snapshot.NATGateway{ID: fmt.Sprintf("nat-%d", i), VPC: vpc, Subnet: id("subnet"), State: pick("available", "available", "failed", "newer"), Public: r.IntN(3) > 0})
		s.InternetGateways = append(s.InternetGateways, snapshot.InternetGateway{ID: fmt.Sprintf("igw-%d", i), Attached: []string{vpc}})
		s.Interfaces = append(s.Interfaces, snapshot.Interface{ID: fmt.Sprintf("eni-%d", i), VPC: vpc, Subnet: id("subnet"), Kind: pick("interface", "transit_gateway", ""), Description: id("att"), Status: pick("in-use", "available", ""), Instance: id("i"), SourceCheck: r.IntN(4) == 0})
		s.Instances = append(s.Instances, snapshot.Instance{ID: fmt.Sprintf("i-%d", i), State: pick("running", "stopped", "terminated", "newer"), Subnet: id("subnet")})
		s.Peerings = append(s.Peerings, snapshot.Peering{ID: fmt.Sprintf("pcx-%d", i), State: pick("active", "deleted"), Requester: snapshot.PeerVPC{VPC: id("vpc")}, Accepter: snapshot.PeerVPC{VPC: id("vpc")}})
		s.Attachments = append(s.Attachments, snapshot.Attachment{ID: fmt.Sprintf("att-%d", i), Gateway: id("tgw"), Kind: pick("vpc", "vpc", "vpn"), Resource: id("vpc"), State: pick("available", "deleted", "newer"), Table: pick("tgw-rtb-0", "tgw-rtb-1", "")})
		s.TransitRoutes = append(s.TransitRoutes, snapshot.TransitRoute{Table: id("tgw-rtb"), Destination: netip.MustParsePrefix(pick(destinations...)), State: pick("active", "blackhole"), Attachments: []string{id("att")}, Resources: []string{id("vpc")}})
		s.PrefixLists = append(s.PrefixLists, snapshot.PrefixList{ID: fmt.Sprintf("pl-%d", i), CIDRs: []netip.Prefix{netip.MustParsePrefix(pick(destinations...))}})
		s.EgressOnly = append(s.EgressOnly, snapshot.EgressOnlyGateway{ID: fmt.Sprintf("eigw-%d", i), Attached: []string{id("vpc")}})
		s.Endpoints = append(s.Endpoints, snapshot.Endpoint{ID: fmt.Sprintf("vpce-%d", i), VPC: vpc, Kind: pick("Gateway", "GatewayLoadBalancer", "Interface"), State: pick("available", "failed"), Service: "com.amazonaws.us-west-2." + pick("s3", "ec2", "sts"), PrivateDNS: r.IntN(2) == 0})
	}
	return s
}

// Every walk ends, whatever leads where, and says how: with a verdict, with
// where, with hops, and with a reason unless it is good.
func TestEveryWayEndsAndSaysWhy(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	seen := map[Verdict]int{}
	for round := range 3000 {
		s := tangle(r)
		n := New(s)
		for i := range 4 {
			subnet := fmt.Sprintf("subnet-%d", i)
			paths, _ := n.Needs(subnet)
			ways := []Way{n.Internet6(subnet)}
			for _, p := range paths {
				ways = append(ways, p.Way)
				n.Stops(p)
			}
			for _, way := range ways {
				seen[way.Verdict]++
				if way.Verdict == "" || way.At == "" || len(way.Hops) == 0 || way.Good() != (way.Reason == "") {
					t.Fatalf("round %d, %s: an incomplete way %+v", round, subnet, way)
				}
				if len(way.Hops) > 100 {
					t.Fatalf("round %d: a way of %d hops", round, len(way.Hops))
				}
			}
		}
	}
	for _, v := range []Verdict{Reaches, NeedsPublicIP, NoRoute, Blackhole, Detached, NATUnusable, NATNoInternet, NATInstance, LeavesView} {
		if seen[v] == 0 {
			t.Errorf("no way ended in %q", v)
		}
	}
}

// blocking sets the mode that EC2 reports of the VPC, then of the private subnet and the
// public one, where the NAT gateway stands.
func blocking(vpc, private, public snapshot.BlockMode) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.VPCs[0].BlockMode = vpc
		w.Subnet(s, w.Private).BlockMode, w.Subnet(s, w.Public).BlockMode = private, public
	}
}

// TestBlockedPublicAccess is the table of the VPC user guide's "Advanced example": an
// exclusion counts in the subnet where the traffic leaves.
func TestBlockedPublicAccess(t *testing.T) {
	const off, in, both = snapshot.BlockOff, snapshot.BlockIngress, snapshot.BlockBidirectional
	exclude := func(e snapshot.Exclusion) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			s.PublicAccess = &snapshot.PublicAccess{Mode: both, Exclusions: []snapshot.Exclusion{e}}
		}
	}
	regional := func(s *snapshot.Snapshot) {
		s.RouteTables = append(s.RouteTables, snapshot.RouteTable{ID: "rtb-0nat", VPC: w.VPC, Routes: w.Table(s, w.PublicRTB).Routes})
		s.NATGateways[0].Subnet, s.NATGateways[0].Zone, s.NATGateways[0].RouteTable = "", "", "rtb-0nat"
	}
	private := func(s *snapshot.Snapshot) { s.NATGateways[0].Public = false }
	appliance := func(s *snapshot.Snapshot) {
		w.Table(s, w.PrivateRTB).Routes[1] = w.To("0.0.0.0/0", snapshot.ToInterface, "eni-0fw")
		s.Interfaces = append(s.Interfaces, snapshot.Interface{ID: "eni-0fw", Subnet: w.Public, Kind: "interface", PublicIP: netip.MustParseAddr("203.0.113.20")})
	}
	carrier := func(s *snapshot.Snapshot) {
		w.Table(s, w.PrivateRTB).Routes[1] = w.To("0.0.0.0/0", snapshot.ToCarrierGateway, "cagw-0a")
	}
	six := func(s *snapshot.Snapshot) {
		s.EgressOnly = []snapshot.EgressOnlyGateway{{ID: "eigw-0a", Attached: []string{w.VPC}}}
		for id, r := range map[string]snapshot.Route{w.PrivateRTB: w.To("::/0", snapshot.ToEgressOnly, "eigw-0a"), w.PublicRTB: w.To("::/0", snapshot.ToInternetGateway, w.IGW)} {
			table := w.Table(s, id)
			table.Routes = append(table.Routes, r)
		}
	}
	four, sixOf := (*Network).Internet, (*Network).Internet6
	for _, tt := range []struct {
		name    string
		way     func(*Network, string) Way
		subnet  string
		changes []func(*snapshot.Snapshot)
		want    [2]string
	}{
		{"off", four, w.Private, []func(*snapshot.Snapshot){blocking(off, off, off)}, [2]string{"reaches", w.IGW}},
		{"not reported", four, w.Private, nil, [2]string{"reaches", w.IGW}},
		{"bidirectional, behind a NAT gateway", four, w.Private, []func(*snapshot.Snapshot){blocking(both, both, both)}, [2]string{"blocked public access", w.Public}},
		{"bidirectional, the NAT gateway's subnet is excluded", four, w.Private, []func(*snapshot.Snapshot){blocking(both, both, off)}, [2]string{"reaches", w.IGW}},
		{"bidirectional, the NAT gateway's subnet may send", four, w.Private, []func(*snapshot.Snapshot){blocking(both, both, in)}, [2]string{"reaches", w.IGW}},
		{"bidirectional, only the nodes' subnet is excluded", four, w.Private, []func(*snapshot.Snapshot){blocking(both, off, both)}, [2]string{"blocked public access", w.Public}},
		{"ingress, behind a NAT gateway", four, w.Private, []func(*snapshot.Snapshot){blocking(in, in, in)}, [2]string{"reaches", w.IGW}},
		{"ingress, with public addresses", four, w.Public, []func(*snapshot.Snapshot){blocking(in, in, in)}, [2]string{"blocked public access", w.Public}},
		{"bidirectional, public, excluded for egress only", four, w.Public, []func(*snapshot.Snapshot){blocking(both, both, in)}, [2]string{"blocked public access", w.Public}},
		{"ingress, public, excluded", four, w.Public, []func(*snapshot.Snapshot){blocking(in, in, off)}, [2]string{"needs a public address", w.IGW}},
		{"ingress, an appliance's subnet", four, w.Private, []func(*snapshot.Snapshot){blocking(in, in, in), appliance}, [2]string{"blocked public access", w.Public}},
		{"bidirectional, an appliance's subnet is excluded", four, w.Private, []func(*snapshot.Snapshot){blocking(both, both, off), appliance}, [2]string{"reaches", w.IGW}},
		{"ingress, a private NAT gateway", four, w.Private, []func(*snapshot.Snapshot){blocking(in, in, in), private}, [2]string{"nat gateway unusable", w.NAT}},
		{"bidirectional, a regional NAT gateway", four, w.Private, []func(*snapshot.Snapshot){blocking(both, both, both), regional}, [2]string{"blocked public access", w.VPC}},
		{"bidirectional, a regional NAT gateway, the nodes' subnet is excluded", four, w.Private, []func(*snapshot.Snapshot){blocking(both, off, both), regional}, [2]string{"leaves view", w.VPC}},
		{"ingress, a regional NAT gateway", four, w.Private, []func(*snapshot.Snapshot){blocking(in, in, in), regional}, [2]string{"reaches", w.IGW}},
		{"bidirectional, a carrier gateway", four, w.Private, []func(*snapshot.Snapshot){blocking(both, both, both), carrier}, [2]string{"blocked public access", w.Private}},
		{"bidirectional, an egress-only gateway", sixOf, w.Private, []func(*snapshot.Snapshot){blocking(both, both, both), six}, [2]string{"blocked public access", w.Private}},
		{"ingress, an egress-only gateway", sixOf, w.Private, []func(*snapshot.Snapshot){blocking(in, in, in), six}, [2]string{"reaches", "eigw-0a"}},
		{"ingress, IPv6 by the internet gateway", sixOf, w.Public, []func(*snapshot.Snapshot){blocking(in, in, in), six}, [2]string{"blocked public access", w.Public}},
		{"the VPC's mode where a subnet has none", four, w.Private, []func(*snapshot.Snapshot){blocking(both, "", "")}, [2]string{"blocked public access", w.Public}},
		{"the account's mode where neither has one", four, w.Private, []func(*snapshot.Snapshot){exclude(snapshot.Exclusion{})}, [2]string{"blocked public access", w.Public}},
		{"an exclusion that no state shows", four, w.Private, []func(*snapshot.Snapshot){blocking(both, both, both), exclude(snapshot.Exclusion{Resource: w.Public, Active: true})}, [2]string{"reaches", w.IGW}},
		{"an exclusion of the VPC, egress only", four, w.Private, []func(*snapshot.Snapshot){blocking(both, both, both), exclude(snapshot.Exclusion{Resource: w.VPC, Egress: true, Active: true})}, [2]string{"reaches", w.IGW}},
		{"an exclusion of another subnet", four, w.Private, []func(*snapshot.Snapshot){blocking(both, both, both), exclude(snapshot.Exclusion{Resource: w.Private, Active: true})}, [2]string{"blocked public access", w.Public}},
		{"an exclusion that is gone", four, w.Private, []func(*snapshot.Snapshot){blocking(both, both, both), exclude(snapshot.Exclusion{Resource: w.Public})}, [2]string{"blocked public access", w.Public}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := w.PrivateWithNAT()
			for _, change := range tt.changes {
				change(s)
			}
			got := tt.way(New(s), tt.subnet)
			expect.Same(t, fmt.Sprint(got), [2]string{string(got.Verdict), got.At}, tt.want)
		})
	}
}

// TestModeIsUnsure: a change under way, and a subnet of which neither its own mode nor
// an exclusion was read, leave a doubt.
func TestModeIsUnsure(t *testing.T) {
	const both = snapshot.BlockBidirectional
	with := func(a snapshot.PublicAccess) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { s.PublicAccess = &a }
	}
	for name, tt := range map[string]struct {
		changes []func(*snapshot.Snapshot)
		want    bool
	}{
		"the subnet's own mode":                 {[]func(*snapshot.Snapshot){blocking(both, both, both)}, false},
		"the VPC's mode, exclusions unread":     {[]func(*snapshot.Snapshot){blocking(both, "", "")}, true},
		"the VPC's mode, exclusions read":       {[]func(*snapshot.Snapshot){blocking(both, "", ""), with(snapshot.PublicAccess{Mode: both})}, false},
		"the mode is changing":                  {[]func(*snapshot.Snapshot){blocking(both, both, both), with(snapshot.PublicAccess{Changing: true})}, true},
		"an exclusion is being made":            {[]func(*snapshot.Snapshot){blocking(both, both, both), with(snapshot.PublicAccess{Exclusions: []snapshot.Exclusion{{Resource: w.Public, Changing: true}}})}, true},
		"an exclusion of another is being made": {[]func(*snapshot.Snapshot){blocking(both, both, both), with(snapshot.PublicAccess{Exclusions: []snapshot.Exclusion{{Resource: w.Private, Changing: true}}})}, false},
	} {
		s := w.PrivateWithNAT()
		for _, change := range tt.changes {
			change(s)
		}
		expect.Equal(t, fmt.Sprintf("%s: unsure", name), New(s).Mode(w.Public, w.VPC).Unsure, tt.want)
	}
}

// TestRegionalAddresses: the addresses of a regional NAT gateway belong to zones.
func TestRegionalAddresses(t *testing.T) {
	address := func(ip, zone string) snapshot.NATAddress {
		return snapshot.NATAddress{IP: netip.MustParseAddr(ip), Zone: zone}
	}
	all := []snapshot.NATAddress{address("203.0.113.1", "us-west-2a"), address("203.0.113.2", "us-west-2b"), address("203.0.113.3", "us-west-2b")}
	for name, tt := range map[string]struct {
		from     snapshot.Subnet
		regional bool
		want     []string
	}{
		"its own zone's":                     {snapshot.Subnet{Zone: "us-west-2a"}, true, []string{"203.0.113.1"}},
		"the two of its zone":                {snapshot.Subnet{Zone: "us-west-2b"}, true, []string{"203.0.113.2", "203.0.113.3"}},
		"not expanded to the zone yet":       {snapshot.Subnet{Zone: "us-west-2c"}, true, []string{"203.0.113.1", "203.0.113.2", "203.0.113.3"}},
		"the zone is not known":              {snapshot.Subnet{}, true, []string{"203.0.113.1", "203.0.113.2", "203.0.113.3"}},
		"a zonal gateway serves other zones": {snapshot.Subnet{Zone: "us-west-2a"}, false, []string{"203.0.113.1", "203.0.113.2", "203.0.113.3"}},
	} {
		nat := snapshot.NATGateway{Addresses: all}
		if tt.regional {
			nat.RouteTable = "rtb-0nat"
		}
		var got []string
		for _, a := range addresses(nat, tt.from) {
			got = append(got, a.String())
		}
		expect.Same(t, name, got, tt.want)
	}
}

func row(destination, target string) snapshot.Route {
	return snapshot.Route{Destination: netip.MustParsePrefix(destination), State: "active", Target: snapshot.Target{Kind: snapshot.ToInterface, ID: target}}
}

func TestBest(t *testing.T) {
	propagated := row("10.1.0.0/16", "vgw-1")
	propagated.Origin = "EnableVgwRoutePropagation"
	advertised := row("10.1.0.0/16", "route server")
	advertised.Origin = "Advertisement"
	filtered := row("10.1.2.0/28", "filtered")
	filtered.State = "filtered"
	rows := []snapshot.Route{
		filtered,
		advertised,
		row("0.0.0.0/0", "default"),
		row("10.0.0.0/8", "wide"),
		propagated,
		row("10.1.0.0/16", "static"),
		row("10.1.2.0/24", "narrow"),
		row("::/0", "v6"),
		row("2001:db8::/32", "v6 narrow"),
		{PrefixList: "pl-1", State: "active", Target: snapshot.Target{ID: "list"}},
		{PrefixList: "pl-unread", State: "active", Target: snapshot.Target{ID: "unread"}},
	}
	lists := Lists{"pl-1": {netip.MustParsePrefix("52.216.0.0/15"), netip.MustParsePrefix("10.1.2.128/25")}}
	tests := []struct{ to, want string }{
		{"8.8.8.8", "default"},
		{"10.200.0.1", "wide"},
		{"10.1.200.1", "static"},
		{"10.1.2.3", "narrow"},
		{"10.1.2.200", "list"},
		{"52.217.0.1", "list"},
		{"52.218.0.1", "default"},
		{"2001:db8::1", "v6 narrow"},
		{"2600::1", "v6"},
	}
	for _, tt := range tests {
		got, ok := Best(rows, netip.MustParseAddr(tt.to), lists)
		if !ok || got.Target.ID != tt.want {
			t.Errorf("Best(%s) = %q, %t, want %q", tt.to, got.Target.ID, ok, tt.want)
		}
	}
	if got, ok := Best(rows[3:4], netip.MustParseAddr("11.0.0.1"), nil); ok {
		t.Errorf("Best without a row that holds the address = %q, want none", got.Target.ID)
	}
	if _, ok := Best(nil, netip.MustParseAddr("11.0.0.1"), nil); ok {
		t.Error("Best of an empty table found a row")
	}
}

// The order of rows never matters.
func TestBestIsIndependentOfOrder(t *testing.T) {
	a, b := row("10.1.0.0/16", "static"), row("10.1.0.0/16", "vgw-1")
	b.Origin = "EnableVgwRoutePropagation"
	for _, rows := range [][]snapshot.Route{{a, b}, {b, a}} {
		if got, _ := Best(rows, netip.MustParseAddr("10.1.0.1"), nil); got.Target.ID != "static" {
			t.Errorf("Best = %q, want %q", got.Target.ID, "static")
		}
	}
}

func FuzzBest(f *testing.F) {
	f.Add([]byte{10, 0, 0, 0, 8, 0, 0, 0, 0, 0}, []byte{10, 1, 2, 3})
	f.Fuzz(func(t *testing.T, raw, to []byte) {
		addr, ok := netip.AddrFromSlice(to)
		if !ok || !addr.Is4() {
			return
		}
		var rows []snapshot.Route
		for ; len(raw) >= 5; raw = raw[5:] {
			rows = append(rows, snapshot.Route{Destination: netip.PrefixFrom(netip.AddrFrom4([4]byte(raw[:4])), int(raw[4])%33).Masked()})
		}
		got, found := Best(rows, addr, nil)
		for _, r := range rows {
			if !r.Destination.Contains(addr) {
				continue
			}
			if !found || r.Destination.Bits() > got.Destination.Bits() {
				t.Fatalf("Best(%s) = %s, %t, but %s holds it", addr, got.Destination, found, r.Destination)
			}
		}
		if found && !got.Destination.Contains(addr) {
			t.Fatalf("Best(%s) = %s, which does not hold it", addr, got.Destination)
		}
	})
}

func TestRow(t *testing.T) {
	r := row("0.0.0.0/0", "nat-1")
	r.State = "blackhole"
	expect.Equal(t, "Row", Row(r), "0.0.0.0/0 → nat-1 (blackhole)")
	expect.Equal(t, "Row", Row(snapshot.Route{PrefixList: "pl-1", Target: snapshot.Target{Kind: snapshot.ToUnknown}}), "pl-1 → unknown target")
}

func TestServiceNames(t *testing.T) {
	for service, want := range map[Service]string{
		API: "the cluster API", EC2: "EC2", ECRAPI: "ECR (api)", ECRDKR: "ECR (dkr)", S3: "S3", STS: "STS", EKS: "EKS", "sqs": "sqs",
	} {
		expect.Equal(t, fmt.Sprintf("%s is called", string(service)), service.Name(), want)
	}
}

// The way out comes with the addresses, whether or not they are known.
func TestLeavesFromSaysTheWay(t *testing.T) {
	for name, test := range map[string]struct {
		world  *snapshot.Snapshot
		subnet string
		want   Verdict
	}{
		"a NAT gateway":            {w.PrivateWithNAT(), w.Private, Reaches},
		"an internet gateway":      {w.PublicOnly(), w.Public, NeedsPublicIP},
		"no route to the internet": {change(w.PrivateWithNAT(), rows()), w.Private, NoRoute},
	} {
		if _, way := New(test.world).LeavesFrom(test.subnet, netip.MustParseAddr("203.0.113.99")); way.Verdict != test.want {
			t.Errorf("%s: %s, want %s", name, way.Verdict, test.want)
		}
	}
}

// What wins for a service: an endpoint with private DNS, a gateway endpoint in
// the table, a row for the service's own list, the way to the internet.
func TestWhatWins(t *testing.T) {
	const list = "pl-0s3"
	s3 := func(target snapshot.TargetKind, id, state string) snapshot.Route {
		return snapshot.Route{PrefixList: list, State: state, Target: snapshot.Target{Kind: target, ID: id}}
	}
	nat := w.To("0.0.0.0/0", snapshot.ToNATGateway, w.NAT)
	gateway := snapshot.Endpoint{ID: "vpce-0s3", VPC: w.VPC, Service: "com.amazonaws.us-west-2.s3", Kind: "Gateway", State: "available"}
	with := func(change func(*snapshot.Endpoint)) []snapshot.Endpoint {
		e := gateway
		change(&e)
		return []snapshot.Endpoint{e}
	}
	isInterface := func(dns bool) []snapshot.Endpoint {
		return with(func(e *snapshot.Endpoint) { e.Kind, e.PrivateDNS, e.Subnets = "Interface", dns, []string{w.Private} })
	}
	for _, test := range []struct {
		name      string
		rows      []snapshot.Route
		endpoints []snapshot.Endpoint
		means     Means
		want      told
	}{
		{"the way to the internet", []snapshot.Route{nat}, nil, ByInternet,
			told{Reaches, w.IGW, w.PublicRTB, "", "203.0.113.7 ", toHop + "nat-0a (available, us-west-2a) → subnet-0public → rtb-0public 0.0.0.0/0 → igw-0a"}},
		{"a gateway endpoint", []snapshot.Route{nat, s3(snapshot.ToEndpoint, gateway.ID, "active")}, with(func(*snapshot.Endpoint) {}), ByGateway,
			told{Reaches, gateway.ID, "", "", "", "subnet-0private → rtb-0private pl-0s3 → vpce-0s3"}},
		{"a gateway endpoint whose row is a blackhole", []snapshot.Route{nat, s3(snapshot.ToEndpoint, gateway.ID, blackhole)}, with(func(*snapshot.Endpoint) {}), ByGateway,
			told{Blackhole, gateway.ID, "", "", "", "subnet-0private → rtb-0private pl-0s3 → vpce-0s3: blackhole"}},
		{"an interface endpoint with private DNS", []snapshot.Route{nat}, isInterface(true), ByInterface,
			told{Reaches, gateway.ID, "", "", "", "subnet-0private → rtb-0private local → vpce-0s3 (private DNS)"}},
		{"an interface endpoint without", []snapshot.Route{nat, w.To("10.99.0.0/16", snapshot.ToEndpoint, gateway.ID)}, isInterface(false), ByInternet,
			told{Reaches, w.IGW, w.PublicRTB, "", "203.0.113.7 ", toHop + "nat-0a (available, us-west-2a) → subnet-0public → rtb-0public 0.0.0.0/0 → igw-0a"}},
		{"a gateway endpoint that says it has private DNS", []snapshot.Route{nat, s3(snapshot.ToEndpoint, gateway.ID, "active")}, with(func(e *snapshot.Endpoint) { e.PrivateDNS = true }), ByGateway,
			told{Reaches, gateway.ID, "", "", "", "subnet-0private → rtb-0private pl-0s3 → vpce-0s3"}},
		{"a firewall for the service's list", []snapshot.Route{nat, s3(snapshot.ToLocalGateway, "lgw-0a", "active")}, nil, ByInternet,
			told{LeavesView, "lgw-0a", "rtb-0private", "", "", "subnet-0private → rtb-0private pl-0s3 → lgw-0a (local gateway): what is behind the local gateway is not read"}},
		{"a middlebox before an interface endpoint", []snapshot.Route{nat, w.To("10.43.0.0/24", snapshot.ToEndpoint, "x"),
			w.To("10.42.0.0/24", snapshot.ToEndpoint, "y"), w.To("10.42.192.0/20", snapshot.ToEndpoint, "vpce-0fw")}, isInterface(true), ByInterface,
			told{LeavesView, "vpce-0fw", "", "", "", "subnet-0private → rtb-0private 10.42.192.0/20 → vpce-0fw (vpc endpoint): what is behind the vpc endpoint is not read"}},
	} {
		s := w.PrivateWithNAT()
		rows(test.rows...)(s)
		s.Endpoints, s.PrefixLists = test.endpoints, []snapshot.PrefixList{{ID: list, Name: "com.amazonaws." + s.Region + ".s3"}}
		paths, _ := New(s).Needs(w.Private)
		p := paths[slices.IndexFunc(paths, func(p Path) bool { return p.Service == S3 })]
		if diff := cmp.Diff(test.want, tell(p.Way)); diff != "" || p.Means != test.means {
			t.Errorf("%s: by %s, want %s (-want +got):\n%s", test.name, p.Means, test.means, diff)
		}
	}
	// A row for another service's list is none for this one.
	s := w.PrivateWithNAT()
	rows(nat, s3(snapshot.ToLocalGateway, "lgw-0a", "active"))(s)
	s.PrefixLists = []snapshot.PrefixList{{ID: list, Name: "com.amazonaws." + s.Region + ".dynamodb"}}
	paths, _ := New(s).Needs(w.Private)
	p := paths[slices.IndexFunc(paths, func(p Path) bool { return p.Service == S3 })]
	if p.Verdict != Reaches {
		t.Errorf("by a row for DynamoDB: %s", p.Way)
	}
	s.PrefixLists[0].Name = "com.amazonaws." + s.Region + ".s3"
	paths, _ = New(s).Needs(w.Private)
	p = paths[slices.IndexFunc(paths, func(p Path) bool { return p.Service == S3 })]
	if p.Row.PrefixList != list {
		t.Errorf("by a row for S3, it is told as %+v", p.Row)
	}
	// A subnet of IPv6 alone has no range here.
	s.Subnets = append(s.Subnets, snapshot.Subnet{ID: "subnet-0six", VPC: w.VPC})
	expect.Same(t, "ranges", New(s).cidrs([]string{"subnet-0six", w.Private, "subnet-0none"}), []netip.Prefix{prefix("10.42.192.0/19")}, byValue)
	// A list whose entries could not be read may hold the way out.
	s = w.PrivateWithNAT()
	rows(snapshot.Route{PrefixList: "pl-0mine", State: "active", Target: snapshot.Target{Kind: snapshot.ToNATGateway, ID: w.NAT}})(s)
	w.Without(s, snapshot.PrefixListEntries)
	if way := New(s).Internet(w.Private); way.Verdict != LeavesView || way.Unread != snapshot.PrefixListEntries {
		t.Errorf("a list that is not read: %s, unread %q", way, way.Unread)
	}
	// A private NAT gateway is not to blame for the instance behind it.
	s = w.PrivateWithNAT()
	s.NATGateways[0].Public = false
	s.Interfaces = append(s.Interfaces, snapshot.Interface{ID: "eni-0nat", VPC: w.VPC, Subnet: w.Public, Status: "in-use", SourceCheck: true})
	w.Table(s, w.PublicRTB).Routes = []snapshot.Route{w.To("0.0.0.0/0", snapshot.ToInterface, "eni-0nat")}
	if way := New(s).Internet(w.Private); way.Verdict != NATInstance || way.At != "eni-0nat" {
		t.Errorf("an instance behind a private NAT gateway: %s at %s", way, way.At)
	}
	if _, known := New(change(w.PrivateWithNAT(), func(s *snapshot.Snapshot) { s.RouteTables = nil })).Needs(w.Private); known {
		t.Error("a subnet without a table has paths")
	}
}

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
			attached + " → tgw-rtb-0spoke: the routes of this transit gateway route table are not read"},
		{"one table could not be read", func(s *snapshot.Snapshot) {
			s.Lack(snapshot.TransitGateways, "tgw-rtb-0spoke", snapshot.Failure{})
		}, LeavesView, "tgw-rtb-0spoke", "", attached + " → tgw-rtb-0spoke: the routes of this transit gateway route table are not read"},
		{"no row for the internet", without("tgw-rtb-0spoke"), NoRoute, "tgw-rtb-0spoke", "",
			attached + " → tgw-rtb-0spoke: this transit gateway route table has no route for the internet"},
		{"a blackhole", func(s *snapshot.Snapshot) { s.TransitRoutes[1].State = "blackhole" }, Blackhole, "tgw-rtb-0spoke", "",
			attached + " → tgw-rtb-0spoke 0.0.0.0/0: its route for 0.0.0.0/0 is a blackhole"},
		{"no row back", without("tgw-rtb-0hub"), NoRoute, "tgw-rtb-0hub", "",
			hub + ": tgw-rtb-0hub, the route table for the responses, has no route back to 10.42.192.0/19"},
		{"the attachment waits to be accepted", func(s *snapshot.Snapshot) { s.Attachments[1].State = "pendingAcceptance" }, Blackhole, "tgw-attach-0spoke", "",
			head + " → tgw-attach-0spoke (pendingAcceptance): the attachment of vpc-0a is pendingAcceptance"},
		{"an attachment's state newer than this code", func(s *snapshot.Snapshot) { s.Attachments[1].State = "resting" }, LeavesView, "tgw-attach-0spoke", "",
			head + " → tgw-attach-0spoke (resting): the attachment's state \"resting\" is unknown"},
		{"which table is not seen", func(s *snapshot.Snapshot) { s.Attachments[1].Table = "" }, LeavesView, "tgw-0a", "",
			attached + ": the route table that the attachment uses is not visible"},
		{"to a VPN", func(s *snapshot.Snapshot) { s.Attachments[0].Kind = "vpn" }, LeavesView, "tgw-attach-0hub", "",
			hub + ": what is behind the vpn attachment is not read"},
		{"the hub is not read", func(s *snapshot.Snapshot) { s.Attachments[0].Resource = "vpc-0far" }, LeavesView, "vpc-0far", "",
			attached + " → tgw-rtb-0spoke 0.0.0.0/0 → tgw-attach-0hub (vpc-0far) → vpc-0far: vpc-0far is not read"},
		{"the hub's attachment stands beside its internet gateway", func(s *snapshot.Snapshot) { s.Interfaces[len(s.Interfaces)-1].Subnet = "subnet-0out" }, NoRoute, "rtb-0out", "",
			hub + " → subnet-0out → rtb-0out 0.0.0.0/0 → igw-0hub: igw-0hub carries nothing that comes from another VPC without a NAT gateway"},
		{"where the hub's attachment stands is not read", func(s *snapshot.Snapshot) { w.Without(s, snapshot.Interfaces) }, LeavesView, "tgw-attach-0hub", snapshot.Interfaces,
			hub + ": the subnets of the attachment in vpc-0hub are not read"},
		{"the NAT gateway's table has no row back", func(s *snapshot.Snapshot) {
			table := w.Table(s, "rtb-0out")
			table.Routes = table.Routes[:2]
		}, NoRoute, "rtb-0out", "", hub + " → subnet-0in → rtb-0in 0.0.0.0/0 → nat-0hub (available): rtb-0out has no route for responses to 10.42.192.0/19"},
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
		}, NoRoute, "tgw-rtb-0hub", "", hub + " → subnet-0in → rtb-0in 0.0.0.0/0 → tgw-0a (transit gateway) → tgw-attach-0hub (available) → tgw-rtb-0hub 0.0.0.0/0 → tgw-attach-0hub (vpc-0hub) → subnet-0in → rtb-0in 0.0.0.0/0 → tgw-0a (transit gateway) → tgw-attach-0hub (available): the path is a loop"},
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
			"", toHop + "nat-0a (available, us-west-2a) → subnet-0public → rtb-0public: the table of its own subnet (rtb-0public) has no route to an internet gateway"}},
		{"its subnet's way out is gone", public(gone), told{NATNoInternet, "nat-0a", "rtb-0public", "",
			"", toHop + "nat-0a (available, us-west-2a) → subnet-0public → rtb-0public 0.0.0.0/0 → igw-0old: the default route of its own subnet is a blackhole (igw-0old)"}},
		{"its subnet's way out leads back", public(w.To("0.0.0.0/0", snapshot.ToNATGateway, w.NAT)),
			told{NATNoInternet, "nat-0a", "rtb-0public", "", "",
				toHop + "nat-0a (available, us-west-2a) → subnet-0public → rtb-0public 0.0.0.0/0 → nat-0a (available, us-west-2a): its own subnet's route points back to it"}},
		{"its subnet's way out is another NAT gateway that works", both(public(w.To("0.0.0.0/0", snapshot.ToNATGateway, "nat-0b")), func(s *snapshot.Snapshot) {
			s.NATGateways = append(s.NATGateways, snapshot.NATGateway{ID: "nat-0b", State: "available", Public: true, RouteTable: "rtb-0regional"})
			ownTable(s)
		}), told{NATNoInternet, "nat-0a", "rtb-0regional", "", "",
			toHop + "nat-0a (available, us-west-2a) → subnet-0public → rtb-0public 0.0.0.0/0 → nat-0b (available) → rtb-0regional 0.0.0.0/0 → igw-0a: its own subnet's route points to nat-0b and not to an internet gateway"}},
		{"its subnet's way out is another NAT gateway that failed", both(public(w.To("0.0.0.0/0", snapshot.ToNATGateway, "nat-0b")), func(s *snapshot.Snapshot) {
			s.NATGateways = append(s.NATGateways, snapshot.NATGateway{ID: "nat-0b", State: "failed", Public: true})
		}), told{NATNoInternet, "nat-0a", "rtb-0public", "", "",
			toHop + "nat-0a (available, us-west-2a) → subnet-0public → rtb-0public 0.0.0.0/0 → nat-0b (failed): its own subnet's route points to nat-0b and not to an internet gateway"}},
		{"its subnet's way out leaves view", public(w.To("0.0.0.0/0", snapshot.ToLocalGateway, "lgw-0a")),
			told{LeavesView, "lgw-0a", "rtb-0public", "", "",
				toHop + "nat-0a (available, us-west-2a) → subnet-0public → rtb-0public 0.0.0.0/0 → lgw-0a (local gateway): what is behind the local gateway is not read"}},
		{"its subnet has the main table, which has no route to the internet", func(s *snapshot.Snapshot) { w.Table(s, w.PublicRTB).Subnets = nil },
			told{NATNoInternet, "nat-0a", "rtb-0main", "", "",
				toHop + "nat-0a (available, us-west-2a) → subnet-0public → rtb-0main (main table): the table of its own subnet (rtb-0main) has no route to an internet gateway"}},
		{"its own row is a blackhole", func(s *snapshot.Snapshot) {
			rows := w.Table(s, w.PrivateRTB).Routes
			rows[slices.IndexFunc(rows, func(r snapshot.Route) bool { return r.Target.ID == w.NAT })].State = blackhole
		}, told{Blackhole, "nat-0a", "rtb-0private", "", "", toHop + "nat-0a (available, us-west-2a): blackhole"}},
		{"regional", both(regional, ownTable), told{Reaches, "igw-0a", "rtb-0regional", "", "203.0.113.7 ",
			toHop + "nat-0a (available) → rtb-0regional 0.0.0.0/0 → igw-0a"}},
		{"regional, and its table was not read", regional, told{LeavesView, "rtb-0regional", "rtb-0private", "", "",
			toHop + "nat-0a (available): this route table was not read"}},
		{"neither in a subnet nor with a table", gateway(func(g *snapshot.NATGateway) { g.Subnet = "" }),
			told{LeavesView, "nat-0a", "rtb-0private", "", "", toHop + "nat-0a (available, us-west-2a): its route table is unknown"}},
		{"private, to an internet gateway", isPrivate, told{NATUnusable, "nat-0a", "rtb-0public", "",
			"",
			toHop + "nat-0a (available, private, us-west-2a) → subnet-0public → rtb-0public 0.0.0.0/0 → igw-0a: it is a private NAT gateway, and nothing behind it reaches the internet"}},
		{"private, without a route to the internet", both(isPrivate, public()), told{NATUnusable, "nat-0a", "rtb-0public", "",
			"",
			toHop + "nat-0a (available, private, us-west-2a) → subnet-0public → rtb-0public: it is a private NAT gateway, and nothing behind it reaches the internet"}},
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
				toHop + "nat-0a (available, private, us-west-2a) → subnet-0public → rtb-0public 0.0.0.0/0 → nat-0a (available, private, us-west-2a): it is a private NAT gateway, and nothing behind it reaches the internet"}},
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
		expect.Same(t, test.name, tell(New(s).Internet(w.Private)), test.want)
	}
}
