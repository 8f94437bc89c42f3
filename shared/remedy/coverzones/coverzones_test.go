package coverzones

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/finding"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/remedytest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
	"rollcall/shared/spec"
)

func TestWrongTargets(t *testing.T) {
	found := remedytest.Saying(gap, gapAt("us-west-2c"))
	p := remedytest.Refuses(t, Remedy(), threeZones, found, []remedytest.Wrong{
		{"no nodegroup is named", func(_ *snapshot.Snapshot, of *action.Subject) { of.Nodegroups = nil }, NoGroup},
		{"two nodegroups are named", func(_ *snapshot.Snapshot, of *action.Subject) { of.Nodegroups = append(of.Nodegroups, "other") }, NoGroup},
		{"Karpenter's node pool", func(_ *snapshot.Snapshot, of *action.Subject) { of.Nodegroups = []string{"default"} }, NoGroup},
		{"a nodegroup of two groups", nodegroup(func(n *snapshot.Nodegroup) { n.Groups = append(n.Groups, "eks-2") }), NoGroup},
		{"another cluster's nodegroup", nodegroup(func(n *snapshot.Nodegroup) { n.Cluster = "dev" }), remedy.OtherCluster},
		{"another cluster's group", asg(func(g *snapshot.Group) { delete(g.Tags, "kubernetes.io/cluster/prod") }), remedy.OtherCluster},
		{"an update", nodegroup(func(n *snapshot.Nodegroup) { n.Status = "UPDATING" }), remedy.AnotherChange},
		{"a degraded nodegroup", nodegroup(func(n *snapshot.Nodegroup) { n.Status = "DEGRADED" }), remedy.AnotherChange},
		{"EKS and Auto Scaling disagree", nodegroup(func(n *snapshot.Nodegroup) { n.Desired = 3 }), remedy.GroupScales},
		{"Launch is suspended", remedytest.Suspended("Launch"), remedy.Suspended},
		{"AZRebalance is suspended", remedytest.Suspended("AZRebalance"), remedy.Suspended},
		{"an instance is on its way", remedytest.Member(func(m *snapshot.GroupInstance) { m.Lifecycle = "Pending" }), remedy.GroupScales},
		{"an instance ends", remedytest.Member(func(m *snapshot.GroupInstance) { m.Lifecycle = "Terminating" }), remedy.GroupScales},
		{"an instance is missing", asg(func(g *snapshot.Group) { g.Instances = g.Instances[:1] }), remedy.GroupScales},
		{"an instance refresh", func(s *snapshot.Snapshot, _ *action.Subject) {
			s.Activities = []snapshot.Activity{{Group: "eks-workers", Status: "InProgress", About: "Terminating EC2 instance: i-0"}}
		}, remedy.AnotherChange},
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
		{"every zone has one", asg(func(g *snapshot.Group) { g.Subnets = g.Subnets[:2] }), remedy.NothingToDo},
		{"a subnet was not read", asg(func(g *snapshot.Group) { g.Subnets = append(g.Subnets, "subnet-0x") }), remedy.CouldNotLook},
		{"an instance was not read", remedytest.Instance(func(i *snapshot.Instance) { i.ID = "i-0x" }), remedy.CouldNotLook},
		{"the maximum is two", nodegroup(func(n *snapshot.Nodegroup) { n.Max = 2 }), OverMax},
		{"the group's maximum is two", asg(func(g *snapshot.Group) { g.Max = 2 }), OverMax},
		{"another check", func(_ *snapshot.Snapshot, of *action.Subject) { of.Check = "zone/impaired" }, remedy.NotSo},
	})
	want := &remedy.CoverZones{Nodegroup: "workers", From: 2, To: 3, Max: 3, Zones: []string{"us-west-2a", "us-west-2b", "us-west-2c"}, Without: []string{"us-west-2c"}}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	w := remedytest.Words(t, p)
	if got, want := w.Undo[0], "aws eks update-nodegroup-config --region us-west-2 --cluster-name prod --nodegroup-name workers --scaling-config desiredSize=2"; got != want {
		t.Errorf("undo %s", got)
	}
}

