// Package facts is what several checks derive from a snapshot, each fact once: a
// View hands them out. It knows no check.
package facts

import (
	"slices"

	"rollcall/shared/checks/finding"
	"rollcall/shared/network/filter"

	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// View is a snapshot as the checks see it: what several of them derive from it
// is derived once, when the first asks. One view serves one goroutine, and
// what it gives out is read only.
type View struct {
	*snapshot.Snapshot
	known struct {
		network  Fact[*path.Network]
		filters  Fact[*filter.Filters]
		index    Fact[InstanceIndex]
		scoped   Fact[[]*snapshot.Instance]
		ready    Fact[map[string]bool]
		joined   Fact[joined]
		boot     Fact[*BootConfig]
		routes   Fact[*RouteScope]
		ground   Fact[*Placements]
		crews    Fact[groupedRoles]
		attempts Fact[*Attempts]
		places   Fact[*ZoneView]
		lodgings Fact[[]VolumePlacement]
		leaks    Fact[Leaks]
		pods     Fact[map[string][]snapshot.Pod]
	}
}

// Fact is one derived fact. built counts how often it was derived.
type Fact[T any] struct {
	value T
	built int
}

// Of derives the fact where nobody has. One whose derivation panics is derived
// anew, and panics anew, for each that asks.
func (f *Fact[T]) Of(derive func() T) T {
	if f.built == 0 {
		f.value = derive()
		f.built++
	}
	return f.value
}

// joined are the scope's instances that have not joined and could have, and
// those that are Ready nodes.
type joined struct{ suspects, well []*snapshot.Instance }

// groupedRoles are the scope's instances by node role. Blind are those whose
// role cannot be told.
type groupedRoles struct {
	list  []RoleGroup
	blind []finding.Finding
}

// NewView is a view of a snapshot that does not change any more.
func NewView(s *snapshot.Snapshot) *View { return &View{Snapshot: s} }

// Network is the way of packets.
func (v *View) Network() *path.Network {
	return v.known.network.Of(func() *path.Network { return path.New(v.Snapshot) })
}

// Filters are the security groups and network ACLs.
func (v *View) Filters() *filter.Filters {
	return v.known.filters.Of(func() *filter.Filters { return filter.New(v.Snapshot) })
}

// Index is what is known of the scope's instances, by id.
func (v *View) Index() InstanceIndex {
	return v.known.index.Of(func() InstanceIndex { return newInstanceIndex(v) })
}

// Scoped are the instances of the scope that EC2 described.
func (v *View) Scoped() []*snapshot.Instance {
	return v.known.scoped.Of(func() []*snapshot.Instance { return slices.Clip(scoped(v)) })
}

// Ready are the instances that are Ready nodes.
func (v *View) Ready() map[string]bool {
	return v.known.ready.Of(func() map[string]bool { return joinedNodes(v) })
}

// Suspects are the instances of the scope that have not joined and could have,
// and those that are Ready nodes.
func (v *View) Suspects() (suspects, well []*snapshot.Instance) {
	j := v.known.joined.Of(func() joined {
		suspects, well := v.Index().Suspects()
		return joined{slices.Clip(suspects), slices.Clip(well)}
	})
	return j.suspects, j.well
}

// Boot is how the scope's instances were started.
func (v *View) Boot() *BootConfig {
	return v.known.boot.Of(func() *BootConfig { return newBootConfig(v) })
}

// RouteScope is the scope by route table.
func (v *View) RouteScope() *RouteScope {
	return v.known.routes.Of(func() *RouteScope { return NewRouteScope(v, v.Scope.Subnets) })
}

// Placements are the scope's nodes by subnet and security groups.
func (v *View) Placements() *Placements {
	return v.known.ground.Of(func() *Placements { return groupPlacements(v) })
}

// RoleGroups are the scope's instances by node role. Blind are those whose
// role cannot be told.
func (v *View) RoleGroups() (list []RoleGroup, blind []finding.Finding) {
	g := v.known.crews.Of(func() groupedRoles {
		list, blind := groupByRole(v)
		return groupedRoles{slices.Clip(list), slices.Clip(blind)}
	})
	return g.list, g.blind
}

// Attempts are the launches that failed.
func (v *View) Attempts() *Attempts {
	return v.known.attempts.Of(func() *Attempts { return newAttempts(v) })
}

// ZoneView are the nodes of the cluster by zone, and what launches them.
func (v *View) ZoneView() *ZoneView {
	return v.known.places.Of(func() *ZoneView { return newZoneView(v) })
}

// VolumePlacements are the cluster's volumes, and what serves each.
func (v *View) VolumePlacements() []VolumePlacement {
	return v.known.lodgings.Of(func() []VolumePlacement { return slices.Clip(v.ZoneView().volumePlacements()) })
}

// PodsOf are the pods of aws-node on each instance's node.
func (v *View) PodsOf() map[string][]snapshot.Pod {
	return v.known.pods.Of(func() map[string][]snapshot.Pod { return podsByInstance(v) })
}

// Leaks are the interfaces that dead nodes left behind.
func (v *View) Leaks() Leaks { return v.known.leaks.Of(func() Leaks { return newLeaks(v) }) }

// Derived is how often each fact was derived, by name.
func (v *View) Derived() map[string]int {
	return map[string]int{
		"network": v.known.network.built, "filters": v.known.filters.built, "instance index": v.known.index.built,
		"scoped": v.known.scoped.built, "ready": v.known.ready.built, "joined": v.known.joined.built, "boot": v.known.boot.built,
		"route scope": v.known.routes.built, "placements": v.known.ground.built, "role groups": v.known.crews.built,
		"attempts": v.known.attempts.built, "places": v.known.places.built, "volumes": v.known.lodgings.built, "leaks": v.known.leaks.built, "pods": v.known.pods.built,
	}
}
