package route53

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

	"rollcall/shared/awsjson"
)

// resolverService is Route 53 Resolver: which rules and which DNS firewall are in force in a VPC.
// Members and bounds are those of botocore's model (route53resolver/2018-04-01). A page of 5,000
// domains of 255 bytes is under 2 MB.
func resolverService() awsjson.Service {
	return awsjson.Service{ID: "Route53Resolver", Name: "route53resolver", Target: "Route53Resolver.", MostBytes: 4 << 20}
}

// The largest pages.
const (
	mostOfPage    = 100
	mostOfDomains = 5000
)

// Resolver calls Route 53 Resolver.
type Resolver struct{ calls *awsjson.Client }

// NewResolver makes a client of what all AWS clients are made of.
func NewResolver(cfg aws.Config) *Resolver {
	return &Resolver{calls: awsjson.New(cfg, resolverService())}
}

// FirewallAssociation puts a rule group of DNS Firewall into force in a VPC.
type FirewallAssociation struct {
	Group    string `json:"FirewallRuleGroupId"`
	VPC      string `json:"VpcId"`
	Name     string
	Priority int
	Status   string // COMPLETE, UPDATING, DELETING
}

// FirewallRule is a rule of a rule group.
type FirewallRule struct {
	List          string `json:"FirewallDomainListId"` // empty for a rule of another kind
	Name          string
	Priority      int
	Action        string // ALLOW, BLOCK, ALERT
	BlockResponse string // NODATA, NXDOMAIN, OVERRIDE
	Qtype         string // empty for all types
}

// ResolverRule says who answers for a domain.
type ResolverRule struct {
	ID       string `json:"Id"`
	Name     string
	Domain   string `json:"DomainName"`
	Type     string `json:"RuleType"` // FORWARD, SYSTEM, RECURSIVE, DELEGATE
	Status   string
	Endpoint string `json:"ResolverEndpointId"`
	Targets  []struct {
		IP   string `json:"Ip"`
		IPv6 string `json:"Ipv6"`
	} `json:"TargetIps"`
}

// ResolverRuleAssociation puts a rule into force in a VPC.
type ResolverRuleAssociation struct {
	Rule   string `json:"ResolverRuleId"`
	VPC    string `json:"VPCId"`
	Status string // CREATING, COMPLETE, DELETING, FAILED, OVERRIDDEN
}

// resolverAsk is the parameters of a call; a member that a call does not have stays empty.
type resolverAsk struct {
	VPC     string   `json:"VpcId,omitempty"`
	Group   string   `json:"FirewallRuleGroupId,omitempty"`
	List    string   `json:"FirewallDomainListId,omitempty"`
	Filters []filter `json:"Filters,omitempty"`
	Most    int      `json:"MaxResults"`
	Next    string   `json:"NextToken,omitempty"`
}

type filter struct {
	Name   string
	Values []string
}

// FirewallAssociations gives a page of the rule groups in force in a VPC, and the token
// of the next page. It fails with *smithy.OperationError, as all calls do here.
func (c *Resolver) FirewallAssociations(ctx context.Context, vpc, token string) (list []FirewallAssociation, next string, err error) {
	var out struct {
		List []FirewallAssociation `json:"FirewallRuleGroupAssociations"`
		Next string                `json:"NextToken"`
	}
	err = c.calls.Call(ctx, "ListFirewallRuleGroupAssociations", "", resolverAsk{VPC: vpc, Most: mostOfPage, Next: token}, &out)
	return out.List, out.Next, err
}

// FirewallRules gives a page of the rules of a rule group likewise.
func (c *Resolver) FirewallRules(ctx context.Context, group, token string) (list []FirewallRule, next string, err error) {
	var out struct {
		List []FirewallRule `json:"FirewallRules"`
		Next string         `json:"NextToken"`
	}
	err = c.calls.Call(ctx, "ListFirewallRules", "", resolverAsk{Group: group, Most: mostOfPage, Next: token}, &out)
	return out.List, out.Next, err
}

// FirewallDomains gives a page of the domains of a list likewise.
func (c *Resolver) FirewallDomains(ctx context.Context, domains, token string) (list []string, next string, err error) {
	var out struct {
		List []string `json:"Domains"`
		Next string   `json:"NextToken"`
	}
	err = c.calls.Call(ctx, "ListFirewallDomains", "", resolverAsk{List: domains, Most: mostOfDomains, Next: token}, &out)
	return out.List, out.Next, err
}

// Rules gives a page of the account's rules, and of those that are shared with it.
func (c *Resolver) Rules(ctx context.Context, token string) (list []ResolverRule, next string, err error) {
	var out struct {
		List []ResolverRule `json:"ResolverRules"`
		Next string         `json:"NextToken"`
	}
	err = c.calls.Call(ctx, "ListResolverRules", "", resolverAsk{Most: mostOfPage, Next: token}, &out)
	return out.List, out.Next, err
}

// RuleAssociations gives a page of the rules in force in a VPC likewise.
func (c *Resolver) RuleAssociations(ctx context.Context, vpc, token string) (list []ResolverRuleAssociation, next string, err error) {
	var out struct {
		List []ResolverRuleAssociation `json:"ResolverRuleAssociations"`
		Next string                    `json:"NextToken"`
	}
	err = c.calls.Call(ctx, "ListResolverRuleAssociations", "", resolverAsk{Filters: []filter{{"VPCId", []string{vpc}}}, Most: mostOfPage, Next: token}, &out)
	return out.List, out.Next, err
}
