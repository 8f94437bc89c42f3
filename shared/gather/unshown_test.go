package gather

import (
	"maps"
	"slices"
	"testing"
	"time"

	"rollcall/shared/gather/gathertest"
	"rollcall/shared/snapshot"
)

const hiddenWorld = `
ec2:
  Instances:
    - {InstanceId: i-0a070000000000001, SubnetId: subnet-0b20000000000000a, Operator: {Managed: true, Principal: eks.amazonaws.com}, Tags: [{Key: kubernetes.io/cluster/eks-workshop, Value: owned}]}
`

// TestUnshown: of the instances that nodes and volumes name, those are noted that
// EC2 does not show though it was asked for managed ones; what the snapshot holds
// is not asked for, and neither is what is no id.
func TestUnshown(t *testing.T) {
	p := open(t, hiddenWorld)
	s := &snapshot.Snapshot{
		Instances: []snapshot.Instance{{ID: "i-0d0000000000000a1"}},
		Nodes: []snapshot.Node{
			{Name: "held", Instance: "i-0d0000000000000a1"}, {Name: "i-0a070000000000001", Instance: "i-0a070000000000001"},
			{Name: "ip-10-9-0-1", Instance: "i-0f00000000000f00d"}, {Name: "odd", Instance: "i-*"}, {Name: "fargate"},
		},
		Volumes: []snapshot.Volume{{ID: "vol-1", Attached: []string{"i-0d0000000000000b2", "i-0beef"}}},
	}
	p.Unshown(t.Context(), s, NamedByNodes(s))
	missing := func() []string { return slices.Sorted(maps.Keys(s.Missing[snapshot.Instances])) }
	gathertest.Same(t, "named by nodes and not shown", missing(), []string{"i-*", "i-0f00000000000f00d"})
	gathertest.Same(t, "why", s.Missing[snapshot.Instances]["i-0f00000000000f00d"], snapshot.Failure{
		Source: snapshot.Instances, Reason: snapshot.NotShown, Call: "ec2:DescribeInstances",
		Message: "node ip-10-9-0-1 names i-0f00000000000f00d, which EC2 does not show: it is hidden (an AWS service manages it), of another account, or gone",
	})
	s.Missing = nil
	p.Unshown(t.Context(), s, NamedByVolumes(s))
	gathertest.Same(t, "attached and not shown", missing(), []string{"i-0beef"})
	// Nothing is asked where nothing is named.
	before := len(p.aws.Calls())
	p.Unshown(t.Context(), s, nil)
	gathertest.Same(t, "calls for nothing", len(p.aws.Calls())-before, 0)
}

// TestSilentNodes: the node of an instance that has just ended is still there, and
// is not said to name what EC2 does not show; one that lingers is.
func TestSilentNodes(t *testing.T) {
	now := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	node := func(id, status string, ago time.Duration) snapshot.Node {
		return snapshot.Node{Name: "n" + id, Instance: id, Ready: snapshot.Condition{Status: status, Since: now.Add(-ago)}}
	}
	s := &snapshot.Snapshot{Time: now, Nodes: []snapshot.Node{
		node("i-1", "Unknown", 59*time.Minute), node("i-2", "Unknown", time.Hour), node("i-3", "True", time.Minute), node("i-4", "False", time.Minute), node("i-5", "", 0),
	}}
	gathertest.Same(t, "named", slices.Sorted(maps.Keys(NamedByNodes(s))), []string{"i-2", "i-3", "i-4", "i-5"})
}

// TestUnshownRefused: who may not ask does not say that an instance is hidden.
func TestUnshownRefused(t *testing.T) {
	p := openFaulty(t, "", refuse("ec2:DescribeInstances"), "")
	s := &snapshot.Snapshot{Nodes: []snapshot.Node{{Name: "n", Instance: "i-0d0000000000000a1"}}}
	p.Unshown(t.Context(), s, NamedByNodes(s))
	f, lacks := s.Lacks(snapshot.Instances, "i-0d0000000000000a1")
	if !lacks || f.Reason != snapshot.Denied || f.Call != "ec2:DescribeInstances" {
		t.Errorf("failure %+v (%v), want ec2:DescribeInstances denied", f, lacks)
	}
}
