package nodegroupwatch

import (
	"testing"

	"rollcall/local/stage/stagetest"
)

// TestKilledAtEachWrite: that a nodegroup changes is recorded, told to anyone once
// by its id, and followed, wherever the function ends.
func TestKilledAtEachWrite(t *testing.T) {
	stagetest.KilledAtEachWrite(t, []string{"PutEvents", "PutItem", "SendMessage"}, func(t *testing.T, k *stagetest.Kill) any {
		o := healthy
		o.Kill = k
		b := bench(t, o)
		sweep(t, b)
		b.degrade(stagetest.Nodegroup, "UPDATING", "")
		k.Invoke(b.Sweep())
		events := map[string]string{}
		for _, e := range b.NodegroupEvents() {
			events[e.ID] = e.Nodegroup + " " + string(e.Reason)
		}
		reminders, _ := b.NodegroupReminders()
		return stagetest.Timeless(t, map[string]any{
			"followed": len(reminders) > 0, "records": b.Kept(), "told": b.Concluded(b.Observations()), "events": events,
		})
	})
}
