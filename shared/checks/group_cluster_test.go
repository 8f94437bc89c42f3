package checks

// clusterCases are the cases of clusterChecks.
func clusterCases() map[ID][]testCase {
	return map[ID][]testCase{
		"cluster/health": clusterHealthCases(),
		"addon/degraded": addonDegradedCases(),
	}
}
