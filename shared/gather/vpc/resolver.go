package vpc

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"rollcall/shared/gather/source"
	"rollcall/shared/network/path"
	"rollcall/shared/route53resolver"
	"rollcall/shared/snapshot"
)

// Resolver tells which rules and which DNS firewall are in force in a VPC.
type Resolver interface {
	FirewallAssociations(ctx context.Context, vpc, token string) ([]route53resolver.FirewallAssociation, string, error)
	FirewallRules(ctx context.Context, group, token string) ([]route53resolver.FirewallRule, string, error)
	FirewallDomains(ctx context.Context, list, token string) ([]string, string, error)
	Rules(ctx context.Context, token string) ([]route53resolver.Rule, string, error)
	RuleAssociations(ctx context.Context, vpc, token string) ([]route53resolver.RuleAssociation, string, error)
}

var _ Resolver = (*route53resolver.Client)(nil)

// whereNamesMatter reads only where an instance of the scope has not joined, and for a
// subnet of the scope in which none of its instances stands: an incident may cover it. A look
// at launches reads only where a name may lead over a private way: it asks for each launch, and
// Route 53 takes five requests a second of an account (Route 53 developer guide, "Quotas").
func whereNamesMatter(read source.Read) source.Read {
	return func(ctx context.Context, v *source.View) (source.Store, error) {
		stands := map[string]bool{}
		for _, in := range v.InScope() {
			stands[in.Subnet] = true
		}
		empty := slices.ContainsFunc(v.Snapshot.Scope.Subnets, func(id string) bool { return !stands[id] })
		launch := slices.Contains(v.Sources, snapshot.RouteTables) && !slices.Contains(v.Sources, snapshot.Nodes)
		if !empty && len(v.NotJoined()) == 0 || launch && !privateWays(v.Snapshot) {
			return source.Nothing, nil
		}
		return read(ctx, v)
	}
}

// privateWays reports whether a table leads to another private network, or an interface endpoint
// has no private DNS: a zone, a rule or a Profile may name what is there.
func privateWays(s *snapshot.Snapshot) bool {
	return slices.ContainsFunc(s.RouteTables, func(t snapshot.RouteTable) bool {
		return slices.ContainsFunc(t.Routes, func(r snapshot.Route) bool { return path.Elsewhere(r.Target.Kind) })
	}) || slices.ContainsFunc(s.Endpoints, func(e snapshot.Endpoint) bool {
		return strings.EqualFold(e.Kind, "Interface") && !e.PrivateDNS
	})
}

// resolverRules are those in force in the VPCs, without those that the resolver makes by
// itself.
func resolverRules(api Resolver) source.Source {
	return source.Source{
		Name:  snapshot.ResolverRulesOf,
		Needs: []snapshot.Source{snapshot.DNSProfilesOf},
		After: []snapshot.Source{snapshot.Nodes, snapshot.RouteTables, snapshot.Endpoints},
		Calls: []source.Call{{Action: "route53resolver:ListResolverRuleAssociations"}, {Action: "route53resolver:ListResolverRules"}},
		Read: whereNamesMatter(func(ctx context.Context, v *source.View) (source.Store, error) {
			local := map[string][]route53resolver.RuleAssociation{}
			associated := false
			for _, vpc := range v.VPCs {
				list, err := source.Pages(ctx, "resolver rule associations", func(ctx context.Context, token string) ([]route53resolver.RuleAssociation, string, error) {
					return api.RuleAssociations(ctx, vpc, token)
				})
				if err != nil {
					return nil, err
				}
				local[vpc] = slices.DeleteFunc(list, func(a route53resolver.RuleAssociation) bool {
					return a.VPC != vpc || strings.HasPrefix(a.Rule, "rslvr-autodefined-") || a.Status != "COMPLETE"
				})
				associated = associated || len(local[vpc]) > 0 || len(broughtInto(v.Snapshot, vpc, resolverRuleARN)) > 0
			}
			if !associated {
				return source.Nothing, nil
			}
			rules, err := source.Pages(ctx, "resolver rules", api.Rules)
			if err != nil {
				return nil, err
			}
			var list []snapshot.ResolverRule
			for _, vpc := range v.VPCs {
				list = append(list, rulesInForce(v, vpc, local[vpc], rules)...)
			}
			slices.SortStableFunc(list, func(a, b snapshot.ResolverRule) int { return cmp.Compare(a.VPC, b.VPC) })
			return func(s *snapshot.Snapshot) { s.ResolverRules = list }, nil
		}),
	}
}

// How the resource part of an ARN begins (service authorization reference, Route 53 Resolver).
const (
	resolverRuleARN  = "resolver-rule/"
	firewallGroupARN = "firewall-rule-group/"
)

// rulesInForce returns the rules in force in a VPC, its own before those of its Profiles: for
// the same domain "the local DNS settings take precedence" (Route 53 developer guide, "How
// Route 53 Profile settings are prioritized"). A rule of a Profile that ListResolverRules
// does not return is another account's, and its domain is unknown.
func rulesInForce(v *source.View, vpc string, local []route53resolver.RuleAssociation, rules []route53resolver.Rule) []snapshot.ResolverRule {
	find := func(id string) int {
		return slices.IndexFunc(rules, func(r route53resolver.Rule) bool { return r.ID == id })
	}
	var list []snapshot.ResolverRule
	for _, a := range local {
		if i := find(a.Rule); i >= 0 {
			list = append(list, resolverRule(vpc, rules[i]))
		}
	}
	slices.SortFunc(list, func(a, b snapshot.ResolverRule) int { return cmp.Compare(a.ID, b.ID) })
	for _, b := range broughtInto(v.Snapshot, vpc, resolverRuleARN) {
		r := snapshot.ResolverRule{ID: b.id, Name: b.name, VPC: vpc}
		if i := find(b.id); i >= 0 {
			r = resolverRule(vpc, rules[i])
		} else {
			r.Unread = &snapshot.Failure{
				Source: snapshot.ResolverRulesOf, Reason: snapshot.NotShown, Call: "route53resolver:ListResolverRules",
				Message: b.id + " of the Route 53 Profile " + b.profile + " is not shared with this account",
			}
		}
		r.Profile = b.profile
		list = append(list, r)
	}
	return list
}

