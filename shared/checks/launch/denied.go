package launch

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/access/denial"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/snapshot"
)

// What is said of launches that were refused for want of permission: which policy,
// which statement of it, which tag.

// denials are what the messages of a fault tell, each once.
func (f launchFault) denials() []facts.Denied {
	var list []facts.Denied
	for _, t := range f.list {
		if t.Denied != nil && !slices.ContainsFunc(list, func(d facts.Denied) bool { return sameDenial(d, *t.Denied) }) {
			list = append(list, *t.Denied)
		}
	}
	return list
}

// sameDenial leaves out who asked and on what: they differ from call to call.
func sameDenial(x, y facts.Denied) bool {
	return x.Action == y.Action && x.Explicit == y.Explicit && x.Kind == y.Kind && x.Policy == y.Policy && x.Undecoded == y.Undecoded &&
		slices.EqualFunc(x.Statements, y.Statements, func(a, b snapshot.DeniedStatement) bool {
			return a.ID == b.ID && slices.EqualFunc(a.Conditions, b.Conditions, func(c, d snapshot.DeniedCondition) bool {
				return c.Key == d.Key && slices.Equal(c.Names, d.Names) && slices.Equal(c.Has, d.Has)
			})
		})
}

// deniedEvidence is which policy denied what, and why as far as its message tells.
func (f launchFault) deniedEvidence() []finding.Evidence {
	const most = 3
	var list []finding.Evidence
	for i, d := range f.denials() {
		if i == most {
			break
		}
		if d.Action != "" {
			what := d.Action
			if d.Resource != "" {
				what += " on " + d.Resource
			}
			if d.Who != "" {
				what += ", asked by " + d.Who
			}
			list = append(list, finding.Evidence{What: "Denied", Value: what})
		}
		if by := deniedBy(d.Denial); by != "" {
			list = append(list, finding.Evidence{What: "By", Value: by})
		}
		for _, s := range d.Statements {
			list = append(list, finding.Evidence{What: "Statement " + cmp.Or(s.ID, "without a Sid"), Value: conditions(s)})
		}
		if d.Undecoded != "" {
			list = append(list, finding.Evidence{What: "Encoded message", Value: "not decoded: " + d.Undecoded})
		}
	}
	return list
}

// deniedBy is the kind of the policy, and whether it denies or only does not allow.
func deniedBy(d snapshot.Denial) string {
	kind := cmp.Or(d.Kind, "policy")
	switch {
	case d.Explicit && d.Policy != "":
		return fmt.Sprintf("an explicit deny in %s, %s", phrase.Article(kind), d.Policy)
	case d.Explicit && d.Kind == "":
		return "an explicit deny; of which kind the policy is the message does not say"
	case d.Explicit:
		return "an explicit deny in " + phrase.Article(kind)
	case d.Kind != "", len(d.Statements) > 0:
		return fmt.Sprintf("no %s allows it", kind)
	}
	return ""
}

// conditions are the keys of a statement that denied a request: what it names, and
// what the request had. By which operator they are compared AWS does not tell.
func conditions(s snapshot.DeniedStatement) string {
	var parts []string
	for _, c := range s.Conditions {
		has := "the request has none"
		if len(c.Has) > 0 {
			has = "the request has " + phrase.And(c.Has)
		}
		if len(c.Names) == 0 {
			parts = append(parts, fmt.Sprintf("%s (%s)", c.Key, has))
			continue
		}
		parts = append(parts, fmt.Sprintf("%s names %s, %s", c.Key, phrase.And(c.Names), has))
	}
	if len(parts) == 0 {
		return "denies it without a condition"
	}
	return strings.Join(parts, "; ")
}

// saysStatement ends the title with the statement that denied the launches, where
// all messages tell the same one.
func saysStatement(f launchFault) string {
	if list := f.denials(); len(list) == 1 && len(list[0].Statements) > 0 && list[0].Statements[0].ID != "" {
		return "statement " + list[0].Statements[0].ID + " denies it"
	}
	return ""
}

// saysDenied ends it with the policy, where no statement is told.
func saysDenied(f launchFault) string {
	list := f.denials()
	switch {
	case saysStatement(f) != "":
		return saysStatement(f)
	case len(list) == 1 && list[0].Explicit && list[0].Kind != "":
		return phrase.Article(list[0].Kind) + " denies it"
	}
	return ""
}

// missingTags says which tags the launches did not have and a statement asks for;
// empty where none is told.
func (f launchFault) missingTags() string {
	var tags []string
	for _, d := range f.denials() {
		tags = append(tags, denial.MissingTags(d.Denial)...)
	}
	slices.Sort(tags)
	if tags = slices.Compact(tags); len(tags) == 0 {
		return ""
	}
	where := "in the launch template's tag specifications, for instances and volumes"
	if f.refused() != nil {
		where = "in spec.tags of the NodePool's class (on EKS Auto Mode the cluster's role must be allowed to set it)"
	}
	return fmt.Sprintf("Give what is launched the %s %s, which the statement asks for: %s. Else change the statement.", phrase.Plural(len(tags), "tag", "tags"), phrase.And(tags), where)
}