func TestBounds(t *testing.T) {
	activity := func(a snapshot.Activity) func(*snapshot.Snapshot, *action.Subject) {
		return func(s *snapshot.Snapshot, _ *action.Subject) {
			if a.Group == "" {
				a.Group = "eks-workers"
			}
			if a.Started.IsZero() {
				a.Started = s.Time.Add(-10 * time.Minute)
			}
			s.Activities = append(s.Activities, a)
		}
	}
	found := remedytest.Saying(gap, gapAt("us-west-2c"))
	remedytest.Refuses(t, Remedy(), threeZones, found, []remedytest.Wrong{
		{"the zone of a subnet is not known", func(s *snapshot.Snapshot, _ *action.Subject) { s.Subnets[len(s.Subnets)-1].Zone = "" }, remedy.CouldNotLook},
		{"the zone of an instance is not known", remedytest.Instance(func(i *snapshot.Instance) { i.Zone = "" }), remedy.CouldNotLook},
		{"the group is a nodegroup's that was not read", func(s *snapshot.Snapshot, of *action.Subject) {
			s.Nodegroups, of.Nodegroups = nil, []string{"eks-workers"}
		}, remedy.CouldNotLook},
		{"an activity without a known status", activity(snapshot.Activity{Status: "Wobbling"}), remedy.AnotherChange},
	})
	end := snapshottest.Now()
	remedytest.Allows(t, Remedy(), threeZones, found, []remedytest.Harmless{
		{"another group is at work", activity(snapshot.Activity{Group: "eks-other", Status: "InProgress"})},
		{"another group was refused there", activity(snapshot.Activity{Group: "eks-other", Status: "Failed", Zone: "us-west-2c", Ended: end})},
		{"it was refused in another zone", activity(snapshot.Activity{Status: "Failed", Zone: "us-west-2a", Ended: end})},
		{"a launch there came about", activity(snapshot.Activity{Status: "Successful", Zone: "us-west-2c", Ended: end})},
		{"a launch was cancelled", activity(snapshot.Activity{Status: "Cancelled", Zone: "us-west-2c"})},
		{"it was refused hours ago", activity(snapshot.Activity{Status: "Failed", Zone: "us-west-2c", Started: end.Add(-2 * time.Hour), Ended: end.Add(-2 * time.Hour)})},
		{"activities without an end that are over", func(s *snapshot.Snapshot, of *action.Subject) {
			activity(snapshot.Activity{Status: "Successful"})(s, of)
			activity(snapshot.Activity{Status: "Failed", Zone: "us-west-2a"})(s, of)
		}},
		{"it was refused an hour ago to the second", activity(snapshot.Activity{Status: "Failed", Zone: "us-west-2c", Started: end.Add(-time.Hour), Ended: end})},
		{"an activity without a known status has ended", activity(snapshot.Activity{Status: "Wobbling", Ended: end})},
		{"nothing says whose the nodegroup is", nodegroup(func(n *snapshot.Nodegroup) { n.Cluster = "" })},
	})
}

// The volume's zone must be among those that get an instance: where the group
// has one there, which does not take the pod, one more would come elsewhere.
func TestReachesTheZone(t *testing.T) {
	for name, f := range map[string]finding.Finding{
		"a zone that has an instance":           gapAt("us-west-2b"),
		"a zone in which it launches no longer": gapAt("us-west-2d"),
		"no zone is named":                      gapAt(),
	} {
		s, of := threeZones()
		if p, no := remedytest.Make(Remedy(), s, of, remedytest.Saying(gap, f)); no == nil || no.Reason != ZoneNotReached {
			t.Errorf("%s: planned %v, %+v; want %s", name, p, no, ZoneNotReached)
		}
	}
	s, of := threeZones()
	if _, no := remedytest.Make(Remedy(), s, of, remedytest.Saying(gap, gapAt("us-west-2b", "us-west-2c"))); no != nil {
		t.Errorf("one of two zones: %s", no.Says)
	}
}

// gapAt is what the check finds of a gap in zones.
func gapAt(zones ...string) finding.Finding {
	return finding.Finding{Outcome: finding.Fail, Resource: "vol-0a", Covers: zones}
}

