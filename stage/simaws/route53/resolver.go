package route53

import (
	"encoding/json"
	"slices"
)

// ResolverInput asks for a page of a list. A member that a call does not have is not sent.
type ResolverInput struct {
	VpcId, FirewallRuleGroupId, FirewallDomainListId *string
	Filters                                          []Filter
	MaxResults                                       *int32
	NextToken                                        *string
}

// Filter is one of ListResolverRuleAssociations: "VPCId".
type Filter struct {
	Name   string
	Values []string
}

// FirewallRuleGroupAssociation is what list-firewall-rule-group-associations prints of one.
type FirewallRuleGroupAssociation struct {
	Id, Arn, FirewallRuleGroupId, VpcId, Name, MutationProtection, ManagedOwnerName, Status, StatusMessage, CreatorRequestId, CreationTime, ModificationTime string `json:",omitempty"`
	Priority                                                                                                                                                 int
}

// FirewallRule is what list-firewall-rules prints of one.
type FirewallRule struct {
	FirewallRuleGroupId, FirewallDomainListId, FirewallThreatProtectionId, Name, Action, BlockResponse, BlockOverrideDomain, BlockOverrideDnsType, FirewallDomainRedirectionAction string `json:",omitempty"`
	Qtype, DnsThreatProtection, ConfidenceThreshold, CreatorRequestId, CreationTime, ModificationTime                                                                              string `json:",omitempty"`
	Priority                                                                                                                                                                       int
	BlockOverrideTtl                                                                                                                                                               int `json:",omitempty"`
}

// ResolverRule is what list-resolver-rules prints of one.
type ResolverRule struct {
	Id, CreatorRequestId, Arn, DomainName, Status, StatusMessage, RuleType, Name, ResolverEndpointId, OwnerId, ShareStatus, CreationTime, ModificationTime, DelegationRecord string          `json:",omitempty"`
	TargetIps                                                                                                                                                                []TargetAddress `json:",omitempty"`
}

// TargetAddress is where a rule forwards to.
type TargetAddress struct {
	Ip, Ipv6, Protocol, ServerNameIndication string `json:",omitempty"`
	Port                                     int    `json:",omitempty"`
}

// ResolverRuleAssociation is what list-resolver-rule-associations prints of one.
type ResolverRuleAssociation struct {
	Id, ResolverRuleId, Name, VPCId, Status, StatusMessage string `json:",omitempty"`
}

// The outputs.
type (
	// ListFirewallRuleGroupAssociationsOutput is a page of rule groups in force.
	ListFirewallRuleGroupAssociationsOutput struct {
		FirewallRuleGroupAssociations []FirewallRuleGroupAssociation
		NextToken                     *string `json:",omitempty"`
	}
	// ListFirewallRulesOutput is a page of rules of a rule group.
	ListFirewallRulesOutput struct {
		FirewallRules []FirewallRule
		NextToken     *string `json:",omitempty"`
	}
	// ListFirewallDomainsOutput is a page of domains of a list.
	ListFirewallDomainsOutput struct {
		Domains   []string
		NextToken *string `json:",omitempty"`
	}
	// ListResolverRulesOutput is a page of rules.
	ListResolverRulesOutput struct {
		ResolverRules []ResolverRule
		MaxResults    int     `json:",omitempty"`
		NextToken     *string `json:",omitempty"`
	}
	// ListResolverRuleAssociationsOutput is a page of rules in force.
	ListResolverRuleAssociationsOutput struct {
		ResolverRuleAssociations []ResolverRuleAssociation
		MaxResults               int     `json:",omitempty"`
		NextToken                *string `json:",omitempty"`
	}
)

// InVPC are the rule groups of a VPC; of all where none is named.
func (o ListFirewallRuleGroupAssociationsOutput) InVPC(vpc *string) ListFirewallRuleGroupAssociationsOutput {
	o.FirewallRuleGroupAssociations = slices.DeleteFunc(slices.Clone(o.FirewallRuleGroupAssociations), func(a FirewallRuleGroupAssociation) bool { return vpc != nil && a.VpcId != *vpc })
	return o
}

// Fitting are the rules in force that filters admit.
func (o ListResolverRuleAssociationsOutput) Fitting(filters []Filter) ListResolverRuleAssociationsOutput {
	o.ResolverRuleAssociations = slices.DeleteFunc(slices.Clone(o.ResolverRuleAssociations), func(a ResolverRuleAssociation) bool {
		return slices.ContainsFunc(filters, func(f Filter) bool { return f.Name == "VPCId" && !slices.Contains(f.Values, a.VPCId) })
	})
	return o
}

// WrittenResolver is an output as package wire has it of plain data.
func WrittenResolver(out any, err error) (json.RawMessage, error) {
	if err != nil {
		return nil, err
	}
	return json.Marshal(out)
}
