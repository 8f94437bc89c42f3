package ip

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/checktest"
	"rollcall/shared/network/leak"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
	"rollcall/tools/expect"
)

func TestCases(t *testing.T) {
	checktest.RunTable(t, []check.Check{
		Fragmented(),
		Runway(),
		ScaleOutWillNotFit(),
		SubnetExhausted(),
		LeakCause(),
		LeakedInterfaces(),
	}, map[checkid.ID][]checktest.Case{
		checkid.IPFragmented:         fragmentedCases(),
		checkid.IPRunway:             runwayCases(),
		checkid.IPScaleOutWillNotFit: scaleOutWillNotFitCases(),
		checkid.IPSubnetExhausted:    subnetExhaustedCases(),
		checkid.IPLeakCause:          leakCauseCases(),
		checkid.IPLeakedInterfaces:   leakedInterfacesCases(),
	})
}

const (
	podENI   = "vpc.amazonaws.com/pod-eni"
	needsENI = "0/1 nodes are available: 1 Insufficient vpc.amazonaws.com/pod-eni. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod."
)

// branches is a world whose node has a trunk that carries nine branch interfaces and
// has some, and its changes.
func branches(have int, changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
	s := snapshottest.PrivateWithNAT()
	s.CNI.Env["ENABLE_POD_ENI"] = "true"
	s.Cluster.Role = "arn:aws:iam::111122223333:role/eks/cluster"
	n := &s.Nodes[0]
	n.Branches = 9
	s.Trunks = []snapshot.Trunk{{ID: "eni-0trunk", Instance: n.Instance, Subnet: snapshottest.Private, Branches: have}}
	return checktest.Change(s, changes...)
}

// unscheduledPod waits for a node, as the scheduler says.
func unscheduledPod(ago time.Duration, message, asks string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.WaitingPods = append(s.WaitingPods, snapshot.WaitingPod{
			Namespace: "shop", Name: fmt.Sprintf("db-%d", len(s.WaitingPods)), Created: s.Time.Add(-time.Hour),
			Scheduled: snapshot.Condition{Status: "False", Reason: "Unschedulable", Message: message, Since: s.Time.Add(-ago)},
			Requests:  []snapshot.Amounts{{asks: "1"}},
		})
	}
}

// unservedPod is on the world's node and has no branch interface.
func unservedPod(ago time.Duration) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.BranchWaits = append(s.BranchWaits, snapshot.BranchWait{Pod: "shop/db-0", Node: s.Nodes[0].Name, Since: s.Time.Add(-ago)})
	}
}

// trunkless is a node that has no trunk.
func trunkless(s *snapshot.Snapshot) { s.Nodes[0].Branches, s.Trunks = 0, nil }

func ofType(kind string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { s.Nodes[0].Labels["node.kubernetes.io/instance-type"] = kind }
}

func env(value string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { s.CNI.Env["ENABLE_POD_ENI"] = value }
}

func addressless(s *snapshot.Snapshot) { snapshottest.Subnet(s, snapshottest.Private).Free = 0 }

func TestBranchInterfaces(t *testing.T) {
	const long = 6 * time.Minute
	waiting := unscheduledPod(long, needsENI, podENI)
	refused := func(s *snapshot.Snapshot) {
		s.NodeEvents = append(s.NodeEvents, snapshot.NodeEvent{Node: s.Nodes[0].Name, Reason: "TrunkENICreationFailed", Last: s.Time.Add(-time.Hour),
			Message: "Failed to create trunk interface: Error Code: UnauthorizedOperation: Please verify the cluster IAM role has AmazonEKSVPCResourceController policy"})
	}
	claim := func(message string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			s.NodeClaims = []snapshot.NodeClaim{{Name: "web-x7k2p", Conditions: map[string]snapshot.ObservedCondition{
				"Initialized": {Condition: snapshot.Condition{Status: "Unknown", Reason: "ResourceNotRegistered", Message: message}},
			}}}
		}
	}
	var covers []string
	for _, n := range snapshottest.PrivateWithNAT().Subnets {
		covers = append(covers, n.ID)
	}
	rest := strings.Join(covers, " ")
	well := "pass prod [prod " + rest + "]"
	subnets := "pass prod [" + rest + "]"
	fail := func(resource, title string) []string {
		out := []string{"fail " + resource + " [prod] [] " + title, subnets}
		return out
	}
	const taken = "No branch interface is left for shop/db-0"
	checktest.RunCases(t, BranchInterfaces(), []checktest.Case{
		{Name: "no pod with security groups of its own", World: snapshottest.PrivateWithNAT(), Want: []string{well}},
		{Name: "some of nine are taken", World: branches(3), Want: []string{well}},
		{Name: "all are taken, and nobody waits", World: branches(9), Want: []string{well}},
		{Name: "the trunk's subnet is empty, and nobody waits", World: branches(3, addressless), Want: []string{well}},
		{Name: "it waits since four minutes", World: branches(9, unscheduledPod(4*time.Minute, needsENI, podENI)), Want: []string{well}},
		{Name: "it waits for CPU", World: branches(3, unscheduledPod(long, "0/1 nodes are available: 1 Insufficient cpu.", podENI)), Want: []string{well}},
		{Name: "it asks for none", World: branches(3, unscheduledPod(long, needsENI, "cpu")), Want: []string{well}},
		{Name: "another resource of the same beginning", World: branches(3, unscheduledPod(long, "0/1 nodes are available: 1 Insufficient vpc.amazonaws.com/pod-eni-2.", podENI)), Want: []string{well}},

		{Name: "all are taken", World: branches(9, waiting), Want: fail("prod", taken)},
		{Name: "by the scheduler alone", World: branches(9, waiting, checktest.Unread(snapshot.TrunksOf)), Want: fail("prod", taken)},
		{Name: "CPU lacks too", World: branches(9, unscheduledPod(long, "0/2 nodes are available: 1 Insufficient cpu, 1 Insufficient vpc.amazonaws.com/pod-eni.", podENI)), Want: fail("(possible) prod", taken)},
		{Name: "CPU lacks too, for one of two", World: branches(9, waiting, unscheduledPod(long, "0/2 nodes are available: 1 Insufficient cpu, 1 Insufficient vpc.amazonaws.com/pod-eni.", podENI)),
			Want: fail("prod", "No branch interface is left for 2 pods")},
		{Name: "aws-node asks for no trunk", World: branches(0, trunkless, env("false"), waiting), Want: fail("kube-system/aws-node", "aws-node requests no trunk interface, and shop/db-0 needs one")},
		{Name: "nothing is said of trunks", World: branches(0, trunkless, waiting, func(s *snapshot.Snapshot) { delete(s.CNI.Env, "ENABLE_POD_ENI") }),
			Want: fail("kube-system/aws-node", "aws-node requests no trunk interface, and shop/db-0 needs one")},
		{Name: "True is true", World: branches(0, trunkless, env("True"), waiting), Want: fail("prod", "No node has a trunk interface, and shop/db-0 needs one")},
		{Name: "aws-node was not read", World: branches(0, trunkless, waiting, checktest.Unread(snapshot.AWSNode)), Want: fail("prod", "No node has a trunk interface, and shop/db-0 needs one")},
		{Name: "the nodes were not read", World: branches(0, trunkless, env("true"), waiting, checktest.Unread(snapshot.Nodes)), Want: []string{"pass prod [subnet-0private subnet-0public]", "unknown prod [prod] nodes: denied"}},
		{Name: "the cluster's role may not", World: branches(0, trunkless, refused, waiting), Want: fail("arn:aws:iam::111122223333:role/eks/cluster", "No trunk interface can be created, and shop/db-0 needs one")},
		{Name: "it could not once, and can now", World: branches(9, refused, waiting), Want: fail("prod", taken)},
		{Name: "no type carries one", World: branches(0, trunkless, ofType("t3.medium"), waiting), Want: fail("prod", "No instance type here supports branch interfaces")},
		{Name: "a type that is not in the table", World: branches(0, trunkless, ofType("x99.large"), waiting), Want: fail("prod", "No node has a trunk interface, and shop/db-0 needs one")},
		{Name: "the controller says that the type carries none", World: branches(0, trunkless, ofType("x99.large"), waiting, func(s *snapshot.Snapshot) {
			s.Nodes[0].Labels["vpc.amazonaws.com/has-trunk-attached"] = "not-supported"
		}), Want: fail("prod", "No instance type here supports branch interfaces")},
		{Name: "only Windows has a node", World: branches(0, trunkless, ofType("t3.medium"), waiting, func(s *snapshot.Snapshot) {
			s.Nodes[0].Labels["kubernetes.io/os"] = "windows"
		}), Want: fail("prod", "No node has a trunk interface, and shop/db-0 needs one")},
		{Name: "Karpenter waits for the same", World: branches(0, trunkless, env("false"), waiting, claim(`Resource "vpc.amazonaws.com/pod-eni" was requested but not registered`)), Want: []string{
			"fail kube-system/aws-node [nodeclaim/web-x7k2p prod] [] aws-node requests no trunk interface, and shop/db-0 needs one", subnets,
		}},
		{Name: "Karpenter waits for a GPU", World: branches(0, trunkless, env("false"), waiting, claim(`Resource "nvidia.com/gpu" was requested but not registered`)),
			Want: fail("kube-system/aws-node", "aws-node requests no trunk interface, and shop/db-0 needs one")},

		{Name: "a node took it four minutes ago", World: branches(9, unservedPod(4*time.Minute)), Want: []string{well}},
		{Name: "its node's trunk is full", World: branches(9, unservedPod(long)), Want: fail("prod", taken)},
		{Name: "its trunk is full by the type", World: branches(9, unservedPod(long), ofType("m5.large"), func(s *snapshot.Snapshot) { s.Nodes[0].Branches = 0 }), Want: fail("prod", taken)},
		{Name: "one is free", World: branches(8, unservedPod(long)), Want: fail("(possible) prod", "shop/db-0 waits for a branch interface")},
		{Name: "its trunk is not known", World: branches(9, unservedPod(long), checktest.Unread(snapshot.TrunksOf)), Want: fail("(possible) prod", "shop/db-0 waits for a branch interface")},
		{Name: "its trunk's subnet is empty", World: branches(3, unservedPod(long), addressless), Want: []string{
			"pass prod [prod " + strings.Join(without(covers, snapshottest.Private), " ") + "]",
			"fail " + snapshottest.Private + " [" + snapshottest.Private + "] [] " + snapshottest.Private + " has no address for branch interfaces",
		}},
		{Name: "the pods were not read, and nothing says that they have branch interfaces", World: branches(0, trunkless, env("false"), checktest.Unread(snapshot.WaitingPods)), Want: nil},
		{Name: "the pods were not read", World: branches(9, checktest.Unread(snapshot.WaitingPods)), Want: []string{"unknown prod [prod] waiting pods: denied"}},
	})
}

