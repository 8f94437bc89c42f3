package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// look has each detector look at a cluster, one after the other. What happens to one does
// not keep the others from looking, and who failed is told; a panic is passed on when all have: the process is
// not to be trusted any more.
func (h handler) look(ctx context.Context, list []watch, cluster string, turn json.RawMessage) (failed []string, _ error) {
	var errs []error
	var panicked any
	for i, w := range list {
		ctx, cancel := share(ctx, len(list)-i)
		p, err := guarded(ctx, w, turn)
		cancel()
		if p != nil && panicked == nil {
			panicked = fmt.Sprintf("%s: %v", w.by, p)
		}
		if err != nil {
			h.Log.ErrorContext(ctx, "a look failed, the others go on", "by", w.by, "cluster", cluster, "error", err.Error())
			failed = append(failed, w.by)
			errs = append(errs, fmt.Errorf("%s: %w", w.by, err))
		}
	}
	if panicked != nil {
		panic(panicked)
	}
	if len(errs) == 0 {
		h.Count("SweptClusters", 1)
	}
	return failed, errors.Join(errs...)
}

// guarded gives a detector the cluster's turn.
func guarded(ctx context.Context, w watch, turn json.RawMessage) (panicked any, err error) {
	defer func() {
		if panicked = recover(); panicked != nil {
			err = fmt.Errorf("panic: %v\n%s", panicked, debug.Stack())
		}
	}()
	_, err = w.run(ctx, turn)
	return nil, err
}

// share is an equal part of the time that is left, for one of those who still have to
// look: who hangs takes nothing of the others'.
func share(ctx context.Context, of int) (context.Context, context.CancelFunc) {
	deadline, ends := ctx.Deadline()
	if !ends {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(deadline)/time.Duration(of))
}
