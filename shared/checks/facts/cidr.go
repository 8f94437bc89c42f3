package facts

import (
	"net/netip"
	"slices"

	"rollcall/shared/checks/phrase"
)

// Admits tells that an address is in one of the ranges.
func Admits(ranges []netip.Prefix, a netip.Addr) bool {
	return slices.ContainsFunc(ranges, func(p netip.Prefix) bool { return p.IsValid() && p.Contains(a.Unmap()) })
}

// Anyone tells that the ranges hold every address of a family, in one piece or
// in its two halves.
func Anyone(ranges []netip.Prefix, six bool) bool {
	all := netip.PrefixFrom(netip.IPv4Unspecified(), 0)
	upper := netip.PrefixFrom(netip.AddrFrom4([4]byte{128}), 1)
	if six {
		all = netip.PrefixFrom(netip.IPv6Unspecified(), 0)
		upper = netip.PrefixFrom(netip.AddrFrom16([16]byte{0x80}), 1)
	}
	lower := netip.PrefixFrom(all.Addr(), 1)
	return slices.Contains(ranges, all) || slices.Contains(ranges, lower) && slices.Contains(ranges, upper)
}

// Host is an address as a range of one.
func Host(a netip.Addr) string { return netip.PrefixFrom(a, a.BitLen()).String() }

// Cidrs writes ranges, at most ten.
func Cidrs(ranges []netip.Prefix) string {
	names := make([]string, len(ranges))
	for i, p := range ranges {
		names[i] = p.String()
	}
	if len(names) == 0 {
		return "none"
	}
	return phrase.Some(names, 10)
}
