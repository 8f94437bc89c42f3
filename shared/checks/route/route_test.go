package route

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
	"rollcall/tools/expect"
)

func checkOf(id checkid.ID) check.Check { return checktest.One(Checks(), id) }

func TestCases(t *testing.T) {
	checktest.RunTable(t, Checks(), map[checkid.ID][]checktest.Case{
		checkid.RouteNoEgress:              noEgressCases(),
		checkid.RouteAPIPrivateUnreachable: apiPrivateUnreachableCases(),
		checkid.RouteAPIPublicCIDR:         apiPublicCIDRCases(),
		checkid.RouteBlackhole:             blackholeCases(),
		checkid.RouteBlockedPublicAccess:   blockedPublicAccessCases(),
		checkid.RouteCrossZoneNAT: {
			{"same zone", snapshottest.PrivateWithNAT(), []string{"pass rtb-0private [subnet-0private]"}},
			{"another zone", checktest.Change(snapshottest.PrivateWithNAT(), farNAT), []string{
				"fail rtb-0private [subnet-0private] [] subnet-0private goes out through nat-0a in us-west-2b",
			}},
			{"regional", checktest.Change(snapshottest.PrivateWithNAT(), func(s *snapshot.Snapshot) {
				s.NATGateways[0].Subnet, s.NATGateways[0].Zone, s.NATGateways[0].RouteTable = "", "", snapshottest.PublicRTB
			}), []string{"pass rtb-0private [subnet-0private]"}},
			{"a gateway that does not work is route/nat-unusable", checktest.Change(failedNAT(), farNAT), []string{"pass rtb-0private [subnet-0private]"}},
			{"no service needs it", checktest.Change(snapshottest.EndpointsOnly(), func(s *snapshot.Snapshot) {
				t := snapshottest.Table(s, snapshottest.PrivateRTB)
				t.Routes = append(t.Routes, snapshottest.To("0.0.0.0/0", snapshot.ToNATGateway, snapshottest.NAT))
				s.NATGateways = snapshottest.PrivateWithNAT().NATGateways
				farNAT(s)
			}), []string{"pass rtb-0private [subnet-0private]"}},
			{"unread", checktest.Change(snapshottest.PrivateWithNAT(), checktest.Unread(snapshot.NATGateways)), []string{"unknown prod [] nat gateways: denied"}},
		},
		checkid.RouteIGWDetached:            igwDetachedCases(),
		checkid.RouteIGWNoPublicIP:          igwNoPublicIPCases(),
		checkid.RouteIPv6NoEgress:           ipv6NoEgressCases(),
		checkid.RouteLeavesView:             leavesViewCases(),
		checkid.RouteNATInstanceSourceCheck: natInstanceCases(),
		checkid.RouteNATNoInternet:          natNoInternetCases(),
		checkid.RouteNATUnusable:            natUnusableCases(),
	})
}

const clusterVPC = "vpc-0cluster"

// apart is a cluster with a private endpoint only, in a VPC of its own that an
// active peering connection joins to the nodes'; the rows are added to the
// nodes' table, and back to those of the cluster's subnet.
func apart(there []snapshot.Route, back ...snapshot.Route) *snapshot.Snapshot {
	s := checktest.Change(snapshottest.PrivateWithNAT(), checktest.Late)
	s.Cluster.VPC, s.Cluster.EndpointPrivate, s.Cluster.EndpointPublic = clusterVPC, true, false
	s.Cluster.Subnets, s.Interfaces = []string{"subnet-0control"}, nil
	theirs := netip.MustParsePrefix("10.99.0.0/16")
	s.VPCs = append(s.VPCs, snapshot.VPC{ID: clusterVPC, CIDRs: []netip.Prefix{theirs}})
	s.Subnets = append(s.Subnets, snapshot.Subnet{ID: "subnet-0control", VPC: clusterVPC, CIDR: netip.MustParsePrefix("10.99.1.0/24")})
	s.RouteTables = append(s.RouteTables, snapshot.RouteTable{
		ID: "rtb-0control", VPC: clusterVPC, Main: true, Routes: append([]snapshot.Route{snapshottest.To("10.99.0.0/16", snapshot.ToLocal, "local")}, back...),
	})
	s.Peerings = []snapshot.Peering{{
		ID: "pcx-0a", State: "active",
		Requester: snapshot.PeerVPC{VPC: snapshottest.VPC, CIDRs: []netip.Prefix{netip.MustParsePrefix("10.42.0.0/16")}},
		Accepter:  snapshot.PeerVPC{VPC: clusterVPC, CIDRs: []netip.Prefix{theirs}},
	}}
	t := snapshottest.Table(s, snapshottest.PrivateRTB)
	t.Routes = append(t.Routes, there...)
	return s
}

func apiPrivateUnreachableCases() []checktest.Case {
	to := []snapshot.Route{snapshottest.To("10.99.0.0/16", snapshot.ToPeering, "pcx-0a")}
	back := snapshottest.To("10.42.0.0/16", snapshot.ToPeering, "pcx-0a")
	pass := []string{"pass rtb-0private [subnet-0private]"}
	fail := []string{"fail rtb-0private [subnet-0private] [i-0node] subnet-0private cannot reach the private API in vpc-0cluster"}
	return []checktest.Case{
		{"in the cluster's VPC", snapshottest.EndpointsOnly(), pass},
		{"peered, routes both ways", apart(to, back), pass},
		{"no route there: the NAT gateway carries no private addresses", apart(nil, back), fail},
		{"no route is seen, and its nodes are Ready", checktest.Change(apart(nil, back), func(s *snapshot.Snapshot) { snapshottest.Join(s, snapshottest.Node) }), pass},
		{"no route back", apart(to), []string{"fail rtb-0control [subnet-0private] [i-0node] subnet-0private cannot reach the private API in vpc-0cluster"}},
		{"the peering connection was deleted", checktest.Change(apart(to, back), func(s *snapshot.Snapshot) { s.Peerings[0].State = "deleted" }), fail},
		{"a peering connection with a third VPC", checktest.Change(apart(to, back), func(s *snapshot.Snapshot) { s.Peerings[0].Accepter.VPC = "vpc-0third" }), fail},
		{"peerings unread", checktest.Change(apart(to, back), checktest.Unread(snapshot.Peerings)), []string{"unknown pcx-0a [subnet-0private] vpc peering connections: denied"}},
		{"through a transit gateway of another account", apart([]snapshot.Route{snapshottest.To("10.99.0.0/16", snapshot.ToTransitGateway, "tgw-0a")}), []string{
			"unknown tgw-0a [subnet-0private] route tables: not read: tgw-0a: what is behind the transit gateway is not read",
		}},
		{"nothing is known of the cluster's VPC", checktest.Change(apart(nil), func(s *snapshot.Snapshot) {
			s.VPCs, s.Cluster.Subnets = s.VPCs[:1], nil
		}), []string{"unknown vpc-0cluster [subnet-0private] route tables: not read: vpc-0cluster: the cluster's private endpoint is in vpc-0cluster, whose addresses are not read"}},
		{"public too: nodes outside of the VPC use that", checktest.Change(apart(nil), func(s *snapshot.Snapshot) { s.Cluster.EndpointPublic = true }), pass},
		{"the ranges overlap", checktest.Change(apart(to, back), func(s *snapshot.Snapshot) {
			snapshottest.Subnet(s, "subnet-0control").CIDR = netip.MustParsePrefix("10.42.1.0/24")
		}), fail},
		{"route tables unread", checktest.Change(apart(to, back), checktest.Unread(snapshot.RouteTables)), []string{"unknown prod [] route tables: denied"}},
	}
}

func TestAPIPrivateUnreachableFix(t *testing.T) {
	to, gone := snapshottest.To("10.99.0.0/16", snapshot.ToPeering, "pcx-0a"), snapshottest.To("10.42.0.0/16", snapshot.ToPeering, "pcx-0gone")
	gone.State = "blackhole"
	for name, x := range map[string]struct {
		world *snapshot.Snapshot
		want  string
	}{
		"no route there":                      {apart(nil), "aws ec2 create-route --region us-west-2 --route-table-id rtb-0private --destination-cidr-block 10.99.0.0/16 --vpc-peering-connection-id pcx-0a"},
		"no route back":                       {apart([]snapshot.Route{to}), "aws ec2 create-route --region us-west-2 --route-table-id rtb-0control --destination-cidr-block 10.42.0.0/16 --vpc-peering-connection-id pcx-0a"},
		"the route back leads to one deleted": {apart([]snapshot.Route{to}, gone), "aws ec2 replace-route --region us-west-2 --route-table-id rtb-0control --destination-cidr-block 10.42.0.0/16 --vpc-peering-connection-id pcx-0a"},
	} {
		if got := checktest.Failed(t, checkOf(checkid.RouteAPIPrivateUnreachable), x.world).Fix; got.Command != x.want {
			t.Errorf("%s: Command = %q, want %q", name, got.Command, x.want)
		}
	}
}

// admitting admits the ranges to the public endpoint.
func admitting(ranges ...string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Cluster.PublicAccessCIDRs = nil
		for _, r := range ranges {
			s.Cluster.PublicAccessCIDRs = append(s.Cluster.PublicAccessCIDRs, netip.MustParsePrefix(r))
		}
	}
}

// sixCluster makes the cluster an IPv6 one with a dual-stack endpoint, and the
// subnets dual-stack with a way out over IPv6.
func sixCluster(s *snapshot.Snapshot) {
	s.Cluster.IPv6 = true
	s.Cluster.Endpoint = "https://0123456789ABCDEF0123456789ABCDEF.us-west-2.api.aws"
	s.Cluster.PublicAccessCIDRs = append(s.Cluster.PublicAccessCIDRs, netip.MustParsePrefix("::/0"))
	s.VPCs[0].IPv6 = []netip.Prefix{netip.MustParsePrefix("2600:1f14:0:ab00::/56")}
	for i, id := range []string{snapshottest.Private, snapshottest.Public} {
		snapshottest.Subnet(s, id).IPv6 = []netip.Prefix{netip.MustParsePrefix([]string{"2600:1f14:0:ab00::/64", "2600:1f14:0:ab01::/64"}[i])}
	}
	s.EgressOnly = []snapshot.EgressOnlyGateway{{ID: "eigw-0a", Attached: []string{snapshottest.VPC}}}
	for _, t := range []string{snapshottest.PrivateRTB, snapshottest.MainRTB} {
		table := snapshottest.Table(s, t)
		table.Routes = append(table.Routes, snapshottest.To("::/0", snapshot.ToEgressOnly, "eigw-0a"))
	}
	table := snapshottest.Table(s, snapshottest.PublicRTB)
	table.Routes = append(table.Routes, snapshottest.To("::/0", snapshot.ToInternetGateway, snapshottest.IGW))
}

