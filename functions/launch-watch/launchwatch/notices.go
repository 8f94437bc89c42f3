package launchwatch

import (
	"context"
	"fmt"
	"slices"

	"rollcall/shared/node/outcome"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
)

// notices takes down what EC2 says beforehand of an instance's end: it tells a
// reclaimed instance from a broken one, and opens nothing by itself. An
// instance that nobody has recorded may be one whose launch is still to be told
// of: it is looked at like a launch.
func (h handler) notices(ctx context.Context, b *batch) error {
	ignored := 0
	for _, id := range sortedKeys(b.noticed) {
		n := b.noticed[id]
		l, known := b.known[id]
		switch {
		case known && l.Status == outcome.Joined && n.latest.Sub(l.Ready) > snapshot.LostWithin:
			ignored++
		case known:
			if err := h.learn(ctx, l, n.facts); err != nil {
				return err
			}
			l.Learn(n.facts)
			b.known[id] = l
		default:
			launched, told := b.launched[id]
			launched.facts = n.facts
			launched.messages = append(launched.messages, n.messages...)
			if !told {
				launched.account, launched.latest, launched.early = n.account, n.latest, true
			}
			b.launched[id] = launched
		}
	}
	h.Count("NoticesIgnored", ignored)
	return nil
}

// ends takes down when launches that are waited for ended: EC2 does not always
// say. Whether one had been a node join-check sees.
func (h handler) ends(ctx context.Context, b *batch) error {
	for _, id := range sortedKeys(b.ended) {
		l, over := b.known[id], outcome.Facts{Over: b.ended[id].latest}
		if err := h.learn(ctx, l, over); err != nil {
			return err
		}
		l.Learn(over)
		b.known[id] = l
	}
	return nil
}

// young sets aside the instances of notices that are no launches any more: old
// nodes that were there before Rollcall, and others' instances.
func (h handler) young(b *batch, found []snapshot.Instance) []snapshot.Instance {
	ignored := 0
	found = slices.DeleteFunc(found, func(in snapshot.Instance) bool {
		if n, ok := b.launched[in.ID]; !ok || !n.early || h.Now().Sub(in.Launched) <= outcome.Longest {
			return false
		}
		delete(b.launched, in.ID)
		ignored++
		return true
	})
	h.Count("NoticesIgnored", ignored)
	return found
}

// lose takes down the ends of nodes that had joined, with EC2's reason, and
// sets the instances aside: nobody waits for them.
func (h handler) lose(ctx context.Context, b *batch, found []snapshot.Instance) ([]snapshot.Instance, error) {
	for _, id := range sortedKeys(b.lost) {
		end := outcome.Facts{Ended: b.lost[id].latest}
		if i := slices.IndexFunc(found, func(in snapshot.Instance) bool { return in.ID == id }); i >= 0 {
			r := found[i].StateReason
			end = outcome.Merge(end, outcome.Facts{Ended: r.When, Reason: outcome.EndReason{Code: r.Code, Message: r.Message}})
			found = slices.Delete(found, i, i+1)
		}
		if err := h.learn(ctx, b.known[id], end); err != nil {
			return nil, err
		}
		h.Count("LostNodes", 1)
	}
	return found, nil
}

// learn adds facts to a record.
func (h handler) learn(ctx context.Context, l store.LaunchRecord, facts outcome.Facts) error {
	if !l.Learn(facts) {
		return nil
	}
	if err := h.SaveLaunch(ctx, h.launches, true, l); err != nil {
		return fmt.Errorf("record what is known of %s: %w", l.ID(), err)
	}
	return nil
}
