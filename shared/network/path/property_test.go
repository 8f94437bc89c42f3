package path

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"

	"rollcall/shared/snapshot"
)

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
