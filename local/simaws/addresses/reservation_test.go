package addresses

import (
	"net/netip"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

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
