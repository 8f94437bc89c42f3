package result

import (
	"slices"

	"rollcall/local/capture"
	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// Unasked tells that a check of addresses or of zones could not look because nobody asked,
// or because no call would tell: the interfaces, the reservations and the
// ENIConfigs of a capture may be left out, and of a group that chooses its types
// by what they have nobody knows which it will launch. These checks look ahead,
// or say why addresses are gone; that one is short of them a subnet's own count
// tells, with which EC2 answers for the subnet itself. Where pods take their
// addresses in other subnets, which ones must be known once an instance is
// missing.
//
// Branch interfaces and addresses are what pods wait for, and no node does: a capture may
// be without the cluster's pods and nodes. Where pods wait, their events are needed.
//
// The checks of zones look ahead as well: the volumes, claims and pods of a
// capture may be left out, and no file holds how EC2 says that its zones are.
//
// A call that was refused is told, and so is what hangs on it.
func Unasked(u diagnose.Unknown, f snapshot.Failure, absent []report.Launch) bool {
	of := func(list []checks.Check) bool {
		return slices.ContainsFunc(list, func(c checks.Check) bool { return c.ID == u.Check })
	}
	ofPods := u.Check == checkid.IPBranchInterfaces || u.Check == checkid.IPPodWithoutAddress && f.Source != snapshot.PodEventsOf
	if !of(checks.OfAddresses()) && !of(checks.OfZones()) && !ofPods {
		return false
	}
	if f.Reason != snapshot.NotRead || f.Call != "" && f.Code != capture.NotCaptured {
		return false
	}
	return u.Check != checkid.IPSubnetExhausted || f.Source == snapshot.ENIConfigsOf && len(absent) == 0
}
