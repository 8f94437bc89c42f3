package checks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/snapshot"
)

// crew is the instances of the scope that share a node role: one fault of the
// role is one finding.
type crew struct {
	role           string // ARN
	suspects, well []*snapshot.Instance
}

// crews sorts the scope by node role. Instances without a role are in none:
// they are iam/profile-missing's. Blind are those whose role cannot be told.
func crews(s *View) (list []crew, blind []Finding) {
	suspects, well := s.Suspects()
	index := map[string]int{}
	place := func(i *snapshot.Instance) *crew {
		role, why, known := roleOf(s, i)
		switch {
		case !known:
			blind = append(blind, Finding{Outcome: Unknown, Resource: i.ID, Covers: []string{i.ID}, Blocked: []snapshot.Failure{why}})
			return nil
		case role == "":
			return nil
		}
		if _, ok := index[role]; !ok {
			index[role] = len(list)
			list = append(list, crew{role: role})
		}
		return &list[index[role]]
	}
	for _, i := range suspects {
		if c := place(i); c != nil {
			c.suspects = append(c.suspects, i)
		}
	}
	for _, i := range well {
		if c := place(i); c != nil {
			c.well = append(c.well, i)
		}
	}
	return list, together(blind)
}

// together makes one Unknown of those that are blocked by the same.
func together(list []Finding) []Finding {
	var out []Finding
	for _, f := range list {
		i := slices.IndexFunc(out, func(o Finding) bool { return slices.Equal(o.Blocked, f.Blocked) })
		if i < 0 {
			out = append(out, f)
			continue
		}
		out[i].Covers = append(out[i].Covers, f.Covers...)
	}
	return out
}

func (c crew) all() []string { return append(ids(c.suspects), ids(c.well)...) }

// name is the role's name, which is how people know it.
func (c crew) name() string { return lastPart(c.role) }

// lastPart is the name at the end of an ARN with a path.
func lastPart(arn string) string { return arn[strings.LastIndexByte(arn, '/')+1:] }

// judged are the findings of a crew whose suspects fail: the Ready nodes pass.
func (c crew) judged(f Finding) []Finding {
	f.Resource = cmp.Or(f.Resource, c.role)
	f.Covers, f.Instances = ids(c.suspects), ids(c.suspects)
	f.Evidence = append(f.Evidence, c.evidence())
	list := []Finding{f}
	if len(c.well) > 0 {
		list = append(list, Finding{Outcome: Pass, Resource: f.Resource, Covers: ids(c.well)})
	}
	return list
}

func (c crew) pass(what, value string) Finding {
	return Finding{Outcome: Pass, Resource: c.role, Covers: c.all(), Evidence: []Evidence{{What: what, Value: value}}}
}

// blocked is the Unknown of the suspects; the Ready nodes pass.
func (c crew) blocked(failures ...snapshot.Failure) []Finding {
	var list []Finding
	if len(c.suspects) > 0 {
		list = append(list, Finding{Outcome: Unknown, Resource: c.role, Covers: ids(c.suspects), Blocked: failures})
	}
	if len(c.well) > 0 {
		list = append(list, Finding{Outcome: Pass, Resource: c.role, Covers: ids(c.well)})
	}
	return list
}

func (c crew) evidence() Evidence {
	return Evidence{What: "Node role", Value: fmt.Sprintf("%s, of %s", c.role, some(ids(c.suspects), 5))}
}

// witness weakens a verdict on who may join where a Ready node has the same
// role: it may come in by a way that is not seen here, or not for long.
func (c crew) witness(f *Finding) {
	if len(c.well) == 0 {
		return
	}
	f.Confidence = Likely
	f.Evidence = append(f.Evidence, Evidence{What: c.well[0].ID, Value: "has the same role and is a Ready node"})
}

// roleLink and accessLink are links into the consoles of IAM and EKS.
func roleLink(s *View, arn string) string {
	return fmt.Sprintf("%s/iam/home?region=%s#/roles/details/%s", consoleHost(s), s.Region, lastPart(arn))
}

func accessLink(s *View) string {
	return fmt.Sprintf("%s/eks/home?region=%s#/clusters/%s?selectedTab=cluster-access-tab", consoleHost(s), s.Region, s.Cluster.Name)
}
