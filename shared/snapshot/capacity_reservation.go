package snapshot

import "time"

// CapacityReservation is a capacity reservation, or a capacity block.
type CapacityReservation struct {
	ID string
	// State is EC2's word: active, expired, cancelled, pending, scheduled,
	// payment-pending, …
	State string
	Type  string
	Zone  string
	// Total is how many instances it is for, Free how many more may start.
	Total, Free int
	Block       bool
	// Start and End are when it begins and ends; zero where it does not say.
	Start, End time.Time
}

// PlacementGroup is a placement group.
type PlacementGroup struct {
	ID, Name string
	Strategy string // cluster, spread, partition
	State    string // pending, available, deleting, deleted
	Level    string // of a spread: host, rack
	// Partitions is how many a partition placement group has.
	Partitions int
}
