package launchwatch

import (
	"testing"

	"rollcall/functions/launch-watch/spec"
	"rollcall/local/stage/stagetest"
)

// TestKilledAtEachWrite: of a burst each launch is recorded, report is told why it
// will not join, and join-check is asked to look at it, wherever the function
// ends. What is told or asked twice is one to whoever gets it.
func TestKilledAtEachWrite(t *testing.T) {
	stagetest.KilledAtEachWrite(t, []string{"PutItem", "SendMessage"}, func(t *testing.T, k *stagetest.Kill) any {
		b := stagetest.Start(t, spec.Spec(), Build, stagetest.Options{Kill: k})
		b.Scale(2)
		k.Invoke(stagetest.Batch(b.News(0)...))
		asked := []string{}
		for id := range b.Reminders() {
			asked = append(asked, id)
		}
		return map[string]any{"records": b.Kept(), "told": b.Concluded(b.Observations()), "asked": len(asked)}
	})
}
