package checks

// clusterChecks are the checks of cluster and addon.
func clusterChecks() []Check {
	return []Check{
		clusterHealth(),
		addonDegraded(),
	}
}
