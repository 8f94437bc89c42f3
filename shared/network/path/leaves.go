package path

import (
	"net/netip"
	"slices"
)

// LeavesFrom are the public addresses that traffic of a subnet to the internet
// may leave from over IPv4: those of the NAT gateway or NAT instance on its
// way, or the node's own (which may be the zero value) where an internet
// gateway is next. They are empty where they are not known; the way says why.
func (n *Network) LeavesFrom(subnet string, own netip.Addr) ([]netip.Addr, Way) {
	w := n.Internet(subnet)
	switch w.Verdict {
	case Reaches:
		return slices.Clone(w.From), w
	case NeedsPublicIP:
		if own.IsValid() {
			return []netip.Addr{own}, w
		}
	}
	return nil, w
}
