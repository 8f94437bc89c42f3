package spotreport

import (
	"testing"

	"rollcall/functions/spot-report/spec"
	"rollcall/local/stage/stagetest"
)

// TestKilledAtEachWrite: what subnets have is recorded, and report is told,
// wherever the function ends.
func TestKilledAtEachWrite(t *testing.T) {
	stagetest.KilledAtEachWrite(t, []string{"PutItem", "SendMessage"}, func(t *testing.T, k *stagetest.Kill) any {
		b := stagetest.Start(t, spec.Spec(), Build, stagetest.Options{Kill: k})
		k.Invoke(b.Sweep())
		list := b.Observations()
		return map[string]any{"records": b.Kept(), "told": len(list) > 0, "concluded": b.Concluded(list)}
	})
}
