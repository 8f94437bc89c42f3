package snapshot

import (
	"net/netip"
	"time"
)

// Node is a Kubernetes node.
type Node struct {
	Name     string
	Instance string // from spec.providerID; empty for nodes that are no EC2 instance
	Created  time.Time
	Ready    Condition
	// Uninitialized tells that the cloud provider's taint is still on it.
	Uninitialized bool
	Kubelet       string
	Labels        map[string]string
	// Conditions are all conditions by type, Ready among them.
	Conditions map[string]Condition
	Taints     []string // keys
	MaxPods    int      // its capacity of pods; 0 when it does not say
	InternalIP netip.Addr
}

// Condition is a node condition.
type Condition struct {
	Status  string // True, False, Unknown; empty when the node has none
	Reason  string
	Message string
	Since   time.Time
}

// Launch is what Rollcall remembers of one launch.
type Launch struct {
	Instance string
	Started  time.Time
	// Due is when the instance should have become a Ready node.
	Due time.Time
}
