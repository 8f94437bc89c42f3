package filter

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/snapshot"
)

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
			got := New(tt.world).Out(tt.groups, tt.peer, TCP, 443)
			if got.Admits != tt.want {
				t.Errorf("Admits = %s, want %s", got.Admits, tt.want)
			}
			if diff := cmp.Diff(got.By, tt.by); diff != "" {
				t.Errorf("By (-got +want):\n%s", diff)
			}
			if (got.Admits == Unknown) != (len(got.Blind) > 0) {
				t.Errorf("%s with %v: an Unknown names what could not be looked at, and nothing else does", got.Admits, got.Blind)
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
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("Rules (-got +want):\n%s", diff)
	}
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
