package zone

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/checktest"
	"rollcall/shared/node/scheduling"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
	"rollcall/tools/expect"
)

func TestCases(t *testing.T) {
	checktest.RunTable(t, []check.Check{
		Impaired(),
		NodegroupGap(),
		PodUnschedulable(),
		VolumeStranded(),
	}, map[checkid.ID][]checktest.Case{
		checkid.ZoneImpaired:         zoneImpairedCases(),
		checkid.ZoneNodegroupGap:     nodegroupGapCases(),
		checkid.ZonePodUnschedulable: podUnschedulableCases(),
		checkid.ZoneVolumeStranded:   volumeStrandedCases(),
	})
}

// launches adds to the history.
func launches(n int, zone string, end snapshot.End, cause checkid.ID) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		for range n {
			s.History = append(s.History, snapshot.Past{
				ID: fmt.Sprintf("i-%d", len(s.History)), Group: "eks-workers", Zone: zone, End: end, Cause: cause, Started: s.Time.Add(-40 * time.Minute),
			})
		}
	}
}

func state(zone, word string, messages ...string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		i := slices.IndexFunc(s.Zones, func(z snapshot.Zone) bool { return z.Name == zone })
		s.Zones[i].State, s.Zones[i].Messages = word, messages
	}
}

func zoneImpairedCases() []checktest.Case {
	const (
		well   = "pass prod [us-west-2a us-west-2b us-west-2c]"
		others = "pass prod [us-west-2a us-west-2b]"
		bad    = " us-west-2c [us-west-2c] [] us-west-2c (usw2-az3) looks impaired: not your configuration"
	)
	beside := []func(*snapshot.Snapshot){launches(3, zoneA, snapshot.Joined, ""), launches(3, zoneB, snapshot.Joined, "")}
	with := func(more ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
		return checktest.Change(threeZones(beside...), more...)
	}
	ways := []func(*snapshot.Snapshot){launches(3, zoneC, snapshot.NotJoined, "instance/status-check"), launches(2, zoneC, snapshot.Refused, "launch/unclassified")}
	return []checktest.Case{
		{"healthy", snapshottest.PrivateWithNAT(), []string{"pass prod [us-west-2a]"}},
		{"information is no trouble", threeZones(state(zoneC, "information", "maintenance is planned")), []string{well}},
		{"short of capacity alone", with(launches(9, zoneC, snapshot.Refused, "launch/insufficient-capacity")), []string{well}},
		{"capacity and one more way", with(launches(9, zoneC, snapshot.Refused, "launch/insufficient-capacity"), launches(2, zoneC, snapshot.NotJoined, "")), []string{well}},
		{"one way of failing", with(launches(9, zoneC, snapshot.NotJoined, "instance/status-check")), []string{well}},
		{"a setting explains it", with(launches(5, zoneC, snapshot.NotJoined, "route/no-egress"), launches(4, zoneC, snapshot.NotJoined, "")), []string{well}},
		{"the same beside it", with(append(slices.Clone(ways), launches(2, zoneA, snapshot.NotJoined, "instance/status-check"))...), []string{well}},
		{"most join there", with(append(slices.Clone(ways), launches(9, zoneC, snapshot.Joined, ""))...), []string{well}},
		{"a zone in which no group launches", threeZones(group(func(g *snapshot.Group) { g.Zones = []string{zoneA, zoneB} }), state(zoneC, "impaired")), []string{well}},

		{"EC2 says so", threeZones(state(zoneC, "impaired", "increased error rates")), []string{others, "fail" + bad}},
		{"unavailable", threeZones(state(zoneC, "unavailable")), []string{others, "fail" + bad}},
		{"several ways in one zone", with(ways...), []string{others, "fail (likely)" + bad}},
		{"a word that is new", threeZones(state(zoneC, "wobbling")), []string{others, `unknown us-west-2c [us-west-2c] availability zones: broken: EC2 reports us-west-2c as "wobbling", which is unknown to Rollcall`}},
		{"history unread", threeZones(checktest.Unread(snapshot.LaunchHistory)), []string{"unknown prod [us-west-2a us-west-2b us-west-2c] launch history: denied"}},
	}
}

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

		{"its own node is there and rejects the pod: one more would come elsewhere", dedicated(), []string{inA, inB, inC}},
		{"its own node there rejects the pod, another group could bring one that does", checktest.Change(dedicated(), anotherGroup("data", 0, 3, zoneA, zoneC)), []string{
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
	expect.Equal(t, "why", r.Why, "Volume vol-0redis of claim redash/redis is in us-west-2c; no node there (desired 2, spread over 3 zones). Pod redash/redis-0 has been waiting for it since 14:50:00 UTC.")
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
				if r.Outcome != check.Fail {
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

// TestGroupWithoutNodegroup expects the command of Auto Scaling.
func TestGroupWithoutNodegroup(t *testing.T) {
	s := threeZones(func(s *snapshot.Snapshot) { s.Nodegroups = nil })
	r := checktest.Failed(t, NodegroupGap(), s)
	if want := "aws autoscaling set-desired-capacity --region us-west-2 --auto-scaling-group-name eks-workers --desired-capacity 3"; r.Fix.Command != want || r.Resource != "eks-workers" {
		t.Errorf("%s: %q, want %q", r.Resource, r.Fix.Command, want)
	}
}

// TestUnclaimedVolumesDoNotCount beside one that a pod waits for, nor beside one
// that a claim holds.
func TestUnclaimedVolumesDoNotCount(t *testing.T) {
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
		byTags = " It belongs to the cluster by its tags: whether a claim still holds it, and whether a pod waits for it, is unknown."
		noPod  = " Whether a pod waits for it is unknown: the pods could not be read."
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
		if r = checktest.Failed(t, c, world(noPods)); strings.Contains(r.Why, "unknown") || !strings.Contains(r.Why, "No pod is waiting for it now.") {
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
		expect.Same(t, fmt.Sprint(c.ID), r.Pods, []string{"redash/redis-0", "redash/redis-1"})
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
			if r.Outcome == check.Pass && len(r.Covers) == 1 && r.Covers[0] == zoneC && len(r.Evidence) == 1 && r.Evidence[0].What == zoneC {
				return r.Evidence[0].Value
			}
		}
		return ""
	}
	expect.Equal(t, "got", says(threeZones(standing(zoneA, zoneB, zoneC))), "1 node there, 1 volume")
	comes := threeZones(func(s *snapshot.Snapshot) {
		s.Instances = append(s.Instances, snapshot.Instance{ID: "i-0new", State: "pending", Zone: zoneC, Launched: s.Time.Add(-time.Minute), Tags: map[string]string{"kubernetes.io/cluster/prod": "owned"}})
	})
	for _, r := range checktest.EvalOne(t, NodegroupGap(), comes) {
		if slices.Contains(r.Covers, zoneC) {
			t.Errorf("%s is %s while its node is on its way", zoneC, r.Outcome)
		}
	}
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
			"pass prod [us-west-2a us-west-2b us-west-2c]", "fail (certain) redash/redis-0 [prod] [] redash/redis-0 requires another zone than its volume's",
		}},
		{"asks for its volume's zone", threeZones(pod(func(p *snapshot.WaitingPod) { p.Selector = map[string]string{scheduling.ZoneLabel: zoneC} })), []string{rest, "fail" + stuck}},
		{"which volume was not read", threeZones(checktest.Unread(snapshot.PersistentVolumes), checktest.Unread(snapshot.VolumesOf)), []string{
			"unknown prod [prod us-west-2a us-west-2b us-west-2c] persistent volumes: denied volumes: denied waiting pods: not read: pod redash/redis-0 waits for a volume in another zone; which volume was not read",
		}},
	}
}

