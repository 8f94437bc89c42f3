package addresses

import (
	"net/netip"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
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
			p, err := New(tt.cidr)
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := p.Allocate(tt.take); !ok {
				t.Fatalf("allocate(%d) refused", tt.take)
			}
			if _, ok := p.AllocatePrefixes(tt.pre); !ok {
				t.Fatalf("allocatePrefixes(%d) refused", tt.pre)
			}
			if got := p.Free(); got != tt.want {
				t.Errorf("free: got %d, want %d", got, tt.want)
			}
		})
	}
}

func TestPoolStatedCountMovesWithUse(t *testing.T) {
	p, err := New("10.0.0.0/24")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.State(2); err != nil {
		t.Fatal(err)
	}
	if _, ok := p.Allocate(3); ok {
		t.Error("allocate(3) with 2 free: got true, want false")
	}
	addrs, ok := p.Allocate(2)
	if !ok || p.Free() != 0 {
		t.Fatalf("allocate(2): got %t with %d left, want true with 0", ok, p.Free())
	}
	p.Release(addrs[0])
	if got := p.Free(); got != 1 {
		t.Errorf("free after release: got %d, want 1", got)
	}
	if err := p.State(300); err == nil {
		t.Error("state(300) of a /24: got no error")
	}
}

func TestPoolNeverGivesReservedOrTwice(t *testing.T) {
	p, err := New("10.0.0.0/27")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[netip.Addr]bool{}
	for range 27 {
		a, ok := p.Allocate(1)
		if !ok {
			t.Fatalf("refused after %d", len(seen))
		}
		if n := a[0].As4()[3]; n < 4 || n > 30 || seen[a[0]] {
			t.Errorf("got %s, reserved or given before", a[0])
		}
		seen[a[0]] = true
	}
	if _, ok := p.Allocate(1); ok {
		t.Error("a 28th address of a /27")
	}
}

func TestPoolFragmented(t *testing.T) {
	p, err := New("10.0.0.0/26")
	if err != nil {
		t.Fatal(err)
	}
	// One address in each aligned block leaves 57 - 2 free and no block.
	for _, a := range []string{"10.0.0.20", "10.0.0.40"} {
		if err := p.Take(netip.MustParseAddr(a)); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := p.allocatePrefix(); ok {
		t.Error("got a /28 in a fragmented subnet")
	}
	if got := p.Free(); got != 57 {
		t.Errorf("free: got %d, want 57", got)
	}
	p.Release(netip.MustParseAddr("10.0.0.20"))
	if b, ok := p.allocatePrefix(); !ok || b.String() != "10.0.0.16/28" {
		t.Errorf("got %s %t, want 10.0.0.16/28 true", b, ok)
	}
}

func reservation(cidr string, kind ec2types.SubnetCidrReservationType) ec2types.SubnetCidrReservation {
	return ec2types.SubnetCidrReservation{Cidr: aws.String(cidr), ReservationType: kind}
}

func TestReservationsKeepTheirAddresses(t *testing.T) {
	p, err := New("10.0.0.0/25")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []ec2types.SubnetCidrReservation{
		reservation("10.0.0.32/27", ec2types.SubnetCidrReservationTypePrefix), reservation("10.0.0.64/28", ec2types.SubnetCidrReservationTypeExplicit),
	} {
		if err := p.Reserve(r); err != nil {
			t.Fatal(err)
		}
	}
	if got := p.Free(); got != 123 {
		t.Errorf("free: got %d, want 123: a reservation lowers no count", got)
	}
	// Prefixes come out of the reservation first, then out of the rest, never
	// out of the explicit one: 16 and 80 to 112 are left.
	var got []string
	for {
		b, ok := p.allocatePrefix()
		if !ok {
			break
		}
		got = append(got, b.Addr().String())
	}
	want := []string{"10.0.0.32", "10.0.0.48", "10.0.0.16", "10.0.0.80", "10.0.0.96"}
	if len(got) != len(want) {
		t.Fatalf("prefixes: got %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("prefixes: got %v, want %v", got, want)
		}
	}
	// One by one: 4 to 15 and 112 to 126, none that is reserved.
	n := 0
	for {
		a, ok := p.Allocate(1)
		if !ok {
			break
		}
		n++
		if b := a[0].As4()[3]; b >= 64 && b < 80 {
			t.Errorf("%s was given out of an explicit reservation", a[0])
		}
	}
	if n != 12+15 {
		t.Errorf("%d addresses one by one, want 27", n)
	}
	// Who asks for an address of the reservation gets it.
	if err := p.Take(netip.MustParseAddr("10.0.0.70")); err != nil {
		t.Errorf("an address that was asked for: %v", err)
	}
}

func TestReservationsAreChecked(t *testing.T) {
	for _, cidr := range []string{"10.0.1.0/28", "10.0.0.0/24", "10.0.0.40/29", "x"} {
		p, err := New("10.0.0.0/25")
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Reserve(reservation("10.0.0.32/27", ec2types.SubnetCidrReservationTypePrefix)); err != nil {
			t.Fatal(err)
		}
		if err := p.Reserve(reservation(cidr, ec2types.SubnetCidrReservationTypeExplicit)); err == nil {
			t.Errorf("%s was reserved", cidr)
		}
	}
}
