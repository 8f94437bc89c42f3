package ip

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// cni sets variables of aws-node, by name and value.
func cni(pairs ...string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		for i := 0; i < len(pairs); i += 2 {
			s.CNI.Env[pairs[i]] = pairs[i+1]
		}
	}
}

// podSubnet adds a subnet of the node's zone, tagged for the CNI's discovery
// where a tag's value is given.
func podSubnet(free int, tag string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		n := snapshot.Subnet{ID: "subnet-0pods", VPC: snapshottest.VPC, Zone: snapshottest.Zone, CIDR: netip.MustParsePrefix("100.64.0.0/24"), Free: free}
		if tag != "" {
			n.Tags = map[string]string{"kubernetes.io/role/cni": tag}
		}
		s.Subnets = append(s.Subnets, n)
	}
}

// used sets the counts of a subnet.
func used(subnet string, blocks int) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Uses = append(s.Uses, snapshot.Use{Subnet: subnet, Interfaces: 40, Held: 700, Blocks: blocks})
	}
}

// customNetworking leads pods to subnet-0pods.
func customNetworking(s *snapshot.Snapshot) {
	cni("AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG", "true", "ENI_CONFIG_LABEL_DEF", "topology.kubernetes.io/zone")(s)
	s.ENIConfigs = []snapshot.ENIConfig{{Name: snapshottest.Zone, Subnet: "subnet-0pods"}}
}

func TestFragmented(t *testing.T) { checktest.RunCases(t, Fragmented(), fragmentedCases()) }

func fragmentedCases() []checktest.Case {
	prefixes := cni("ENABLE_PREFIX_DELEGATION", "true")
	world := func(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
		return checktest.Change(checktest.Change(free(300), prefixes), changes...)
	}
	notReady := func(s *snapshot.Snapshot) { s.Nodes[0].Ready = snapshot.Condition{Status: "False"} }
	const none = "fail subnet-0private [subnet-0private] [] subnet-0private has no free /28 for a prefix"
	return []checktest.Case{
		{"no prefix delegation", checktest.Change(free(300), used("subnet-0private", 0)), []string{"pass prod [prod subnet-0private]"}},
		{"a block is free", world(used("subnet-0private", 1)), []string{"pass subnet-0private [subnet-0private]"}},
		{"300 addresses, and no block", world(used("subnet-0private", 0)), []string{none}},
		{"it explains a node that registered and is not Ready", world(used("subnet-0private", 0), notReady), []string{
			"fail subnet-0private [subnet-0private] [i-0node] subnet-0private has no free /28 for a prefix",
		}},
		{"what the groups may launch into is watched too", world(used("subnet-0private", 3), used("subnet-0public", 0), func(s *snapshot.Snapshot) { s.Scope.Launchable = []string{snapshottest.Public} }), []string{
			"pass subnet-0private [subnet-0private]", "fail subnet-0public [subnet-0public] [] subnet-0public has no free /28 for a prefix",
		}},
		{"the reservations were not read: the block may be kept", world(used("subnet-0private", 1), checktest.Unread(snapshot.CIDRsKept)), []string{"unknown subnet-0private [subnet-0private] subnet cidr reservations: denied"}},
		{"without them there is not one more", world(used("subnet-0private", 0), checktest.Unread(snapshot.CIDRsKept)), []string{none}},
		{"the subnet was not counted", world(), []string{"unknown subnet-0private [subnet-0private] use of addresses: not read: the addresses of subnet-0private were not counted"}},
		{"further interfaces may be made in another subnet", world(used("subnet-0private", 0), used("subnet-0pods", 9), podSubnet(200, "1"), notReady), []string{
			"fail (possible) subnet-0private [subnet-0private] [] subnet-0private has no free /28 for a prefix",
		}},
		{"pods have another subnet: that counts", world(used("subnet-0private", 0), used("subnet-0pods", 9), podSubnet(200, ""), customNetworking), []string{"pass subnet-0pods [subnet-0pods]"}},
		{"and that has none", world(used("subnet-0private", 5), used("subnet-0pods", 0), podSubnet(200, ""), customNetworking, notReady), []string{
			"fail subnet-0pods [subnet-0pods] [i-0node] subnet-0pods has no free /28 for a prefix",
		}},
		{"the ENIConfigs were not read", world(used("subnet-0private", 0), podSubnet(200, ""), customNetworking, checktest.Unread(snapshot.ENIConfigsOf)), []string{"unknown subnet-0private [subnet-0private] eniconfigs: denied"}},
		{"types on Xen take no prefixes", world(used("subnet-0private", 0), func(s *snapshot.Snapshot) { s.InstanceTypes[0].Hypervisor = "xen" }), []string{"pass prod [prod subnet-0private]"}},
		{"the types were not read", world(used("subnet-0private", 0), checktest.Unread(snapshot.InstanceTypes)), []string{
			"fail (likely) subnet-0private [subnet-0private] [] subnet-0private has no free /28 for a prefix",
		}},
		{"pods have IPv6 addresses", world(used("subnet-0private", 0), func(s *snapshot.Snapshot) { s.Cluster.IPv6 = true }), []string{"pass prod [prod subnet-0private]"}},
		{"there is no aws-node", world(used("subnet-0private", 0), func(s *snapshot.Snapshot) { s.CNI = nil }), []string{"pass prod [prod subnet-0private]"}},
		{"aws-node unread", world(used("subnet-0private", 0), checktest.Unread(snapshot.AWSNode)), []string{"unknown prod [] aws-node: denied"}},
	}
}

