package worldfile

import "rollcall/local/simaws/zonalshift"

// ZonalShiftFile is the part of a world that is ARC zonal shift's. What is registered
// follows from the settings of clusters and Auto Scaling groups.
type ZonalShiftFile struct {
	// ZonalShifts are what list-zonal-shifts prints; their status follows from the time.
	ZonalShifts []zonalshift.ZonalShift
	// Autoshifts are AWS's own, of the Region.
	Autoshifts []zonalshift.Autoshift
	// Autoshifted are the ARNs of groups for which autoshift is on. For a cluster with
	// zonal shift it is: "If zonal shift is enabled, AWS configures zonal autoshift for
	// the cluster" (EKS API reference, ZonalShiftConfigRequest).
	Autoshifted []string
}
