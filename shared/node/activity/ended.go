package activity

import (
	"slices"
	"strings"
)

// Auto Scaling gives no code for why it ended an instance, only sentences.

// Asked tells from the cause of a terminating activity that somebody asked it
// of the group: a scale-in, a replacement through the group, an instance
// refresh. Health checks and failed launches are the rest.
func Asked(cause string) bool {
	return slices.ContainsFunc([]string{"shrinking the capacity", "in response to a user request", "instance refresh"}, func(part string) bool {
		return strings.Contains(cause, part)
	})
}

// FoundEnded tells that the group only found what somebody else had done, or
// was about to do: the instance was ended already.
func FoundEnded(cause string) bool {
	return strings.Contains(cause, "health check indicating it has been terminated or stopped") ||
		strings.Contains(cause, "termination notice")
}

// Failing tells that the group replaced an instance because a status or health
// check of it failed. A health that somebody set ("a user health-check") is
// none of these.
func Failing(cause string) bool {
	return strings.Contains(cause, "status checks failure") || strings.Contains(cause, "system health check failure")
}

// Rebalancing tells that the group replaced an instance by itself, as Capacity
// Rebalancing does: nobody asked for it, and nobody else had ended it.
func Rebalancing(cause string) bool { return !Asked(cause) && !FoundEnded(cause) }
