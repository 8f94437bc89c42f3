package checks

import (
	"slices"

	"rollcall/shared/firewall"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// View is a snapshot as the checks see it: what several of them derive from it
// is derived once, when the first asks. One view serves one goroutine, and
// what it gives out is read only.
type View struct {
	*snapshot.Snapshot
	known struct {
		network  fact[*path.Network]
		filters  fact[*firewall.Filters]
		index    fact[ledger]
		scoped   fact[[]*snapshot.Instance]
		ready    fact[map[string]bool]
		joined   fact[joined]
		boot     fact[*starts]
		routes   fact[*scene]
		ground   fact[*ground]
		crews    fact[roleGroups]
		attempts fact[*attempts]
		places   fact[*places]
		lodgings fact[[]lodging]
		leaks    fact[leaks]
		pods     fact[map[string][]snapshot.Pod]
	}
}

// fact is one derived fact. built counts how often it was derived.
type fact[T any] struct {
	value T
	built int
}

// of derives the fact where nobody has. One whose derivation panics is derived
// anew, and panics anew, for each that asks.
func (f *fact[T]) of(derive func() T) T {
	if f.built == 0 {
		f.value = derive()
		f.built++
	}
	return f.value
}

// joined are the scope's instances that have not joined and could have, and
// those that are Ready nodes.
type joined struct{ suspects, well []*snapshot.Instance }

// roleGroups are the scope's instances by node role. Blind are those whose
// role cannot be told.
type roleGroups struct {
	list  []crew
	blind []Finding
}

// NewView is a view of a snapshot that does not change any more.
func NewView(s *snapshot.Snapshot) *View { return &View{Snapshot: s} }

// Network is the way of packets.
func (v *View) Network() *path.Network {
	return v.known.network.of(func() *path.Network { return path.New(v.Snapshot) })
}

// Filters are the security groups and network ACLs.
func (v *View) Filters() *firewall.Filters {
	return v.known.filters.of(func() *firewall.Filters { return firewall.New(v.Snapshot) })
}

// Index is what is known of the scope's instances, by id.
func (v *View) Index() ledger { return v.known.index.of(func() ledger { return newLedger(v) }) }

// Scoped are the instances of the scope that EC2 described.
func (v *View) Scoped() []*snapshot.Instance {
	return v.known.scoped.of(func() []*snapshot.Instance { return slices.Clip(scoped(v)) })
}

// Ready are the instances that are Ready nodes.
func (v *View) Ready() map[string]bool {
	return v.known.ready.of(func() map[string]bool { return joinedNodes(v) })
}

// Suspects are the instances of the scope that have not joined and could have,
// and those that are Ready nodes.
func (v *View) Suspects() (suspects, well []*snapshot.Instance) {
	j := v.known.joined.of(func() joined {
		suspects, well := v.Index().suspects()
		return joined{slices.Clip(suspects), slices.Clip(well)}
	})
	return j.suspects, j.well
}

// Boot is how the scope's instances were started.
func (v *View) Boot() *starts { return v.known.boot.of(func() *starts { return newStarts(v) }) }

// RouteScope is the scope by route table.
func (v *View) RouteScope() *scene {
	return v.known.routes.of(func() *scene { return lookInto(v, v.Scope.Subnets) })
}

// Placements are the scope's nodes by subnet and security groups.
func (v *View) Placements() *ground { return v.known.ground.of(func() *ground { return survey(v) }) }

// RoleGroups are the scope's instances by node role. Blind are those whose
// role cannot be told.
func (v *View) RoleGroups() (list []crew, blind []Finding) {
	g := v.known.crews.of(func() roleGroups {
		list, blind := crews(v)
		return roleGroups{slices.Clip(list), slices.Clip(blind)}
	})
	return g.list, g.blind
}

// Attempts are the launches that failed.
func (v *View) Attempts() *attempts {
	return v.known.attempts.of(func() *attempts { return newAttempts(v) })
}

// Places are the nodes of the cluster by zone, and what launches them.
func (v *View) Places() *places { return v.known.places.of(func() *places { return newPlaces(v) }) }

// Lodgings are the cluster's volumes, and what serves each.
func (v *View) Lodgings() []lodging {
	return v.known.lodgings.of(func() []lodging { return slices.Clip(v.Places().lodge()) })
}

// PodsOf are the pods of aws-node on each instance's node.
func (v *View) PodsOf() map[string][]snapshot.Pod {
	return v.known.pods.of(func() map[string][]snapshot.Pod { return podsByInstance(v) })
}

// Leaks are the interfaces that dead nodes left behind.
func (v *View) Leaks() leaks { return v.known.leaks.of(func() leaks { return newLeaks(v) }) }

// Derived is how often each fact was derived, by name.
func (v *View) derived() map[string]int {
	return map[string]int{
		"network": v.known.network.built, "filters": v.known.filters.built, "instance index": v.known.index.built,
		"scoped": v.known.scoped.built, "ready": v.known.ready.built, "joined": v.known.joined.built, "boot": v.known.boot.built,
		"route scope": v.known.routes.built, "placements": v.known.ground.built, "role groups": v.known.crews.built,
		"attempts": v.known.attempts.built, "places": v.known.places.built, "volumes": v.known.lodgings.built, "leaks": v.known.leaks.built, "pods": v.known.pods.built,
	}
}
