package filter

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rollcall/shared/snapshot"
	"rollcall/tools/expect"
)

func prefix(text string) netip.Prefix { return netip.MustParsePrefix(text) }

func allow(number, from, to int, cidr string) snapshot.ACLEntry {
	return snapshot.ACLEntry{Number: number, Allow: true, Protocol: "6", From: from, To: to, CIDR: prefix(cidr)}
}

func deny(number, from, to int, cidr string) snapshot.ACLEntry {
	e := allow(number, from, to, cidr)
	e.Allow = false
	return e
}

func TestSum(t *testing.T) {
	internet := Internet()
	all := "0.0.0.0/0"
	tests := []struct {
		name    string
		entries []snapshot.ACLEntry
		ports   Ports
		remote  []netip.Prefix
		want    Verdict
	}{
		{"no entries: the last rule denies", nil, Port(443), internet, Verdict{Admits: None, Shut: []Ports{{443, 443}}}},
		{"everything", []snapshot.ACLEntry{allow(100, 0, 65535, all)}, Port(443), internet, Verdict{Admits: All}},
		{"a lower deny wins", []snapshot.ACLEntry{allow(100, 0, 65535, all), deny(90, 443, 443, all)}, Port(443), internet,
			Verdict{Admits: None, Shut: []Ports{{443, 443}}}},
		{"a higher deny does not", []snapshot.ACLEntry{allow(100, 0, 65535, all), deny(110, 443, 443, all)}, Port(443), internet, Verdict{Admits: All}},
		{"answers to a Linux node", []snapshot.ACLEntry{allow(100, 32768, 65535, all)}, Ephemeral(false), internet, Verdict{Admits: All}},
		{"the same rules do not do for a NAT gateway", []snapshot.ACLEntry{allow(100, 32768, 65535, all)}, EphemeralNAT(), internet,
			Verdict{Admits: Part, Shut: []Ports{{1024, 32767}}}},
		{"nor for a Linux node what does for Windows", []snapshot.ACLEntry{allow(100, 49152, 65535, all)}, Ephemeral(false), internet,
			Verdict{Admits: Part, Shut: []Ports{{32768, 49151}}}},
		{"for Windows it does", []snapshot.ACLEntry{allow(100, 49152, 65535, all)}, Ephemeral(true), internet, Verdict{Admits: All}},
		{"a hole in the middle", []snapshot.ACLEntry{deny(50, 40000, 40001, all), allow(100, 1024, 65535, all)}, Ephemeral(false), internet,
			Verdict{Admits: Part, Shut: []Ports{{40000, 40001}}}},
		{"private ranges are none of the internet", []snapshot.ACLEntry{allow(100, 0, 65535, "10.0.0.0/8")}, Port(443), internet,
			Verdict{Admits: None, Shut: []Ports{{443, 443}}}},
		{"a part of the internet", []snapshot.ACLEntry{allow(100, 0, 65535, "52.0.0.0/8")}, Port(443), internet, Verdict{Admits: Unknown, Some: true}},
		{"some hosts shut out", []snapshot.ACLEntry{deny(1, 0, 65535, "203.0.113.0/24"), allow(100, 0, 65535, all)}, Port(443), internet, Verdict{Admits: All}},
		{"a half of a subnet", []snapshot.ACLEntry{allow(100, 0, 65535, "10.0.0.0/25")}, Port(443), []netip.Prefix{prefix("10.0.0.0/24")}, Verdict{Admits: Unknown, Some: true}},
		{"no addresses", []snapshot.ACLEntry{allow(100, 0, 65535, all)}, Port(443), nil, Verdict{Admits: Unknown}},
		{"a protocol that is not understood", []snapshot.ACLEntry{{Number: 1, Protocol: "?", CIDR: prefix(all), From: -1, To: -1}}, Port(443), internet, Verdict{Admits: Unknown}},
		{"only UDP", []snapshot.ACLEntry{{Number: 1, Allow: true, Protocol: "17", To: 65535, CIDR: prefix(all)}}, Port(443), internet, Verdict{Admits: None, Shut: []Ports{{443, 443}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Sum(Decide(snapshot.NetworkACL{Entries: tt.entries}, false, TCP, tt.ports, tt.remote))
			expect.Same(t, "Sum", got, tt.want, cmpopts.IgnoreFields(Verdict{}, "By"))
		})
	}
}

func TestSumNamesTheEntries(t *testing.T) {
	acl := snapshot.NetworkACL{Entries: []snapshot.ACLEntry{deny(90, 443, 443, "0.0.0.0/1"), allow(200, 80, 80, "0.0.0.0/0")}}
	var got []string
	for _, e := range Sum(Decide(acl, false, TCP, Port(443), Internet())).By {
		got = append(got, Entry(e))
	}
	expect.Same(t, "entries", got, []string{"rule 90 denies tcp 443 ← 0.0.0.0/1", "rule * denies all traffic"})
}

func TestFree(t *testing.T) {
	acl := snapshot.NetworkACL{Entries: []snapshot.ACLEntry{{Number: 1}, {Number: 2}, {Number: 99}, {Number: 100}, {Number: 50, Egress: true}, {Number: 32767}}}
	full := snapshot.NetworkACL{Entries: []snapshot.ACLEntry{{Number: 32766}, {Number: 32767}}}
	tests := []struct {
		acl    snapshot.NetworkACL
		egress bool
		before int
		want   int
		ok     bool
	}{
		{acl, false, 100, 98, true},
		{acl, false, 2, 0, false},
		{acl, false, implied, 110, true},
		{acl, true, implied, 60, true},
		{snapshot.NetworkACL{}, true, implied, 10, true},
		{full, false, implied, 32765, true},
	}
	for _, tt := range tests {
		if got, ok := Free(tt.acl, tt.egress, tt.before); got != tt.want || ok != tt.ok {
			t.Errorf("Free(egress %t, before %d) = %d, %t, want %d, %t", tt.egress, tt.before, got, ok, tt.want, tt.ok)
		}
	}
}

// world is a snapshot with one group, sg-a, that has the rules both ways.
func world(rules ...snapshot.Rule) *snapshot.Snapshot {
	return &snapshot.Snapshot{
		Read:           map[snapshot.Source]bool{snapshot.SecurityGroups: true, snapshot.PrefixListEntries: true},
		SecurityGroups: []snapshot.SecurityGroup{{ID: "sg-a", Ingress: rules, Egress: rules}},
		PrefixLists:    []snapshot.PrefixList{{ID: "pl-a", CIDRs: []netip.Prefix{prefix("10.0.0.0/24")}}},
	}
}

func TestGroups(t *testing.T) {
	tcp443 := func(cidrs ...string) snapshot.Rule {
		r := snapshot.Rule{Protocol: "tcp", From: 443, To: 443}
		for _, c := range cidrs {
			r.CIDRs = append(r.CIDRs, prefix(c))
		}
		return r
	}
	peer := Peer{Ranges: []netip.Prefix{prefix("10.0.0.0/24")}, Groups: []string{"sg-b"}}
	six := Peer{Ranges: []netip.Prefix{prefix("2001:db8::/64")}}
	tests := []struct {
		name   string
		world  *snapshot.Snapshot
		groups []string
		peer   Peer
		want   Extent
		by     []string
	}{
		{"no rules", world(), []string{"sg-a"}, peer, None, nil},
		{"by range", world(tcp443("10.0.0.0/8")), []string{"sg-a"}, peer, All, []string{"sg-a egress tcp 443 → 10.0.0.0/8"}},
		{"two halves", world(tcp443("10.0.0.0/25", "10.0.0.128/25")), []string{"sg-a"}, peer, All, []string{"sg-a egress tcp 443 → 10.0.0.0/25, 10.0.0.128/25"}},
		{"a half", world(tcp443("10.0.0.0/25")), []string{"sg-a"}, peer, Part, []string{"sg-a egress tcp 443 → 10.0.0.0/25"}},
		{"by group", world(snapshot.Rule{Protocol: "-1", From: -1, To: -1, Groups: []string{"sg-b"}}), []string{"sg-a"}, peer, All, []string{"sg-a egress all traffic → sg-b"}},
		{"by another group", world(snapshot.Rule{Protocol: "-1", From: -1, To: -1, Groups: []string{"sg-c"}}), []string{"sg-a"}, peer, None, nil},
		{"by prefix list", world(snapshot.Rule{Protocol: "6", From: 0, To: 65535, PrefixLists: []string{"pl-a"}}), []string{"sg-a"}, peer, All, []string{"sg-a egress tcp → pl-a"}},
		{"by a prefix list that was not read", world(snapshot.Rule{Protocol: "6", From: 0, To: 65535, PrefixLists: []string{"pl-x"}}), []string{"sg-a"}, peer, Unknown, nil},
		{"IPv4 rules say nothing of IPv6", world(tcp443("0.0.0.0/0")), []string{"sg-a"}, six, None, nil},
		{"IPv6", world(tcp443("0.0.0.0/0", "::/0")), []string{"sg-a"}, six, All, []string{"sg-a egress tcp 443 → 0.0.0.0/0, ::/0"}},
		{"another port", world(snapshot.Rule{Protocol: "tcp", From: 80, To: 442, CIDRs: []netip.Prefix{prefix("0.0.0.0/0")}}), []string{"sg-a"}, peer, None, nil},
		{"one group of two is not there", world(), []string{"sg-a", "sg-gone"}, peer, Unknown, nil},
		{"nor need it be, when the other admits", world(tcp443("0.0.0.0/0")), []string{"sg-gone", "sg-a"}, peer, All, []string{"sg-a egress tcp 443 → 0.0.0.0/0"}},
		{"no groups known", world(tcp443("0.0.0.0/0")), nil, peer, Unknown, nil},
		{"no addresses known", world(tcp443("0.0.0.0/0")), []string{"sg-a"}, Peer{}, Unknown, nil},
		{"no addresses known, but the group", world(snapshot.Rule{Protocol: "-1", Groups: []string{"sg-b"}}), []string{"sg-a"}, Peer{Groups: []string{"sg-b"}}, All, []string{"sg-a egress all traffic → sg-b"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := New(tt.world).Outbound(tt.groups, tt.peer, TCP, 443)
			if got.Admits != tt.want {
				t.Errorf("Admits = %s, want %s", got.Admits, tt.want)
			}
			expect.Same(t, "By", got.By, tt.by)
			if (got.Admits == Unknown) != (len(got.Unread) > 0) {
				t.Errorf("%s with %v: an Unknown names what could not be looked at, and nothing else does", got.Admits, got.Unread)
			}
		})
	}
}

func TestRulesAreWritten(t *testing.T) {
	s := world(snapshot.Rule{Protocol: "udp", From: 53, To: 53, Groups: []string{"sg-b"}}, snapshot.Rule{Protocol: "50", From: -1, To: -1, CIDRs: []netip.Prefix{prefix("10.0.0.0/8")}})
	s.SecurityGroups[0].Egress = nil
	f := New(s)
	got := append(f.Rules([]string{"sg-a", "sg-x"}, false), f.Rules([]string{"sg-a"}, true)...)
	want := []string{"sg-a ingress udp 53 ← sg-b", "sg-a ingress protocol 50 ← 10.0.0.0/8", "sg-x: not read", "sg-a egress: no rules"}
	expect.Same(t, "Rules", got, want)
}

func TestInternetIsPublic(t *testing.T) {
	in := func(a string) bool {
		for _, p := range Internet() {
			if p.Contains(netip.MustParseAddr(a)) {
				return true
			}
		}
		return false
	}
	for a, want := range map[string]bool{"52.94.5.1": true, "3.5.76.1": true, "10.1.2.3": false, "172.31.0.1": false, "172.32.0.1": true, "192.168.9.9": false, "100.64.0.1": false, "169.254.169.253": false, "224.0.0.1": false} {
		if in(a) != want {
			t.Errorf("Internet holds %s: %t, want %t", a, in(a), want)
		}
	}
}

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
		got := New(s).Outbound(groups, peer, TCP, port).Admits
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

func prefixes(texts ...string) []netip.Prefix {
	var list []netip.Prefix
	for _, text := range texts {
		list = append(list, prefix(text))
	}
	return list
}

// How a rule's protocol is read, and written.
func TestProtocols(t *testing.T) {
	type is struct {
		number  Protocol
		all, ok bool
	}
	for text, want := range map[string]is{
		"-1": {0, true, true}, "all": {0, true, true}, "ALL": {0, true, true},
		"tcp": {6, false, true}, "TCP": {6, false, true}, "udp": {17, false, true}, "icmp": {1, false, true}, "icmpv6": {58, false, true},
		"0": {0, false, true}, "6": {6, false, true}, "255": {255, false, true},
		"256": {0, false, false}, "-2": {0, false, false}, "?": {0, false, false}, "": {0, false, false},
	} {
		number, all, ok := protocol(text)
		expect.Equal(t, fmt.Sprintf("%q", text), (is{number, all, ok}), want)
	}
	for p, want := range map[Protocol]string{TCP: "tcp", UDP: "udp", 50: "protocol 50"} {
		expect.Equal(t, fmt.Sprintf("%d", int(p)), p.String(), want)
	}
	for _, test := range []struct {
		protocol string
		from, to int
		any      bool
		want     string
	}{
		{"-1", 443, 443, true, "all traffic"},
		{"tcp", -1, -1, true, "tcp"},
		{"tcp", 0, 65535, false, "tcp"},
		{"tcp", 0, 443, false, "tcp 0-443"},
		{"tcp", 1, 65535, false, "tcp 1-65535"},
		{"tcp", 443, 443, false, "tcp 443"},
		{"tcp", -1, 443, false, "tcp -1-443"},
		{"tcp", 443, -1, false, "tcp 443--1"},
		{"?", 443, 443, false, `protocol "?"`},
	} {
		expect.Equal(t, fmt.Sprintf("%s %d-%d is for any port", test.protocol, test.from, test.to), anyPort(test.protocol, test.from, test.to), test.any)
		expect.Equal(t, "got", traffic(test.protocol, test.from, test.to), test.want)
	}
}

// Ports to which answers come back (VPC user guide, "Ephemeral ports").
func TestEphemeralPorts(t *testing.T) {
	for name, ports := range map[string][2]Ports{
		"Linux": {Ephemeral(false), {32768, 60999}}, "Windows": {Ephemeral(true), {49152, 65535}}, "a NAT gateway": {EphemeralNAT(), {1024, 65535}},
	} {
		if ports[0] != ports[1] {
			t.Errorf("%s: %s, want %s", name, ports[0], ports[1])
		}
	}
}

func TestEntriesAreWritten(t *testing.T) {
	for want, e := range map[string]snapshot.ACLEntry{
		"rule 100 allows tcp 443 → 0.0.0.0/0": {Number: 100, Allow: true, Egress: true, Protocol: "6", From: 443, To: 443, CIDR: prefix("0.0.0.0/0")},
		"rule 90 denies udp 53 ← 10.0.0.5":    {Number: 90, Protocol: "17", From: 53, To: 53, CIDR: prefix("10.0.0.5/32")},
		"rule * denies all traffic":           {Number: implied, Protocol: "-1"},
		"rule * denies all traffic ← ::/0":    {Number: implied, Protocol: "-1", CIDR: prefix("::/0")},
	} {
		expect.Equal(t, "got", Entry(e), want)
	}
}

// The first entry that matches decides, also where it names the ports that are
// asked about; what is left the last rule denies.
func TestWhatAnACLDecides(t *testing.T) {
	rest := snapshot.ACLEntry{Number: implied, Protocol: "-1", To: 65535}
	first, second := allow(10, 443, 443, "10.0.0.0/25"), deny(20, 0, 65535, "10.0.0.0/24")
	never := allow(30, 0, 65535, "10.0.0.0/24")
	for name, test := range map[string]struct {
		entries []snapshot.ACLEntry
		want    []Segment
	}{
		"none":      {nil, []Segment{{Ports: Port(443), Denied: []Ruling{{rest, prefixes("10.0.0.0/24")}}}}},
		"one":       {[]snapshot.ACLEntry{first}, []Segment{{Ports: Port(443), Allowed: []Ruling{{first, prefixes("10.0.0.0/25")}}, Denied: []Ruling{{rest, prefixes("10.0.0.128/25")}}}}},
		"all of it": {[]snapshot.ACLEntry{never, second, first}, []Segment{{Ports: Port(443), Allowed: []Ruling{{first, prefixes("10.0.0.0/25")}}, Denied: []Ruling{{second, prefixes("10.0.0.128/25")}}}}},
	} {
		got := Decide(snapshot.NetworkACL{Entries: test.entries}, false, TCP, Port(443), prefixes("10.0.0.0/24"))
		expect.Same(t, name, got, test.want, cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }))
	}
	// Two entries from one port on cut once, and none cuts where the ports begin.
	two := snapshot.NetworkACL{Entries: []snapshot.ACLEntry{allow(10, 443, 500, "10.0.0.0/25"), deny(20, 443, 500, "10.0.0.128/25"), allow(30, 400, 600, "10.0.0.0/24")}}
	var got []Ports
	for _, s := range Decide(two, false, TCP, Ports{400, 600}, prefixes("10.0.0.0/24")) {
		got = append(got, s.Ports)
	}
	expect.Same(t, "segments", got, []Ports{{400, 442}, {443, 500}, {501, 600}})
}