// TestDedicatedNodeIsSaid: a node is there, and no text says that none is.
func TestDedicatedNodeIsSaid(t *testing.T) {
	r := checktest.Failed(t, PodUnschedulable(), dedicated())
	if want := "Node i-0node1.internal of workers is there, and cannot run it: it does not tolerate the taint dedicated; the scheduler reports for the zone's nodes: 1 node(s) had untolerated taint {dedicated: ci}."; !strings.HasSuffix(r.Why, want) {
		t.Errorf("why %q, want at its end %q", r.Why, want)
	}
}

// TestFullNodeIsSaid: the scheduler's other words are what a person needs.
func TestFullNodeIsSaid(t *testing.T) {
	r := checktest.Failed(t, PodUnschedulable(), threeZones(standing(zoneA, zoneB, zoneC), pod(func(p *snapshot.WaitingPod) {
		p.Scheduled.Message = "0/3 nodes are available: 1 Insufficient memory, 2 node(s) had volume node affinity conflict."
	})))
	if !strings.Contains(r.Why, "volume vol-0redis of claim redash/redis is in us-west-2c") || !strings.Contains(r.Why, "1 Insufficient memory") {
		t.Errorf("why %q", r.Why)
	}
}

// apart is a world whose pod has a second volume, in the first zone.
func apart(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
	all := append([]func(*snapshot.Snapshot){volumeIn("vol-0second", zoneA, "redash/second"), pod(func(p *snapshot.WaitingPod) { p.Claims = append(p.Claims, "second") })}, changes...)
	return threeZones(all...)
}

