package path

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/snapshot"
	w "rollcall/shared/snapshot/snapshottest"
)

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
		if diff := cmp.Diff(got, tt.want); diff != "" {
			t.Errorf("%s: LeavesFrom (-got +want):\n%s", tt.name, diff)
		}
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
		if diff := cmp.Diff(n.Stops(paths[i]), tt.want, same); diff != "" {
			t.Errorf("%s: Stops (-got +want):\n%s", tt.name, diff)
		}
	}
	s := change(w.PrivateWithNAT(), rows(w.To("::/0", snapshot.ToEgressOnly, "eigw-0a")))
	n := New(s)
	got := n.Stops(Path{Means: ByInternet, Way: n.Internet6(w.Private)})
	if len(got) != 1 || !got[0].Ends || got[0].Ranges[0] != six {
		t.Errorf("Stops over IPv6 = %+v, want the internet over IPv6 alone", got)
	}
}
