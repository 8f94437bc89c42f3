// Package catalog is what is known of each check without running it: its title, what it means,
// what it explains, what proves that its cause is gone, and the words of its page. It is data;
// what judges is in package checks.
package catalog

import (
	"iter"
	"slices"

	"rollcall/shared/checkid"
	"rollcall/shared/remedy/optin"
)

// Entry is what is known of a check without running it.
type Entry struct {
	ID         checkid.ID
	Title      string // at most 70 runes, no full stop
	Confidence Confidence
	// After are the checks that explain this one away when they fail for the
	// same instances.
	After []checkid.ID
	// Explains is what this check explains together with others of its kind.
	Explains []checkid.ID
	// Adds are checks whose cause this one only adds facts to, when both fail
	// for the same resource: it then contributes, however certain it is.
	Adds []checkid.ID
	// Circumstantial is set where the check knows what launches share and not how they
	// fail: what explains them all, certain or likely, comes first and has its
	// evidence; beside others of its confidence it stands last.
	Circumstantial bool
	// AtLaunch is set where the check can judge before the node had time to join.
	// launch-watch judges it too, if join-check does.
	AtLaunch bool
	// WatchedBy are the detectors that judge the check. Nil is join-check: it
	// explains why a launch did not become a node.
	WatchedBy []Detector
	// Predictive is set where the check sees what has not failed yet, or what is so
	// whether or not an instance fails for it: its findings need none to be told.
	Predictive bool
	// Breaks is what its cause breaks, Proof what proves that it is gone.
	Breaks Breaks
	Proof  Proof
	// Shortage is set where a subnet has too few addresses now, Starved that it is
	// about nodes as they are where their pods get none.
	Shortage, Starved bool
	// CoversToo are things that its findings cover, beside instances and subnets.
	CoversToo Thing
	// Remedy is the name of the remedy that some of its findings offer
	// (package remedy/optin); empty for none.
	Remedy optin.Remedy
	// Optional is set where what the check needs is looked at beside the rest: where it was
	// not, that is no Unknown, and is listed only with a symptom that has no cause.
	Optional bool
	// NeverFails is set where the check only names what cannot be followed.
	NeverFails bool
	// Cause and Fix are the catalogue's words, for any resource.
	Cause string
	Fix   string
	Links []string
}

// Confidence ranks how surely a failed check explains a node that did not join.
type Confidence string

// The confidences, strongest first.
const (
	Certain  Confidence = "certain"
	Likely   Confidence = "likely"
	Possible Confidence = "possible"
	Symptom  Confidence = "symptom"
	Advice   Confidence = "advice"
)

// Breaks is what a cause breaks: what waits for it to be mended, and how urgent
// it is before any launch has met it.
type Breaks string

// What causes break.
const (
	Joining   Breaks = ""          // launched instances do not become nodes
	Launching Breaks = "launching" // groups get no instances at all
	Addresses Breaks = "addresses" // a subnet has none for nodes and pods
	Pods      Breaks = "pods"      // pods cannot start, or not where their volumes are
	Managed   Breaks = "managed"   // something that EKS runs, and says so itself
)

// ByItself reports whether it is a failure of its own, whether nodes join or not.
func (b Breaks) ByItself() bool { return b == Addresses || b == Pods || b == Managed }

// Proof is what proves that a cause is gone.
type Proof string

// The proofs.
const (
	ByJoining Proof = "" // a node that was launched since has joined
	// ByPassing: that the check passes now is all the proof, and no node is
	// waited for.
	ByPassing Proof = "passing"
	// ByPassingUnmet is ByPassing as long as no launch has met the cause.
	ByPassingUnmet Proof = "passing, unmet"
	// Impossible: it is about what is gone, nothing of it can pass later.
	Impossible Proof = "impossible"
)

// Thing is a kind of thing that can cease to exist.
type Thing string

// The things that findings cover, beside instances and subnets.
const (
	Nodegroups Thing = "nodegroups"
	Groups     Thing = "auto scaling groups"
	Addons     Thing = "add-ons"
	NodePools  Thing = "node pools" // their classes and NodeClaims too
)

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

// Among reports whether a list, an After for instance, names the check or its kind.
func (e Entry) Among(list []checkid.ID) bool {
	return slices.Contains(list, e.ID) || slices.ContainsFunc(e.Explains, func(kind checkid.ID) bool { return slices.Contains(list, kind) })
}

// IsWatchedBy reports whether a detector judges the check.
func (e Entry) IsWatchedBy(d Detector) bool {
	if e.WatchedBy == nil {
		return d == JoinCheck
	}
	return slices.Contains(e.WatchedBy, d)
}

// All are the entries, in the catalogue's order.
func All() iter.Seq[Entry] { return slices.Values(entries[:]) }

// ByID finds the entry of an id; false for one that is not in the catalog, such as that of an
// incident about Rollcall's own sight.
func ByID(id checkid.ID) (Entry, bool) {
	for i := range entries {
		if entries[i].ID == id {
			return entries[i], true
		}
	}
	return Entry{}, false
}

// Meaning is the entry of an id: the zero Entry for one that is not in the catalog.
func Meaning(id checkid.ID) Entry {
	e, _ := ByID(id)
	return e
}
