package incident

import (
	"rollcall/shared/routing"

	"time"
)

// Policy is what an operator may set.
type Policy struct {
	// ProofTime is how long an incident whose cause is gone waits for proof.
	ProofTime time.Duration
	// ReopenTime is how long a closed incident is reopened, not said anew.
	ReopenTime time.Duration
	// RemindAfter is after how long people are called again; 0 for never.
	RemindAfter time.Duration
	// Routes tell who hears of what. Of nodegroups' tags only TagKeys are kept.
	Routes  []routing.Route
	TagKeys []string
	// Channel is for what no route sends elsewhere.
	Channel string
}
