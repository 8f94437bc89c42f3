package address

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rollcall/shared/snapshot"
	"rollcall/tools/expect"
)

func subnet(id, cidr string) snapshot.Subnet {
	return snapshot.Subnet{ID: id, CIDR: netip.MustParsePrefix(cidr)}
}

func reserved(id, cidr string, explicit bool) snapshot.Reservation {
	return snapshot.Reservation{Subnet: id, CIDR: netip.MustParsePrefix(cidr), Explicit: explicit}
}

// holds is an interface in subnet-0a with addresses, and prefixes where a text
// has a slash.
func holds(list ...string) snapshot.Interface {
	i := snapshot.Interface{Subnet: "subnet-0a"}
	for _, text := range list {
		if p, err := netip.ParsePrefix(text); err == nil {
			i.Prefixes = append(i.Prefixes, p)
			continue
		}
		i.PrivateIPs = append(i.PrivateIPs, netip.MustParseAddr(text))
	}
	return i
}

func TestTally(t *testing.T) {
	tests := []struct {
		name       string
		cidr       string
		kept       []snapshot.Reservation
		interfaces []snapshot.Interface
		want       snapshot.Use
	}{
		{"an empty /24: the first block and the last are AWS's", "10.0.0.0/24", nil, nil, snapshot.Use{Free: 251, Blocks: 14}},
		{"a /27: no block is free of AWS's addresses", "10.0.0.0/27", nil, nil, snapshot.Use{Free: 27}},
		{"a /28", "10.0.0.0/28", nil, nil, snapshot.Use{Free: 11}},
		{"smaller than EC2 makes them", "10.0.0.0/30", nil, nil, snapshot.Use{}},
		{"one address breaks one block", "10.0.0.0/24", nil, []snapshot.Interface{holds("10.0.0.20")}, snapshot.Use{Interfaces: 1, Held: 1, Free: 250, Blocks: 13}},
		{"a prefix, and the interface's own address", "10.0.0.0/24", nil, []snapshot.Interface{holds("10.0.0.20", "10.0.0.32/28")}, snapshot.Use{Interfaces: 1, Held: 17, Free: 234, Blocks: 12}},
		{"an address twice", "10.0.0.0/24", nil, []snapshot.Interface{holds("10.0.0.20"), holds("10.0.0.20")}, snapshot.Use{Interfaces: 2, Held: 1, Free: 250, Blocks: 13}},
		{"nonsense", "10.0.0.0/24", nil, []snapshot.Interface{holds("10.0.1.20", "fd00::1", "::ffff:10.0.0.20", "0.0.0.0/0", "fd00::/80", "10.0.1.0/28", "10.0.0.1", "10.0.0.255")}, snapshot.Use{Interfaces: 1, Free: 251, Blocks: 14}},
		{"another subnet's", "10.0.0.0/24", nil, []snapshot.Interface{{Subnet: "subnet-0b", PrivateIPs: []netip.Addr{netip.MustParseAddr("10.0.0.20")}}}, snapshot.Use{Free: 251, Blocks: 14}},
		{"explicit: neither addresses nor blocks", "10.0.0.0/24", []snapshot.Reservation{reserved("subnet-0a", "10.0.0.128/25", true)}, nil, snapshot.Use{Kept: 127, Free: 124, Blocks: 7}},
		{"prefix: blocks, no addresses", "10.0.0.0/24", []snapshot.Reservation{reserved("subnet-0a", "10.0.0.128/25", false)}, nil, snapshot.Use{Kept: 127, Free: 124, Blocks: 14}},
		{"all of it for prefixes: EC2 says 0", "10.0.0.0/24", []snapshot.Reservation{reserved("subnet-0a", "10.0.0.0/24", false)}, nil, snapshot.Use{Kept: 251, Blocks: 14}},
		{"in use within a reservation", "10.0.0.0/24", []snapshot.Reservation{reserved("subnet-0a", "10.0.0.128/25", true)}, []snapshot.Interface{holds("10.0.0.130")}, snapshot.Use{Interfaces: 1, Held: 1, Kept: 126, Free: 124, Blocks: 7}},
		{"a few explicit addresses break a block", "10.0.0.0/24", []snapshot.Reservation{reserved("subnet-0a", "10.0.0.32/30", true)}, nil, snapshot.Use{Kept: 4, Free: 247, Blocks: 13}},
		{"a few for prefixes do not", "10.0.0.0/24", []snapshot.Reservation{reserved("subnet-0a", "10.0.0.32/30", false)}, nil, snapshot.Use{Kept: 4, Free: 247, Blocks: 14}},
		{"others' reservations", "10.0.0.0/24", []snapshot.Reservation{reserved("subnet-0b", "10.0.0.32/28", true), reserved("subnet-0a", "10.0.9.0/28", true), reserved("subnet-0a", "fd00::/80", true), {Subnet: "subnet-0a"}}, nil, snapshot.Use{Free: 251, Blocks: 14}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tally := NewTally([]snapshot.Subnet{subnet("subnet-0a", tt.cidr)}, tt.kept)
			for _, i := range tt.interfaces {
				tally.Add(i)
			}
			tt.want.Subnet = "subnet-0a"
			expect.Same(t, "Uses", tally.Uses(), []snapshot.Use{tt.want}, cmpopts.IgnoreFields(snapshot.Use{}, "Nearest"))
		})
	}
}

