// Package node holds the checks of node: what Kubernetes says.
package node

import (
	"rollcall/shared/checks/check"
)

// NodeChecks are the checks of node: what Kubernetes says.
func NodeChecks() []check.Check {
	return []check.Check{
		notRegistered(),
		notReady(),
		cniNotReady(),
		uninitialized(),
		csrPending(),
	}
}
