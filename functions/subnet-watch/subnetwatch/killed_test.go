package subnetwatch

import (
	"testing"
	"time"

	"rollcall/functions/subnet-watch/spec"
	"rollcall/local/stage/stagetest"
)

// TestKilledAtEachWrite: what subnets have is recorded, the hours that are over
// are added up once, and report is told, wherever the function ends.
func TestKilledAtEachWrite(t *testing.T) {
	stagetest.KilledAtEachWrite(t, []string{"PutItem", "SendMessage"}, func(t *testing.T, k *stagetest.Kill) any {
		b := stagetest.Start(t, spec.Spec(), Build, stagetest.Options{Kill: k})
		if _, err := b.Handle(b.Sweep()); err != nil {
			t.Fatal(err)
		}
		b.Observations()
		b.Advance(65 * time.Minute)
		k.Invoke(b.Sweep())
		list := b.Observations()
		return map[string]any{"records": b.Kept(), "told": len(list) > 0, "concluded": b.Concluded(list)}
	})
}
