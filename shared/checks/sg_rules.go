package checks

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// groupLink is the console's page of a security group.
func groupLink(s *View, id string) string {
	return ec2Console(s, "SecurityGroup:groupId="+id)
}

// groupRules are the rules of groups in one direction, as evidence.
func (g *ground) groupRules(groups []string, egress bool) []Evidence {
	direction := "Inbound"
	if egress {
		direction = "Outbound"
	}
	var list []Evidence
	const limit = 5
	for _, id := range groups[:min(len(groups), limit)] {
		what := fmt.Sprintf("%s rules of %s", direction, id)
		if group, known := g.fw.Group(id); known && group.Name != "" {
			what += " (" + group.Name + ")"
		}
		list = append(list, Evidence{What: what, Value: tenOf(g.fw.Rules([]string{id}, egress))})
	}
	return list
}

// admit is the command that lets a port in from a group.
func admit(s *View, group string, port int, from string) string {
	return aws(s, "ec2 authorize-security-group-ingress", "--group-id", group, "--protocol", "tcp", "--port", port, "--source-group", from)
}

// release is the command that lets a port out to a range.
func release(s *View, group, protocol string, port int, to netip.Prefix) string {
	return aws(s, "ec2 authorize-security-group-egress", "--group-id", group, "--protocol", protocol, "--port", port, "--cidr", to)
}

// admitted sorts a post's suspects by whether groups let them in on a port:
// whom nothing admits, and who cannot be judged, with why. All others are in.
func (g *ground) admitted(p *post, groups []string, port int) (shut, blind []*snapshot.Instance, why []snapshot.Failure, by []string) {
	judge := func(ranges ...netip.Prefix) (Outcome, []snapshot.Failure, []string) {
		o, failures, by := outcome(g.fw.In(groups, peer(ranges, p.groups), tcp, port))
		if o == Fail && len(p.groups) == 0 {
			// A rule may refer to a group that EC2 no longer names.
			return Unknown, []snapshot.Failure{{Source: snapshot.Instances, Reason: snapshot.NotRead, Message: "EC2 no longer names the instance's security groups"}}, nil
		}
		return o, failures, by
	}
	// Nearly always all addresses of the subnet fare alike.
	if p.subnet.CIDR.IsValid() {
		switch o, _, by := judge(p.subnet.CIDR); o {
		case Pass:
			return nil, nil, nil, by
		case Fail:
			return p.suspects, nil, nil, nil
		}
	}
	for _, i := range p.suspects {
		a, known := nodeAddress(i)
		var ranges []netip.Prefix
		if known {
			ranges = append(ranges, a)
		}
		switch o, failures, rules := judge(ranges...); o {
		case Pass:
			by = adding(by, rules...)
		case Fail:
			shut = append(shut, i)
		default:
			blind = append(blind, i)
			why = adding(why, failures...)
		}
	}
	return shut, blind, why, by
}

// barred is a security group that keeps posts out, in the making.
type barred struct {
	group string
	// doubted tells that a Ready node speaks against it.
	doubted   bool
	posts     []*post
	instances []*snapshot.Instance
	services  []path.Service
	resources []string
}

// bar adds to the one of the list that has the group.
func bar(list []*barred, group string) (*barred, []*barred) {
	i := slices.IndexFunc(list, func(b *barred) bool { return b.group == group })
	if i >= 0 {
		return list[i], list
	}
	b := &barred{group: group}
	return b, append(list, b)
}

func (b *barred) add(p *post, shut []*snapshot.Instance, services ...path.Service) {
	if !slices.Contains(b.posts, p) { // who is shut out depends on the group alone
		b.posts = append(b.posts, p)
		b.doubted = b.doubted || p.contradicted()
		b.instances = append(b.instances, shut...)
	}
	b.services = adding(b.services, services...)
}

// confidence is what is left of one when a Ready node speaks against it.
func (b *barred) confidence(c Confidence) Confidence {
	if b.doubted && c == Certain {
		return Likely
	}
	return c
}

// subnets are where the posts are.
func (b *barred) subnets() []string {
	var list []string
	for _, p := range b.posts {
		list = adding(list, p.subnet.ID)
	}
	return list
}

// groups are the security groups of the nodes, set by set.
func (b *barred) groups() []string {
	var list []string
	for _, p := range b.posts {
		list = adding(list, p.groups...)
	}
	return list
}

// ordered are the services in the catalogue's order.
func ordered(list []path.Service) []path.Service {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b path.Service) int { return rankOf(a) - rankOf(b) })
	return list
}

// rankOf is a service's place among those that a node needs.
func rankOf(s path.Service) int {
	if i := slices.Index(path.Needed(), s); i >= 0 {
		return i
	}
	return len(path.Needed())
}

// foreign says how it came about that nodes lack the cluster's security
// group, if they do: it is what EKS adds where a launch template names none.
func (g *ground) foreign(b *barred) string {
	own := g.s.Cluster.SecurityGroup
	if own == "" || slices.Contains(b.groups(), own) {
		return ""
	}
	for _, p := range b.posts {
		for _, i := range p.suspects {
			for _, t := range g.s.LaunchTemplates {
				if t.ID == i.Template.ID && t.ID != "" && len(t.Groups) > 0 && !slices.Contains(t.Groups, own) {
					return fmt.Sprintf(" Launch template %s sets %s, so the nodes do not have the cluster's %s.", t.ID, strings.Join(t.Groups, ", "), own)
				}
			}
		}
	}
	return fmt.Sprintf(" The nodes do not have the cluster's own group %s.", own)
}
