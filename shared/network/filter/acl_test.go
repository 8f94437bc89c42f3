package filter

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rollcall/shared/snapshot"
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
			if diff := cmp.Diff(got, tt.want, cmpopts.IgnoreFields(Verdict{}, "By")); diff != "" {
				t.Errorf("Sum (-got +want):\n%s", diff)
			}
		})
	}
}

func TestSumNamesTheEntries(t *testing.T) {
	acl := snapshot.NetworkACL{Entries: []snapshot.ACLEntry{deny(90, 443, 443, "0.0.0.0/1"), allow(200, 80, 80, "0.0.0.0/0")}}
	var got []string
	for _, e := range Sum(Decide(acl, false, TCP, Port(443), Internet())).By {
		got = append(got, Entry(e))
	}
	if diff := cmp.Diff(got, []string{"rule 90 denies tcp 443 ← 0.0.0.0/1", "rule * denies all traffic"}); diff != "" {
		t.Errorf("entries (-got +want):\n%s", diff)
	}
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
