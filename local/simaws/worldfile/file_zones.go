package worldfile

import (
	"time"
)

// ZoneFault is a time in which a zone is not well.
type ZoneFault struct {
	Zone string
	// State is what DescribeAvailabilityZones says: impaired, unavailable or
	// information; empty leaves it available.
	State string
	// Messages are its messages.
	Messages []string
	// Launches, if any, is the code that launches in the zone fail with, such as
	// InsufficientInstanceCapacity.
	Launches string
	// From and For bound it in stage time since the start; a zero For has no end.
	From time.Duration
	For  time.Duration
}
