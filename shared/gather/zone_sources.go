package gather

import (
	"rollcall/shared/checks"
	"rollcall/shared/snapshot"
)

// ZoneSources is what a look at the zones reads: what the checks of zones need
// and use.
func ZoneSources(list []checks.Check) []snapshot.Source {
	return union(list, snapshot.Clusters, snapshot.Instances, snapshot.Groups, snapshot.Nodegroups, snapshot.Activities, snapshot.Nodes,
		snapshot.VolumesOf, snapshot.PersistentVolumes, snapshot.ClaimsOf, snapshot.WaitingPods, snapshot.ZonesOf)
}
