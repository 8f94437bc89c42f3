package kubeapi

import "slices"

// Rule is one rule of a role: verbs on resources of API groups. "*" is all.
type Rule struct {
	Groups, Resources, Verbs []string
	// Namespaces narrows the rule to objects in them; none is the whole
	// cluster.
	Namespaces []string
	// Names narrows it to the objects of these names; none is all. A list is
	// of no name.
	Names []string
}

// Attributes is what a request wants, for the decision whether it may.
type Attributes struct {
	Verb, Group, Resource, Namespace, Name string
}

// Allows tells whether a rule covers a request.
func (r Rule) Allows(a Attributes) bool {
	has := func(list []string, v string) bool { return slices.Contains(list, "*") || slices.Contains(list, v) }
	return has(r.Verbs, a.Verb) && has(r.Groups, a.Group) && has(r.Resources, a.Resource) &&
		(len(r.Namespaces) == 0 || a.Namespace != "" && slices.Contains(r.Namespaces, a.Namespace)) &&
		(len(r.Names) == 0 || slices.Contains(r.Names, a.Name))
}
