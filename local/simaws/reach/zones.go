package reach

import (
	"slices"
	"strings"

	"rollcall/local/simaws/route53"
	"rollcall/local/simaws/state"
)

// zone is a private hosted zone in view of a VPC.
type zone struct {
	id, domain string
	service    bool // of AWS's own, which answers for its names
}

// zonesOf are the private hosted zones in view of a VPC, its own before those of its Profiles:
// of the same domain "the local DNS settings take precedence" (Route 53 developer guide, "How
// Route 53 Profile settings are prioritized").
func zonesOf(w *state.State, vpc string) []zone {
	var list []zone
	for _, z := range w.File.Route53.HostedZones[vpc] {
		list = append(list, zone{z.HostedZoneId, bare(z.Name), z.Owner.OwningService != ""})
	}
	ids, _ := resourcesOf(w, vpc, "hostedzone/")
	for _, id := range ids {
		for _, r := range w.File.Route53.ResourceRecordSets[id] {
			if r.Type == "SOA" {
				list = append(list, zone{id, bare(r.Name), false})
			}
		}
	}
	return list
}

// zoneFor is the zone that the resolver searches for a name: "the most specific match".
func zoneFor(w *state.State, vpc, name string) (z zone, found bool) {
	for _, c := range zonesOf(w, vpc) {
		if (name == c.domain || strings.HasSuffix(name, "."+c.domain)) && (!found || len(c.domain) > len(z.domain)) {
			z, found = c, true
		}
	}
	return z, found
}

// absent: "If there's a matching private hosted zone but there's no record that matches the
// domain name and type in the request, Resolver doesn't forward the request to a public DNS
// resolver. Instead, it returns NXDOMAIN" (Route 53 developer guide, "Considerations when
// working with a private hosted zone"). Of a zone and a rule that forwards the same domain the
// rule wins, and else the more specific one.
func absent(w *state.State, vpc, name string) bool {
	z, found := zoneFor(w, vpc, name)
	kind, longest := ruleFor(w, vpc, name)
	if !found || z.service || kind == "FORWARD" && longest >= len(z.domain) {
		return false
	}
	return !slices.ContainsFunc(w.File.Route53.ResourceRecordSets[z.id], func(r route53.ResourceRecordSet) bool {
		tail, wild := strings.CutPrefix(bare(r.Name), "*.")
		return (r.Type == "A" || r.Type == "CNAME") && (bare(r.Name) == name || wild && strings.HasSuffix(name, "."+tail))
	})
}

// bare is a name in lower case without the dot at its end. Route 53 writes "*" as \052.
func bare(name string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimSuffix(name, ".")), `\052`, "*")
}
