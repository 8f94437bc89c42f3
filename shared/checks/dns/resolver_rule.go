package dns

import (
	"fmt"
	"slices"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// ResolverRule is a rule of Route 53 Resolver that forwards a name that nodes need. The
// most specific rule wins; of a rule and a private hosted zone for the same domain the
// rule does (Route 53 developer guide, "How Resolver uses rules and private hosted
// zones"). A rule may come to the VPC by a Route 53 Profile: the most specific one wins,
// and for the same domain the VPC's own ("How Route 53 Profile settings are prioritized").
func ResolverRule() check.Check {
	return check.WithPathSources(check.Check{
		ID:         checkid.DNSResolverRule,
		Title:      "A resolver rule forwards a name that nodes need",
		Confidence: finding.Likely,
		Optional:   true,
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Instances, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints, snapshot.DNSProfilesOf, snapshot.ResolverRulesOf},
		Uses:       []snapshot.Source{snapshot.AWSNode, snapshot.PrivateZonesOf},
		After:      []checkid.ID{checkid.DNSSupportOff, checkid.DNSFirewall},
		Cause: "A rule of Route 53 Resolver that is associated with the VPC, or with a Route 53 Profile of the VPC, forwards the name of the cluster's endpoint, or of EC2, ECR, S3 or STS, to name servers of one's own. Nodes resolve it only as long as these are reachable and know it; for a private endpoint they must answer with its private addresses. " +
			"Whether they do cannot be seen: the finding is possible only where other nodes of the VPC are Ready.",
		Fix: "Make a SYSTEM rule for the domain (amazonaws.com) and associate it with the VPC, or see that the name servers answer. Then replace the instances.",
		Links: []string{
			"https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/resolver-overview-DSN-queries-to-vpc.html",
			"https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/resolver-rules-managing.html",
			"https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/profiles.html",
		},
		Run: ofResolver(forwarded),
	})
}

func forwarded(g *facts.Placements, r *resolved, v *finding.Verdicts) {
	rules := inVPC(g.S.ResolverRules, r.vpc, func(x snapshot.ResolverRule) string { return x.VPC })
	zones := inVPC(g.S.PrivateZones, r.vpc, func(z snapshot.PrivateZone) string { return z.VPC })
	names := map[string][]needed{}
	for _, n := range neededNames(g, r) {
		if rule, ok := forwards(rules, n); ok && !zoneBefore(zones, n.name, rule.Domain) {
			names[rule.ID] = append(names[rule.ID], n)
		}
	}
	found := false
	var unread []snapshot.Failure
	for _, rule := range rules {
		if rule.Unread != nil {
			unread = finding.Adding(unread, *rule.Unread)
		}
		if list := names[rule.ID]; len(list) > 0 {
			found = true
			v.Fail(forwardedNames(g, r, rule, list))
			delete(names, rule.ID) // a Profile may bring a rule that the VPC has
		}
	}
	switch {
	case found:
	case len(unread) > 0:
		v.Unknown(r.vpc, r.covers(), unread...)
	default:
		v.Pass(r.vpc, r.covers(), finding.Evidence{What: "Resolver rules of " + r.vpc, Value: fmt.Sprintf("%d rules, none of which forwards a name that nodes need", len(rules))})
	}
}

// zoneBefore reports whether a private hosted zone is searched for a name before a rule for a
// domain counts: one that is more specific.
func zoneBefore(zones []snapshot.PrivateZone, name, domain string) bool {
	i := path.ZoneOf(zones, name)
	return i >= 0 && len(zones[i].Domain) > len(domain)
}

// forwards returns the rule that wins for a name, and whether it forwards the name. Of several
// rules for one domain the first wins.
func forwards(rules []snapshot.ResolverRule, n needed) (snapshot.ResolverRule, bool) {
	best := path.RuleOf(rules, n.name)
	if best < 0 || !rules[best].Forward {
		return snapshot.ResolverRule{}, false
	}
	// A zone for the name itself is more specific than a rule for what it is under.
	return rules[best], !n.private || rules[best].Domain == n.name
}

func forwardedNames(g *facts.Placements, r *resolved, rule snapshot.ResolverRule, names []needed) finding.Finding {
	services := phrase.And(path.Names(servicesOf(names)))
	domain := rule.Domain
	if domain == "" {
		domain = "."
	}
	to := "its targets"
	if len(rule.Targets) > 0 {
		to = phrase.Some(rule.Targets, 4)
	}
	name, owner := phrase.Clip(rule.Name), r.vpc
	if rule.Profile != "" {
		name += fmt.Sprintf(", of the Route 53 Profile %s", rule.Profile)
		owner = rule.Profile
	}
	f := finding.Finding{
		Outcome: finding.Fail, Resource: rule.ID, Covers: r.covers(), Instances: facts.IDs(r.suspects()),
		Resources: append(inForceIn(rule.ID, rule.Profile, r.vpc), r.covers()...),
		Title:     phrase.Title("%s forwards the names of %s", rule.ID, few(names)),
		Why: fmt.Sprintf("%s (%s) forwards %s to %s, and with it the name of %s. Nodes in %s resolve it only if these answer.",
			rule.ID, name, domain, to, services, r.vpc),
		Evidence: append(nameEvidence(names, func(needed) string { return fmt.Sprintf("forwarded to %s by %s", to, rule.ID) }), namesGiven(g, r.vpc)...),
		Fix: finding.Fix{
			Text:    fmt.Sprintf("Ask %s for %s. If they do not answer, make a SYSTEM rule for the domain and associate it with %s, or take %s away from %s.", to, names[0].name, r.vpc, rule.ID, owner),
			Console: link.VPC(g.S, "VpcDetails:VpcId="+r.vpc),
		},
	}
	if id := readyBeside(g, r.vpc); id != "" {
		f.Confidence = finding.Possible
		f.Evidence = slices.Insert(f.Evidence, 0, finding.Evidence{What: id, Value: "is a Ready node of the same VPC, for which the rule is in force too"})
	}
	return f
}