func without(list []string, id string) []string {
	var out []string
	for _, s := range list {
		if s != id {
			out = append(out, s)
		}
	}
	return out
}

// TestBranchInterfacesSays holds what a finding tells beside its title: how full the
// trunks are, what larger types carry, what is left over, and the command.
func TestBranchInterfacesSays(t *testing.T) {
	const long = 6 * time.Minute
	stray := func(s *snapshot.Snapshot) {
		s.StrayBranches = []snapshot.StrayBranch{{ID: "eni-0stray", Subnet: snapshottest.Private}, {ID: "eni-0far", Subnet: snapshottest.Public}}
	}
	full := checktest.Failed(t, BranchInterfaces(), branches(9, ofType("m5.large"), unscheduledPod(long, needsENI, podENI), stray))
	for what, want := range map[string]string{
		snapshottest.PrivateWithNAT().Nodes[0].Name: "m5.large, 9 of 9 branch interfaces on eni-0trunk",
		"Left over": "2 branch interfaces without a trunk",
		"shop/db-0": "waiting since 14:54:00 UTC: " + needsENI,
	} {
		expect.Equal(t, fmt.Sprint(what), checktest.Value(t, full, what), want)
	}
	if want := "(m5.large carries 9, m5.xlarge 18; as of 2026-03-20)"; !strings.Contains(full.Fix.Text, want) {
		t.Errorf("fix %q does not say %q", full.Fix.Text, want)
	}
	if diff := cmp.Diff(full.Pods, []string{"shop/db-0"}); diff != "" || !full.Since.Equal(snapshottest.Now().Add(-long)) {
		t.Errorf("pods (-got +want):\n%s\nsince %v", diff, full.Since)
	}
	empty := checktest.Failed(t, BranchInterfaces(), branches(3, addressless, unservedPod(long), stray))
	if want := "eni-0stray holds one each, and its trunk no longer exists."; !strings.HasSuffix(empty.Why, want) {
		t.Errorf("why %q, want it to end in %q", empty.Why, want)
	}
	refused := checktest.Failed(t, BranchInterfaces(), branches(0, trunkless, unscheduledPod(long, needsENI, podENI), func(s *snapshot.Snapshot) {
		for n, code := range []string{"UnauthorizedOperation", "AttachmentLimitExceeded"} {
			s.NodeEvents = append(s.NodeEvents, snapshot.NodeEvent{Node: s.Nodes[0].Name, Reason: "TrunkENICreationFailed", Message: "Error Code: " + code, Last: s.Time.Add(-time.Duration(n+1) * time.Hour)})
		}
	}))
	expect.Equal(t, "command", refused.Fix.Command, "aws iam attach-role-policy --region us-west-2 --role-name cluster --policy-arn arn:aws:iam::aws:policy/AmazonEKSVPCResourceController")
	if got := checktest.Value(t, refused, "Event of "); got != "TrunkENICreationFailed: Error Code: UnauthorizedOperation" {
		t.Errorf("the event %q is not the newest", got)
	}
}

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
			expect.Same(t, "resources", checktest.Failed(t, Fragmented(), test.s).Resources, test.want)
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
	expect.Equal(t, "evidence", checktest.Value(t, got, "Breaks 10.42.192.32/28"), "2 of 16 in use: 10.42.192.37 and 10.42.192.40")
	expect.Equal(t, "evidence", checktest.Value(t, got, "Blocks of"), "0 of 510 whole /28 blocks free; 300 addresses free, 700 held by 40 interfaces, 0 kept by reservations")
	command := "aws ec2 describe-network-interfaces --region us-west-2 --filters Name=subnet-id,Values=subnet-0private Name=addresses.private-ip-address,Values=10.42.192.37,10.42.192.40"
	if got.Fix.Command != command || !strings.Contains(got.Fix.Text, "The nearest is 10.42.192.32/28: the command lists who holds its 2 addresses") {
		t.Errorf("Fix = %+v", got.Fix)
	}
}