func apiPublicCIDRCases() []checktest.Case {
	office := admitting("198.51.100.0/24")
	pass := []string{"pass rtb-0private [subnet-0private]"}
	fail := []string{"fail prod [subnet-0private] [i-0node] the API of prod blocks 203.0.113.7/32"}
	private := func(s *snapshot.Snapshot) { s.Cluster.EndpointPrivate = true }
	second := func(s *snapshot.Snapshot) {
		s.NATGateways[0].Addresses = append(s.NATGateways[0].Addresses, snapshot.NATAddress{IP: netip.MustParseAddr("203.0.113.8")})
	}
	regional := func(s *snapshot.Snapshot) {
		s.RouteTables = append(s.RouteTables, snapshot.RouteTable{ID: "rtb-0nat", VPC: snapshottest.VPC, Routes: snapshottest.Table(s, snapshottest.PublicRTB).Routes})
		g := &s.NATGateways[0]
		second(s)
		g.Subnet, g.Zone, g.RouteTable, g.Addresses[0].Zone, g.Addresses[1].Zone = "", "", "rtb-0nat", snapshottest.Zone, "us-west-2b"
	}
	nat := func() *snapshot.Snapshot { return checktest.Change(snapshottest.PrivateWithNAT(), checktest.Late) }
	public := func() *snapshot.Snapshot { return checktest.Change(snapshottest.PublicOnly(), checktest.Late) }
	return []checktest.Case{
		{"everybody is admitted", nat(), pass},
		{"the NAT gateway is not admitted", checktest.Change(nat(), office), fail},
		{"the NAT gateway is admitted", checktest.Change(nat(), admitting("198.51.100.0/24", "203.0.113.0/28")), pass},
		{"everybody, in two halves", checktest.Change(nat(), admitting("0.0.0.0/1", "128.0.0.0/1")), pass},
		{"private access is on: nodes do not use the public endpoint", checktest.Change(nat(), office, private), pass},
		{"its nodes are Ready all the same", checktest.Change(snapshottest.PrivateWithNAT(), office), pass},
		{"one of the gateway's two addresses", checktest.Change(nat(), second, admitting("203.0.113.7/32")), []string{
			"fail (likely) prod [subnet-0private] [i-0node] the API of prod blocks 203.0.113.8/32",
		}},
		{"a regional NAT gateway: its own zone's address is admitted", checktest.Change(nat(), regional, admitting("203.0.113.7/32")), pass},
		{"a regional NAT gateway: another zone's address is admitted", checktest.Change(nat(), regional, admitting("203.0.113.8/32")), fail},
		{"a regional NAT gateway that has not come to the zone yet", checktest.Change(nat(), regional, admitting("203.0.113.8/32"), func(s *snapshot.Snapshot) { s.NATGateways[0].Addresses[0].Zone = "us-west-2c" }), []string{
			"fail (likely) prod [subnet-0private] [i-0node] the API of prod blocks 203.0.113.7/32",
		}},
		{"a regional NAT gateway serves two subnets of one table", checktest.Change(nat(), regional, admitting("203.0.113.7/32"), func(s *snapshot.Snapshot) {
			s.Subnets = append(s.Subnets, snapshot.Subnet{ID: "subnet-0b", VPC: snapshottest.VPC, Zone: "us-west-2b"})
			s.Scope.Subnets = append(s.Scope.Subnets, "subnet-0b")
			table := snapshottest.Table(s, snapshottest.PrivateRTB)
			table.Subnets = append(table.Subnets, "subnet-0b")
		}), []string{
			"fail prod [subnet-0b] [] the API of prod blocks 203.0.113.8/32", pass[0],
		}},
		{"the node's own address is not admitted", checktest.Change(public(), office), []string{
			"fail prod [subnet-0public] [i-0node] the API of prod blocks 203.0.113.9/32",
		}},
		{"the node's own address is admitted", checktest.Change(public(), admitting("203.0.113.9/32")), []string{"pass rtb-0public [subnet-0public]"}},
		{"no node shows its address", checktest.Change(public(), office, func(s *snapshot.Snapshot) { s.Scope.Instances = nil }), []string{
			"unknown rtb-0public [subnet-0public] instances: not read: rtb-0public: no instance there shows the source address",
		}},
		{"NAT instance", checktest.Change(checktest.Forwarded(), office), []string{
			"fail prod [subnet-0private] [i-0node] the API of prod blocks 203.0.113.20/32",
		}},
		{"through a transit gateway that cannot be read", checktest.Change(nat(), office, checktest.Routes(snapshottest.PrivateRTB, snapshottest.To("0.0.0.0/0", snapshot.ToTransitGateway, "tgw-0a"))), []string{
			"unknown tgw-0a [subnet-0private] route tables: not read: tgw-0a: what is behind the transit gateway is not read",
		}},
		{"the gateway's address is not known", checktest.Change(nat(), office, func(s *snapshot.Snapshot) { s.NATGateways[0].Addresses = nil }), []string{
			"unknown rtb-0private [subnet-0private] nat gateways: not read: rtb-0private: the source address of the traffic is unknown: subnet-0private → rtb-0private 0.0.0.0/0 → nat-0a (available, us-west-2a) → subnet-0public → rtb-0public 0.0.0.0/0 → igw-0a",
		}},
		{"EKS does not say whom it admits", checktest.Change(nat(), admitting()), []string{
			"unknown rtb-0private [subnet-0private] cluster: not read: rtb-0private: EKS does not report the public endpoint's CIDRs",
		}},
		{"no route to the internet is route/no-egress", checktest.Change(checktest.Isolated(), office), pass},
		{"IPv6 cluster, admitted over IPv6", checktest.Change(nat(), sixCluster, admitting("198.51.100.0/24", "2600:1f14:0:ab00::/56")), pass},
		{"IPv6 cluster, admitted in part", checktest.Change(nat(), sixCluster, admitting("198.51.100.0/24", "2600:1f14:0:ab00:1::/80")), []string{
			"unknown rtb-0private [subnet-0private] instances: not read: rtb-0private: only a part of the subnet's IPv6 addresses is allowed",
		}},
		{"IPv6 cluster, not admitted", checktest.Change(nat(), sixCluster, admitting("198.51.100.0/24", "2600:ffff::/56")), fail},
		{"instances unread", checktest.Change(nat(), checktest.Unread(snapshot.Instances)), []string{"unknown prod [] instances: denied"}},
	}
}

func TestAPIPublicCIDRWordsAndFix(t *testing.T) {
	got := checktest.Failed(t, checkOf(checkid.RouteAPIPublicCIDR), checktest.Change(snapshottest.PrivateWithNAT(), checktest.Late, admitting("198.51.100.0/24")))
	expect.Equal(t, "Why", got.Why, "Private access is off, so nodes in subnet-0private use the public endpoint. Their source address is 203.0.113.7/32; publicAccessCidrs has only 198.51.100.0/24.")
	expect.Equal(t, "Command", got.Fix.Command, "aws eks update-cluster-config --region us-west-2 --name prod --resources-vpc-config endpointPrivateAccess=true")
	abroad := checktest.Failed(t, checkOf(checkid.RouteAPIPublicCIDR), checktest.Change(snapshottest.PrivateWithNAT(), checktest.Late, admitting("198.51.100.0/24"), func(s *snapshot.Snapshot) {
		s.Cluster.VPC, s.Cluster.EndpointPrivate = "vpc-0cluster", true
	}))
	if want := "--resources-vpc-config publicAccessCidrs=198.51.100.0/24,203.0.113.7/32"; !strings.HasSuffix(abroad.Fix.Command, want) {
		t.Errorf("Command = %q, want it to end in %q", abroad.Fix.Command, want)
	}
}

func blackholeCases() []checktest.Case {
	hole := func(kind snapshot.TargetKind, id string) *snapshot.Snapshot {
		return checktest.Change(checktest.DeletedNAT(), checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local(), checktest.Gone(snapshottest.To("0.0.0.0/0", kind, id))))
	}
	return []checktest.Case{
		{"NAT gateway", snapshottest.PrivateWithNAT(), []string{"pass rtb-0private [subnet-0private]"}},
		{"deleted NAT gateway", checktest.DeletedNAT(), []string{
			"fail rtb-0private [subnet-0private] [i-0node] rtb-0private points to nat-0old, which no longer exists",
		}},
		{"a deleted NAT gateway that can be described is route/nat-unusable", checktest.Change(checktest.DeletedNAT(), func(s *snapshot.Snapshot) {
			s.NATGateways = append(s.NATGateways, snapshot.NATGateway{ID: "nat-0old", VPC: snapshottest.VPC, State: "deleted", Public: true})
		}), []string{"pass rtb-0private [subnet-0private]"}},
		{"NAT gateways unread: the row passes nothing, and the gateway may be there", checktest.Change(checktest.DeletedNAT(), checktest.Unread(snapshot.NATGateways)), []string{
			"fail (likely) rtb-0private [subnet-0private] [i-0node] rtb-0private points to nat-0old, which passes nothing",
		}},
		{"deleted NAT instance", hole(snapshot.ToInterface, "eni-0a"), []string{
			"fail rtb-0private [subnet-0private] [i-0node] rtb-0private points to eni-0a, which no longer exists",
		}},
		{"deleted internet gateway", hole(snapshot.ToInternetGateway, "igw-0old"), []string{
			"fail rtb-0private [subnet-0private] [i-0node] rtb-0private points to igw-0old, which no longer exists",
		}},
		{"names lead to another network", checktest.Change(checktest.DeletedNAT(), toHub, ownNames(snapshottest.VPC)), []string{"pass rtb-0private [subnet-0private]"}},
		{"names may lead to another network: a source of them was refused", checktest.Change(checktest.DeletedNAT(), toHub, refused(snapshot.DNSProfilesOf)), []string{
			"fail (likely) rtb-0private [subnet-0private] [i-0node] rtb-0private points to nat-0old, which no longer exists",
		}},
		{"names lead to another network, by a zone whose records are not shown", checktest.Change(checktest.DeletedNAT(), toHub, ownNames(snapshottest.VPC), func(s *snapshot.Snapshot) {
			s.PrivateZones[0].Records, s.PrivateZones[0].Unread = nil, &snapshot.Failure{Source: snapshot.PrivateZonesOf, Reason: snapshot.NotShown}
		}), []string{"pass rtb-0private [subnet-0private]"}},
		{"names may lead to another network: the domain of a Profile's rule is not shown", checktest.Change(checktest.DeletedNAT(), toHub, func(s *snapshot.Snapshot) {
			s.ResolverRules = []snapshot.ResolverRule{{ID: "rslvr-rr-1", VPC: snapshottest.VPC, Unread: &snapshot.Failure{Source: snapshot.ResolverRulesOf, Reason: snapshot.NotShown}}}
		}), []string{
			"fail (likely) rtb-0private [subnet-0private] [i-0node] rtb-0private points to nat-0old, which no longer exists",
		}},
		{"names may lead elsewhere, and nothing leads there", checktest.Change(checktest.DeletedNAT(), refused(snapshot.DNSProfilesOf)), []string{
			"fail rtb-0private [subnet-0private] [i-0node] rtb-0private points to nat-0old, which no longer exists",
		}},
		{"endpoints carry all that is needed", checktest.Change(snapshottest.EndpointsOnly(), func(s *snapshot.Snapshot) {
			t := snapshottest.Table(s, snapshottest.PrivateRTB)
			t.Routes = append(t.Routes, checktest.Gone(snapshottest.To("0.0.0.0/0", snapshot.ToNATGateway, "nat-0old")))
		}), []string{"pass rtb-0private [subnet-0private]"}},
		{"a blackhole for other addresses", checktest.Change(snapshottest.PrivateWithNAT(), func(s *snapshot.Snapshot) {
			t := snapshottest.Table(s, snapshottest.PrivateRTB)
			t.Routes = append(t.Routes, checktest.Gone(snapshottest.To("10.99.0.0/16", snapshot.ToPeering, "pcx-0a")))
		}), []string{"pass rtb-0private [subnet-0private]"}},
		{"transit gateway", checktest.Change(snapshottest.PrivateWithNAT(), checktest.Routes(snapshottest.PrivateRTB, snapshottest.To("0.0.0.0/0", snapshot.ToTransitGateway, "tgw-0a"))), []string{
			"pass rtb-0private [subnet-0private]",
		}},
		{"peering connection that nobody accepted", checktest.Change(checktest.Isolated(), checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local(), snapshottest.To("0.0.0.0/0", snapshot.ToPeering, "pcx-0a")), func(s *snapshot.Snapshot) {
			s.Peerings = []snapshot.Peering{{ID: "pcx-0a", State: "pending-acceptance"}}
		}), []string{"fail rtb-0private [subnet-0private] [i-0node] rtb-0private points to pcx-0a, which passes nothing"}},
		{"transit gateway's table has a blackhole", hubbed(func(h *hubWorld) { h.rows[1].State = "blackhole" }), []string{
			"fail tgw-rtb-0spoke [subnet-0private] [i-0node] tgw-rtb-0spoke has a blackhole for the internet",
		}},
		{"transit gateway's attachment is gone", hubbed(func(h *hubWorld) { h.attachments[1].State = "deleted" }), []string{
			"fail rtb-0private [subnet-0private] [i-0node] rtb-0private points to tgw-attach-0spoke, which passes nothing",
		}},
		{"firewall endpoint that failed", checktest.Change(checktest.Isolated(), checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local(), snapshottest.To("0.0.0.0/0", snapshot.ToEndpoint, "vpce-0fw")), func(s *snapshot.Snapshot) {
			s.Endpoints = []snapshot.Endpoint{{ID: "vpce-0fw", VPC: snapshottest.VPC, Kind: "GatewayLoadBalancer", State: "failed"}}
		}), []string{"fail rtb-0private [subnet-0private] [i-0node] rtb-0private points to vpce-0fw, which passes nothing"}},
		{"a detached internet gateway that can be described is route/igw-detached", detached(), []string{"pass rtb-0public [subnet-0public]"}},
		{"endpoints unread", checktest.Change(checktest.DeletedNAT(), checktest.Unread(snapshot.Endpoints)), []string{"unknown prod [] vpc endpoints: denied"}},
	}
}

