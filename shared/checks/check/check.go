// Package check says what a check is, and runs checks on a snapshot.
package check

import (
	"iter"
	"slices"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/snapshot"
)

// Check is one check.
type Check struct {
	ID         checkid.ID
	Title      string // at most 70 runes, no full stop
	Confidence finding.Confidence
	// Needs is what must have been read: anything less makes the result Unknown.
	Needs []snapshot.Source
	// Uses are read too, where they can be: they decide only for some
	// resources, and where one is missing the finding on those says so.
	Uses []snapshot.Source
	// After are the checks that explain this one away when they fail for the
	// same instances.
	After []checkid.ID
	// Explains is what this check explains together with others of its kind.
	Explains []checkid.ID
	// Adds are checks whose cause this one only adds facts to, when both fail
	// for the same resource: it then contributes, however certain it is.
	Adds []checkid.ID
	// Circumstantial tells that the check knows what launches share and not how they
	// fail: what explains them all, certain or likely, comes first and has its
	// evidence; beside others of its confidence it stands last.
	Circumstantial bool
	// AtLaunch tells that the check can judge before the node had time to join.
	// launch-watch judges it too, if join-check does.
	AtLaunch bool
	// WatchedBy are the detectors that judge the check. Nil is join-check: it
	// explains why a launch did not become a node.
	WatchedBy []Detector
	// InSweep is the part of the check that the sweep of a cluster judges where no instance
	// is in trouble; nil for the whole check. What it needs is read in every sweep.
	InSweep *Part
	// Predictive tells that the check sees what has not failed yet, or what is so
	// whether or not an instance fails for it: its findings need none to be told.
	Predictive bool
	// Breaks is what its cause breaks, Proof what proves that it is gone.
	Breaks Breaks
	Proof  Proof
	// Shortage tells that a subnet has too few addresses now, Starved that it is
	// about nodes as they are where their pods get none.
	Shortage, Starved bool
	// CoversToo are things that its findings cover, beside instances and subnets.
	CoversToo Thing
	// Remedy is the name of the remedy that some of its findings offer
	// (package remedy/optin); empty for none.
	Remedy string
	// Optional tells that what the check needs is looked at beside the rest: where it was
	// not, that is no Unknown, and is listed only with a symptom that has no cause.
	Optional bool
	// NeverFails tells that the check only names what nobody can follow.
	NeverFails bool
	// Cause and Fix are the catalogue's words, for any resource.
	Cause string
	Fix   string
	Links []string
	// Run judges everything in the snapshot's scope. It is called only when
	// all of Needs was read.
	Run func(*facts.View) []finding.Finding
}

// Part is a part of a check: its sources, and what judges by them.
type Part struct {
	Needs, Uses []snapshot.Source
	Run         func(*facts.View) []finding.Finding
}

// Sweeping is the check as a sweep judges it where no instance is in trouble.
func (c Check) Sweeping() Check {
	if p := c.InSweep; p != nil {
		c.Needs, c.Uses, c.Run = p.Needs, p.Uses, p.Run
	}
	return c
}

// Among tells that a list, an After for instance, names the check or its kind.
func (c Check) Among(list []checkid.ID) bool {
	return slices.Contains(list, c.ID) || slices.ContainsFunc(c.Explains, func(kind checkid.ID) bool { return slices.Contains(list, kind) })
}

// Detector is a function that judges checks, and when.
type Detector string

// The detectors.
const (
	JoinCheck Detector = "join-check" // where a launch is in trouble
	// Sweep is join-check's look at the cluster itself, whether or not an
	// instance is in trouble.
	Sweep          Detector = "join-check, sweep"
	NodegroupWatch Detector = "nodegroup-watch"
	SubnetWatch    Detector = "subnet-watch"
	ZoneWatch      Detector = "zone-watch"
	SpotReport     Detector = "spot-report"
)

// Detectors are all of them, by the names of their constants.
func Detectors() iter.Seq2[string, Detector] {
	return func(yield func(string, Detector) bool) {
		_ = yield("JoinCheck", JoinCheck) && yield("Sweep", Sweep) && yield("NodegroupWatch", NodegroupWatch) &&
			yield("SubnetWatch", SubnetWatch) && yield("ZoneWatch", ZoneWatch) && yield("SpotReport", SpotReport)
	}
}

// IsWatchedBy tells that a detector judges the check.
func (c Check) IsWatchedBy(d Detector) bool {
	if c.WatchedBy == nil {
		return d == JoinCheck
	}
	return slices.Contains(c.WatchedBy, d)
}