// TestNoNodeCanHaveAll: all volumes are named, and no text says to make room on a node.
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

// The zones of the worlds below.
const (
	zoneA = "us-west-2a"
	zoneB = "us-west-2b"
	zoneC = "us-west-2c"
)

const conflict = "0/2 nodes are available: 2 node(s) had volume node affinity conflict. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."

// threeZones is a cluster with one nodegroup over three zones whose nodes are
// in the given ones, and with the volume of claim redash/redis in the third,
// which a pod waits for since ten minutes.
func threeZones(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
	s := snapshottest.PrivateWithNAT()
	s.Instances, s.Nodes, s.Launches, s.Scope = nil, nil, nil, snapshot.Scope{}
	s.Volumes, s.PersistentVolumes, s.Claims = nil, nil, nil
	s.Zones = nil
	for i, z := range []string{zoneA, zoneB, zoneC} {
		s.Zones = append(s.Zones, snapshot.Zone{Name: z, ID: fmt.Sprintf("usw2-az%d", i+1), Kind: "availability-zone", State: "available"})
	}
	g := &s.Groups[0]
	g.Zones, g.Desired, g.Max = []string{zoneA, zoneB, zoneC}, 2, 3
	standing(zoneA, zoneB)(s)
	volumeIn("vol-0redis", zoneC, "redash/redis")(s)
	waits("redash/redis-0", "redis", 10*time.Minute, conflict)(s)
	return checktest.Change(s, changes...)
}

// standing puts Ready nodes of the group into zones, in place of those it has.
func standing(zones ...string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		g := &s.Groups[0]
		g.Instances, s.Nodes, s.Instances = nil, nil, nil
		for i, z := range zones {
			nodeOf(s, g, fmt.Sprintf("i-0node%d", i), z)
		}
		g.Desired = len(zones)
	}
}

func nodeOf(s *snapshot.Snapshot, g *snapshot.Group, id, zone string) {
	g.Instances = append(g.Instances, snapshot.GroupInstance{ID: id, Lifecycle: "InService", Health: "Healthy", Zone: zone})
	s.Instances = append(s.Instances, snapshot.Instance{ID: id, State: "running", Zone: zone, Launched: s.Time.Add(-time.Hour), Tags: map[string]string{"kubernetes.io/cluster/prod": "owned", "aws:autoscaling:groupName": g.Name}})
	s.Nodes = append(s.Nodes, snapshot.Node{
		Name: id + ".internal", Instance: id, Zone: zone, Created: s.Time.Add(-time.Hour), Ready: snapshot.Condition{Status: "True"},
		Labels: map[string]string{"kubernetes.io/arch": "amd64", scheduling.ZoneLabel: zone, scheduling.GroupLabel: "workers", scheduling.HostLabel: id},
	})
}