func TestBlackholeWordsAndFix(t *testing.T) {
	got := checktest.Failed(t, checkOf(checkid.RouteBlackhole), checktest.DeletedNAT())
	expect.Equal(t, "Why", got.Why, "rtb-0private sends 0.0.0.0/0 to nat-0old, which was deleted or detached: EC2 marks the route as a blackhole. Nodes in subnet-0private cannot reach the cluster API, EC2, ECR, S3 and STS.")
	expect.Equal(t, "Command", got.Fix.Command, "aws ec2 replace-route --region us-west-2 --route-table-id rtb-0private --destination-cidr-block 0.0.0.0/0 --nat-gateway-id nat-0a")
	expect.Equal(t, "path", checktest.Value(t, got, "Path to"), "subnet-0private → rtb-0private 0.0.0.0/0 → nat-0old: blackhole")
}

func TestBlackholeOfAnInternetGateway(t *testing.T) {
	detached := func(attached string) *snapshot.Snapshot {
		s := checktest.Change(checktest.DeletedNAT(), checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local(), checktest.Gone(snapshottest.To("0.0.0.0/0", snapshot.ToInternetGateway, "igw-0old"))))
		s.InternetGateways[0].Attached = []string{attached}
		return s
	}
	tests := []struct{ attached, command, text string }{
		{snapshottest.VPC, "aws ec2 replace-route --region us-west-2 --route-table-id rtb-0private --destination-cidr-block 0.0.0.0/0 --gateway-id igw-0a", "igw-0a is attached to vpc-0a"},
		{"vpc-0other", "", "Attach an internet gateway to vpc-0a (the route names igw-0old), and point 0.0.0.0/0 of rtb-0private to it."},
	}
	for _, tt := range tests {
		got := checktest.Failed(t, checkOf(checkid.RouteBlackhole), detached(tt.attached)).Fix
		if got.Command != tt.command || got.Text != tt.text {
			t.Errorf("attached to %s: Fix = %+v, want %q, %q", tt.attached, got, tt.text, tt.command)
		}
	}
}

// toHub leads private addresses to another network, by the API's private endpoint too.
func toHub(s *snapshot.Snapshot) {
	t := snapshottest.Table(s, snapshottest.PrivateRTB)
	t.Routes = append(t.Routes, snapshottest.To("10.0.0.0/8", snapshot.ToTransitGateway, "tgw-0a"))
	s.Cluster.EndpointPrivate = true
}

// ownNames is a private hosted zone with all names of the Region.
func ownNames(vpc string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.PrivateZones = []snapshot.PrivateZone{{ID: "Z0A1", Domain: "us-west-2.amazonaws.com", VPC: vpc, Records: []snapshot.ZoneRecord{{Name: "*.us-west-2.amazonaws.com", Type: "A"}}}}
	}
}

func refused(source snapshot.Source) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		if s.Failures == nil {
			s.Failures = map[snapshot.Source]snapshot.Failure{}
		}
		s.Failures[source] = snapshot.Failure{Source: source, Reason: snapshot.Denied}
	}
}

// blocking sets the mode of the VPC and its subnets, and excepts some of them.
func blocking(mode snapshot.BlockMode, except map[string]snapshot.BlockMode) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.VPCs[0].BlockMode = mode
		for i := range s.Subnets {
			s.Subnets[i].BlockMode = mode
			if m, ok := except[s.Subnets[i].ID]; ok {
				s.Subnets[i].BlockMode = m
			}
		}
		s.PublicAccess = &snapshot.PublicAccess{Mode: mode}
	}
}

func blockedPublicAccessCases() []checktest.Case {
	const in, both = snapshot.BlockIngress, snapshot.BlockBidirectional
	nat := func(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
		return checktest.Change(snapshottest.PrivateWithNAT(), append([]func(*snapshot.Snapshot){checktest.Late}, changes...)...)
	}
	public := func(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
		return checktest.Change(snapshottest.PublicOnly(), append([]func(*snapshot.Snapshot){checktest.Late}, changes...)...)
	}
	pass := []string{"pass rtb-0private [subnet-0private]"}
	fail := []string{"fail vpc-0a [subnet-0private] [i-0node] Block Public Access drops the traffic of subnet-0private"}
	failPublic := []string{"fail vpc-0a [subnet-0public] [i-0node] Block Public Access drops the traffic of subnet-0public"}
	return []checktest.Case{
		{"off", nat(blocking(snapshot.BlockOff, nil)), pass},
		{"bidirectional", nat(blocking(both, nil)), fail},
		{"bidirectional, the NAT gateway's subnet may send", nat(blocking(both, map[string]snapshot.BlockMode{snapshottest.Public: in})), pass},
		{"bidirectional, only the nodes' subnet is excluded", nat(blocking(both, map[string]snapshot.BlockMode{snapshottest.Private: snapshot.BlockOff})), fail},
		{"ingress, behind a NAT gateway", nat(blocking(in, nil)), pass},
		{"ingress, nodes with public addresses", public(blocking(in, nil)), failPublic},
		{"bidirectional, nodes with public addresses that may send", public(blocking(both, map[string]snapshot.BlockMode{snapshottest.Public: in})), failPublic},
		{"one of two subnets with one table is excluded", public(func(s *snapshot.Snapshot) {
			s.Subnets = append(s.Subnets, snapshot.Subnet{ID: "subnet-0public2", VPC: snapshottest.VPC, Zone: snapshottest.Zone})
			s.Scope.Subnets = append(s.Scope.Subnets, "subnet-0public2")
			table := snapshottest.Table(s, snapshottest.PublicRTB)
			table.Subnets = append(table.Subnets, "subnet-0public2")
		}, blocking(in, map[string]snapshot.BlockMode{"subnet-0public2": snapshot.BlockOff})), append([]string{"pass rtb-0public [subnet-0public2]"}, failPublic...)},
		{"all that nodes need has endpoints", checktest.Change(snapshottest.EndpointsOnly(), checktest.Late, blocking(both, nil)), pass},
		{"its nodes are Ready all the same", checktest.Change(snapshottest.PrivateWithNAT(), blocking(both, nil)), pass},
		{"the mode is being changed", nat(blocking(both, nil), func(s *snapshot.Snapshot) { s.PublicAccess.Changing = true }), []string{"fail (likely)" + strings.TrimPrefix(fail[0], "fail")}},
		{"IPv6 only", nat(sixCluster, blocking(both, map[string]snapshot.BlockMode{snapshottest.Public: in})), fail},
		{"IPv6 only, the API privately", nat(sixCluster, func(s *snapshot.Snapshot) { s.Cluster.EndpointPrivate = true }, blocking(both, map[string]snapshot.BlockMode{snapshottest.Public: in})),
			[]string{"fail (likely)" + strings.TrimPrefix(fail[0], "fail")}},
		{"no route at all is route/no-egress", checktest.Change(checktest.Isolated(), blocking(both, nil)), pass},
		{"unread", nat(blocking(both, nil), checktest.Unread(snapshot.RouteTables)), []string{"unknown prod [] route tables: denied"}},
		{"who blocks is not read", nat(blocking(both, nil), checktest.Unread(snapshot.PublicAccessOf)), fail},
	}
}

