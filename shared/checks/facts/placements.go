package facts

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/checks/finding"
	"rollcall/shared/network/filter"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// Placements is what the checks of filters, names and endpoints stand on: where
// the scope's nodes are, and with which security groups.
type Placements struct {
	S      *View
	Net    *path.Network
	Fw     *filter.Filters
	Starts *BootConfig
	Posts  []*Placement
}

// Placement is a place where nodes stand alike: the same subnet, the same security
// groups, the same kind of operating system. All of them have the same fate.
type Placement struct {
	Subnet  snapshot.Subnet // its ID is empty when nobody knows where they were
	Groups  []string
	Windows bool
	// Suspects have not joined; well are Ready nodes, which nothing keeps out.
	// A subnet of the scope in which nobody stands yet has neither.
	Suspects, Well []*snapshot.Instance
	Paths          []path.Path
	// Blocked is why the post cannot be judged at all.
	Blocked []snapshot.Failure
}

// groupPlacements sorts the scope into posts.
func groupPlacements(s *View) *Placements {
	g := &Placements{S: s, Net: s.Network(), Fw: s.Filters(), Starts: s.Boot()}
	at := map[string]*Placement{}
	put := func(i *snapshot.Instance) *Placement {
		subnet := SubnetOf(g.S, i)
		key := fmt.Sprintf("%s %v %t", subnet, i.Groups, i.Windows)
		p := at[key]
		if p == nil {
			p = g.post(subnet)
			p.Groups, p.Windows = i.Groups, i.Windows
			at[key] = p
			g.Posts = append(g.Posts, p)
		}
		return p
	}
	suspects, well := s.Suspects()
	for _, i := range suspects {
		p := put(i)
		p.Suspects = append(p.Suspects, i)
	}
	for _, i := range well {
		p := put(i)
		p.Well = append(p.Well, i)
	}
	for _, p := range g.Posts {
		if more := g.Starts.Describing(p.Suspects); len(more) > 0 && len(p.Blocked) == 0 {
			p.Paths, _ = g.Net.Needs(p.Subnet.ID, more...)
		}
	}
	for _, id := range s.Scope.Subnets {
		if !slices.ContainsFunc(g.Posts, func(p *Placement) bool { return p.Subnet.ID == id }) {
			g.Posts = append(g.Posts, g.post(id))
		}
	}
	slices.SortStableFunc(g.Posts, func(a, b *Placement) int { return strings.Compare(a.Subnet.ID, b.Subnet.ID) })
	return g
}

func (g *Placements) post(subnet string) *Placement {
	p := &Placement{}
	if subnet == "" {
		p.block(snapshot.Instances, "EC2 no longer says in which subnet it was")
		return p
	}
	known := false
	if p.Subnet, known = g.Net.Subnet(subnet); !known {
		p.Subnet.ID = subnet
		p.block(snapshot.Subnets, subnet+" is not among the subnets that EC2 lists")
		return p
	}
	if p.Paths, known = g.Net.Needs(subnet); !known {
		p.block(snapshot.RouteTables, fmt.Sprintf("no route table is known for %s", subnet))
	}
	return p
}

func (p *Placement) block(source snapshot.Source, message string) {
	p.Blocked = append(p.Blocked, snapshot.Failure{Source: source, Reason: snapshot.NotRead, Message: message})
}

// Idle tells that all who stand there are Ready nodes.
func (p *Placement) Idle() bool { return len(p.Suspects) == 0 && len(p.Well) > 0 }

// contradicted tells that a node that stands alike was launched after one of
// those that did not join, and is Ready: what keeps the one out did not keep
// the other, unless it was changed in between.
func (p *Placement) contradicted() bool {
	return slices.ContainsFunc(p.Suspects, func(i *snapshot.Instance) bool { return !i.Launched.IsZero() }) &&
		slices.ContainsFunc(p.Well, func(i *snapshot.Instance) bool { return i.Launched.After(Earliest(p.Suspects)) })
}

// Earliest is when the first of some instances was launched; zero if it is
// not known of any.
func Earliest(list []*snapshot.Instance) time.Time {
	var first time.Time
	for _, i := range list {
		if !i.Launched.IsZero() && (first.IsZero() || i.Launched.Before(first)) {
			first = i.Launched
		}
	}
	return first
}

// Empty tells that nobody stands there yet.
func (p *Placement) Empty() bool { return len(p.Suspects)+len(p.Well) == 0 }

// Place is what a verdict on a subnet covers: the subnet, or, where nobody
// knows it, the instances.
func (p *Placement) Place() []string {
	if p.Subnet.ID != "" {
		return []string{p.Subnet.ID}
	}
	return IDs(p.Suspects)
}

// Usable are a post's paths that routing does not already end: what filters
// do to the others, nobody would notice.
func (p *Placement) Usable() []path.Path {
	return slices.DeleteFunc(slices.Clone(p.Paths), func(p path.Path) bool {
		return p.Verdict != path.Reaches && p.Verdict != path.NeedsPublicIP && p.Verdict != path.LeavesView
	})
}

// Walks are the paths to some services, as evidence.
func (p *Placement) Walks(services []path.Service) []finding.Evidence {
	var wanted []path.Path
	for _, w := range p.Paths {
		if slices.Contains(services, w.Service) {
			wanted = append(wanted, w)
		}
	}
	return Walked(wanted)
}

// Open are the posts that are to be judged: those with suspects of which all
// is known that must be. Ready nodes pass, and the rest is Unknown.
func (g *Placements) Open(v *finding.Verdicts, name string) []*Placement {
	var list []*Placement
	for _, p := range g.Posts {
		v.Pass(name, IDs(p.Well))
		switch {
		case len(p.Suspects) == 0:
		case len(p.Blocked) > 0:
			v.Unknown(name, IDs(p.Suspects), p.Blocked...)
		default:
			list = append(list, p)
		}
	}
	return list
}
