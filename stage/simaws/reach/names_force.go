package reach

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/stage/simaws/route53"
	"rollcall/stage/simaws/state"
)

// group is a rule group of DNS Firewall in force in a VPC.
type group struct {
	id       string
	priority int
}

// profilesOf are the Profiles of a VPC in the order in which the resolver evaluates them: "a
// lower value means a higher priority" (Route 53 developer guide, "Updating the priority of
// a Route 53 Profile association with a VPC").
func profilesOf(w *state.State, vpc string) []string {
	list := slices.DeleteFunc(slices.Clone(w.File.Route53Profiles.ProfileAssociations), func(a route53.ProfileAssociation) bool {
		return a.ResourceId != vpc || !inForce(a.Status)
	})
	slices.SortStableFunc(list, func(a, b route53.ProfileAssociation) int { return cmp.Compare(a.Priority, b.Priority) })
	var ids []string
	for _, a := range list {
		ids = append(ids, a.ProfileId)
	}
	return ids
}

// inForce reports whether an association is in effect; while its priority changes it is.
func inForce(status string) bool { return status == "COMPLETE" || status == "UPDATING" }

// resourcesOf are the resources of a kind that Profiles bring into a VPC, in the order of
// the Profiles. The kind is how the ARN's resource part begins: "firewall-rule-group/".
func resourcesOf(w *state.State, vpc, kind string) (ids []string, priorities []int) {
	for _, profile := range profilesOf(w, vpc) {
		for _, r := range w.File.Route53Profiles.ProfileResourceAssociations[profile] {
			_, id, is := strings.Cut(r.ResourceArn, ":"+kind)
			if !is || !inForce(r.Status) {
				continue
			}
			var of struct{ Priority int }
			_ = json.Unmarshal([]byte(r.ResourceProperties), &of) // only a rule group has properties
			ids, priorities = append(ids, id), append(priorities, of.Priority)
		}
	}
	return ids, priorities
}

// groupsOf are the rule groups in force in a VPC, those of its Profiles among them: "The
// rule groups are evaluated starting with the lowest numeric priority setting and going up"
// (Route 53 developer guide, "Associate DNS Firewall rule groups to a Route 53 Profile").
// Of one priority the VPC's own is before a Profile's: "the local DNS settings take
// precedence" ("How Route 53 Profile settings are prioritized").
func groupsOf(w *state.State, vpc string) []group {
	var list []group
	for _, a := range w.File.Route53Resolver.FirewallRuleGroupAssociations {
		if a.VpcId == vpc {
			list = append(list, group{a.FirewallRuleGroupId, a.Priority})
		}
	}
	ids, priorities := resourcesOf(w, vpc, "firewall-rule-group/")
	for i, id := range ids {
		list = append(list, group{id, priorities[i]})
	}
	slices.SortStableFunc(list, func(a, b group) int { return cmp.Compare(a.priority, b.priority) })
	return list
}

// rulesOf are the ids of the resolver rules in force in a VPC, its own before those of its
// Profiles: of the same domain "the local DNS settings take precedence", and "the most
// specific one wins" of others (Route 53 developer guide, "How Route 53 Profile settings
// are prioritized").
func rulesOf(w *state.State, vpc string) []string {
	var ids []string
	for _, a := range w.File.Route53Resolver.ResolverRuleAssociations {
		if a.VPCId == vpc {
			ids = append(ids, a.ResolverRuleId)
		}
	}
	brought, _ := resourcesOf(w, vpc, "resolver-rule/")
	return append(ids, brought...)
}

// unresolved says whether the VPC's resolver gives no address for a service's name: a DNS firewall
// blocks it, a rule forwards it to name servers of one's own, which know nothing of AWS here, or a
// private hosted zone has no record for it. Private is a name that a zone of the VPC answers for.
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
		slices.SortFunc(rules, func(a, b route53.FirewallRule) int { return a.Priority - b.Priority })
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

// zone is a private hosted zone in view of a VPC.
type zone struct {
	id, domain string
	service    bool // of AWS's own, which answers for its names
}

// zonesOf are the private hosted zones in view of a VPC, its own before those of its Profiles:
// of the same domain "the local DNS settings take precedence" (Route 53 developer guide, "How
// Route 53 Profile settings are prioritized").
func zonesOf(w *state.State, vpc string) []zone {
	var list []zone
	for _, z := range w.File.Route53.HostedZones[vpc] {
		list = append(list, zone{z.HostedZoneId, bare(z.Name), z.Owner.OwningService != ""})
	}
	ids, _ := resourcesOf(w, vpc, "hostedzone/")
	for _, id := range ids {
		for _, r := range w.File.Route53.ResourceRecordSets[id] {
			if r.Type == "SOA" {
				list = append(list, zone{id, bare(r.Name), false})
			}
		}
	}
	return list
}

// zoneFor is the zone that the resolver searches for a name: "the most specific match".
func zoneFor(w *state.State, vpc, name string) (z zone, found bool) {
	for _, c := range zonesOf(w, vpc) {
		if (name == c.domain || strings.HasSuffix(name, "."+c.domain)) && (!found || len(c.domain) > len(z.domain)) {
			z, found = c, true
		}
	}
	return z, found
}

// absent: "If there's a matching private hosted zone but there's no record that matches the
// domain name and type in the request, Resolver doesn't forward the request to a public DNS
// resolver. Instead, it returns NXDOMAIN" (Route 53 developer guide, "Considerations when
// working with a private hosted zone"). Of a zone and a rule that forwards the same domain the
// rule wins, and else the more specific one.
func absent(w *state.State, vpc, name string) bool {
	z, found := zoneFor(w, vpc, name)
	kind, longest := ruleFor(w, vpc, name)
	if !found || z.service || kind == "FORWARD" && longest >= len(z.domain) {
		return false
	}
	return !slices.ContainsFunc(w.File.Route53.ResourceRecordSets[z.id], func(r route53.ResourceRecordSet) bool {
		tail, wild := strings.CutPrefix(bare(r.Name), "*.")
		return (r.Type == "A" || r.Type == "CNAME") && (bare(r.Name) == name || wild && strings.HasSuffix(name, "."+tail))
	})
}

// bare is a name in lower case without the dot at its end. Route 53 writes "*" as \052.
func bare(name string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimSuffix(name, ".")), `\052`, "*")
}