func TestTallyLeavesOutWhatIsNoIPv4Subnet(t *testing.T) {
	tally := NewTally([]snapshot.Subnet{{ID: "subnet-0six"}, subnet("subnet-0all", "0.0.0.0/0"), subnet("subnet-0v6", "fd00::/64"), subnet("subnet-0b", "10.0.1.7/24"), subnet("subnet-0a", "10.0.0.0/24"), subnet("subnet-0a", "10.9.0.0/28")}, nil)
	var got []string
	for _, u := range tally.Uses() {
		got = append(got, fmt.Sprint(u.Subnet, " ", u.Free))
	}
	expect.Same(t, "Uses", got, []string{"subnet-0a 251", "subnet-0b 251"})
}

func TestNearest(t *testing.T) {
	tally := NewTally([]snapshot.Subnet{subnet("subnet-0a", "10.0.0.0/25")}, []snapshot.Reservation{reserved("subnet-0a", "10.0.0.16/28", true)})
	tally.Add(holds("10.0.0.32/28", "10.0.0.50", "10.0.0.51", "10.0.0.70", "10.0.0.80", "10.0.0.81", "10.0.0.82", "10.0.0.96", "10.0.0.97", "10.0.0.98", "10.0.0.99"))
	var got []string
	for _, b := range tally.Uses()[0].Nearest {
		got = append(got, fmt.Sprint(b.CIDR, b.Used))
	}
	want := []string{"10.0.0.64/28 [10.0.0.70]", "10.0.0.48/28 [10.0.0.50 10.0.0.51]", "10.0.0.80/28 [10.0.0.80 10.0.0.81 10.0.0.82]"}
	expect.Same(t, "Nearest", got, want)
}

// The counts of 1,000 random subnets are those of a count address by address,
// which shares nothing with the tally.
func TestTallyEqualsBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 28))
	free := 0
	for n := range 1000 {
		s, kept, interfaces := random(r)
		tally := NewTally([]snapshot.Subnet{s}, kept)
		for _, i := range interfaces {
			tally.Add(i)
		}
		got, want := tally.Uses()[0], brute(s, kept, interfaces)
		if diff := cmp.Diff(got, want, cmpopts.IgnoreFields(snapshot.Use{}, "Nearest")); diff != "" {
			t.Fatalf("subnet %d, %s, %d interfaces, %v (-tally +brute force):\n%s", n, s.CIDR, len(interfaces), kept, diff)
		}
		if got.Blocks > 0 && len(got.Nearest) > 0 {
			t.Fatalf("subnet %d: %d blocks and nearest %v", n, got.Blocks, got.Nearest)
		}
		if got.Blocks > 0 {
			free++
		}
	}
	// Subnets with free blocks and without must both be among them.
	if free < 200 || free > 800 {
		t.Errorf("%d of 1,000 random subnets have a free block: they test one side only", free)
	}
}

// random is a subnet of /16 to /28, filled to a random part.
func random(r *rand.Rand) (snapshot.Subnet, []snapshot.Reservation, []snapshot.Interface) {
	bits := 16 + r.IntN(13)
	n := 1 << (32 - bits)
	cidr := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(r.IntN(256)), byte(r.IntN(256)), byte(r.IntN(256))}), bits).Masked()
	address := func() netip.Addr { return at(cidr, r.IntN(n)) }
	var kept []snapshot.Reservation
	for range r.IntN(4) {
		kept = append(kept, snapshot.Reservation{
			Subnet: "subnet-0a", Explicit: r.IntN(2) == 0, CIDR: netip.PrefixFrom(address(), bits+r.IntN(33-bits)).Masked(),
		})
	}
	var list []snapshot.Interface
	for range r.IntN(max(2, n/(4<<r.IntN(8)))) {
		i := snapshot.Interface{Subnet: "subnet-0a", PrivateIPs: []netip.Addr{address()}}
		for range r.IntN(4) {
			i.PrivateIPs = append(i.PrivateIPs, address())
		}
		if r.IntN(3) == 0 {
			i.Prefixes = append(i.Prefixes, netip.PrefixFrom(address(), 28).Masked())
		}
		if r.IntN(20) == 0 {
			i.PrivateIPs = append(i.PrivateIPs, netip.AddrFrom4([4]byte{192, 168, byte(r.IntN(256)), 1}), netip.MustParseAddr("fd00::5"))
		}
		list = append(list, i)
	}
	return snapshot.Subnet{ID: "subnet-0a", CIDR: cidr}, kept, list
}

