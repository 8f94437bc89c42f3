package zone

import (
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// twoZones has the group launch in two zones only: none launches in the third.
func twoZones(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
	return checktest.Change(threeZones(group(func(g *snapshot.Group) { g.Zones = []string{zoneA, zoneB} })), changes...)
}

func TestVolumeStranded(t *testing.T) { checktest.RunCases(t, VolumeStranded(), volumeStrandedCases()) }

func volumeStrandedCases() []checktest.Case {
	const (
		inA  = "pass prod [us-west-2a]"
		inB  = "pass prod [us-west-2b]"
		inC  = "pass prod [us-west-2c]"
		lost = " us-west-2c [us-west-2c] [] No node can come to us-west-2c for vol-0redis (redash/redis)"
	)
	other := func(tags map[string]string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			s.Volumes[0].Tags = tags
			s.PersistentVolumes, s.Claims, s.WaitingPods = nil, nil, nil
		}
	}
	return []checktest.Case{
		// What it must not accuse comes first.
		{"a volume of another cluster", twoZones(other(map[string]string{"kubernetes.io/cluster/other": "owned", csiTag: "x"})), []string{inA, inB, inC}},
		{"a volume that names two clusters", twoZones(other(map[string]string{"kubernetes.io/cluster/other": "owned", "kubernetes.io/cluster/prod": "owned", csiTag: "x"})), []string{inA, inB, inC}},
		{"a volume that names none", twoZones(other(map[string]string{"ebs.csi.aws.com/cluster": "true", csiTag: "x"})), []string{inA, inB, inC}},
		{"the disk of a node", twoZones(other(map[string]string{"kubernetes.io/cluster/prod": "owned"})), []string{inA, inB, inC}},
		{"healthy", snapshottest.PrivateWithNAT(), []string{"pass prod [us-west-2a]"}},
		{"attached and in use", twoZones(noPods, attached("i-0elsewhere")), []string{inA, inB, inC}},
		{"attached to what EC2 does not show", twoZones(noPods, attached("i-0elsewhere"), func(s *snapshot.Snapshot) {
			s.Lack(snapshot.Instances, "i-0elsewhere", snapshot.Failure{Source: snapshot.Instances, Reason: snapshot.NotShown, Message: "hidden"})
		}), []string{inA, inB, "unknown us-west-2c [us-west-2c] instances: not shown: hidden"}},
		{"being deleted", twoZones(noPods, func(s *snapshot.Snapshot) { s.Volumes[0].State = "deleting" }), []string{inA, inB, inC}},
		{"a group launches there", threeZones(), []string{inA, inB, inC}},
		{"Karpenter, and nobody waits", twoZones(noPods, karpenter), []string{inA, inB, inC}},
		{"Auto Mode, and nobody waits", twoZones(noPods, func(s *snapshot.Snapshot) { s.Cluster.AutoMode = true }), []string{inA, inB, inC}},
		{"Karpenter, whose class has a subnet there, and nobody waits", twoZones(noPods, pooled(zoneA, zoneC)), []string{inA, inB, inC}},
		{"Karpenter, whose class has a subnet there, and a pod waits", twoZones(pooled(zoneA, zoneC)), []string{inA, inB, inC}},
		{"a group of that zone alone can grow", twoZones(noPods, anotherGroup("data", 0, 3, zoneC)), []string{inA, inB, inC}},

		{"a pod waits", twoZones(), []string{inA, inB, "fail" + lost}},
		{"Karpenter could come", twoZones(karpenter), []string{inA, inB, "fail (likely)" + lost}},
		{"the class of the NodePool has no subnet there", twoZones(pooled(zoneA, zoneB)), []string{inA, inB, "fail" + lost}},
		{"the same, and nobody waits", twoZones(noPods, pooled(zoneA, zoneB)), []string{inA, inB, "fail (likely)" + lost}},
		{"the NodePool does not allow that zone", twoZones(noPods, pooled(zoneA, zoneC), func(s *snapshot.Snapshot) {
			s.NodePools[0].Requirements = []snapshot.Requirement{{Key: "topology.kubernetes.io/zone", Operator: "NotIn", Values: []string{zoneC}}}
		}), []string{inA, inB, "fail (likely)" + lost}},
		{"the NodePool's nodes repel the pod", twoZones(pooled(zoneA, zoneC), func(s *snapshot.Snapshot) {
			s.NodePools[0].Taints = []snapshot.Taint{{Key: "gpu", Effect: "NoSchedule"}}
		}), []string{inA, inB, "fail" + lost}},
		{"the NodePool is being deleted", twoZones(noPods, pooled(zoneA, zoneC), func(s *snapshot.Snapshot) { s.NodePools[0].Deleting = true }), []string{inA, inB, "fail (likely)" + lost}},
		{"where the NodePool launches is not known, and nobody waits", twoZones(noPods, pooled()), []string{inA, inB, inC}},
		{"where the NodePool launches is not known", twoZones(pooled()), []string{inA, inB, "fail (likely)" + lost}},
		{"nobody waits yet", twoZones(noPods), []string{inA, inB, "fail (likely)" + lost}},
		{"by tags alone", twoZones(checktest.Unread(snapshot.PersistentVolumes), checktest.Unread(snapshot.ClaimsOf), checktest.Unread(snapshot.WaitingPods), checktest.Unread(snapshot.Nodes)), []string{inA, inB, "fail (possible)" + lost}},
		{"no claim", twoZones(noPods, func(s *snapshot.Snapshot) { s.PersistentVolumes, s.Claims = nil, nil }), []string{inA, inB, "fail (advice)" + lost}},
		{"released", twoZones(noPods, func(s *snapshot.Snapshot) { s.PersistentVolumes[0].Phase = "Released" }), []string{inA, inB, "fail (advice) us-west-2c [us-west-2c] [] No node can come to us-west-2c for vol-0redis (redash/redis)"}},
		{"the claim is gone", twoZones(noPods, func(s *snapshot.Snapshot) { s.Claims = nil }), []string{inA, inB, "fail (advice)" + lost}},
		{"its group is at a maximum of 0", twoZones(anotherGroup("data", 0, 0, zoneC)), []string{inA, inB, "fail" + lost}},
		{"its group does not launch", twoZones(anotherGroup("data", 0, 3, zoneC), func(s *snapshot.Snapshot) {
			s.Groups[1].Suspended = []snapshot.Suspended{{Process: "Launch"}}
		}), []string{inA, inB, "fail" + lost}},
		{"an arm node is there, the pod is not for it", twoZones(anotherGroup("arm", 1, 1, zoneC), func(s *snapshot.Snapshot) {
			nodeOf(s, &s.Groups[1], "i-0arm", zoneC)
			s.Nodes[2].Labels["kubernetes.io/arch"] = "arm64"
			s.WaitingPods[0].Selector = map[string]string{"kubernetes.io/arch": "amd64"}
		}), []string{inA, inB, "fail" + lost}},
		{"a tainted node is there", twoZones(anotherGroup("gpu", 1, 1, zoneC), func(s *snapshot.Snapshot) {
			nodeOf(s, &s.Groups[1], "i-0gpu", zoneC)
			s.Nodes[2].Repels = []snapshot.Taint{{Key: "nvidia.com/gpu", Effect: "NoSchedule"}}
		}), []string{inA, inB, "fail" + lost}},
		{"a tainted node is there, and the pod tolerates it", twoZones(anotherGroup("gpu", 1, 1, zoneC), func(s *snapshot.Snapshot) {
			nodeOf(s, &s.Groups[1], "i-0gpu", zoneC)
			s.Nodes[2].Repels = []snapshot.Taint{{Key: "nvidia.com/gpu", Effect: "NoSchedule"}}
			s.WaitingPods[0].Tolerations = []snapshot.Toleration{{Key: "nvidia.com/gpu", Operator: "Exists"}}
		}), []string{inA, inB, inC}},
		{"on an Outpost", twoZones(func(s *snapshot.Snapshot) {
			s.Volumes[0].Outpost = "arn:aws:outposts:us-west-2:1:outpost/op-1"
		}), []string{inA, inB, "unknown us-west-2c [us-west-2c] volumes: not read: vol-0redis is on an Outpost: which nodes are there is not read"}},
		{"a volume that only its PersistentVolume names", twoZones(func(s *snapshot.Snapshot) { s.Volumes[0].Tags = nil }), []string{inA, inB, "fail" + lost}},
		{"moved from another cluster: Kubernetes' word counts", twoZones(func(s *snapshot.Snapshot) {
			s.Volumes[0].Tags = map[string]string{"kubernetes.io/cluster/old": "owned", csiTag: "x"}
		}), []string{inA, inB, "fail" + lost}},
	}
}

func TestStrandedSaysWhy(t *testing.T) {
	r := checktest.Failed(t, VolumeStranded(), twoZones())
	if want := "Volume vol-0redis of claim redash/redis lives in us-west-2c; no node is there, and none can come: no group launches in us-west-2c."; r.Why != want {
		t.Errorf("why %q, want %q", r.Why, want)
	}
	if got := checktest.Value(t, r, "Nodes by zone"); got != "us-west-2a 1, us-west-2b 1, us-west-2c 0" {
		t.Errorf("nodes by zone: %q", got)
	}
	checktest.Value(t, r, "Pod redash/redis-0")
}
