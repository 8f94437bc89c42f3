package route

import (
	"net/netip"
	"strings"
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

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

func TestApiPublicCIDR(t *testing.T) { checktest.RunCases(t, APIPublicCIDR(), apiPublicCIDRCases()) }

func apiPublicCIDRCases() []checktest.Case {
	office := admitting("198.51.100.0/24")
	pass := []string{"pass rtb-0private [subnet-0private]"}
	fail := []string{"fail prod [subnet-0private] [i-0node] the API of prod does not admit 203.0.113.7/32"}
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
			"fail (likely) prod [subnet-0private] [i-0node] the API of prod does not admit 203.0.113.8/32",
		}},
		{"a regional NAT gateway: its own zone's address is admitted", checktest.Change(nat(), regional, admitting("203.0.113.7/32")), pass},
		{"a regional NAT gateway: another zone's address is admitted", checktest.Change(nat(), regional, admitting("203.0.113.8/32")), fail},
		{"a regional NAT gateway that has not come to the zone yet", checktest.Change(nat(), regional, admitting("203.0.113.8/32"), func(s *snapshot.Snapshot) { s.NATGateways[0].Addresses[0].Zone = "us-west-2c" }), []string{
			"fail (likely) prod [subnet-0private] [i-0node] the API of prod does not admit 203.0.113.7/32",
		}},
		{"a regional NAT gateway serves two subnets of one table", checktest.Change(nat(), regional, admitting("203.0.113.7/32"), func(s *snapshot.Snapshot) {
			s.Subnets = append(s.Subnets, snapshot.Subnet{ID: "subnet-0b", VPC: snapshottest.VPC, Zone: "us-west-2b"})
			s.Scope.Subnets = append(s.Scope.Subnets, "subnet-0b")
			table := snapshottest.Table(s, snapshottest.PrivateRTB)
			table.Subnets = append(table.Subnets, "subnet-0b")
		}), []string{
			"fail prod [subnet-0b] [] the API of prod does not admit 203.0.113.8/32", pass[0],
		}},
		{"the node's own address is not admitted", checktest.Change(public(), office), []string{
			"fail prod [subnet-0public] [i-0node] the API of prod does not admit 203.0.113.9/32",
		}},
		{"the node's own address is admitted", checktest.Change(public(), admitting("203.0.113.9/32")), []string{"pass rtb-0public [subnet-0public]"}},
		{"no node shows its address", checktest.Change(public(), office, func(s *snapshot.Snapshot) { s.Scope.Instances = nil }), []string{
			"unknown rtb-0public [subnet-0public] instances: not read: rtb-0public: no instance there shows the address that it leaves from",
		}},
		{"NAT instance", checktest.Change(checktest.Forwarded(), office), []string{
			"fail prod [subnet-0private] [i-0node] the API of prod does not admit 203.0.113.20/32",
		}},
		{"through a transit gateway that cannot be read", checktest.Change(nat(), office, checktest.Routes(snapshottest.PrivateRTB, snapshottest.To("0.0.0.0/0", snapshot.ToTransitGateway, "tgw-0a"))), []string{
			"unknown tgw-0a [subnet-0private] route tables: not read: tgw-0a: what is behind the transit gateway is not read",
		}},
		{"the gateway's address is not known", checktest.Change(nat(), office, func(s *snapshot.Snapshot) { s.NATGateways[0].Addresses = nil }), []string{
			"unknown rtb-0private [subnet-0private] nat gateways: not read: rtb-0private: the address that traffic leaves from is not known: subnet-0private → rtb-0private 0.0.0.0/0 → nat-0a (available, us-west-2a) → subnet-0public → rtb-0public 0.0.0.0/0 → igw-0a",
		}},
		{"EKS does not say whom it admits", checktest.Change(nat(), admitting()), []string{
			"unknown rtb-0private [subnet-0private] cluster: not read: rtb-0private: EKS does not say whom the public endpoint admits",
		}},
		{"no route to the internet is route/no-egress", checktest.Change(checktest.Isolated(), office), pass},
		{"IPv6 cluster, admitted over IPv6", checktest.Change(nat(), sixCluster, admitting("198.51.100.0/24", "2600:1f14:0:ab00::/56")), pass},
		{"IPv6 cluster, admitted in part", checktest.Change(nat(), sixCluster, admitting("198.51.100.0/24", "2600:1f14:0:ab00:1::/80")), []string{
			"unknown rtb-0private [subnet-0private] instances: not read: rtb-0private: a part of the subnet's IPv6 addresses is admitted",
		}},
		{"IPv6 cluster, not admitted", checktest.Change(nat(), sixCluster, admitting("198.51.100.0/24", "2600:ffff::/56")), fail},
		{"instances unread", checktest.Change(nat(), checktest.Unread(snapshot.Instances)), []string{"unknown prod [] instances: denied"}},
	}
}

func TestAPIPublicCIDRWordsAndFix(t *testing.T) {
	got := checktest.Failed(t, APIPublicCIDR(), checktest.Change(snapshottest.PrivateWithNAT(), checktest.Late, admitting("198.51.100.0/24")))
	if want := "Private access is off, so nodes in subnet-0private use the public endpoint. Their traffic leaves from 203.0.113.7/32; publicAccessCidrs has only 198.51.100.0/24."; got.Why != want {
		t.Errorf("Why = %q, want %q", got.Why, want)
	}
	if want := "aws eks update-cluster-config --region us-west-2 --name prod --resources-vpc-config endpointPrivateAccess=true"; got.Fix.Command != want {
		t.Errorf("Command = %q, want %q", got.Fix.Command, want)
	}
	abroad := checktest.Failed(t, APIPublicCIDR(), checktest.Change(snapshottest.PrivateWithNAT(), checktest.Late, admitting("198.51.100.0/24"), func(s *snapshot.Snapshot) {
		s.Cluster.VPC, s.Cluster.EndpointPrivate = "vpc-0cluster", true
	}))
	if want := "--resources-vpc-config publicAccessCidrs=198.51.100.0/24,203.0.113.7/32"; !strings.HasSuffix(abroad.Fix.Command, want) {
		t.Errorf("Command = %q, want it to end in %q", abroad.Fix.Command, want)
	}
}
