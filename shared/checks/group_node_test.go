package checks

// nodeCases are the cases of nodeChecks.
func nodeCases() map[ID][]testCase {
	return map[ID][]testCase{
		"node/not-registered": notRegisteredCases(),
		"node/not-ready":      notReadyCases(),
		"node/cni-not-ready":  cniNotReadyCases(),
		"node/uninitialized":  uninitializedCases(),
		"node/csr-pending":    csrPendingCases(),
	}
}
