package coverzones

import (
	"context"

	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/call"
)

// Calls are what the remedy asks of AWS.
type Calls interface {
	// SetDesiredCapacity sets the desired count of an Auto Scaling group.
	SetDesiredCapacity(ctx context.Context, group string, desired int) call.Answer
	// SetDesiredSize sets the desired count of a managed nodegroup alone: EKS keeps
	// minimum and maximum. The token makes EKS take the same update once.
	SetDesiredSize(ctx context.Context, cluster, nodegroup string, desired int, token string) call.Answer
}

// do raises the count. It lowers none, and exceeds no maximum, whatever the plan
// says.
func do(ctx context.Context, calls Calls, p Plan, at action.Place, token string) action.Result {
	name := p.Nodegroup + p.Group
	switch {
	case p.To <= p.From || p.To > p.Max:
		return action.One(name, call.NotAsked("NotARaise", "the count is not raised within its bounds"))
	case p.Nodegroup == "":
		return action.One(name, calls.SetDesiredCapacity(ctx, p.Group, p.To))
	}
	return action.One(name, calls.SetDesiredSize(ctx, at.Cluster, p.Nodegroup, p.To, token))
}