func TestPodWithoutAddress(t *testing.T) {
	const (
		sandbox = "FailedCreatePodSandBox"
		node    = " ip-10-42-1-5.us-west-2.compute.internal [i-0node] [i-0node] "
		well    = "pass prod [i-0node prod]"
	)
	world := func(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
		s := snapshottest.PrivateWithNAT()
		s.Nodes[0].Name = "ip-10-42-1-5.us-west-2.compute.internal"
		return checktest.Change(s, changes...)
	}
	checktest.RunCases(t, PodWithoutAddress(), []checktest.Case{
		{Name: "no pod waits", World: world(), Want: []string{well}},
		{Name: "for four minutes", World: world(checktest.StuckPod(4*time.Minute, sandbox, "failed to assign an IP address to container")), Want: []string{well}},
		{Name: "for an address", World: world(checktest.NoAddress), Want: []string{"fail" + node + "shop/web-0 waits for an address on i-0node"}},
		{Name: "several for an address", World: world(checktest.NoAddress, checktest.NoAddress), Want: []string{"fail" + node + "2 pods wait for an address on i-0node"}},
		{Name: "the plugin does not answer", World: world(checktest.StuckPod(6*time.Minute, sandbox, `plugin type="aws-cni" failed (add): dial tcp 127.0.0.1:50051: connect: connection refused`)), Want: []string{"fail" + node + "shop/web-0 waits for an address on i-0node"}},
		{Name: "for a sandbox", World: world(checktest.StuckPod(6*time.Minute, sandbox, `failed to get sandbox image "localhost/kubernetes/pause"`)), Want: []string{"fail" + node + "shop/web-0 waits for a sandbox on i-0node"}},
		{Name: "for a volume", World: world(checktest.StuckPod(time.Hour, "FailedMount", "timed out waiting for the condition")), Want: []string{well}},
		{Name: "for a volume that cannot be attached", World: world(checktest.StuckPod(time.Hour, "FailedAttachVolume", "x")), Want: []string{well}},
		{Name: "for a volume whose driver waits for metadata", World: world(checktest.StuckPod(time.Hour, "FailedMount", "operation error ec2imds: GetMetadata, exceeded maximum number of attempts")), Want: []string{"fail" + node + "shop/web-0 waits for instance metadata on i-0node"}},
		{Name: "first for a volume, now for an address", World: world(checktest.NoAddress, func(s *snapshot.Snapshot) {
			s.PodEvents = append(s.PodEvents, snapshot.PodEvent{Pod: "shop/web-0", Reason: "FailedMount", Last: s.Time.Add(-10 * time.Minute)})
		}), Want: []string{"fail" + node + "shop/web-0 waits for an address on i-0node"}},
		{Name: "no event says why, yet", World: world(checktest.StuckPod(10*time.Minute, "", "")), Want: []string{well}},
		{Name: "no event says why", World: world(checktest.StuckPod(16*time.Minute, "", "")), Want: []string{"fail" + node + "shop/web-0 waits on i-0node, and no event explains it"}},
		{Name: "the node is not Ready", World: world(checktest.NoAddress, func(s *snapshot.Snapshot) { s.Nodes[0].Ready.Status = "False" }), Want: []string{"pass prod [prod]"}},
		{Name: "a node that is no instance", World: world(checktest.NoAddress, func(s *snapshot.Snapshot) { s.Nodes[0].Instance = "" }), Want: []string{
			"fail ip-10-42-1-5.us-west-2.compute.internal [ip-10-42-1-5.us-west-2.compute.internal] [] shop/web-0 waits for an address on ip-10-42-1-5.us-west-2.compute.int…",
		}},
		{Name: "events unread, nobody waits", World: world(checktest.Unread(snapshot.PodEventsOf)), Want: []string{well}},
		{Name: "events unread", World: world(checktest.NoAddress, checktest.Unread(snapshot.PodEventsOf)), Want: []string{"unknown prod [i-0node prod] pod events: denied"}},
		{Name: "pods unread", World: world(checktest.Unread(snapshot.WaitingPods)), Want: []string{"unknown prod [prod] waiting pods: denied"}},
	})
}

// TestBranchLeaked: branch interfaces whose trunk is gone are the cause where giving them
// back is enough for one more node, or where they are many.
func TestBranchLeaked(t *testing.T) {
	strays := func(n, free int) *snapshot.Snapshot {
		s := snapshottest.PrivateWithNAT()
		snapshottest.Subnet(s, snapshottest.Private).Free = free
		for range n {
			s.StrayBranches = append(s.StrayBranches, snapshot.StrayBranch{ID: "eni-0stray", Subnet: snapshottest.Private})
		}
		return s
	}
	const rest, all = "pass prod [prod subnet-0public]", "pass prod [prod subnet-0private subnet-0public]"
	checktest.RunCases(t, BranchLeaked(), []checktest.Case{
		{Name: "none", World: snapshottest.PrivateWithNAT(), Want: []string{all}},
		{Name: "a few, with room", World: strays(5, 200), Want: []string{all}},
		{Name: "a few, and giving them back does not help", World: strays(2, 0), Want: []string{all}},
		{Name: "enough for one more node", World: strays(12, 0), Want: []string{rest, "fail subnet-0private [subnet-0private] [] 12 branch interfaces without a trunk hold addresses of subnet-0private"}},
		{Name: "many, with room", World: strays(60, 100), Want: []string{rest, "fail (likely) subnet-0private [subnet-0private] [] 60 branch interfaces without a trunk hold addresses of subnet-0private"}},
		{Name: "unread", World: checktest.Change(strays(12, 0), checktest.Unread(snapshot.TrunksOf)), Want: []string{"unknown prod [] trunk interfaces: denied"}},
	})
}

// nodePool is a NodePool with a node, which launches m5.large into some subnets.
func nodePool(limits, used snapshot.Amounts, wanted int, subnets ...string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Groups, s.Nodegroups = nil, nil
		class := snapshot.NodeClass{Name: "default"}
		for _, id := range subnets {
			class.Selected = append(class.Selected, snapshot.ZonedSubnet{ID: id, Zone: snapshottest.Zone})
		}
		s.EC2NodeClasses = []snapshot.NodeClass{class}
		s.NodePools = []snapshot.NodePool{{Name: "web", Class: snapshot.ClassRef{Group: snapshot.KarpenterGroup, Name: "default"}, Limits: limits, Used: used}}
		s.NodeClaims = []snapshot.NodeClaim{{Name: "web-1", Pool: "web", Instance: snapshottest.Node, Type: "m5.large"}, {Name: "web-0", Pool: "web", Deleting: true}}
		for range wanted {
			s.NodeClaims = append(s.NodeClaims, snapshot.NodeClaim{Name: "web-new", Pool: "web"})
		}
	}
}