// volumeIn adds a volume of the cluster, detached, with its claim bound.
func volumeIn(id, zone, claim string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		var ns, name string
		for i, r := range claim {
			if r == '/' {
				ns, name = claim[:i], claim[i+1:]
			}
		}
		s.Volumes = append(s.Volumes, snapshot.Volume{ID: id, Zone: zone, State: "available", Type: "gp3", GiB: 8, Tags: map[string]string{
			"kubernetes.io/cluster/prod": "owned", "ebs.csi.aws.com/cluster": "true", csiTag: "pv-" + id,
			"kubernetes.io/created-for/pvc/namespace": ns, "kubernetes.io/created-for/pvc/name": name,
		}})
		s.PersistentVolumes = append(s.PersistentVolumes, snapshot.PersistentVolume{Name: "pv-" + id, Phase: "Bound", Volume: id, Zones: []string{zone}, Claim: claim})
		s.Claims = append(s.Claims, snapshot.Claim{Namespace: ns, Name: name, Phase: "Bound", Volume: "pv-" + id})
	}
}

const csiTag = "CSIVolumeName"

// waits adds a pod that has been waiting.
func waits(pod, claim string, ago time.Duration, message string, changes ...func(*snapshot.WaitingPod)) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		var ns, name string
		for i, r := range pod {
			if r == '/' {
				ns, name = pod[:i], pod[i+1:]
			}
		}
		p := snapshot.WaitingPod{
			Namespace: ns, Name: name, Created: s.Time.Add(-ago), Claims: []string{claim},
			Scheduled: snapshot.Condition{Status: "False", Reason: "Unschedulable", Message: message, Since: s.Time.Add(-ago)},
		}
		for _, f := range changes {
			f(&p)
		}
		s.WaitingPods = append(s.WaitingPods, p)
	}
}

// noPods takes away the pods that wait.
func noPods(s *snapshot.Snapshot) { s.WaitingPods = nil }

// attached attaches the volume to an instance.
func attached(to string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { s.Volumes[0].State, s.Volumes[0].Attached = "in-use", []string{to} }
}

// pod changes the pod that waits.
func pod(f func(*snapshot.WaitingPod)) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { f(&s.WaitingPods[0]) }
}

// group changes the nodegroup's Auto Scaling group.
func group(f func(*snapshot.Group)) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { f(&s.Groups[0]) }
}

// anotherGroup adds a second group, without nodes.
func anotherGroup(name string, desired, most int, zones ...string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Groups = append(s.Groups, snapshot.Group{Name: name, Desired: desired, Max: most, Zones: zones, Tags: map[string]string{"kubernetes.io/cluster/prod": "owned"}})
	}
}

// karpenter adds a node that Karpenter launched.
func karpenter(s *snapshot.Snapshot) {
	s.Nodes = append(s.Nodes, snapshot.Node{
		Name: "kp.internal", Instance: "i-0karpenter", Zone: zoneA, Created: s.Time.Add(-time.Hour), Ready: snapshot.Condition{Status: "True"},
		Labels: map[string]string{scheduling.PoolLabel: "default", scheduling.ZoneLabel: zoneA, "kubernetes.io/arch": "amd64"},
	})
}

// pooled has a NodePool of Karpenter whose class found a subnet in each of the
// zones; for no zone it does not say which it found.
func pooled(zones ...string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		class := snapshot.NodeClass{Name: "default"}
		for _, z := range zones {
			class.Selected = append(class.Selected, snapshot.ZonedSubnet{ID: "subnet-" + z, Zone: z})
		}
		s.NodePools = []snapshot.NodePool{{Name: "default", Class: snapshot.ClassRef{Group: snapshot.KarpenterGroup, Kind: "EC2NodeClass", Name: "default"}}}
		s.EC2NodeClasses = []snapshot.NodeClass{class}
		for _, source := range []snapshot.Source{snapshot.NodePoolsOf, snapshot.EC2NodeClassesOf} {
			s.Read[source] = true
		}
	}
}

