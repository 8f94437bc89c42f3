package incident

import (
	"maps"
	"slices"

	"rollcall/shared/routing"
)

// Route is who is to hear of an incident as it is now. Where its message is
// posted already, it stays: Said.Channel.
func Route(inc Incident, policy Policy) (channel string, mentions []string) {
	return routing.Of(routing.Subject{Spoke: inc.Key.Spoke, Cluster: inc.Key.Cluster, Severity: string(inc.Severity()), Tags: inc.Tags}, policy.Routes, policy.Channel)
}

// maxTagged is how many nodegroups' tags an incident keeps: a cause of the whole
// cluster may have 450 nodegroups (EKS quota), and each tag 384 characters.
const maxTagged = 100

// AddTags takes in the tags of nodegroups, as far as routes ask for them.
func (inc *Incident) AddTags(seen map[string]map[string]string, keys []string) {
	known := maps.Clone(inc.Tags)
	for _, nodegroup := range slices.Sorted(maps.Keys(seen)) {
		tags := seen[nodegroup]
		kept := map[string]string{}
		for _, key := range keys {
			if value, has := tags[key]; has {
				kept[key] = value
			}
		}
		if _, was := known[nodegroup]; !was && (len(kept) == 0 || len(known) >= maxTagged) {
			continue
		}
		if !inc.names(nodegroup) {
			continue
		}
		if known == nil {
			known = map[string]map[string]string{}
		}
		known[nodegroup] = kept
	}
	inc.Tags = known
}

// names tells that a nodegroup, or an Auto Scaling group without one, is among
// those that the incident is about.
func (inc *Incident) names(group string) bool {
	for _, name := range inc.Cause.Nodegroups {
		if name == group {
			return true
		}
	}
	for _, l := range inc.Launches {
		if l.Nodegroup == group || l.Nodegroup == "" && l.Group == group {
			return true
		}
	}
	return false
}
