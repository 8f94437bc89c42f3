package detect

import (
	"cmp"
	"maps"
	"slices"

	"rollcall/shared/gather"
	"rollcall/shared/node/userdata"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
)

// groupTag is the tag by which Auto Scaling marks its instances.
const groupTag = "aws:autoscaling:groupName"

// nodegroupTag is the tag that EKS puts on the instances of a managed node group.
const nodegroupTag = "eks:nodegroup-name"

// GroupOf is the Auto Scaling group that an instance belongs to, or "".
func GroupOf(in snapshot.Instance) string { return in.Tags[groupTag] }

// Assignment says whose each instance is.
type Assignment struct {
	// Clusters holds the instances of each watched cluster.
	Clusters map[string][]snapshot.Instance
	// Foreign are instances of no cluster that is watched.
	Foreign []string
	// Warm are instances in a warm pool, or held otherwise by their group: they are not
	// expected to join.
	Warm []string
	// Unsure are instances of which only their group could tell whose they
	// are, and the groups could not be read.
	Unsure []string
}

// Names are the clusters' names, sorted.
func (a Assignment) Names() []string { return slices.Sorted(maps.Keys(a.Clusters)) }

// Evidence is what tells whose an instance is, beside its own tags.
type Evidence struct {
	Groups []snapshot.Group
	// GroupsUnread tells that the groups could not be read.
	GroupsUnread bool
	// Recorded are the launches that are remembered: EC2 takes the tags off a
	// terminated instance some time before it forgets the instance.
	Recorded map[string]store.LaunchRecord
	// Named are clusters by instance, as the user data of instances without
	// tags names them.
	Named   map[string]string
	Watches func(cluster string) bool
}

// Assign tells which watched cluster each instance belongs to: by its own
// tags, else by those of its group, else by its record. Instances of warm
// pools are set aside: Auto Scaling lists them only in the pool.
func Assign(instances []snapshot.Instance, e Evidence) Assignment {
	a := Assignment{Clusters: map[string][]snapshot.Instance{}}
	byName := map[string]snapshot.Group{}
	for _, g := range e.Groups {
		byName[g.Name] = g
	}
	for _, in := range instances {
		group := byName[GroupOf(in)]
		cluster, ok := gather.ClusterOf(in.Tags)
		if !ok {
			cluster, ok = gather.ClusterOf(group.Tags)
		}
		if !ok {
			cluster = cmp.Or(e.Recorded[in.ID].Cluster, e.Named[in.ID])
			ok = cluster != ""
		}
		switch {
		case !ok && e.GroupsUnread && GroupOf(in) != "":
			a.Unsure = append(a.Unsure, in.ID)
		case !ok || !e.Watches(cluster):
			a.Foreign = append(a.Foreign, in.ID)
		case group.Parked(in.ID):
			a.Warm = append(a.Warm, in.ID)
		default:
			a.Clusters[cluster] = append(a.Clusters[cluster], in)
		}
	}
	return a
}

// GroupsOf are the names of the instances' Auto Scaling groups, sorted.
func GroupsOf(instances []snapshot.Instance) []string {
	return distinct(instances, GroupOf)
}

// ManagedOf are the names of the instances' managed node groups, sorted.
func ManagedOf(instances []snapshot.Instance) []string {
	return distinct(instances, func(in snapshot.Instance) string { return in.Tags[nodegroupTag] })
}

// SubnetsOf are the instances' subnets, sorted.
func SubnetsOf(instances []snapshot.Instance) []string {
	return distinct(instances, func(in snapshot.Instance) string { return in.Subnet })
}

// IDs are the instances' ids, in their order.
func IDs(instances []snapshot.Instance) []string {
	ids := make([]string, 0, len(instances))
	for _, in := range instances {
		ids = append(ids, in.ID)
	}
	return ids
}

func distinct(instances []snapshot.Instance, of func(snapshot.Instance) string) []string {
	names := make([]string, 0, len(instances))
	for _, in := range instances {
		names = append(names, of(in))
	}
	return Distinct(names)
}

// Distinct is what the lists name, each once, sorted, without empty names.
func Distinct(lists ...[]string) []string {
	all := slices.DeleteFunc(slices.Concat(lists...), func(s string) bool { return s == "" })
	if len(all) == 0 {
		return nil
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Launchable are the subnets into which groups may launch, sorted.
func Launchable(groups []snapshot.Group) []string {
	var subnets []string
	for _, g := range groups {
		subnets = append(subnets, g.Subnets...)
	}
	return Distinct(subnets)
}

// NamedByUserData are the clusters that user data names, by instance.
func NamedByUserData(list []snapshot.UserData) map[string]string {
	clusters := map[string]string{}
	for _, d := range list {
		if name, ok := userdata.Cluster(d.Data); ok {
			for _, id := range d.Instances {
				clusters[id] = name
			}
		}
	}
	return clusters
}