func TestFreeNumbers(t *testing.T) {
	of := func(numbers ...int) snapshot.NetworkACL {
		var acl snapshot.NetworkACL
		for _, n := range numbers {
			acl.Entries = append(acl.Entries, snapshot.ACLEntry{Number: n})
		}
		return acl
	}
	for name, test := range map[string]struct {
		acl    snapshot.NetworkACL
		before int
		want   int
		ok     bool
	}{
		"none is there":                  {of(), implied, 10, true},
		"the first is":                   {of(9), implied, 10, true},
		"after a ten":                    {of(10), implied, 20, true},
		"the last ten":                   {of(32759), implied, 32760, true},
		"no ten is left":                 {of(32760), implied, 32766, true},
		"the last is taken":              {of(32760, 32766), implied, 32765, true},
		"the one before":                 {of(5), 6, 4, true},
		"the one before, which is free":  {of(7), 6, 5, true},
		"the first of all":               {of(3, 2), 3, 1, true},
		"none before":                    {of(1, 2), 3, 0, false},
		"before the first":               {of(), 1, 0, false},
		"what is beyond the last is not": {of(32760), 40000, 32766, true},
	} {
		if got, ok := Free(test.acl, false, test.before); got != test.want || ok != test.ok {
			t.Errorf("%s: %d, %t, want %d, %t", name, got, ok, test.want, test.ok)
		}
	}
}

