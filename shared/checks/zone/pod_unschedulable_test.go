package zone

import (
	"strings"
	"testing"
	"time"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/node/scheduling"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

func TestPodUnschedulable(t *testing.T) {
	checktest.RunCases(t, PodUnschedulable(), podUnschedulableCases())
}

func podUnschedulableCases() []checktest.Case {
	const (
		well  = "pass prod [prod us-west-2a us-west-2b us-west-2c]"
		rest  = "pass prod [prod us-west-2a us-west-2b]"
		stuck = " us-west-2c [us-west-2c] [] redash/redis-0 waits for a node in us-west-2c"
		full  = "0/3 nodes are available: 1 Insufficient memory, 2 node(s) had volume node affinity conflict."
	)
	return []checktest.Case{
		{"healthy", snapshottest.PrivateWithNAT(), []string{"pass prod [prod us-west-2a]"}},
		{"waits for memory", threeZones(pod(func(p *snapshot.WaitingPod) {
			p.Scheduled.Message = "0/2 nodes are available: 2 Insufficient memory."
		})), []string{well}},
		{"waits since a moment ago", threeZones(pod(func(p *snapshot.WaitingPod) { p.Scheduled.Since = snapshottest.Now().Add(-time.Minute) })), []string{well}},
		{"is not to be scheduled yet", threeZones(pod(func(p *snapshot.WaitingPod) { p.Gated = true })), []string{well}},
		{"the disk of a node", threeZones(func(s *snapshot.Snapshot) { s.PersistentVolumes[0].Volume = ""; s.Volumes = nil }), []string{well}},
		{"has a node by now", threeZones(pod(func(p *snapshot.WaitingPod) { p.Scheduled = snapshot.Condition{Status: "True"} })), []string{well}},
		{"Karpenter takes its time", threeZones(karpenter, pod(func(p *snapshot.WaitingPod) { p.Scheduled.Since = snapshottest.Now().Add(-4 * time.Minute) })), []string{well}},

		{"waits", threeZones(), []string{rest, "fail" + stuck}},
		{"the node there is full", threeZones(standing(zoneA, zoneB, zoneC), pod(func(p *snapshot.WaitingPod) { p.Scheduled.Message = full })), []string{rest, "fail" + stuck}},
		{"the node there is for others", dedicated(), []string{rest, "fail" + stuck}},
		{"older words", threeZones(pod(func(p *snapshot.WaitingPod) {
			p.Scheduled.Message = "0/2 nodes are available: 2 node(s) had no available volume zone."
		})), []string{rest, "fail" + stuck}},
		{"Karpenter does not come", threeZones(karpenter), []string{rest, "fail (possible)" + stuck}},
		{"volumes in two zones, each with a node", apart(standing(zoneA, zoneB, zoneC)), []string{"pass prod [us-west-2a us-west-2b us-west-2c]", "fail (certain) redash/redis-0 [prod] [] redash/redis-0: no node can have all of its volumes"}},
		{"volumes in two zones, one without a node", apart(standing(zoneA, zoneB)), []string{"pass prod [us-west-2a us-west-2b us-west-2c]", "fail (certain) redash/redis-0 [prod] [] redash/redis-0: no node can have all of its volumes"}},
		{"two volumes in one zone", apart(standing(zoneA, zoneB, zoneC), func(s *snapshot.Snapshot) { s.Volumes[1].Zone, s.PersistentVolumes[1].Zones = zoneC, []string{zoneC} }), []string{rest, "fail" + stuck}},
		{"one may be in several zones", apart(standing(zoneA, zoneB, zoneC), func(s *snapshot.Snapshot) { s.PersistentVolumes[1].Zones = []string{zoneA, zoneC} }), []string{rest, "fail" + stuck}},
		{"asks for another zone by its selector", threeZones(standing(zoneA, zoneB, zoneC), pod(func(p *snapshot.WaitingPod) { p.Selector = map[string]string{scheduling.ZoneLabel: zoneA} })), []string{
			"pass prod [us-west-2a us-west-2b us-west-2c]", "fail (certain) redash/redis-0 [prod] [] redash/redis-0 asks for another zone than that of its volume",
		}},
		{"asks for its volume's zone", threeZones(pod(func(p *snapshot.WaitingPod) { p.Selector = map[string]string{scheduling.ZoneLabel: zoneC} })), []string{rest, "fail" + stuck}},
		{"which volume was not read", threeZones(checktest.Unread(snapshot.PersistentVolumes), checktest.Unread(snapshot.VolumesOf)), []string{
			"unknown prod [prod us-west-2a us-west-2b us-west-2c] persistent volumes: denied volumes: denied waiting pods: not read: pod redash/redis-0 waits for a volume in another zone; which volume was not read",
		}},
	}
}

// TestDedicatedNodeIsSaid: a node is there, and nobody reads that none is.
func TestDedicatedNodeIsSaid(t *testing.T) {
	r := checktest.Failed(t, PodUnschedulable(), dedicated())
	if want := "Node i-0node1.internal of workers is there, and does not take it: it does not tolerate the taint dedicated; of the nodes that are not in another zone the scheduler says: 1 node(s) had untolerated taint {dedicated: ci}."; !strings.HasSuffix(r.Why, want) {
		t.Errorf("why %q, want at its end %q", r.Why, want)
	}
}

// TestFullNodeIsSaid: the scheduler's other words are what a person needs.
func TestFullNodeIsSaid(t *testing.T) {
	r := checktest.Failed(t, PodUnschedulable(), threeZones(standing(zoneA, zoneB, zoneC), pod(func(p *snapshot.WaitingPod) {
		p.Scheduled.Message = "0/3 nodes are available: 1 Insufficient memory, 2 node(s) had volume node affinity conflict."
	})))
	if !strings.Contains(r.Why, "volume vol-0redis of claim redash/redis lives in us-west-2c") || !strings.Contains(r.Why, "1 Insufficient memory") {
		t.Errorf("why %q", r.Why)
	}
}

// apart is a world whose pod has a second volume, in the first zone.
func apart(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
	all := append([]func(*snapshot.Snapshot){volumeIn("vol-0second", zoneA, "redash/second"), pod(func(p *snapshot.WaitingPod) { p.Claims = append(p.Claims, "second") })}, changes...)
	return threeZones(all...)
}

// TestNoNodeCanHaveAll: all volumes are named, and nobody is told to make room on a node.
func TestNoNodeCanHaveAll(t *testing.T) {
	r := checktest.Failed(t, PodUnschedulable(), apart(standing(zoneA, zoneB, zoneC)))
	for _, want := range []string{"vol-0redis (redash/redis) in us-west-2c", "vol-0second (redash/second) in us-west-2a", "no node, old or new, can have all of them"} {
		if !strings.Contains(r.Why, want) {
			t.Errorf("why %q, want in it %q", r.Why, want)
		}
	}
	if strings.Contains(strings.ToLower(r.Fix.Text), "make room") || r.Fix.Command != "kubectl -n redash get pvc redis second" {
		t.Errorf("fix %+v", r.Fix)
	}
	// Nor does a node in one of the zones help.
	for _, c := range []string{zoneC, zoneA} {
		for _, f := range checktest.EvalOne(t, VolumeStranded(), apart(standing(zoneB))) {
			if f.Resource == c && len(f.Pods) > 0 {
				t.Errorf("%s: %s for %s", f.Resource, f.Title, f.Pods)
			}
		}
	}
}
