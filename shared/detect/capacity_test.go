package detect

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/diagnose"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

func TestCapacity(t *testing.T) {
	look := func(change func(*snapshot.Snapshot)) *snapshot.Snapshot {
		ready := func(id string) snapshot.Node {
			return snapshot.Node{Instance: id, Ready: snapshot.Condition{Status: "True"}}
		}
		raw := ready("i-4")
		raw.Uninitialized = true
		s := &snapshot.Snapshot{
			Read:     map[snapshot.Source]bool{snapshot.Groups: true, snapshot.Nodes: true},
			Failures: map[snapshot.Source]snapshot.Failure{},
			Groups: []snapshot.Group{
				{Name: "eks-workers", Tags: map[string]string{"eks:nodegroup-name": "workers"}, Desired: 5, Instances: []snapshot.GroupInstance{{ID: "i-1"}, {ID: "i-2"}, {ID: "i-3"}, {ID: "i-4"}, {ID: "i-5"}}, Warm: []string{"i-5"}},
				{Name: "other", Desired: 9},
			},
			Nodes: []snapshot.Node{ready("i-1"), ready("i-2"), {Instance: "i-3"}, raw, ready("i-5"), ready("i-9")},
		}
		change(s)
		return s
	}
	d := diagnose.Diagnosis{Causes: []diagnose.Cause{{Nodegroups: []string{"workers"}}}}
	two := []report.Capacity{{Group: "eks-workers", Nodegroup: "workers", Desired: 5, Ready: 2}}
	for name, test := range map[string]struct {
		change func(*snapshot.Snapshot)
		want   []report.Capacity
	}{
		"the nodes of its instances are counted": {func(*snapshot.Snapshot) {}, two},
		"groups that were not read":              {func(s *snapshot.Snapshot) { s.Read[snapshot.Groups] = false }, nil},
		"nodes that were not asked for":          {func(s *snapshot.Snapshot) { delete(s.Read, snapshot.Nodes) }, nil},
		"nodes of which the rest failed":         {func(s *snapshot.Snapshot) { s.Failures[snapshot.Nodes] = snapshot.Failure{Reason: snapshot.Throttled} }, nil},
		"a group that counts vCPUs":              {func(s *snapshot.Snapshot) { s.Groups[0].Weighted = true }, nil},
		"a nodegroup of eksctl": {func(s *snapshot.Snapshot) {
			s.Groups[0].Tags = map[string]string{"alpha.eksctl.io/nodegroup-name": "workers"}
		}, two},
		"a group of another nodegroup is not counted": {func(s *snapshot.Snapshot) { s.Groups[0].Tags["eks:nodegroup-name"] = "gone" }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, capacity(look(test.change), d, nil)); diff != "" {
				t.Errorf("capacity (-want +got):\n%s", diff)
			}
		})
	}
	own := []report.Launch{{Group: "other"}}
	if got := capacity(look(func(*snapshot.Snapshot) {}), diagnose.Diagnosis{}, own); len(got) != 1 || got[0].Desired != 9 {
		t.Errorf("a group without a nodegroup, named by a launch: %+v", got)
	}
}