func TestNodePoolsWillNotFit(t *testing.T) {
	nodes := func(limit, used string) (snapshot.Amounts, snapshot.Amounts) {
		return snapshot.Amounts{"nodes": limit}, snapshot.Amounts{"nodes": used}
	}
	world := func(n int, limit, used string, wanted int, subnets ...string) *snapshot.Snapshot {
		limits, have := nodes(limit, used)
		return checktest.Change(free(n), nodePool(limits, have, wanted, subnets...), func(s *snapshot.Snapshot) { snapshottest.Subnet(s, snapshottest.Public).Free = 20 })
	}
	const (
		one, two = snapshottest.Private, snapshottest.Public
		pass     = "pass subnet-0private [subnet-0private]"
	)
	cpu := func(n int, limit string) *snapshot.Snapshot {
		return checktest.Change(free(n), nodePool(snapshot.Amounts{"cpu": limit}, snapshot.Amounts{"cpu": "2"}, 0, one))
	}
	checktest.RunCases(t, ScaleOutWillNotFit(), []checktest.Case{
		{Name: "it fits", World: world(380, "20", "1", 0, one), Want: []string{pass}},
		{Name: "one address less", World: world(379, "20", "1", 0, one), Want: []string{"fail (advice) subnet-0private [subnet-0private] [] subnet-0private has no room for 19 more nodes"}},
		{Name: "what is asked for does not", World: world(170, "20", "1", 9, one), Want: []string{"fail subnet-0private [subnet-0private] [] subnet-0private has no room for 19 more nodes"}},
		{Name: "room for less than two", World: world(39, "20", "1", 0, one), Want: []string{"fail subnet-0private [subnet-0private] [] subnet-0private has no room for 19 more nodes"}},
		{Name: "by CPUs", World: cpu(380, "40"), Want: []string{pass}},
		{Name: "by CPUs, one address less", World: cpu(379, "40"), Want: []string{"fail (advice) subnet-0private [subnet-0private] [] subnet-0private has no room for 19 more nodes"}},
		{Name: "the limit is used up", World: world(0, "1", "1", 0, one), Want: []string{pass}},
		{Name: "without a limit", World: checktest.Change(free(0), nodePool(nil, nil, 0, one)), Want: []string{pass}},
		{Name: "without a limit, and it asks for two", World: checktest.Change(free(30), nodePool(nil, nil, 2, one)), Want: []string{"fail subnet-0private [subnet-0private] [] subnet-0private has no room for 2 more nodes"}},
		{Name: "two subnets, and all fit", World: world(170, "20", "1", 0, one, two), Want: []string{pass, "pass web [nodepool/web]"}},
		{Name: "two subnets, and one address less", World: world(169, "20", "1", 0, one, two), Want: []string{pass, "fail (advice) web [nodepool/web] [] NodePool web has no addresses for 19 more nodes"}},
		{Name: "two subnets, and what is asked for does not fit", World: world(60, "20", "1", 9, one, two), Want: []string{pass, "fail web [nodepool/web] [] NodePool web has no addresses for 19 more nodes"}},
		{Name: "it is deleted", World: checktest.Change(world(0, "20", "1", 9, one), func(s *snapshot.Snapshot) { s.NodePools[0].Deleting = true }), Want: []string{"pass prod [prod subnet-0private]"}},
		{Name: "Auto Mode has a network of its own", World: checktest.Change(world(19, "20", "1", 0, one), func(s *snapshot.Snapshot) {
			s.NodePools[0].Class.Group, s.AutoNodeClasses = snapshot.AutoModeGroup, s.EC2NodeClasses
		}), Want: []string{pass}},
		{Name: "its class was not read", World: checktest.Change(world(0, "20", "1", 9, one), checktest.Unread(snapshot.EC2NodeClassesOf)), Want: []string{"pass prod [subnet-0private]", "unknown prod [prod] ec2nodeclasses: denied"}},
		{Name: "the NodePools were not read", World: checktest.Change(world(0, "20", "1", 9, one), checktest.Unread(snapshot.NodePoolsOf), func(s *snapshot.Snapshot) { s.Cluster.AutoMode = true }),
			Want: []string{"pass prod [subnet-0private]", "unknown prod [prod] nodepools: denied"}},
		{Name: "not read", World: checktest.Change(free(0), checktest.Unread(snapshot.Subnets)), Want: []string{"unknown prod [] subnets: denied"}},
	})
	r := checktest.Failed(t, ScaleOutWillNotFit(), world(60, "20", "1", 9, one, two))
	expect.Equal(t, "why", r.Why, "NodePool web can launch 19 more nodes within its limits, in subnet-0private and subnet-0public: 19 more m5.large x 10 = 190; subnet-0private and subnet-0public have 80 free. It requests 9 now.")
	open := checktest.EvalOne(t, ScaleOutWillNotFit(), checktest.Change(free(100), nodePool(nil, nil, 0, one)))
	expect.Equal(t, "evidence", checktest.Value(t, open[0], "Without a limit"), "NodePool web: how much it can launch here is unknown")
}

// TestNodePoolMayGrow: too little for one more node is a fault where a NodePool that is
// in use launches there, and has no other subnet with plenty in that zone.
func TestNodePoolMayGrow(t *testing.T) {
	const one, two = snapshottest.Private, snapshottest.Public
	for name, tt := range map[string]struct {
		change func(*snapshot.Snapshot)
		want   bool
	}{
		"in use, without a limit":    {nodePool(nil, nil, 0, one), true},
		"its nodes are used up":      {nodePool(snapshot.Amounts{"nodes": "1"}, snapshot.Amounts{"nodes": "1"}, 0, one), false},
		"its CPUs are used up":       {nodePool(snapshot.Amounts{"cpu": "2"}, snapshot.Amounts{"cpu": "2"}, 0, one), false},
		"idle":                       {func(s *snapshot.Snapshot) { nodePool(nil, nil, 0, one)(s); s.NodeClaims = nil }, false},
		"elsewhere":                  {nodePool(nil, nil, 0, two), false},
		"another subnet of the zone": {nodePool(nil, nil, 0, one, two), false},
		"which is as tight":          {func(s *snapshot.Snapshot) { nodePool(nil, nil, 0, one, two)(s); snapshottest.Subnet(s, two).Free = 5 }, true},
		"another subnet, in a zone of its own": {func(s *snapshot.Snapshot) {
			nodePool(nil, nil, 0, one, two)(s)
			snapshottest.Subnet(s, two).Zone = "us-west-2z"
		}, true},
	} {
		r := checktest.Failed(t, SubnetExhausted(), checktest.Change(free(9), func(s *snapshot.Snapshot) { snapshottest.Subnet(s, two).Free = 5000 }, tt.change, func(s *snapshot.Snapshot) {
			s.Scope.Subnets, s.Scope.Launchable = []string{one}, nil
		}))
		if r.Unconditional != tt.want {
			t.Errorf("%s: it is a fault by itself: %v, want %v", name, r.Unconditional, tt.want)
		}
	}
}

// TestRunwayCountsNodesThatPoolsAskFor: they are taken off what is left, each subnet
// its part.
func TestRunwayCountsNodesThatPoolsAskFor(t *testing.T) {
	s := checktest.Change(free(500), nodePool(nil, nil, 3, snapshottest.Private, snapshottest.Public), func(s *snapshot.Snapshot) {
		s.Scope.Launchable = []string{snapshottest.Private}
		for n := range 60 {
			s.Samples = append(s.Samples, snapshot.Sample{Subnet: snapshottest.Private, At: s.Time.Add(time.Duration(n-60) * 5 * time.Minute), Free: 500, Total: 8187})
		}
		s.Read[snapshot.LaunchHistory] = true
	})
	for _, r := range checktest.EvalOne(t, Runway(), s) {
		if got := checktest.Value(t, r, "Launches wanted"); !strings.HasPrefix(got, "2 here, by NodePool web: ") {
			t.Errorf("launches wanted: %q", got)
		}
	}
}

// trend is a world whose private subnet, of 4,091 addresses, had as many free as
// the function says of each five minutes since so many hours.
func trend(hours int, free func(ago time.Duration) int, changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
	s := snapshottest.PrivateWithNAT()
	s.Scope.Launchable = []string{snapshottest.Private}
	for ago := time.Duration(hours) * time.Hour; ago >= 0; ago -= 5 * time.Minute {
		s.Samples = append(s.Samples, snapshot.Sample{Subnet: snapshottest.Private, At: s.Time.Add(-ago), Free: free(ago), Total: 4091})
	}
	snapshottest.Subnet(s, snapshottest.Private).Free = free(0)
	s.Groups[0].Desired = len(s.Groups[0].Instances)
	return checktest.Change(s, changes...)
}

func level(n int) func(time.Duration) int { return func(time.Duration) int { return n } }

// losing is a subnet with 3,000 free, of which it has lost some an hour for some
// hours, down to what is left.
func losing(perHour, left float64) func(time.Duration) int {
	return func(ago time.Duration) int { return int(min(left+perHour*ago.Hours(), 3000)) }
}

