package checks

// nodeChecks are the checks of node: what Kubernetes says.
func nodeChecks() []Check {
	return []Check{
		notRegistered(),
		notReady(),
		cniNotReady(),
		uninitialized(),
		csrPending(),
	}
}
