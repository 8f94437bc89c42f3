package lambdaruntime

import (
	"context"
	"fmt"
	"time"
)

// settleWait bounds how long an answer is held back for a process that is
// slow to ask for its next event.
const settleWait = 100 * time.Millisecond

// invoke runs one attempt.
func (r *Runtime) invoke(ctx context.Context, f *function, id string, event []byte) (Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.ctx, cancel)()
	select {
	case f.slots <- struct{}{}:
	case <-ctx.Done():
		return Result{}, fmt.Errorf("invoke %q: %w", f.Name, ctx.Err())
	}
	e := f.idle()
	var started time.Duration
	if e == nil {
		var failed *outcome
		var err error
		e, started, failed, err = r.start(ctx, f, id)
		if err != nil || failed != nil {
			<-f.slots
			if err != nil {
				return Result{}, fmt.Errorf("invoke %q: %w", f.Name, err)
			}
			res := Result{RequestID: id, Payload: failed.payload, FunctionError: "Unhandled", Init: started, MaxMemoryMB: -1}
			r.report(f, res)
			return res, nil
		}
	}
	res, err := r.run(ctx, f, e, id, event)
	res.Init = started
	// Others get the slot when the process has asked for its next event or
	// has ended. The caller waits a little for that, most often less than a
	// millisecond, so that calls one after the other find the process free.
	settled := make(chan struct{})
	r.tasks.Add(1)
	go func() {
		defer r.tasks.Done()
		defer close(settled)
		if e.settle(r.ctx, f.Timeout) {
			f.giveBack(e)
		} else {
			f.forget(e)
		}
		<-f.slots
	}()
	timer := time.NewTimer(settleWait)
	defer timer.Stop()
	select {
	case <-settled:
	case <-timer.C:
	}
	if err != nil {
		return Result{}, fmt.Errorf("invoke %q: %w", f.Name, err)
	}
	r.report(f, res)
	return res, nil
}
