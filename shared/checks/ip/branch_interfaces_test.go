package ip

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

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
		{Name: "aws-node asks for no trunk", World: branches(0, trunkless, env("false"), waiting), Want: fail("kube-system/aws-node", "aws-node asks for no trunk interface, and shop/db-0 needs one")},
		{Name: "nothing is said of trunks", World: branches(0, trunkless, waiting, func(s *snapshot.Snapshot) { delete(s.CNI.Env, "ENABLE_POD_ENI") }),
			Want: fail("kube-system/aws-node", "aws-node asks for no trunk interface, and shop/db-0 needs one")},
		{Name: "True is true", World: branches(0, trunkless, env("True"), waiting), Want: fail("prod", "No node has a trunk interface, and shop/db-0 needs one")},
		{Name: "aws-node was not read", World: branches(0, trunkless, waiting, checktest.Unread(snapshot.AWSNode)), Want: fail("prod", "No node has a trunk interface, and shop/db-0 needs one")},
		{Name: "the nodes were not read", World: branches(0, trunkless, env("true"), waiting, checktest.Unread(snapshot.Nodes)), Want: []string{"pass prod [subnet-0private subnet-0public]", "unknown prod [prod] nodes: denied"}},
		{Name: "the cluster's role may not", World: branches(0, trunkless, refused, waiting), Want: fail("arn:aws:iam::111122223333:role/eks/cluster", "No trunk interface can be made, and shop/db-0 needs one")},
		{Name: "it could not once, and can now", World: branches(9, refused, waiting), Want: fail("prod", taken)},
		{Name: "no type carries one", World: branches(0, trunkless, ofType("t3.medium"), waiting), Want: fail("prod", "No instance type here carries branch interfaces")},
		{Name: "a type that is not in the table", World: branches(0, trunkless, ofType("x99.large"), waiting), Want: fail("prod", "No node has a trunk interface, and shop/db-0 needs one")},
		{Name: "the controller says that the type carries none", World: branches(0, trunkless, ofType("x99.large"), waiting, func(s *snapshot.Snapshot) {
			s.Nodes[0].Labels["vpc.amazonaws.com/has-trunk-attached"] = "not-supported"
		}), Want: fail("prod", "No instance type here carries branch interfaces")},
		{Name: "only Windows has a node", World: branches(0, trunkless, ofType("t3.medium"), waiting, func(s *snapshot.Snapshot) {
			s.Nodes[0].Labels["kubernetes.io/os"] = "windows"
		}), Want: fail("prod", "No node has a trunk interface, and shop/db-0 needs one")},
		{Name: "Karpenter waits for the same", World: branches(0, trunkless, env("false"), waiting, claim(`Resource "vpc.amazonaws.com/pod-eni" was requested but not registered`)), Want: []string{
			"fail kube-system/aws-node [nodeclaim/web-x7k2p prod] [] aws-node asks for no trunk interface, and shop/db-0 needs one", subnets,
		}},
		{Name: "Karpenter waits for a GPU", World: branches(0, trunkless, env("false"), waiting, claim(`Resource "nvidia.com/gpu" was requested but not registered`)),
			Want: fail("kube-system/aws-node", "aws-node asks for no trunk interface, and shop/db-0 needs one")},

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
		"Left over": "2 branch interfaces whose trunk is gone",
		"shop/db-0": "waits since 14:54:00 UTC: " + needsENI,
	} {
		if got := checktest.Value(t, full, what); got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	if want := "(m5.large carries 9, m5.xlarge 18; as of 2026-03-20)"; !strings.Contains(full.Fix.Text, want) {
		t.Errorf("fix %q does not say %q", full.Fix.Text, want)
	}
	if diff := cmp.Diff(full.Pods, []string{"shop/db-0"}); diff != "" || !full.Since.Equal(snapshottest.Now().Add(-long)) {
		t.Errorf("pods (-got +want):\n%s\nsince %v", diff, full.Since)
	}
	empty := checktest.Failed(t, BranchInterfaces(), branches(3, addressless, unservedPod(long), stray))
	if want := "eni-0stray holds one each, and its trunk is gone."; !strings.HasSuffix(empty.Why, want) {
		t.Errorf("why %q, want it to end in %q", empty.Why, want)
	}
	refused := checktest.Failed(t, BranchInterfaces(), branches(0, trunkless, unscheduledPod(long, needsENI, podENI), func(s *snapshot.Snapshot) {
		for n, code := range []string{"UnauthorizedOperation", "AttachmentLimitExceeded"} {
			s.NodeEvents = append(s.NodeEvents, snapshot.NodeEvent{Node: s.Nodes[0].Name, Reason: "TrunkENICreationFailed", Message: "Error Code: " + code, Last: s.Time.Add(-time.Duration(n+1) * time.Hour)})
		}
	}))
	if got, want := refused.Fix.Command, "aws iam attach-role-policy --region us-west-2 --role-name cluster --policy-arn arn:aws:iam::aws:policy/AmazonEKSVPCResourceController"; got != want {
		t.Errorf("command %q, want %q", got, want)
	}
	if got := checktest.Value(t, refused, "Event of "); got != "TrunkENICreationFailed: Error Code: UnauthorizedOperation" {
		t.Errorf("the event %q is not the newest", got)
	}
}
