// Package cluster holds the checks of cluster: what EKS says of the cluster.
package cluster

import (
	"rollcall/shared/checks/addon"
	"rollcall/shared/checks/check"
)

// ClusterChecks are the checks of cluster and addon.
func ClusterChecks() []check.Check {
	return []check.Check{
		clusterHealth(),
		addon.AddonDegraded(),
	}
}
