package source

import (
	"slices"

	"rollcall/shared/fn"
)

// Reads are the permissions that reading the sources takes: what is allowed of
// anything first, then by what it is narrowed to.
func Reads(list ...Source) []fn.Read {
	var reads []fn.Read
	for _, s := range list {
		for _, c := range s.Calls {
			resources := c.Resources
			if resources == nil {
				resources = []string{"*"}
			}
			i := slices.IndexFunc(reads, func(r fn.Read) bool { return slices.Equal(r.Resources, resources) })
			if i < 0 {
				i, reads = len(reads), append(reads, fn.Read{Resources: resources})
			}
			reads[i].Actions = append(reads[i].Actions, c.Action)
		}
	}
	for i := range reads {
		slices.Sort(reads[i].Actions)
		reads[i].Actions = slices.Compact(reads[i].Actions)
	}
	slices.SortFunc(reads, func(a, b fn.Read) int { return slices.Compare(a.Resources, b.Resources) })
	return reads
}

// KubeRules are the rights in a cluster that reading the sources takes, once
// each: what belongs to no namespace first.
func KubeRules(list ...Source) []fn.KubeRule {
	var rules []fn.KubeRule
	for _, s := range list {
		for _, r := range s.Kube {
			if !slices.ContainsFunc(rules, func(o fn.KubeRule) bool { return Request(o) == Request(r) }) {
				rules = append(rules, r)
			}
		}
	}
	slices.SortFunc(rules, func(a, b fn.KubeRule) int {
		return slices.Compare([]string{a.Namespace, Request(a)}, []string{b.Namespace, Request(b)})
	})
	return rules
}
