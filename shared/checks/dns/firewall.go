package dns

import (
	"cmp"
	"fmt"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// Firewall is a rule of Route 53 Resolver DNS Firewall that blocks a name that nodes
// need. Rule groups are evaluated by the priority of their association, their rules by
// their own, and the first that matches decides (Route 53 developer guide, "How
// Route 53 Resolver DNS Firewall works"). A rule group may come to the VPC by a Route 53
// Profile.
func Firewall() check.Check {
	return check.WithPathSources(check.Check{
		ID:         checkid.DNSFirewall,
		Title:      "DNS Firewall blocks a name that nodes need",
		Confidence: finding.Likely,
		Optional:   true,
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Instances, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints, snapshot.DNSProfilesOf, snapshot.DNSFirewall},
		Uses:       []snapshot.Source{snapshot.AWSNode},
		After:      []checkid.ID{checkid.DNSSupportOff},
		Cause:      "A rule group of Route 53 Resolver DNS Firewall is associated with the VPC, or with a Route 53 Profile of the VPC, and one of its rules answers NXDOMAIN, nothing or another name for the cluster's endpoint, or for EC2, ECR, S3 or STS. Typical is a walled garden whose list of allowed domains lacks one of them.",
		Fix:        "Allow the names in a rule with a lower priority number than the rule that blocks them. Nodes try again by themselves for some minutes; then replace the instances.",
		Links: []string{
			"https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/resolver-dns-firewall.html",
			"https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/resolver-dns-firewall-overview.html",
			"https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/profiles.html",
		},
		Run: ofResolver(firewall),
	})
}

func firewall(g *facts.Placements, r *resolved, v *finding.Verdicts) {
	rules := inVPC(g.S.FirewallRules, r.vpc, func(x snapshot.FirewallRule) string { return x.VPC })
	blocked := map[string][]needed{}
	by := map[string]snapshot.FirewallRule{}
	var order []string
	var unread []snapshot.Failure
	for _, n := range neededNames(g, r) {
		rule, hit, doubt := firewallRule(rules, n.name, g.S.Cluster.IPv6)
		switch {
		case hit && rule.Action == "BLOCK" && doubt != nil:
			unread = finding.Adding(unread, *doubt)
		case hit && rule.Action == "BLOCK":
			key := rule.Group + " " + rule.Name
			if blocked[key] == nil {
				order = append(order, key)
			}
			blocked[key], by[key] = append(blocked[key], n), rule
		}
	}
	for _, key := range order {
		v.Fail(blockedNames(g, r, by[key], blocked[key]))
	}
	switch {
	case len(order) > 0:
	case len(unread) > 0:
		v.Unknown(r.vpc, r.covers(), unread...)
	default:
		v.Pass(r.vpc, r.covers(), finding.Evidence{What: "DNS Firewall of " + r.vpc, Value: fmt.Sprintf("%d rules, none of which blocks a name that nodes need", len(rules))})
	}
}

// firewallRule is the first rule that is about a name. Doubt is a rule before it that may
// allow the name: its domains could not be read.
func firewallRule(rules []snapshot.FirewallRule, name string, six bool) (rule snapshot.FirewallRule, hit bool, doubt *snapshot.Failure) {
	for _, r := range rules {
		if r.Type != "" && r.Type != "A" && !(six && r.Type == "AAAA") {
			continue
		}
		if r.Unread != nil && r.Action != "BLOCK" {
			doubt = r.Unread
		}
		for _, d := range r.Domains {
			// "*" stands at the beginning, for anything (Route 53 developer guide,
			// "Route 53 Resolver DNS Firewall domain lists").
			if tail, wild := strings.CutPrefix(d, "*"); d == name || wild && strings.HasSuffix(name, tail) {
				return r, true, doubt
			}
		}
	}
	return rule, false, doubt
}

func blockedNames(g *facts.Placements, r *resolved, rule snapshot.FirewallRule, names []needed) finding.Finding {
	group := rule.Group
	if rule.GroupName != "" {
		group += " (" + phrase.Clip(rule.GroupName) + ")"
	}
	services := phrase.And(path.Names(servicesOf(names)))
	answer := cmp.Or(rule.Response, "nothing")
	association, where := r.vpc, "there"
	if rule.Profile != "" {
		association, where = fmt.Sprintf("the Route 53 Profile %s of %s", rule.Profile, r.vpc), "in "+r.vpc
	}
	return finding.Finding{
		Outcome: finding.Fail, Resource: rule.Group, Covers: r.covers(), Instances: facts.IDs(r.suspects()),
		Resources: append(inForceIn(rule.Group, rule.Profile, r.vpc), r.covers()...),
		Title:     phrase.Title("DNS Firewall blocks the names of %s", few(names)),
		Why: fmt.Sprintf("Rule %q of %s, which is associated with %s, answers %s for the name of %s. Nodes %s cannot resolve it.",
			phrase.Clip(rule.Name), group, association, answer, services, where),
		Evidence: append(nameEvidence(names, func(needed) string {
			return fmt.Sprintf("%s by rule %q (%s)", rule.Action, phrase.Clip(rule.Name), rule.List)
		}), namesGiven(g, r.vpc)...),
		Fix: finding.Fix{
			Text:    fmt.Sprintf("Put %s into a domain list of a rule of %s that allows, with a lower priority number than rule %q.", phrase.Some(namesOf(names), 6), rule.Group, phrase.Clip(rule.Name)),
			Console: link.VPC(g.S, "VpcDetails:VpcId="+r.vpc),
		},
	}
}

func namesOf(list []needed) []string {
	out := make([]string, len(list))
	for i, n := range list {
		out[i] = n.name
	}
	return out
}
