package deleteleakedinterfaces

import (
	"context"

	"rollcall/shared/remedy/call"
)

// Calls are what eni-cleanup asks of AWS.
type Calls interface {
	// DeleteNetworkInterface deletes an interface, or, in a dry run, asks EC2 whether
	// it would.
	DeleteNetworkInterface(ctx context.Context, id string, dryRun bool) call.Answer
}
