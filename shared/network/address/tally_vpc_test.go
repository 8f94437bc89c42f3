package address

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"rollcall/shared/snapshot"
)

// One tally of a whole VPC, with a second range and subnets of IPv6 alone:
// prefixes beside single addresses on the same interface, reservations of both
// types over each other, over what is in use and over AWS's own addresses, and
// interfaces that say what is in another subnet. Each count is that of every
// address asked by itself; so are the blocks that are nearly free.
func TestTallyOfAVPCEqualsBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(28, 2026))
	nearly, both := 0, 0
	for n := range 150 {
		subnets, kept, interfaces := vpc(r)
		tally := NewTally(subnets, kept)
		for _, i := range interfaces {
			tally.Add(i)
		}
		var want []snapshot.Use
		for _, s := range subnets {
			if !s.CIDR.IsValid() {
				continue
			}
			mine := func(list []snapshot.Interface) []snapshot.Interface {
				return slices.DeleteFunc(slices.Clone(list), func(i snapshot.Interface) bool { return i.Subnet != s.ID })
			}
			own := slices.DeleteFunc(slices.Clone(kept), func(k snapshot.Reservation) bool { return k.Subnet != s.ID })
			u := brute(s, own, mine(interfaces))
			if u.Blocks == 0 {
				u.Nearest = bruteNearest(s, own, mine(interfaces))
			}
			if len(u.Nearest) > 0 {
				nearly++
			}
			if len(own) > 1 && own[0].Explicit != own[1].Explicit && own[0].CIDR.Overlaps(own[1].CIDR) && u.Held > 0 {
				both++
			}
			want = append(want, u)
		}
		slices.SortFunc(want, func(a, b snapshot.Use) int { return cmp.Compare(a.Subnet, b.Subnet) })
		compare := gocmp.Comparer(func(a, b netip.Prefix) bool { return a == b })
		if diff := gocmp.Diff(want, tally.Uses(), compare, gocmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
			t.Fatalf("VPC %d, %v, %v (-brute force +tally):\n%s", n, subnets, kept, diff)
		}
	}
	if nearly < 50 || both < 50 {
		t.Errorf("%d subnets with nearly free blocks, %d with both types over each other: too few to mean anything", nearly, both)
	}
}

// vpc is some subnets of two ranges and two of IPv6 alone.
func vpc(r *rand.Rand) ([]snapshot.Subnet, []snapshot.Reservation, []snapshot.Interface) {
	subnets := []snapshot.Subnet{{ID: "subnet-six0"}, {ID: "subnet-six1"}}
	for n, second := range []byte{10, 10, 10, 100, 100} {
		bits := 22 + r.IntN(7)
		cidr := netip.PrefixFrom(netip.AddrFrom4([4]byte{second, 64, byte(8 * n), byte(r.IntN(256))}), bits).Masked()
		subnets = append(subnets, snapshot.Subnet{ID: fmt.Sprint("subnet-", n), CIDR: cidr})
	}
	r.Shuffle(len(subnets), func(a, b int) { subnets[a], subnets[b] = subnets[b], subnets[a] })
	within := func(c netip.Prefix) netip.Addr {
		if !c.IsValid() {
			return netip.MustParseAddr("fd00::7")
		}
		return at(c, r.IntN(size(c)))
	}
	var kept []snapshot.Reservation
	var list []snapshot.Interface
	for _, s := range subnets {
		for range r.IntN(4) {
			block := netip.MustParsePrefix("fd00::/80")
			if s.CIDR.IsValid() {
				block = netip.PrefixFrom(within(s.CIDR), s.CIDR.Bits()+r.IntN(33-s.CIDR.Bits())).Masked()
			}
			kept = append(kept, snapshot.Reservation{Subnet: s.ID, CIDR: block, Explicit: r.IntN(2) == 0})
			if r.IntN(2) == 0 && s.CIDR.IsValid() { // the other type over it, smaller
				kept = append(kept, snapshot.Reservation{Subnet: s.ID, CIDR: netip.PrefixFrom(block.Addr(), min(32, block.Bits()+1)), Explicit: !kept[len(kept)-1].Explicit})
			}
		}
		busy := 1 + r.IntN(40)
		if s.CIDR.IsValid() {
			busy = r.IntN(max(2, size(s.CIDR)/(2<<r.IntN(7))))
		}
		for range busy {
			i := snapshot.Interface{Subnet: s.ID, PrivateIPs: []netip.Addr{within(s.CIDR)}, IPv6: []netip.Addr{netip.MustParseAddr("fd00::9")}}
			for range r.IntN(3) {
				i.PrivateIPs = append(i.PrivateIPs, within(s.CIDR))
			}
			for range r.IntN(3) {
				if s.CIDR.IsValid() {
					i.Prefixes = append(i.Prefixes, netip.PrefixFrom(within(s.CIDR), 28).Masked())
				}
			}
			if len(kept) > 0 && r.IntN(3) == 0 { // an address out of a reservation that was made over it, or another subnet's
				i.PrivateIPs = append(i.PrivateIPs, kept[r.IntN(len(kept))].CIDR.Addr())
			}
			list = append(list, i)
		}
	}
	r.Shuffle(len(list), func(a, b int) { list[a], list[b] = list[b], list[a] })
	return subnets, kept, list
}

// bruteNearest asks of every block what is in the way of it.
func bruteNearest(s snapshot.Subnet, kept []snapshot.Reservation, interfaces []snapshot.Interface) []snapshot.Block {
	var list []snapshot.Block
	if s.CIDR.Bits() > 28 {
		return nil
	}
	for block := netip.PrefixFrom(s.CIDR.Addr(), 28); s.CIDR.Overlaps(block); {
		b, never, a := snapshot.Block{CIDR: block}, false, block.Addr()
		for ; block.Contains(a); a = a.Next() {
			never = never || number(a)-number(s.CIDR.Addr()) < 4 || !s.CIDR.Contains(a.Next()) ||
				slices.ContainsFunc(kept, func(k snapshot.Reservation) bool { return k.Explicit && k.CIDR.Contains(a) })
			if slices.ContainsFunc(interfaces, func(i snapshot.Interface) bool {
				return slices.Contains(i.PrivateIPs, a) || slices.ContainsFunc(i.Prefixes, func(p netip.Prefix) bool { return p.Contains(a) })
			}) {
				b.Used = append(b.Used, a)
			}
		}
		if !never && len(b.Used) < 16 {
			list = append(list, b)
		}
		block = netip.PrefixFrom(a, 28)
	}
	slices.SortStableFunc(list, func(a, b snapshot.Block) int { return cmp.Compare(len(a.Used), len(b.Used)) })
	return list[:min(3, len(list))]
}
