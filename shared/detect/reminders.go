package detect

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// Soon is how soon the roll of a launch is called that is not due yet. A healthy
// node is Ready in about a minute, most within two: the sooner its outcome is
// known, the sooner an incident that waits for it has its proof, the fewer end
// unseen, and if it is reclaimed a little later nobody takes it for one that
// never joined.
const Soon = time.Minute

// step is what a reminder is rounded up to: a burst is one message, not one for
// each launch.
const step = 5 * time.Second

// Reminder asks for the roll of launches to be called.
type Reminder interface {
	LookAgain(ctx context.Context, instances []string, now time.Time, delay time.Duration) error
}

// Reminders are the launches of one look whose roll is to be called: soon, or
// when they are due if that is sooner. Several goroutines may add to it.
type Reminders struct {
	mu    sync.Mutex
	after map[time.Duration][]string
}

// Add adds a launch.
func (r *Reminders) Add(instance string, due, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.after == nil {
		r.after = map[time.Duration][]string{}
	}
	delay := min(due.Sub(now)+step-1, Soon).Truncate(step)
	r.after[delay] = append(r.after[delay], instance)
}

// Send asks for all of them, and tells of how many it could.
func (r *Reminders) Send(ctx context.Context, to Reminder, now time.Time) (asked int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, delay := range slices.Sorted(maps.Keys(r.after)) {
		ids := slices.Sorted(slices.Values(r.after[delay]))
		if err := to.LookAgain(ctx, ids, now, delay); err != nil {
			return asked, err
		}
		asked += len(ids)
	}
	return asked, nil
}
