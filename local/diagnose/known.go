package diagnose

import (
	"context"
	"fmt"
	"slices"

	"rollcall/local/exit"
	"rollcall/local/result"
	"rollcall/shared/gather"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// known tells that a nodegroup is there by that name, or says which ones are: that
// nothing is found about one that is not there says nothing.
func (a *Account) known(ctx context.Context, seen []report.Observation) error {
	if a.of.Nodegroup == "" {
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
	if slices.Contains(names, a.of.Nodegroup) {
		return nil
	}
	if len(names) == 0 {
		return exit.Misuse("%s has no nodegroup, NodePool or group at all", a.Name())
	}
	return exit.Misuse("%s has no nodegroup, NodePool or group %s, only %s", a.Name(), a.of.Nodegroup, result.Some(names))
}
