package ip

import (
	"testing"
	"time"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

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
		{Name: "no event says why", World: world(checktest.StuckPod(16*time.Minute, "", "")), Want: []string{"fail" + node + "shop/web-0 waits on i-0node, and no event says why"}},
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
