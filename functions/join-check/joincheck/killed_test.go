package joincheck

import (
	"testing"
	"time"

	"rollcall/functions/join-check/spec"
	"rollcall/local/stage/stagetest"
)

// TestKilledAtEachWrite: the outcome of a launch is recorded and told, what it
// teaches is learned, and one that is not due is looked at again, wherever the
// function ends.
func TestKilledAtEachWrite(t *testing.T) {
	for name, test := range map[string]struct {
		options stagetest.Options
		after   time.Duration
		asks    bool // to be called again
	}{
		"missed":  {stagetest.Options{}, 5 * time.Minute, false},
		"joined":  {healthy, 2 * time.Minute, false},
		"waiting": {stagetest.Options{Settings: map[string]string{"ROLLCALL_JOIN_TIME": "15m"}}, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stagetest.KilledAtEachWrite(t, []string{"PutItem", "SendMessage"}, func(t *testing.T, k *stagetest.Kill) any {
				o := test.options
				o.Kill = k
				b := stagetest.Start(t, spec.Spec(), Build, o)
				b.Scale(1)
				news := b.News(0)
				b.Advance(test.after)
				k.Invoke(stagetest.Batch(news[0]))
				if asked := len(b.Reminders()) > 0; asked != test.asks {
					t.Errorf("it is called again: %v, want %v", asked, test.asks)
				}
				return map[string]any{"records": b.Kept(), "told": b.Concluded(b.Observations())}
			})
		})
	}
}