func runwayCases() []checktest.Case {
	wanted := func(n int) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			s.Groups[0].Desired += n
			s.Groups[0].Subnets = []string{snapshottest.Private}
		}
	}
	fail := func(confidence, at string) []string {
		return []string{"fail (" + confidence + ") subnet-0private [subnet-0private] [] subnet-0private runs out of addresses at about " + at}
	}
	pass := []string{"pass subnet-0private [subnet-0private]"}
	return []checktest.Case{
		{"no fall", trend(72, level(3000)), pass},
		{"a fall of hours", trend(72, losing(200, 1009)), fail("likely", "19:55 UTC")},
		{"a week would be left", trend(72, losing(5, 1009)), pass},
		{"it is left by a longer horizon", trend(120, losing(30, 1089), func(s *snapshot.Snapshot) { s.Horizon = 72 * time.Hour }), fail("likely", "22 Nov 02:35 UTC")},
		{"and not by a shorter one", trend(120, losing(30, 1089)), pass},
		{"launches that are wanted are taken off", trend(72, losing(200, 1009), wanted(20)), fail("likely", "18:55 UTC")},
		{"a group that launches nothing wants none", trend(72, losing(200, 1009), wanted(20), func(s *snapshot.Snapshot) {
			s.Groups[0].Suspended = []snapshot.Suspended{{Process: "Launch"}}
		}), fail("likely", "19:55 UTC")},
		{"of types that were not read each address counts", trend(72, losing(200, 1000), checktest.Unread(snapshot.InstanceTypes)), fail("likely", "19:55 UTC")},
		{"nothing is left", trend(72, losing(200, 5)), []string{"fail (advice) subnet-0private [subnet-0private] [] subnet-0private has no addresses left for one more node"}},
		{"what is wanted may go elsewhere", trend(72, func(time.Duration) int { return 100 }, wanted(20)), pass},
		{"a subnet of IPv6 addresses", trend(72, level(0), func(s *snapshot.Snapshot) { snapshottest.Subnet(s, snapshottest.Private).CIDR = netip.Prefix{} }), pass},
		{"nobody looked", trend(0, level(3000)), []string{"unknown subnet-0private [subnet-0private] launch history: not read: the free addresses of subnet-0private were not recorded often enough lately (1 samples)"}},
		{"nobody looked lately", trend(72, losing(200, 1009), func(s *snapshot.Snapshot) { s.Samples = s.Samples[:len(s.Samples)-12] }), []string{
			"unknown subnet-0private [subnet-0private] launch history: not read: the free addresses of subnet-0private were not recorded often enough lately (853 samples)",
		}},
		{"no group launches anywhere", checktest.Change(trend(72, losing(200, 1009)), func(s *snapshot.Snapshot) { s.Scope.Launchable = nil }), []string{"pass prod [prod]"}},
		{"samples unread", trend(72, losing(200, 1009), checktest.Unread(snapshot.LaunchHistory)), []string{"unknown prod [] launch history: denied"}},
	}
}

func TestRunwayWords(t *testing.T) {
	f := checktest.Failed(t, Runway(), trend(72, losing(200, 1009)))
	want := "Since 05:00 UTC subnet-0private lost 201 addresses an hour, from 3,000 to 1,009. At that pace one more m5.large fits (10 addresses) until 19:55 UTC"
	if !strings.HasPrefix(f.Why, want) {
		t.Errorf("why = %q, want %q …", f.Why, want)
	}
	for n, want := range map[float64]string{0.44: "0.4 addresses", 1: "1.0 address", 42.4: "42 addresses", 1204: "1,204 addresses"} {
		expect.Equal(t, fmt.Sprintf("addressesOf(%v)", n), addressesOf(n), want)
	}
}

func scaleOutWillNotFitCases() []checktest.Case {
	group := func(most, desired int) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { s.Groups[0].Max, s.Groups[0].Desired = most, desired }
	}
	types := func(names ...string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { s.Groups[0].Types = names }
	}
	const advice = "fail (advice) subnet-0private [subnet-0private] [] subnet-0private has no room for 19 more nodes"
	return []checktest.Case{
		{"it fits", checktest.Change(free(380), group(20, 1)), []string{"pass subnet-0private [subnet-0private]"}},
		{"one address less: advice, for nothing has failed", checktest.Change(free(379), group(20, 1)), []string{advice}},
		{"a scale-out that fits now", checktest.Change(free(379), group(20, 10)), []string{advice}},
		{"one that does not", checktest.Change(free(170), group(20, 10)), []string{
			"fail subnet-0private [subnet-0private] [] subnet-0private has no room for 19 more nodes",
		}},
		{"room for less than two nodes", checktest.Change(free(39), group(20, 1)), []string{
			"fail subnet-0private [subnet-0private] [] subnet-0private has no room for 19 more nodes",
		}},
		{"a group at its maximum", checktest.Change(free(0), group(1, 1)), []string{"pass subnet-0private [subnet-0private]"}},
		{"fewer addresses at start", checktest.Change(free(120), group(20, 1), cni("WARM_IP_TARGET", "5")), []string{"pass subnet-0private [subnet-0private]"}},
		{"blocks", checktest.Change(free(700), group(20, 1), cni("ENABLE_PREFIX_DELEGATION", "true"), used("subnet-0private", 38)), []string{"pass subnet-0private [subnet-0private]"}},
		{"one block short", checktest.Change(free(700), group(20, 1), cni("ENABLE_PREFIX_DELEGATION", "true"), used("subnet-0private", 37)), []string{
			"fail (advice) subnet-0private [subnet-0private] [] subnet-0private has too few /28 blocks for 19 more nodes",
		}},
		{"blocks that nobody counted", checktest.Change(free(700), group(20, 1), cni("ENABLE_PREFIX_DELEGATION", "true"), checktest.Unread(snapshot.Usage)), []string{
			"unknown subnet-0private [subnet-0private] use of addresses: denied",
		}},
		{"blocks of a subnet that was not counted", checktest.Change(free(700), group(20, 1), cni("ENABLE_PREFIX_DELEGATION", "true")), []string{
			"unknown subnet-0private [subnet-0private] use of addresses: not read: the addresses of subnet-0private were not counted",
		}},
		{"pods have another subnet", checktest.Change(free(19), group(20, 1), podSubnet(380, ""), customNetworking), []string{
			"pass subnet-0pods [subnet-0pods]", "pass subnet-0private [subnet-0private]",
		}},
		{"which is too small", checktest.Change(free(19), group(20, 1), podSubnet(100, ""), customNetworking), []string{
			"fail (advice) subnet-0pods [subnet-0pods] [] subnet-0pods has no room for 19 more nodes", "pass subnet-0private [subnet-0private]",
		}},
		{"nodes that start now, and no more may", checktest.Change(free(18), group(1, 1), func(s *snapshot.Snapshot) {
			s.Instances[0].Launched, s.Nodes = s.Time, nil
		}), []string{"fail subnet-0private [subnet-0private] [] subnet-0private has not enough for the nodes that are starting"}},
		{"nodes and pods in one subnet", checktest.Change(free(380), group(20, 1), customNetworking, func(s *snapshot.Snapshot) { s.ENIConfigs[0].Subnet = snapshottest.Private }), []string{"pass subnet-0private [subnet-0private]"}},
		{"the ENIConfigs were not read", checktest.Change(free(19), group(20, 1), podSubnet(100, ""), customNetworking, checktest.Unread(snapshot.ENIConfigsOf)), []string{
			"unknown subnet-0private [subnet-0private] eniconfigs: denied",
		}},
		{"a type that is not known", checktest.Change(free(380), group(20, 1), types("x9.huge")), []string{
			"unknown subnet-0private [subnet-0private] instance types: not read: what x9.huge carries is not known",
		}},
		{"it does not fit without that type either", checktest.Change(free(379), group(20, 1), types("m5.large", "x9.huge")), []string{advice}},
		{"nobody knows what the group launches", checktest.Change(free(380), group(20, 1), func(s *snapshot.Snapshot) {
			s.Nodegroups, s.Instances = nil, nil
		}), []string{"unknown subnet-0private [subnet-0private] launch templates: not read: which instance types eks-workers launches is not known"}},
		{"and the launch template, which would tell, was not read", checktest.Change(free(380), group(20, 1), func(s *snapshot.Snapshot) {
			s.Nodegroups, s.Instances = nil, nil
		}, checktest.Unread(snapshot.LaunchTemplates)), []string{"unknown subnet-0private [subnet-0private] launch templates: denied"}},
		{"pods with IPv6 addresses: one for each node", checktest.Change(free(19), group(20, 1), func(s *snapshot.Snapshot) { s.Cluster.IPv6 = true }), []string{"pass subnet-0private [subnet-0private]"}},
		{"another plugin: a node's own is all that is known of", checktest.Change(free(19), group(20, 1), func(s *snapshot.Snapshot) { s.CNI = nil }), []string{"pass subnet-0private [subnet-0private]"}},
		{"and that does not fit", checktest.Change(free(18), group(20, 1), func(s *snapshot.Snapshot) { s.CNI = nil }), []string{advice}},
		{"no group", checktest.Change(free(0), func(s *snapshot.Snapshot) { s.Groups = nil }), []string{"pass prod [prod subnet-0private]"}},
		{"aws-node unread", checktest.Change(free(0), group(20, 1), checktest.Unread(snapshot.AWSNode)), []string{"unknown prod [] aws-node: denied"}},
	}
}

