package gather

import (
	"maps"
	"slices"

	"rollcall/shared/checks"
	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// LaunchSources is what a look at a launch reads: what its checks need, and
// what tells whose instance it is. Nothing of it is Kubernetes': who looks at
// launches has no access to clusters, and so to no NodeClass. Nor has a launch written a
// console yet, or an image that EC2 lists no more.
func LaunchSources(list []checks.Check) []snapshot.Source {
	all := union(list, snapshot.Instances, snapshot.Clusters, snapshot.Groups, snapshot.Activities, snapshot.Nodegroups, snapshot.UserDataOf)
	return slices.DeleteFunc(all, func(s snapshot.Source) bool {
		return s == snapshot.Consoles || s == snapshot.LaunchedImagesOf || s == snapshot.ClassAccess || ofKubernetes(s)
	})
}

// JoinSources is what a roll call reads: what its checks need, and the nodes.
func JoinSources(list []checks.Check) []snapshot.Source {
	return union(list, snapshot.Instances, snapshot.Clusters, snapshot.Groups, snapshot.Activities, snapshot.Nodegroups, snapshot.UserDataOf, snapshot.Nodes)
}

func union(list []checks.Check, more ...snapshot.Source) []snapshot.Source {
	set := map[snapshot.Source]bool{}
	for _, s := range more {
		set[s] = true
	}
	var asked []snapshot.Source
	for _, c := range list {
		asked = append(asked, c.Needs...)
		asked = append(asked, c.Uses...)
	}
	for _, s := range source.With(catalogue(), asked...) {
		set[s.Name] = true
	}
	return slices.Sorted(maps.Keys(set))
}
