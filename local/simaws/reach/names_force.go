package reach

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"rollcall/local/simaws/route53profiles"
	"rollcall/local/simaws/state"
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
	list := slices.DeleteFunc(slices.Clone(w.File.Route53Profiles.ProfileAssociations), func(a route53profiles.ProfileAssociation) bool {
		return a.ResourceId != vpc || !inForce(a.Status)
	})
	slices.SortStableFunc(list, func(a, b route53profiles.ProfileAssociation) int { return cmp.Compare(a.Priority, b.Priority) })
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
