package spot

import (
	"cmp"
	"fmt"
	"slices"

	"rollcall/shared/snapshot"
)

// FewPools is how many pools a Spot nodegroup should be able to choose from at
// least: two types in three zones. AWS advises to be flexible across at least
// ten types (EC2 user guide, "Best practices for Amazon EC2 Spot"); what has
// fewer than this rides out no shortage at all.
const FewPools = 6

// change is what to do: first what cures the explanations that are supported,
// then what makes nodegroups with few pools less fragile, if launches were
// refused or taken back.
func (w *weighing) change(list []weighed) []string {
	var out []string
	add := func(s string) {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	for _, e := range list {
		if e.Verdict == Supported {
			for _, s := range e.change {
				add(s)
			}
		}
	}
	short := false
	for _, p := range w.failures {
		short = short || p.End == snapshot.Reclaimed || noCapacity(p)
	}
	if !short {
		return out
	}
	for _, g := range w.groups() {
		if n := len(g.pools); n < FewPools {
			add(fmt.Sprintf("Add types: %s has %s.", g.name, count(n, "pool", "pools")))
		}
	}
	return out
}

// group is a nodegroup with Spot launches and the pools it can choose from.
type group struct {
	name  string
	pools []Place
}

// groups are those of the history: the types of its Auto Scaling group in all
// its zones, and what it has launched.
func (w *weighing) groups() []group {
	var list []group
	add := func(name string, p Place) {
		i := slices.IndexFunc(list, func(g group) bool { return g.name == name })
		if i < 0 {
			i = len(list)
			list = append(list, group{name: name})
		}
		if !slices.Contains(list[i].pools, p) {
			list[i].pools = append(list[i].pools, p)
		}
	}
	named := map[string]string{}
	for _, p := range w.in.History {
		if !p.Spot {
			continue
		}
		name := cmp.Or(p.Nodegroup, p.Group)
		named[p.Group] = name
		if p.Type != "" && p.Zone != "" {
			add(name, Place{p.Type, p.Zone})
		}
	}
	for _, g := range w.in.Groups {
		name, known := named[g.Name]
		if !known {
			continue
		}
		for _, t := range g.Types {
			for _, zone := range g.Zones {
				add(name, Place{t, zone})
			}
		}
	}
	slices.SortFunc(list, func(a, b group) int { return cmp.Compare(a.name, b.name) })
	return list
}
