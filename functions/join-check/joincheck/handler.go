// Package joincheck calls the roll: which launches have become Ready nodes, which
// have not, and why.
package joincheck

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"rollcall/shared/detect"
	"rollcall/shared/event"
	"rollcall/shared/node/outcome"
)

// handle takes a batch of launches whose time has come, a cluster's turn to be swept,
// or the wish that it be looked at now.
func (h handler) handle(ctx context.Context, raw json.RawMessage) (any, error) {
	if messages, ok := event.Batch(raw); ok {
		return h.batch(ctx, messages)
	}
	t, err := event.Parse(raw)
	if err != nil {
		return nil, err
	}
	sweep := func(ctx context.Context, cluster string) error { return h.sweep(ctx, cluster, t.Account) }
	switch t.Kind {
	case event.ClusterSweep, event.CheckWanted:
		return nil, h.One(ctx, t.Cluster, sweep)
	}
	return nil, fmt.Errorf("join-check is woken by its queue, by sweeps and by wishes, not by %s", t.Type)
}

// batch calls the roll of the launches in the messages.
func (h handler) batch(ctx context.Context, messages []event.Message) (any, error) {
	b := h.sort(messages)
	if len(b.launched) == 0 {
		return event.Failures(b.failed), nil
	}
	ids := slices.Sorted(maps.Keys(b.launched))
	known, err := h.launches.GetLaunches(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("look up %d launches: %w", len(ids), err)
	}
	// One that was called and missed it is the sweep's from then on: the other
	// events of the same launch come a little later, and bring no news.
	ids = slices.DeleteFunc(ids, func(id string) bool {
		return known[id].Status.Final() || known[id].Status == outcome.Missed
	})
	if len(ids) == 0 {
		return event.Failures(b.failed), nil
	}
	instances, failed := h.reader.Find(ctx, ids, nil)
	if failed != nil {
		return nil, fmt.Errorf("find the launched instances: %s %s: %s", failed.Call, failed.Reason, failed.Message)
	}
	groups, groupsFailed := h.reader.Groups(ctx, detect.GroupsOf(instances))
	a := detect.Assign(instances, detect.Evidence{Groups: groups, GroupsUnread: groupsFailed != nil, Recorded: known, Watches: h.Watches})
	h.Count("ForeignInstances", len(a.Foreign))
	h.Count("WarmPoolInstances", len(a.Warm))
	h.unsure(&b, a.Unsure)
	learned := map[string]detect.Learned{}
	for _, cluster := range a.Names() {
		learned[cluster] = h.Learn(ctx, h.memory, cluster, h.joinTime)
	}
	rolls, unknown := b.rolls(a, known, ids, learned)
	if len(unknown) > 0 {
		h.Log.WarnContext(ctx, "EC2 does not describe these instances, and no launch of theirs is recorded", "instances", unknown)
		h.Count("UnknownInstances", len(unknown))
	}
	for _, name := range slices.Sorted(maps.Keys(rolls)) {
		r := rolls[name]
		r.groups, r.failed = groups, detect.Failures(groupsFailed)
		if r.incidents, err = h.launches.Incidents(ctx, name); err != nil {
			return nil, fmt.Errorf("read the incidents of cluster %s: %w", name, err)
		}
		if err := h.call(ctx, name, r); err != nil {
			return nil, fmt.Errorf("call the roll of cluster %s: %w", name, err)
		}
	}
	return event.Failures(b.failed), nil
}
