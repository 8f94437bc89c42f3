package nodegroupwatch

import (
	"testing"
	"time"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/node/outcome"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
)

// TestForgottenInstance: EC2 forgets an instance an hour after its end, EKS
// still names it, and the record of its launch explains it.
func TestForgottenInstance(t *testing.T) {
	const id = "i-0ccccccccccccccc1"
	b := bench(t, stagetest.Options{Over: "timeline: []\n"})
	started := b.Now().Add(-3 * time.Hour)
	if _, err := b.Store.CreateLaunch(t.Context(), store.LaunchRecord{
		Launch:  outcome.Launch{Instance: id, Nodegroup: stagetest.Nodegroup, Subnet: stagetest.Subnet, Zone: "us-west-2a", Type: "m5.large", Started: started, Status: outcome.Gone},
		Cluster: stagetest.Cluster,
		Due:     started.Add(5 * time.Minute),
		Machine: &store.Machine{VPC: "vpc-0a1b2c3d4e5f60718", Tags: map[string]string{"eks:nodegroup-name": stagetest.Nodegroup, "eks:cluster-name": stagetest.Cluster}},
	}); err != nil {
		t.Fatal(err)
	}
	b.degrade(stagetest.Nodegroup, "DEGRADED", "NodeCreationFailure", id)
	o := sweep(t, b)
	if causes := stagetest.Causes(o); causes["route/no-egress"] != stagetest.Table || causes["nodegroup/health"] != "" {
		t.Errorf("causes %v, want the route, and what EKS says behind it", causes)
	}
	if len(o.Launches) != 1 || o.Launches[0].Instance != id || o.Launches[0].Status != outcome.Gone {
		t.Errorf("launches %+v, want the one that is remembered, as it is remembered", o.Launches)
	}
}

// TestNobodyKnowsIt: of an instance that neither EC2 nor a record knows only
// EKS's word is left.
func TestNobodyKnowsIt(t *testing.T) {
	b := bench(t, healthy)
	b.degrade("new_nodegroup_2", "CREATE_FAILED", "NodeCreationFailure", "i-0ccccccccccccccc9")
	if causes := stagetest.Causes(sweep(t, b)); causes["nodegroup/health"] != "new_nodegroup_2" || len(causes) != 1 {
		t.Errorf("causes %v, want what EKS says, once", causes)
	}
}

// TestTroubled: what is looked at more closely.
func TestTroubled(t *testing.T) {
	for name, test := range map[string]struct {
		s    snapshot.Snapshot
		want bool
	}{
		"well":               {snapshot.Snapshot{Nodegroups: []snapshot.Nodegroup{{Status: "ACTIVE"}}, Addons: []snapshot.Addon{{Status: "ACTIVE"}}}, false},
		"an issue":           {snapshot.Snapshot{Nodegroups: []snapshot.Nodegroup{{Status: "ACTIVE", Issues: []snapshot.Issue{{Code: "x"}}}}}, true},
		"a status":           {snapshot.Snapshot{Nodegroups: []snapshot.Nodegroup{{Status: "CREATE_FAILED"}}}, true},
		"an update that is":  {snapshot.Snapshot{Nodegroups: []snapshot.Nodegroup{{Status: "ACTIVE", Updates: []snapshot.Update{{Status: "Failed", Errors: []snapshot.Issue{{Code: "x"}}}}}}}, true},
		"an update that was": {snapshot.Snapshot{Nodegroups: []snapshot.Nodegroup{{Status: "ACTIVE", Updates: []snapshot.Update{{Status: "Successful"}, {Status: "Failed", Errors: []snapshot.Issue{{Code: "x"}}}}}}}, false},
		"an add-on":          {snapshot.Snapshot{Addons: []snapshot.Addon{{Status: "DEGRADED"}}}, true},
	} {
		if got := troubled(&test.s).any(); got != test.want {
			t.Errorf("%s: %t, want %t", name, got, test.want)
		}
	}
}
