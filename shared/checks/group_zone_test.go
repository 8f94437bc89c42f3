package checks

// zoneCases are the cases of zoneChecks.
func zoneCases() map[ID][]testCase {
	return map[ID][]testCase{
		"zone/volume-stranded":   volumeStrandedCases(),
		"zone/nodegroup-gap":     nodegroupGapCases(),
		"zone/pod-unschedulable": podUnschedulableCases(),
		"zone/impaired":          zoneImpairedCases(),
	}
}