// With custom networking the nodes that get no block stand in other subnets:
// they are named, for whoever sees a node of theirs that is not Ready.
func TestFragmentedNamesTheSubnetsOfItsNodes(t *testing.T) {
	prefixes := cni("ENABLE_PREFIX_DELEGATION", "true")
	for name, test := range map[string]struct {
		s    *snapshot.Snapshot
		want []string
	}{
		"pods share the subnet of the node": {checktest.Change(free(300), prefixes, used("subnet-0private", 0)), []string{"subnet-0private", snapshottest.VPC}},
		"pods have their own": {
			checktest.Change(free(300), prefixes, used("subnet-0private", 5), used("subnet-0pods", 0), podSubnet(200, ""), customNetworking),
			[]string{"subnet-0pods", "subnet-0private", snapshottest.VPC},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, checktest.Failed(t, Fragmented(), test.s).Resources); diff != "" {
				t.Errorf("resources (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFragmentedNamesWhatBreaksTheBlocks(t *testing.T) {
	s := checktest.Change(free(300), cni("ENABLE_PREFIX_DELEGATION", "true"), used("subnet-0private", 0))
	s.Uses[0].Nearest = []snapshot.Block{
		{CIDR: netip.MustParsePrefix("10.42.192.32/28"), Used: []netip.Addr{netip.MustParseAddr("10.42.192.37"), netip.MustParseAddr("10.42.192.40")}},
		{CIDR: netip.MustParsePrefix("10.42.192.64/28"), Used: []netip.Addr{netip.MustParseAddr("10.42.192.70"), netip.MustParseAddr("10.42.192.71"), netip.MustParseAddr("10.42.192.72")}},
	}
	got := checktest.Failed(t, Fragmented(), s)
	if got, want := checktest.Value(t, got, "Breaks 10.42.192.32/28"), "2 of 16 in use: 10.42.192.37 and 10.42.192.40"; got != want {
		t.Errorf("evidence %q, want %q", got, want)
	}
	if got, want := checktest.Value(t, got, "Blocks of"), "0 of 510 whole /28 blocks free; 300 addresses free, 700 held by 40 interfaces, 0 kept by reservations"; got != want {
		t.Errorf("evidence %q, want %q", got, want)
	}
	command := "aws ec2 describe-network-interfaces --region us-west-2 --filters Name=subnet-id,Values=subnet-0private Name=addresses.private-ip-address,Values=10.42.192.37,10.42.192.40"
	if got.Fix.Command != command || !strings.Contains(got.Fix.Text, "The nearest is 10.42.192.32/28: the command lists who holds its 2 addresses") {
		t.Errorf("Fix = %+v", got.Fix)
	}
}
