package joincheck

import (
	"testing"
	"time"

	"rollcall/local/stage/stagetest"
)

// TestWanted: who wants a cause to be looked at gets a sweep of that cluster
// now, and of no other.
func TestWanted(t *testing.T) {
	b, id, _ := launched(t, stagetest.Options{Settings: map[string]string{"ROLLCALL_CLUSTERS": stagetest.Cluster}})
	b.Advance(6 * time.Minute)
	if _, err := b.Handle(b.Wanted(stagetest.Cluster, "route/no-egress", stagetest.Table)); err != nil {
		t.Fatal(err)
	}
	o := b.Observation()
	if !o.Sweep || len(o.Launches) != 1 || o.Launches[0].Instance != id || stagetest.Causes(o)["route/no-egress"] != stagetest.Table {
		t.Errorf("sweep %v, launches %+v because of %v", o.Sweep, o.Launches, stagetest.Causes(o))
	}
	if _, err := b.Handle(b.Wanted("somebody-else", "route/no-egress", stagetest.Table)); err != nil {
		t.Fatal(err)
	}
	if got := b.Counts()["ForeignClusters"]; got != 1 {
		t.Errorf("%d foreign clusters, want 1", got)
	}
	if n := len(b.Observations()); n != 0 {
		t.Errorf("%d observations of a cluster that is not watched", n)
	}
}