// TestBlockedPublicAccessFix: only what lets connections out and none in has a command,
// and no check offers a route or a gateway where neither helps.
func TestBlockedPublicAccessFix(t *testing.T) {
	const both = snapshot.BlockBidirectional
	late := checktest.Late
	policy := func(s *snapshot.Snapshot) { s.PublicAccess.ByPolicy, s.PublicAccess.NoExclusions = true, true }
	for _, tt := range []struct {
		name, command, text string
		world               *snapshot.Snapshot
	}{
		{"a NAT gateway's subnet", "aws ec2 create-vpc-block-public-access-exclusion --region us-west-2 --subnet-id subnet-0public --internet-gateway-exclusion-mode allow-egress",
			"Allows subnet-0public out and nothing in.", checktest.Change(snapshottest.PrivateWithNAT(), late, blocking(both, nil))},
		{"nodes with public addresses", "", "Move the nodes of subnet-0public behind a NAT gateway, or give", checktest.Change(snapshottest.PublicOnly(), late, blocking(snapshot.BlockIngress, nil))},
		{"no exclusions", "", "The organization's policy allows no exclusions: give vpc-0a endpoints for what nodes need, and the cluster private access.",
			checktest.Change(snapshottest.PrivateWithNAT(), late, blocking(both, nil), policy)},
	} {
		got := checktest.Failed(t, checkOf(checkid.RouteBlockedPublicAccess), tt.world)
		if got.Fix.Command != tt.command || !strings.HasPrefix(got.Fix.Text, tt.text) || got.Fix.Remedy != "" {
			t.Errorf("%s: %+v", tt.name, got.Fix)
		}
	}
	isolated := checktest.Failed(t, checkOf(checkid.RouteNoEgress), checktest.Change(checktest.Isolated(), blocking(both, nil)))
	if isolated.Fix.Command != "" || isolated.Fix.Remedy != "" || !strings.HasPrefix(isolated.Fix.Text, "A route to the internet does not help: VPC Block Public Access (block-bidirectional)") {
		t.Errorf("no route, and it would not help: %+v", isolated.Fix)
	}
}

func farNAT(s *snapshot.Snapshot) { s.NATGateways[0].Zone = "us-west-2b" }

func TestCrossZoneNATFix(t *testing.T) {
	near := func(s *snapshot.Snapshot) {
		s.NATGateways = append(s.NATGateways, snapshot.NATGateway{ID: "nat-0near", VPC: snapshottest.VPC, Subnet: snapshottest.Public, State: "available", Public: true, Zone: snapshottest.Zone})
	}
	got := checktest.Failed(t, checkOf(checkid.RouteCrossZoneNAT), checktest.Change(snapshottest.PrivateWithNAT(), farNAT, near)).Fix
	expect.Equal(t, "Command", got.Command, "aws ec2 replace-route --region us-west-2 --route-table-id rtb-0private --destination-cidr-block 0.0.0.0/0 --nat-gateway-id nat-0near")
	if got := checktest.Failed(t, checkOf(checkid.RouteCrossZoneNAT), checktest.Change(snapshottest.PrivateWithNAT(), farNAT)).Fix; got.Command != "" {
		t.Errorf("Command = %q, want none: there is no other gateway", got.Command)
	}
}

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

// detached is a public subnet whose internet gateway is attached to the VPCs.
func detached(vpcs ...string) *snapshot.Snapshot {
	s := checktest.Change(snapshottest.PublicOnly(), checktest.Late)
	s.InternetGateways[0].Attached = vpcs
	r := snapshottest.Table(s, snapshottest.PublicRTB)
	r.Routes[1] = checktest.Gone(r.Routes[1])
	return s
}

func igwDetachedCases() []checktest.Case {
	fail := []string{"fail igw-0a [subnet-0public] [i-0node] igw-0a is not attached to vpc-0a"}
	return []checktest.Case{
		{"attached", snapshottest.PublicOnly(), []string{"pass rtb-0public [subnet-0public]"}},
		{"attached to no VPC", detached(), fail},
		{"attached to another VPC", detached("vpc-0other"), fail},
		{"just detached: the row is not a blackhole yet", checktest.Change(detached(), func(s *snapshot.Snapshot) {
			snapshottest.Table(s, snapshottest.PublicRTB).Routes[1].State = "active"
		}), fail},
		{"of a NAT gateway's subnet", checktest.Change(snapshottest.PrivateWithNAT(), checktest.Late, func(s *snapshot.Snapshot) { s.InternetGateways[0].Attached = nil }), []string{
			"fail igw-0a [subnet-0private] [i-0node] igw-0a is not attached to vpc-0a",
		}},
		{"of the hub behind a transit gateway", checktest.Change(hubbed(func(*hubWorld) {}), func(s *snapshot.Snapshot) { s.InternetGateways[1].Attached = nil }), []string{
			"fail igw-0hub [subnet-0private] [i-0node] igw-0hub is not attached to vpc-0hub",
		}},
		{"gone is route/blackhole", checktest.Change(detached(), func(s *snapshot.Snapshot) { s.InternetGateways = nil }), []string{"pass rtb-0public [subnet-0public]"}},
		{"another account's, and active (shared VPC)", checktest.Change(snapshottest.PublicOnly(), checktest.Late, func(s *snapshot.Snapshot) { s.InternetGateways = nil }), []string{"pass rtb-0public [subnet-0public]"}},
		{"no service needs it", checktest.Change(snapshottest.EndpointsOnly(), checktest.Late, func(s *snapshot.Snapshot) {
			t := snapshottest.Table(s, snapshottest.PrivateRTB)
			t.Routes = append(t.Routes, checktest.Gone(snapshottest.To("0.0.0.0/0", snapshot.ToInternetGateway, snapshottest.IGW)))
			s.InternetGateways = []snapshot.InternetGateway{{ID: snapshottest.IGW}}
		}), []string{"pass rtb-0private [subnet-0private]"}},
		{"unread", checktest.Change(detached(), checktest.Unread(snapshot.InternetGateways)), []string{"unknown prod [] internet gateways: denied"}},
	}
}

func TestIGWDetachedFix(t *testing.T) {
	other := func(s *snapshot.Snapshot) {
		s.InternetGateways = append(s.InternetGateways, snapshot.InternetGateway{ID: "igw-0b", Attached: []string{snapshottest.VPC}})
	}
	tests := []struct {
		name, command, text string
		world               *snapshot.Snapshot
	}{
		{"nobody uses it", "aws ec2 attach-internet-gateway --region us-west-2 --internet-gateway-id igw-0a --vpc-id vpc-0a",
			"vpc-0a has no other internet gateway, and no other VPC uses igw-0a", detached()},
		{"another one is attached", "aws ec2 replace-route --region us-west-2 --route-table-id rtb-0public --destination-cidr-block 0.0.0.0/0 --gateway-id igw-0b",
			"igw-0b is attached to vpc-0a", checktest.Change(detached(), other)},
		{"another VPC uses it", "",
			"Create an internet gateway, attach it to vpc-0a, and point 0.0.0.0/0 of rtb-0public to it. igw-0a belongs to vpc-0other: leave it there.", detached("vpc-0other")},
	}
	for _, tt := range tests {
		got := checktest.Failed(t, checkOf(checkid.RouteIGWDetached), tt.world).Fix
		if got.Command != tt.command || got.Text != tt.text {
			t.Errorf("%s: Fix = %+v, want %q, %q", tt.name, got, tt.text, tt.command)
		}
	}
}

// noPublicIP is a node in a public subnet that assigns no public addresses.
func noPublicIP() *snapshot.Snapshot {
	s := snapshottest.PublicOnly()
	snapshottest.Unjoin(s, snapshottest.Node)
	snapshottest.Instance(s, snapshottest.Node).PublicIP = netip.Addr{}
	snapshottest.Subnet(s, snapshottest.Public).AssignPublicIP = false
	return s
}

func igwNoPublicIPCases() []checktest.Case {
	pending := func(s *snapshot.Snapshot) { snapshottest.Instance(s, snapshottest.Node).State = "pending" }
	nobody := func(s *snapshot.Snapshot) { s.Scope.Instances = nil }
	ended := func(s *snapshot.Snapshot) {
		i := snapshottest.Instance(s, snapshottest.Node)
		i.State, i.Subnet, i.StateReason.Code = "terminated", snapshottest.Public, "Client.UserInitiatedShutdown"
	}
	assigns := func(s *snapshot.Snapshot) { snapshottest.Subnet(s, snapshottest.Public).AssignPublicIP = true }
	return []checktest.Case{
		{"the node has a public address", snapshottest.PublicOnly(), []string{"pass subnet-0public [subnet-0public]"}},
		{"the launch template gives one, the subnet does not", checktest.Change(snapshottest.PublicOnly(), func(s *snapshot.Snapshot) {
			snapshottest.Subnet(s, snapshottest.Public).AssignPublicIP = false
		}), []string{"pass subnet-0public [subnet-0public]"}},
		{"a NAT gateway is on the way", snapshottest.PrivateWithNAT(), []string{"pass rtb-0private [subnet-0private]"}},
		{"neither", noPublicIP(), []string{"fail subnet-0public [subnet-0public] [i-0node] subnet-0public gives its nodes no public address"}},
		{"the launch template takes it away", checktest.Change(noPublicIP(), assigns), []string{
			"fail subnet-0public [subnet-0public] [i-0node] instances in subnet-0public have no public address",
		}},
		{"only those without one are named", checktest.Change(noPublicIP(), func(s *snapshot.Snapshot) {
			snapshottest.Launch(s, "i-0good", snapshottest.Public, time.Minute)
			snapshottest.Instance(s, "i-0good").PublicIP = netip.MustParseAddr("203.0.113.10")
		}), []string{"fail subnet-0public [subnet-0public] [i-0node] subnet-0public gives its nodes no public address"}},
		{"a pending instance may yet get one", checktest.Change(noPublicIP(), pending), nil},
		{"no instance to look at: the launch template may give one", checktest.Change(noPublicIP(), nobody), []string{
			"unknown subnet-0public [subnet-0public] instances: not read: subnet-0public: no instance runs there, and what the launch template assigns is not read",
		}},
		{"a Ready node is not among those that cannot join", checktest.Change(noPublicIP(), func(s *snapshot.Snapshot) {
			snapshottest.Launch(s, "i-0ready", snapshottest.Public, time.Hour)
			snapshottest.Join(s, "i-0ready")
		}), []string{"fail subnet-0public [subnet-0public] [i-0node] subnet-0public gives its nodes no public address"}},
		{"it ended, and its launch template gave none", checktest.Change(noPublicIP(), ended), []string{
			"fail subnet-0public [subnet-0public] [i-0node] subnet-0public gives its nodes no public address",
		}},
		{"it ended, and its launch template gave one", checktest.Change(noPublicIP(), ended, func(s *snapshot.Snapshot) { s.LaunchTemplates[0].PublicIP = "true" }), []string{
			"unknown subnet-0public [subnet-0public] instances: not read: subnet-0public: no instance runs there, and what the launch template assigns is not read",
		}},
		{"it ended, and launch templates are unread", checktest.Change(noPublicIP(), ended, checktest.Unread(snapshot.LaunchTemplates)), []string{
			"unknown subnet-0public [subnet-0public] instances: not read: subnet-0public: no instance runs there, and what the launch template assigns is not read",
		}},
		{"its nodes are Ready: they are proven", checktest.Change(noPublicIP(), func(s *snapshot.Snapshot) { snapshottest.Join(s, snapshottest.Node) }), []string{
			"pass subnet-0public [subnet-0public]",
		}},
		{"IPv6 cluster with a way out over IPv6", checktest.Change(noPublicIP(), func(s *snapshot.Snapshot) {
			s.Cluster.IPv6 = true
			t := snapshottest.Table(s, snapshottest.PublicRTB)
			t.Routes = append(t.Routes, snapshottest.To("::/0", snapshot.ToInternetGateway, snapshottest.IGW))
		}), []string{"unknown subnet-0public [subnet-0public] instances: not read: subnet-0public: the nodes may reach the internet over IPv6"}},
		{"no instance to look at, and the subnet assigns", checktest.Change(noPublicIP(), nobody, assigns), []string{"pass subnet-0public [subnet-0public]"}},
		{"endpoints carry all that is needed", snapshottest.EndpointsOnly(), []string{"pass rtb-0private [subnet-0private]"}},
		{"instances unread", checktest.Change(noPublicIP(), checktest.Unread(snapshot.Instances)), []string{"unknown prod [] instances: denied"}},
	}
}