func TestScaleOutArithmetic(t *testing.T) {
	s := free(251)
	s.InstanceTypes = append(s.InstanceTypes, snapshot.InstanceType{Name: "m5.4xlarge", Interfaces: 8, IPv4PerInterface: 30, Hypervisor: "nitro"})
	s.Groups[0].Max = 6
	s.Groups = append(s.Groups, snapshot.Group{Name: "eks-big", Max: 9, Types: []string{"m5.4xlarge"}, Subnets: []string{snapshottest.Private}})
	got := checktest.Failed(t, ScaleOutWillNotFit(), s)
	sum := "2 groups can launch 14 more nodes here: 5 m5.large x 20 + 9 m5.4xlarge x 60 = 640; 251 free"
	if value := checktest.Value(t, got, "Addresses of subnet-0private"); value != sum {
		t.Errorf("arithmetic = %q, want %q", value, sum)
	}
	expect.Equal(t, "Why", got.Why, "subnet-0private (10.42.192.0/19, us-west-2a): "+sum+".")
	// 5 x 30 + 9 x 240
	if value := checktest.Value(t, got, "When pods fill"); value != "2310 addresses" {
		t.Errorf("full size = %q, want 2310 addresses", value)
	}

	pods := checktest.Change(free(100), podSubnet(100, ""), customNetworking, func(s *snapshot.Snapshot) { s.Groups[0].Max = 20 })
	sum = "1 group can launch 19 more nodes whose pods get addresses here: 19 m5.large x 20 = 380; 100 free"
	if value := checktest.Value(t, checktest.Failed(t, ScaleOutWillNotFit(), pods), "Addresses of subnet-0pods"); value != sum {
		t.Errorf("arithmetic = %q, want %q", value, sum)
	}

	s.Groups[1].Types = []string{"m5.large", "m5.4xlarge"}
	s.Groups[1].Max = 30
	launched := *snapshottest.Instance(s, snapshottest.Node)
	launched.ID, launched.Launched, launched.Interfaces = "i-0new", s.Time, []string{"eni-0"}
	s.Instances = append(s.Instances, launched)
	got = checktest.Failed(t, ScaleOutWillNotFit(), s)
	want := "2 groups can launch 34 more nodes here: 4 m5.large x 20 + 30 of m5.large (the smallest) x 20 + 19 that a node that starts now has still to get = 699; 251 free"
	if value := checktest.Value(t, got, "Addresses of subnet-0private"); value != want {
		t.Errorf("arithmetic = %q, want %q", value, want)
	}
}

// free sets the free addresses of the node's subnet.
func free(n int) *snapshot.Snapshot {
	s := snapshottest.PrivateWithNAT()
	snapshottest.Subnet(s, snapshottest.Private).Free = n
	return s
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
	want := "9 free; one more m5.large needs 10: 1 for itself and 9 for pods on its first interface; 10 more are kept warm on a second one"
	expect.Equal(t, "arithmetic", checktest.Value(t, got, "Addresses of subnet-0private"), want)
}

// deadNode made most of the interfaces in these tests.
const deadNode = "i-0dead00000000dead"

// leftBehind puts interfaces of a dead node with 10 addresses each into the
// node's subnet.
func leftBehind(n int, changes ...func(*snapshot.Interface)) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		if !slices.ContainsFunc(s.Creators, func(c snapshot.Creator) bool { return c.Instance == deadNode }) {
			s.Creators = append(s.Creators, snapshot.Creator{Instance: deadNode, State: "terminated"})
		}
		for range n {
			k := len(s.Idle)
			i := snapshot.Interface{
				ID: fmt.Sprintf("eni-0%d", k), Account: s.Account, VPC: snapshottest.VPC, Subnet: snapshottest.Private, Status: "available", Kind: "interface",
				Description: "aws-K8S-" + deadNode,
				Tags: map[string]string{
					leak.TagInstance: deadNode, leak.TagCluster: snapshottest.ClusterName, leak.TagCreated: s.Time.Add(-3 * time.Hour).Format(time.RFC3339),
				},
			}
			for a := range 10 {
				i.PrivateIPs = append(i.PrivateIPs, netip.AddrFrom4([4]byte{10, 42, byte(192 + k/25), byte(10*(k%25) + a)}))
			}
			for _, change := range changes {
				change(&i)
			}
			s.Idle = append(s.Idle, i)
		}
	}
}

// creator sets how EC2 says the owner is.
func creator(state string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Creators = []snapshot.Creator{{Instance: deadNode, State: state}}
	}
}

func tagged(key, value string) func(*snapshot.Interface) {
	return func(i *snapshot.Interface) {
		if i.Tags[key] = value; value == "" {
			delete(i.Tags, key)
		}
	}
}

// slash24 makes the node's subnet one of 251 addresses.
func slash24(free int) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		n := snapshottest.Subnet(s, snapshottest.Private)
		n.CIDR, n.Free = netip.MustParsePrefix("10.42.192.0/24"), free
	}
}

func setCNI(name, value string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { s.CNI.Env[name] = value }
}