// brute asks of every address, one by one, what it is.
func brute(s snapshot.Subnet, kept []snapshot.Reservation, interfaces []snapshot.Interface) snapshot.Use {
	u := snapshot.Use{Subnet: s.ID, Interfaces: len(interfaces)}
	held := map[netip.Addr]bool{}
	for _, i := range interfaces {
		for _, a := range i.PrivateIPs {
			held[a] = true
		}
		for _, p := range i.Prefixes {
			for a := p.Addr(); p.Contains(a); a = a.Next() {
				held[a] = true
			}
		}
	}
	whole := true
	inBlock := 0
	for a, index := s.CIDR.Addr(), 0; s.CIDR.Contains(a); a, index = a.Next(), index+1 {
		if a.As4()[3]%16 == 0 {
			whole, inBlock = true, 0
		}
		inBlock++
		reservation, explicit := false, false
		for _, r := range kept {
			if r.CIDR.Contains(a) {
				reservation, explicit = true, explicit || r.Explicit
			}
		}
		switch {
		case index < 4 || !s.CIDR.Contains(a.Next()):
			whole = false
		case held[a]:
			u.Held++
			whole = false
		case reservation:
			u.Kept++
			whole = whole && !explicit
		default:
			u.Free++
		}
		if held[a] || explicit {
			whole = false
		}
		if inBlock == 16 && whole {
			u.Blocks++
		}
	}
	return u
}

func FuzzTallyAdd(f *testing.F) {
	f.Add([]byte{10, 0, 0, 20}, []byte{10, 0, 0, 32}, uint8(28))
	f.Add([]byte{10, 0, 0, 255}, []byte{0, 0, 0, 0}, uint8(0))
	f.Add([]byte{0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, []byte{}, uint8(80))
	f.Add([]byte{}, []byte{10, 0, 0, 0}, uint8(255))
	f.Fuzz(func(t *testing.T, address, block []byte, bits uint8) {
		a, _ := netip.AddrFromSlice(address)
		b, _ := netip.AddrFromSlice(block)
		tally := NewTally([]snapshot.Subnet{subnet("subnet-0a", "10.0.0.0/24"), subnet("subnet-0b", "10.0.0.0/29")}, []snapshot.Reservation{{Subnet: "subnet-0a", CIDR: netip.PrefixFrom(a, int(bits)), Explicit: true}})
		for _, id := range []string{"subnet-0a", "subnet-0b", ""} {
			tally.Add(snapshot.Interface{Subnet: id, PrivateIPs: []netip.Addr{a, b}, Prefixes: []netip.Prefix{netip.PrefixFrom(b, int(bits))}})
		}
		for i, total := range []int{251, 3} {
			u := tally.Uses()[i]
			if u.Held+u.Kept+u.Free != total || u.Free < 0 || u.Blocks > 14 || u.Interfaces != 1 {
				t.Errorf("%+v: want %d addresses in all", u, total)
			}
		}
	})
}

// 100,000 interfaces leave nothing behind: what a tally holds are the bits of
// its subnets.
func BenchmarkTally(b *testing.B) {
	var subnets []snapshot.Subnet
	for n := range 8 {
		subnets = append(subnets, subnet(fmt.Sprint("subnet-", n), fmt.Sprintf("10.%d.0.0/16", n)))
	}
	for _, n := range []int{1000, 100000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			var address [2]netip.Addr
			for b.Loop() {
				tally := NewTally(subnets, nil)
				for i := range n {
					address[0] = netip.AddrFrom4([4]byte{10, byte(i % 8), byte(i >> 11), byte(i >> 3)})
					address[1] = address[0].Next()
					tally.Add(snapshot.Interface{Subnet: subnets[i%8].ID, PrivateIPs: address[:]})
				}
				tally.Uses()
			}
		})
	}
}

func TestTallyKeepsNothingOfInterfaces(t *testing.T) {
	tally := NewTally([]snapshot.Subnet{subnet("subnet-0a", "10.0.0.0/16")}, nil)
	i := holds("10.0.3.4", "10.0.4.0/28")
	if n := testing.AllocsPerRun(1000, func() { tally.Add(i) }); n != 0 {
		t.Errorf("adding an interface makes %v allocations, want none", n)
	}
}
