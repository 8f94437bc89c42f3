// Package filter tells, on paper, what security groups and network ACLs do
// with a packet: who admits it, who drops it, for which of the addresses and
// ports in question. What was not read is Unknown, never "no".
package filter

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"rollcall/shared/snapshot"
)

// Protocol is an IP protocol's number (IANA).
type Protocol int

// The protocols that joining needs.
const (
	TCP Protocol = 6
	UDP Protocol = 17
)

func (p Protocol) String() string {
	switch p {
	case TCP:
		return "tcp"
	case UDP:
		return "udp"
	}
	return "protocol " + strconv.Itoa(int(p))
}

// Extent is how much of what was asked about is admitted.
type Extent string

// The extents.
const (
	All     Extent = "all"
	Part    Extent = "part"
	None    Extent = "none"
	Unknown Extent = "unknown"
)

// Ports is a range of ports, both ends included.
type Ports struct{ From, To int }

// Port is a range of one.
func Port(p int) Ports { return Ports{From: p, To: p} }

func (p Ports) String() string {
	if p.From == p.To {
		return strconv.Itoa(p.From)
	}
	return fmt.Sprintf("%d-%d", p.From, p.To)
}

// protocol reads a rule's protocol. All is "-1"; security groups write the
// common ones by name, network ACLs by number. It is false for one that is
// not understood: such a rule may match or not.
func protocol(text string) (number Protocol, all, ok bool) {
	switch strings.ToLower(text) {
	case "-1", "all":
		return 0, true, true
	case "tcp":
		return TCP, false, true
	case "udp":
		return UDP, false, true
	case "icmp":
		return 1, false, true
	case "icmpv6":
		return 58, false, true
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > 255 {
		return 0, false, false
	}
	return Protocol(n), false, true
}

// match is whether a rule is about a packet.
type match int

const (
	no match = iota
	maybe
	yes
)

// about reports whether a rule with this protocol is about packets of p.
func about(text string, p Protocol) match {
	switch number, all, ok := protocol(text); {
	case !ok:
		return maybe
	case all || number == p:
		return yes
	}
	return no
}

// anyPort reports whether a rule's range stands for all ports: EC2 leaves the
// range out for protocols without ports, and -1 stands for that.
func anyPort(text string, from, to int) bool {
	_, all, _ := protocol(text)
	return all || from == -1 && to == -1
}

// target writes a destination: "0.0.0.0/0", "10.0.0.5", "2 ranges".
func target(list []netip.Prefix) string {
	switch len(list) {
	case 0:
		return "nowhere"
	case 1:
		return short(list[0])
	}
	return fmt.Sprintf("%s and %d more", short(list[0]), len(list)-1)
}

func short(p netip.Prefix) string {
	if p.IsSingleIP() {
		return p.Addr().String()
	}
	return p.String()
}

// implied is the number of the last rule of every network ACL, which denies
// what no other rule matched (EC2 API reference, NetworkAclEntry).
const implied = 32767

// Ephemeral are the ports to which answers come back: the client chooses them.
// Linux takes 32768-60999 (kernel documentation, ip_local_port_range), Windows
// Server 49152-65535 and a NAT gateway 1024-65535 (VPC user guide, "Ephemeral
// ports").
func Ephemeral(windows bool) Ports {
	if windows {
		return Ports{From: 49152, To: 65535}
	}
	return Ports{From: 32768, To: 60999}
}

// EphemeralNAT are those of a NAT gateway, whatever the node's were.
func EphemeralNAT() Ports { return Ports{From: 1024, To: 65535} }

// ACL is the network ACL of a subnet. It is false when it was not read: ACLs
// are read by VPC, and every subnet has one.
func (f *Filters) ACL(subnet string) (snapshot.NetworkACL, bool) {
	a, ok := f.acls[subnet]
	if !ok {
		return snapshot.NetworkACL{}, false
	}
	return *a, true
}

// Segment is a range of ports that an ACL treats alike.
type Segment struct {
	Ports Ports
	// Allowed and Denied are the addresses, and by which entry; Unclear are
	// those at which an entry stands that is not understood.
	Allowed, Denied, Unclear []Ruling
}

// Ruling is an entry that decides, and for which addresses.
type Ruling struct {
	Entry  snapshot.ACLEntry
	Ranges []netip.Prefix
}

// Decide tells what an ACL does with packets one way, to (egress) or from
// ranges, for all of the ports. For each address and port the lowest entry
// that matches decides. The segments are in the order of the ports, and cover
// all of them.
func Decide(acl snapshot.NetworkACL, egress bool, p Protocol, ports Ports, remote []netip.Prefix) []Segment {
	var entries []snapshot.ACLEntry
	cuts := []int{ports.From}
	for _, e := range acl.Entries {
		if e.Egress != egress || about(e.Protocol, p) == no {
			continue
		}
		entries = append(entries, e)
		if anyPort(e.Protocol, e.From, e.To) {
			continue
		}
		for _, cut := range []int{e.From, e.To + 1} {
			if cut > ports.From && cut <= ports.To {
				cuts = append(cuts, cut)
			}
		}
	}
	slices.SortStableFunc(entries, func(a, b snapshot.ACLEntry) int { return cmp.Compare(a.Number, b.Number) })
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	ranges := distinct(remote)
	segments := make([]Segment, 0, len(cuts))
	for i, from := range cuts {
		to := ports.To
		if i+1 < len(cuts) {
			to = cuts[i+1] - 1
		}
		segments = append(segments, decide(entries, Ports{From: from, To: to}, p, egress, ranges))
	}
	return segments
}

// decide walks the entries for ports that none of them splits.
func decide(entries []snapshot.ACLEntry, ports Ports, p Protocol, egress bool, left []netip.Prefix) Segment {
	s := Segment{Ports: ports}
	for _, e := range entries {
		if len(left) == 0 {
			break
		}
		if !anyPort(e.Protocol, e.From, e.To) && (ports.From < e.From || ports.To > e.To) {
			continue
		}
		in := common(left, e.CIDR)
		if len(in) == 0 {
			continue
		}
		left = without(left, []netip.Prefix{e.CIDR})
		r := Ruling{Entry: e, Ranges: in}
		switch {
		case about(e.Protocol, p) == maybe:
			s.Unclear = append(s.Unclear, r)
		case e.Allow:
			s.Allowed = append(s.Allowed, r)
		default:
			s.Denied = append(s.Denied, r)
		}
	}
	if len(left) > 0 {
		s.Denied = append(s.Denied, Ruling{Entry: snapshot.ACLEntry{Number: implied, Egress: egress, Protocol: "-1", To: 65535}, Ranges: left})
	}
	return s
}

// Entry writes an entry: "rule 100 allows tcp 443 → 0.0.0.0/0", "rule * denies all traffic".
func Entry(e snapshot.ACLEntry) string {
	verb := "denies"
	if e.Allow {
		verb = "allows"
	}
	text := fmt.Sprintf("rule %d %s %s", e.Number, verb, traffic(e.Protocol, e.From, e.To))
	if e.Number == implied {
		text = fmt.Sprintf("rule * %s %s", verb, traffic(e.Protocol, e.From, e.To))
	}
	if !e.CIDR.IsValid() {
		return text
	}
	arrow := "←"
	if e.Egress {
		arrow = "→"
	}
	return fmt.Sprintf("%s %s %s", text, arrow, target([]netip.Prefix{e.CIDR}))
}

// Free is a rule number for an entry that must stand before another one: the
// highest below it that is free, or, before the last rule, the lowest free
// multiple of ten after all others. It is false when none is left.
func Free(acl snapshot.NetworkACL, egress bool, before int) (int, bool) {
	taken := map[int]bool{}
	last := 0
	for _, e := range acl.Entries {
		if e.Egress != egress {
			continue
		}
		taken[e.Number] = true
		if e.Number < implied {
			last = max(last, e.Number)
		}
	}
	if next := (last/10 + 1) * 10; before >= implied && next <= 32766 {
		return next, true
	}
	for n := min(before, implied) - 1; n > 0; n-- {
		if !taken[n] {
			return n, true
		}
	}
	return 0, false
}

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
	// Unread is what could not be read and may allow the rest.
	Unread []snapshot.Failure
}

