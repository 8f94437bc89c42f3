package worldfile

import (
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// NodeRules say how long a healthy node takes, and which nodes are not.
type NodeRules struct {
	// RunningSeconds is how long an instance stays pending; 8 where 0.
	RunningSeconds int
	// BootSeconds is the time from launch to the Node object; 40 where 0.
	BootSeconds int
	// BootSpreadSeconds is how much longer than BootSeconds the slowest node
	// takes; each takes its own share of it.
	BootSpreadSeconds float64
	// ReadySeconds is the time from there to Ready; 15 where 0.
	ReadySeconds int
	// Retry makes a node whose path was broken try again until it works. It
	// is off by default: the bootstrap gives up and the instance has to be
	// replaced.
	Retry bool
	// Exceptions are nodes with a fate of their own.
	Exceptions []NodeException
}

// NodeException changes the life of the instances of one nodegroup or group.
type NodeException struct {
	// Nodegroup or AutoScalingGroup says whose instances are meant.
	Nodegroup        string
	AutoScalingGroup string
	// Times limits the exception to the first so many launches; 0 is all.
	Times int
	// Ends terminates the instance that long after its launch.
	Ends *InstanceEnd
	// NeverRegisters keeps the node away though its path works.
	NeverRegisters bool
	// NeverReady keeps a registered node at Ready False with this reason.
	NeverReady *Condition
}

// InstanceEnd is the end of an instance that nobody asked for.
type InstanceEnd struct {
	After  time.Duration
	Reason ec2types.StateReason
}

// Condition is the reason and message of a node condition.
type Condition struct {
	Reason  string
	Message string
}
