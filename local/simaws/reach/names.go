package reach

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/resolver"
	"rollcall/local/simaws/state"
)

// unresolved says whether the VPC's resolver gives no address for a service's name: a
// DNS firewall blocks it, a rule forwards it to name servers of one's own, which know
// nothing of AWS here, or a private hosted zone has no record for it. Private is a name that a zone of the VPC answers for.
func unresolved(w *state.State, in *ec2types.Instance, service string, private bool) bool {
	name := hostOf(w, in, service)
	vpc := aws.ToString(in.VpcId)
	return name != "" && (firewalled(w, vpc, name) || forwarded(w, vpc, name, private) || !private && absent(w, vpc, name))
}

// hostOf is the name that a node asks for.
func hostOf(w *state.State, in *ec2types.Instance, service string) string {
	switch service {
	case "api":
		c := w.Clusters.Get(w.ClusterOf(aws.ToString(in.InstanceId)))
		if c == nil {
			return ""
		}
		return strings.ToLower(strings.TrimPrefix(aws.ToString(c.Endpoint), "https://"))
	case "ecr.api":
		service = "api.ecr"
	case "ecr.dkr":
		service = "602401143452.dkr.ecr"
	case "s3":
		service = "prod-" + w.Region + "-starport-layer-bucket.s3"
	}
	return service + "." + w.Region + ".amazonaws.com"
}

// firewalled: the first rule that is about the name decides (Route 53 developer guide,
// "How Route 53 Resolver DNS Firewall works").
func firewalled(w *state.State, vpc, name string) bool {
	f := &w.File.Route53Resolver
	for _, g := range groupsOf(w, vpc) {
		rules := slices.Clone(f.FirewallRules[g.id])
		slices.SortFunc(rules, func(a, b resolver.FirewallRule) int { return a.Priority - b.Priority })
		for _, r := range rules {
			about := slices.ContainsFunc(f.FirewallDomains[r.FirewallDomainListId], func(d string) bool {
				d = strings.TrimSuffix(d, ".")
				tail, wild := strings.CutPrefix(d, "*")
				return d == name || wild && strings.HasSuffix(name, tail)
			})
			if about {
				return r.Action == "BLOCK"
			}
		}
	}
	return false
}

// forwarded: the most specific rule wins, and before it a zone that is more specific.
func forwarded(w *state.State, vpc, name string, private bool) bool {
	kind, longest := ruleFor(w, vpc, name)
	if z, found := zoneFor(w, vpc, name); found && len(z.domain) > longest {
		return false
	}
	return kind == "FORWARD" && (!private || longest == len(name))
}

// ruleFor is the kind of the rule that wins for a name, and the length of its domain; -1
// where there is none.
func ruleFor(w *state.State, vpc, name string) (kind string, longest int) {
	longest = -1
	for _, id := range rulesOf(w, vpc) {
		for _, r := range w.File.Route53Resolver.ResolverRules {
			d := strings.TrimSuffix(r.DomainName, ".")
			if id == r.Id && len(d) > longest && (d == "" || d == name || strings.HasSuffix(name, "."+d)) {
				kind, longest = r.RuleType, len(d)
			}
		}
	}
	return kind, longest
}
