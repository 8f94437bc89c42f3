package world

import (
	"encoding/binary"
	"fmt"
	"net/netip"
)

// reservedAddresses is how many addresses EC2 keeps of every subnet: the first
// four and the last.
const reservedAddresses = 5

// prefixAddresses is how many addresses a delegated /28 takes.
const prefixAddresses = 16

// pool is the addresses of one subnet.
type pool struct {
	prefix netip.Prefix
	used   map[netip.Addr]bool
	// hidden is how many addresses are taken by users that the world does not
	// list. It is what a stated AvailableIpAddressCount leaves unexplained.
	hidden int
	// cursor is where the search for a free address begins.
	cursor uint32
	// kept are the subnet's CIDR reservations.
	kept []kept
}

func newPool(cidr string) (*pool, error) {
	p, err := netip.ParsePrefix(cidr)
	if err != nil {
		return nil, fmt.Errorf("subnet block: %w", err)
	}
	if !p.Addr().Is4() || p.Bits() < 16 || p.Bits() > 28 {
		return nil, fmt.Errorf("subnet block %q: want IPv4 from /16 to /28", cidr)
	}
	p = p.Masked()
	return &pool{prefix: p, used: map[netip.Addr]bool{}, cursor: number(p.Addr()) + 4}, nil
}

func (p *pool) size() int { return 1 << (32 - p.prefix.Bits()) }

// free is the AvailableIpAddressCount.
func (p *pool) free() int { return p.size() - reservedAddresses - len(p.used) - p.hidden }

// state makes free return n from now on, with unknown users for the rest.
func (p *pool) state(n int) error {
	hidden := p.size() - reservedAddresses - len(p.used) - n
	if hidden < 0 || n < 0 {
		return fmt.Errorf("%d free addresses stated, but %s has room for %d", n, p.prefix, p.size()-reservedAddresses-len(p.used))
	}
	p.hidden = hidden
	return nil
}

func (p *pool) first() uint32 { return number(p.prefix.Addr()) + 4 }
func (p *pool) last() uint32  { return number(p.prefix.Addr()) + uint32(p.size()) - 2 }

// take marks one given address as used.
func (p *pool) take(a netip.Addr) error {
	if !p.prefix.Contains(a) {
		return fmt.Errorf("address %s is not in %s", a, p.prefix)
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

// allocate takes n free addresses, or none and false.
func (p *pool) allocate(n int) ([]netip.Addr, bool) {
	if n > p.free() {
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
// What is reserved for prefixes goes first, then what nobody reserved.
func (p *pool) allocatePrefix() (netip.Prefix, bool) {
	if p.free() < prefixAddresses {
		return netip.Prefix{}, false
	}
	base := number(p.prefix.Addr())
	for _, reserved := range []bool{true, false} {
		if reserved && len(p.kept) == 0 {
			continue
		}
		for start := base + prefixAddresses; start+prefixAddresses-1 <= p.last(); start += prefixAddresses {
			block := netip.PrefixFrom(address(start), 28)
			if p.prefixFrom(block, reserved) && p.blockFree(start) {
				p.takeBlock(block)
				return block, true
			}
		}
	}
	return netip.Prefix{}, false
}

func (p *pool) blockFree(start uint32) bool {
	for i := range uint32(prefixAddresses) {
		if p.used[address(start+i)] {
			return false
		}
	}
	return true
}

func (p *pool) takeBlock(block netip.Prefix) {
	for i := range uint32(prefixAddresses) {
		p.used[address(number(block.Addr())+i)] = true
	}
}

func (p *pool) release(a netip.Addr) { delete(p.used, a) }

func (p *pool) releaseBlock(block netip.Prefix) {
	for i := range uint32(prefixAddresses) {
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