func TestWhatIsIndexed(t *testing.T) {
	f := New(&snapshot.Snapshot{
		SecurityGroups: []snapshot.SecurityGroup{{ID: "sg-a"}, {ID: "sg-b", Name: "b"}},
		NetworkACLs:    []snapshot.NetworkACL{{ID: "acl-a", Subnets: []string{"s-1"}}, {ID: "acl-b", Subnets: []string{"s-2", "s-3"}}},
	})
	for subnet, want := range map[string]string{"s-1": "acl-a", "s-3": "acl-b", "s-9": ""} {
		if acl, ok := f.ACL(subnet); acl.ID != want || ok != (want != "") {
			t.Errorf("%s: %q, %t", subnet, acl.ID, ok)
		}
	}
	for id, want := range map[string]string{"sg-b": "b", "sg-9": ""} {
		if g, ok := f.Group(id); g.Name != want || ok != (want != "") {
			t.Errorf("%s: %+v, %t", id, g, ok)
		}
	}
}

// What groups answer, all of it.
func TestWhatGroupsAnswer(t *testing.T) {
	denied := snapshot.Failure{Source: snapshot.SecurityGroups, Reason: snapshot.Denied, Call: "ec2:DescribeSecurityGroups"}
	noLists := snapshot.Failure{Source: snapshot.PrefixListEntries, Reason: snapshot.Denied, Call: "ec2:GetManagedPrefixListEntries"}
	half := snapshot.Rule{Protocol: "tcp", From: 443, To: 443, CIDRs: prefixes("10.0.0.0/25")}
	strange := snapshot.Rule{Protocol: "?", From: 443, To: 443, CIDRs: prefixes("10.0.0.0/24")}
	group := snapshot.Rule{Protocol: "tcp", From: 443, To: 443, Groups: []string{"sg-b"}}
	lists := snapshot.Rule{Protocol: "tcp", From: 443, To: 443, PrefixLists: []string{"pl-b", "pl-a"}}
	blind := func(s *snapshot.Snapshot, f snapshot.Failure) *snapshot.Snapshot {
		s.Read[f.Source] = false
		s.Failures = map[snapshot.Source]snapshot.Failure{f.Source: f}
		return s
	}
	peer := Peer{Ranges: prefixes("10.0.0.0/24"), Groups: []string{"sg-b"}}
	alone := Peer{Ranges: peer.Ranges}
	for name, test := range map[string]struct {
		s      *snapshot.Snapshot
		groups []string
		peer   Peer
		want   Answer
	}{
		"a half": {world(half), []string{"sg-a"}, alone, Answer{Admits: Part, By: []string{"sg-a ingress tcp 443 ← 10.0.0.0/25"}, Shut: prefixes("10.0.0.128/25")}},
		"by group, and the half by range": {world(half, group, half), []string{"sg-a"}, peer,
			Answer{Admits: All, By: []string{"sg-a ingress tcp 443 ← 10.0.0.0/25", "sg-a ingress tcp 443 ← sg-b", "sg-a ingress tcp 443 ← 10.0.0.0/25"}}},
		"what is not understood, and a half": {world(strange, half), []string{"sg-a"}, alone, Answer{Admits: Unknown, By: []string{"sg-a ingress tcp 443 ← 10.0.0.0/25"}, Shut: prefixes("10.0.0.128/25"),
			Unread: []snapshot.Failure{{Source: snapshot.SecurityGroups, Reason: snapshot.Broken, Message: `sg-a has a rule with protocol "?", which is not understood`}}}},
		"no addresses":               {world(half), []string{"sg-a"}, Peer{}, Answer{Admits: Unknown, Unread: []snapshot.Failure{{Source: snapshot.Subnets, Reason: snapshot.NotRead, Message: "the addresses at the other end are not known"}}}},
		"no groups":                  {world(half), nil, alone, Answer{Admits: Unknown, Shut: alone.Ranges, Unread: []snapshot.Failure{{Source: snapshot.SecurityGroups, Reason: snapshot.NotRead, Message: "its security groups are not known"}}}},
		"no groups and no addresses": {world(half), nil, Peer{}, Answer{Admits: Unknown, Unread: []snapshot.Failure{{Source: snapshot.SecurityGroups, Reason: snapshot.NotRead, Message: "its security groups are not known"}}}},
		"one is not listed": {world(), []string{"sg-gone"}, alone, Answer{Admits: Unknown, Shut: alone.Ranges,
			Unread: []snapshot.Failure{{Source: snapshot.SecurityGroups, Reason: snapshot.NotRead, Message: "sg-gone is not among the security groups that EC2 lists"}}}},
		"none could be read":                          {blind(world(), denied), []string{"sg-gone"}, alone, Answer{Admits: Unknown, Shut: alone.Ranges, Unread: []snapshot.Failure{denied}}},
		"no list could be":                            {blind(world(lists), noLists), []string{"sg-a"}, alone, Answer{Admits: Unknown, Shut: alone.Ranges, Unread: []snapshot.Failure{noLists, noLists}}},
		"one list is not there, and the other admits": {world(lists), []string{"sg-a"}, alone, Answer{Admits: All, By: []string{"sg-a ingress tcp 443 ← pl-b, pl-a"}}},
		"one list could not be": {func() *snapshot.Snapshot {
			s := world(lists)
			s.PrefixLists = append(s.PrefixLists, snapshot.PrefixList{ID: "pl-b", CIDRs: prefixes("10.0.0.0/24")})
			s.PrefixLists[0].CIDRs = prefixes("10.0.0.0/25")
			s.Missing = map[snapshot.Source]map[string]snapshot.Failure{snapshot.PrefixListEntries: {"pl-b": noLists}}
			return s
		}(), []string{"sg-a"}, alone, Answer{Admits: Unknown, By: []string{"sg-a ingress tcp 443 ← pl-b, pl-a"}, Shut: prefixes("10.0.0.128/25"), Unread: []snapshot.Failure{noLists}}},
		"one list is not there": {world(snapshot.Rule{Protocol: "tcp", From: 443, To: 443, PrefixLists: []string{"pl-b"}}), []string{"sg-a"}, alone, Answer{Admits: Unknown, Shut: alone.Ranges,
			Unread: []snapshot.Failure{{Source: snapshot.PrefixListEntries, Reason: snapshot.NotRead, Message: "the entries of pl-b were not read"}}}},
	} {
		got := New(test.s).Inbound(test.groups, test.peer, TCP, 443)
		expect.Same(t, name, got, test.want, cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }))
	}
}

