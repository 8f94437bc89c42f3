package gather

import (
	"context"
	"testing"

	"rollcall/local/platform/wire"
	"rollcall/shared/gather/gathertest"
	"rollcall/shared/snapshot"
)

// denying refuses one operation.
type denying string

func (d denying) Before(_ context.Context, call *wire.Call) error {
	if call.Operation == string(d) {
		return wire.Denied
	}
	return nil
}

// TestZonalShifts holds which shifts are read, and by how many calls: none where zonal
// shift is off, and the list of resources only while AWS has shifted something.
func TestZonalShifts(t *testing.T) {
	const (
		on      = "eks: {clusters: [{name: eks-workshop, zonalShiftConfig: {enabled: true}}]}\n"
		groupOn = `autoscaling: {AutoScalingGroups: [{AutoScalingGroupName: eks-default-2ac4941f-d51b-87e0-30e3-fe83f3d78e7f, AutoScalingGroupARN: "` + groupARN + `", AvailabilityZoneImpairmentPolicy: {ZonalShiftEnabled: true}}]}` + "\n"
		times   = "startTime: 2026-11-20T14:00:00Z, expiryTime: 2026-11-20T20:00:00Z"
		shift   = `{zonalShiftId: z-01, resourceIdentifier: "arn:aws:eks:us-west-2:111122223333:cluster/eks-workshop", awayFrom: usw2-az1, ` + times + `}`
		other   = `{zonalShiftId: z-02, resourceIdentifier: "arn:aws:eks:us-west-2:111122223333:cluster/other", awayFrom: usw2-az1, ` + times + `}`
		ofGroup = `{zonalShiftId: z-03, resourceIdentifier: "` + groupARN + `", awayFrom: usw2-az2, shiftType: PRACTICE_RUN, ` + times + `}`
		over    = `{zonalShiftId: z-04, resourceIdentifier: "arn:aws:eks:us-west-2:111122223333:cluster/eks-workshop", awayFrom: usw2-az1, startTime: 2026-11-20T12:00:00Z, expiryTime: 2026-11-20T13:00:00Z}`
		shifts  = "arcZonalShift: {ZonalShifts: [" + shift + ", " + other + ", " + ofGroup + ", " + over + "]}\n"
		auto    = "arcZonalShift: {Autoshifts: [{awayFrom: usw2-az3, startTime: 2026-11-20T14:30:00Z}]}\n"
	)
	failed := func(source snapshot.Source, call string) map[snapshot.Source]string {
		return map[snapshot.Source]string{source: call}
	}
	for _, tt := range []struct {
		name, change string
		denied       denying
		want         []string
		calls        int
		failed       map[snapshot.Source]string
	}{
		{name: "off", change: shifts},
		{name: "on, nothing shifted", change: on, calls: 2},
		{name: "of the cluster", change: on + shifts, want: []string{"usw2-az1 ZONAL_SHIFT"}, calls: 2},
		{name: "of a group", change: groupOn + shifts, want: []string{groupName + " usw2-az2 PRACTICE_RUN"}, calls: 2},
		{name: "of both", change: on + groupOn + shifts, want: []string{"usw2-az1 ZONAL_SHIFT", groupName + " usw2-az2 PRACTICE_RUN"}, calls: 2},
		{name: "autoshift", change: on + auto, want: []string{"usw2-az3 ZONAL_AUTOSHIFT"}, calls: 3},
		{name: "autoshift, which is off for the group", change: groupOn + auto, calls: 3},
		{name: "refused", change: on + shifts, denied: "ListZonalShifts", calls: 2, failed: failed(snapshot.ZonalShifts, "arc-zonal-shift:ListZonalShifts")},
		{name: "autoshifts refused", change: on + shifts, denied: "ListAutoshifts", want: []string{"usw2-az1 ZONAL_SHIFT"}, calls: 2, failed: failed(snapshot.AutoshiftsOf, "arc-zonal-shift:ListAutoshifts")},
		{name: "resources refused", change: on + auto, denied: "ListManagedResources", calls: 3, failed: failed(snapshot.AutoshiftsOf, "arc-zonal-shift:ListManagedResources")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := openFaulty(t, tt.change, tt.denied, "")
			q := broughtBy(t, p)
			q.Sources = []snapshot.Source{snapshot.ZonalShifts, snapshot.AutoshiftsOf}
			s, err := p.Read(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			gathertest.Same(t, "shifts", names(append(s.Shifts, s.Autoshifts...), func(x snapshot.Shift) string {
				if x.Group != "" {
					return x.Group + " " + x.ZoneID + " " + string(x.Kind)
				}
				return x.ZoneID + " " + string(x.Kind)
			}), tt.want)
			gathertest.Same(t, "calls", countOf(p, "ListZonalShifts")+countOf(p, "ListAutoshifts")+countOf(p, "ListManagedResources"), tt.calls)
			for _, source := range q.Sources {
				if f := s.Failures[source]; f.Call != tt.failed[source] || f.Call != "" && f.Reason != snapshot.Denied {
					t.Errorf("%s: %+v, want %q", source, f, tt.failed[source])
				}
			}
		})
	}
}

const (
	groupName = "eks-default-2ac4941f-d51b-87e0-30e3-fe83f3d78e7f"
	groupARN  = "arn:aws:autoscaling:us-west-2:111122223333:autoScalingGroup:0000:autoScalingGroupName/" + groupName
)
