package enicleanup

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"rollcall/shared/network/leak"
	"rollcall/shared/remedy/call"
	"rollcall/shared/snapshot"
)

// job is one interface to delete, or in a dry run to ask for.
type job struct {
	leak.Verdict
	dry bool
}

// fresh is how long a look at an interface counts: what was described longer
// ago is described again before it is deleted.
const fresh = time.Minute

// act deletes what is planned, some at a time, until all is done or the time
// is over. What it did not come to, the next run does.
func (v *visit) act(ctx context.Context) error {
	var queue []job
	for _, x := range v.plan.Delete {
		queue = append(queue, job{Verdict: x})
	}
	for _, x := range v.plan.Ask {
		queue = append(queue, job{x, true})
	}
	if len(queue) == 0 {
		return nil
	}
	pace, err := v.paced(ctx, v.homes[0].Account)
	if err != nil {
		return fmt.Errorf("read the pace of deletes: %w", err)
	}
	for len(queue) > 0 && v.work.Err() == nil && err == nil {
		n := min(pace.batch(), len(queue))
		var again []job
		again, err = v.some(ctx, pace, queue[:n])
		queue = slices.Concat(again, queue[n:])
	}
	for _, j := range queue {
		v.leave(j)
	}
	return err
}

// leave notes an interface that this run does not come to.
func (v *visit) leave(j job) { v.undone[v.clusterOf(j.Verdict)]++ }

// some describes some interfaces again and deletes those that are as they
// were. It gives back those that are to be described once more.
func (v *visit) some(ctx context.Context, pace *pacer, jobs []job) (again []job, _ error) {
	described := v.Now()
	ids := make([]string, len(jobs))
	for i, j := range jobs {
		ids[i] = j.Interface.ID
	}
	list, failed := v.reader.InterfacesByID(ctx, ids)
	if failed != nil {
		return jobs, fmt.Errorf("describe %d interfaces again: %s %s: %s", len(jobs), failed.Call, failed.Reason, failed.Message)
	}
	now := map[string]*snapshot.Interface{}
	for i := range list {
		now[list[i].ID] = &list[i]
	}
	b := &batch{visit: v, pace: pace, until: described.Add(fresh)}
	var g errgroup.Group
	g.SetLimit(parallel)
	for i, j := range jobs {
		if why := leak.Confirm(now[j.Interface.ID], j.Verdict); why != leak.Leaked {
			v.Log.InfoContext(ctx, "not deleted: it is another now", "interface", j.Interface.ID, "why", string(why))
			v.Count("RaceLost", 1)
			continue
		}
		if b.halted(j) {
			continue
		}
		if !v.Now().Before(b.until) || b.broken() || pace.wait(v.work) != nil {
			b.back(jobs[i:]...)
			break
		}
		g.Go(func() error {
			if !v.Now().Before(b.until) {
				pace.note((*leak.Pace).Give)
				b.back(j)
				return nil
			}
			b.do(ctx, j)
			return nil
		})
	}
	_ = g.Wait() // each says what went wrong in b
	if err := v.finish(ctx, b.done); err != nil {
		return b.again, err
	}
	return b.again, b.err
}

// batch is what comes of some deletes at the same time.
type batch struct {
	*visit
	pace *pacer
	// until is how long what was described counts.
	until time.Time

	mu    sync.Mutex
	done  []finished
	again []job
	err   error
}

func (b *batch) back(jobs ...job) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.again = append(b.again, jobs...)
}

func (b *batch) finished(s leak.Sighting, a leak.Audit) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done = append(b.done, finished{s, a})
	b.did[a.Cluster] = true
}

func (b *batch) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.err = err
	}
}

func (b *batch) broken() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err != nil
}

// final tells an answer that the next delete of the run would have too.
func final(o call.Outcome) bool { return o == call.Denied || o == call.NoRole }

// halted tells that EC2 has denied deletes for the cluster in this run, and
// leaves the interface: EC2 would deny it too.
func (b *batch) halted(j job) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !final(b.failed[b.clusterOf(j.Verdict)].Outcome) {
		return false
	}
	b.leave(j)
	return true
}
