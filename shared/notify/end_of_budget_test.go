package notify

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/notify/notifytest"
	"rollcall/shared/outbox"
)

// hurried is a bus that answers in time, or says that the time is over.
type hurried struct {
	notifytest.Bus
	takes time.Duration
}

func (h *hurried) Tell(ctx context.Context, events []incident.Event) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(h.takes):
		return h.Bus.Tell(ctx, events)
	}
}

// What Slack's slow answers left no time for waits in the record, as what Slack
// was not told does: it is no error of the function, which would bring back the
// results of all clusters of the batch. A bus that does not answer is tried again by
// report's own clock.
func TestBusAtTheEndOfTheTurn(t *testing.T) {
	for name, test := range map[string]struct {
		left, takes time.Duration
		told, wrong bool
	}{
		"time enough":        {20 * time.Second, 50 * time.Millisecond, true, false},
		"hardly any time":    {500 * time.Millisecond, 50 * time.Millisecond, false, false},
		"no time":            {-time.Second, 50 * time.Millisecond, false, false},
		"it does not answer": {20 * time.Second, time.Hour, false, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), test.left)
			defer cancel()
			c := Cluster{Invocation: Notifier{Bus: &hurried{takes: test.takes}, Now: time.Now, Log: slog.New(slog.DiscardHandler), Count: func(string, int) {}}.Begin(), wanted: map[outbox.Target]bool{}}
			o := outgoing{inc: incident.Incident{PendingEvents: []incident.Event{{ID: "opened"}}}}
			told := c.tellBus(ctx, &o)
			if wrong := len(c.record.Refusals) > 0; told != test.told || wrong != test.wrong || (len(o.inc.PendingEvents) == 0) != test.told {
				t.Errorf("%s: told %t, wrong %t, %d events left", name, told, wrong, len(o.inc.PendingEvents))
			}
		})
	}
}
