package facts

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"rollcall/shared/checks/finding"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// GroupRules are the rules of groups in one direction, as evidence.
func (g *Placements) GroupRules(groups []string, egress bool) []finding.Evidence {
	direction := "Inbound"
	if egress {
		direction = "Outbound"
	}
	var list []finding.Evidence
	const limit = 5
	for _, id := range groups[:min(len(groups), limit)] {
		what := fmt.Sprintf("%s rules of %s", direction, id)
		if group, known := g.Fw.Group(id); known && group.Name != "" {
			what += " (" + group.Name + ")"
		}
		list = append(list, finding.Evidence{What: what, Value: TenOf(g.Fw.Rules([]string{id}, egress))})
	}
	return list
}

// Admitted sorts a post's suspects by whether groups let them in on a port:
// whom nothing admits, and who cannot be judged, with why. All others are in.
func (g *Placements) Admitted(p *Placement, groups []string, port int) (shut, blind []*snapshot.Instance, why []snapshot.Failure, by []string) {
	judge := func(ranges ...netip.Prefix) (finding.Outcome, []snapshot.Failure, []string) {
		o, failures, by := Outcome(g.Fw.In(groups, Peer(ranges, p.Groups), TCP, port))
		if o != finding.Fail {
			return o, failures, by
		}
		// A rule may refer to a group that EC2 no longer names, or that was deleted since the
		// instance ended: before that its rules had to go (EC2 API reference,
		// DeleteSecurityGroup).
		if len(p.Groups) == 0 {
			return finding.Unknown, []snapshot.Failure{{Source: snapshot.Instances, Reason: snapshot.NotRead, Message: "EC2 no longer names the instance's security groups"}}, nil
		}
		if gone := g.deleted(p.Groups); len(gone) > 0 && !slices.ContainsFunc(p.Suspects, func(i *snapshot.Instance) bool { return !i.Ended() }) {
			return finding.Unknown, []snapshot.Failure{{Source: snapshot.SecurityGroups, Reason: snapshot.NotRead, Message: "no longer there: " + strings.Join(gone, ", ")}}, nil
		}
		return o, failures, by
	}
	// Nearly always all addresses of the subnet fare alike.
	if p.Subnet.CIDR.IsValid() {
		switch o, _, by := judge(p.Subnet.CIDR); o {
		case finding.Pass:
			return nil, nil, nil, by
		case finding.Fail:
			return p.Suspects, nil, nil, nil
		}
	}
	for _, i := range p.Suspects {
		a, known := nodeAddress(i)
		var ranges []netip.Prefix
		if known {
			ranges = append(ranges, a)
		}
		switch o, failures, rules := judge(ranges...); o {
		case finding.Pass:
			by = finding.Adding(by, rules...)
		case finding.Fail:
			shut = append(shut, i)
		default:
			blind = append(blind, i)
			why = finding.Adding(why, failures...)
		}
	}
	return shut, blind, why, by
}

// deleted are the groups that the account no longer has.
func (g *Placements) deleted(groups []string) []string {
	return slices.DeleteFunc(slices.Clone(groups), func(id string) bool {
		return slices.ContainsFunc(g.S.SecurityGroups, func(have snapshot.SecurityGroup) bool { return have.ID == id })
	})
}

// SgBlock is a security group that keeps posts out, in the making.
type SgBlock struct {
	Group string
	// doubted tells that a Ready node speaks against it.
	doubted   bool
	Posts     []*Placement
	Instances []*snapshot.Instance
	Services  []path.Service
	Resources []string
}

// Bar adds to the one of the list that has the group.
func Bar(list []*SgBlock, group string) (*SgBlock, []*SgBlock) {
	i := slices.IndexFunc(list, func(b *SgBlock) bool { return b.Group == group })
	if i >= 0 {
		return list[i], list
	}
	b := &SgBlock{Group: group}
	return b, append(list, b)
}

func (b *SgBlock) Add(p *Placement, shut []*snapshot.Instance, services ...path.Service) {
	if !slices.Contains(b.Posts, p) { // who is shut out depends on the group alone
		b.Posts = append(b.Posts, p)
		b.doubted = b.doubted || p.contradicted()
		b.Instances = append(b.Instances, shut...)
	}
	b.Services = finding.Adding(b.Services, services...)
}

// Confidence is what is left of one when a Ready node speaks against it.
func (b *SgBlock) Confidence(c finding.Confidence) finding.Confidence {
	if b.doubted && c == finding.Certain {
		return finding.Likely
	}
	return c
}

// Subnets are where the posts are.
func (b *SgBlock) Subnets() []string {
	var list []string
	for _, p := range b.Posts {
		list = finding.Adding(list, p.Subnet.ID)
	}
	return list
}

// Groups are the security groups of the nodes, set by set.
func (b *SgBlock) Groups() []string {
	var list []string
	for _, p := range b.Posts {
		list = finding.Adding(list, p.Groups...)
	}
	return list
}

// Ordered are the services in the catalogue's order.
func Ordered(list []path.Service) []path.Service {
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

// Foreign says how it came about that nodes lack the cluster's security
// group, if they do: it is what EKS adds where a launch template names none.
func (g *Placements) Foreign(b *SgBlock) string {
	own := g.S.Cluster.SecurityGroup
	if own == "" || slices.Contains(b.Groups(), own) {
		return ""
	}
	for _, p := range b.Posts {
		for _, i := range p.Suspects {
			for _, t := range g.S.LaunchTemplates {
				if t.ID == i.Template.ID && t.ID != "" && len(t.Groups) > 0 && !slices.Contains(t.Groups, own) {
					return fmt.Sprintf(" Launch template %s sets %s, so the nodes do not have the cluster's %s.", t.ID, strings.Join(t.Groups, ", "), own)
				}
			}
		}
	}
	return fmt.Sprintf(" The nodes do not have the cluster's own group %s.", own)
}
