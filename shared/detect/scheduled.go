package detect

import (
	"context"
	"encoding/json"

	"rollcall/shared/event"
	"rollcall/shared/lambda"
)

// Unscheduled drops the events of a schedule before a function that has none any more:
// the rule of an earlier release may fire while a deployment replaces it, and what it was
// for the function sweep does now.
func Unscheduled(e lambda.Env, next lambda.Handler) lambda.Handler {
	return func(ctx context.Context, raw json.RawMessage) (any, error) {
		if t, err := event.Parse(raw); err == nil && t.Kind == event.Sweep {
			e.Log.InfoContext(ctx, "the schedule of an earlier release, whose work sweep does now", "event", t.ID)
			return nil, nil
		}
		return next(ctx, raw)
	}
}
