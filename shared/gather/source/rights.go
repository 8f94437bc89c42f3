package source

import (
	"slices"

	"rollcall/shared/spec"
)

// Reads are the permissions that reading the sources takes: what is allowed of
// anything first, then by what it is narrowed to.
func Reads(list ...Source) []spec.Read {
	var reads []spec.Read
	for _, s := range list {
		for _, c := range s.Calls {
			resources := c.Resources
			if resources == nil {
				resources = []string{"*"}
			}
			i := slices.IndexFunc(reads, func(r spec.Read) bool { return slices.Equal(r.Resources, resources) })
			if i < 0 {
				i, reads = len(reads), append(reads, spec.Read{Resources: resources})
			}
			reads[i].Actions = append(reads[i].Actions, c.Action)
		}
	}
	for i := range reads {
		slices.Sort(reads[i].Actions)
		reads[i].Actions = slices.Compact(reads[i].Actions)
	}
	slices.SortFunc(reads, func(a, b spec.Read) int { return slices.Compare(a.Resources, b.Resources) })
	return reads
}

// KubeRules are the rights in a cluster that reading the sources takes, once
// each: what belongs to no namespace first.
func KubeRules(list ...Source) []spec.KubeRule {
	var rules []spec.KubeRule
	for _, s := range list {
		for _, r := range s.Kube {
			if !slices.ContainsFunc(rules, func(o spec.KubeRule) bool { return Request(o) == Request(r) }) {
				rules = append(rules, r)
			}
		}
	}
	slices.SortFunc(rules, func(a, b spec.KubeRule) int {
		return slices.Compare([]string{a.Namespace, Request(a)}, []string{b.Namespace, Request(b)})
	})
	return rules
}
