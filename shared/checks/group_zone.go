package checks

// zoneChecks are the checks of zone: volumes, and the nodes where they live.
func zoneChecks() []Check {
	return []Check{
		volumeStranded(),
		nodegroupGap(),
		podUnschedulable(),
		zoneImpaired(),
	}
}
