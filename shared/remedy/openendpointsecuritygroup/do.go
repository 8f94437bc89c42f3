package openendpointsecuritygroup

import (
	"context"

	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/call"
)

// Calls are what the remedy asks of AWS.
type Calls interface {
	// AdmitTCP admits one port in a security group from others, in one call: all of
	// it or nothing.
	AdmitTCP(ctx context.Context, group string, port int, from []string) call.Answer
}

func do(ctx context.Context, calls Calls, p Plan, _ action.Place, _ string) action.Result {
	return action.One(p.SecurityGroup, calls.AdmitTCP(ctx, p.SecurityGroup, p.Port, p.From))
}
