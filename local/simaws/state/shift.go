package state

import (
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/simaws/zonalshift"
)

// ZonalShifts are the world's with their status now: a shift expires by itself
// (ARC developer guide, "Zonal shift").
func (w *State) ZonalShifts() []zonalshift.ZonalShift {
	var list []zonalshift.ZonalShift
	for _, z := range w.File.ArcZonalShift.ZonalShifts {
		switch {
		case z.StartTime.After(w.Now):
			continue
		case z.Status == "" && !z.ExpiryTime.IsZero() && !z.ExpiryTime.After(w.Now):
			z.Status = "EXPIRED"
		case z.Status == "":
			z.Status = "ACTIVE"
		}
		if z.ShiftType == "" {
			z.ShiftType = "ZONAL_SHIFT"
		}
		list = append(list, z)
	}
	return list
}

// Autoshifts are AWS's own with their status now.
func (w *State) Autoshifts() []zonalshift.Autoshift {
	var list []zonalshift.Autoshift
	for _, a := range w.File.ArcZonalShift.Autoshifts {
		switch {
		case a.StartTime.After(w.Now):
			continue
		case !a.EndTime.IsZero() && !a.EndTime.After(w.Now):
			a.Status = "COMPLETED"
		default:
			a.Status, a.EndTime = "ACTIVE", time.Time{}
		}
		list = append(list, a)
	}
	return list
}

// ShiftsOf are the shifts of a resource that ARC manages, with the one in effect applied:
// "customer-initiated zonal shifts > autoshifts > practice run zonal shifts" (ARC zonal
// shift API reference, ZonalShiftInResource, appliedStatus).
func (w *State) ShiftsOf(arn string, autoshift bool) (zonal, auto []zonalshift.AppliedShift) {
	for _, z := range w.ZonalShifts() {
		if z.ResourceIdentifier == arn && z.Status == "ACTIVE" {
			zonal = append(zonal, zonalshift.AppliedShift{
				AppliedStatus: "NOT_APPLIED", AwayFrom: z.AwayFrom, ZonalShiftId: z.ZonalShiftId, ResourceIdentifier: arn, Comment: z.Comment,
				ShiftType: z.ShiftType, PracticeRunOutcome: z.PracticeRunOutcome, StartTime: z.StartTime, ExpiryTime: z.ExpiryTime,
			})
		}
	}
	for _, a := range w.Autoshifts() {
		if autoshift && a.Status == "ACTIVE" {
			auto = append(auto, zonalshift.AppliedShift{AppliedStatus: "NOT_APPLIED", AwayFrom: a.AwayFrom, StartTime: a.StartTime})
		}
	}
	practice := func(z zonalshift.AppliedShift) bool { return z.ShiftType == "PRACTICE_RUN" }
	own := slices.IndexFunc(zonal, func(z zonalshift.AppliedShift) bool { return !practice(z) })
	switch {
	case own >= 0:
		zonal[own].AppliedStatus = "APPLIED"
	case len(auto) > 0:
		for i := range auto {
			auto[i].AppliedStatus = "APPLIED"
		}
	case len(zonal) > 0:
		zonal[0].AppliedStatus = "APPLIED"
	}
	return zonal, auto
}

// ClusterShifted reports whether a zone is shifted away from for a cluster.
func (w *State) ClusterShifted(cluster, zoneID string) bool {
	c := w.Clusters.Get(cluster)
	return c != nil && ClusterManaged(c) && w.shifted(aws.ToString(c.Arn), true, zoneID)
}

// ClusterManaged reports whether EKS has registered a cluster with ARC.
func ClusterManaged(c *ekstypes.Cluster) bool {
	return c.ZonalShiftConfig != nil && aws.ToBool(c.ZonalShiftConfig.Enabled)
}

// GroupManaged reports whether Auto Scaling has registered a group with ARC.
func GroupManaged(g *Group) bool {
	return g.AvailabilityZoneImpairmentPolicy != nil && aws.ToBool(g.AvailabilityZoneImpairmentPolicy.ZonalShiftEnabled)
}

// GroupAutoshift reports whether autoshift is on for a group.
func (w *State) GroupAutoshift(g *Group) bool {
	return slices.Contains(w.File.ArcZonalShift.Autoshifted, aws.ToString(g.AutoScalingGroupARN))
}

// GroupShifted reports whether a group launches nothing in a zone for a shift: its own
// ("Auto Scaling will launch all new capacity requests in the healthy Availability Zones",
// ARC developer guide, "Amazon EC2 Auto Scaling groups"), or the cluster's for a managed
// nodegroup ("your Auto Scaling group will be updated to ensure that new EKS data plane
// nodes are only launched in the healthy AZs", EKS user guide, "Learn about ARC zonal
// shift in Amazon EKS").
func (w *State) GroupShifted(g *Group, zoneID string) bool {
	if GroupManaged(g) && w.shifted(aws.ToString(g.AutoScalingGroupARN), w.GroupAutoshift(g), zoneID) {
		return true
	}
	ng := w.NodegroupOfGroup(g)
	return ng != nil && w.ClusterShifted(aws.ToString(ng.ClusterName), zoneID)
}

func (w *State) shifted(arn string, autoshift bool, zoneID string) bool {
	zonal, auto := w.ShiftsOf(arn, autoshift)
	return slices.ContainsFunc(append(zonal, auto...), func(s zonalshift.AppliedShift) bool {
		return s.AppliedStatus == "APPLIED" && s.AwayFrom == zoneID
	})
}
