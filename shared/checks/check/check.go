// Package check is what checks are written with: what a check is, the view of a
// snapshot with what several checks derive from it, the words, commands and links of
// findings. It runs checks, and has none.
package check

import (
	"cmp"
	"slices"

	"rollcall/shared/catalog"
	"rollcall/shared/checkid"
	"rollcall/shared/snapshot"
)

// Check is one check.
type Check struct {
	catalog.Entry
	// Needs is what must have been read: anything less makes the result Unknown.
	Needs []snapshot.Source
	// Uses are read too, where they can be: they decide only for some
	// resources, and where one is missing the finding on those says so.
	Uses []snapshot.Source
	// InSweep is the part of the check that the sweep of a cluster judges where no instance
	// is in trouble; nil for the whole check. What it needs is read in every sweep.
	InSweep *Part
	// Run judges everything in the snapshot's scope. It is called only when
	// all of Needs was read.
	Run func(*View) []Finding
}

// Part is a part of a check: its sources, and what judges by them.
type Part struct {
	Needs, Uses []snapshot.Source
	Run         func(*View) []Finding
}

// Sweeping is the check as a sweep judges it where no instance is in trouble.
func (c Check) Sweeping() Check {
	if p := c.InSweep; p != nil {
		c.Needs, c.Uses, c.Run = p.Needs, p.Uses, p.Run
	}
	return c
}

// Eval runs every check on a snapshot. A check whose needs were not all read
// is not run: it is Unknown over the whole scope (Covers is empty), with what
// kept it from looking. So is one that panics. The results are in the order
// of the list, then by resource; their ids are sorted.
func Eval(list []Check, s *snapshot.Snapshot) []Result {
	v := NewView(s)
	var results []Result
	for _, c := range list {
		findings := Run(c, v)
		for i := range findings {
			tidy(&findings[i])
		}
		slices.SortStableFunc(findings, func(a, b Finding) int {
			return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Outcome, b.Outcome), slices.Compare(a.Covers, b.Covers))
		})
		for _, f := range findings {
			results = append(results, Result{Check: c.ID, Finding: f})
		}
	}
	return results
}

func Run(c Check, s *View) (findings []Finding) {
	var blocked []snapshot.Failure
	for _, source := range c.Needs {
		if !s.Has(source) {
			blocked = append(blocked, s.Why(source))
		}
	}
	if len(blocked) > 0 {
		return []Finding{unknown(s, blocked)}
	}
	defer func() {
		// One broken check must not take the others' findings with it.
		if fault := recover(); fault != nil {
			findings = []Finding{unknown(s, []snapshot.Failure{Broken(snapshot.Source("check "+string(c.ID)), "the check itself broke: %v", fault)})}
		}
	}()
	return c.Run(s)
}

func unknown(s *View, blocked []snapshot.Failure) Finding {
	return Unread(s.Cluster.Name, nil, blocked...)
}

func tidy(f *Finding) {
	for _, ids := range []*[]string{&f.Covers, &f.Instances} {
		*ids = slices.Clone(*ids) // it may be a fact's own
		slices.Sort(*ids)
		*ids = slices.Compact(*ids)
	}
}

// New is the check of an id: what must have been read for it, and what judges then.
func New(id checkid.ID, run func(*View) []Finding, needs ...snapshot.Source) Check {
	return Check{Entry: catalog.Meaning(id), Needs: needs, Run: run}
}

// WithPathSources is a check that follows the ways of packets. Which of the hops'
// sources decides is seen only on the way: each is used where a row leads to
// it, and where it is missing the finding names the hop.
func (c Check) WithPathSources() Check {
	return c.Using(
		snapshot.VPCs, snapshot.NATGateways, snapshot.InternetGateways, snapshot.EgressOnly, snapshot.PrefixListEntries,
		snapshot.Peerings, snapshot.TransitGateways, snapshot.Interfaces, snapshot.DHCP, snapshot.VPCDNS,
		snapshot.DNSProfilesOf, snapshot.ResolverRulesOf, snapshot.PrivateZonesOf, snapshot.AWSNode,
	)
}

// Using is a check that uses the sources, beside what it needs.
func (c Check) Using(sources ...snapshot.Source) Check {
	for _, source := range sources {
		if !slices.Contains(c.Needs, source) && !slices.Contains(c.Uses, source) {
			c.Uses = append(c.Uses, source)
		}
	}
	return c
}
