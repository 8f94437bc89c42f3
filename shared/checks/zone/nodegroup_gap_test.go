package zone

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks/check"
	"rollcall/shared/checks/checktest"
	"rollcall/shared/checks/finding"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

func TestNodegroupGap(t *testing.T) { checktest.RunCases(t, NodegroupGap(), nodegroupGapCases()) }

func nodegroupGapCases() []checktest.Case {
	const (
		inA = "pass prod [us-west-2a]"
		inB = "pass prod [us-west-2b]"
		inC = "pass prod [us-west-2c]"
		gap = " workers [us-west-2c] [] No node in us-west-2c for vol-0redis (redash/redis)"
	)
	return []checktest.Case{
		{"healthy", snapshottest.PrivateWithNAT(), []string{"pass prod [us-west-2a]"}},
		{"three zones, three nodes", threeZones(standing(zoneA, zoneB, zoneC)), []string{inA, inB, inC}},
		{"two nodes, where the volumes are", threeZones(standing(zoneA, zoneC)), []string{inA, inB, inC}},
		{"no volume there", threeZones(noPods, func(s *snapshot.Snapshot) { s.Volumes[0].Zone, s.PersistentVolumes[0].Zones = zoneA, []string{zoneA} }), []string{inA, inB, inC}},
		{"a node is on its way: neither good nor bad", threeZones(func(s *snapshot.Snapshot) {
			s.Instances = append(s.Instances, snapshot.Instance{ID: "i-0new", State: "pending", Zone: zoneC, Launched: s.Time.Add(-time.Minute), Tags: map[string]string{"kubernetes.io/cluster/prod": "owned"}})
		}), []string{inA, inB}},
		{"the pod waits since a moment ago", threeZones(noPods, waits("redash/redis-0", "redis", 30*time.Second, conflict)), []string{inA, inB, inC}},
		{"the nodegroup is being updated, and nobody waits", threeZones(noPods, func(s *snapshot.Snapshot) { s.Nodegroups[0].Status = "UPDATING" }), []string{inA, inB, inC}},
		{"a cordoned node is there", threeZones(standing(zoneA, zoneB, zoneC), func(s *snapshot.Snapshot) { s.Nodes[2].Cordoned = true }), []string{inA, inB, inC}},
		{"a node is there and not Ready: that is another fault", threeZones(standing(zoneA, zoneB, zoneC), func(s *snapshot.Snapshot) {
			s.Nodes[2].Ready.Status = "False"
		}), []string{inA, inB, inC}},
		{"another group serves the zone", threeZones(anotherGroup("data", 1, 1, zoneC), func(s *snapshot.Snapshot) { nodeOf(s, &s.Groups[1], "i-0data", zoneC) }), []string{inA, inB, inC}},

		{"its own node is there and does not take the pod: one more would come elsewhere", dedicated(), []string{inA, inB, inC}},
		{"its own node there does not take the pod, another group could bring one that does", checktest.Change(dedicated(), anotherGroup("data", 0, 3, zoneA, zoneC)), []string{
			"fail (likely) data [us-west-2c] [] No node in us-west-2c for vol-0redis (redash/redis)", inA, inB,
		}},

		{"a pod waits", threeZones(), []string{inA, inB, "fail" + gap}},
		{"nobody waits yet", threeZones(noPods), []string{inA, inB, "fail (likely)" + gap}},
		{"Karpenter too", threeZones(karpenter), []string{inA, inB, "fail (likely)" + gap}},
		{"by tags alone", threeZones(checktest.Unread(snapshot.PersistentVolumes), checktest.Unread(snapshot.ClaimsOf), checktest.Unread(snapshot.WaitingPods), checktest.Unread(snapshot.Nodes)), []string{inA, inB, "fail (possible)" + gap}},
		{"no claim", threeZones(noPods, func(s *snapshot.Snapshot) { s.PersistentVolumes, s.Claims = nil, nil }), []string{inA, inB, "fail (advice)" + gap}},
		{"a group of the zone alone is at zero, and a pod waits", threeZones(anotherGroup("data", 0, 3, zoneC)), []string{
			"fail (likely) data [us-west-2c] [] No node in us-west-2c for vol-0redis (redash/redis)", inA, inB,
		}},
		{"groups unread", threeZones(checktest.Unread(snapshot.Groups)), []string{"unknown prod [] auto scaling groups: denied"}},
	}
}

