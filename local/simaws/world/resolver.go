package world

import (
	"encoding/json"

	"github.com/aws/aws-sdk-go-v2/aws"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/resolver"
	"rollcall/local/simaws/state"
)

// resolverAPI is the world's Route 53 Resolver: it has what the world's file has.
type resolverAPI struct{ w *state.State }

// ListFirewallRuleGroupAssociations lists the rule groups in force in a VPC.
func (s resolverAPI) ListFirewallRuleGroupAssociations(in *resolver.Input) (json.RawMessage, error) {
	defer s.w.Enter()()
	all := resolver.ListFirewallRuleGroupAssociationsOutput{FirewallRuleGroupAssociations: s.w.File.Route53Resolver.FirewallRuleGroupAssociations}
	return resolver.Written(all.InVPC(in.VpcId), nil)
}

// ListFirewallRules lists the rules of a rule group.
func (s resolverAPI) ListFirewallRules(in *resolver.Input) (json.RawMessage, error) {
	defer s.w.Enter()()
	list, there := s.w.File.Route53Resolver.FirewallRules[aws.ToString(in.FirewallRuleGroupId)]
	if !there {
		return nil, wire.Errorf("ResourceNotFoundException", "Can't find the resource with ID '%s'", aws.ToString(in.FirewallRuleGroupId))
	}
	return resolver.Written(resolver.ListFirewallRulesOutput{FirewallRules: list}, nil)
}

// ListFirewallDomains lists the domains of a list. Those of AWS are shown to nobody
// (Route 53 developer guide, "Managed Domain Lists").
func (s resolverAPI) ListFirewallDomains(in *resolver.Input) (json.RawMessage, error) {
	defer s.w.Enter()()
	list, there := s.w.File.Route53Resolver.FirewallDomains[aws.ToString(in.FirewallDomainListId)]
	if !there {
		return nil, &wire.Error{Code: "AccessDeniedException", Message: "You don't have permission to list the domains of this list.", Status: 400}
	}
	return resolver.Written(resolver.ListFirewallDomainsOutput{Domains: list}, nil)
}

// ListResolverRules lists the account's rules and the one that every account has.
func (s resolverAPI) ListResolverRules(*resolver.Input) (json.RawMessage, error) {
	defer s.w.Enter()()
	list := append([]resolver.ResolverRule{{Id: autodefined, DomainName: ".", RuleType: "RECURSIVE", Name: "Internet Resolver", OwnerId: "Route 53 Resolver", Status: "COMPLETE"}}, s.w.File.Route53Resolver.ResolverRules...)
	return resolver.Written(resolver.ListResolverRulesOutput{ResolverRules: list}, nil)
}

const autodefined = "rslvr-autodefined-rr-internet-resolver"

// ListResolverRuleAssociations lists the rules in force; that of the resolver itself is in
// force in every VPC.
func (s resolverAPI) ListResolverRuleAssociations(in *resolver.Input) (json.RawMessage, error) {
	defer s.w.Enter()()
	list := s.w.File.Route53Resolver.ResolverRuleAssociations
	for _, v := range s.w.Vpcs.All() {
		list = append(list, resolver.ResolverRuleAssociation{Id: "rslvr-autodefined-assoc-" + *v.VpcId + "-internet-resolver", ResolverRuleId: autodefined, Name: "System Rule Association", VPCId: *v.VpcId, Status: "COMPLETE"})
	}
	return resolver.Written(resolver.ListResolverRuleAssociationsOutput{ResolverRuleAssociations: list}.Fitting(in.Filters), nil)
}