func TestLongRulesAreCut(t *testing.T) {
	of := func(n int) snapshot.Rule {
		r := snapshot.Rule{Protocol: "tcp", From: 443, To: 443}
		for range n {
			r.Groups = append(r.Groups, "sg-b")
		}
		return r
	}
	const eight = "sg-a ingress tcp 443 ← sg-b, sg-b, sg-b, sg-b, sg-b, sg-b, sg-b, sg-b"
	f := New(world(of(8), of(10)))
	expect.Same(t, "got", f.Rules([]string{"sg-x", "sg-a"}, false), []string{"sg-x: not read", eight, eight + ", 2 more"})
	for want, list := range map[string][]netip.Prefix{"nowhere": nil, "10.0.0.5": prefixes("10.0.0.5/32"), "10.0.0.0/24": prefixes("10.0.0.0/24"), "10.0.0.0/24 and 2 more": prefixes("10.0.0.0/24", "10.0.1.0/24", "10.0.2.0/24")} {
		expect.Equal(t, "got", target(list), want)
	}
}

func TestRangesOfRanges(t *testing.T) {
	same := cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })
	none := netip.Prefix{}
	for name, test := range map[string]struct{ got, want []netip.Prefix }{
		"IPv6's internet":                {Internet6(), prefixes("2000::/3")},
		"less nothing":                   {without(prefixes("10.0.0.7/24"), nil), prefixes("10.0.0.0/24")},
		"less what is not known":         {without(prefixes("10.0.0.0/24"), []netip.Prefix{none}), prefixes("10.0.0.0/24")},
		"what is not known":              {without([]netip.Prefix{none}, nil), nil},
		"less a half":                    {without(prefixes("10.0.0.9/24"), prefixes("10.0.0.0/25")), prefixes("10.0.0.128/25")},
		"less itself":                    {without(prefixes("10.0.0.0/24"), prefixes("10.0.0.0/24")), nil},
		"less what is around it":         {without(prefixes("10.0.0.0/24"), prefixes("10.0.0.0/16")), nil},
		"less other protocols":           {without(prefixes("10.0.0.0/24"), prefixes("::/0")), prefixes("10.0.0.0/24")},
		"in what is around it":           {common(prefixes("10.0.0.9/24"), prefix("10.0.0.0/16")), prefixes("10.0.0.0/24")},
		"in itself":                      {common(prefixes("10.0.0.9/24"), prefix("10.0.0.7/24")), prefixes("10.0.0.0/24")},
		"in a part":                      {common(prefixes("10.0.0.0/24"), prefix("10.0.0.129/25")), prefixes("10.0.0.128/25")},
		"in what is not known":           {common(prefixes("10.0.0.0/24"), none), nil},
		"what is not known, in all":      {common([]netip.Prefix{none, prefix("10.0.0.0/24")}, prefix("0.0.0.0/0")), prefixes("10.0.0.0/24")},
		"elsewhere":                      {common(prefixes("10.0.0.0/24"), prefix("10.1.0.0/16")), nil},
		"distinct, none of them":         {distinct([]netip.Prefix{none, prefix("10.0.0.9/24")}), prefixes("10.0.0.0/24")},
		"distinct, the same twice":       {distinct(prefixes("10.0.0.1/24", "10.0.0.2/24")), prefixes("10.0.0.0/24")},
		"distinct, a part before":        {distinct(prefixes("10.0.0.0/25", "10.0.0.0/24")), prefixes("10.0.0.0/24")},
		"distinct, a part after":         {distinct(prefixes("10.0.0.0/24", "10.0.0.0/25")), prefixes("10.0.0.0/24")},
		"distinct, apart":                {distinct(prefixes("10.0.0.0/25", "10.0.1.0/24", "10.0.0.128/25")), prefixes("10.0.0.0/25", "10.0.1.0/24", "10.0.0.128/25")},
		"distinct, with what is unknown": {distinct([]netip.Prefix{prefix("10.0.0.0/24"), none}), prefixes("10.0.0.0/24")},
	} {
		expect.Same(t, name, test.got, test.want, same)
	}
	if got := size(prefixes("10.0.0.0/24", "10.0.1.0/30", "10.0.2.1/32")); got != 261 {
		t.Errorf("%v addresses", got)
	}
	for _, a := range []string{"0.1.2.3", "127.0.0.1", "255.255.255.255"} {
		for _, p := range Internet() {
			if p.Contains(netip.MustParseAddr(a)) {
				t.Errorf("%s is public", a)
			}
		}
	}
}

