package filter

import (
	"fmt"
	"net/netip"
	"slices"

	"rollcall/shared/snapshot"
)

// Filters are a snapshot's security groups and network ACLs, indexed.
type Filters struct {
	s      *snapshot.Snapshot
	groups map[string]*snapshot.SecurityGroup
	lists  map[string][]netip.Prefix
	acls   map[string]*snapshot.NetworkACL // by subnet
}

// New indexes the filters of a snapshot.
func New(s *snapshot.Snapshot) *Filters {
	f := &Filters{
		s:      s,
		groups: make(map[string]*snapshot.SecurityGroup, len(s.SecurityGroups)),
		lists:  make(map[string][]netip.Prefix, len(s.PrefixLists)),
		acls:   map[string]*snapshot.NetworkACL{},
	}
	for i := range s.SecurityGroups {
		f.groups[s.SecurityGroups[i].ID] = &s.SecurityGroups[i]
	}
	if s.Has(snapshot.PrefixListEntries) {
		for _, l := range s.PrefixLists {
			if _, lacks := s.Lacks(snapshot.PrefixListEntries, l.ID); !lacks {
				f.lists[l.ID] = l.CIDRs
			}
		}
	}
	for i := range s.NetworkACLs {
		for _, subnet := range s.NetworkACLs[i].Subnets {
			f.acls[subnet] = &s.NetworkACLs[i]
		}
	}
	return f
}

// Group is a security group by its id.
func (f *Filters) Group(id string) (snapshot.SecurityGroup, bool) {
	g, ok := f.groups[id]
	if !ok {
		return snapshot.SecurityGroup{}, false
	}
	return *g, true
}

// Peer is the other end of a connection.
type Peer struct {
	// Ranges are the addresses that it may have; which one is not known.
	Ranges []netip.Prefix
	// Groups are its security groups, all of them. A rule that refers to one
	// admits the peer whatever its address: the peer must be in the same VPC,
	// or in a peered one (VPC user guide, "Security group rules").
	Groups []string
}

// Answer is what a set of security groups does with a packet.
type Answer struct {
	// Admits is over the peer's addresses. Security groups are stateful: what
	// is admitted one way needs no rule for the way back.
	Admits Extent
	// By are the rules that admit, each as a person would write it:
	// "sg-0a egress tcp 443 → 0.0.0.0/0".
	By []string
	// Shut are the addresses that nothing admits, as far as is known.
	Shut []netip.Prefix
	// Blind is what could not be looked at and may admit the rest.
	Blind []snapshot.Failure
}

// Out tells whether groups let a packet out to a peer.
func (f *Filters) Out(groups []string, to Peer, p Protocol, port int) Answer {
	return f.judge(groups, to, p, port, true)
}

// In tells whether groups let a packet in from a peer.
func (f *Filters) In(groups []string, from Peer, p Protocol, port int) Answer {
	return f.judge(groups, from, p, port, false)
}

// judge adds up the rules of all groups: there are no rules that deny, so one
// that admits is enough (VPC user guide, "Security groups").
func (f *Filters) judge(groups []string, peer Peer, p Protocol, port int, egress bool) Answer {
	var a Answer
	want := distinct(peer.Ranges)
	left := want
	byGroup := false
	if len(groups) == 0 {
		a.Blind = append(a.Blind, snapshot.Failure{Source: snapshot.SecurityGroups, Reason: snapshot.NotRead, Message: "its security groups are not known"})
	}
	for _, id := range groups {
		g, ok := f.groups[id]
		if !ok {
			a.Blind = append(a.Blind, f.missing(id))
			continue
		}
		rules := g.Ingress
		if egress {
			rules = g.Egress
		}
		for _, r := range rules {
			about := about(r.Protocol, p)
			if about == no || !anyPort(r.Protocol, r.From, r.To) && (port < r.From || port > r.To) {
				continue
			}
			if about == maybe {
				a.Blind = append(a.Blind, snapshot.Failure{
					Source: snapshot.SecurityGroups, Reason: snapshot.Broken,
					Message: fmt.Sprintf("%s has a rule with protocol %q, which is not understood", id, r.Protocol),
				})
				continue
			}
			if slices.ContainsFunc(r.Groups, func(g string) bool { return slices.Contains(peer.Groups, g) }) {
				byGroup = true
				a.By = append(a.By, rule(id, r, egress))
				continue
			}
			cidrs, blind := f.cidrs(r)
			a.Blind = append(a.Blind, blind...)
			if slices.ContainsFunc(want, func(w netip.Prefix) bool { return slices.ContainsFunc(cidrs, w.Overlaps) }) {
				a.By = append(a.By, rule(id, r, egress))
				left = without(left, cidrs)
			}
		}
	}
	if byGroup {
		left = nil
	}
	a.Shut = left
	switch {
	case byGroup, len(want) > 0 && len(left) == 0:
		a.Admits, a.Blind = All, nil
	case len(a.Blind) > 0 || len(want) == 0:
		a.Admits = Unknown
	case size(left) < size(want):
		a.Admits = Part
	default:
		a.Admits = None
	}
	if a.Admits == Unknown && len(a.Blind) == 0 {
		a.Blind = append(a.Blind, snapshot.Failure{Source: snapshot.Subnets, Reason: snapshot.NotRead, Message: "the addresses at the other end are not known"})
	}
	return a
}

// missing is why a group's rules are not there. Groups are read by VPC: one
// that is not among them was deleted, or is another VPC's or account's.
func (f *Filters) missing(id string) snapshot.Failure {
	if !f.s.Has(snapshot.SecurityGroups) {
		return f.s.Why(snapshot.SecurityGroups)
	}
	return snapshot.Failure{Source: snapshot.SecurityGroups, Reason: snapshot.NotRead, Message: id + " is not among the security groups that EC2 lists"}
}

// cidrs are a rule's ranges, those of its prefix lists among them.
func (f *Filters) cidrs(r snapshot.Rule) ([]netip.Prefix, []snapshot.Failure) {
	list := slices.Clone(r.CIDRs)
	var blind []snapshot.Failure
	for _, id := range r.PrefixLists {
		entries, ok := f.lists[id]
		switch {
		case ok:
			list = append(list, entries...)
		case !f.s.Has(snapshot.PrefixListEntries):
			blind = append(blind, f.s.Why(snapshot.PrefixListEntries))
		default:
			if why, lacks := f.s.Lacks(snapshot.PrefixListEntries, id); lacks {
				blind = append(blind, why)
				continue
			}
			blind = append(blind, snapshot.Failure{Source: snapshot.PrefixListEntries, Reason: snapshot.NotRead, Message: "the entries of " + id + " were not read"})
		}
	}
	return list, blind
}
