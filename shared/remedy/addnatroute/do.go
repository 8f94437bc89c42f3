package addnatroute

import (
	"context"

	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/call"
)

// Calls are what the remedy asks of AWS.
type Calls interface {
	// CreateRoute adds a route to a table. EC2 refuses another route for the same
	// destination (RouteAlreadyExists); it never replaces one.
	CreateRoute(ctx context.Context, table, destination, nat string) call.Answer
}

func do(ctx context.Context, calls Calls, p Plan, _ action.Place, _ string) action.Result {
	return action.One(p.Table, calls.CreateRoute(ctx, p.Table, p.Destination, p.NAT))
}
