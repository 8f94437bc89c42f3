package snapshot

import (
	"net/netip"
	"rollcall/shared/checkid"
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
	Annotations   map[string]string
	// Conditions are all conditions by type, Ready among them.
	Conditions map[string]Condition
	Taints     []string // keys
	// Repels are the taints in full.
	Repels []Taint
	// Cordoned tells that it takes no new pods.
	Cordoned bool
	// Zone is its Availability Zone; empty where it does not say.
	Zone    string
	MaxPods int // its capacity of pods; 0 when it does not say
	// Branches is its capacity of branch interfaces; 0 when it has no trunk.
	Branches   int
	InternalIP netip.Addr
}

// Condition is a node condition.
type Condition struct {
	Status  string // True, False, Unknown; empty when the node has none
	Reason  string
	Message string
	Since   time.Time
}

// ExpectedJoin is by when an instance should be a Ready node, as Rollcall
// remembers its launch.
type ExpectedJoin struct {
	Instance string
	Started  time.Time
	// Due is when the instance should have become a Ready node.
	Due time.Time
	// Samples is from how many earlier launches of its nodegroup Due was
	// learned; 0 where it is the setting.
	Samples int
	// Usual is within what 95 of 100 of those were Ready; 0 where it is not known.
	Usual time.Duration
	// Noticed is when EC2 warned that it would take the instance back, and
	// Rebalance when it said that this is likely; zero for no such event.
	Noticed   time.Time
	Rebalance time.Time
	// Cause is the check that explained the launch when it was last looked at.
	Cause checkid.ID
	// Claim is its NodeClaim as it was at ClaimSeen; nil where nobody saw one.
	// Karpenter deletes it with the instance.
	Claim     *NodeClaim
	ClaimSeen time.Time
}

// StuckPod is a pod that a node took and that has no sandbox: no address, and no
// container. Pods of the host's network are none, nor those that wait for a branch interface.
type StuckPod struct {
	Pod   string // "namespace/name"
	Node  string
	Since time.Time // when the node took it
}

// PodEvent is the newest warning of a reason about a pod.
type PodEvent struct {
	Pod     string // "namespace/name"
	Reason  string // FailedCreatePodSandBox, FailedMount, …
	Message string
	Last    time.Time
}

// NodePods are the pods that a node took.
type NodePods struct {
	Node string
	// Addressed is how many have an address of their own.
	Addressed int
	// Agent is how the pod of the Pod Identity agent is: "Running", or why it is not; empty
	// where there is none.
	Agent string
}
