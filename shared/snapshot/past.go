package snapshot

import (
	"rollcall/shared/checkid"
	"time"
)

// End is how a launch ended. Each launch has exactly one.
type End string

// The ends.
const (
	// Open is no end yet.
	Open End = ""
	// Joined became a Ready node.
	Joined End = "joined"
	// NotJoined had its time and did not become a node; Cause is why.
	NotJoined End = "not joined"
	// Reclaimed was taken back by EC2 before it joined.
	Reclaimed End = "reclaimed"
	// Refused came to no instance, or to one that EC2 could not bring up; Cause
	// is the class of the refusal.
	Refused End = "refused"
	// Terminated was ended by somebody before it was due: a person, a scale-in.
	Terminated End = "terminated"
	// Unclear is what cannot be told; Why says what was missing.
	Unclear End = "unknown"
)

// Past is one launch as Rollcall remembers it.
type Past struct {
	// ID is the instance, or the scaling activity of a launch without one.
	ID        string
	Nodegroup string
	Group     string // Auto Scaling group
	Type      string // instance type; of a refused launch often not known
	Zone      string
	Subnet    string
	Spot      bool
	Template  TemplateRef
	// AMI and Architecture are the instance's, Plugin is the image of the VPC CNI that
	// ran in the cluster when the launch was first looked at. Releases before knew
	// none of them of launches in the history.
	AMI          string
	Architecture string
	Plugin       string
	Started      time.Time

	End End
	// Cause is a check's id: the root cause of a launch that did not join (or has
	// not so far), the launch/… class of one that was refused; empty where none
	// was found.
	Cause checkid.ID
	// Why is the end in a few words, with EC2's own code where it has one.
	Why string

	Registered time.Time
	Ready      time.Time
	// Ended is when the instance ended, also after it had joined; zero while it
	// lives, or where nobody saw.
	Ended time.Time
	// Lost tells that it had joined and ended though nobody asked for that: EC2
	// took it back, or it failed. Where the reason is not known it is not lost.
	Lost bool
	// Missed is when it was first due and seen not to be a Ready node, while it
	// is open: it may still join, and Cause is why it has not.
	Missed time.Time
	// Noticed and Rebalance are EC2's warnings, before or after it joined.
	Noticed   time.Time
	Rebalance time.Time

	// Free is how many addresses its subnet had left at FreeAt, when the launch
	// was first looked at; FreeAt is zero where nobody looked.
	Free   int
	FreeAt time.Time
}

// Joining is how long the launch took to become a Ready node; false where it
// did not, or where the times do not tell.
func (p Past) Joining() (time.Duration, bool) {
	if p.End != Joined || p.Ready.Before(p.Started) {
		return 0, false
	}
	return p.Ready.Sub(p.Started), true
}

// LostWithin is how long after it joined the end of a node counts for the
// statistics: capacity that is lost so soon was hardly there.
const LostWithin = time.Hour

// Lived is how long a node that joined was there, if it has ended.
func (p Past) Lived() (time.Duration, bool) {
	if p.End != Joined || p.Ended.Before(p.Ready) || p.Ready.IsZero() {
		return 0, false
	}
	return p.Ended.Sub(p.Ready), true
}

// Sample is what a subnet had at one time.
type Sample struct {
	Subnet string
	At     time.Time
	Free   int
	// Total is how many addresses it can give: its block without the five that
	// AWS keeps.
	Total int
}
