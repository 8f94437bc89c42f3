package result

import (
	"slices"
	"strings"

	"rollcall/local/capture"
	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// Unasked reports whether a check of addresses or of zones could not look because no
// call tells (of a group that chooses its types by what they have it is not known which
// it will launch), or because the capture lacks a file that it may lack, or a type that
// is not in use. Where pods wait, their events are needed. A call that was refused is
// reported, and so is what depends on it.
func Unasked(u diagnose.Unknown, f snapshot.Failure, absent []report.Launch) bool {
	of := func(list []checks.Check) bool {
		return slices.ContainsFunc(list, func(c checks.Check) bool { return c.ID == u.Check })
	}
	ofPods := u.Check == checkid.IPBranchInterfaces || u.Check == checkid.IPPodWithoutAddress && f.Source != snapshot.PodEventsOf
	if !of(checks.OfAddresses()) && !of(checks.OfZones()) && !ofPods {
		return false
	}
	// Auto Mode's instances and interfaces matter where something names them. Who made
	// interfaces is named by these, which have a failure of their own.
	if f.Code == snapshot.NotCaptured && (strings.Contains(f.Message, capture.WithoutManaged) || f.Source == snapshot.CreatorsOf) {
		return true
	}
	if f.Reason != snapshot.NotRead || f.Call != "" && (f.Code != snapshot.NotCaptured || !optional(f.Source) && !strings.Contains(f.Message, capture.NotAmong)) {
		return false
	}
	return u.Check != checkid.IPSubnetExhausted || f.Source == snapshot.ENIConfigsOf && len(absent) == 0
}

// optional reports whether the absence of a source's files is harmless by the contract
// of captures: what it decides shows elsewhere too, or the contract does not name it.
// Where pods take their addresses in other subnets, these must be known once an instance
// is missing.
func optional(s snapshot.Source) bool {
	switch s {
	case snapshot.ENIConfigsOf, snapshot.PodIdentities, snapshot.ZonesOf, snapshot.TypeOfferingsOf, snapshot.CapacityReservations,
		snapshot.NodePoolsOf, snapshot.NodeClaimsOf:
		return true
	}
	return false
}
