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
		network    Fact[*path.Network]
		filters    Fact[*filter.Filters]
		index      Fact[InstanceIndex]
		scoped     Fact[[]*snapshot.Instance]
		ready      Fact[map[string]bool]
		joined     Fact[joined]
		boot       Fact[*BootConfig]
		placements Fact[*Placements]
		roleGroups Fact[groupedRoles]
		attempts   Fact[*Attempts]
		leaks      Fact[Leaks]
		pods       Fact[map[string][]snapshot.Pod]
		waits      Fact[[]PodWait]
	}
	// others are the facts of packages that build on this one, by name.
	others map[string]*Fact[any]
}

// Derive gives a fact of a package that builds on this one: it is derived when the
// first asks. The name is the package's and the fact's, and has one type.
func Derive[T any](v *View, name string, derive func(*View) T) T {
	f := v.others[name]
	if f == nil {
		f = &Fact[any]{}
		v.others[name] = f
	}
	return f.Of(func() any { return derive(v) }).(T)
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
func NewView(s *snapshot.Snapshot) *View { return &View{Snapshot: s, others: map[string]*Fact[any]{}} }

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

// Placements are the scope's nodes by subnet and security groups.
func (v *View) Placements() *Placements {
	return v.known.placements.Of(func() *Placements { return groupPlacements(v) })
}

// RoleGroups are the scope's instances by node role. Blind are those whose
// role cannot be told.
func (v *View) RoleGroups() (list []RoleGroup, blind []finding.Finding) {
	g := v.known.roleGroups.Of(func() groupedRoles {
		list, blind := groupByRole(v)
		return groupedRoles{slices.Clip(list), slices.Clip(blind)}
	})
	return g.list, g.blind
}

// Attempts are the launches that failed.
func (v *View) Attempts() *Attempts {
	return v.known.attempts.Of(func() *Attempts { return newAttempts(v) })
}

// PodsOf are the pods of aws-node on each instance's node.
func (v *View) PodsOf() map[string][]snapshot.Pod {
	return v.known.pods.Of(func() map[string][]snapshot.Pod { return podsByInstance(v) })
}

// Leaks are the interfaces that dead nodes left behind.
func (v *View) Leaks() Leaks { return v.known.leaks.Of(func() Leaks { return newLeaks(v) }) }

// Derived is how often each fact was derived, by name.
func (v *View) Derived() map[string]int {
	built := map[string]int{
		"network": v.known.network.built, "filters": v.known.filters.built, "instance index": v.known.index.built,
		"scoped": v.known.scoped.built, "ready": v.known.ready.built, "joined": v.known.joined.built, "boot": v.known.boot.built,
		"placements": v.known.placements.built, "role groups": v.known.roleGroups.built,
		"attempts": v.known.attempts.built, "leaks": v.known.leaks.built, "pods": v.known.pods.built,
		"pod waits": v.known.waits.built,
	}
	for name, f := range v.others {
		built[name] = f.built
	}
	return built
}