// dedicated has the group's node in the third zone tainted by hand, and none in
// the second.
func dedicated() *snapshot.Snapshot {
	return threeZones(standing(zoneA, zoneC), func(s *snapshot.Snapshot) {
		s.Nodes[1].Repels = []snapshot.Taint{{Key: "dedicated", Value: "ci", Effect: "NoSchedule"}}
	}, pod(func(p *snapshot.WaitingPod) {
		p.Scheduled.Message = "0/2 nodes are available: 1 node(s) had untolerated taint {dedicated: ci}, 1 node(s) had volume node affinity conflict."
	}))
}

// TestTheStory: three zones, desired 2, the volume in the third.
func TestTheStory(t *testing.T) {
	r := checktest.Failed(t, NodegroupGap(), threeZones())
	if want := "Volume vol-0redis of claim redash/redis lives in us-west-2c; no node there: desired is 2, zones in use are 3. Pod redash/redis-0 waits for it since 14:50:00 UTC."; r.Why != want {
		t.Errorf("why %q, want %q", r.Why, want)
	}
	if want := "aws eks update-nodegroup-config --region us-west-2 --cluster-name prod --nodegroup-name workers --scaling-config desiredSize=3"; r.Fix.Command != want || r.Fix.Remedy != "cover-zones" {
		t.Errorf("fix %+v, want %q", r.Fix, want)
	}
	if !strings.Contains(strings.Join(r.Resources, " "), "vol-0redis") {
		t.Errorf("resources %v lack the volume", r.Resources)
	}
}

// TestNoCommandExceedsTheMaximum, whatever the group is set to.
func TestNoCommandExceedsTheMaximum(t *testing.T) {
	for most := range 6 {
		for desired := 0; desired <= most; desired++ {
			s := threeZones(group(func(g *snapshot.Group) { g.Max, g.Desired = most, desired }), func(s *snapshot.Snapshot) { s.Nodegroups[0].Max = most })
			for _, r := range checktest.EvalOne(t, NodegroupGap(), s) {
				if r.Outcome != finding.Fail {
					continue
				}
				want := max(desired, 2) + 1
				if want > most && (r.Fix.Command != "" || r.Fix.Remedy != "" || !strings.Contains(r.Fix.Text, "raise the maximum first")) {
					t.Errorf("max %d, desired %d: %+v", most, desired, r.Fix)
				}
				if want <= most && !strings.Contains(r.Fix.Command, "desiredSize="+string(rune('0'+want))) {
					t.Errorf("max %d, desired %d: %q, want %d", most, desired, r.Fix.Command, want)
				}
			}
		}
	}
}

// TestGroupWithoutNodegroup is told the command of Auto Scaling.
func TestGroupWithoutNodegroup(t *testing.T) {
	s := threeZones(func(s *snapshot.Snapshot) { s.Nodegroups = nil })
	r := checktest.Failed(t, NodegroupGap(), s)
	if want := "aws autoscaling set-desired-capacity --region us-west-2 --auto-scaling-group-name eks-workers --desired-capacity 3"; r.Fix.Command != want || r.Resource != "eks-workers" {
		t.Errorf("%s: %q, want %q", r.Resource, r.Fix.Command, want)
	}
}

// TestNobodysVolumesDoNotCount beside one that a pod waits for, nor beside one
// that a claim holds.
func TestNobodysVolumesDoNotCount(t *testing.T) {
	for name, test := range map[string]struct {
		changes []func(*snapshot.Snapshot)
		more    string
	}{
		"a pod waits for one": {},
		"a claim holds them":  {[]func(*snapshot.Snapshot){noPods}, " The same is true of 1 more volume."},
	} {
		for _, of := range []struct {
			check check.Check
			world func(...func(*snapshot.Snapshot)) *snapshot.Snapshot
		}{{NodegroupGap(), threeZones}, {VolumeStranded(), twoZones}} {
			c, world := of.check, of.world
			s := world(append([]func(*snapshot.Snapshot){
				volumeIn("vol-0idle", zoneC, "x/idle"), volumeIn("vol-0left", zoneC, "x/left"), volumeIn("vol-0gone", zoneC, "x/gone"),
				func(s *snapshot.Snapshot) { s.PersistentVolumes[2].Phase, s.Claims = "Released", s.Claims[:3] },
			}, test.changes...)...)
			r := checktest.Failed(t, c, s)
			if named := strings.Join(r.Resources, " "); strings.Contains(named, "vol-0left") || strings.Contains(named, "vol-0gone") {
				t.Errorf("%s, %s: resources %v", c.ID, name, r.Resources)
			}
			if got := strings.Contains(r.Why, "more volume"); got != (test.more != "") || !strings.Contains(r.Why, test.more) {
				t.Errorf("%s, %s: why %q, want %q", c.ID, name, r.Why, test.more)
			}
		}
	}
}

