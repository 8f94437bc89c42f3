package checks

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/firewall"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// ground is what the checks of filters, names and endpoints stand on: where
// the scope's nodes are, and with which security groups.
type ground struct {
	s      *View
	net    *path.Network
	fw     *firewall.Filters
	starts *starts
	posts  []*post
}

// post is a place where nodes stand alike: the same subnet, the same security
// groups, the same kind of operating system. All of them have the same fate.
type post struct {
	subnet  snapshot.Subnet // its ID is empty when nobody knows where they were
	groups  []string
	windows bool
	// suspects have not joined; well are Ready nodes, which nothing keeps out.
	// A subnet of the scope in which nobody stands yet has neither.
	suspects, well []*snapshot.Instance
	paths          []path.Path
	// blocked is why the post cannot be judged at all.
	blocked []snapshot.Failure
}

// survey sorts the scope into posts.
func survey(s *View) *ground {
	g := &ground{s: s, net: s.Network(), fw: s.Filters(), starts: s.Boot()}
	at := map[string]*post{}
	put := func(i *snapshot.Instance) *post {
		subnet := g.whereabouts(i)
		key := fmt.Sprintf("%s %v %t", subnet, i.Groups, i.Windows)
		p := at[key]
		if p == nil {
			p = g.post(subnet)
			p.groups, p.windows = i.Groups, i.Windows
			at[key] = p
			g.posts = append(g.posts, p)
		}
		return p
	}
	suspects, well := s.Suspects()
	for _, i := range suspects {
		p := put(i)
		p.suspects = append(p.suspects, i)
	}
	for _, i := range well {
		p := put(i)
		p.well = append(p.well, i)
	}
	for _, p := range g.posts {
		if more := g.starts.describing(p.suspects); len(more) > 0 && len(p.blocked) == 0 {
			p.paths, _ = g.net.Needs(p.subnet.ID, more...)
		}
	}
	for _, id := range s.Scope.Subnets {
		if !slices.ContainsFunc(g.posts, func(p *post) bool { return p.subnet.ID == id }) {
			g.posts = append(g.posts, g.post(id))
		}
	}
	slices.SortStableFunc(g.posts, func(a, b *post) int { return strings.Compare(a.subnet.ID, b.subnet.ID) })
	return g
}

// whereabouts is an instance's subnet. EC2 forgets it once the instance is
// terminated; the activity that launched it
// still names it, and a group with one subnet leaves no choice.
func (g *ground) whereabouts(i *snapshot.Instance) string {
	if i.Subnet != "" {
		return i.Subnet
	}
	for _, a := range g.s.Activities {
		if a.Instance == i.ID && a.Subnet != "" {
			return a.Subnet
		}
	}
	for _, group := range g.s.Groups {
		if group.Name == i.Tags["aws:autoscaling:groupName"] && len(group.Subnets) == 1 {
			return group.Subnets[0]
		}
	}
	return ""
}

func (g *ground) post(subnet string) *post {
	p := &post{}
	if subnet == "" {
		p.block(snapshot.Instances, "EC2 no longer says in which subnet it was")
		return p
	}
	known := false
	if p.subnet, known = g.net.Subnet(subnet); !known {
		p.subnet.ID = subnet
		p.block(snapshot.Subnets, subnet+" is not among the subnets that EC2 lists")
		return p
	}
	if p.paths, known = g.net.Needs(subnet); !known {
		p.block(snapshot.RouteTables, fmt.Sprintf("no route table is known for %s", subnet))
	}
	return p
}

func (p *post) block(source snapshot.Source, message string) {
	p.blocked = append(p.blocked, snapshot.Failure{Source: source, Reason: snapshot.NotRead, Message: message})
}

// idle tells that all who stand there are Ready nodes.
func (p *post) idle() bool { return len(p.suspects) == 0 && len(p.well) > 0 }

// contradicted tells that a node that stands alike was launched after one of
// those that did not join, and is Ready: what keeps the one out did not keep
// the other, unless it was changed in between.
func (p *post) contradicted() bool {
	return slices.ContainsFunc(p.suspects, func(i *snapshot.Instance) bool { return !i.Launched.IsZero() }) &&
		slices.ContainsFunc(p.well, func(i *snapshot.Instance) bool { return i.Launched.After(earliest(p.suspects)) })
}

// earliest is when the first of some instances was launched; zero if it is
// not known of any.
func earliest(list []*snapshot.Instance) time.Time {
	var first time.Time
	for _, i := range list {
		if !i.Launched.IsZero() && (first.IsZero() || i.Launched.Before(first)) {
			first = i.Launched
		}
	}
	return first
}

// empty tells that nobody stands there yet.
func (p *post) empty() bool { return len(p.suspects)+len(p.well) == 0 }

// place is what a verdict on a subnet covers: the subnet, or, where nobody
// knows it, the instances.
func (p *post) place() []string {
	if p.subnet.ID != "" {
		return []string{p.subnet.ID}
	}
	return ids(p.suspects)
}

// usable are a post's paths that routing does not already end: what filters
// do to the others, nobody would notice.
func (p *post) usable() []path.Path {
	return slices.DeleteFunc(slices.Clone(p.paths), func(p path.Path) bool {
		return p.Verdict != path.Reaches && p.Verdict != path.NeedsPublicIP && p.Verdict != path.LeavesView
	})
}

// walks are the paths to some services, as evidence.
func (p *post) walks(services []path.Service) []Evidence {
	var wanted []path.Path
	for _, w := range p.paths {
		if slices.Contains(services, w.Service) {
			wanted = append(wanted, w)
		}
	}
	return lot{paths: wanted}.walked()
}

// adding adds what the list does not have yet.
func adding[T comparable](list []T, more ...T) []T {
	for _, m := range more {
		if !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
}

// open are the posts that are to be judged: those with suspects of which all
// is known that must be. Ready nodes pass, and the rest is Unknown.
func (g *ground) open(v *verdicts, name string) []*post {
	var list []*post
	for _, p := range g.posts {
		v.pass(name, ids(p.well))
		switch {
		case len(p.suspects) == 0:
		case len(p.blocked) > 0:
			v.unknown(name, ids(p.suspects), p.blocked...)
		default:
			list = append(list, p)
		}
	}
	return list
}