func resolverRule(vpc string, r route53resolver.Rule) snapshot.ResolverRule {
	out := snapshot.ResolverRule{ID: r.ID, Name: r.Name, VPC: vpc, Domain: domain(r.Domain), Forward: r.Type == "FORWARD", Endpoint: r.Endpoint}
	for _, t := range r.Targets {
		out.Targets = append(out.Targets, cmp.Or(t.IP, t.IPv6))
	}
	return out
}

// domain is a name in lower case and without the dot at its end.
func domain(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

// dnsFirewall is what DNS Firewall evaluates in the VPCs, in its order: rule groups by
// the priority of their association, in each the rules by theirs, the lowest first
// (Route 53 developer guide, "DNS Firewall rule groups and rules"). Those of Profiles are
// evaluated by their priority too ("Associate DNS Firewall rule groups to a Route 53
// Profile"); of one priority the VPC's own is first, as "the local DNS settings take
// precedence" ("How Route 53 Profile settings are prioritized").
func dnsFirewall(api Resolver) source.Source {
	return source.Source{
		Name:  snapshot.DNSFirewall,
		Needs: []snapshot.Source{snapshot.DNSProfilesOf},
		After: []snapshot.Source{snapshot.Nodes, snapshot.RouteTables, snapshot.Endpoints},
		Calls: []source.Call{
			{Action: "route53resolver:ListFirewallRuleGroupAssociations"},
			// A rule group or a list that is shared is another account's.
			{Action: "route53resolver:ListFirewallRules", Resources: []string{"arn:${Partition}:route53resolver:${Region}:*:firewall-rule-group/*"}},
			{Action: "route53resolver:ListFirewallDomains", Resources: []string{"arn:${Partition}:route53resolver:${Region}:*:firewall-domain-list/*"}},
		},
		Read: whereNamesMatter(func(ctx context.Context, v *source.View) (source.Store, error) {
			var all []snapshot.FirewallRule
			var unread error
			for _, vpc := range v.VPCs {
				groups, err := source.Pages(ctx, "firewall rule group associations", func(ctx context.Context, token string) ([]route53resolver.FirewallAssociation, string, error) {
					return api.FirewallAssociations(ctx, vpc, token)
				})
				if err != nil {
					return nil, err
				}
				for _, g := range groupsInForce(v, vpc, groups) {
					list, failed, err := firewallRules(ctx, api, v, vpc, g)
					if err != nil {
						return nil, err
					}
					unread = errors.Join(unread, failed)
					all = append(all, list...)
				}
			}
			// AWS shows nobody what is in the lists that it manages (Route 53 developer
			// guide, "Managed Domain Lists"). Where no list at all could be read it may
			// be the permission.
			listed := slices.DeleteFunc(slices.Clone(all), func(r snapshot.FirewallRule) bool { return r.List == "" })
			if len(listed) > 0 && !slices.ContainsFunc(listed, func(r snapshot.FirewallRule) bool { return r.Unread == nil }) {
				return nil, unread
			}
			return func(s *snapshot.Snapshot) { s.FirewallRules = all }, nil
		}),
	}
}

// groupsInForce returns the rule groups in force in a VPC in the order of their priority.
func groupsInForce(v *source.View, vpc string, local []route53resolver.FirewallAssociation) []brought {
	var list []brought
	for _, g := range local {
		if g.Status != "DELETING" {
			list = append(list, brought{id: g.Group, name: g.Name, priority: g.Priority})
		}
	}
	list = append(list, broughtInto(v.Snapshot, vpc, firewallGroupARN)...)
	slices.SortStableFunc(list, func(a, b brought) int { return cmp.Compare(a.priority, b.priority) })
	return list
}

func firewallRules(ctx context.Context, api Resolver, v *source.View, vpc string, g brought) (list []snapshot.FirewallRule, unread, err error) {
	rules, err := source.Pages(ctx, "firewall rules", func(ctx context.Context, token string) ([]route53resolver.FirewallRule, string, error) {
		return api.FirewallRules(ctx, g.id, token)
	})
	if err != nil {
		return nil, nil, err
	}
	slices.SortStableFunc(rules, func(a, b route53resolver.FirewallRule) int { return cmp.Compare(a.Priority, b.Priority) })
	for _, r := range rules {
		out := snapshot.FirewallRule{VPC: vpc, Profile: g.profile, Group: g.id, GroupName: g.name, Name: r.Name, Action: r.Action, Response: r.BlockResponse, Type: r.Qtype, List: r.List}
		if r.List != "" {
			domains, err := source.Pages(ctx, "firewall domains", func(ctx context.Context, token string) ([]string, string, error) {
				return api.FirewallDomains(ctx, r.List, token)
			})
			if err != nil {
				out.Unread, unread = v.Source.Failure(err), err
			}
			out.Domains = source.Each(domains, domain)
		}
		list = append(list, out)
	}
	return list, unread, nil
}
