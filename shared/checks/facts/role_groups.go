package facts

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/snapshot"
)

// RoleGroup is the instances of the scope that share a node role: one fault of the
// role is one finding.
type RoleGroup struct {
	Role           string // ARN
	Suspects, Well []*snapshot.Instance
}

// groupByRole sorts the scope by node role. Instances without a role are in none:
// they are iam/profile-missing's. Blind are those whose role cannot be told.
func groupByRole(s *View) (list []RoleGroup, blind []finding.Finding) {
	suspects, well := s.Suspects()
	index := map[string]int{}
	place := func(i *snapshot.Instance) *RoleGroup {
		role, why, known := roleOf(s, i)
		switch {
		case !known:
			blind = append(blind, finding.Finding{Outcome: finding.Unknown, Resource: i.ID, Covers: []string{i.ID}, Blocked: []snapshot.Failure{why}})
			return nil
		case role == "":
			return nil
		}
		if _, ok := index[role]; !ok {
			index[role] = len(list)
			list = append(list, RoleGroup{Role: role})
		}
		return &list[index[role]]
	}
	for _, i := range suspects {
		if c := place(i); c != nil {
			c.Suspects = append(c.Suspects, i)
		}
	}
	for _, i := range well {
		if c := place(i); c != nil {
			c.Well = append(c.Well, i)
		}
	}
	return list, Together(blind)
}

// Together makes one Unknown of those that are blocked by the same.
func Together(list []finding.Finding) []finding.Finding {
	var out []finding.Finding
	for _, f := range list {
		i := slices.IndexFunc(out, func(o finding.Finding) bool { return slices.Equal(o.Blocked, f.Blocked) })
		if i < 0 {
			out = append(out, f)
			continue
		}
		out[i].Covers = append(out[i].Covers, f.Covers...)
	}
	return out
}

// WithStarving is the group with the Ready nodes among its suspects whose pods get no
// address.
func (c RoleGroup) WithStarving(v *View) RoleGroup {
	is := map[*snapshot.Instance]bool{}
	for _, i := range v.Starving() {
		is[i] = true
	}
	c.Suspects = slices.Clone(c.Suspects)
	for _, i := range c.Well {
		if is[i] {
			c.Suspects = append(c.Suspects, i)
		}
	}
	c.Well = slices.DeleteFunc(slices.Clone(c.Well), func(i *snapshot.Instance) bool { return is[i] })
	return c
}

func (c RoleGroup) All() []string { return append(IDs(c.Suspects), IDs(c.Well)...) }

// Name is the role's name, which is how people know it.
func (c RoleGroup) Name() string { return LastPart(c.Role) }

// LastPart is the name at the end of an ARN with a path.
func LastPart(arn string) string { return arn[strings.LastIndexByte(arn, '/')+1:] }

// Judged are the findings of a role group whose suspects fail: the Ready nodes pass.
func (c RoleGroup) Judged(f finding.Finding) []finding.Finding {
	f.Resource = cmp.Or(f.Resource, c.Role)
	f.Covers, f.Instances = IDs(c.Suspects), IDs(c.Suspects)
	f.Evidence = append(f.Evidence, c.Evidence())
	list := []finding.Finding{f}
	if len(c.Well) > 0 {
		list = append(list, finding.Finding{Outcome: finding.Pass, Resource: f.Resource, Covers: IDs(c.Well)})
	}
	return list
}

func (c RoleGroup) Pass(what, value string) finding.Finding {
	return finding.Finding{Outcome: finding.Pass, Resource: c.Role, Covers: c.All(), Evidence: []finding.Evidence{{What: what, Value: value}}}
}

// Blocked is the Unknown of the suspects; the Ready nodes pass.
func (c RoleGroup) Blocked(failures ...snapshot.Failure) []finding.Finding {
	var list []finding.Finding
	if len(c.Suspects) > 0 {
		list = append(list, finding.Finding{Outcome: finding.Unknown, Resource: c.Role, Covers: IDs(c.Suspects), Blocked: failures})
	}
	if len(c.Well) > 0 {
		list = append(list, finding.Finding{Outcome: finding.Pass, Resource: c.Role, Covers: IDs(c.Well)})
	}
	return list
}

func (c RoleGroup) Evidence() finding.Evidence {
	return finding.Evidence{What: "Node role", Value: fmt.Sprintf("%s, of %s", c.Role, phrase.Some(IDs(c.Suspects), 5))}
}

// Witness weakens a verdict on who may join where a Ready node has the same
// role: it may come in by a way that is not seen here, or not for long.
func (c RoleGroup) Witness(f *finding.Finding) {
	if len(c.Well) == 0 {
		return
	}
	f.Confidence = finding.Likely
	f.Evidence = append(f.Evidence, finding.Evidence{What: c.Well[0].ID, Value: "has the same role and is a Ready node"})
}
