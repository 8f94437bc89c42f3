package take

import (
	"context"
	"strings"

	"rollcall/shared/awsjson"
	"rollcall/shared/capture/filename"
)

// resolverAsk asks for a page of what Route 53 Resolver has.
type resolverAsk struct {
	Group string `json:"FirewallRuleGroupId,omitempty"`
	List  string `json:"FirewallDomainListId,omitempty"`
	Next  string `json:"NextToken,omitempty"`
}

// domainPages bounds a domain list: the largest page is 5,000, and what is asked for
// without a size is 100.
const domainPages = 100

// resolver takes which rules and which DNS firewall are in force in the account's VPCs, those of
// Route 53 Profiles among them.
func (t *taker) resolver(ctx context.Context) {
	service := awsjson.Service{ID: "Route53Resolver", Name: "route53resolver", Target: "Route53Resolver.", MostBytes: maxBytes}
	take := func(file, operation string, ask resolverAsk, most int) map[string]any {
		return t.take(ctx, file, func(ctx context.Context) (map[string]any, error) {
			tree, more, err := t.json(ctx, service, operation, func(next string) any { ask.Next = next; return ask }, most)
			if more {
				t.leave(file, "domains beyond the first %d pages", most)
			}
			return tree, err
		})
	}
	var groups map[string]any
	var resources []string // of Profiles
	t.parallel(
		func() { resources = t.profiles(ctx) },
		func() {
			groups = take("route53resolver-list-firewall-rule-group-associations", "ListFirewallRuleGroupAssociations", resolverAsk{}, 0)
		},
		func() {
			take("route53resolver-list-resolver-rules", "ListResolverRules", resolverAsk{}, 0)
		},
		func() {
			take("route53resolver-list-resolver-rule-associations", "ListResolverRuleAssociations", resolverAsk{}, 0)
		},
	)
	ids := picksOf(groups, "FirewallRuleGroupAssociations[].FirewallRuleGroupId")
	for _, arn := range resources {
		if _, id, is := strings.Cut(arn, ":firewall-rule-group/"); is {
			ids = append(ids, id)
		}
	}
	ids = sorted(ids)
	t.records(ctx, zonesOf(resources))
	lists := make([][]string, len(ids))
	list(t, ids, func(i int, id string) {
		rules := take(filename.Of("route53resolver-list-firewall-rules", id), "ListFirewallRules", resolverAsk{Group: id}, 0)
		lists[i] = picksOf(rules, "FirewallRules[].FirewallDomainListId")
	})
	var all []string
	for _, of := range lists {
		all = append(all, of...)
	}
	list(t, sorted(all), func(_ int, id string) {
		take(filename.Of("route53resolver-list-firewall-domains", id), "ListFirewallDomains", resolverAsk{List: id}, domainPages)
	})
}

// maxProfileZones bounds the zones of Profiles: what domain each is for is not in their list.
const maxProfileZones = 10

// zonesOf are the first private hosted zones among the resources of Profiles.
func zonesOf(arns []string) []string {
	var ids []string
	for _, arn := range arns {
		if _, id, is := strings.Cut(arn, ":hostedzone/"); is && len(ids) < maxProfileZones {
			ids = append(ids, id)
		}
	}
	return sorted(ids)
}
