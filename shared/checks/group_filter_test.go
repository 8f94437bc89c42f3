package checks

// filterCases are the cases of filterChecks.
func filterCases() map[ID][]testCase {
	return map[ID][]testCase{
		"sg/node-egress":     nodeEgressCases(),
		"sg/cluster-ingress": clusterIngressCases(),
		"sg/kubelet-ingress": kubeletIngressCases(),
		"nacl/egress":        naclEgressCases(),
		"nacl/return":        naclReturnCases(),
	}
}
