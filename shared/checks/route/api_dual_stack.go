package route

import (
	"net/netip"
	"slices"
	"strings"

	"rollcall/shared/checks/facts/routes"
	"rollcall/shared/checks/finding"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// overIPv6 settles a lot that reaches a dual-stack endpoint over IPv6. Clients
// that are refused there try IPv4 too, so only an admission settles it.
func overIPv6(c *routes.Scope, l routes.Table) (finding.Finding, bool) {
	if !c.S.Cluster.IPv6 || !dualStack(c.S.Cluster.Endpoint) || len(l.Subnets) == 0 {
		return finding.Finding{}, false
	}
	w := c.Net.Internet6(l.Subnets[0].ID)
	open, partly := true, false
	for _, s := range l.Subnets {
		for _, block := range s.IPv6 {
			inside := slices.ContainsFunc(c.S.Cluster.PublicAccessCIDRs, func(p netip.Prefix) bool { return p.Bits() <= block.Bits() && p.Overlaps(block) })
			open = open && inside
			partly = partly || slices.ContainsFunc(c.S.Cluster.PublicAccessCIDRs, block.Overlaps)
		}
		open = open && len(s.IPv6) > 0
	}
	switch {
	case w.Good() && open:
		return admittedFinding(c, l), true
	case w.Verdict == path.LeavesView && partly:
		return routes.Beyond(l, w), true
	case w.Good() && partly:
		return cannotTell(c, l, snapshot.Instances, "a part of the subnet's IPv6 addresses is admitted"), true
	}
	return finding.Finding{}, false
}

// dualStack tells the endpoint of an IPv6 cluster made after October 2024,
// which has IPv6 addresses too (EKS user guide, "Cluster API server endpoint").
func dualStack(endpoint string) bool {
	return strings.Contains(endpoint, ".api.aws") || strings.Contains(endpoint, ".api.amazonwebservices.com.cn")
}
