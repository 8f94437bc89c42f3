package world

import (
	"net/netip"
	"testing"
)

func TestPoolCounts(t *testing.T) {
	tests := map[string]struct {
		cidr string
		take int
		pre  int
		want int
	}{
		"empty /19":              {"10.42.192.0/19", 0, 0, 8187},
		"one instance":           {"10.42.192.0/19", 1, 0, 8186},
		"empty /24":              {"10.0.0.0/24", 0, 0, 251},
		"empty /28":              {"10.0.0.0/28", 0, 0, 11},
		"full /28":               {"10.0.0.0/28", 11, 0, 0},
		"prefix takes sixteen":   {"10.0.0.0/24", 0, 1, 235},
		"addresses and prefixes": {"10.0.0.0/24", 10, 2, 209},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p, err := newPool(tt.cidr)
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := p.allocate(tt.take); !ok {
				t.Fatalf("allocate(%d) refused", tt.take)
			}
			if _, ok := p.allocatePrefixes(tt.pre); !ok {
				t.Fatalf("allocatePrefixes(%d) refused", tt.pre)
			}
			if got := p.free(); got != tt.want {
				t.Errorf("free: got %d, want %d", got, tt.want)
			}
		})
	}
}

func TestPoolStatedCountMovesWithUse(t *testing.T) {
	p, err := newPool("10.0.0.0/24")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.state(2); err != nil {
		t.Fatal(err)
	}
	if _, ok := p.allocate(3); ok {
		t.Error("allocate(3) with 2 free: got true, want false")
	}
	addrs, ok := p.allocate(2)
	if !ok || p.free() != 0 {
		t.Fatalf("allocate(2): got %t with %d left, want true with 0", ok, p.free())
	}
	p.release(addrs[0])
	if got := p.free(); got != 1 {
		t.Errorf("free after release: got %d, want 1", got)
	}
	if err := p.state(300); err == nil {
		t.Error("state(300) of a /24: got no error")
	}
}

func TestPoolNeverGivesReservedOrTwice(t *testing.T) {
	p, err := newPool("10.0.0.0/27")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[netip.Addr]bool{}
	for range 27 {
		a, ok := p.allocate(1)
		if !ok {
			t.Fatalf("refused after %d", len(seen))
		}
		if n := a[0].As4()[3]; n < 4 || n > 30 || seen[a[0]] {
			t.Errorf("got %s, reserved or given before", a[0])
		}
		seen[a[0]] = true
	}
	if _, ok := p.allocate(1); ok {
		t.Error("a 28th address of a /27")
	}
}

func TestPoolFragmented(t *testing.T) {
	p, err := newPool("10.0.0.0/26")
	if err != nil {
		t.Fatal(err)
	}
	// One address in each aligned block leaves 57 - 2 free and no block.
	for _, a := range []string{"10.0.0.20", "10.0.0.40"} {
		if err := p.take(netip.MustParseAddr(a)); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := p.allocatePrefix(); ok {
		t.Error("got a /28 in a fragmented subnet")
	}
	if got := p.free(); got != 57 {
		t.Errorf("free: got %d, want 57", got)
	}
	p.release(netip.MustParseAddr("10.0.0.20"))
	if b, ok := p.allocatePrefix(); !ok || b.String() != "10.0.0.16/28" {
		t.Errorf("got %s %t, want 10.0.0.16/28 true", b, ok)
	}
}

func TestZoneID(t *testing.T) {
	for zone, want := range map[string]string{
		"us-west-2a": "usw2-az1", "us-west-2c": "usw2-az3", "eu-central-1b": "euc1-az2", "ap-southeast-2a": "apse2-az1", "x": "",
	} {
		if got := zoneID(zone); got != want {
			t.Errorf("zoneID(%q): got %q, want %q", zone, got, want)
		}
	}
}
