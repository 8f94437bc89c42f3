package filter

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	"rollcall/shared/snapshot"
)

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