func TestIGWNoPublicIPFix(t *testing.T) {
	got := checktest.Failed(t, checkOf(checkid.RouteIGWNoPublicIP), noPublicIP())
	expect.Equal(t, "Command", got.Fix.Command, "aws ec2 modify-subnet-attribute --region us-west-2 --subnet-id subnet-0public --map-public-ip-on-launch")
	if want := "associate it with rtb-0private"; !strings.Contains(got.Fix.Text, want) {
		t.Errorf("Text = %q, want %q in it", got.Fix.Text, want)
	}
	expect.Equal(t, "Why", got.Why, "rtb-0public sends 0.0.0.0/0 to igw-0a, which serves public addresses only, and subnet-0public does not assign them. Nodes cannot reach the cluster API, EC2, ECR, S3 and STS.")
}

func TestIGWNoPublicIPOfALaunchTemplate(t *testing.T) {
	s := noPublicIP()
	snapshottest.Subnet(s, snapshottest.Public).AssignPublicIP = true
	got := checktest.Failed(t, checkOf(checkid.RouteIGWNoPublicIP), s)
	if want := "subnet-0public assigns them, but the launch template's network interface turns that off: i-0node has none."; !strings.Contains(got.Why, want) {
		t.Errorf("Why = %q, want %q in it", got.Why, want)
	}
	if got.Fix.Command != "" || !strings.HasPrefix(got.Fix.Text, "Set AssociatePublicIpAddress") {
		t.Errorf("Fix = %+v, want words about the launch template and no command", got.Fix)
	}
}

func ipv6NoEgressCases() []checktest.Case {
	pass := []string{"pass rtb-0private [subnet-0private]"}
	fail := []string{"fail rtb-0private [subnet-0private] [i-0node] subnet-0private has no IPv6 route to the internet"}
	six := func(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
		return checktest.Change(snapshottest.PrivateWithNAT(), append([]func(*snapshot.Snapshot){checktest.Late, sixCluster}, changes...)...)
	}
	rangeless := func(s *snapshot.Snapshot) { snapshottest.Subnet(s, snapshottest.Private).IPv6 = nil }
	wayless := func(s *snapshot.Snapshot) {
		table := snapshottest.Table(s, snapshottest.PrivateRTB)
		table.Routes = table.Routes[:2]
	}
	blackhole := func(s *snapshot.Snapshot) {
		table := snapshottest.Table(s, snapshottest.PrivateRTB)
		table.Routes[2] = checktest.Gone(table.Routes[2])
	}
	return []checktest.Case{
		{"IPv4 cluster", snapshottest.PrivateWithNAT(), pass},
		{"egress-only internet gateway", six(), pass},
		{"internet gateway", checktest.Change(snapshottest.PublicOnly(), checktest.Late, sixCluster), []string{"pass rtb-0public [subnet-0public]"}},
		{"no IPv6 range", six(rangeless), []string{"fail subnet-0private [subnet-0private] [i-0node] subnet-0private has no IPv6 range, and the cluster is IPv6"}},
		{"no ::/0", six(wayless), fail},
		{"the gateway was deleted", six(blackhole, func(s *snapshot.Snapshot) { s.EgressOnly = nil }), fail},
		{"the gateway was deleted, and which there are is unread", six(blackhole, checktest.Unread(snapshot.EgressOnly)), fail},
		{"the gateway is another VPC's", six(func(s *snapshot.Snapshot) { s.EgressOnly[0].Attached = []string{"vpc-0other"} }), fail},
		{"egress-only gateways unread: the row is active", six(checktest.Unread(snapshot.EgressOnly)), pass},
		{"no ::/0, and its nodes are Ready", checktest.Change(six(wayless), func(s *snapshot.Snapshot) { snapshottest.Join(s, snapshottest.Node) }), pass},
		{"no ::/0, and the API is private", six(wayless, func(s *snapshot.Snapshot) { s.Cluster.EndpointPrivate = true }), []string{
			"fail (likely) rtb-0private [subnet-0private] [i-0node] subnet-0private has no IPv6 route to the internet",
		}},
		{"private by design", checktest.Change(snapshottest.EndpointsOnly(), checktest.Late, sixCluster, func(s *snapshot.Snapshot) {
			table := snapshottest.Table(s, snapshottest.PrivateRTB)
			table.Routes = slices.DeleteFunc(table.Routes, func(r snapshot.Route) bool { return r.Target.Kind == snapshot.ToEgressOnly })
		}), pass},
		{"through a transit gateway", six(wayless, func(s *snapshot.Snapshot) {
			table := snapshottest.Table(s, snapshottest.PrivateRTB)
			table.Routes = append(table.Routes, snapshottest.To("::/0", snapshot.ToTransitGateway, "tgw-0a"))
		}), []string{"unknown tgw-0a [subnet-0private] route tables: not read: tgw-0a: what is behind the transit gateway is not read"}},
		{"subnets unread", six(checktest.Unread(snapshot.Subnets)), []string{"unknown prod [] subnets: denied"}},
	}
}

func TestIPv6Fix(t *testing.T) {
	world := func(f func(*snapshot.Snapshot)) *snapshot.Snapshot {
		return checktest.Change(snapshottest.PrivateWithNAT(), checktest.Late, sixCluster, f)
	}
	wayless := func(s *snapshot.Snapshot) {
		table := snapshottest.Table(s, snapshottest.PrivateRTB)
		table.Routes = table.Routes[:2]
	}
	tests := []struct {
		name, want string
		world      *snapshot.Snapshot
	}{
		{"the gateway that is there", "aws ec2 create-route --region us-west-2 --route-table-id rtb-0private --destination-ipv6-cidr-block ::/0 --egress-only-internet-gateway-id eigw-0a", world(wayless)},
		{"a new gateway", "aws ec2 create-egress-only-internet-gateway --region us-west-2 --vpc-id vpc-0a", world(func(s *snapshot.Snapshot) {
			wayless(s)
			s.EgressOnly = nil
		})},
		{"the first free /64", "aws ec2 associate-subnet-cidr-block --region us-west-2 --subnet-id subnet-0private --ipv6-cidr-block 2600:1f14:0:ab00::/64 && aws ec2 modify-subnet-attribute --region us-west-2 --subnet-id subnet-0private --assign-ipv6-address-on-creation",
			world(func(s *snapshot.Snapshot) { snapshottest.Subnet(s, snapshottest.Private).IPv6 = nil })},
		{"the next free /64", "aws ec2 associate-subnet-cidr-block --region us-west-2 --subnet-id subnet-0private --ipv6-cidr-block 2600:1f14:0:ab01::/64 && aws ec2 modify-subnet-attribute --region us-west-2 --subnet-id subnet-0private --assign-ipv6-address-on-creation",
			world(func(s *snapshot.Snapshot) {
				snapshottest.Subnet(s, snapshottest.Private).IPv6 = nil
				snapshottest.Subnet(s, snapshottest.Public).IPv6 = []netip.Prefix{netip.MustParsePrefix("2600:1f14:0:ab00::/64")}
			})},
	}
	for _, tt := range tests {
		expect.Equal(t, fmt.Sprintf("%s: Command", tt.name), checktest.Failed(t, checkOf(checkid.RouteIPv6NoEgress), tt.world).Fix.Command, tt.want)
	}
}

func leavesViewCases() []checktest.Case {
	tgw := checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local(), snapshottest.To("0.0.0.0/0", snapshot.ToTransitGateway, "tgw-0a"))
	firewall := checktest.Routes(snapshottest.PublicRTB, snapshottest.To("0.0.0.0/0", snapshot.ToEndpoint, "vpce-0fw"))
	return []checktest.Case{
		{"all is in view", snapshottest.PrivateWithNAT(), []string{"pass rtb-0private [subnet-0private]"}},
		{"transit gateway of another account", checktest.Change(snapshottest.PrivateWithNAT(), checktest.Late, tgw), []string{
			"unknown tgw-0a [subnet-0private] route tables: not read: tgw-0a: what is behind the transit gateway is not read",
		}},
		{"transit gateways unread", checktest.Change(snapshottest.PrivateWithNAT(), checktest.Late, tgw, checktest.Unread(snapshot.TransitGateways)), []string{
			"unknown tgw-0a [subnet-0private] transit gateways: denied",
		}},
		{"transit gateway, and a Ready node behind it", checktest.Change(snapshottest.PrivateWithNAT(), tgw), []string{"pass rtb-0private [subnet-0private]"}},
		{"the NAT gateway's way out is a firewall", checktest.Change(snapshottest.PrivateWithNAT(), checktest.Late, firewall), []string{
			"unknown vpce-0fw [subnet-0private] route tables: not read: vpce-0fw: what is behind the vpc endpoint is not read",
		}},
		{"a prefix list that is not read", checktest.Change(checktest.Isolated(), checktest.Unread(snapshot.PrefixListEntries), checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local(),
			snapshot.Route{PrefixList: "pl-0mine", State: "active", Target: snapshot.Target{Kind: snapshot.ToNATGateway, ID: snapshottest.NAT}})), []string{
			"unknown nat-0a [subnet-0private] prefix lists: denied",
		}},
		{"virtual private gateway", checktest.Change(checktest.Isolated(), checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local(), snapshottest.To("0.0.0.0/0", snapshot.ToVPNGateway, "vgw-0a"))), []string{
			"unknown vgw-0a [subnet-0private] route tables: not read: vgw-0a: what is behind the virtual private gateway is not read",
		}},
		{"route tables unread", checktest.Change(snapshottest.PrivateWithNAT(), checktest.Unread(snapshot.RouteTables)), []string{"unknown prod [] route tables: denied"}},
	}
}

// The Unknown shows the whole way, hop by hop.
func TestLeavesViewNamesTheHops(t *testing.T) {
	s := leavesViewCases()[1].World
	got := checktest.EvalOne(t, checkOf(checkid.RouteLeavesView), s)[0]
	if want := "subnet-0private → rtb-0private 0.0.0.0/0 → tgw-0a (transit gateway)"; !strings.HasPrefix(checktest.Value(t, got, "Path to"), want) {
		t.Errorf("path = %q, want it to begin with %q", checktest.Value(t, got, "Path to"), want)
	}
}

