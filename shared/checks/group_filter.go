package checks

// filterChecks are the checks of sg, nacl: what lets packets through.
func filterChecks() []Check {
	return []Check{
		nodeEgress(),
		clusterIngress(),
		kubeletIngress(),
		naclEgress(),
		naclReturn(),
	}
}