// TestWhatKubernetesDoesNotSay is said where it could not be asked.
func TestWhatKubernetesDoesNotSay(t *testing.T) {
	const (
		byTags = " Its tags say whose it is: whether a claim still holds it, and whether a pod waits for it, is not known."
		noPod  = " Whether a pod waits for it is not known: the pods could not be read."
		many   = " 1 more volume there has such tags."
	)
	blind := func(s *snapshot.Snapshot) {
		for _, source := range []snapshot.Source{snapshot.PersistentVolumes, snapshot.ClaimsOf, snapshot.WaitingPods} {
			checktest.Unread(source)(s)
		}
	}
	for _, of := range []struct {
		check check.Check
		world func(...func(*snapshot.Snapshot)) *snapshot.Snapshot
	}{{NodegroupGap(), threeZones}, {VolumeStranded(), twoZones}} {
		c, world := of.check, of.world
		r := checktest.Failed(t, c, world(volumeIn("vol-0trial", zoneC, "redash/trial"), blind))
		if !strings.Contains(r.Why, byTags+many) || strings.Contains(r.Why, "The same is true") || len(r.Pods) > 0 {
			t.Errorf("%s: why %q, want %q", c.ID, r.Why, byTags+many)
		}
		if r = checktest.Failed(t, c, world(checktest.Unread(snapshot.WaitingPods))); !strings.Contains(r.Why, noPod) {
			t.Errorf("%s: why %q, want %q", c.ID, r.Why, noPod)
		}
		if r = checktest.Failed(t, c, world(noPods)); strings.Contains(r.Why, "not known") || !strings.Contains(r.Why, "No pod waits for it now.") {
			t.Errorf("%s: why %q", c.ID, r.Why)
		}
	}
}

// TestPodsThatWait are those that the scheduler says wait for the volume's zone.
func TestPodsThatWait(t *testing.T) {
	for _, of := range []struct {
		check check.Check
		world func(...func(*snapshot.Snapshot)) *snapshot.Snapshot
	}{{NodegroupGap(), threeZones}, {VolumeStranded(), twoZones}} {
		c, world := of.check, of.world
		r := checktest.Failed(t, c, world(waits("redash/redis-1", "redis", 20*time.Minute, conflict)))
		if diff := cmp.Diff([]string{"redash/redis-0", "redash/redis-1"}, r.Pods); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.ID, diff)
		}
		r = checktest.Failed(t, c, world(pod(func(p *snapshot.WaitingPod) { p.Scheduled.Message = "0/2 nodes are available: 2 Insufficient cpu." })))
		if len(r.Pods) > 0 {
			t.Errorf("%s: %v wait for something else", c.ID, r.Pods)
		}
	}
	full := threeZones(standing(zoneA, zoneB, zoneC), pod(func(p *snapshot.WaitingPod) {
		p.Scheduled.Message = "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had volume node affinity conflict."
	}))
	if r := checktest.Failed(t, PodUnschedulable(), full); len(r.Pods) != 1 || r.Pods[0] != "redash/redis-0" {
		t.Errorf("zone/pod-unschedulable: %v", r.Pods)
	}
}

// TestPassSaysWhichNodes are there. While one only comes nothing passes: an
// incident closes when it is there.
func TestPassSaysWhichNodes(t *testing.T) {
	says := func(s *snapshot.Snapshot) string {
		for _, r := range checktest.EvalOne(t, NodegroupGap(), s) {
			if r.Outcome == finding.Pass && len(r.Covers) == 1 && r.Covers[0] == zoneC && len(r.Evidence) == 1 && r.Evidence[0].What == zoneC {
				return r.Evidence[0].Value
			}
		}
		return ""
	}
	if got, want := says(threeZones(standing(zoneA, zoneB, zoneC))), "1 node there, 1 volume"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	comes := threeZones(func(s *snapshot.Snapshot) {
		s.Instances = append(s.Instances, snapshot.Instance{ID: "i-0new", State: "pending", Zone: zoneC, Launched: s.Time.Add(-time.Minute), Tags: map[string]string{"kubernetes.io/cluster/prod": "owned"}})
	})
	for _, r := range checktest.EvalOne(t, NodegroupGap(), comes) {
		if slices.Contains(r.Covers, zoneC) {
			t.Errorf("%s is %s while its node is on its way", zoneC, r.Outcome)
		}
	}
}