// shiftedAway has a shift of the cluster, or of a group, away from a zone, which cordons
// the nodes there if it is the cluster's.
func shiftedAway(zone, group string, kind snapshot.ShiftKind, changes ...func(*snapshot.Shift)) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Cluster.ZonalShift = true
		x := snapshot.Shift{ID: "9ac9ec1e", Group: group, ZoneID: strings.Replace(zone, "us-west-2", "usw2-az", 1), Kind: kind, Started: s.Time.Add(-time.Hour), Expires: s.Time.Add(time.Hour)}
		x.ZoneID = map[string]string{zoneA: "usw2-az1", zoneB: "usw2-az2", zoneC: "usw2-az3"}[zone]
		for _, f := range changes {
			f(&x)
		}
		if kind == snapshot.Autoshift {
			x.ID, x.Expires = "", time.Time{}
			s.Autoshifts = append(s.Autoshifts, x)
		} else {
			s.Shifts = append(s.Shifts, x)
		}
		for i := range s.Nodes {
			if n := &s.Nodes[i]; n.Zone == zone && group == "" && x.Expires.After(s.Time) {
				n.Cordoned = true
			}
		}
	}
}

// selfManaged takes the nodegroup away that the group is of.
func selfManaged(s *snapshot.Snapshot) {
	s.Nodegroups = nil
	delete(s.Groups[0].Tags, "eks:nodegroup-name")
}

const noRoom = "0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu. preemption: 0/3 nodes are available."

