// Package ipam is the arithmetic of addresses: what a node takes out of its
// subnet, and what is left.
package ipam

import "rollcall/shared/snapshot"

// Demand is how many IPv4 addresses one node takes out of its subnet.
type Demand struct {
	// Own is the primary address of its first interface: without it EC2
	// refuses the launch. It is all that the kubelet needs to register.
	Own int
	// First is the first interface with all its addresses, Own among them.
	// The CNI fills it as it starts; pods get their addresses from it.
	First int
	// Warm is what further interfaces hold: with the default settings a second
	// one, which the CNI attaches for the first pod so that one whole interface
	// is always in reserve.
	Warm int
}

// Total is First and Warm: 60 for one m5.4xlarge.
func (d Demand) Total() int { return d.First + d.Warm }

// AtStart is the demand of one node of a type with the VPC CNI's default
// settings (WARM_ENI_TARGET=1, no prefix delegation, pods in the node's own
// subnet).
func AtStart(t snapshot.InstanceType) Demand { return Defaults().AtStart(t) }
