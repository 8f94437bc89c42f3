package detect

import (
	"maps"

	"rollcall/shared/diagnose"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// tags are those of the nodegroups that causes and launches name, by nodegroup:
// channels are chosen by them. A node of an Auto Scaling group without a managed
// nodegroup goes by that group's.
func tags(s *snapshot.Snapshot, d diagnose.Diagnosis, launches []report.Launch) map[string]map[string]string {
	named := namedGroups(d, launches)
	all := map[string]map[string]string{}
	for _, g := range s.Groups {
		name := g.Owner()
		if g.Tags[nodegroupTag] != "" {
			name = g.Name
		}
		if (named[name] || named[g.Name]) && len(g.Tags) > 0 {
			all[name] = maps.Clone(g.Tags)
		}
	}
	for _, n := range s.Nodegroups {
		if named[n.Name] && len(n.Tags) > 0 {
			all[n.Name] = maps.Clone(n.Tags)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// namedGroups are the nodegroups that causes and launches name; a launch of a group
// without one names that.
func namedGroups(d diagnose.Diagnosis, launches []report.Launch) map[string]bool {
	named := map[string]bool{}
	for _, c := range d.Causes {
		for _, name := range c.Nodegroups {
			named[name] = true
		}
	}
	for _, l := range launches {
		if l.Nodegroup != "" {
			named[l.Nodegroup] = true
		} else {
			named[l.Group] = true
		}
	}
	return named
}