func TestShifted(t *testing.T) {
	const (
		person = snapshot.PersonsShift
		abc    = "pass prod [us-west-2a us-west-2b us-west-2c]"
		ab     = "pass prod [us-west-2a us-west-2b]"
		waits1 = " us-west-2c [us-west-2c] [] redash/redis-0 waits for us-west-2c, which is shifted away"
		advice = "fail (advice) us-west-2c [us-west-2c] [] us-west-2c is shifted away until 2026-11-20 16:00 UTC"
	)
	group := func(s *snapshot.Snapshot) string { return s.Groups[0].Name }
	name := group(threeZones())
	spread := standing(zoneA, zoneB, zoneC)
	checktest.RunCases(t, Shifted(), []checktest.Case{
		// What it must not report comes first.
		{"no shift", threeZones(), []string{abc}},
		{"healthy", snapshottest.PrivateWithNAT(), []string{"pass prod [us-west-2a]"}},
		{"expired", threeZones(shiftedAway(zoneC, "", person, func(x *snapshot.Shift) { x.Expires = x.Started.Add(time.Minute) })), []string{abc}},
		{"not begun", threeZones(shiftedAway(zoneC, "", person, func(x *snapshot.Shift) { x.Started = x.Expires.Add(-time.Minute) })), []string{abc}},
		{"of a zone that is not the cluster's", twoZones(noPods, shiftedAway(zoneC, "", person)), []string{abc}},
		{"a pod waits for a zone that is not the cluster's", twoZones(shiftedAway(zoneC, "", person)), []string{abc}},
		{"of another group", threeZones(shiftedAway(zoneC, "eks-other", person)), []string{abc}},
		{"a practice run that nothing waits for", threeZones(noPods, spread, shiftedAway(zoneC, "", snapshot.PracticeRun)), []string{abc}},
		{"of the cluster, and the group is self-managed", threeZones(selfManaged, shiftedAway(zoneC, "", person)), []string{abc}},

		{"nothing waits", threeZones(noPods, spread, shiftedAway(zoneC, "", person)), []string{ab, advice}},
		{"a pod waits for another zone", threeZones(spread, shiftedAway(zoneC, "", person), func(s *snapshot.Snapshot) {
			s.Volumes[0].Zone, s.PersistentVolumes[0].Zones = zoneB, []string{zoneB}
		}), []string{ab, advice}},
		{"a pod waits for its volume", threeZones(shiftedAway(zoneC, "", person)), []string{ab, "fail" + waits1}},
		{"a pod waits, and its node is cordoned", threeZones(spread, shiftedAway(zoneC, "", person)), []string{ab, "fail" + waits1}},
		{"a practice run, and a pod waits", threeZones(shiftedAway(zoneC, "", snapshot.PracticeRun)), []string{ab, "fail" + waits1}},
		{"an autoshift, and a pod waits", threeZones(shiftedAway(zoneC, "", snapshot.Autoshift)), []string{ab, "fail" + waits1}},
		{"an autoshift comes before a practice run", threeZones(shiftedAway(zoneA, "", snapshot.PracticeRun), shiftedAway(zoneC, "", snapshot.Autoshift)), []string{ab, "fail" + waits1}},
		{"of the group", threeZones(shiftedAway(zoneC, name, person)), []string{ab, "fail" + waits1}},
		{"of the group, and a node is there", threeZones(spread, shiftedAway(zoneC, name, person)), []string{ab, "fail (likely)" + waits1}},
		{"a pod that asks for the zone", threeZones(shiftedAway(zoneC, "", person), func(s *snapshot.Snapshot) {
			s.Volumes, s.PersistentVolumes, s.Claims = nil, nil, nil
			s.WaitingPods[0].Claims, s.WaitingPods[0].Selector = nil, map[string]string{"topology.kubernetes.io/zone": zoneC}
			s.WaitingPods[0].Scheduled.Message = "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector."
		}), []string{ab, "fail" + waits1}},
		{"the pod waits for something else too", threeZones(shiftedAway(zoneC, "", person), pod(func(w *snapshot.WaitingPod) {
			w.Scheduled.Message = "0/2 nodes are available: 2 Insufficient memory."
		})), []string{ab, "fail (likely)" + waits1}},
		{"a self-managed group can bring a node", threeZones(shiftedAway(zoneC, "", person), anotherGroup("own", 0, 3, zoneC)), []string{ab, "fail (likely)" + waits1}},
		{"Karpenter can bring a node", threeZones(shiftedAway(zoneC, "", person), pooled(zoneA, zoneC)), []string{ab, "fail (likely)" + waits1}},
		{"Karpenter says that it cannot", threeZones(shiftedAway(zoneC, "", person), pooled(zoneA, zoneC), func(s *snapshot.Snapshot) {
			s.Read[snapshot.PoolEventsOf] = true
			s.PoolEvents = []snapshot.PoolEvent{{Kind: "NodePool", Name: "default", Reason: "ZonalShiftActive", Message: "Zonal shift detected: offerings in zone us-west-2c (usw2-az3) are unavailable for this NodePool"}}
		}), []string{ab, "fail" + waits1}},
		{"Auto Mode", threeZones(group0(zoneA, zoneB), shiftedAway(zoneC, "", person), pooled(zoneA, zoneC), func(s *snapshot.Snapshot) { s.Cluster.AutoMode = true }), []string{ab, "fail" + waits1}},
		{"a claim holds a volume there, and no pod waits", threeZones(noPods, shiftedAway(zoneC, "", person)), []string{ab, "fail (likely) us-west-2c [us-west-2c] [] vol-0redis (redash/redis) is in us-west-2c, which is shifted away"}},
		{"no claim holds it", threeZones(noPods, shiftedAway(zoneC, "", person), func(s *snapshot.Snapshot) { s.PersistentVolumes, s.Claims = nil, nil }), []string{ab, advice}},
		{"no room on the other nodes", threeZones(spread, shiftedAway(zoneC, "", person), func(s *snapshot.Snapshot) {
			s.WaitingPods[0].Claims = nil
			s.WaitingPods[0].Scheduled.Message = noRoom
		}), []string{ab, "fail (likely) us-west-2c [us-west-2c] [] redash/redis-0 has no room while us-west-2c is shifted away"}},
		{"the group has no other zone", threeZones(noPods, shiftedAway(zoneC, "", person), group0(zoneC), func(s *snapshot.Snapshot) {
			s.Volumes, s.PersistentVolumes, s.Claims = nil, nil, nil
			s.Groups[0].Desired = 3
		}), []string{ab, "fail (likely) us-west-2c [us-west-2c] [] workers cannot launch: us-west-2c is shifted away"}},

		{"not read", threeZones(shiftedAway(zoneC, "", person), checktest.Unread(snapshot.ZonalShifts)), []string{"unknown prod [] zonal shifts: denied"}},
		{"the zone's name not read", threeZones(shiftedAway(zoneC, "", person), checktest.Unread(snapshot.ZonesOf)), []string{"unknown prod [us-west-2a us-west-2b us-west-2c] availability zones: denied"}},
		{"the zones not read, and nothing shifted", threeZones(func(s *snapshot.Snapshot) { s.Cluster.ZonalShift = true }, checktest.Unread(snapshot.ZonesOf)), []string{abc}},
		{"autoshifts not read", threeZones(shiftedAway(zoneC, "", person), checktest.Unread(snapshot.AutoshiftsOf)), []string{"unknown prod [us-west-2a us-west-2b] zonal autoshifts: denied", "fail" + waits1}},
	})
}

