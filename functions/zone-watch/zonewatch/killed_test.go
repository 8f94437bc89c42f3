package zonewatch

import (
	"testing"

	"rollcall/functions/zone-watch/spec"
	"rollcall/local/stage/stagetest"
)

// TestKilledAtEachWrite: what it finds is told, and report makes one incident of
// it, wherever the function ends.
func TestKilledAtEachWrite(t *testing.T) {
	stagetest.KilledAtEachWrite(t, []string{"SendMessage"}, func(t *testing.T, k *stagetest.Kill) any {
		b := stagetest.Start(t, spec.Spec(), Build, stagetest.Options{Kill: k, Over: volumes(stagetest.Cluster, longAgo())})
		k.Invoke(b.Sweep())
		told := b.Concluded(b.Observations())
		if len(told) != 1 {
			t.Errorf("told is %v, want one incident", told)
		}
		return map[string]any{"records": b.Kept(), "told": told}
	})
}
