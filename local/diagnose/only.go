package diagnose

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/gather"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// only is what of a result is about the instance and the nodegroup, if any are asked
// for. What could not be looked at stays, but for what is about other instances alone:
// it may have been about them.
func (r Result) only(instance, nodegroup string, seen []report.Observation) Result {
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
	r.Healthy = r.status() == healthyStatus
	return r
}

// named is the name in a resource's id: Karpenter's objects are told as kubectl names
// them, nodepool/general.
func named(id string) string { return id[strings.LastIndex(id, "/")+1:] }

// known tells that a nodegroup is there by that name, or says which ones are: that
// nothing is found about one that is not there says nothing.
func (a *account) known(ctx context.Context, seen []report.Observation) error {
	if a.nodegroup == "" {
		return nil
	}
	var names []string
	for _, o := range seen {
		for _, l := range o.Launches {
			names = append(names, l.Nodegroup, l.Group)
		}
		for _, c := range o.Diagnosis.Causes {
			names = append(names, c.Nodegroups...)
		}
	}
	for _, c := range a.clusters {
		s, err := a.reader().Read(ctx, gather.Query{
			Account: a.Account, Region: a.AWS.Region, Time: a.now(), Cluster: c.Name, AllNodegroups: true,
			Sources: []snapshot.Source{snapshot.Nodegroups, snapshot.NodePoolsOf},
		})
		if err != nil {
			return fmt.Errorf("read the nodegroups of %s: %w", c.Name, err)
		}
		if !s.Has(snapshot.Nodegroups) {
			return nil // it may be there
		}
		for _, n := range s.Nodegroups {
			names = append(append(names, n.Name), n.Groups...)
		}
		for _, p := range s.NodePools {
			names = append(names, p.Name)
		}
		groups, failed := a.reader().GroupsOf(ctx, c.Name)
		if failed != nil {
			return nil
		}
		for _, g := range groups {
			names = append(names, g.Name)
		}
	}
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(n string) bool { return n == "" })
	if slices.Contains(names, a.nodegroup) {
		return nil
	}
	if len(names) == 0 {
		return misuse{fmt.Errorf("%s has no nodegroup, NodePool or group at all", a.name())}
	}
	return misuse{fmt.Errorf("%s has no nodegroup, NodePool or group %s, only %s", a.name(), a.nodegroup, some(names))}
}
