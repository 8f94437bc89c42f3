package path

import (
	"net/netip"
	"testing"

	"rollcall/shared/snapshot"
)

func row(destination, target string) snapshot.Route {
	return snapshot.Route{Destination: netip.MustParsePrefix(destination), State: "active", Target: snapshot.Target{Kind: snapshot.ToInterface, ID: target}}
}

func TestBest(t *testing.T) {
	propagated := row("10.1.0.0/16", "vgw-1")
	propagated.Origin = "EnableVgwRoutePropagation"
	advertised := row("10.1.0.0/16", "route server")
	advertised.Origin = "Advertisement"
	filtered := row("10.1.2.0/28", "filtered")
	filtered.State = "filtered"
	rows := []snapshot.Route{
		filtered,
		advertised,
		row("0.0.0.0/0", "default"),
		row("10.0.0.0/8", "wide"),
		propagated,
		row("10.1.0.0/16", "static"),
		row("10.1.2.0/24", "narrow"),
		row("::/0", "v6"),
		row("2001:db8::/32", "v6 narrow"),
		{PrefixList: "pl-1", State: "active", Target: snapshot.Target{ID: "list"}},
		{PrefixList: "pl-unread", State: "active", Target: snapshot.Target{ID: "unread"}},
	}
	lists := Lists{"pl-1": {netip.MustParsePrefix("52.216.0.0/15"), netip.MustParsePrefix("10.1.2.128/25")}}
	tests := []struct{ to, want string }{
		{"8.8.8.8", "default"},
		{"10.200.0.1", "wide"},
		{"10.1.200.1", "static"},
		{"10.1.2.3", "narrow"},
		{"10.1.2.200", "list"},
		{"52.217.0.1", "list"},
		{"52.218.0.1", "default"},
		{"2001:db8::1", "v6 narrow"},
		{"2600::1", "v6"},
	}
	for _, tt := range tests {
		got, ok := Best(rows, netip.MustParseAddr(tt.to), lists)
		if !ok || got.Target.ID != tt.want {
			t.Errorf("Best(%s) = %q, %t, want %q", tt.to, got.Target.ID, ok, tt.want)
		}
	}
	if got, ok := Best(rows[3:4], netip.MustParseAddr("11.0.0.1"), nil); ok {
		t.Errorf("Best without a row that holds the address = %q, want none", got.Target.ID)
	}
	if _, ok := Best(nil, netip.MustParseAddr("11.0.0.1"), nil); ok {
		t.Error("Best of an empty table found a row")
	}
}

// The order of rows never matters.
func TestBestIsIndependentOfOrder(t *testing.T) {
	a, b := row("10.1.0.0/16", "static"), row("10.1.0.0/16", "vgw-1")
	b.Origin = "EnableVgwRoutePropagation"
	for _, rows := range [][]snapshot.Route{{a, b}, {b, a}} {
		if got, _ := Best(rows, netip.MustParseAddr("10.1.0.1"), nil); got.Target.ID != "static" {
			t.Errorf("Best = %q, want %q", got.Target.ID, "static")
		}
	}
}

func FuzzBest(f *testing.F) {
	f.Add([]byte{10, 0, 0, 0, 8, 0, 0, 0, 0, 0}, []byte{10, 1, 2, 3})
	f.Fuzz(func(t *testing.T, raw, to []byte) {
		addr, ok := netip.AddrFromSlice(to)
		if !ok || !addr.Is4() {
			return
		}
		var rows []snapshot.Route
		for ; len(raw) >= 5; raw = raw[5:] {
			rows = append(rows, snapshot.Route{Destination: netip.PrefixFrom(netip.AddrFrom4([4]byte(raw[:4])), int(raw[4])%33).Masked()})
		}
		got, found := Best(rows, addr, nil)
		for _, r := range rows {
			if !r.Destination.Contains(addr) {
				continue
			}
			if !found || r.Destination.Bits() > got.Destination.Bits() {
				t.Fatalf("Best(%s) = %s, %t, but %s holds it", addr, got.Destination, found, r.Destination)
			}
		}
		if found && !got.Destination.Contains(addr) {
			t.Fatalf("Best(%s) = %s, which does not hold it", addr, got.Destination)
		}
	})
}

func TestRow(t *testing.T) {
	r := row("0.0.0.0/0", "nat-1")
	r.State = "blackhole"
	if got, want := Row(r), "0.0.0.0/0 → nat-1 (blackhole)"; got != want {
		t.Errorf("Row = %q, want %q", got, want)
	}
	if got, want := Row(snapshot.Route{PrefixList: "pl-1", Target: snapshot.Target{Kind: snapshot.ToUnknown}}), "pl-1 → unknown target"; got != want {
		t.Errorf("Row = %q, want %q", got, want)
	}
}