// group0 has the nodegroup's group launch in other zones.
func group0(zones ...string) func(*snapshot.Snapshot) {
	return group(func(g *snapshot.Group) { g.Zones = zones })
}

// TestShiftedSaysWhatItDoes: who shifted, until when, what that does, and how it ends.
func TestShiftedSaysWhatItDoes(t *testing.T) {
	for name, tt := range map[string]struct {
		world     *snapshot.Snapshot
		why, text string
		command   string
	}{
		"a person": {
			threeZones(standing(zoneA, zoneC), shiftedAway(zoneC, "", snapshot.PersonsShift)),
			"A zonal shift moves the cluster away from us-west-2c (usw2-az3) since 2026-11-20 14:00 UTC, until 2026-11-20 16:00 UTC: 1 node there is cordoned, and workers launches nothing there. Pod redash/redis-0 has been waiting since 14:50:00 UTC and needs volume vol-0redis of claim redash/redis, which is there.",
			"Ask whoever started it whether the zone has recovered. Once it has, cancel the shift (aws arc-zonal-shift cancel-zonal-shift --region us-west-2 --zonal-shift-id 9ac9ec1e), or let it expire at 2026-11-20 16:00 UTC. Raising a desired count brings no node to the zone meanwhile; what has no volume there can run in the other zones.",
			"aws arc-zonal-shift list-zonal-shifts --region us-west-2 --status ACTIVE",
		},
		"AWS": {
			threeZones(shiftedAway(zoneC, "", snapshot.Autoshift)),
			"A zonal autoshift, which AWS started, moves the cluster away from us-west-2c (usw2-az3) since 2026-11-20 14:00 UTC: workers launches nothing there. Pod redash/redis-0 has been waiting since 14:50:00 UTC and needs volume vol-0redis of claim redash/redis, which is there.",
			"AWS ends it once the zone has recovered; see https://health.aws.amazon.com. Raising a desired count brings no node to the zone meanwhile; what has no volume there can run in the other zones.",
			"aws arc-zonal-shift list-autoshifts --region us-west-2 --status ACTIVE",
		},
		"a practice run": {
			threeZones(shiftedAway(zoneC, "", snapshot.PracticeRun)),
			"A practice run of zonal autoshift moves the cluster away from us-west-2c (usw2-az3) since 2026-11-20 14:00 UTC, until 2026-11-20 16:00 UTC: workers launches nothing there. Pod redash/redis-0 has been waiting since 14:50:00 UTC and needs volume vol-0redis of claim redash/redis, which is there.",
			"It ends by itself at 2026-11-20 16:00 UTC. What waits now would wait in an outage of the zone, too: give it room, or its volumes, in the other zones.",
			"aws arc-zonal-shift list-zonal-shifts --region us-west-2 --status ACTIVE",
		},
	} {
		r := checktest.Failed(t, Shifted(), tt.world)
		if r.Why != tt.why || r.Fix.Text != tt.text || r.Fix.Command != tt.command {
			t.Errorf("%s:\n%s\n%s\n%s", name, r.Why, r.Fix.Text, r.Fix.Command)
		}
	}
}

