package address

import (
	"cmp"
	"fmt"
	"slices"

	"rollcall/shared/snapshot"
)

// sizes are the types that a group launches, from that which takes least to
// that which takes most; the gaps are what is not known of them.
func (f *fitting) sizes(g snapshot.Group) ([]snapshot.InstanceType, []Gap) {
	names, gap := f.names(g)
	if gap != nil {
		return nil, []Gap{*gap}
	}
	var list []snapshot.InstanceType
	var gaps []Gap
	for _, name := range names {
		t, known := f.types[name]
		if !known || t.Interfaces == 0 || t.IPv4PerInterface == 0 {
			gaps = append(gaps, Gap{Source: snapshot.InstanceTypes, Key: name, Why: fmt.Sprintf("what %s carries is not known", name)})
			continue
		}
		list = append(list, t)
	}
	f.sortSizes(list)
	return list, gaps
}

// sortSizes sorts types by what they take.
func (f *fitting) sortSizes(list []snapshot.InstanceType) {
	slices.SortFunc(list, func(a, b snapshot.InstanceType) int {
		x, y := f.with.AtStart(a), f.with.AtStart(b)
		return cmp.Or(cmp.Compare(x.Total()+x.Elsewhere, y.Total()+y.Elsewhere), cmp.Compare(a.Name, b.Name))
	})
}

// names are the types that a group launches: its overrides, else its
// nodegroup's, else its launch template's, else what it runs.
func (f *fitting) names(g snapshot.Group) ([]string, *Gap) {
	names := slices.Clone(g.Types)
	if len(names) == 0 {
		for _, n := range f.s.Nodegroups {
			if slices.Contains(n.Groups, g.Name) {
				names = append(names, n.Types...)
			}
		}
	}
	if len(names) == 0 {
		for _, t := range f.s.LaunchTemplates {
			if t.ID != "" && t.ID == g.Template.ID && t.Version == g.Template.Version && t.Type != "" {
				names = append(names, t.Type)
			}
		}
	}
	if len(names) == 0 {
		for _, i := range f.s.Instances {
			if i.Tags["aws:autoscaling:groupName"] == g.Name && !i.Ended() && i.Type != "" {
				names = append(names, i.Type)
			}
		}
	}
	if len(names) == 0 {
		return nil, &Gap{Source: snapshot.LaunchTemplates, Key: g.Template.ID, Why: fmt.Sprintf("which instance types %s launches is not known", g.Name)}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