func natInstanceCases() []checktest.Case {
	fail := []string{"fail eni-0nat [subnet-0private] [i-0node] eni-0nat forwards nothing"}
	blind := func(_ *snapshot.Snapshot, _ *snapshot.Interface, i *snapshot.Instance) { i.ID = "i-0else" }
	on := func(_ *snapshot.Snapshot, e *snapshot.Interface, _ *snapshot.Instance) { e.SourceCheck = true }
	stopped := func(s *snapshot.Snapshot, _ *snapshot.Interface, i *snapshot.Instance) {
		i.State = "stopped"
		t := snapshottest.Table(s, snapshottest.PrivateRTB)
		t.Routes[1] = checktest.Gone(t.Routes[1])
	}
	return []checktest.Case{
		{"forwards", checktest.Forwarded(), []string{"pass rtb-0private [subnet-0private]"}},
		{"no NAT instance", snapshottest.PrivateWithNAT(), []string{"pass rtb-0private [subnet-0private]"}},
		{"source check on", checktest.Forwarded(on), fail},
		{"source check on, the instance is not among those read", checktest.Forwarded(on, blind), fail},
		{"stopped", checktest.Forwarded(stopped), fail},
		{"stopped, only the interface is read", checktest.Forwarded(stopped, blind), fail},
		{"attached to nothing", checktest.Forwarded(func(_ *snapshot.Snapshot, e *snapshot.Interface, _ *snapshot.Instance) {
			e.Status, e.Instance = "available", ""
		}), fail},
		{"starting: it will forward", checktest.Forwarded(func(_ *snapshot.Snapshot, _ *snapshot.Interface, i *snapshot.Instance) { i.State = "pending" }), []string{"pass rtb-0private [subnet-0private]"}},
		{"gone is route/blackhole", checktest.Change(checktest.Forwarded(stopped), func(s *snapshot.Snapshot) {
			s.Interfaces, s.Instances = nil, s.Instances[:1]
		}), []string{"pass rtb-0private [subnet-0private]"}},
		{"interfaces unread", checktest.Change(checktest.Forwarded(on, blind), checktest.Unread(snapshot.Interfaces)), []string{
			"unknown eni-0nat [subnet-0private] network interfaces: denied",
		}},
		{"interfaces unread, and the instance's own check is on", checktest.Change(checktest.Forwarded(func(_ *snapshot.Snapshot, _ *snapshot.Interface, i *snapshot.Instance) { i.SourceCheck = true }), checktest.Unread(snapshot.Interfaces)), fail},
		{"without a public address on this interface", checktest.Forwarded(func(_ *snapshot.Snapshot, e *snapshot.Interface, _ *snapshot.Instance) { e.PublicIP = netip.Addr{} }), []string{
			"unknown eni-0nat [subnet-0private] route tables: not read: eni-0nat: the appliance has no public address on this interface",
		}},
		{"another account's interface", checktest.Change(checktest.Forwarded(on, blind), func(s *snapshot.Snapshot) { s.Interfaces = nil }), []string{
			"unknown eni-0nat [subnet-0private] route tables: not read: eni-0nat: what is behind the network interface is not read",
		}},
		{"instances unread", checktest.Change(checktest.Forwarded(), checktest.Unread(snapshot.Instances)), []string{"unknown prod [] instances: denied"}},
	}
}

func TestNATInstanceFix(t *testing.T) {
	on := func(_ *snapshot.Snapshot, e *snapshot.Interface, _ *snapshot.Instance) { e.SourceCheck = true }
	stopped := func(_ *snapshot.Snapshot, _ *snapshot.Interface, i *snapshot.Instance) { i.State = "stopped" }
	for want, world := range map[string]*snapshot.Snapshot{
		"aws ec2 modify-network-interface-attribute --region us-west-2 --network-interface-id eni-0nat --no-source-dest-check": checktest.Forwarded(on),
		"aws ec2 start-instances --region us-west-2 --instance-ids i-0nat":                                                     checktest.Forwarded(on, stopped),
	} {
		expect.Equal(t, "Command", checktest.Failed(t, checkOf(checkid.RouteNATInstanceSourceCheck), world).Fix.Command, want)
	}
	got := checktest.Failed(t, checkOf(checkid.RouteNATInstanceSourceCheck), checktest.Forwarded(on))
	expect.Equal(t, "path", checktest.Value(t, got, "Path to"), "subnet-0private → rtb-0private 0.0.0.0/0 → eni-0nat (network interface of i-0nat, running): its source/destination check is on, so EC2 drops what it forwards")
}

// stuckNAT is a NAT gateway whose own subnet has only the rows.
func stuckNAT(rows ...snapshot.Route) *snapshot.Snapshot {
	s := checktest.Change(snapshottest.PrivateWithNAT(), checktest.Routes(snapshottest.PublicRTB, rows...))
	snapshottest.Unjoin(s, snapshottest.Node)
	return s
}

func natNoInternetCases() []checktest.Case {
	fail := []string{"fail nat-0a [subnet-0private] [i-0node] nat-0a has no route to the internet"}
	other := snapshot.NATGateway{ID: "nat-0b", VPC: snapshottest.VPC, Subnet: snapshottest.Private, State: "available", Public: true}
	return []checktest.Case{
		{"its subnet leads to the internet gateway", snapshottest.PrivateWithNAT(), []string{"pass rtb-0private [subnet-0private]"}},
		{"its subnet has only the local row", stuckNAT(snapshottest.Local()), fail},
		{"its subnet leads back to it", stuckNAT(snapshottest.Local(), snapshottest.To("0.0.0.0/0", snapshot.ToNATGateway, snapshottest.NAT)), fail},
		{"it stands in the nodes' subnet", checktest.Change(stuckNAT(snapshottest.Local()), func(s *snapshot.Snapshot) { s.NATGateways[0].Subnet = snapshottest.Private }), fail},
		{"its subnet leads to another NAT gateway", checktest.Change(stuckNAT(snapshottest.Local(), snapshottest.To("0.0.0.0/0", snapshot.ToNATGateway, "nat-0b")), func(s *snapshot.Snapshot) {
			s.NATGateways = append(s.NATGateways, other)
		}), fail},
		{"its subnet's internet gateway is gone", stuckNAT(checktest.Gone(snapshottest.To("0.0.0.0/0", snapshot.ToInternetGateway, snapshottest.IGW))), fail},
		{"it fell back to a main table without a route to the internet", checktest.Change(stuckNAT(snapshottest.Local()), func(s *snapshot.Snapshot) { snapshottest.Table(s, snapshottest.PublicRTB).Subnets = nil }), fail},
		{"regional, with its own table", checktest.Change(snapshottest.PrivateWithNAT(), func(s *snapshot.Snapshot) {
			s.NATGateways[0].Subnet, s.NATGateways[0].Zone, s.NATGateways[0].RouteTable = "", "", snapshottest.PublicRTB
		}), []string{"pass rtb-0private [subnet-0private]"}},
		{"behind a firewall endpoint", stuckNAT(snapshottest.To("0.0.0.0/0", snapshot.ToEndpoint, "vpce-0fw")), []string{
			"unknown vpce-0fw [subnet-0private] route tables: not read: vpce-0fw: what is behind the vpc endpoint is not read",
		}},
		{"a gateway that does not work is route/nat-unusable", failedNAT(), []string{"pass rtb-0private [subnet-0private]"}},
		{"internet gateways unread", checktest.Change(stuckNAT(snapshottest.Local()), checktest.Unread(snapshot.InternetGateways)), []string{"unknown prod [] internet gateways: denied"}},
	}
}

func TestNATNoInternetFix(t *testing.T) {
	tests := []struct {
		name    string
		world   *snapshot.Snapshot
		command string
		text    string
	}{
		{"its own table is set right", stuckNAT(snapshottest.Local()),
			"aws ec2 create-route --region us-west-2 --route-table-id rtb-0public --destination-cidr-block 0.0.0.0/0 --gateway-id igw-0a", "igw-0a: attached"},
		{"a wrong row is replaced", stuckNAT(snapshottest.To("0.0.0.0/0", snapshot.ToNATGateway, snapshottest.NAT)),
			"aws ec2 replace-route --region us-west-2 --route-table-id rtb-0public --destination-cidr-block 0.0.0.0/0 --gateway-id igw-0a", "igw-0a: attached"},
		{"a table that others use is left alone", checktest.Change(stuckNAT(snapshottest.Local()), func(s *snapshot.Snapshot) {
			t := snapshottest.Table(s, snapshottest.PublicRTB)
			t.Subnets = append(t.Subnets, "subnet-0else")
		}), "", "Associate subnet-0public with its own table"},
		{"a lost association is made again", checktest.Change(snapshottest.PrivateWithNAT(), checktest.Late, func(s *snapshot.Snapshot) {
			t := snapshottest.Table(s, snapshottest.PublicRTB)
			t.Subnets = []string{"subnet-0else"}
			s.Subnets = append(s.Subnets, snapshot.Subnet{ID: "subnet-0else", VPC: snapshottest.VPC})
		}), "aws ec2 associate-route-table --region us-west-2 --route-table-id rtb-0public --subnet-id subnet-0public", "rtb-0public: points to igw-0a"},
		{"no internet gateway", checktest.Change(stuckNAT(snapshottest.Local()), func(s *snapshot.Snapshot) { s.InternetGateways = nil }),
			"", "Attach an internet gateway to vpc-0a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := checktest.Failed(t, checkOf(checkid.RouteNATNoInternet), tt.world).Fix
			if got.Command != tt.command {
				t.Errorf("Command = %q, want %q", got.Command, tt.command)
			}
			if !strings.HasPrefix(got.Text, tt.text) {
				t.Errorf("Text = %q, want it to begin with %q", got.Text, tt.text)
			}
		})
	}
}

// failedNAT is a NAT gateway that could not be created.
func failedNAT() *snapshot.Snapshot {
	s := snapshottest.PrivateWithNAT()
	s.NATGateways[0].State = "failed"
	s.NATGateways[0].Failure = "Elastic IP address eipalloc-0a could not be associated with this NAT gateway"
	snapshottest.Unjoin(s, snapshottest.Node)
	return s
}

// privateNAT is a private NAT gateway in a subnet whose table has the rows.
func privateNAT(rows ...snapshot.Route) *snapshot.Snapshot {
	s := failedNAT()
	s.NATGateways[0].State, s.NATGateways[0].Failure, s.NATGateways[0].Public = "available", "", false
	snapshottest.Table(s, snapshottest.PublicRTB).Routes = rows
	return s
}

