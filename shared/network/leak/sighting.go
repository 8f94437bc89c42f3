package leak

import "time"

// Sighting is what runs remember of an interface that may be left behind.
type Sighting struct {
	Interface string `json:"interface"`
	// First is when a run first saw it in this state, without a break.
	First time.Time `json:"first"`
	// Print is the state: what the rules went by. An interface whose print is
	// another now has been touched since, and is seen for the first time again.
	Print string `json:"print"`
	// Deleting is written ahead of a delete: what will be its audit record. It
	// stays until the delete is audited and told, so that a run that was ended
	// in the middle leaves nothing unsaid.
	Deleting *Audit `json:"deleting,omitempty"`
	// Version counts the writes; 0 is not written yet.
	Version int `json:"version"`
}

// Apart is how long before this run another one must have seen an interface:
// two runs that overlap must not vouch for each other.
const Apart = 5 * time.Minute

// Lease is how long what was written ahead of a delete keeps other runs from
// the interface. The delete is sent at once after it, once, and is answered or
// given up within seconds (package awsconf); after the lease the run that
// wrote it is at it no more.
const Lease = 5 * time.Minute

// leased tells that a run may be at the interface right now. What was written
// ahead in what is still to come, a clock wrote that was wrong by more than
// those of two runs differ: it would keep all runs away until then.
func (s Sighting) leased(now time.Time) bool {
	return s.Deleting != nil && now.Sub(s.Deleting.At).Abs() < Lease
}

// Unsettled tells that a run wrote that it would delete the interface, and
// ended before it knew what came of it.
func (s Sighting) Unsettled(now time.Time) bool { return s.Deleting != nil && !s.leased(now) }
