package checks

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// gapDoubt is why a lot may be well although endpoints are missing: what is
// behind another network, or a hosted zone of one's own in front of endpoints
// with private DNS off. Such a zone needs both of the VPC's DNS attributes
// (Route 53 developer guide, "Considerations when working with a private
// hosted zone").
func (c *scene) gapDoubt(l lot, lacks []absence) string {
	if doubt := c.doubt(l); doubt != "" {
		return doubt
	}
	if lacks[0].lack == unrouted && slices.ContainsFunc(lacks, func(a absence) bool { return slices.Contains(a.unused.RouteTables, l.table.ID) }) {
		return "EC2 names the association and not the row"
	}
	if lacks[0].lack != nameless || c.zoneless(l.table.VPC) {
		return ""
	}
	var own []string
	for _, a := range lacks {
		own = append(own, a.unused.ID)
	}
	return fmt.Sprintf("a hosted zone of your own may lead to %s", some(own, 2))
}

// zoneless tells that no private hosted zone can work in a VPC.
func (c *scene) zoneless(vpc string) bool {
	return c.s.Has(snapshot.VPCDNS) && slices.ContainsFunc(c.s.VPCAttributes, func(a snapshot.VPCAttributes) bool {
		return a.VPC == vpc && !(a.DNSSupport && a.DNSHostnames)
	})
}

// gapConfidence is weaker where names may lead to what cannot be seen.
func (c *scene) gapConfidence(g gap) Confidence {
	if slices.ContainsFunc(g.lots, func(l lot) bool { return c.gapDoubt(l, g.absent) != "" }) {
		return Likely
	}
	return ""
}

// endpointsSeen lists the VPC's endpoints for what nodes need, at most ten.
func (c *scene) endpointsSeen(vpc string) []Evidence {
	const limit = 10
	var list []Evidence
	for _, service := range path.Needed() {
		for _, e := range c.net.Endpoints(vpc, service) {
			if len(list) == limit {
				return list
			}
			value := fmt.Sprintf("%s, %s", e.Kind, e.State)
			switch {
			case strings.EqualFold(e.Kind, "Gateway"):
				value += ", in " + some(e.RouteTables, 5)
			case e.PrivateDNS:
				value += ", private DNS on"
			default:
				value += ", private DNS off"
			}
			list = append(list, Evidence{What: fmt.Sprintf("%s (%s)", e.ID, service.Name()), Value: value})
		}
	}
	return list
}
