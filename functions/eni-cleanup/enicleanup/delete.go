package enicleanup

import (
	"context"
	"errors"
	"fmt"

	"rollcall/shared/network/leak"
	"rollcall/shared/remedy/call"
	"rollcall/shared/store"
)

// do deletes one interface, or asks for it: its turn has come.
func (b *batch) do(ctx context.Context, j job) {
	s := b.sighting(j)
	draft := leak.Draft(j.Verdict, s, b.id, b.Now())
	home := b.home(j.Cluster)
	draft.Cluster, draft.Account, draft.Region, draft.Partition = home.Cluster.Name, home.Account, home.Region, home.Partition
	if j.dry {
		// One record for each interface and day.
		draft.At = midnight(draft.At)
		b.conclude(ctx, j, s, draft, b.ask(ctx, j))
		return
	}
	// Written ahead, and over the version that was read: a run that ends in the
	// middle is found out, and of two runs one alone goes on.
	s.Deleting = &draft
	s, err := b.memory.SaveSighting(ctx, b.vpc, s)
	if err != nil {
		b.pace.note((*leak.Pace).Give)
		var taken *store.Conflict
		if errors.As(err, &taken) {
			b.Count("RaceLost", 1)
			return
		}
		b.fail(fmt.Errorf("write ahead that %s is deleted: %w", j.Interface.ID, err))
		b.back(j)
		return
	}
	b.conclude(ctx, j, s, draft, b.ask(ctx, j))
}

func (b *batch) sighting(j job) leak.Sighting {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.sightings[j.Interface.ID]
}

// ask sends the request, again and again as long as EC2 is asked too much.
func (b *batch) ask(ctx context.Context, j job) call.Answer {
	for {
		sent := b.Now()
		a := b.delete.DeleteNetworkInterface(ctx, j.Interface.ID, j.dry)
		switch a.Outcome {
		case call.Throttled:
			b.Count("Throttled", 1)
			b.pace.note(func(p *leak.Pace) { p.Throttled(sent, b.Now()) })
			if b.pace.wait(b.work) != nil {
				return a
			}
			if !b.Now().Before(b.until) {
				b.pace.note((*leak.Pace).Give)
				return a
			}
			continue
		case call.Uncertain:
			b.pace.note((*leak.Pace).Lost)
		default:
			b.pace.note((*leak.Pace).Went)
		}
		return a
	}
}

// conclude goes by EC2's answer.
func (b *batch) conclude(ctx context.Context, j job, s leak.Sighting, draft leak.Audit, a call.Answer) {
	draft.Request = a.Request
	log := b.Log.With("cluster", draft.Cluster, "interface", draft.Interface, "subnet", draft.Subnet, "owner", draft.Owner)
	switch a.Outcome {
	case call.Done:
		log.InfoContext(ctx, "deleted", "addresses", draft.Addresses(), "ec2Request", a.Request)
		draft.Result = leak.Deleted
		b.finished(s, draft)
	case call.WouldDo:
		log.InfoContext(ctx, "would be deleted", "addresses", draft.Addresses())
		draft.Result = leak.WouldDelete
		b.finished(s, draft)
	case call.InUse, call.NotThere:
		log.InfoContext(ctx, "not deleted: somebody else was faster", "why", a.Outcome)
		b.Count("RaceLost", 1)
		if j.dry {
			return
		}
		draft.Result = leak.LostInUse
		if a.Outcome == call.NotThere {
			draft.Result = leak.LostGone
		}
		b.finished(s, draft)
	case call.Throttled:
		b.takeBack(ctx, j, s, true)
	case call.Denied, call.Refused, call.NoRole:
		log.ErrorContext(ctx, "EC2 does not delete it", "call", deleteCall, "outcome", a.Outcome, "code", a.Code, "message", a.Message)
		b.Count("DeletesRefused", 1)
		b.mu.Lock()
		if !final(b.failed[draft.Cluster].Outcome) {
			b.failed[draft.Cluster] = a
		}
		b.leave(j)
		b.mu.Unlock()
		b.takeBack(ctx, j, s, false)
	default:
		// It may have been done: what was written ahead stays, and the next run
		// finds out.
		log.WarnContext(ctx, "EC2 gave no answer to a delete", "code", a.Code, "message", a.Message)
		b.Count("DeletesUncertain", 1)
		b.mu.Lock()
		b.leave(j)
		b.mu.Unlock()
	}
}

// takeBack drops what was written ahead of a delete that is sure not to have
// been done. Where that fails, the next run does it.
func (b *batch) takeBack(ctx context.Context, j job, s leak.Sighting, again bool) {
	if !j.dry {
		s.Deleting = nil
		saved, err := b.memory.SaveSighting(ctx, b.vpc, s)
		if err != nil {
			b.fail(fmt.Errorf("take back that %s is deleted: %w", j.Interface.ID, err))
			return
		}
		b.mu.Lock()
		b.sightings[j.Interface.ID] = saved
		b.mu.Unlock()
	}
	if again {
		b.back(j)
	}
}
