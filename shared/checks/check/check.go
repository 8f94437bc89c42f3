// Package check says what a check is, and runs checks on a snapshot.
package check

import (
	"cmp"
	"fmt"
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

// Eval runs every check on a snapshot. A check whose needs were not all read
// is not run: it is Unknown over the whole scope (Covers is empty), with what
// kept it from looking. So is one that panics. The results are in the order
// of the list, then by resource; their ids are sorted.
func Eval(list []Check, s *snapshot.Snapshot) []finding.Result {
	v := facts.NewView(s)
	var results []finding.Result
	for _, c := range list {
		findings := Run(c, v)
		for i := range findings {
			tidy(&findings[i])
		}
		slices.SortStableFunc(findings, func(a, b finding.Finding) int {
			return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Outcome, b.Outcome), slices.Compare(a.Covers, b.Covers))
		})
		for _, f := range findings {
			results = append(results, finding.Result{Check: c.ID, Finding: f})
		}
	}
	return results
}

func Run(c Check, s *facts.View) (findings []finding.Finding) {
	var blocked []snapshot.Failure
	for _, source := range c.Needs {
		if !s.Has(source) {
			blocked = append(blocked, s.Why(source))
		}
	}
	if len(blocked) > 0 {
		return []finding.Finding{unknown(s, blocked)}
	}
	defer func() {
		// One broken check must not take the others' findings with it.
		if fault := recover(); fault != nil {
			findings = []finding.Finding{unknown(s, []snapshot.Failure{{
				Source: snapshot.Source("check " + string(c.ID)), Reason: snapshot.Broken, Message: fmt.Sprintf("the check itself broke: %v", fault),
			}})}
		}
	}()
	return c.Run(s)
}

func unknown(s *facts.View, blocked []snapshot.Failure) finding.Finding {
	return finding.Finding{Outcome: finding.Unknown, Resource: s.Cluster.Name, Blocked: blocked}
}

func tidy(f *finding.Finding) {
	for _, ids := range []*[]string{&f.Covers, &f.Instances} {
		*ids = slices.Clone(*ids) // it may be a fact's own
		slices.Sort(*ids)
		*ids = slices.Compact(*ids)
	}
}

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

// ByItself tells that it is a failure of its own, whether nodes join or not.
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

// WithPathSources is a check that follows the ways of packets. Which of the hops'
// sources decides is seen only on the way: each is used where a row leads to
// it, and where it is missing the finding names the hop.
func WithPathSources(c Check) Check {
	return Using([]snapshot.Source{
		snapshot.VPCs, snapshot.NATGateways, snapshot.InternetGateways, snapshot.EgressOnly, snapshot.PrefixListEntries,
		snapshot.Peerings, snapshot.TransitGateways, snapshot.Interfaces, snapshot.DHCP, snapshot.VPCDNS,
		snapshot.DNSProfilesOf, snapshot.ResolverRulesOf, snapshot.PrivateZonesOf, snapshot.AWSNode,
	}, c)
}

// Using is a check that uses the sources, beside what it needs.
func Using(sources []snapshot.Source, c Check) Check {
	for _, source := range sources {
		if !slices.Contains(c.Needs, source) && !slices.Contains(c.Uses, source) {
			c.Uses = append(c.Uses, source)
		}
	}
	return c
}
