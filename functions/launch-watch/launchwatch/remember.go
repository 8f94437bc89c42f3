package launchwatch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"rollcall/shared/detect"
	"rollcall/shared/node/outcome"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// early is when the roll of a launch is first called, if it is not due before.
// A healthy node is Ready in about a minute: then its outcome is known, an
// incident that waits for it closes, and if it is reclaimed a little later
// nobody takes it for one that never joined.
const early = time.Minute

// step is what a reminder is rounded up to: a burst is one message, not one for
// each launch.
const step = 5 * time.Second

// writers bounds the writes at once: a burst of a thousand launches is recorded
// in some seconds, and the table is not flooded.
const writers = 16

// remember records the launches that nobody has recorded, and asks for their
// roll to be called.
func (h handler) remember(ctx context.Context, s *snapshot.Snapshot, c clusterCase, launches []report.Launch, learned detect.Learned) error {
	var (
		mu       sync.Mutex
		recorded = map[time.Duration][]string{} // by when to look again
		g        errgroup.Group
	)
	g.SetLimit(writers)
	for i, l := range launches {
		if l.Status.Final() {
			continue // join-check records how it ended: it sees whether it had been a node
		}
		if _, known := c.known[l.Instance]; known {
			continue
		}
		g.Go(func() error {
			r := c.record(s.Cluster.Name, c.instances[i], learned)
			detect.Had(s, &r)
			created, err := h.launches.CreateLaunch(ctx, r)
			if err != nil {
				return fmt.Errorf("record the launch of %s: %w", l.Instance, err)
			}
			if created {
				mu.Lock()
				defer mu.Unlock()
				delay := min(r.Due.Sub(s.Time)+step-1, early).Truncate(step)
				recorded[delay] = append(recorded[delay], l.Instance)
			}
			return nil
		})
	}
	failed := g.Wait()
	// Those that were recorded are asked for even when others could not be:
	// their messages come again and will find them known.
	n := 0
	for _, delay := range slices.Sorted(maps.Keys(recorded)) {
		ids := recorded[delay]
		slices.Sort(ids)
		if err := h.send.LookAgain(ctx, ids, s.Time, delay); err != nil {
			return errors.Join(failed, err)
		}
		n += len(ids)
	}
	h.count("Launches", n)
	return failed
}

// remind asks once more for launches that are recorded, were never called, and
// whose message comes again: the run that recorded them may have ended before it
// asked. Who is called twice is recorded once.
func (h handler) remind(ctx context.Context, b *batch) error {
	var ids []string
	for _, id := range sortedKeys(b.launched) {
		if l, known := b.known[id]; known && b.launched[id].again && l.Standing == outcome.Waiting && l.Looks == 0 {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return h.send.LookAgain(ctx, ids, h.now(), early)
}

// refused records the launches that came to nothing, each once: by its
// activity, or as the end of the instance that it names. Of an instance that
// nobody has recorded the roll call tells.
func (h handler) refused(ctx context.Context, s *snapshot.Snapshot, c clusterCase, learned detect.Learned) error {
	for _, a := range c.told {
		i := slices.IndexFunc(c.groups, func(g snapshot.Group) bool { return g.Name == a.Group })
		if i < 0 {
			continue
		}
		l, ok := detect.Refused(s.Cluster.Name, c.groups[i], a, learned.Allow(detect.NodegroupOfGroup(c.groups[i])))
		if !ok {
			continue
		}
		if l.Instance != "" {
			if have, known := c.known[l.Instance]; known {
				if err := h.learn(ctx, have, l.Known()); err != nil {
					return err
				}
			}
			continue
		}
		detect.Had(s, &l)
		if _, err := h.launches.CreateLaunch(ctx, l); err != nil {
			return fmt.Errorf("record the refused launch %s: %w", l.Activity, err)
		}
	}
	return nil
}
