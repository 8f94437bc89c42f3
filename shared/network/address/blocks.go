package address

import (
	"encoding/binary"
	"math/bits"
	"net/netip"
)

// blocks is a set of a subnet's addresses: one word for each aligned /28, one
// bit for each of its addresses. A /16, the largest subnet, takes 8 KiB.
type blocks []uint16

// set adds the addresses from offset from to offset to, both included.
func (b blocks) set(from, to int) {
	for at := from; at <= to; {
		last := min(to, at|(prefix-1))
		b[at/prefix] |= uint16(1<<(last-at+1)-1) << (at % prefix)
		at = last + 1
	}
}

func (b blocks) count() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount16(w)
	}
	return n
}

// span is the part of a range that lies in a subnet, as offsets from the
// subnet's first address; not ok where nothing of it does.
func span(subnet, cidr netip.Prefix) (from, to int, ok bool) {
	if !cidr.IsValid() || !cidr.Addr().Is4() || !subnet.Overlaps(cidr) {
		return 0, 0, false
	}
	// Of two ranges that overlap one holds the other.
	if cidr.Bits() <= subnet.Bits() {
		return 0, size(subnet) - 1, true
	}
	from = offset(subnet, cidr.Masked().Addr())
	return from, from + size(cidr) - 1, true
}

// offset is how far an address of a subnet is from its first.
func offset(subnet netip.Prefix, a netip.Addr) int {
	return int(number(a) - number(subnet.Addr()))
}

// at is the address of a subnet with an offset.
func at(subnet netip.Prefix, offset int) netip.Addr {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], number(subnet.Addr())+uint32(offset))
	return netip.AddrFrom4(b)
}

func number(a netip.Addr) uint32 {
	b := a.As4()
	return binary.BigEndian.Uint32(b[:])
}

// Usable is how many addresses a subnet can give: its block without the five that
// AWS keeps (VPC user guide, "Subnet CIDR blocks"); 0 where it has no IPv4 block.
func Usable(cidr netip.Prefix) int {
	if !cidr.IsValid() || !cidr.Addr().Is4() {
		return 0
	}
	const kept = 5
	return max(size(cidr)-kept, 0)
}

func size(cidr netip.Prefix) int { return 1 << (32 - cidr.Bits()) }
