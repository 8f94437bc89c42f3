// Package checks is the list of all checks, and what the rest of the program
// knows of them: what a check is, and what checks are written with, stands in package
// check, what it found in finding, and each check itself in the folder of its family.
//
// The IDs are permanent: they stand in Slack, in finding events and in other
// people's rules.
package checks

import (
	"slices"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts/zones"
	"rollcall/shared/snapshot"
)

// The types of checks and findings.
type (
	ID         = checkid.ID
	Check      = check.Check
	View       = check.View
	Result     = check.Result
	Finding    = check.Finding
	Outcome    = check.Outcome
	Confidence = check.Confidence
	Evidence   = check.Evidence
	Fix        = check.Fix
)

// The outcomes.
const (
	Pass    = check.Pass
	Fail    = check.Fail
	Unknown = check.Unknown
)

// The confidences, strongest first.
const (
	Certain  = check.Certain
	Likely   = check.Likely
	Possible = check.Possible
	Symptom  = check.Symptom
	Advice   = check.Advice
)

// Eval runs every check of a list on a snapshot (check.Eval).
func Eval(list []Check, s *snapshot.Snapshot) []Result { return check.Eval(list, s) }

// Provenance returns the instances of the scope of which it is not proved that the
// cluster launched them (check.Provenance).
func Provenance(s *snapshot.Snapshot) (claimed, unowned []string) { return check.Provenance(s) }

// Within leaves instances out of the scope (check.Within).
func Within(s *snapshot.Snapshot, out []string) *snapshot.Snapshot { return check.Within(s, out) }

// LaunchesInto reports whether the cluster launches nodes into a subnet
// (check.LaunchesInto).
func LaunchesInto(s *snapshot.Snapshot, subnet string) bool { return check.LaunchesInto(s, subnet) }

// ClaimedBy returns the NodeClaim that names an instance (check.ClaimedBy).
func ClaimedBy(s *snapshot.Snapshot, instance string) (name string, is bool) {
	return check.ClaimedBy(s, instance)
}

// StuckOnReady are the pods that have no sandbox on a Ready node for minutes.
func StuckOnReady(s *snapshot.Snapshot) []check.PodWait { return check.StuckOnReady(s) }

// Past is whether an instance was a node before it ended (check.Past).
type Past = check.Past

// The pasts that are known, and how long Kubernetes keeps events.
const (
	Served     = check.Served
	Never      = check.Never
	EventsKept = check.EventsKept
)

// Trace is what Kubernetes' events show of an instance that has ended (check.Trace).
func Trace(s *snapshot.Snapshot, i *snapshot.Instance) (registered, ready time.Time, past Past) {
	return check.Trace(s, i)
}

// ClassKey, PoolKey and ClaimKey are how findings name Karpenter's objects
// (check.ClassKey).
func ClassKey(r snapshot.ClassRef) string { return check.ClassKey(r) }
func PoolKey(name string) string          { return check.PoolKey(name) }
func ClaimKey(name string) string         { return check.ClaimKey(name) }

// PoolSubnets are the subnets into which the NodePools launch, PoolTypes the instance
// types that they name or run (check.AllPoolSubnets).
func PoolSubnets(s *snapshot.Snapshot) []string { return check.AllPoolSubnets(s) }
func PoolTypes(s *snapshot.Snapshot) []string   { return check.AllPoolTypes(s) }

// ClaimEvidence is what Karpenter says of instances that it launched
// (check.ClaimEvidence).
func ClaimEvidence(s *snapshot.Snapshot, instances []string) []Evidence {
	return check.ClaimEvidence(s, instances)
}

// Leaked is how many addresses dead nodes of the cluster hold, by subnet; false
// where that could not be read.
func Leaked(s *snapshot.Snapshot) (bySubnet map[string]int, known bool) { return check.Leaked(s) }

// ZoneCounts are how many volumes of a cluster have no node where they live,
// and how many pods wait for one (zones.Counts).
func ZoneCounts(s *snapshot.Snapshot) (volumes, pods int, volumesKnown, podsKnown bool) {
	return zones.Counts(s)
}

// OfLaunches is what explains launches: all but what is judged over days or by
// zone, or belongs to nodegroup-watch.
func OfLaunches() []check.Check { return watchedByJoinCheck() }

// AtLaunch is the checks that can judge a launch at once.
func AtLaunch() []check.Check {
	return slices.DeleteFunc(OfLaunches(), func(c check.Check) bool { return !c.AtLaunch })
}

// OfCluster is the checks that watch the cluster itself, whether or not an
// instance is in trouble: its groups, and what works and costs. Its health is
// nodegroup-watch's (OfHealth), its addresses are subnet-watch's (OfAddresses).
func OfCluster() []check.Check {
	list := watchedBySweep()
	for i, c := range list {
		list[i] = c.Sweeping()
	}
	return list
}

// OfAddresses is what subnet-watch judges: the subnets' addresses, whether or
// not anything is launched.
func OfAddresses() []check.Check { return watchedBySubnetWatch() }

// OfHealth is what nodegroup-watch judges in its sweep: what EKS itself says
// of nodegroups, the cluster and its add-ons.
func OfHealth() []check.Check { return watchedByNodegroupWatch() }

// OfZones is what zone-watch judges: volumes, and the nodes where they live.
func OfZones() []check.Check { return watchedByZoneWatch() }

// OfPools is what spot-report judges: the pools, over days.
func OfPools() []check.Check { return watchedBySpotReport() }

// Explaining are the checks that explain one, by id: kinds of causes as the checks
// that are of that kind.
func Explaining(list []check.Check, of check.Check) []checkid.ID {
	var ids []checkid.ID
	add := func(id checkid.ID) {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for _, id := range of.After {
		kind := false
		for _, c := range list {
			if slices.Contains(c.Explains, id) {
				kind = true
				if c.ID != of.ID {
					add(c.ID)
				}
			}
		}
		if !kind {
			add(id)
		}
	}
	return ids
}
