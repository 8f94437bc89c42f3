package coverzones

import (
	"fmt"

	"rollcall/shared/checks"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/remedytest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestWrongTargets(t *testing.T) {
	found := remedytest.Saying(gap, gapAt("us-west-2c"))
	p := remedytest.Refuses(t, Remedy(), threeZones, found, []remedytest.Wrong{
		{"no nodegroup is named", func(_ *snapshot.Snapshot, of *action.Subject) { of.Nodegroups = nil }, NoGroup},
		{"two nodegroups are named", func(_ *snapshot.Snapshot, of *action.Subject) { of.Nodegroups = append(of.Nodegroups, "other") }, NoGroup},
		{"Karpenter's node pool", func(_ *snapshot.Snapshot, of *action.Subject) { of.Nodegroups = []string{"default"} }, NoGroup},
		{"a nodegroup of two groups", nodegroup(func(n *snapshot.Nodegroup) { n.Groups = append(n.Groups, "eks-2") }), NoGroup},
		{"another cluster's nodegroup", nodegroup(func(n *snapshot.Nodegroup) { n.Cluster = "dev" }), action.OtherCluster},
		{"another cluster's group", asg(func(g *snapshot.Group) { delete(g.Tags, "kubernetes.io/cluster/prod") }), action.OtherCluster},
		{"an update", nodegroup(func(n *snapshot.Nodegroup) { n.Status = "UPDATING" }), action.AnotherChange},
		{"a degraded nodegroup", nodegroup(func(n *snapshot.Nodegroup) { n.Status = "DEGRADED" }), action.AnotherChange},
		{"EKS and Auto Scaling disagree", nodegroup(func(n *snapshot.Nodegroup) { n.Desired = 3 }), action.GroupScales},
		{"Launch is suspended", remedytest.Suspended("Launch"), action.Suspended},
		{"AZRebalance is suspended", remedytest.Suspended("AZRebalance"), action.Suspended},
		{"an instance is on its way", remedytest.Member(func(m *snapshot.GroupInstance) { m.Lifecycle = "Pending" }), action.GroupScales},
		{"an instance ends", remedytest.Member(func(m *snapshot.GroupInstance) { m.Lifecycle = "Terminating" }), action.GroupScales},
		{"an instance is missing", asg(func(g *snapshot.Group) { g.Instances = g.Instances[:1] }), action.GroupScales},
		{"an instance refresh", func(s *snapshot.Snapshot, _ *action.Subject) {
			s.Activities = []snapshot.Activity{{Group: "eks-workers", Status: "InProgress", About: "Terminating EC2 instance: i-0"}}
		}, action.AnotherChange},
		{"the zone refused a launch", func(s *snapshot.Snapshot, _ *action.Subject) {
			s.Activities = []snapshot.Activity{{Group: "eks-workers", Status: "Failed", Zone: "us-west-2c", Started: s.Time.Add(-10 * time.Minute), Ended: s.Time}}
		}, ZoneRefuses},
		{"a person shifted the cluster away from the zone", shifted("", "usw2-az3", snapshot.PersonsShift), ZoneShifted},
		{"AWS shifted the cluster away from the zone", shifted("", "usw2-az3", snapshot.Autoshift), ZoneShifted},
		{"a practice run", shifted("", "usw2-az3", snapshot.PracticeRun), ZoneShifted},
		{"the group is shifted away from the zone", shifted("eks-workers", "usw2-az3", snapshot.PersonsShift), ZoneShifted},
		{"the cluster is shifted, and the group is self-managed", func(s *snapshot.Snapshot, of *action.Subject) {
			shifted("", "usw2-az3", snapshot.PersonsShift)(s, of)
			s.Nodegroups, of.Nodegroups = nil, []string{"eks-workers"}
			delete(s.Groups[0].Tags, "eks:nodegroup-name")
		}, ZoneShifted},
		{"every zone has one", asg(func(g *snapshot.Group) { g.Subnets = g.Subnets[:2] }), action.NothingToDo},
		{"a subnet was not read", asg(func(g *snapshot.Group) { g.Subnets = append(g.Subnets, "subnet-0x") }), action.CouldNotLook},
		{"an instance was not read", remedytest.Instance(func(i *snapshot.Instance) { i.ID = "i-0x" }), action.CouldNotLook},
		{"the maximum is two", nodegroup(func(n *snapshot.Nodegroup) { n.Max = 2 }), OverMax},
		{"the group's maximum is two", asg(func(g *snapshot.Group) { g.Max = 2 }), OverMax},
		{"another check", func(_ *snapshot.Snapshot, of *action.Subject) { of.Check = "zone/impaired" }, action.NotSo},
	})
	want := &Plan{Nodegroup: "workers", From: 2, To: 3, Max: 3, Zones: []string{"us-west-2a", "us-west-2b", "us-west-2c"}, Without: []string{"us-west-2c"}}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	w := remedytest.Words(t, Remedy(), p)
	if got, want := w.Undo[0], "aws eks update-nodegroup-config --region us-west-2 --cluster-name prod --nodegroup-name workers --scaling-config desiredSize=2"; got != want {
		t.Errorf("undo %s", got)
	}
}

const gap checks.ID = "zone/nodegroup-gap"

// threeZones is a nodegroup of three zones with nodes in two of them.
func threeZones() (*snapshot.Snapshot, action.Subject) {
	s := snapshottest.PrivateWithNAT()
	s.Groups[0].Subnets, s.Groups[0].Desired, s.Nodegroups[0].Desired = nil, 2, 2
	for _, zone := range []string{"a", "b", "c"} {
		sub := *snapshottest.Subnet(s, snapshottest.Private)
		sub.ID, sub.Zone, sub.ZoneID = "subnet-0"+zone, "us-west-2"+zone, "usw2-az"+string(zone[0]-'a'+'1')
		s.Subnets = append(s.Subnets, sub)
		s.Groups[0].Subnets = append(s.Groups[0].Subnets, sub.ID)
	}
	s.Zones = nil
	remedytest.Missed(s)
	snapshottest.Instance(s, remedytest.Stuck).Zone = "us-west-2b"
	s.Groups[0].Instances = []snapshot.GroupInstance{{ID: snapshottest.Node, Lifecycle: "InService"}, {ID: remedytest.Stuck, Lifecycle: "InService"}}
	return s, action.Subject{Cluster: snapshottest.ClusterName, Check: gap, Resource: "vol-0a", Nodegroups: []string{snapshottest.Nodegroup}}
}

func asg(change func(*snapshot.Group)) remedytest.Change {
	return func(s *snapshot.Snapshot, _ *action.Subject) { change(&s.Groups[0]) }
}

func nodegroup(change func(*snapshot.Nodegroup)) remedytest.Change {
	return func(s *snapshot.Snapshot, _ *action.Subject) { change(&s.Nodegroups[0]) }
}

// shifted has a shift of the cluster, or of a group, in effect.
func shifted(group, zone string, kind snapshot.ShiftKind) remedytest.Change {
	return func(s *snapshot.Snapshot, _ *action.Subject) {
		x := snapshot.Shift{Group: group, ZoneID: zone, Kind: kind, Started: s.Time.Add(-time.Hour)}
		if kind == snapshot.Autoshift {
			s.Autoshifts = append(s.Autoshifts, x)
			return
		}
		x.Expires = s.Time.Add(time.Hour)
		s.Shifts = append(s.Shifts, x)
	}
}

// A shift keeps launches out of its own zone, of what it is of, and as long as it lasts.
func TestShiftsElsewhere(t *testing.T) {
	harmless := func(group, zone string, expires time.Duration) func(*snapshot.Snapshot, *action.Subject) {
		return func(s *snapshot.Snapshot, of *action.Subject) {
			shifted(group, zone, snapshot.PersonsShift)(s, of)
			s.Shifts[0].Expires = s.Time.Add(expires)
		}
	}
	remedytest.Allows(t, Remedy(), threeZones, remedytest.Saying(gap, gapAt("us-west-2c")), []remedytest.Harmless{
		{"of a zone that has an instance", harmless("", "usw2-az1", time.Hour)},
		{"of a zone that the group does not have", harmless("", "usw2-az4", time.Hour)},
		{"of another group", harmless("eks-other", "usw2-az3", time.Hour)},
		{"expired", harmless("", "usw2-az3", -time.Second)},
	})
}

// A gap may be a hint only: raising a count within its bounds is worth that. An
// advice is not.
func TestWithoutCertainty(t *testing.T) {
	for confidence, want := range map[checks.Confidence]action.Reason{checks.Certain: "", checks.Likely: "", checks.Possible: action.NotCertain, checks.Advice: action.NotCertain} {
		s, of := threeZones()
		_, no := remedytest.Make(Remedy(), s, of, remedytest.Saying(gap, checks.Finding{Outcome: checks.Fail, Resource: "vol-0a", Covers: []string{"us-west-2c"}, Confidence: confidence}))
		if (no == nil) != (want == "") || no != nil && no.Reason != want {
			t.Errorf("%s: %+v, want %q", confidence, no, want)
		}
	}
	s, of := threeZones()
	blocked := []snapshot.Failure{{Source: snapshot.Nodes, Reason: snapshot.Denied}}
	if _, no := remedytest.Make(Remedy(), s, of, remedytest.Saying(gap, checks.Finding{Outcome: checks.Unknown, Resource: "prod", Blocked: blocked})); no == nil || no.Reason != action.CouldNotLook {
		t.Errorf("unknown: %+v", no)
	}
}

// A plain group is set by Auto Scaling; each zone without a node counts, as the
// first one launched may come into either.
func TestOfAGroup(t *testing.T) {
	s, of := threeZones()
	s.Nodegroups = nil
	delete(s.Groups[0].Tags, "eks:nodegroup-name")
	s.Groups[0].Tags["k8s.io/cluster-autoscaler/enabled"] = "true"
	s.Groups[0].Max = 9
	snapshottest.Instance(s, remedytest.Stuck).Zone = "us-west-2a"
	of.Nodegroups = []string{"eks-workers"}
	p, no := remedytest.Make(Remedy(), s, of, remedytest.Saying(gap, gapAt("us-west-2c")))
	if no != nil {
		t.Fatal(no.Says)
	}
	want := &Plan{Group: "eks-workers", From: 2, To: 4, Max: 9, Zones: []string{"us-west-2a", "us-west-2b", "us-west-2c"}, Without: []string{"us-west-2b", "us-west-2c"}, Autoscaler: true}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	remedytest.Words(t, Remedy(), p)
}

// TestCoverAgreesWithTheCheck: what the check tells a person to paste and what
// the remedy would do is the same count, however many zones the group has and
// however its instances lie in them; and with that count Auto Scaling, which
// launches where it has fewest, puts an instance into every zone.
func TestCoverAgreesWithTheCheck(t *testing.T) {
	list := []checks.Check{}
	for _, c := range checks.All() {
		if c.ID == gap {
			list = append(list, c)
		}
	}
	for zones := 1; zones <= 5; zones++ {
		for _, counts := range spreads(zones, 3) {
			for spare := range 9 {
				// The maximum of the nodegroup and that of its group may differ
				// for a while: the smaller one counts.
				s, of := uneven(counts, spare%3, spare/3)
				results := checks.Eval(list, s)
				i := slices.IndexFunc(results, func(r checks.Result) bool { return r.Outcome == checks.Fail })
				if i < 0 {
					if slices.Contains(counts, 0) && zones > 1 && s.Groups[0].Max > 0 {
						t.Errorf("%v: the check finds nothing: %+v", counts, results)
					}
					continue
				}
				of.Resource = results[i].Resource
				p, no := remedytest.Make(Remedy(), s, of, list)
				command := results[i].Fix.Command
				if no != nil {
					if no.Reason != OverMax || command != "" {
						t.Errorf("%v, room %d: refused as %s (%s), and the check says %q", counts, spare, no.Reason, no.Says, command)
					}
					continue
				}
				if command != remedytest.Words(t, Remedy(), p).Commands[0] {
					t.Errorf("%v, room %d: the check says %q, the plan %q", counts, spare, command, remedytest.Words(t, Remedy(), p).Commands[0])
				}
				if lie := balanced(counts, p.To); slices.Contains(lie, 0) {
					t.Errorf("%v: %d instances lie as %v", counts, p.To, lie)
				}
				if lie := balanced(counts, p.To-1); !slices.Contains(lie, 0) {
					t.Errorf("%v: %d instances are more than it takes", counts, p.To)
				}
			}
		}
	}
}

// spreads are all ways to put up to most instances into each of so many zones.
func spreads(zones, most int) [][]int {
	if zones == 0 {
		return [][]int{nil}
	}
	var list [][]int
	for _, rest := range spreads(zones-1, most) {
		for n := range most {
			list = append(list, append(slices.Clone(rest), n))
		}
	}
	return list
}

// balanced launches, one by one, where there are fewest.
func balanced(counts []int, desired int) []int {
	lie, have := slices.Clone(counts), 0
	for _, n := range lie {
		have += n
	}
	for ; have < desired; have++ {
		lie[slices.Index(lie, slices.Min(lie))]++
	}
	return lie
}

// uneven is a nodegroup with so many nodes in each zone, maximums that allow
// some more, and a claimed volume in each zone without one.
func uneven(counts []int, spare, managed int) (*snapshot.Snapshot, action.Subject) {
	s, of := threeZones()
	g := &s.Groups[0]
	g.Subnets, g.Zones, g.Instances = nil, nil, nil
	s.Instances, s.Nodes, s.Launches, s.Volumes, s.PersistentVolumes, s.Claims, s.WaitingPods = nil, nil, nil, nil, nil, nil, nil
	total := 0
	for z, n := range counts {
		zone := "us-west-2" + string(rune('a'+z))
		sub := *snapshottest.Subnet(s, snapshottest.Private)
		sub.ID, sub.Zone = "subnet-1"+zone, zone
		s.Subnets = append(s.Subnets, sub)
		g.Subnets, g.Zones = append(g.Subnets, sub.ID), append(g.Zones, zone)
		for range n {
			id := fmt.Sprintf("i-0%d", total)
			total++
			g.Instances = append(g.Instances, snapshot.GroupInstance{ID: id, Lifecycle: "InService", Zone: zone})
			s.Instances = append(s.Instances, snapshot.Instance{ID: id, State: "running", Zone: zone, Subnet: sub.ID, Launched: s.Time.Add(-time.Hour)})
			s.Nodes = append(s.Nodes, snapshot.Node{Name: id, Instance: id, Zone: zone, Created: s.Time.Add(-time.Hour), Ready: snapshot.Condition{Status: "True"}})
		}
		if n == 0 {
			id := "vol-0" + zone
			s.Volumes = append(s.Volumes, snapshot.Volume{ID: id, Zone: zone, State: "available", Tags: map[string]string{"kubernetes.io/cluster/prod": "owned", "CSIVolumeName": "pv-" + id}})
			s.PersistentVolumes = append(s.PersistentVolumes, snapshot.PersistentVolume{Name: "pv-" + id, Phase: "Bound", Volume: id, Zones: []string{zone}, Claim: "x/" + id})
			s.Claims = append(s.Claims, snapshot.Claim{Namespace: "x", Name: id, Phase: "Bound", Volume: "pv-" + id})
		}
	}
	g.Desired, g.Max = total, total+spare
	s.Nodegroups[0].Desired, s.Nodegroups[0].Max = total, total+managed
	return s, of
}
