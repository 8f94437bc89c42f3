package gather

import (
	"rollcall/shared/checks"
	"rollcall/shared/snapshot"
)

// PoolSources is what a report on Spot reads: what the checks of pools need,
// the subnets and the types that launches take addresses of, and how aws-node
// takes them.
func PoolSources(list []checks.Check) []snapshot.Source {
	return union(list, snapshot.Clusters, snapshot.Groups, snapshot.Subnets, snapshot.InstanceTypes, snapshot.AWSNode)
}
