package endpoint

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/checks/facts/routes"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// gapDoubt is why a lot may be well although endpoints are missing: what is
// behind another network, or a hosted zone of one's own in front of endpoints
// with private DNS off. Such a zone needs both of the VPC's DNS attributes
// (Route 53 developer guide, "Considerations when working with a private
// hosted zone").
func gapDoubt(c *routes.Scope, l routes.Table, lacks []absence) string {
	if doubt := c.Doubt(l); doubt != "" {
		return doubt
	}
	if lacks[0].lack == unrouted && slices.ContainsFunc(lacks, func(a absence) bool { return slices.Contains(a.unused.RouteTables, l.Table.ID) }) {
		return "EC2 names the association and not the row"
	}
	if lacks[0].lack != nameless || zoneless(c, l.Table.VPC) {
		return ""
	}
	var own []string
	for _, a := range lacks {
		own = append(own, a.unused.ID)
	}
	return fmt.Sprintf("a hosted zone of your own may lead to %s", phrase.Some(own, 2))
}

// zoneless tells that no private hosted zone can work in a VPC.
func zoneless(c *routes.Scope, vpc string) bool {
	return c.S.Has(snapshot.VPCDNS) && slices.ContainsFunc(c.S.VPCAttributes, func(a snapshot.VPCAttributes) bool {
		return a.VPC == vpc && !(a.DNSSupport && a.DNSHostnames)
	})
}

// gapConfidence is weaker where names may lead to what cannot be seen.
func gapConfidence(c *routes.Scope, g gap) finding.Confidence {
	if slices.ContainsFunc(g.lots, func(l routes.Table) bool { return gapDoubt(c, l, g.absent) != "" }) {
		return finding.Likely
	}
	return ""
}

// endpointsSeen lists the VPC's endpoints for what nodes need, at most ten.
func endpointsSeen(c *routes.Scope, vpc string) []finding.Evidence {
	const limit = 10
	var list []finding.Evidence
	for _, service := range path.Needed() {
		for _, e := range c.Net.Endpoints(vpc, service) {
			if len(list) == limit {
				return list
			}
			value := fmt.Sprintf("%s, %s", e.Kind, e.State)
			switch {
			case strings.EqualFold(e.Kind, "Gateway"):
				value += ", in " + phrase.Some(e.RouteTables, 5)
			case e.PrivateDNS:
				value += ", private DNS on"
			default:
				value += ", private DNS off"
			}
			list = append(list, finding.Evidence{What: fmt.Sprintf("%s (%s)", e.ID, service.Name()), Value: value})
		}
	}
	return list
}