func natUnusableCases() []checktest.Case {
	tgw := snapshottest.To("0.0.0.0/0", snapshot.ToTransitGateway, "tgw-0a")
	igw := snapshottest.To("0.0.0.0/0", snapshot.ToInternetGateway, snapshottest.IGW)
	return []checktest.Case{
		{"available", snapshottest.PrivateWithNAT(), []string{"pass rtb-0private [subnet-0private]"}},
		{"no NAT gateway on the way", snapshottest.PublicOnly(), []string{"pass rtb-0public [subnet-0public]"}},
		{"failed", failedNAT(), []string{"fail nat-0a [subnet-0private] [i-0node] nat-0a has failed"}},
		{"pending", checktest.Change(failedNAT(), func(s *snapshot.Snapshot) { s.NATGateways[0].State = "pending" }), []string{
			"fail nat-0a [subnet-0private] [i-0node] nat-0a is pending",
		}},
		{"deleted, and its rows blackholes", checktest.Change(failedNAT(), func(s *snapshot.Snapshot) {
			s.NATGateways[0].State = "deleted"
			snapshottest.Table(s, snapshottest.PrivateRTB).Routes[1].State = "blackhole"
		}), []string{"fail nat-0a [subnet-0private] [i-0node] nat-0a is deleted"}},
		{"two tables lead to it: one finding", checktest.Change(failedNAT(), checktest.TwoTables), []string{
			"fail nat-0a [subnet-0private subnet-0second] [i-0node i-0second] nat-0a has failed",
		}},
		{"private, nothing behind it", privateNAT(snapshottest.Local()), []string{
			"fail nat-0a [subnet-0private] [i-0node] nat-0a is private and has no path to the internet",
		}},
		{"private, in front of an internet gateway", privateNAT(igw), []string{
			"fail nat-0a [subnet-0private] [i-0node] nat-0a is private and has no path to the internet",
		}},
		{"private, in front of a transit gateway", privateNAT(tgw), []string{
			"unknown tgw-0a [subnet-0private] route tables: not read: tgw-0a: what is behind the transit gateway is not read",
		}},
		{"public and available, its way out through a firewall", checktest.Change(snapshottest.PrivateWithNAT(), checktest.Routes(snapshottest.PublicRTB, snapshottest.To("0.0.0.0/0", snapshot.ToEndpoint, "vpce-0fw"))), []string{
			"pass rtb-0private [subnet-0private]",
		}},
		{"of another account (shared VPC)", checktest.Change(snapshottest.PrivateWithNAT(), checktest.Late, func(s *snapshot.Snapshot) { s.NATGateways = nil }), []string{
			"unknown nat-0a [subnet-0private] route tables: not read: nat-0a: this account cannot see it",
		}},
		{"endpoints carry all that is needed", checktest.Change(snapshottest.EndpointsOnly(), func(s *snapshot.Snapshot) {
			t := snapshottest.Table(s, snapshottest.PrivateRTB)
			t.Routes = append(t.Routes, snapshottest.To("0.0.0.0/0", snapshot.ToNATGateway, "nat-0a"))
			s.NATGateways = failedNAT().NATGateways
		}), []string{"pass rtb-0private [subnet-0private]"}},
		{"unread", checktest.Change(failedNAT(), checktest.Unread(snapshot.NATGateways)), []string{"unknown prod [] nat gateways: denied"}},
	}
}

func TestNATUnusableWordsAndFix(t *testing.T) {
	got := checktest.Failed(t, checkOf(checkid.RouteNATUnusable), checktest.Change(failedNAT(), checktest.TwoTables))
	if want := "rtb-0private and rtb-0second send 0.0.0.0/0 to nat-0a, but it has failed: Elastic IP address"; !strings.HasPrefix(got.Why, want) {
		t.Errorf("Why = %q, want it to begin with %q", got.Why, want)
	}
	if got.Fix.Command != "" || !strings.HasPrefix(got.Fix.Text, "Create a new public NAT gateway") {
		t.Errorf("Fix = %+v, want no command: there is no other gateway", got.Fix)
	}

	other := func(s *snapshot.Snapshot) {
		s.NATGateways = append(s.NATGateways, snapshot.NATGateway{ID: "nat-0b", VPC: snapshottest.VPC, Subnet: snapshottest.Public, State: "available", Public: true, Zone: "us-west-2b"})
	}
	got = checktest.Failed(t, checkOf(checkid.RouteNATUnusable), checktest.Change(failedNAT(), checktest.TwoTables, other))
	want := "aws ec2 replace-route --region us-west-2 --route-table-id rtb-0private --destination-cidr-block 0.0.0.0/0 --nat-gateway-id nat-0b && " +
		"aws ec2 replace-route --region us-west-2 --route-table-id rtb-0second --destination-cidr-block 0.0.0.0/0 --nat-gateway-id nat-0b"
	if got.Fix.Command != want {
		t.Errorf("Command = %q, want %q", got.Fix.Command, want)
	}
}

// unassociated is a subnet that lost its association and fell back to a main
// table without a route to the internet; its sibling still has the good one.
func unassociated() *snapshot.Snapshot {
	s := snapshottest.PrivateWithNAT()
	snapshottest.Unjoin(s, snapshottest.Node)
	s.Subnets = append(s.Subnets, snapshot.Subnet{ID: "subnet-0sibling", VPC: snapshottest.VPC, Zone: snapshottest.Zone, CIDR: netip.MustParsePrefix("10.42.64.0/19"), Free: 100})
	snapshottest.Table(s, snapshottest.PrivateRTB).Subnets = []string{"subnet-0sibling"}
	return s
}

// readyBeside is a Ready node of another group in the private subnet.
func readyBeside(created time.Duration) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Nodes = append(s.Nodes, snapshot.Node{
			Name: "ip-10-42-192-9", Instance: "i-0proxied", Created: s.Time.Add(created), InternalIP: netip.MustParseAddr("10.42.192.9"),
			Ready: snapshot.Condition{Status: "True"},
		})
	}
}

func noEgressCases() []checktest.Case {
	tgw := snapshottest.To("10.0.0.0/8", snapshot.ToTransitGateway, "tgw-0a")
	return []checktest.Case{
		{"NAT gateway", snapshottest.PrivateWithNAT(), []string{"pass rtb-0private [subnet-0private]"}},
		{"endpoints only", snapshottest.EndpointsOnly(), []string{"pass rtb-0private [subnet-0private]"}},
		{"only the local row", checktest.Isolated(), []string{
			"fail rtb-0private [subnet-0private] [i-0node] subnet-0private has no route to the internet",
		}},
		{"fell back to the main table", unassociated(), []string{
			"fail rtb-0main [subnet-0private] [i-0node] subnet-0private has no route to the internet",
		}},
		{"two subnets of one table are one finding", checktest.Change(checktest.Isolated(), func(s *snapshot.Snapshot) {
			snapshottest.Table(s, snapshottest.PrivateRTB).Subnets = []string{snapshottest.Private, snapshottest.Public}
			snapshottest.Table(s, snapshottest.PublicRTB).Subnets = nil
			snapshottest.Launch(s, "i-0other", snapshottest.Public, time.Minute)
		}), []string{
			"fail rtb-0private [subnet-0private subnet-0public] [i-0node i-0other] 2 subnets have no route to the internet",
		}},
		{"a Ready node is not counted among those that cannot join", checktest.Change(checktest.Isolated(), func(s *snapshot.Snapshot) {
			snapshottest.Launch(s, "i-0ready", snapshottest.Private, time.Hour)
			snapshottest.Join(s, "i-0ready")
		}), []string{"fail rtb-0private [subnet-0private] [i-0node] subnet-0private has no route to the internet"}},
		{"a Ready node that joined before a route was taken away excuses nothing", checktest.Change(checktest.Isolated(), readyBeside(-time.Hour)), []string{"fail rtb-0private [subnet-0private] [i-0node] subnet-0private has no route to the internet"}},
		{"a node that registered since is Ready there", checktest.Change(checktest.Isolated(), readyBeside(-time.Second)), []string{"fail (possible) rtb-0private [subnet-0private] [i-0node] subnet-0private has no route to the internet"}},
		{"a Ready node of old there, and a proxy may be behind a row", checktest.Change(checktest.Isolated(), readyBeside(-time.Hour), checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local(), tgw)), []string{
			"fail (possible) rtb-0private [subnet-0private] [i-0node] subnet-0private has no route to the internet",
		}},
		{"a node of another subnet is Ready", checktest.Change(checktest.Isolated(), readyBeside(-time.Second), func(s *snapshot.Snapshot) { s.Nodes[len(s.Nodes)-1].InternalIP = netip.MustParseAddr("10.42.0.9") }), []string{
			"fail rtb-0private [subnet-0private] [i-0node] subnet-0private has no route to the internet",
		}},
		{"a VPC with one endpoint is private by design: endpoint/missing", checktest.Change(checktest.Isolated(), func(s *snapshot.Snapshot) {
			s.Endpoints = snapshottest.EndpointsOnly().Endpoints[:1]
		}), []string{"pass rtb-0private [subnet-0private]"}},
		{"only a row to other private networks: a proxy may be there", checktest.Change(checktest.Isolated(), checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local(), tgw)), []string{
			"fail (likely) rtb-0private [subnet-0private] [i-0node] subnet-0private has no route to the internet",
		}},
		{"default route through a transit gateway", checktest.Change(checktest.Isolated(), checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local(), snapshottest.To("0.0.0.0/0", snapshot.ToTransitGateway, "tgw-0a"))), []string{
			"unknown tgw-0a [subnet-0private] route tables: not read: tgw-0a: what is behind the transit gateway is not read",
		}},
		{"rows for a part of the internet", checktest.Change(checktest.Isolated(), checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local(), snapshottest.To("52.0.0.0/8", snapshot.ToNATGateway, snapshottest.NAT))), []string{
			"unknown nat-0a [subnet-0private] route tables: not read: nat-0a: rtb-0private has routes for parts of the internet only (52.0.0.0/8 → nat-0a)",
		}},
		{"the default route in two halves", checktest.Change(checktest.Isolated(), checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local(),
			snapshottest.To("0.0.0.0/1", snapshot.ToNATGateway, snapshottest.NAT), snapshottest.To("128.0.0.0/1", snapshot.ToNATGateway, snapshottest.NAT))), []string{
			"pass rtb-0private [subnet-0private]",
		}},
		{"IPv6 cluster with an IPv6 way out only", checktest.Change(checktest.Isolated(), func(s *snapshot.Snapshot) { s.Cluster.IPv6 = true }, checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local(), snapshottest.To("::/0", snapshot.ToEgressOnly, "eigw-0a"))), []string{
			"fail (likely) rtb-0private [subnet-0private] [i-0node] subnet-0private has no route to the internet",
		}},
		{"no route to the internet, and the cluster's private endpoint in another VPC: the first is enough", checktest.Change(checktest.Isolated(), func(s *snapshot.Snapshot) {
			s.Cluster.VPC, s.Cluster.EndpointPrivate, s.Cluster.EndpointPublic = "vpc-0other", true, false
		}), []string{"fail rtb-0private [subnet-0private] [i-0node] subnet-0private has no route to the internet"}},
		{"the cluster's private endpoint in another VPC is route/api-private-unreachable", checktest.Change(snapshottest.PrivateWithNAT(), checktest.Late, func(s *snapshot.Snapshot) {
			s.Cluster.VPC, s.Cluster.EndpointPrivate, s.Cluster.EndpointPublic = "vpc-0other", true, false
		}), []string{"pass rtb-0private [subnet-0private]"}},
		{"default route into a peering connection", checktest.Change(checktest.Isolated(), checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local(), snapshottest.To("0.0.0.0/0", snapshot.ToPeering, "pcx-0a"))), []string{
			"fail rtb-0private [subnet-0private] [i-0node] subnet-0private has no route to the internet",
		}},
		{"default route into a peering connection, and one endpoint", checktest.Change(checktest.Isolated(), checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local(), snapshottest.To("0.0.0.0/0", snapshot.ToPeering, "pcx-0a")), func(s *snapshot.Snapshot) {
			s.Endpoints = snapshottest.EndpointsOnly().Endpoints[:1]
		}), []string{"fail rtb-0private [subnet-0private] [i-0node] subnet-0private has no route to the internet"}},
		{"a transit gateway's table without a row for the internet", hubbed(func(h *hubWorld) { h.rows = h.rows[:1] }), []string{
			"fail (likely) tgw-rtb-0spoke [subnet-0private] [i-0node] subnet-0private has no route to the internet",
		}},
		{"the hub's table does not lead back", hubbed(func(h *hubWorld) { h.public.Routes = h.public.Routes[:2] }), []string{
			"fail (likely) rtb-0hubpublic [subnet-0private] [i-0node] subnet-0private has no route to the internet",
		}},
		{"a transit gateway that leads out", hubbed(func(*hubWorld) {}), []string{"pass rtb-0private [subnet-0private]"}},
		{"a prefix list of one's own holds the default route", checktest.Change(checktest.Isolated(), func(s *snapshot.Snapshot) {
			s.PrefixLists = append(s.PrefixLists, snapshot.PrefixList{ID: "pl-0mine", CIDRs: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}})
		}, checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local(), listed("pl-0mine"))), []string{"pass rtb-0private [subnet-0private]"}},
		{"a prefix list of private ranges is no route to the internet", checktest.Change(checktest.Isolated(), func(s *snapshot.Snapshot) {
			s.PrefixLists = append(s.PrefixLists, snapshot.PrefixList{ID: "pl-0mine", CIDRs: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}})
		}, checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local(), listed("pl-0mine"))), []string{
			"fail rtb-0private [subnet-0private] [i-0node] subnet-0private has no route to the internet",
		}},
		{"the user data names a proxy", checktest.Change(checktest.Isolated(), func(s *snapshot.Snapshot) {
			s.UserData[0].Data = []byte("#!/bin/bash\nexport HTTPS_PROXY=http://10.42.1.5:3128\n")
		}), []string{
			"fail (likely) rtb-0private [subnet-0private] [i-0node] subnet-0private has no route to the internet",
		}},
		{"only the local row, and its nodes are Ready: a proxy in the VPC", checktest.Change(snapshottest.PrivateWithNAT(), checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local())), []string{
			"pass rtb-0private [subnet-0private]",
		}},
		{"only the local row, and its nodes are Ready by the private API", checktest.Change(snapshottest.PrivateWithNAT(), checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local()), func(s *snapshot.Snapshot) {
			s.Cluster.EndpointPrivate = true
		}), []string{"fail (likely) rtb-0private [subnet-0private] [] subnet-0private has no route to the internet"}},
		{"an instance that ended meanwhile is named too", checktest.Change(checktest.Isolated(), func(s *snapshot.Snapshot) {
			i := snapshottest.Instance(s, snapshottest.Node)
			i.State, i.Subnet, i.StateReason.Code = "terminated", "", "Client.UserInitiatedShutdown"
		}), []string{"fail rtb-0private [subnet-0private] [i-0node] subnet-0private has no route to the internet"}},
		{"an instance that EC2 took back is not", checktest.Change(checktest.Isolated(), func(s *snapshot.Snapshot) {
			i := snapshottest.Instance(s, snapshottest.Node)
			i.State, i.StateReason.Code = "terminated", "Server.SpotInstanceTermination"
		}), []string{"fail rtb-0private [subnet-0private] [] subnet-0private has no route to the internet"}},
		{"no table is known for the subnet", checktest.Change(unassociated(), func(s *snapshot.Snapshot) { s.RouteTables = s.RouteTables[1:] }), []string{
			"unknown subnet-0private [subnet-0private] route tables: not read: no route table is associated with subnet-0private, and the main table of vpc-0a is not among those that EC2 lists",
		}},
		{"a subnet that EC2 does not list", checktest.Change(checktest.Isolated(), func(s *snapshot.Snapshot) {
			s.Scope = snapshot.Scope{Subnets: []string{"subnet-0gone"}}
		}), []string{
			"unknown subnet-0gone [subnet-0gone] subnets: not read: subnet-0gone is not among the subnets that EC2 lists",
		}},
		{"instances unread: the scope's subnets are judged all the same", checktest.Change(checktest.Isolated(), checktest.Unread(snapshot.Instances)), []string{
			"unknown prod [i-0node] instances: denied",
			"fail rtb-0private [subnet-0private] [] subnet-0private has no route to the internet",
		}},
		{"NAT gateways unread", checktest.Change(checktest.Isolated(), checktest.Unread(snapshot.NATGateways)), []string{
			"fail rtb-0private [subnet-0private] [i-0node] subnet-0private has no route to the internet",
		}},
		{"route tables unread", checktest.Change(checktest.Isolated(), checktest.Unread(snapshot.RouteTables)), []string{"unknown prod [] route tables: denied"}},
	}
}

