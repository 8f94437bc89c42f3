package worldfile

import (
	"time"

	"rollcall/local/simaws/cloudtrail"
)

// TrailEntry is a call of before the world's start, in CloudTrail's words.
type TrailEntry struct {
	At time.Time
	// Call is an operation such as "ec2:CreateRouteTable".
	Call string
	// By is who made it: the ARN of a user or of a role's session, or a service's
	// principal such as autoscaling.amazonaws.com. Empty is a person.
	By string
	// Via is the service that called in that name, such as
	// cloudformation.amazonaws.com.
	Via string
	// With and Result are requestParameters and responseElements.
	With   map[string]any
	Result map[string]any
	// Error is the code of a call that was refused.
	Error string
	// Resources are those that CloudTrail lists, where they are not those that
	// With and Result name.
	Resources []cloudtrail.Resource
}
