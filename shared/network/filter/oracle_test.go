package filter

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"rollcall/shared/snapshot"
)

// The oracle's universe is 16 addresses and 10 ports: small enough to ask
// about every one.
const (
	hosts     = 16
	lastPort  = 9
	roundsACL = 3000
	roundsSG  = 3000
)

func host(i int) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}) }

func randomPrefix(r *rand.Rand) netip.Prefix {
	switch r.IntN(10) {
	case 0:
		return netip.MustParsePrefix("0.0.0.0/0")
	case 1:
		return netip.MustParsePrefix("::/0") // says nothing about IPv4
	case 2:
		return netip.Prefix{}
	}
	return netip.PrefixFrom(host(r.IntN(hosts)), 27+r.IntN(6)).Masked()
}

func randomPorts(r *rand.Rand) (from, to int) {
	from = r.IntN(lastPort + 1)
	return from, from + r.IntN(lastPort+1-from)
}

func randomProtocol(r *rand.Rand) string {
	return []string{"tcp", "6", "17", "-1", "udp", "strange"}[r.IntN(6)]
}

func TestDecideAgainstOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range roundsACL {
		var acl snapshot.NetworkACL
		for _, n := range r.Perm(8)[:r.IntN(8)] {
			from, to := randomPorts(r)
			if r.IntN(4) == 0 {
				from, to = -1, -1
			}
			acl.Entries = append(acl.Entries, snapshot.ACLEntry{
				Number: n + 1, Egress: r.IntN(3) > 0, Allow: r.IntN(2) == 0, Protocol: randomProtocol(r), From: from, To: to, CIDR: randomPrefix(r),
			})
		}
		from, to := randomPorts(r)
		remote := []netip.Prefix{netip.PrefixFrom(host(r.IntN(hosts)), 28+r.IntN(5)).Masked(), netip.PrefixFrom(host(r.IntN(hosts)), 28+r.IntN(5)).Masked()}
		segments := Decide(acl, true, TCP, Ports{From: from, To: to}, remote)
		next := from
		for _, s := range segments {
			if s.Ports.From != next {
				t.Fatalf("round %d: segments %v leave a gap at %d", round, segments, next)
			}
			next = s.Ports.To + 1
		}
		if next != to+1 {
			t.Fatalf("round %d: segments end at %d, want %d", round, next-1, to)
		}
		for port := from; port <= to; port++ {
			s := segments[slices.IndexFunc(segments, func(s Segment) bool { return s.Ports.From <= port && port <= s.Ports.To })]
			for i := range hosts {
				asked := remote[0].Contains(host(i)) || remote[1].Contains(host(i))
				got := rulings(s, host(i))
				want := []string{}
				if asked {
					want = append(want, oracleACL(acl, port, host(i)))
				}
				if !slices.Equal(got, want) {
					t.Fatalf("round %d: port %d of %s: %v, want %v, of %+v", round, port, host(i), got, want, acl)
				}
			}
		}
	}
}

// rulings is every list of a segment that has an address.
func rulings(s Segment, a netip.Addr) []string {
	got := []string{}
	for name, list := range map[string][]Ruling{"allow": s.Allowed, "deny": s.Denied, "unclear": s.Unclear} {
		for _, r := range list {
			for _, p := range r.Ranges {
				if p.Contains(a) {
					got = append(got, fmt.Sprintf("%s by %d", name, r.Entry.Number))
				}
			}
		}
	}
	return got
}

func oracleACL(acl snapshot.NetworkACL, port int, a netip.Addr) string {
	for n := range implied {
		for _, e := range acl.Entries {
			if e.Number != n || !e.Egress || !e.CIDR.IsValid() || !e.CIDR.Contains(a) {
				continue
			}
			ports := e.From == -1 || e.Protocol == "-1" || e.From <= port && port <= e.To
			switch {
			case !ports || e.Protocol == "17" || e.Protocol == "udp":
				continue
			case e.Protocol == "strange":
				return fmt.Sprintf("unclear by %d", n)
			case e.Allow:
				return fmt.Sprintf("allow by %d", n)
			}
			return fmt.Sprintf("deny by %d", n)
		}
		if n > 10 {
			break
		}
	}
	return fmt.Sprintf("deny by %d", implied)
}

func TestGroupsAgainstOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for round := range roundsSG {
		s := &snapshot.Snapshot{Read: map[snapshot.Source]bool{snapshot.SecurityGroups: true, snapshot.PrefixListEntries: true}}
		s.PrefixLists = []snapshot.PrefixList{{ID: "pl-1", CIDRs: []netip.Prefix{randomPrefix(r)}}}
		for _, id := range []string{"sg-1", "sg-2"} {
			g := snapshot.SecurityGroup{ID: id}
			for range r.IntN(4) {
				from, to := randomPorts(r)
				rule := snapshot.Rule{Protocol: randomProtocol(r), From: from, To: to}
				switch r.IntN(6) {
				case 0:
					rule.Groups = []string{[]string{"sg-peer", "sg-9"}[r.IntN(2)]}
				case 1:
					rule.PrefixLists = []string{[]string{"pl-1", "pl-unread"}[r.IntN(2)]}
				default:
					rule.CIDRs = []netip.Prefix{randomPrefix(r), randomPrefix(r)}
				}
				g.Egress = append(g.Egress, rule)
			}
			s.SecurityGroups = append(s.SecurityGroups, g)
		}
		groups := [][]string{{"sg-1"}, {"sg-1", "sg-2"}, {"sg-1", "sg-gone"}, {}}[r.IntN(4)]
		peer := Peer{Ranges: []netip.Prefix{netip.PrefixFrom(host(r.IntN(hosts)), 28+r.IntN(5)).Masked()}, Groups: []string{"sg-peer"}}
		port := r.IntN(lastPort + 1)
		got := New(s).Out(groups, peer, TCP, port).Admits
		if want := oracleGroups(s, groups, peer, port); got != want {
			t.Fatalf("round %d: %s, want %s: %v port %d to %v of %+v", round, got, want, groups, port, peer, s.SecurityGroups)
		}
	}
}

func oracleGroups(s *snapshot.Snapshot, groups []string, peer Peer, port int) Extent {
	blind := len(groups) == 0
	asked, in := 0, 0
	for i := range hosts {
		if !peer.Ranges[0].Contains(host(i)) {
			continue
		}
		asked++
		admitted := false
		for _, id := range groups {
			k := slices.IndexFunc(s.SecurityGroups, func(g snapshot.SecurityGroup) bool { return g.ID == id })
			if k < 0 {
				blind = true
				continue
			}
			for _, rule := range s.SecurityGroups[k].Egress {
				if rule.Protocol == "17" || rule.Protocol == "udp" || rule.Protocol != "-1" && (port < rule.From || port > rule.To) {
					continue
				}
				if rule.Protocol == "strange" || slices.Contains(rule.PrefixLists, "pl-unread") {
					blind = true
					continue
				}
				cidrs := rule.CIDRs
				if slices.Contains(rule.PrefixLists, "pl-1") {
					cidrs = s.PrefixLists[0].CIDRs
				}
				admitted = admitted || slices.Contains(rule.Groups, "sg-peer") ||
					slices.ContainsFunc(cidrs, func(c netip.Prefix) bool { return c.IsValid() && c.Contains(host(i)) })
			}
		}
		if admitted {
			in++
		}
	}
	switch {
	case in == asked:
		return All
	case blind:
		return Unknown
	case in > 0:
		return Part
	}
	return None
}
