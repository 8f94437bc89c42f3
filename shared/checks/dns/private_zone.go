package dns

import (
	"fmt"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// PrivateZone is a private hosted zone that covers a name that nodes need and has no record
// for it: "Resolver doesn't forward the request to a public DNS resolver. Instead, it returns
// NXDOMAIN". The most specific zone is searched; a resolver rule that forwards the same domain
// or a more specific one takes precedence (Route 53 developer guide, "Considerations when
// working with a private hosted zone"). The cluster's own name needs no zone: with a private
// endpoint alone it "is resolved by public DNS servers to a private IP address" (EKS user
// guide, "Cluster API server endpoint").
func PrivateZone() check.Check {
	return check.WithPathSources(check.Check{
		ID:         checkid.DNSPrivateZone,
		Title:      "A private hosted zone hides a name that nodes need",
		Confidence: finding.Likely,
		Optional:   true,
		Needs: []snapshot.Source{
			snapshot.Clusters, snapshot.Instances, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints, snapshot.DNSProfilesOf, snapshot.ResolverRulesOf, snapshot.PrivateZonesOf,
		},
		Uses:  []snapshot.Source{snapshot.AWSNode},
		After: []checkid.ID{checkid.DNSSupportOff, checkid.DNSFirewall, checkid.DNSResolverRule},
		Cause: "A private hosted zone is associated with the VPC, or with a Route 53 Profile of the VPC, and covers the name of the cluster's endpoint, or of EC2, ECR, S3 or STS, without a record for it. Amazon's resolver answers NXDOMAIN there and does not ask public DNS. Typical is a zone for amazonaws.com or a Region's part of it, made for interface endpoints, that lacks one service.",
		Fix:   "Add a record for the name, make the zone more specific, or disassociate it from the VPC. Nodes try again by themselves for some minutes; then replace the instances.",
		Links: []string{
			"https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/hosted-zone-private-considerations.html",
			"https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/profiles.html",
		},
		Run: ofResolver(hidden),
	})
}

func hidden(g *facts.Placements, r *resolved, v *finding.Verdicts) {
	zones := inVPC(g.S.PrivateZones, r.vpc, func(z snapshot.PrivateZone) string { return z.VPC })
	rules := inVPC(g.S.ResolverRules, r.vpc, func(x snapshot.ResolverRule) string { return x.VPC })
	missing := make([][]needed, len(zones))
	var unread []snapshot.Failure
	for _, z := range zones {
		if z.Unread != nil && z.Domain == "" {
			unread = finding.Adding(unread, *z.Unread)
		}
	}
	for _, n := range neededNames(g, r) {
		i := path.ZoneOf(zones, n.name)
		if i < 0 || n.private {
			continue
		}
		switch z := zones[i]; {
		case forwardsBefore(rules, n.name, z.Domain), z.Service != "":
		case z.Unread != nil:
			unread = finding.Adding(unread, *z.Unread)
		case !path.HasRecord(z, n.name, g.S.Cluster.IPv6):
			missing[i] = append(missing[i], n)
		}
	}
	found := false
	for i, names := range missing {
		if len(names) > 0 {
			found = true
			v.Fail(hiddenNames(g, r, zones[i], names))
		}
	}
	switch {
	case found:
	case len(unread) > 0:
		v.Unknown(r.vpc, r.covers(), unread...)
	default:
		v.Pass(r.vpc, r.covers(), finding.Evidence{What: "Private hosted zones of " + r.vpc, Value: fmt.Sprintf("%d that cover names of AWS, none of which hides a name that nodes need", len(zones))})
	}
}

// forwardsBefore reports whether a rule forwards a name before a zone is searched for it.
func forwardsBefore(rules []snapshot.ResolverRule, name, domain string) bool {
	rule, ok := forwards(rules, needed{name: name})
	return ok && len(rule.Domain) >= len(domain)
}

func hiddenNames(g *facts.Placements, r *resolved, z snapshot.PrivateZone, names []needed) finding.Finding {
	services := phrase.And(path.Names(servicesOf(names)))
	association := r.vpc
	if z.Profile != "" {
		association = fmt.Sprintf("the Route 53 Profile %s of %s", z.Profile, r.vpc)
	}
	return finding.Finding{
		Outcome: finding.Fail, Resource: z.ID, Covers: r.covers(), Instances: facts.IDs(r.suspects()),
		Resources: append(inForceIn(z.ID, z.Profile, r.vpc), r.covers()...),
		Title:     phrase.Title("Private zone %s hides the names of %s", z.ID, few(names)),
		Why: fmt.Sprintf("The private hosted zone %s (%s) is associated with %s and has no record for the name of %s. Amazon's resolver answers NXDOMAIN in %s and does not ask public DNS.",
			z.ID, z.Domain, association, services, r.vpc),
		Evidence: append(nameEvidence(names, func(needed) string { return "no record in " + z.ID }), namesGiven(g, r.vpc)...),
		Fix: finding.Fix{
			Text:    fmt.Sprintf("Add records for %s to %s, or disassociate it from %s.", phrase.Some(namesOf(names), 6), z.ID, association),
			Console: link.VPC(g.S, "VpcDetails:VpcId="+r.vpc),
		},
	}
}
