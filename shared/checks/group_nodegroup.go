package checks

// nodegroupChecks are the checks of nodegroup: what EKS says of node groups.
func nodegroupChecks() []Check {
	return []Check{
		nodegroupHealth(),
		nodegroupStatus(),
		nodegroupUpdateFailed(),
	}
}
