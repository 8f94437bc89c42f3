package path

import (
	"fmt"
	"net/netip"

	"rollcall/shared/snapshot"
)

// Lists are the entries of prefix lists, by id. A list that is not in it has
// not been read, and matches nothing.
type Lists map[string][]netip.Prefix

// Best is the row of a table that wins for an address: the longest prefix
// that holds it. Of two rows with the same prefix EC2 prefers the static one
// to the propagated one (VPC user guide, "Route priority").
func Best(rows []snapshot.Route, to netip.Addr, lists Lists) (snapshot.Route, bool) {
	return covering(rows, netip.PrefixFrom(to, to.BitLen()), lists)
}

// covering is the most specific row that holds all of a range.
func covering(rows []snapshot.Route, all netip.Prefix, lists Lists) (snapshot.Route, bool) {
	var best snapshot.Route
	longest := -1
	for _, row := range rows {
		bits, ok := matches(row, all, lists)
		if !ok || bits < longest || row.State == filtered {
			continue
		}
		if bits > longest || propagated(best) && !propagated(row) {
			best, longest = row, bits
		}
	}
	return best, longest >= 0
}

// propagated rows come from a virtual private gateway or a VPC Route Server (EC2 API,
// Route, origin).
func propagated(row snapshot.Route) bool {
	return row.Origin == "EnableVgwRoutePropagation" || row.Origin == "Advertisement"
}

// matches gives the length of the row's longest prefix that holds the range.
func matches(row snapshot.Route, all netip.Prefix, lists Lists) (bits int, ok bool) {
	prefixes := []netip.Prefix{row.Destination}
	if row.PrefixList != "" {
		prefixes = lists[row.PrefixList]
	}
	bits = -1
	for _, p := range prefixes {
		if p.IsValid() && contains(p, all) {
			bits = max(bits, p.Bits())
		}
	}
	return bits, bits >= 0
}

func contains(outer, inner netip.Prefix) bool {
	return outer.Bits() <= inner.Bits() && outer.Contains(inner.Addr())
}

// Row writes a row as an operator would: "0.0.0.0/0 → nat-0aa4 (blackhole)".
func Row(row snapshot.Route) string {
	text := fmt.Sprintf("%s → %s", Destination(row), row.Target.ID)
	if row.Target.ID == "" {
		text = fmt.Sprintf("%s → %s", Destination(row), row.Target.Kind)
	}
	if row.State == blackhole || row.State == filtered {
		text += " (" + row.State + ")"
	}
	return text
}

// Destination is the row's left side.
func Destination(row snapshot.Route) string {
	if row.PrefixList != "" {
		return row.PrefixList
	}
	return row.Destination.String()
}

// blackhole is the state of a row whose target is gone or cannot be used.
const blackhole = "blackhole"

// filtered is the state of a row that a table has and does not use (EC2 API, RouteState).
const filtered = "filtered"

// The internet is told by its two halves: a table that sends 0.0.0.0/1 and
// 128.0.0.0/1 somewhere has a way out without having a default route.
func halves() []netip.Prefix {
	return []netip.Prefix{
		netip.PrefixFrom(netip.AddrFrom4([4]byte{0}), 1),
		netip.PrefixFrom(netip.AddrFrom4([4]byte{128}), 1),
	}
}

// globalUnicast is the range from which all public IPv6 addresses are given
// out (IANA, "IPv6 Global Unicast Address Space").
func globalUnicast() netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom16([16]byte{0x20}), 3)
}

// public tells that a row is for addresses of the internet, and not only for
// private ones (RFC 1918, RFC 6598, link-local; for IPv6 what is no global
// unicast address, among it the NAT64 range 64:ff9b::/96).
func public(p netip.Prefix) bool {
	if !p.IsValid() {
		return false
	}
	if p.Addr().Is6() {
		return p.Overlaps(globalUnicast())
	}
	for _, private := range []string{"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "169.254.0.0/16"} {
		if contains(netip.MustParsePrefix(private), p) {
			return false
		}
	}
	return true
}
