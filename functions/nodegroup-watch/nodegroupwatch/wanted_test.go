package nodegroupwatch

import (
	"testing"

	"rollcall/local/stage/stagetest"
)

// TestWanted: who wants a cause to be looked at gets a sweep of that cluster now.
func TestWanted(t *testing.T) {
	b := bench(t, healthy)
	b.degrade(stagetest.Nodegroup, "DEGRADED", "AccessDenied")
	if _, err := b.Handle(b.Wanted(stagetest.Cluster, "nodegroup/degraded", stagetest.Nodegroup)); err != nil {
		t.Fatal(err)
	}
	if o := b.Observation(); !o.Sweep || len(o.Diagnosis.Causes) == 0 {
		t.Errorf("sweep %v, causes %+v", o.Sweep, o.Diagnosis.Causes)
	}
}
