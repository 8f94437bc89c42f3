package simaws

import (
	"encoding/json"

	"rollcall/local/simaws/resolver"
)

// Resolver is Route 53 Resolver, of a world that has it.
type Resolver interface {
	ListFirewallRuleGroupAssociations(*resolver.Input) (json.RawMessage, error)
	ListFirewallRules(*resolver.Input) (json.RawMessage, error)
	ListFirewallDomains(*resolver.Input) (json.RawMessage, error)
	ListResolverRules(*resolver.Input) (json.RawMessage, error)
	ListResolverRuleAssociations(*resolver.Input) (json.RawMessage, error)
}

// registerResolver serves Route 53 Resolver.
func (c *Cloud) registerResolver(r Resolver) {
	const service = "route53resolver"
	handlePlain(c, service, "ListFirewallRuleGroupAssociations", r.ListFirewallRuleGroupAssociations)
	handlePlain(c, service, "ListFirewallRules", r.ListFirewallRules)
	handlePlain(c, service, "ListFirewallDomains", r.ListFirewallDomains)
	handlePlain(c, service, "ListResolverRules", r.ListResolverRules)
	handlePlain(c, service, "ListResolverRuleAssociations", r.ListResolverRuleAssociations)
}