func TestNoEgressWords(t *testing.T) {
	got := checktest.Failed(t, checkOf(checkid.RouteNoEgress), checktest.Isolated())
	expect.Equal(t, "Why", got.Why, "rtb-0private (us-west-2a) has only 10.42.0.0/16 → local. Nodes must reach the cluster API, EC2, ECR, S3 and STS; this VPC has no endpoints for them.")
	want := []check.Evidence{
		{What: "Routes of rtb-0private", Value: "10.42.0.0/16 → local"},
		{What: "subnet-0private", Value: "10.42.192.0/19, us-west-2a, 8186 free addresses; associated with rtb-0private"},
		{What: "Path to the cluster API, EC2, ECR, S3 and STS", Value: "subnet-0private → rtb-0private: no route"},
	}
	expect.Same(t, "Evidence", got.Evidence, want)

	private := checktest.Failed(t, checkOf(checkid.RouteNoEgress), checktest.Change(checktest.Isolated(), func(s *snapshot.Snapshot) { s.Cluster.EndpointPrivate = true }))
	if want := "Nodes must reach EC2, ECR, S3 and STS; this VPC has no endpoints for them. Only the cluster API is reachable, on its private endpoint."; !strings.HasSuffix(private.Why, want) {
		t.Errorf("Why = %q, want it to end in %q", private.Why, want)
	}
}

func TestNoEgressFix(t *testing.T) {
	otherZone := func(s *snapshot.Snapshot) {
		s.NATGateways = append(s.NATGateways, snapshot.NATGateway{ID: "nat-0b", VPC: snapshottest.VPC, Subnet: snapshottest.Public, State: "available", Public: true, Zone: "us-west-2b"})
	}
	createNAT := func(id string) string {
		return "aws ec2 create-route --region us-west-2 --route-table-id rtb-0private --destination-cidr-block 0.0.0.0/0 --nat-gateway-id " + id
	}
	link := "https://us-west-2.console.aws.amazon.com/vpcconsole/home?region=us-west-2#RouteTableDetails:RouteTableId="
	tests := []struct {
		name  string
		world *snapshot.Snapshot
		want  check.Fix
	}{
		{"NAT gateway of the same zone first", checktest.Change(checktest.Isolated(), otherZone),
			check.Fix{Text: "nat-0a: available, same zone", Command: createNAT("nat-0a"), Console: link + "rtb-0private", Remedy: "add-nat-route"}},
		{"else one of another zone", checktest.Change(checktest.Isolated(), otherZone, func(s *snapshot.Snapshot) { s.NATGateways[0].State = "failed" }),
			check.Fix{Text: "nat-0b: available, in us-west-2b", Command: createNAT("nat-0b"), Console: link + "rtb-0private", Remedy: "add-nat-route"}},
		{"a NAT gateway without internet is no fix", checktest.Change(checktest.Isolated(), checktest.Routes(snapshottest.PublicRTB, snapshottest.Local())),
			check.Fix{Text: "vpc-0a has no working NAT gateway. Create one in a public subnet and point 0.0.0.0/0 of rtb-0private to it, or create VPC endpoints for what nodes need.", Console: link + "rtb-0private"}},
		{"the internet gateway where the subnet gives public addresses", checktest.Change(checktest.Isolated(), func(s *snapshot.Snapshot) {
			s.NATGateways = nil
			snapshottest.Subnet(s, snapshottest.Private).AssignPublicIP = true
		}), check.Fix{
			Text:    "igw-0a is attached to vpc-0a, and subnet-0private gives public addresses",
			Command: "aws ec2 create-route --region us-west-2 --route-table-id rtb-0private --destination-cidr-block 0.0.0.0/0 --gateway-id igw-0a",
			Console: link + "rtb-0private",
		}},
		{"a subnet that fell back is associated, and the main table left alone", unassociated(), check.Fix{
			Text:    "rtb-0private: has a route to the internet, and subnet-0sibling uses it; subnet-0private has no association of its own",
			Command: "aws ec2 associate-route-table --region us-west-2 --route-table-id rtb-0private --subnet-id subnet-0private",
			Console: link + "rtb-0private",
		}},
		{"a main table says whom it is for", checktest.Change(snapshottest.MainTable(), checktest.Late, checktest.Routes(snapshottest.MainRTB, snapshottest.Local())), check.Fix{
			Text:    "nat-0a: available, same zone. rtb-0main is the main table: every subnet without an association of its own uses it",
			Command: "aws ec2 create-route --region us-west-2 --route-table-id rtb-0main --destination-cidr-block 0.0.0.0/0 --nat-gateway-id nat-0a",
			Console: link + "rtb-0main", Remedy: "add-nat-route",
		}},
		{"NAT gateways unread", checktest.Change(checktest.Isolated(), checktest.Unread(snapshot.NATGateways)), check.Fix{
			Text: "Point 0.0.0.0/0 of rtb-0private to a working NAT gateway. The existing ones could not be read.", Console: link + "rtb-0private",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			expect.Same(t, "Fix", checktest.Failed(t, checkOf(checkid.RouteNoEgress), tt.world).Fix, tt.want)
		})
	}
}

// The Pass that closes an incident shows the row that was added.
func TestNoEgressPassShowsTheRow(t *testing.T) {
	results := checktest.EvalOne(t, checkOf(checkid.RouteNoEgress), snapshottest.PrivateWithNAT())
	want := []check.Evidence{{What: "rtb-0private", Value: "0.0.0.0/0 → nat-0a"}}
	expect.Same(t, "Evidence", results[0].Evidence, want)
}
