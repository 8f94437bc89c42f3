package checks

import (
	"net/netip"
	"slices"
	"strings"

	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// overIPv6 settles a lot that reaches a dual-stack endpoint over IPv6. Clients
// that are refused there try IPv4 too, so only an admission settles it.
func (c *scene) overIPv6(l lot) (Finding, bool) {
	if !c.s.Cluster.IPv6 || !dualStack(c.s.Cluster.Endpoint) || len(l.subnets) == 0 {
		return Finding{}, false
	}
	w := c.net.Internet6(l.subnets[0].ID)
	open, partly := true, false
	for _, s := range l.subnets {
		for _, block := range s.IPv6 {
			inside := slices.ContainsFunc(c.s.Cluster.PublicAccessCIDRs, func(p netip.Prefix) bool { return p.Bits() <= block.Bits() && p.Overlaps(block) })
			open = open && inside
			partly = partly || slices.ContainsFunc(c.s.Cluster.PublicAccessCIDRs, block.Overlaps)
		}
		open = open && len(s.IPv6) > 0
	}
	switch {
	case w.Good() && open:
		return c.admitted(l), true
	case w.Verdict == path.LeavesView && partly:
		return beyond(l, w), true
	case w.Good() && partly:
		return c.cannotTell(l, snapshot.Instances, "a part of the subnet's IPv6 addresses is admitted"), true
	}
	return Finding{}, false
}

// dualStack tells the endpoint of an IPv6 cluster made after October 2024,
// which has IPv6 addresses too (EKS user guide, "Cluster API server endpoint").
func dualStack(endpoint string) bool {
	return strings.Contains(endpoint, ".api.aws") || strings.Contains(endpoint, ".api.amazonwebservices.com.cn")
}
