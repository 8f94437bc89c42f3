// Package addresses gives out the IPv4 addresses and /28 prefixes of a subnet
// as EC2 does: five addresses are AWS's own, prefixes are aligned, and CIDR
// reservations keep theirs.
package addresses

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// reservedAddresses is how many addresses EC2 keeps of every subnet: the first
// four and the last.
const reservedAddresses = 5

// PrefixSize is how many addresses a delegated /28 takes.
const PrefixSize = 16

// Pool is the addresses of one subnet.
type Pool struct {
	Prefix netip.Prefix
	used   map[netip.Addr]bool
	// hidden is how many addresses are taken by users that the world does not
	// list. It is what a stated AvailableIpAddressCount leaves unexplained.
	hidden int
	// cursor is where the search for a free address begins.
	cursor uint32
	// kept are the subnet's CIDR reservations.
	kept []kept
}

// New is the pool of a subnet's block: IPv4 from /16 to /28.
func New(cidr string) (*Pool, error) {
	p, err := netip.ParsePrefix(cidr)
	if err != nil {
		return nil, fmt.Errorf("subnet block: %w", err)
	}
	if !p.Addr().Is4() || p.Bits() < 16 || p.Bits() > 28 {
		return nil, fmt.Errorf("subnet block %q: want IPv4 from /16 to /28", cidr)
	}
	p = p.Masked()
	return &Pool{Prefix: p, used: map[netip.Addr]bool{}, cursor: number(p.Addr()) + 4}, nil
}

func (p *Pool) size() int { return 1 << (32 - p.Prefix.Bits()) }

// Free is the AvailableIpAddressCount.
func (p *Pool) Free() int { return p.size() - reservedAddresses - len(p.used) - p.hidden }

// State makes free return n from now on, with unknown users for the rest.
func (p *Pool) State(n int) error {
	hidden := p.size() - reservedAddresses - len(p.used) - n
	if hidden < 0 || n < 0 {
		return fmt.Errorf("%d free addresses stated, but %s has room for %d", n, p.Prefix, p.size()-reservedAddresses-len(p.used))
	}
	p.hidden = hidden
	return nil
}

func (p *Pool) first() uint32 { return number(p.Prefix.Addr()) + 4 }
func (p *Pool) last() uint32  { return number(p.Prefix.Addr()) + uint32(p.size()) - 2 }

// Take marks one given address as used.
func (p *Pool) Take(a netip.Addr) error {
	if !p.Prefix.Contains(a) {
		return fmt.Errorf("address %s is not in %s", a, p.Prefix)
	}
	if n := number(a); n < p.first() || n > p.last() {
		return fmt.Errorf("address %s is reserved", a)
	}
	if p.used[a] {
		return fmt.Errorf("address %s is in use", a)
	}
	p.used[a] = true
	return nil
}

// Allocate takes n free addresses, or none and false.
func (p *Pool) Allocate(n int) ([]netip.Addr, bool) {
	if n > p.Free() {
		return nil, false
	}
	out := make([]netip.Addr, 0, n)
	span := p.last() - p.first() + 1
	for i := uint32(0); i < span && len(out) < n; i++ {
		a := address(p.first() + (p.cursor-p.first()+i)%span)
		if !p.used[a] && !p.reserves(a) {
			out = append(out, a)
		}
	}
	if len(out) < n {
		return nil, false
	}
	for _, a := range out {
		p.used[a] = true
	}
	if n > 0 {
		p.cursor = p.first() + (number(out[n-1])-p.first()+1)%span
	}
	return out, true
}

// allocatePrefix takes one free /28 whose sixteen addresses are all free. The
// subnet's first and last block hold reserved addresses and are never taken.
// What is reserved for prefixes goes first, then what is not reserved.
func (p *Pool) allocatePrefix() (netip.Prefix, bool) {
	if p.Free() < PrefixSize {
		return netip.Prefix{}, false
	}
	base := number(p.Prefix.Addr())
	for _, reserved := range []bool{true, false} {
		if reserved && len(p.kept) == 0 {
			continue
		}
		for start := base + PrefixSize; start+PrefixSize-1 <= p.last(); start += PrefixSize {
			block := netip.PrefixFrom(address(start), 28)
			if p.prefixFrom(block, reserved) && p.blockFree(start) {
				p.TakeBlock(block)
				return block, true
			}
		}
	}
	return netip.Prefix{}, false
}

func (p *Pool) blockFree(start uint32) bool {
	for i := range uint32(PrefixSize) {
		if p.used[address(start+i)] {
			return false
		}
	}
	return true
}

func (p *Pool) TakeBlock(block netip.Prefix) {
	for i := range uint32(PrefixSize) {
		p.used[address(number(block.Addr())+i)] = true
	}
}

func (p *Pool) Release(a netip.Addr) { delete(p.used, a) }

func (p *Pool) ReleaseBlock(block netip.Prefix) {
	for i := range uint32(PrefixSize) {
		delete(p.used, address(number(block.Addr())+i))
	}
}

func number(a netip.Addr) uint32 {
	b := a.As4()
	return binary.BigEndian.Uint32(b[:])
}

func address(n uint32) netip.Addr {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], n)
	return netip.AddrFrom4(b)
}

func (p *Pool) AllocatePrefixes(n int) ([]netip.Prefix, bool) {
	out := make([]netip.Prefix, 0, n)
	for range n {
		b, ok := p.allocatePrefix()
		if !ok {
			for _, done := range out {
				p.ReleaseBlock(done)
			}
			return nil, false
		}
		out = append(out, b)
	}
	return out, true
}

// kept is a CIDR reservation of a subnet. What EC2 chooses by itself is never
// in one, but for prefixes out of a reservation of type prefix; what a caller
// asks for by address may be (VPC user guide, subnet CIDR reservations). The
// count of free addresses is that of all unused ones, reserved or not: no
// source says that a reservation lowers AvailableIpAddressCount.
type kept struct {
	prefix   netip.Prefix
	explicit bool
}

// Reserve keeps a block of the subnet from now on. Addresses in it that are in
// use stay so, as in EC2.
func (p *Pool) Reserve(r ec2types.SubnetCidrReservation) error {
	block, err := netip.ParsePrefix(aws.ToString(r.Cidr))
	if err != nil {
		return fmt.Errorf("reserved block: %w", err)
	}
	block = block.Masked()
	if !p.Prefix.Overlaps(block) || block.Bits() < p.Prefix.Bits() {
		return fmt.Errorf("reserved block %s is not in %s", block, p.Prefix)
	}
	for _, k := range p.kept {
		if k.prefix.Overlaps(block) {
			return fmt.Errorf("reserved block %s overlaps %s", block, k.prefix)
		}
	}
	p.kept = append(p.kept, kept{prefix: block, explicit: r.ReservationType == ec2types.SubnetCidrReservationTypeExplicit})
	return nil
}

// reserves reports whether an address is not given out one by one.
func (p *Pool) reserves(a netip.Addr) bool {
	for _, k := range p.kept {
		if k.prefix.Contains(a) {
			return true
		}
	}
	return false
}

// prefixFrom reports whether a block may be given out as a prefix: out of a
// reservation for prefixes, or out of what no reservation touches.
func (p *Pool) prefixFrom(block netip.Prefix, reserved bool) bool {
	for _, k := range p.kept {
		if k.prefix.Overlaps(block) {
			return reserved && !k.explicit && k.prefix.Bits() <= block.Bits()
		}
	}
	return !reserved
}
