// Package nodegroup holds the checks of nodegroup: what EKS says of node groups.
package nodegroup

import (
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/checkid"
)

// NodegroupChecks are the checks of nodegroup: what EKS says of node groups.
func NodegroupChecks() []check.Check {
	return []check.Check{
		nodegroupHealth(),
		nodegroupStatus(),
		nodegroupUpdateFailed(),
	}
}

// behindNodegroups are the checks that are nearer to the cause of an issue
// than EKS's word for it.
func behindNodegroups() []checkid.ID {
	return []checkid.ID{
		checkid.AnyJoinCause, checkid.AnyFailedLaunch, "launch/suspended", "ip/subnet-exhausted", "spot/reclaimed-before-join", "cluster/health", "addon/degraded",
	}
}
