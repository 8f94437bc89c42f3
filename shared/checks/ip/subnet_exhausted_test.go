package ip

import (
	"net/netip"
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// free sets the free addresses of the node's subnet.
func free(n int) *snapshot.Snapshot {
	s := snapshottest.PrivateWithNAT()
	snapshottest.Subnet(s, snapshottest.Private).Free = n
	return s
}

func TestSubnetExhausted(t *testing.T) {
	checktest.RunCases(t, SubnetExhausted(), subnetExhaustedCases())
}

func subnetExhaustedCases() []checktest.Case {
	notReady := func(s *snapshot.Snapshot) { s.Nodes[0].Ready = snapshot.Condition{Status: "False"} }
	unjoined := func(s *snapshot.Snapshot) { snapshottest.Unjoin(s, snapshottest.Node) }
	large := func(s *snapshot.Snapshot) {
		s.InstanceTypes = append(s.InstanceTypes, snapshot.InstanceType{Name: "m5.4xlarge", Interfaces: 8, IPv4PerInterface: 30})
		snapshottest.Instance(s, snapshottest.Node).Type = "m5.4xlarge"
	}
	return []checktest.Case{
		{"plenty", free(8186), []string{"pass subnet-0private [subnet-0private]"}},
		{"exactly what the first interface of an m5.large holds", free(10), []string{"pass subnet-0private [subnet-0private]"}},
		{"one less", free(9), []string{"fail (likely) subnet-0private [subnet-0private] [] subnet-0private has only 9 free addresses"}},
		{"one", free(1), []string{"fail (likely) subnet-0private [subnet-0private] [] subnet-0private has only 1 free address"}},
		{"none", free(0), []string{"fail subnet-0private [subnet-0private] [] subnet-0private has no free address"}},
		{"an m5.4xlarge holds 30", checktest.Change(free(29), large), []string{"fail (likely) subnet-0private [subnet-0private] [] subnet-0private has only 29 free addresses"}},
		{"a reserve that does not fit is no fault", checktest.Change(free(30), large), []string{"pass subnet-0private [subnet-0private]"}},
		{"it explains a node that registered and is not Ready", checktest.Change(free(0), notReady), []string{
			"fail subnet-0private [subnet-0private] [i-0node] subnet-0private has no free address",
		}},
		{"it does not explain an instance that did not register: that has its address", checktest.Change(free(0), unjoined), []string{
			"fail subnet-0private [subnet-0private] [] subnet-0private has no free address",
		}},
		{"in an IPv6 cluster pods take none", checktest.Change(free(1), func(s *snapshot.Snapshot) { s.Cluster.IPv6 = true }), []string{"pass subnet-0private [subnet-0private]"}},
		{"a subnet with IPv6 addresses only has no IPv4 address to run out of", checktest.Change(free(0), func(s *snapshot.Snapshot) {
			n := snapshottest.Subnet(s, snapshottest.Private)
			n.CIDR, n.IPv6 = netip.Prefix{}, []netip.Prefix{netip.MustParsePrefix("2600:1f14::/64")}
		}), []string{"pass subnet-0private [subnet-0private]"}},
		{"few addresses in reserve", checktest.Change(free(6), cni("WARM_IP_TARGET", "5")), []string{"pass subnet-0private [subnet-0private]"}},
		{"fewer than these", checktest.Change(free(5), cni("WARM_IP_TARGET", "5")), []string{"fail (likely) subnet-0private [subnet-0private] [] subnet-0private has only 5 free addresses"}},
		{"aws-node unread: its defaults", checktest.Change(free(9), cni("WARM_IP_TARGET", "5"), checktest.Unread(snapshot.AWSNode)), []string{"fail (likely) subnet-0private [subnet-0private] [] subnet-0private has only 9 free addresses"}},
		{"another plugin: a node takes one", checktest.Change(free(1), func(s *snapshot.Snapshot) { s.CNI = nil }), []string{"pass subnet-0private [subnet-0private]"}},
		{"prefixes: one for the node, and a /28", checktest.Change(free(17), cni("ENABLE_PREFIX_DELEGATION", "true", "WARM_PREFIX_TARGET", "3")), []string{"pass subnet-0private [subnet-0private]"}},
		{"fewer, but a reservation may have prefixes", checktest.Change(free(16), cni("ENABLE_PREFIX_DELEGATION", "true")), []string{"fail (possible) subnet-0private [subnet-0private] [] subnet-0private has only 16 free addresses"}},
		{"none, and it starts no node", checktest.Change(free(0), cni("ENABLE_PREFIX_DELEGATION", "true")), []string{"fail subnet-0private [subnet-0private] [] subnet-0private has no free address"}},
		{"none, and a node is not Ready, whose prefixes may come from a reservation", checktest.Change(free(0), cni("ENABLE_PREFIX_DELEGATION", "true"), notReady), []string{"fail (likely) subnet-0private [subnet-0private] [i-0node] subnet-0private has no free address"}},
		{"pods have another subnet: one address is enough", checktest.Change(free(1), podSubnet(10, ""), customNetworking), []string{"pass subnet-0pods [subnet-0pods]", "pass subnet-0private [subnet-0private]"}},
		{"and none starts no node, but leaves its pods alone", checktest.Change(free(0), podSubnet(10, ""), customNetworking, notReady), []string{"pass subnet-0pods [subnet-0pods]", "fail subnet-0private [subnet-0private] [] subnet-0private has no free address"}},
		{"the pods' subnet is tight", checktest.Change(free(1), podSubnet(9, ""), customNetworking), []string{"fail (likely) subnet-0pods [subnet-0pods] [] subnet-0pods has only 9 free addresses", "pass subnet-0private [subnet-0private]"}},
		{"the pods' subnet is full", checktest.Change(free(1), podSubnet(0, ""), customNetworking, notReady), []string{"fail subnet-0pods [subnet-0pods] [i-0node] subnet-0pods has no free address", "pass subnet-0private [subnet-0private]"}},
		{"where pods take theirs cannot be read", checktest.Change(free(1), podSubnet(0, ""), customNetworking, checktest.Unread(snapshot.ENIConfigsOf)), []string{"pass subnet-0private [subnet-0private]", "unknown subnet-0private [subnet-0private] eniconfigs: denied"}},
		{"no ENIConfig for the zone", checktest.Change(free(1), podSubnet(0, ""), customNetworking, func(s *snapshot.Snapshot) { s.ENIConfigs = nil }), []string{"pass subnet-0private [subnet-0private]", "unknown subnet-0private [subnet-0private] eniconfigs: not read: no ENIConfig leads to a known subnet in the node's zone"}},
		{"a subnet that the plugin finds has plenty", checktest.Change(free(3), podSubnet(200, "1"), notReady), []string{"pass subnet-0private [subnet-0private]"}},
		{"which starts no node", checktest.Change(free(0), podSubnet(200, "1"), notReady), []string{"fail subnet-0private [subnet-0private] [] subnet-0private has no free address"}},
		{"one that it finds has little", checktest.Change(free(3), podSubnet(20, "1")), []string{"fail (likely) subnet-0private [subnet-0private] [] subnet-0private has only 3 free addresses"}},
		{"types unread, where one address is enough", checktest.Change(free(1), podSubnet(100, ""), customNetworking, checktest.Unread(snapshot.InstanceTypes)), []string{"pass subnet-0pods [subnet-0pods]", "pass subnet-0private [subnet-0private]"}},
		{"types unread, where they matter", checktest.Change(free(63), checktest.Unread(snapshot.InstanceTypes)), []string{"unknown subnet-0private [subnet-0private] instance types: denied"}},
		{"routes do not matter", checktest.Change(free(0), checktest.Unread(snapshot.RouteTables)), []string{
			"fail subnet-0private [subnet-0private] [] subnet-0private has no free address",
		}},
		{"subnets unread", checktest.Change(free(0), checktest.Unread(snapshot.Subnets)), []string{"unknown prod [] subnets: denied"}},
	}
}

func TestSubnetExhaustedArithmetic(t *testing.T) {
	got := checktest.Failed(t, SubnetExhausted(), free(9))
	want := "9 free; one more m5.large takes 10: 1 for itself and 9 for pods on its first interface; 10 more are kept warm on a second one"
	if got := checktest.Value(t, got, "Addresses of subnet-0private"); got != want {
		t.Errorf("arithmetic = %q, want %q", got, want)
	}
}