func leakedInterfacesCases() []checktest.Case {
	const (
		well   = "pass prod [eks-workers prod subnet-0private subnet-0public]"
		others = "pass prod [prod subnet-0public]"
		hold   = "subnet-0private [subnet-0private] [] 1 terminated node holds "
	)
	world := func(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
		return checktest.Change(snapshottest.PrivateWithNAT(), changes...)
	}
	notReady := func(s *snapshot.Snapshot) { s.Nodes[0].Ready = snapshot.Condition{Status: "False"} }
	return []checktest.Case{
		{"none", world(), []string{well}},
		{"a few in a large subnet are advice", world(leftBehind(3)), []string{others, "fail (advice) " + hold + "30 addresses of subnet-0private"}},
		{"more than fifty addresses", world(leftBehind(6)), []string{others, "fail (likely) " + hold + "60 addresses of subnet-0private"}},
		{"a tenth of the subnet", world(slash24(200), leftBehind(3)), []string{others, "fail (likely) " + hold + "30 addresses of subnet-0private"}},
		{"EC2 has forgotten the owner", world(leftBehind(6), creator("")), []string{others, "fail (likely) " + hold + "60 addresses of subnet-0private"}},
		{"with theirs a node can start", world(slash24(3), leftBehind(1)), []string{others, "fail " + hold + "10 addresses of subnet-0private"}},
		{"with theirs none can start either", world(slash24(3), leftBehind(1, func(i *snapshot.Interface) { i.PrivateIPs = i.PrivateIPs[:3] })), []string{others, "fail (advice) " + hold + "3 addresses of subnet-0private"}},
		{"it explains a node that registered and is not Ready", world(slash24(0), leftBehind(1), notReady), []string{
			others, "fail subnet-0private [subnet-0private] [i-0node] 1 terminated node holds 10 addresses of subnet-0private",
		}},
		{"settings of aws-node unread: certain only where nothing is free", world(slash24(3), leftBehind(1), checktest.Unread(snapshot.AWSNode)), []string{others, "fail (advice) " + hold + "10 addresses of subnet-0private"}},
		{"and nothing is", world(slash24(0), leftBehind(1), checktest.Unread(snapshot.AWSNode)), []string{others, "fail " + hold + "10 addresses of subnet-0private"}},
		{"types unread: enough for any type", world(slash24(0), leftBehind(7), checktest.Unread(snapshot.InstanceTypes)), []string{others, "fail " + hold + "70 addresses of subnet-0private"}},
		{"types unread: not enough for any", world(slash24(0), leftBehind(1), checktest.Unread(snapshot.InstanceTypes)), []string{others, "fail (advice) " + hold + "10 addresses of subnet-0private"}},
		{"custom networking: a node takes one address here", world(slash24(3), leftBehind(1), setCNI("AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG", "true")), []string{others, "fail (advice) " + hold + "10 addresses of subnet-0private"}},
		{"custom networking: its pods are here", world(slash24(3), leftBehind(1), setCNI("AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG", "true"), func(s *snapshot.Snapshot) {
			s.ENIConfigs = []snapshot.ENIConfig{{Name: "us-west-2a", Subnet: snapshottest.Private}}
		}), []string{others, "fail " + hold + "10 addresses of subnet-0private"}},
		{"prefix delegation: single addresses give back no block", world(slash24(3), leftBehind(2), setCNI("ENABLE_PREFIX_DELEGATION", "true")), []string{others, "fail (advice) " + hold + "20 addresses of subnet-0private"}},
		{"prefix delegation: a prefix does", world(slash24(3), leftBehind(1, func(i *snapshot.Interface) {
			i.PrivateIPs, i.Prefixes = i.PrivateIPs[:1], []netip.Prefix{netip.MustParsePrefix("10.42.192.32/28")}
		}), setCNI("ENABLE_PREFIX_DELEGATION", "true")), []string{others, "fail " + hold + "17 addresses of subnet-0private"}},
		{"where nothing is launched nothing is short", world(leftBehind(1, func(i *snapshot.Interface) { i.Subnet = snapshottest.Public }), func(s *snapshot.Snapshot) { snapshottest.Subnet(s, snapshottest.Public).Free = 0 }), []string{
			"pass prod [eks-workers prod subnet-0private]", "fail (advice) subnet-0public [subnet-0public] [] 1 terminated node holds 10 addresses of subnet-0public",
		}},
		{"no cluster named: this one's", world(leftBehind(6, tagged(leak.TagCluster, ""))), []string{others, "fail (likely) " + hold + "60 addresses of subnet-0private"}},
		{"no date: its owner is dead all the same", world(leftBehind(6, tagged(leak.TagCreated, "yesterday"))), []string{others, "fail (likely) " + hold + "60 addresses of subnet-0private"}},
		{"another cluster's", world(leftBehind(6, tagged(leak.TagCluster, "dev"))), []string{well}},
		{"owner runs", world(leftBehind(6), creator("running")), []string{well}},
		{"owner is stopped", world(leftBehind(6), creator("stopped")), []string{well}},
		{"owner in a state that is not known", world(leftBehind(6), creator("hibernated")), []string{well}},
		{"made a minute ago", world(leftBehind(6, tagged(leak.TagCreated, snapshottest.Now().Add(-time.Minute).Format(time.RFC3339)))), []string{well}},
		{"another account's", world(leftBehind(6, func(i *snapshot.Interface) { i.Account = "999999999999" })), []string{well}},
		{"not made by the VPC CNI", world(leftBehind(6, func(i *snapshot.Interface) { i.Description = "aws-k8s-branch-eni" })), []string{well}},
		{"owner was not asked for", world(leftBehind(6), func(s *snapshot.Snapshot) { s.Creators = nil }), []string{
			"pass prod [prod subnet-0public]", "unknown subnet-0private [subnet-0private] creators of network interfaces: not read: the state of the instances that created interfaces in subnet-0private was not checked",
		}},
		{"whose account it is is not known", world(leftBehind(6), func(s *snapshot.Snapshot) { s.Account, s.Cluster.ARN = "", "" }), []string{
			"unknown prod [] cluster: broken: the cluster's account or VPC is unknown, so the owner of these interfaces is too",
		}},
		{"creators unread", world(leftBehind(6), checktest.Unread(snapshot.CreatorsOf)), []string{"unknown prod [] creators of network interfaces: denied"}},
		{"interfaces unread", world(leftBehind(6), checktest.Unread(snapshot.Unattached)), []string{"unknown prod [] unattached network interfaces: denied"}},
		{"given back", world(func(s *snapshot.Snapshot) {
			s.Returned = []snapshot.Returned{{Subnet: snapshottest.Private, Interfaces: 12, Addresses: 31, Nodes: 4}}
		}), []string{"pass prod [eks-workers prod subnet-0public]", "pass subnet-0private [subnet-0private]"}},
	}
}

func TestLeakedInterfacesSayWhatBecomesOfThem(t *testing.T) {
	mixed := func(mode string, untagged bool) check.Result {
		return checktest.Failed(t, LeakedInterfaces(), checktest.Change(snapshottest.PrivateWithNAT(), slash24(3), leftBehind(4), leftBehind(2, tagged(leak.TagCluster, "")),
			leftBehind(1, tagged(leak.TagCreated, "")), leftBehind(2, tagged(leak.TagCluster, "dev")), leftBehind(1, tagged(leak.TagInstance, "i-0123456789abcdef0")),
			func(s *snapshot.Snapshot) {
				s.Cleanup = snapshot.Cleanup{Mode: mode, Grace: 30 * time.Minute, Untagged: untagged}
			}))
	}
	r := mixed("report", false)
	for what, want := range map[string]string{
		"Addresses of subnet-0private": "3 free; one more m5.large needs 10 at start; 73 free once terminated nodes' interfaces are deleted",
		"Leaked in subnet-0private":    "7 interfaces of 1 terminated node, 70 addresses, oldest created 2026-11-20 12:00 UTC",
		"Of cluster":                   "5 name prod, 2 none",
		"eni-cleanup":                  "off for prod: could delete 4 of them; not 2 (untagged), 1 (no date)",
		"Not counted":                  "2 interfaces of terminated nodes that name another cluster",
		"Not leaked":                   "1 (tags disagree)",
	} {
		expect.Equal(t, fmt.Sprint(what), checktest.Value(t, r, what), want)
	}
	expect.Equal(t, "why", r.Why, "7 interfaces of 1 terminated node hold 70 addresses of subnet-0private (10.42.192.0/24, us-west-2a), oldest created 2026-11-20 12:00 UTC. 3 are free, and one more m5.large needs 10; deleting these leaves 73 free.")
	if !strings.Contains(r.Fix.Text, "cleanup=prod=delete") || !strings.Contains(r.Fix.Text, "cleanupUntagged=vpc-0a") {
		t.Errorf("fix %q", r.Fix.Text)
	}
	// What may be pasted deletes what the rules allow, and nothing else.
	expect.Equal(t, "command", r.Fix.Command, "for id in eni-00 eni-01 eni-02 eni-03; do aws ec2 delete-network-interface --region us-west-2 --network-interface-id \"$id\"; done")
	expect.Equal(t, "cleanup on", checktest.Value(t, mixed("delete", true), "eni-cleanup"), "on: deletes 6 of them, once it has seen them twice; 2 name no cluster, and go only where all clusters of the VPC are watched and in mode delete; not 1 (no date)")
	if r := mixed("delete", false); strings.Contains(r.Fix.Command, "delete") || !strings.HasPrefix(r.Fix.Text, "Nothing: eni-cleanup runs") {
		t.Errorf("cleanup on: %+v", r.Fix)
	}
}

