package createaccessentry

import (
	"context"

	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/call"
)

// Calls are what the remedy asks of AWS.
type Calls interface {
	// CreateAccessEntry makes an access entry without groups and policies. The token
	// makes EKS take the same call once.
	CreateAccessEntry(ctx context.Context, cluster, principal, kind, token string) call.Answer
}

// do makes an entry of a type for nodes; of no other type, whatever the plan
// says.
func do(ctx context.Context, calls Calls, p Plan, at action.Place, token string) action.Result {
	if p.Type != "EC2_LINUX" && p.Type != "EC2_WINDOWS" {
		return action.One(p.Principal, call.NotAsked("NotANodeType", p.Type+" is no type for nodes"))
	}
	return action.One(p.Principal, calls.CreateAccessEntry(ctx, at.Cluster, p.Principal, p.Type, token))
}
