package capture

import (
	"encoding/json"

	"github.com/aws/aws-sdk-go-v2/aws"

	"rollcall/local/simaws/resolver"
)

// ListFirewallRuleGroupAssociations answers with the rule groups of a VPC.
func (a API) ListFirewallRuleGroupAssociations(in *resolver.Input) (json.RawMessage, error) {
	all, err := plain[resolver.ListFirewallRuleGroupAssociationsOutput](a.c, "route53resolver-list-firewall-rule-group-associations")
	return resolver.Written(all.InVPC(in.VpcId), err)
}

// ListFirewallRules answers with the rules of a rule group.
func (a API) ListFirewallRules(in *resolver.Input) (json.RawMessage, error) {
	return resolver.Written(plain[resolver.ListFirewallRulesOutput](a.c, "route53resolver-list-firewall-rules", aws.ToString(in.FirewallRuleGroupId)))
}

// ListFirewallDomains answers with the domains of a list.
func (a API) ListFirewallDomains(in *resolver.Input) (json.RawMessage, error) {
	return resolver.Written(plain[resolver.ListFirewallDomainsOutput](a.c, "route53resolver-list-firewall-domains", aws.ToString(in.FirewallDomainListId)))
}

// ListResolverRules answers with the rules.
func (a API) ListResolverRules(*resolver.Input) (json.RawMessage, error) {
	return resolver.Written(plain[resolver.ListResolverRulesOutput](a.c, "route53resolver-list-resolver-rules"))
}

// ListResolverRuleAssociations answers with the rules in force.
func (a API) ListResolverRuleAssociations(in *resolver.Input) (json.RawMessage, error) {
	all, err := plain[resolver.ListResolverRuleAssociationsOutput](a.c, "route53resolver-list-resolver-rule-associations")
	return resolver.Written(all.Fitting(in.Filters), err)
}