// TestShiftedIsTheCause: what follows from a shift names it, so that the shift hides it, and
// offers no remedy; where the shifts were refused, that is said, and nothing is certain.
func TestShiftedIsTheCause(t *testing.T) {
	s := threeZones(shiftedAway(zoneC, "", snapshot.PersonsShift))
	r := checktest.Failed(t, VolumeStranded(), s)
	if want := "a zonal shift of the cluster until 2026-11-20 16:00 UTC keeps launches of workers out of us-west-2c"; !strings.Contains(r.Why, want) {
		t.Errorf("why %q, want %q", r.Why, want)
	}
	if got := checktest.Lines(checktest.EvalOne(t, NodegroupGap(), s)); strings.Contains(strings.Join(got, ""), "fail") {
		t.Errorf("a gap that a higher count would fill: %q", got)
	}
	s = threeZones(shiftedAway(zoneC, "", snapshot.PersonsShift), checktest.Unread(snapshot.ZonalShifts))
	s.Shifts = nil
	r = checktest.Failed(t, NodegroupGap(), s)
	if r.Confidence != check.Likely {
		t.Errorf("confidence %q without shifts, want likely", r.Confidence)
	}
	expect.Equal(t, "not checked", checktest.Value(t, r, "Not checked"), "zone/shifted, zonal shifts (denied: test:Read zonal shifts)")
}

// twoZones has the group launch in two zones only: none launches in the third.
func twoZones(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
	return checktest.Change(threeZones(group(func(g *snapshot.Group) { g.Zones = []string{zoneA, zoneB} })), changes...)
}

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
		}), []string{inA, inB, "unknown us-west-2c [us-west-2c] volumes: not read: vol-0redis is on an Outpost, whose nodes are not read"}},
		{"a volume that only its PersistentVolume names", twoZones(func(s *snapshot.Snapshot) { s.Volumes[0].Tags = nil }), []string{inA, inB, "fail" + lost}},
		{"moved from another cluster: Kubernetes' word counts", twoZones(func(s *snapshot.Snapshot) {
			s.Volumes[0].Tags = map[string]string{"kubernetes.io/cluster/old": "owned", csiTag: "x"}
		}), []string{inA, inB, "fail" + lost}},
	}
}

func TestStrandedSaysWhy(t *testing.T) {
	r := checktest.Failed(t, VolumeStranded(), twoZones())
	expect.Equal(t, "why", r.Why, "Volume vol-0redis of claim redash/redis is in us-west-2c; no node is there, and none can come: no group launches in us-west-2c.")
	expect.Equal(t, "nodes by zone", checktest.Value(t, r, "Nodes by zone"), "us-west-2a 1, us-west-2b 1, us-west-2c 0")
	checktest.Value(t, r, "Pod redash/redis-0")
}

// A sentence that begins with an id or a node's name keeps it as EC2 and Kubernetes write it.
func TestCapital(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "pod shop/web-0 waits": "Pod shop/web-0 waits", "a zonal shift": "A zonal shift",
		"i-0node is there": "i-0node is there",
		"ip-10-42-170-88.us-west-2.compute.internal is there": "ip-10-42-170-88.us-west-2.compute.internal is there",
		"us-west-2c is lost": "us-west-2c is lost",
	} {
		if got := capital(text); got != want {
			t.Errorf("capital(%q) = %q, want %q", text, got, want)
		}
	}
}