// How much a segment admits, and what several do together.
func TestHowMuchIsAdmitted(t *testing.T) {
	rulings := func(texts ...string) []Ruling { return []Ruling{{Ranges: prefixes(texts...)}} }
	wide := rulings("10.0.0.0/8")
	for name, test := range map[string]struct {
		s    Segment
		want Extent
	}{
		"nothing is asked":             {Segment{}, Unknown},
		"all":                          {Segment{Allowed: wide}, All},
		"none":                         {Segment{Denied: wide}, None},
		"one address":                  {Segment{Denied: rulings("10.0.0.1/32")}, None},
		"a half":                       {Segment{Allowed: wide, Denied: rulings("11.0.0.0/8")}, Part},
		"one address is not clear":     {Segment{Allowed: wide, Unclear: rulings("10.0.0.1/32")}, Unknown},
		"some hosts":                   {Segment{Allowed: wide, Denied: rulings("11.0.0.0/24")}, All},
		"a /16, of all there are":      {Segment{Allowed: rulings("0.0.0.0/0"), Denied: rulings("11.0.0.0/16")}, Part},
		"a /17, of all there are":      {Segment{Allowed: rulings("0.0.0.0/0"), Denied: rulings("11.0.0.0/17")}, All},
		"one, of a thousand":           {Segment{Allowed: rulings("10.0.0.0/23", "10.1.0.0/24", "10.2.0.0/25", "10.3.0.0/26", "10.4.0.0/27", "10.5.0.0/29"), Denied: rulings("11.0.0.0/32")}, Part},
		"one, of a thousand and one":   {Segment{Allowed: rulings("10.0.0.0/23", "10.1.0.0/24", "10.2.0.0/25", "10.3.0.0/26", "10.4.0.0/27", "10.5.0.0/29", "10.6.0.0/32"), Denied: rulings("11.0.0.0/32")}, All},
		"a /8, of more than a hundred": {Segment{Allowed: rulings("0.0.0.0/0", "::/0"), Denied: rulings("11.0.0.0/8")}, Part},
	} {
		expect.Equal(t, name, test.s.Addresses(), test.want)
	}
	entry := func(n int) []Ruling {
		return []Ruling{{Entry: snapshot.ACLEntry{Number: n}, Ranges: prefixes("10.0.0.0/24")}}
	}
	at := func(from, to int, s Segment) Segment { s.Ports = Ports{from, to}; return s }
	open, unclear := Segment{Allowed: wide}, Segment{Unclear: wide}
	part := Segment{Allowed: wide, Denied: rulings("11.0.0.0/8")}
	by := func(numbers ...int) (list []snapshot.ACLEntry) {
		for _, n := range numbers {
			list = append(list, snapshot.ACLEntry{Number: n})
		}
		return list
	}
	for name, test := range map[string]struct {
		list []Segment
		want Verdict
	}{
		"none":                           {nil, Verdict{Admits: Unknown}},
		"all":                            {[]Segment{at(1, 1, open), at(2, 2, open)}, Verdict{Admits: All}},
		"shut, one after another":        {[]Segment{at(1, 1, Segment{Denied: entry(9)}), at(2, 4, Segment{Denied: entry(5)}), at(5, 6, Segment{Denied: entry(9)})}, Verdict{Admits: None, Shut: []Ports{{1, 6}}, By: by(5, 9)}},
		"shut, and not one after":        {[]Segment{at(1, 1, Segment{Denied: entry(9)}), at(3, 4, Segment{Denied: entry(5)})}, Verdict{Admits: None, Shut: []Ports{{1, 1}, {3, 4}}, By: by(5, 9)}},
		"some ports are shut":            {[]Segment{at(1, 1, open), at(2, 2, Segment{Denied: entry(5)}), at(3, 3, open), at(4, 4, Segment{Denied: entry(5)})}, Verdict{Admits: Part, Shut: []Ports{{2, 2}, {4, 4}}, By: by(5)}},
		"shut, or not clear":             {[]Segment{at(1, 1, Segment{Denied: entry(5)}), at(2, 2, unclear)}, Verdict{Admits: Part, Shut: []Ports{{1, 1}}, By: by(5)}},
		"shut, or for some":              {[]Segment{at(1, 1, Segment{Denied: entry(5)}), at(2, 2, part)}, Verdict{Admits: Part, Shut: []Ports{{1, 1}}, By: by(5), Some: true}},
		"shut, open and not clear":       {[]Segment{at(1, 1, Segment{Denied: entry(5)}), at(2, 2, unclear), at(3, 3, open)}, Verdict{Admits: Part, Shut: []Ports{{1, 1}}, By: by(5)}},
		"open, or not clear":             {[]Segment{at(1, 1, open), at(2, 2, unclear)}, Verdict{Admits: Unknown}},
		"for some":                       {[]Segment{at(1, 1, part)}, Verdict{Admits: Unknown, Some: true}},
		"not clear":                      {[]Segment{at(1, 1, unclear)}, Verdict{Admits: Unknown}},
		"shut, twice open, once unclear": {[]Segment{at(1, 1, Segment{Denied: entry(5)}), at(2, 2, part), at(3, 3, unclear), at(4, 4, open), at(5, 5, open)}, Verdict{Admits: Part, Shut: []Ports{{1, 1}}, By: by(5), Some: true}},
	} {
		expect.Same(t, name, Sum(test.list), test.want, cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }))
	}
}
