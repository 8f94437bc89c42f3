package spot

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// burst is eight m5.4xlarge that began ten minutes ago in a /24 which had as
// many free as is said, and has none now. The node of the world is the last of
// them: it registered and is not Ready.
func burst(had int, changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
	s := snapshottest.PrivateWithNAT()
	began := s.Time.Add(-10 * time.Minute)
	n := snapshottest.Subnet(s, snapshottest.Private)
	n.CIDR, n.Free = netip.MustParsePrefix("10.42.192.0/24"), 0
	snapshottest.Instance(s, snapshottest.Node).Type = "m5.4xlarge"
	s.InstanceTypes = append(s.InstanceTypes, snapshot.InstanceType{Name: "m5.4xlarge", Interfaces: 8, IPv4PerInterface: 30, Hypervisor: "nitro"})
	s.Nodes[0].Ready = snapshot.Condition{Status: "False", Reason: "KubeletNotReady"}
	for i := range 8 {
		p := snapshot.Past{
			ID: fmt.Sprintf("i-0burst%d", i), Nodegroup: "workers", Group: "eks-workers", Type: "m5.4xlarge", Zone: snapshottest.Zone,
			Subnet: snapshottest.Private, Spot: true, Started: began.Add(time.Duration(i) * time.Second), End: snapshot.Joined,
		}
		if i == 7 {
			p.ID, p.End = snapshottest.Node, snapshot.Open
		}
		s.History = append(s.History, p)
	}
	s.Samples = []snapshot.Sample{{Subnet: snapshottest.Private, At: began.Add(-time.Minute), Free: had, Total: 251}}
	return checktest.Change(s, changes...)
}

func TestBurstExceedsSubnet(t *testing.T) {
	checktest.RunCases(t, BurstExceedsSubnet(), burstExceedsSubnetCases())
}

func burstExceedsSubnetCases() []checktest.Case {
	env := func(name, value string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { s.CNI.Env[name] = value }
	}
	left := func(n int) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { snapshottest.Subnet(s, snapshottest.Private).Free = n }
	}
	fail := func(confidence string) []string {
		return []string{
			"pass prod [eks-workers prod]",
			"fail (" + confidence + ") subnet-0private [subnet-0private] [i-0node] 8 launches needed 480 addresses, subnet-0private had 251",
		}
	}
	pass := []string{"pass prod [eks-workers prod]", "pass subnet-0private [subnet-0private]"}
	idle := []string{"pass prod [eks-workers prod subnet-0private]"}
	refused := func(s *snapshot.Snapshot) {
		p := s.History[0]
		p.ID, p.Type, p.End, p.Cause, p.Started = "activity-1", "", snapshot.Refused, "launch/subnet-full", p.Started.Add(time.Minute)
		s.History = append(s.History, p)
	}
	return []checktest.Case{
		{"480 of 251, and the subnet is empty", burst(251), fail("certain")},
		{"a few are left, fewer than a node takes", burst(251, left(9)), fail("likely")},
		{"plenty is left", burst(251, left(100)), fail("possible")},
		{"the settings were not read", burst(251, checktest.Unread(snapshot.AWSNode)), fail("possible")},
		{"there is no aws-node", burst(251, func(s *snapshot.Snapshot) { s.CNI = nil }), pass},
		{"it just fits", burst(480), pass},
		{"five addresses in reserve fit", burst(251, env("WARM_IP_TARGET", "5")), pass},
		{"prefixes of 16: one, the next for the first pod, and its own: 33 each", burst(264, env("ENABLE_PREFIX_DELEGATION", "true")), pass},
		{"custom networking", burst(8, env("AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG", "true")), pass},
		{"pods have IPv6 addresses", burst(8, func(s *snapshot.Snapshot) { s.Cluster.IPv6 = true }), pass},
		{"all are Ready", burst(251, func(s *snapshot.Snapshot) { s.Nodes[0].Ready = snapshot.Condition{Status: "True"} }), idle},
		{"one that did not register has its address", burst(251, func(s *snapshot.Snapshot) { snapshottest.Unjoin(s, snapshottest.Node) }), idle},
		{"a launch was refused for it", burst(251, refused, left(40), func(s *snapshot.Snapshot) { s.Nodes[0].Ready = snapshot.Condition{Status: "True"} }), []string{
			"fail (certain) subnet-0private [eks-workers subnet-0private] [] 9 launches needed 481 addresses, subnet-0private had 251",
		}},
		{"nobody knows what the subnet had, but so much it never has", burst(0, func(s *snapshot.Snapshot) { s.Samples = nil }), fail("certain")},
		{"nobody knows what the subnet had", burst(0, func(s *snapshot.Snapshot) { s.Samples = nil }, env("WARM_IP_TARGET", "5")), []string{
			"pass prod [eks-workers prod]", "unknown subnet-0private [subnet-0private] launch history: not read: how many addresses subnet-0private had before 14:50:00 UTC was not recorded",
		}},
		{"history unread", burst(251, checktest.Unread(snapshot.LaunchHistory)), []string{"unknown prod [] launch history: denied"}},
	}
}

func TestBurstArithmetic(t *testing.T) {
	f := checktest.Failed(t, BurstExceedsSubnet(), burst(251))
	if got, want := checktest.Value(t, f, "Launches from"), "8 m5.4xlarge × 2 interfaces × 30 = 480 addresses"; got != want {
		t.Errorf("arithmetic = %q, want %q", got, want)
	}
	if got, want := checktest.Value(t, f, "Settings of aws-node"), "WARM_ENI_TARGET=1"; got != want {
		t.Errorf("settings = %q, want %q", got, want)
	}
}
