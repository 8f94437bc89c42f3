package worldfile

import (
	"time"
)

// EKSRules say how long EKS takes.
type EKSRules struct {
	// JoinTimeout is how long EKS waits for a nodegroup's new instances to
	// become Ready nodes; 20 minutes where 0. AWS's guide says 15; users see a
	// creation fail after 21.
	JoinTimeout time.Duration
	// HealthDelay is how long EKS takes to show what is wrong as an issue; 5
	// minutes where 0.
	HealthDelay time.Duration
	// CreateTime is how long a new nodegroup without nodes stays CREATING; 45 s
	// where 0.
	CreateTime time.Duration
	// UpdateTime is how long a change of configuration takes; 3 s where 0.
	UpdateTime time.Duration
	// DeleteTime is the least time that a nodegroup is DELETING, 15 s where 0. EKS
	// usually needs some minutes.
	DeleteTime time.Duration
}

// EKSIssue is an issue of a nodegroup or an add-on. Code may be one that the
// SDK does not know.
type EKSIssue struct {
	Code        string
	Message     string
	ResourceIds []string
}

// EKSChange is a status that EKS comes to for reasons of its own.
type EKSChange struct {
	// At is the stage time since the start.
	At time.Duration
	// Cluster may be left out where the world has only one.
	Cluster string
	// Exactly one of Nodegroup and Addon is given.
	Nodegroup string
	Addon     string
	// Status may be any text; empty leaves it as it is.
	Status string
	// Issues are all issues from then on.
	Issues []EKSIssue
}

// UpdateFault makes the next update of a nodegroup or an add-on fail.
type UpdateFault struct {
	// Cluster may be left out where the world has only one.
	Cluster   string
	Nodegroup string
	Addon     string
	// Type narrows it to updates such as VersionUpdate.
	Type string
	// After is how long the update is InProgress before; 2 minutes where 0.
	After time.Duration
	// Errors are those that DescribeUpdate shows.
	Errors []EKSIssue
}

// NodegroupStack says that a nodegroup is a resource of a CloudFormation
// stack, which tells of its creation and its deletion.
type NodegroupStack struct {
	// Cluster may be left out where the world has only one.
	Cluster   string
	Nodegroup string
	// Stack is the stack's name.
	Stack string
	// LogicalId is the resource's name in the template; ManagedNodeGroup, as
	// eksctl has it, where empty.
	LogicalId string
}

// TrailRules say how API calls come to the event bus, and to be found.
type TrailRules struct {
	// None is an account without a trail of management events: no call is told.
	// The event history has it nevertheless, as AWS's does.
	None bool
	// Delay is the time from a call to its event; 30 s where 0. CloudTrail
	// promises nothing, and usually needs less than some minutes.
	Delay time.Duration
	// Caller is the ARN that the timeline's calls are made with.
	Caller string
	// Lag is the least time from a call to when LookupEvents finds it, 3 minutes
	// where 0, at once where negative; Spread is how much later the last comes,
	// 2 minutes where both are 0. Each call takes its own share of it, so a later
	// call may be found before an earlier one.
	Lag    time.Duration
	Spread time.Duration
	// History are calls of before the start.
	History []TrailEntry
}
