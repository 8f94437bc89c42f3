package filter

import (
	"net/netip"
	"slices"
)

// Internet is where public services answer: all addresses but those that are
// never public (IANA's special-purpose registries: private, shared, loopback,
// link-local, multicast, reserved). A rule for 10.0.0.0/8 admits none of it.
func Internet() []netip.Prefix {
	special := []string{
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16", "224.0.0.0/3",
	}
	not := make([]netip.Prefix, len(special))
	for i, text := range special {
		not[i] = netip.MustParsePrefix(text)
	}
	return without([]netip.Prefix{netip.PrefixFrom(netip.IPv4Unspecified(), 0)}, not)
}

// Internet6 is the same for IPv6: global unicast addresses.
func Internet6() []netip.Prefix { return []netip.Prefix{netip.MustParsePrefix("2000::/3")} }

// without is a list of ranges less others. The result does not overlap if the
// list does not.
func without(list, not []netip.Prefix) []netip.Prefix {
	var left []netip.Prefix
	for _, p := range list {
		left = append(left, less(p, not)...)
	}
	return left
}

// less is one range less others: it is halved until every piece is in or out.
func less(p netip.Prefix, not []netip.Prefix) []netip.Prefix {
	if !p.IsValid() {
		return nil
	}
	touching := make([]netip.Prefix, 0, len(not))
	for _, n := range not {
		if !n.IsValid() || !n.Overlaps(p) {
			continue
		}
		if n.Bits() <= p.Bits() {
			return nil
		}
		touching = append(touching, n)
	}
	if len(touching) == 0 {
		return []netip.Prefix{p.Masked()}
	}
	low, high := halves(p)
	return append(less(low, touching), less(high, touching)...)
}

// common are the parts of a list of ranges that are in another range.
func common(list []netip.Prefix, with netip.Prefix) []netip.Prefix {
	var in []netip.Prefix
	for _, p := range list {
		switch {
		case !p.IsValid() || !with.IsValid() || !p.Overlaps(with):
		case with.Bits() <= p.Bits():
			in = append(in, p.Masked())
		default:
			in = append(in, with.Masked())
		}
	}
	return in
}

// halves splits a range of more than one address in two.
func halves(p netip.Prefix) (low, high netip.Prefix) {
	p = p.Masked()
	bits := p.Bits()
	raw := p.Addr().AsSlice()
	raw[bits/8] |= 0x80 >> (bits % 8)
	addr, _ := netip.AddrFromSlice(raw)
	return netip.PrefixFrom(p.Addr(), bits+1), netip.PrefixFrom(addr, bits+1)
}

// distinct are the ranges without those that another one holds.
func distinct(list []netip.Prefix) []netip.Prefix {
	var out []netip.Prefix
	for i, p := range list {
		if !p.IsValid() {
			continue
		}
		p = p.Masked()
		held := slices.ContainsFunc(out, func(o netip.Prefix) bool { return o.Bits() <= p.Bits() && o.Overlaps(p) })
		for _, later := range list[i+1:] {
			held = held || later.IsValid() && later.Bits() < p.Bits() && later.Overlaps(p)
		}
		if !held {
			out = append(out, p)
		}
	}
	return out
}

// size is how many addresses there are, as a float: IPv6 has too many to count.
func size(list []netip.Prefix) float64 {
	var sum float64
	for _, p := range list {
		n := 1.0
		for range p.Addr().BitLen() - p.Bits() {
			n *= 2
		}
		sum += n
	}
	return sum
}
