package result

import (
	"slices"
	"strings"

	"rollcall/local/exit"
	"rollcall/shared/report"
)

// Only is what of a result is about the instance and the nodegroup, if any are asked
// for. What could not be looked at stays, but for what is about other instances alone:
// it may have been about them.
func (r Result) Only(instance, nodegroup string, seen []report.Observation) Result {
	of := map[string][]string{} // nodegroup and group of each instance
	for _, o := range seen {
		for _, l := range o.Launches {
			of[l.Instance] = []string{l.Nodegroup, l.Group}
		}
	}
	r.Incidents = slices.DeleteFunc(r.Incidents, func(i Incident) bool {
		return instance != "" && !slices.Contains(i.Instances, instance) && !slices.Contains(i.Resources, instance) ||
			nodegroup != "" && !slices.Contains(i.Nodegroups, nodegroup) && !slices.ContainsFunc(i.Resources, func(id string) bool { return named(id) == nodegroup })
	})
	r.Unknown = slices.DeleteFunc(r.Unknown, func(u Unknown) bool {
		about := strings.Fields(u.Resource)
		return len(about) > 0 && !slices.ContainsFunc(about, func(id string) bool {
			others := instance != "" && id != instance || nodegroup != "" && len(of[id]) > 0 && !slices.Contains(of[id], nodegroup)
			return !strings.HasPrefix(id, "i-") || !others
		})
	})
	r.Healthy = r.Status() == exit.Healthy
	return r
}

// named is the name in a resource's id: Karpenter's objects are told as kubectl names
// them, nodepool/general.
func named(id string) string { return id[strings.LastIndex(id, "/")+1:] }