// Outbound reports whether groups let a packet out to a peer.
func (f *Filters) Outbound(groups []string, to Peer, p Protocol, port int) Answer {
	return f.judge(groups, to, p, port, true)
}

// Inbound reports whether groups let a packet in from a peer.
func (f *Filters) Inbound(groups []string, from Peer, p Protocol, port int) Answer {
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
		a.Unread = append(a.Unread, snapshot.Failure{Source: snapshot.SecurityGroups, Reason: snapshot.NotRead, Message: "its security groups are not known"})
	}
	for _, id := range groups {
		g, ok := f.groups[id]
		if !ok {
			a.Unread = append(a.Unread, f.missing(id))
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
				a.Unread = append(a.Unread, snapshot.Failure{
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
			a.Unread = append(a.Unread, blind...)
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
		a.Admits, a.Unread = All, nil
	case len(a.Unread) > 0 || len(want) == 0:
		a.Admits = Unknown
	case size(left) < size(want):
		a.Admits = Part
	default:
		a.Admits = None
	}
	if a.Admits == Unknown && len(a.Unread) == 0 {
		a.Unread = append(a.Unread, snapshot.Failure{Source: snapshot.Subnets, Reason: snapshot.NotRead, Message: "the addresses at the other end are not known"})
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

// Internet is where public services answer: all addresses but those that are
// never public (IANA's special-purpose registries: private, shared, loopback,
// link-local, multicast, reserved). A rule for 10.0.0.0/8 admits none of it.
func Internet() []netip.Prefix {
	special := []string{
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16", "224.0.0.0/3",
	}
	not := make([]netip.Prefix, len(special))
	for i, text := range special {
		not[i] = netip.MustParsePrefix(text)
	}
	return without([]netip.Prefix{netip.PrefixFrom(netip.IPv4Unspecified(), 0)}, not)
}

// Internet6 is the same for IPv6: global unicast addresses.
func Internet6() []netip.Prefix { return []netip.Prefix{netip.MustParsePrefix("2000::/3")} }

// without is a list of ranges less others. The result does not overlap if the
// list does not.
func without(list, not []netip.Prefix) []netip.Prefix {
	var left []netip.Prefix
	for _, p := range list {
		left = append(left, less(p, not)...)
	}
	return left
}

// less is one range less others: it is halved until every piece is in or out.
func less(p netip.Prefix, not []netip.Prefix) []netip.Prefix {
	if !p.IsValid() {
		return nil
	}
	touching := make([]netip.Prefix, 0, len(not))
	for _, n := range not {
		if !n.IsValid() || !n.Overlaps(p) {
			continue
		}
		if n.Bits() <= p.Bits() {
			return nil
		}
		touching = append(touching, n)
	}
	if len(touching) == 0 {
		return []netip.Prefix{p.Masked()}
	}
	low, high := halves(p)
	return append(less(low, touching), less(high, touching)...)
}

// common are the parts of a list of ranges that are in another range.
func common(list []netip.Prefix, with netip.Prefix) []netip.Prefix {
	var in []netip.Prefix
	for _, p := range list {
		switch {
		case !p.IsValid() || !with.IsValid() || !p.Overlaps(with):
		case with.Bits() <= p.Bits():
			in = append(in, p.Masked())
		default:
			in = append(in, with.Masked())
		}
	}
	return in
}

// halves splits a range of more than one address in two.
func halves(p netip.Prefix) (low, high netip.Prefix) {
	p = p.Masked()
	bits := p.Bits()
	raw := p.Addr().AsSlice()
	raw[bits/8] |= 0x80 >> (bits % 8)
	addr, _ := netip.AddrFromSlice(raw)
	return netip.PrefixFrom(p.Addr(), bits+1), netip.PrefixFrom(addr, bits+1)
}

// distinct are the ranges without those that another one holds.
func distinct(list []netip.Prefix) []netip.Prefix {
	var out []netip.Prefix
	for i, p := range list {
		if !p.IsValid() {
			continue
		}
		p = p.Masked()
		held := slices.ContainsFunc(out, func(o netip.Prefix) bool { return o.Bits() <= p.Bits() && o.Overlaps(p) })
		for _, later := range list[i+1:] {
			held = held || later.IsValid() && later.Bits() < p.Bits() && later.Overlaps(p)
		}
		if !held {
			out = append(out, p)
		}
	}
	return out
}

// size is how many addresses there are, as a float: IPv6 has too many to count.
func size(list []netip.Prefix) float64 {
	var sum float64
	for _, p := range list {
		n := 1.0
		for range p.Addr().BitLen() - p.Bits() {
			n *= 2
		}
		sum += n
	}
	return sum
}

// Rules are the rules of groups in one direction, one line each.
func (f *Filters) Rules(groups []string, egress bool) []string {
	var list []string
	for _, id := range groups {
		g, ok := f.groups[id]
		if !ok {
			list = append(list, id+": not read")
			continue
		}
		rules := g.Ingress
		if egress {
			rules = g.Egress
		}
		if len(rules) == 0 {
			list = append(list, fmt.Sprintf("%s %s: no rules", id, way(egress)))
		}
		for _, r := range rules {
			list = append(list, rule(id, r, egress))
		}
	}
	return list
}

func way(egress bool) string {
	if egress {
		return "egress"
	}
	return "ingress"
}

// rule writes a rule: "sg-0a ingress tcp 443 ← sg-0b, 10.0.0.0/8".
func rule(group string, r snapshot.Rule, egress bool) string {
	var peers []string
	for _, c := range r.CIDRs {
		peers = append(peers, c.String())
	}
	peers = append(append(peers, r.PrefixLists...), r.Groups...)
	const limit = 8
	if more := len(peers) - limit; more > 0 {
		peers = append(peers[:limit], fmt.Sprintf("%d more", more))
	}
	arrow := "←"
	if egress {
		arrow = "→"
	}
	return fmt.Sprintf("%s %s %s %s %s", group, way(egress), traffic(r.Protocol, r.From, r.To), arrow, strings.Join(peers, ", "))
}

// traffic writes a rule's protocol and ports: "tcp 443", "all traffic".
func traffic(text string, from, to int) string {
	number, all, ok := protocol(text)
	switch {
	case all:
		return "all traffic"
	case !ok:
		return fmt.Sprintf("protocol %q", text)
	case anyPort(text, from, to) || from == 0 && to == 65535:
		return number.String()
	}
	return fmt.Sprintf("%s %s", number, Ports{From: from, To: to})
}

// Addresses is how much of the addresses the segment admits. Part leaves out
// lists of single hosts: see hosts.
func (s Segment) Addresses() Extent {
	allowed, denied, unclear := rulingSize(s.Allowed), rulingSize(s.Denied), rulingSize(s.Unclear)
	switch {
	case unclear > 0:
		return Unknown
	case denied == 0 && allowed == 0:
		return Unknown // no addresses were asked about
	case denied == 0:
		return All
	case allowed == 0:
		return None
	case s.hosts():
		return All
	}
	return Part
}

// hosts reports whether what is denied is a short list of a much larger range: an
// ACL that shuts out some attackers' addresses says nothing about a service's.
// Fewer addresses than a /16, of at least a thousand times as many.
func (s Segment) hosts() bool {
	denied := rulingSize(s.Denied)
	return denied < 1<<16 && rulingSize(s.Allowed) > 1000*denied
}

func rulingSize(list []Ruling) float64 {
	var sum float64
	for _, r := range list {
		sum += size(r.Ranges)
	}
	return sum
}

// Verdict is the sum of segments.
type Verdict struct {
	// Admits is All, None, Part (some of the ports are shut for everybody) or
	// Unknown (for some addresses only, which may be those in question or not).
	Admits Extent
	// Shut are the ports that are shut for all addresses.
	Shut []Ports
	// By are the entries that shut them, lowest first.
	By []snapshot.ACLEntry
	// Some reports whether the answer is Unknown because it differs by address.
	Some bool
}

// Sum adds segments up.
func Sum(segments []Segment) Verdict {
	var v Verdict
	open, unknown := 0, 0
	for _, s := range segments {
		switch s.Addresses() {
		case All:
			open++
		case None:
			if n := len(v.Shut); n > 0 && v.Shut[n-1].To+1 == s.Ports.From {
				v.Shut[n-1].To = s.Ports.To
			} else {
				v.Shut = append(v.Shut, s.Ports)
			}
			for _, d := range s.Denied {
				if !slices.Contains(v.By, d.Entry) {
					v.By = append(v.By, d.Entry)
				}
			}
		case Part:
			v.Some = true
			unknown++
		default:
			unknown++
		}
	}
	slices.SortStableFunc(v.By, func(a, b snapshot.ACLEntry) int { return cmp.Compare(a.Number, b.Number) })
	switch {
	case len(segments) == 0:
		v.Admits = Unknown
	case open == len(segments):
		v.Admits = All
	case len(v.Shut) > 0 && open+unknown == 0:
		v.Admits = None
	case len(v.Shut) > 0:
		v.Admits = Part
	default:
		v.Admits = Unknown
	}
	return v
}
