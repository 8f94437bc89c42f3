// Package sweep gives each cluster its turn in a tick: all detectors look at it, one
// after the other, and read once what they have in common.
package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"rollcall/functions/sweep/spec"
	"rollcall/shared/backoff"
	"rollcall/shared/bus"
	"rollcall/shared/detect"
	"rollcall/shared/event"
	"rollcall/shared/gather"
	"rollcall/shared/lambda"
	"rollcall/shared/overview"
	"rollcall/shared/store"
)

// Memory is what is remembered of clusters: which do not answer, and when each was last
// looked at.
type Memory interface {
	Backoff(ctx context.Context, cluster string) (backoff.Record, error)
	SaveBackoff(ctx context.Context, r backoff.Record) error
	Sweep(ctx context.Context, cluster string) (overview.Sweep, error)
	SaveSweep(ctx context.Context, s overview.Sweep) error
}

// Sender sends the turns of a tick.
type Sender interface {
	SendSweeps(ctx context.Context, list []bus.Sweep, now time.Time) error
}

var (
	_ Memory       = (*store.Store)(nil)
	_ detect.Known = (*store.Store)(nil)
	_ Sender       = bus.Sweeps{}
)

// watch is a detector's look at a cluster whose turn it is: by is its name.
type watch struct {
	by  string
	run lambda.Handler
}

type handler struct {
	detect.Detector
	known  detect.Known
	memory Memory
	turns  Sender
	naming *naming
	// watches makes the detectors for one turn. What subnet-watch finds of the subnet that
	// runs out of addresses first it tells.
	watches func(account string, c *gather.Contact, soonest func(overview.Subnet)) []watch
}

// handle takes the tick, which comes every five minutes, or the turn of a cluster.
func (h handler) handle(ctx context.Context, raw json.RawMessage) (any, error) {
	if messages, ok := event.Batch(raw); ok {
		var errs []error
		for _, m := range messages {
			errs = append(errs, h.turn(ctx, m))
		}
		return nil, errors.Join(errs...)
	}
	t, err := event.Parse(raw)
	if err != nil {
		return nil, err
	}
	if t.Kind != event.Sweep {
		return nil, fmt.Errorf("sweep is woken by its schedule and its queue, not by %s", t.Type)
	}
	return nil, h.tick(ctx, t)
}

// tick sends each watched cluster its turn.
func (h handler) tick(ctx context.Context, t event.Trigger) error {
	names, err := h.Watched(ctx, t.Account, h.known)
	if err != nil {
		return err
	}
	list := spread(names, phase(h.Spoke), t.Account, h.Region, t.Time, spec.Every)
	if len(list) == 0 {
		return nil
	}
	if err := h.turns.SendSweeps(ctx, list, h.Now()); err != nil {
		return err
	}
	h.Count("Turns", len(list))
	h.alias(ctx)
	return nil
}

// turn looks at a cluster. That it failed is an error, and the message is not worth
// another try: the cluster's next turn comes first.
func (h handler) turn(ctx context.Context, m event.Message) error {
	t, err := event.Parse([]byte(m.Body))
	if err != nil {
		return err
	}
	if t.Kind != event.ClusterSweep {
		return fmt.Errorf("the queue of sweep holds clusters' turns, not %s", t.Type)
	}
	if late(t.Time, h.Now(), spec.Every) {
		h.Log.WarnContext(ctx, "a turn is dropped, as the cluster's next has come", "cluster", t.Cluster, "due", t.Time, "received", m.Received)
		h.Count("LateSweeps", 1)
		return nil
	}
	if !h.Watches(t.Cluster) {
		h.Count("ForeignClusters", 1)
		return nil
	}
	known, err := h.memory.Backoff(ctx, t.Cluster)
	if err != nil {
		h.Log.WarnContext(ctx, "whether the cluster's API answers is not known: it is asked", "cluster", t.Cluster, "error", err.Error())
	}
	contact := gather.NewContact(known.Known(t.Time))
	turn := overview.Turn{}
	turn.Failed, err = h.look(ctx, h.watches(t.Account, contact, func(s overview.Subnet) { turn.Soonest = &s }), t.Cluster, json.RawMessage(m.Body))
	outcome, _ := contact.Outcome()
	turn.At, turn.Silent = h.Now(), outcome == backoff.Silent || outcome == backoff.NotAsked && known.Attempts > 0
	if err := h.note(ctx, t.Cluster, turn); err != nil {
		h.Log.WarnContext(ctx, "that the cluster was looked at could not be written down: /rollcall status will call it late", "cluster", t.Cluster, "error", err.Error())
	}
	return errors.Join(err, h.remember(ctx, known, contact, t.Time))
}

// note adds a turn to those of the cluster. What cannot be read is not written over: the
// next turn is five minutes away, and the looks of a week would be lost.
func (h handler) note(ctx context.Context, cluster string, turn overview.Turn) error {
	before, err := h.memory.Sweep(ctx, cluster)
	if err != nil {
		return err
	}
	return h.memory.SaveSweep(ctx, before.After(turn))
}

// remember keeps whether the cluster's API answered.
func (h handler) remember(ctx context.Context, known backoff.Record, c *gather.Contact, due time.Time) error {
	outcome, silence := c.Outcome()
	next, reason := backoff.After(known, outcome, silence, due, spec.Every)
	switch reason {
	case backoff.Unchanged:
		if outcome == backoff.NotAsked && known.Attempts > 0 {
			h.Log.InfoContext(ctx, "the cluster's API was not asked, as it has not answered", "cluster", known.Cluster, "since", known.Since, "next", known.Next)
		}
		return nil
	case backoff.Recovered:
		h.Log.InfoContext(ctx, "the cluster's API answers again", "cluster", known.Cluster, "since", known.Since)
	default:
		h.Count("SilentClusters", 1)
		h.Log.WarnContext(ctx, "the cluster's API does not answer", "cluster", next.Cluster, "attempts", next.Attempts, "since", next.Since, "next", next.Next, "error", silence.Message)
	}
	err := h.memory.SaveBackoff(ctx, next)
	var other *store.Conflict
	if errors.As(err, &other) {
		return nil // the same turn came twice, and the other one has said so
	}
	return err
}