// The incident's own resource is the group, by whichever name, before the
// nodegroups that it names.
func TestTheResourceIsTheGroup(t *testing.T) {
	for _, test := range []struct {
		name, resource string
		more           func(*snapshot.Snapshot)
		want           remedy.CoverZones
	}{
		{"a nodegroup", "workers", func(*snapshot.Snapshot) {}, remedy.CoverZones{Nodegroup: "workers"}},
		{"a group of one's own", "eks-workers", func(s *snapshot.Snapshot) {
			s.Nodegroups = nil
			delete(s.Groups[0].Tags, "eks:nodegroup-name")
		}, remedy.CoverZones{Group: "eks-workers"}},
	} {
		s, of := threeZones()
		test.more(s)
		of.Resource, of.Nodegroups = test.resource, []string{"other", "another"}
		test.want.From, test.want.To, test.want.Max = 2, 3, 3
		test.want.Zones, test.want.Without = []string{"us-west-2a", "us-west-2b", "us-west-2c"}, []string{"us-west-2c"}
		found := finding.Finding{Outcome: finding.Fail, Resource: test.resource, Covers: []string{"us-west-2c"}}
		p, no := remedytest.Make(Remedy(), s, of, remedytest.Saying(gap, found))
		if no != nil {
			t.Errorf("%s: refused as %s: %s", test.name, no.Reason, no.Says)
			continue
		}
		if diff := cmp.Diff(&test.want, p); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// There is a choice to be made in this world.
func TestSameInAnyOrder(t *testing.T) {
	remedytest.SameInAnyOrder(t, Remedy(), threeZones, remedytest.Saying(gap, gapAt("us-west-2c")))
}

func TestFoundElsewhereIsNotSo(t *testing.T) {
	remedytest.FoundElsewhereIsNotSo(t, Remedy(), threeZones)
}

func TestApplied(t *testing.T) {
	remedytest.Applied(t, Remedy(), threeZones, snapshot.Groups, func(s *snapshot.Snapshot) { s.Groups[0].Desired = 3 }, func(s *snapshot.Snapshot) {
		s.Groups = append(s.Groups, snapshot.Group{Name: "eks-other", Desired: 3, Tags: map[string]string{"eks:nodegroup-name": "other"}})
	}, remedytest.Saying(gap, gapAt("us-west-2c"))...)
	ofGroup, ofNodegroup := remedy.CoverZones{Group: "eks-a", To: 3}, remedy.CoverZones{Nodegroup: "a", To: 3}
	managed := map[string]string{"eks:nodegroup-name": "a"}
	for _, test := range []struct {
		name string
		plan remedy.CoverZones
		is   snapshot.Group
		want bool
	}{
		{"the group", ofGroup, snapshot.Group{Name: "eks-a", Desired: 3}, true},
		{"the group, and more", ofGroup, snapshot.Group{Name: "eks-a", Desired: 4}, true},
		{"the group, too few", ofGroup, snapshot.Group{Name: "eks-a", Desired: 2}, false},
		{"another group, which is no nodegroup's either", ofGroup, snapshot.Group{Name: "eks-b", Desired: 3}, false},
		{"the nodegroup's group", ofNodegroup, snapshot.Group{Name: "eks-a-0123", Desired: 3, Tags: managed}, true},
		{"the nodegroup's group, too few", ofNodegroup, snapshot.Group{Name: "eks-a-0123", Desired: 2, Tags: managed}, false},
		{"another nodegroup's", ofNodegroup, snapshot.Group{Name: "eks-b-0123", Desired: 3, Tags: map[string]string{"eks:nodegroup-name": "b"}}, false},
	} {
		s := &snapshot.Snapshot{Read: map[snapshot.Source]bool{snapshot.Groups: true}, Groups: []snapshot.Group{test.is}}
		if done, known := applied(test.plan, s); done != test.want || !known {
			t.Errorf("%s: done %v, known %v; want %v, true", test.name, done, known, test.want)
		}
	}
}

// counted keeps which counts were set.
type counted []string

func (c *counted) SetDesiredCapacity(_ context.Context, group string, desired int) action.Answer {
	*c = append(*c, fmt.Sprintf("group %s: %d", group, desired))
	return action.Answer{Outcome: action.Done, Request: "r-1"}
}

func (c *counted) SetDesiredSize(_ context.Context, cluster, nodegroup string, desired int, token string) action.Answer {
	*c = append(*c, fmt.Sprintf("nodegroup %s of %s: %d, %s", nodegroup, cluster, desired, token))
	return action.Answer{Outcome: action.Done, Request: "r-1"}
}

// What would lower or exceed is not asked of AWS, whatever the plan says.
func TestDoRefuses(t *testing.T) {
	for name, p := range map[string]remedy.CoverZones{
		"a lower count":      {From: 3, To: 2, Max: 5},
		"the same count":     {From: 3, To: 3, Max: 5},
		"over the maximum":   {From: 3, To: 6, Max: 5},
		"no count":           {},
		"less than no count": {From: 0, To: -1, Max: 5},
	} {
		for _, of := range []func(*remedy.CoverZones){func(p *remedy.CoverZones) { p.Group = "g" }, func(p *remedy.CoverZones) { p.Nodegroup = "n" }} {
			of(&p)
			var c counted
			if got := do(t.Context(), &c, p, remedy.Place{Cluster: "prod"}, "token"); got.Status != remedy.Failed || got.Reason != "NotARaise" || len(got.Changed) != 0 || len(c) != 0 {
				t.Errorf("%s: %+v after %q, want NotARaise after no call", name, got, c)
			}
		}
	}
}

// A nodegroup is raised by EKS, another group by Auto Scaling: to the count, up to
// the maximum.
func TestDo(t *testing.T) {
	for _, test := range []struct {
		plan remedy.CoverZones
		id   string
		want counted
	}{
		{remedy.CoverZones{Group: "g", From: 2, To: 3, Max: 3}, "g", counted{"group g: 3"}},
		{remedy.CoverZones{Nodegroup: "n", From: 2, To: 4, Max: 9}, "n", counted{"nodegroup n of prod: 4, token"}},
	} {
		var c counted
		got := do(t.Context(), &c, test.plan, remedy.Place{Region: "us-west-2", Cluster: "prod"}, "token")
		if diff := cmp.Diff(test.want, c); diff != "" {
			t.Errorf("%s: calls (-want +got):\n%s", test.id, diff)
		}
		want := action.Result{Status: remedy.Done, Changed: []string{test.id}, Requests: []string{"r-1"}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: result (-want +got):\n%s", test.id, diff)
		}
	}
}

func TestGrants(t *testing.T) {
	got := grants(action.OptIn{Clusters: []string{"prod"}, Any: []string{"dev", "prod"}, VPCs: []string{"vpc-0a"}})
	want := []spec.Grant{
		{
			Sid: "ChangeGroups2", Why: "cover-zones raises the desired count of Auto Scaling groups, never above their maximum.",
			Actions: []string{"autoscaling:SetDesiredCapacity"}, Resources: []spec.Resource{"arn:${Partition}:autoscaling:${Region}:${Account}:autoScalingGroup:*"},
			Conditions: map[string]map[string][]string{"StringEquals": {"aws:ResourceTag/kubernetes.io/cluster/prod": {"owned"}}},
		},
		{
			Sid: "RaiseNodegroups1", Why: "cover-zones raises the desired count of managed nodegroups, never above their maximum.",
			Actions: []string{"eks:UpdateNodegroupConfig"}, Resources: []spec.Resource{"arn:${Partition}:eks:${Region}:${Account}:nodegroup/prod/*/*"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("grants (-want +got):\n%s", diff)
	}
	if got := grants(action.OptIn{Any: []string{"dev"}}); len(got) != 0 {
		t.Errorf("nobody opted in: %+v", got)
	}
}

const gap checkid.ID = "zone/nodegroup-gap"

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
	for confidence, want := range map[finding.Confidence]remedy.Reason{finding.Certain: "", finding.Likely: "", finding.Possible: remedy.NotCertain, finding.Advice: remedy.NotCertain} {
		s, of := threeZones()
		_, no := remedytest.Make(Remedy(), s, of, remedytest.Saying(gap, finding.Finding{Outcome: finding.Fail, Resource: "vol-0a", Covers: []string{"us-west-2c"}, Confidence: confidence}))
		if (no == nil) != (want == "") || no != nil && no.Reason != want {
			t.Errorf("%s: %+v, want %q", confidence, no, want)
		}
	}
	s, of := threeZones()
	blocked := []snapshot.Failure{{Source: snapshot.Nodes, Reason: snapshot.Denied}}
	if _, no := remedytest.Make(Remedy(), s, of, remedytest.Saying(gap, finding.Finding{Outcome: finding.Unknown, Resource: "prod", Blocked: blocked})); no == nil || no.Reason != remedy.CouldNotLook {
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
	want := &remedy.CoverZones{Group: "eks-workers", From: 2, To: 4, Max: 9, Zones: []string{"us-west-2a", "us-west-2b", "us-west-2c"}, Without: []string{"us-west-2b", "us-west-2c"}, Autoscaler: true}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	remedytest.Words(t, p)
}

// TestCoverAgreesWithTheCheck: what the check tells a person to paste and what
// the remedy would do is the same count, however many zones the group has and
// however its instances lie in them; and with that count Auto Scaling, which
// launches where it has fewest, puts an instance into every zone.
func TestCoverAgreesWithTheCheck(t *testing.T) {
	list := []check.Check{}
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
				results := check.Eval(list, s)
				i := slices.IndexFunc(results, func(r finding.Result) bool { return r.Outcome == finding.Fail })
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
				if command != remedytest.Words(t, p).Commands[0] {
					t.Errorf("%v, room %d: the check says %q, the plan %q", counts, spare, command, remedytest.Words(t, p).Commands[0])
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

func TestRefusesUnread(t *testing.T) {
	remedytest.RefusesUnread(t, Remedy(), threeZones, gapAt("us-west-2c"),
		snapshot.Clusters, snapshot.Instances, snapshot.Subnets, snapshot.Groups, snapshot.Nodegroups, snapshot.Activities, snapshot.ZonalShifts, snapshot.AutoshiftsOf)
}

// A group's instances are counted: those that report reads are not all of them.
func TestReadsAllMembers(t *testing.T) {
	if !Remedy().More.GroupMembers {
		t.Error("the instances of the groups are not all read")
	}
}

func TestWords(t *testing.T) {
	for _, test := range []struct {
		plan remedy.CoverZones
		want remedy.Words
	}{
		{remedy.CoverZones{Nodegroup: "workers", From: 2, To: 3, Max: 9, Without: []string{"us-west-2c"}}, remedy.Words{
			Title:    "Raise workers from 2 to 3 nodes",
			Steps:    []string{"Set the desired count of workers from 2 to 3 (maximum 9): Auto Scaling launches in the zones that have the fewest, so in us-west-2c."},
			Change:   "desired 2 → 3",
			Commands: []string{"aws eks update-nodegroup-config --region us-west-2 --cluster-name prod --nodegroup-name workers --scaling-config desiredSize=3"},
			Undo:     []string{"aws eks update-nodegroup-config --region us-west-2 --cluster-name prod --nodegroup-name workers --scaling-config desiredSize=2"},
			Cost:     "1 instance extra, until you scale down again.",
		}},
		{remedy.CoverZones{Group: "eks-a", From: 2, To: 4, Max: 4, Without: []string{"us-west-2b", "us-west-2c"}, Autoscaler: true}, remedy.Words{
			Title:    "Raise eks-a from 2 to 4 nodes",
			Steps:    []string{"Set the desired count of eks-a from 2 to 4 (maximum 4): Auto Scaling launches in the zones that have the fewest, so in us-west-2b and us-west-2c."},
			Change:   "desired 2 → 4",
			Commands: []string{"aws autoscaling set-desired-capacity --region us-west-2 --auto-scaling-group-name eks-a --desired-capacity 4"},
			Undo:     []string{"aws autoscaling set-desired-capacity --region us-west-2 --auto-scaling-group-name eks-a --desired-capacity 2"},
			Cost: "2 instances extra, until you scale down again. The cluster autoscaler can scale down again when a node is idle: " +
				"use one group per zone, or its flag balance-similar-node-groups.",
		}},
	} {
		if diff := cmp.Diff(test.want, test.plan.Words(remedy.Place{Region: "us-west-2", Cluster: "prod"})); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", test.plan, diff)
		}
	}
}
