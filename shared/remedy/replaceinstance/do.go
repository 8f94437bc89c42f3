package replaceinstance

import (
	"context"
	"fmt"

	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/call"
)

// Calls are what the remedy asks of AWS.
type Calls interface {
	// EndInGroup ends an instance whose Auto Scaling group launches another: the
	// capacity stays.
	EndInGroup(ctx context.Context, instance string) call.Answer
}

// do ends instances one after the other, and stops at the first that AWS does
// not end.
func do(ctx context.Context, calls Calls, p Plan, _ action.Place, _ string) action.Result {
	all := action.Result{Status: action.Done}
	for _, i := range p.Instances {
		r := action.One(i.Instance, calls.EndInGroup(ctx, i.Instance))
		all.Requests = append(all.Requests, r.Requests...)
		all.Changed = append(all.Changed, r.Changed...)
		if r.Status == action.Done {
			continue
		}
		all.Status, all.Reason, all.Says = r.Status, r.Reason, r.Says
		if r.Status == action.Failed && len(all.Changed) > 0 {
			all.Status = action.Partly
			all.Says = fmt.Sprintf("%d of %d instances were ended; then AWS said %s.", len(all.Changed), len(p.Instances), r.Reason)
		}
		break
	}
	return all
}
