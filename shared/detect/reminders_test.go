package detect

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// asked keeps what it is asked for, until it breaks.
type asked struct {
	list  []string
	after int
}

func (a *asked) LookAgain(_ context.Context, instances []string, _ time.Time, delay time.Duration) error {
	if len(a.list) == a.after {
		return errors.New("down")
	}
	a.list = append(a.list, fmt.Sprintf("%s %v", delay, instances))
	return nil
}

// TestReminders: a burst is one message, and who is due sooner is called sooner.
func TestReminders(t *testing.T) {
	var r Reminders
	for id, due := range map[string]time.Duration{"i-2": time.Hour, "i-1": 61 * time.Second, "i-3": 12 * time.Second, "i-4": -time.Second} {
		r.Add(id, began.Add(due), began)
	}
	to := &asked{after: 9}
	n, err := r.Send(t.Context(), to, began)
	if diff := cmp.Diff([]string{"0s [i-4]", "15s [i-3]", "1m0s [i-1 i-2]"}, to.list); diff != "" || n != 4 || err != nil {
		t.Errorf("%d, %v, asked (-want +got):\n%s", n, err, diff)
	}
	if n, err := r.Send(t.Context(), &asked{after: 2}, began); n != 2 || err == nil {
		t.Errorf("%d, %v; want the two that were asked for, and the error", n, err)
	}
}
