package snapshot

import (
	"net/netip"
	"time"
)

// Use is how a subnet's IPv4 addresses are used, counted over all interfaces
// in it.
type Use struct {
	Subnet     string
	Interfaces int
	// Held is how many addresses the interfaces hold, those of their prefixes
	// among them; Kept how many free ones a CIDR reservation keeps from being
	// given out one by one.
	Held int
	Kept int
	// Free is what is left by this count: EC2's own AvailableIpAddressCount may
	// differ where it holds addresses that no interface shows.
	Free int
	// Blocks is how many aligned /28 blocks are wholly free, and may be given
	// out as a prefix.
	Blocks int
	// Nearest are, where there is no free block, the few that would be free with
	// the fewest addresses given back.
	Nearest []Block
}

// Block is an aligned /28 of a subnet, and which of its addresses are in use.
type Block struct {
	CIDR netip.Prefix
	Used []netip.Addr
}

// Creator is the instance on which the VPC CNI made an interface.
type Creator struct {
	Instance string
	// State is EC2's word; empty where EC2 does not know the instance.
	State string
	// Attached tells that a network interface is attached to the instance, as
	// the count of the whole VPC has it: it lives, whatever State says.
	Attached bool
}

// Reservation is a CIDR reservation of a subnet.
type Reservation struct {
	ID     string
	Subnet string
	CIDR   netip.Prefix
	// Explicit reservations give out nothing by themselves; others (type
	// "prefix") give out prefixes.
	Explicit bool
}

// ENIConfig is an object of the VPC CNI's custom networking: where the pods of
// a node have their addresses. Nodes choose one by a label or annotation, by
// default that of their zone's name.
type ENIConfig struct {
	Name   string
	Subnet string
	Groups []string
}

// Cleanup is what eni-cleanup may do in the cluster; the zero value where it
// is not known, and nothing is said of it.
type Cleanup struct {
	// Mode is "report", "dry-run" or "delete".
	Mode string
	// Grace is how old an interface must be.
	Grace time.Duration
	// Untagged lets it take interfaces that name no cluster.
	Untagged bool
}

// Returned is what eni-cleanup gave back to a subnet lately.
type Returned struct {
	Subnet     string
	Interfaces int
	Addresses  int
	// Nodes is how many instances, all gone, had made those interfaces.
	Nodes int
	// Last is when the last of them was deleted.
	Last time.Time
}
