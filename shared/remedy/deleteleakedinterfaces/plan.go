package deleteleakedinterfaces

import (
	"cmp"
	"slices"

	"rollcall/shared/network/leak"
	"rollcall/shared/remedy/action"
	"rollcall/shared/snapshot"
)

// NotSeenTwice is that no interface was seen left behind by an earlier run.
const NotSeenTwice action.Reason = "not-seen-twice"

// MostInterfaces is how many interfaces one plan names: an approval must be
// small enough to be kept with its incident. The next plan has the others.
const MostInterfaces = 200

// look is one look at the world, for this remedy.
type look struct{ action.Look }

// plan plans to give back what dead nodes left behind in a subnet. It is
// strict where eni-cleanup may be told to be less so: only what names this
// cluster. eni-cleanup asks all of its rules again.
func (l look) plan() (*Plan, *action.Refusal) {
	ground := leak.Ground{
		Now: l.Snapshot.Time, Account: l.Snapshot.Account, VPC: l.Snapshot.Cluster.VPC, Clusters: []string{l.Subject.Cluster},
		Grace: l.Snapshot.Cleanup.Grace, Tenants: l.Snapshot.Tenants, Creators: map[string]snapshot.Creator{},
	}
	for _, c := range l.Snapshot.Creators {
		ground.Creators[c.Instance] = c
	}
	var dead []leak.Verdict
	unseen, here := 0, 0
	for _, i := range l.Snapshot.Idle {
		if i.Subnet != l.Subject.Resource {
			continue
		}
		here++
		v := leak.Judge(i, ground)
		if v.Why != leak.Leaked || v.Cluster != l.Subject.Cluster {
			continue
		}
		s := l.Subject.Sightings[i.ID]
		// A sighting that was never written down, or is none, has no version.
		if s.Version == 0 || s.Print == "" || s.Print != leak.Print(i) || l.Snapshot.Time.Sub(s.First) < leak.Apart {
			unseen++
			continue
		}
		dead = append(dead, v)
	}
	switch {
	case len(dead) == 0 && unseen > 0:
		return nil, action.Refuse(NotSeenTwice, "%d interfaces look left behind in %s, and no earlier run of eni-cleanup has seen them so.", unseen, l.Subject.Resource)
	case len(dead) == 0:
		return nil, action.Refuse(action.NothingToDo, "None of %d idle interfaces in %s is left behind by a node of %s that is gone.", here, l.Subject.Resource, l.Subject.Cluster)
	}
	slices.SortFunc(dead, func(a, b leak.Verdict) int {
		// Those of one node bear the same time.
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Interface.ID, b.Interface.ID))
	})
	c := &Plan{VPC: l.Snapshot.Cluster.VPC, Subnet: l.Subject.Resource}
	for _, v := range dead[:min(len(dead), MostInterfaces)] {
		c.Interfaces = append(c.Interfaces, v.Interface.ID)
		c.Addresses += leak.Draft(v, leak.Sighting{}, "", l.Snapshot.Time).Addresses()
	}
	slices.Sort(c.Interfaces)
	return c, nil
}
