package check

import (
	"cmp"
	"fmt"
	"slices"

	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/snapshot"
)

// Eval runs every check on a snapshot. A check whose needs were not all read
// is not run: it is Unknown over the whole scope (Covers is empty), with what
// kept it from looking. So is one that panics. The results are in the order
// of the list, then by resource; their ids are sorted.
func Eval(list []Check, s *snapshot.Snapshot) []finding.Result {
	v := facts.NewView(s)
	var results []finding.Result
	for _, c := range list {
		findings := Run(c, v)
		for i := range findings {
			tidy(&findings[i])
		}
		slices.SortStableFunc(findings, func(a, b finding.Finding) int {
			return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Outcome, b.Outcome), slices.Compare(a.Covers, b.Covers))
		})
		for _, f := range findings {
			results = append(results, finding.Result{Check: c.ID, Finding: f})
		}
	}
	return results
}

func Run(c Check, s *facts.View) (findings []finding.Finding) {
	var blocked []snapshot.Failure
	for _, source := range c.Needs {
		if !s.Has(source) {
			blocked = append(blocked, s.Why(source))
		}
	}
	if len(blocked) > 0 {
		return []finding.Finding{unknown(s, blocked)}
	}
	defer func() {
		// One broken check must not take the others' findings with it.
		if fault := recover(); fault != nil {
			findings = []finding.Finding{unknown(s, []snapshot.Failure{{
				Source: snapshot.Source("check " + string(c.ID)), Reason: snapshot.Broken, Message: fmt.Sprintf("the check itself broke: %v", fault),
			}})}
		}
	}()
	return c.Run(s)
}

func unknown(s *facts.View, blocked []snapshot.Failure) finding.Finding {
	return finding.Finding{Outcome: finding.Unknown, Resource: s.Cluster.Name, Blocked: blocked}
}

func tidy(f *finding.Finding) {
	for _, ids := range []*[]string{&f.Covers, &f.Instances} {
		*ids = slices.Clone(*ids) // it may be a fact's own
		slices.Sort(*ids)
		*ids = slices.Compact(*ids)
	}
}
