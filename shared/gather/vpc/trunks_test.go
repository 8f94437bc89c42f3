package vpc

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/snapshot"
)

func TestTrunksOf(t *testing.T) {
	branch := func(id, trunk, status string) snapshot.Interface {
		return snapshot.Interface{ID: id, Kind: "branch", Subnet: "subnet-b", Status: status, Tags: map[string]string{"vpcresources.k8s.aws/trunk-eni-id": trunk}}
	}
	trunks, strays := trunksOf([]snapshot.Interface{
		branch("eni-b1", "eni-t1", "in-use"),
		{ID: "eni-t1", Kind: "trunk", Instance: "i-1", Subnet: "subnet-a"},
		branch("eni-b2", "eni-t1", "in-use"),
		branch("eni-b2", "eni-t1", "in-use"), // a page may bring one again
		branch("eni-b3", "eni-t1", "available"),
		{ID: "eni-t2", Kind: "trunk", Subnet: "subnet-a"},
		branch("eni-b9", "eni-gone", "available"),
		branch("eni-b4", "eni-gone", "available"),
		branch("eni-b5", "eni-gone", "in-use"), // its trunk may be the next page's
		{ID: "eni-other", Kind: "interface", Status: "available"},
	})
	if diff := cmp.Diff([]snapshot.Trunk{{ID: "eni-t1", Instance: "i-1", Subnet: "subnet-a", Branches: 3}, {ID: "eni-t2", Subnet: "subnet-a"}}, trunks); diff != "" {
		t.Errorf("trunks (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]snapshot.StrayBranch{{ID: "eni-b4", Subnet: "subnet-b"}, {ID: "eni-b9", Subnet: "subnet-b"}}, strays); diff != "" {
		t.Errorf("strays (-want +got):\n%s", diff)
	}
}

// TestBranching: trunks are asked for only where something tells of them.
func TestBranching(t *testing.T) {
	for name, tt := range map[string]struct {
		s    snapshot.Snapshot
		want bool
	}{
		"nothing":               {snapshot.Snapshot{}, false},
		"off":                   {snapshot.Snapshot{CNI: &snapshot.CNI{Env: map[string]string{"ENABLE_POD_ENI": "false"}}}, false},
		"on":                    {snapshot.Snapshot{CNI: &snapshot.CNI{Env: map[string]string{"ENABLE_POD_ENI": "true"}}}, true},
		"a node carries some":   {snapshot.Snapshot{Nodes: []snapshot.Node{{}, {Branches: 9}}}, true},
		"a pod waits on a node": {snapshot.Snapshot{BranchWaits: []snapshot.BranchWait{{Pod: "a/b"}}}, true},
		"a pod asks for one":    {snapshot.Snapshot{WaitingPods: []snapshot.WaitingPod{{Requests: []snapshot.Amounts{{"vpc.amazonaws.com/pod-eni": "1"}}}}}, true},
		"a pod asks for CPU":    {snapshot.Snapshot{WaitingPods: []snapshot.WaitingPod{{Requests: []snapshot.Amounts{{"cpu": "1"}}}}}, false},
	} {
		if got := branching(&tt.s); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}
