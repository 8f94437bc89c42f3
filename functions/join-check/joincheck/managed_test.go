package joincheck

import (
	"slices"
	"testing"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/node/outcome"
)

// autoNode is EKS Auto Mode's instance in the corpus: EC2's lists hide it, and
// no Auto Scaling group has it.
const autoNode = "i-0a070000000000001"

// TestAnAutoModeInstanceIsDiagnosed as any other: it is found by its cluster's
// tag, and the route that its subnet lacks is named.
func TestAnAutoModeInstanceIsDiagnosed(t *testing.T) {
	b := bench(t, stagetest.Options{World: "corpus/route-no-egress-auto-mode.yaml"})
	o := sweep(t, b)
	if len(o.Launches) != 1 || o.Launches[0].Instance != autoNode || o.Launches[0].Status != outcome.Missed {
		t.Fatalf("launches %+v, want that %s missed the roll", o.Launches, autoNode)
	}
	if got := stagetest.Causes(o)["route/no-egress"]; got != stagetest.Table {
		t.Errorf("causes %v, want %s", stagetest.Causes(o), stagetest.Table)
	}
	for _, c := range o.Diagnosis.Causes {
		if c.Check == "route/no-egress" && !slices.Contains(c.Instances, autoNode) {
			t.Errorf("the cause names %v, want %s", c.Instances, autoNode)
		}
	}
}

// TestAnAutoModeNodeHasJoined: nothing is said of one that is well.
func TestAnAutoModeNodeHasJoined(t *testing.T) {
	b := bench(t, stagetest.Options{World: "corpus/route-no-egress-auto-mode-healthy.yaml"})
	if o := sweep(t, b); len(stagetest.Causes(o)) > 0 || len(o.Blind) > 0 {
		t.Errorf("causes %v, blind %+v, launches %+v", stagetest.Causes(o), o.Blind, o.Launches)
	}
}
