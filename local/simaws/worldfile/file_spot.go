package worldfile

import (
	"time"
)

// SpotFile is what EC2's capacity does in a world. A type and zone that no
// pool speaks of has capacity for all who ask.
type SpotFile struct {
	// VCPULimit is the account's quota of vCPUs of running Spot instances; none
	// where 0.
	VCPULimit int
	Pools     []PoolFile
}

// PoolFile is the capacity of an instance type in a zone, for a time. The
// first that fits is taken.
type PoolFile struct {
	// Type and Zone are every type and every zone where they are empty.
	Type string
	Zone string
	// OnDemand is the on-demand capacity in place of Spot's.
	OnDemand bool
	// Reservation is the id of an interruptible Capacity Reservation; its instances are the pool:
	// its owner reclaims all of them at a time.
	Reservation string
	// Capacity is how many instances the pool has; no bound where it is nil.
	Capacity *int
	// Price is what an hour costs, in USD; made up from the type where 0.
	Price   float64
	Reclaim *Reclaim
	// From and For bound the pool in stage time since the start; a zero For has
	// no end.
	From time.Duration
	For  time.Duration
}

// Reclaim is how EC2 takes a pool's Spot instances back.
type Reclaim struct {
	// After and UpTo are the least and the most time from an instance's launch
	// to its end; each instance has its own between the two. A zero After does
	// not end instances by their age.
	After time.Duration
	UpTo  time.Duration
	// At are times since the start at which all of the pool is taken back.
	At []time.Duration
	// Notice is how long before the end the interruption warning comes: two
	// minutes where 0, and less where the instance does not run so long.
	Notice time.Duration
	// Rebalance is how long before the end the rebalance recommendation comes;
	// there is none where 0.
	Rebalance time.Duration
	// Times limits the reclaims by age to the pool's first so many launches; 0
	// is all.
	Times int
}
