package subnetwatch

import (
	"testing"

	"rollcall/functions/subnet-watch/spec"
	"rollcall/local/stage/stagetest"
)

// TestWanted: who wants a cause to be looked at gets a look at that cluster
// now, and at no other.
func TestWanted(t *testing.T) {
	b := stagetest.Start(t, spec.Spec(), Build, stagetest.Options{Settings: map[string]string{"ROLLCALL_CLUSTERS": stagetest.Cluster}})
	leave(b, t, 6, stagetest.Cluster)
	if _, err := b.Handle(b.Wanted("somebody-else", "ip/leaked-interfaces", stagetest.Subnet)); err != nil {
		t.Fatal(err)
	}
	if n := len(b.Calls()); n != 0 {
		t.Errorf("%d kinds of calls for a cluster that is not watched", n)
	}
	if _, err := b.Handle(b.Wanted(stagetest.Cluster, "ip/leaked-interfaces", stagetest.Subnet)); err != nil {
		t.Fatal(err)
	}
	if o := b.Observation(); stagetest.Causes(o)["ip/leaked-interfaces"] != stagetest.Subnet {
		t.Errorf("causes %v", stagetest.Causes(o))
	}
}