// What names no cluster may be that of one which is not watched, whatever the
// operator opted in: no command that is to be pasted deletes it, and no button.
func TestWhatNamesNoClusterIsNotToBePasted(t *testing.T) {
	opted := func(n int) check.Result {
		return checktest.Failed(t, LeakedInterfaces(), checktest.Change(snapshottest.PrivateWithNAT(), slash24(3), leftBehind(n), leftBehind(2, tagged(leak.TagCluster, "")),
			func(s *snapshot.Snapshot) {
				s.Cleanup = snapshot.Cleanup{Mode: "report", Grace: 30 * time.Minute, Untagged: true}
			}))
	}
	r := opted(4)
	if want := "for id in eni-00 eni-01 eni-02 eni-03; do aws ec2 delete-network-interface --region us-west-2 --network-interface-id \"$id\"; done"; r.Fix.Command != want || r.Fix.Remedy != deleteLeakedInterfaces {
		t.Errorf("beside others: %+v, want the command %q", r.Fix, want)
	}
	r = opted(0)
	if strings.Contains(r.Fix.Command, "delete") || r.Fix.Remedy != "" || !strings.Contains(r.Fix.Text, "watch all clusters of vpc-0a") {
		t.Errorf("by themselves: %+v", r.Fix)
	}
}

func TestGivenBackIsTheEvidenceOfAPass(t *testing.T) {
	s := checktest.Change(snapshottest.PrivateWithNAT(), func(s *snapshot.Snapshot) {
		s.Returned = []snapshot.Returned{{Subnet: snapshottest.Private, Interfaces: 12, Addresses: 31, Nodes: 4}}
	})
	for _, r := range checktest.EvalOne(t, LeakedInterfaces(), s) {
		if r.Resource == snapshottest.Private && (len(r.Evidence) != 1 || r.Evidence[0].Value != "31 addresses back; 12 interfaces of 4 terminated nodes") {
			t.Errorf("evidence %+v", r.Evidence)
		}
	}
}

func leakCauseCases() []checktest.Case {
	const (
		plugin = "pass kube-system/aws-node [kube-system/aws-node]"
		well   = "pass prod [lt-0a prod]"
		rest   = "pass prod [prod]"
	)
	world := func(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
		return checktest.Change(snapshottest.PrivateWithNAT(), changes...)
	}
	keeps := func(s *snapshot.Snapshot) { s.LaunchTemplates[0].KeepsInterface = true }
	nameless := func(s *snapshot.Snapshot) { delete(s.CNI.Env, "CLUSTER_NAME") }
	root := func(n int) func(*snapshot.Snapshot) {
		return leftBehind(n, func(i *snapshot.Interface) { i.Description = "" })
	}
	const (
		template = " lt-0a [lt-0a] [] eks-workers keeps the primary interface of terminated instances"
		aws      = " kube-system/aws-node [kube-system/aws-node] [] aws-node "
	)
	return []checktest.Case{
		{"all well", world(), []string{plugin, well}},
		{"leaks, and nothing that causes them", world(leftBehind(6)), []string{plugin, well}},
		{"the template keeps the interface", world(keeps), []string{plugin, "fail (advice)" + template, rest}},
		{"and some were kept", world(keeps, root(1)), []string{plugin, "fail (advice)" + template, rest}},
		{"and they hold much", world(keeps, root(6)), []string{plugin, "fail (likely)" + template, rest}},
		{"kept of an instance that lives", world(keeps, root(6), creator("stopped")), []string{plugin, "fail (advice)" + template, rest}},
		{"kept interfaces unread", world(keeps, root(6), checktest.Unread(snapshot.Unattached)), []string{plugin, "fail (advice)" + template, rest}},
		{"aws-node names no cluster", world(nameless), []string{"fail (advice)" + aws + "has no CLUSTER_NAME", well}},
		{"aws-node names no cluster, and there are leaks", world(nameless, leftBehind(2)), []string{"fail (advice)" + aws + "has no CLUSTER_NAME", well}},
		{"its name comes from elsewhere", world(setCNI("CLUSTER_NAME", "")), []string{plugin, well}},
		{"cleanup off", world(setCNI("DISABLE_LEAKED_ENI_CLEANUP", "true"), leftBehind(1)), []string{"fail (advice)" + aws + "has DISABLE_LEAKED_ENI_CLEANUP=true", well}},
		{"cleanup not off", world(setCNI("DISABLE_LEAKED_ENI_CLEANUP", "no idea")), []string{plugin, well}},
		{"metadata only", world(setCNI("ENABLE_IMDS_ONLY_MODE", "1")), []string{"fail (advice)" + aws + "has ENABLE_IMDS_ONLY_MODE=true", well}},
		{"IPv6, and leaks", world(leftBehind(1), setCNI("ENABLE_IPv6", "true")), []string{"fail (advice)" + aws + "does not clean up in an IPv6 cluster", well}},
		{"IPv6, and no leak", world(func(s *snapshot.Snapshot) { s.Cluster.IPv6 = true }), []string{plugin, well}},
		{"no node left, and leaks", world(leftBehind(1), func(s *snapshot.Snapshot) { s.CNI.Desired = 0 }), []string{"fail (advice)" + aws + "runs on no node", well}},
		{"no node left, and no leak", world(func(s *snapshot.Snapshot) { s.CNI.Desired = 0 }), []string{plugin, well}},
		{"another plugin", world(func(s *snapshot.Snapshot) { s.CNI = nil }), []string{plugin, well}},
		{"aws-node unread", world(checktest.Unread(snapshot.AWSNode)), []string{"unknown kube-system/aws-node [kube-system/aws-node] aws-node: denied", well}},
		{"a version unread", world(func(s *snapshot.Snapshot) {
			s.Lack(snapshot.LaunchTemplates, "lt-0b version 3", snapshot.Failure{Source: snapshot.LaunchTemplates, Reason: snapshot.NotRead, Message: "10 others were read"})
		}), []string{plugin, "unknown lt-0b version 3 [lt-0b version 3] launch templates: not read: 10 others were read", well}},
		{"templates unread", world(checktest.Unread(snapshot.LaunchTemplates)), []string{"unknown prod [] launch templates: denied"}},
	}
}

func TestLeakCauseNamesWhereItLeaks(t *testing.T) {
	r := checktest.Failed(t, LeakCause(), checktest.Change(snapshottest.PrivateWithNAT(), leftBehind(2), setCNI("DISABLE_LEAKED_ENI_CLEANUP", "true")))
	if len(r.Resources) != 2 || r.Resources[1] != snapshottest.Private {
		t.Errorf("resources %q, want the subnet too", r.Resources)
	}
	r = checktest.Failed(t, LeakCause(), checktest.Change(snapshottest.PrivateWithNAT(), func(s *snapshot.Snapshot) { s.LaunchTemplates[0].KeepsInterface = true },
		leftBehind(2, func(i *snapshot.Interface) { i.Description = "" })))
	expect.Equal(t, "kept", checktest.Value(t, r, "Kept"), "2 interfaces of terminated instances, 20 addresses: eni-00 and eni-01")
}
