package checks

// nodegroupCases are the cases of nodegroupChecks.
func nodegroupCases() map[ID][]testCase {
	return map[ID][]testCase{
		"nodegroup/health":        nodegroupHealthCases(),
		"nodegroup/status":        nodegroupStatusCases(),
		"nodegroup/update-failed": nodegroupUpdateFailedCases(),
	}
}
