package launchwatch

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"rollcall/shared/detect"
	"rollcall/shared/node/outcome"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"

	"golang.org/x/sync/errgroup"
)

// record records the launches that nobody has recorded, and asks for their
// roll to be called: who is known is not looked at again. Those that were
// recorded are asked for even when others could not be: their messages come
// again and will find them known.
func (h handler) record(ctx context.Context, s *snapshot.Snapshot, c clusterCase, launches []report.Launch, learned detect.Learned) error {
	var reminders detect.Reminders
	var g errgroup.Group
	g.SetLimit(detect.Writers)
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
				reminders.Add(l.Instance, r.Due, s.Time)
			}
			return nil
		})
	}
	failed := g.Wait()
	asked, err := reminders.Send(ctx, h.remind, s.Time)
	h.Count("Launches", asked)
	return errors.Join(failed, err)
}

// remindAgain asks once more for launches that are recorded, were never called, and
// whose message comes again: the run that recorded them may have ended before it
// asked. Who is called twice is recorded once.
func (h handler) remindAgain(ctx context.Context, b *batch) error {
	var ids []string
	for _, id := range sortedKeys(b.launched) {
		if l, known := b.known[id]; known && b.launched[id].again && l.Status == outcome.Waiting && l.Looks == 0 {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return h.remind.LookAgain(ctx, ids, h.Now(), detect.Soon)
}

// recordRefused records the launches that came to nothing, each once: by its
// activity, or as the end of the instance that it names. Of an instance that
// nobody has recorded the roll call tells.
func (h handler) recordRefused(ctx context.Context, s *snapshot.Snapshot, c clusterCase, learned detect.Learned) error {
	for _, a := range c.told {
		i := slices.IndexFunc(c.groups, func(g snapshot.Group) bool { return g.Name == a.Group })
		if i < 0 {
			continue
		}
		l, ok := detect.Refused(s.Cluster.Name, c.groups[i], a, learned.Allow(c.groups[i].Owner()))
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
