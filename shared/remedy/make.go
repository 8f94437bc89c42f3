package remedy

import (
	"slices"

	"rollcall/shared/checks"
	"rollcall/shared/remedy/action"
	"rollcall/shared/snapshot"
)

// Make plans the remedy for an incident from a fresh look, or says why not. All
// that a plan rests on must have been read in full; and the check that found
// the cause is asked again: what it does not find, with certainty, is not
// remedied. One for a cause that is gone alone asks whether it is.
func (r Remedy) Make(s *snapshot.Snapshot, of action.Subject) (Plan, *action.Refusal) {
	l := action.Look{Snapshot: s, Subject: of, Checks: checks.All()}
	p := Plan{
		Format: Format, Remedy: r.Name, Partition: s.Partition, Account: s.Account, Region: s.Region,
		Cluster: of.Cluster, Check: of.Check, Resource: of.Resource,
	}
	if no := r.plan(&p, l); no != nil {
		return Plan{}, no
	}
	return p, nil
}

// Left is how many things more a plan would hold, if one could hold any number.
func (r Remedy) Left(s *snapshot.Snapshot, of action.Subject) int {
	if r.left == nil {
		return 0
	}
	return r.left(action.Look{Snapshot: s, Subject: of, Checks: checks.All()})
}

// Sources are what a plan needs to be read: its own, and those of the check.
func (r Remedy) Sources(check checks.ID) []snapshot.Source {
	list := slices.Concat(r.sources, r.uses)
	for _, c := range checks.All() {
		if c.ID == check {
			list = slices.Concat(list, c.Needs, c.Uses)
		}
	}
	list = slices.DeleteFunc(slices.Clone(list), func(x snapshot.Source) bool { return x == snapshot.LaunchHistory })
	slices.Sort(list)
	return slices.Compact(list)
}
