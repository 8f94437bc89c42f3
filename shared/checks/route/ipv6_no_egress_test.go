package route

import (
	"net/netip"
	"slices"
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

func TestIpv6NoEgress(t *testing.T) { checktest.RunCases(t, IPv6NoEgress(), ipv6NoEgressCases()) }

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
		if got := checktest.Failed(t, IPv6NoEgress(), tt.world).Fix.Command; got != tt.want {
			t.Errorf("%s: Command = %q, want %q", tt.name, got, tt.want)
		}
	}
}
