package worldfile

import "rollcall/local/simaws/resolver"

// ResolverFile is the Route 53 Resolver part of a world, as `aws route53resolver list-*`
// prints it: the rules of rule groups by group, and the domains of lists by list.
type ResolverFile struct {
	FirewallRuleGroupAssociations []resolver.FirewallRuleGroupAssociation
	FirewallRules                 map[string][]resolver.FirewallRule
	FirewallDomains               map[string][]string
	ResolverRules                 []resolver.ResolverRule
	ResolverRuleAssociations      []resolver.ResolverRuleAssociation
}
