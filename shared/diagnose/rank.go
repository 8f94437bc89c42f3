package diagnose

import (
	"cmp"
	"slices"

	"rollcall/shared/checks"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts/zones"
	"rollcall/shared/snapshot"
)

// Rank turns the results of checks into causes.
//
//   - A failed check whose After names another failed check, for the same
//     instances or subnets, is hidden behind that one.
//   - A failed check whose Adds names another failed check of the same
//     resource, or of one that it names, contributes to that one.
//   - A likely or possible finding none of whose instances has failed yet is
//     advice, unless its check sees ahead; one whose instances are all
//     explained by certain causes only contributes to them. One whose check is
//     circumstantial contributes to likely causes as well, as their evidence.
//   - A symptom belongs to every cause that has its instance, or, where it
//     names none, a resource of it. Symptoms that no cause explains become
//     causes themselves, one for each nodegroup.
//
// The causes are ordered by confidence, then by how many instances and
// subnets they have, then by the catalogue's order. Rank is pure: the same
// input gives the same bytes.
func Rank(list []checks.Check, results []checks.Result, s *snapshot.Snapshot) Diagnosis {
	r := newRanking(list, s)
	var d Diagnosis
	for _, res := range results {
		switch res.Outcome {
		case checks.Pass:
			d.Passed = append(d.Passed, Passed{Check: res.Check, Covers: res.Covers, Evidence: bounded(first(res.Evidence))})
		case checks.Unknown:
			if r.checks[res.Check].Optional {
				r.unlooked = addUnknown(r.unlooked, res)
				continue
			}
			d.Unknown = addUnknown(d.Unknown, res)
		case checks.Fail:
			r.add(res)
		}
	}
	r.weigh()
	r.hide()
	r.merge()
	r.contribute()
	r.attach()
	r.unite()
	d.Causes = r.causes()
	return d
}

// ranking is Rank at work.
type ranking struct {
	checks map[checks.ID]checks.Check
	order  map[checks.ID]int
	owners map[string]string // instance to nodegroup
	ended  map[string]bool
	s      *snapshot.Snapshot

	// unlooked are the Unknowns of optional checks.
	unlooked []Unknown
	// faults are what failed and is no symptom; symptoms is the rest.
	faults   []*fault
	symptoms []*fault
	// spare are the symptoms that no cause explains.
	spare []*fault
}

// fault is a failed finding and its place among the others.
type fault struct {
	checks.Result
	confidence checks.Confidence
	has        map[string]bool // its instances and what it covers
	// behind are the faults that explain it away or that it contributes to;
	// such a fault is no cause of its own.
	behind []*fault

	// early tells that it is not certain, and that all its instances still
	// have time to join.
	early bool

	contributing []checks.ID
	signs        []checks.ID
	hidden       []Hidden
}

func newRanking(list []checks.Check, s *snapshot.Snapshot) *ranking {
	r := &ranking{
		checks: map[checks.ID]checks.Check{}, order: map[checks.ID]int{},
		owners: make(map[string]string, len(s.Instances)), ended: map[string]bool{}, s: s,
	}
	for i, c := range list {
		r.checks[c.ID] = c
		r.order[c.ID] = i
	}
	for _, i := range s.Instances {
		r.owners[i.ID] = i.Owner()
		if i.Ended() {
			r.ended[i.ID] = true
		}
	}
	return r
}

func (r *ranking) add(res checks.Result) {
	f := &fault{Result: res, confidence: cmp.Or(res.Confidence, r.checks[res.Check].Confidence)}
	if f.confidence == checks.Symptom {
		r.symptoms = append(r.symptoms, f)
		return
	}
	f.has = make(map[string]bool, len(res.Instances)+len(res.Covers))
	for _, id := range res.Instances {
		f.has[id] = true
	}
	for _, id := range res.Covers {
		f.has[id] = true
	}
	r.faults = append(r.faults, f)
}

// weigh makes advice of likely and possible findings that explain nothing:
// where every node is Ready, they accuse nobody. What sees ahead explains
// nothing yet, and stays. Of an instance that still has time to join only what
// is certain is told.
func (r *ranking) weigh() {
	waiting := make(map[string]bool, len(r.s.Launches))
	for _, l := range r.s.Launches {
		if r.s.Time.Before(l.Due) {
			waiting[l.Instance] = true
		}
	}
	failed := make(map[string]bool, len(r.symptoms))
	for _, f := range r.symptoms {
		for _, id := range f.Instances {
			failed[id] = true
		}
	}
	for _, f := range r.faults {
		if f.confidence != checks.Likely && f.confidence != checks.Possible || r.checks[f.Check].Predictive || f.Unconditional && len(f.Instances) == 0 {
			continue
		}
		if !slices.ContainsFunc(f.Instances, func(id string) bool { return failed[id] || r.ended[id] }) {
			f.confidence = checks.Advice
			f.early = len(f.Instances) > 0 && !slices.ContainsFunc(f.Instances, func(id string) bool { return !waiting[id] })
		}
	}
	r.faults = slices.DeleteFunc(r.faults, func(f *fault) bool { return f.early })
	// Whether it failed is not known where the nodes were asked for and not read: the
	// instance may be a node in spite of what is found.
	if _, unread := r.s.Failures[snapshot.Nodes]; !unread {
		return
	}
	for _, f := range r.faults {
		if f.confidence == checks.Certain && len(f.Instances) > 0 && r.checks[f.Check].Breaks == check.Joining {
			f.confidence = checks.Likely
		}
	}
}

// hide puts faults behind those that explain them away.
func (r *ranking) hide() {
	for _, f := range r.faults {
		var by []*fault
		for _, other := range r.faults {
			if other != f && strong(other, f) &&
				r.checks[other.Check].Among(r.checks[f.Check].After) && (f.Behind == nil || r.checks[other.Check].Among(f.Behind)) && !slices.Contains(other.behind, f) {
				by = append(by, other)
			}
		}
		if by = explainers(f, by); len(by) == 0 {
			continue
		}
		f.behind = by
		for _, other := range by {
			h := Hidden{Check: f.Check, Because: other.Check}
			if !slices.Contains(other.hidden, h) {
				other.hidden = append(other.hidden, h)
			}
			// The pods that wait for what is hidden wait for the cause.
			if len(f.Pods) > 0 {
				other.Pods = slices.Compact(slices.Sorted(slices.Values(slices.Concat(other.Pods, f.Pods))))
				other.Pods = other.Pods[:min(len(other.Pods), zones.MostPods)]
			}
		}
	}
}

// strong tells that a fault may hide another one: a likely cause can be what a
// certain sign of it points to (a line of the console), a mere possibility
// cannot.
func strong(other, than *fault) bool {
	return rank(other.confidence) <= max(rank(checks.Likely), rank(than.confidence)) && other.confidence != checks.Advice
}

// merge puts faults behind those of the same resource that they add facts to.
// What the fault keeps from working, the cause does.
func (r *ranking) merge() {
	for _, f := range r.faults {
		if len(f.behind) > 0 {
			continue
		}
		for _, other := range r.faults {
			if other == f || len(other.behind) > 0 || !slices.Contains(r.checks[f.Check].Adds, other.Check) ||
				other.Resource != f.Resource && !slices.Contains(other.Resources, f.Resource) && !slices.Contains(f.Resources, other.Resource) {
				continue
			}
			f.behind = append(f.behind, other)
			other.contributing = with(other.contributing, f.Check)
			other.Evidence = append(slices.Clone(other.Evidence), f.Evidence...)
			other.Instances = slices.Compact(slices.Sorted(slices.Values(slices.Concat(other.Instances, f.Instances))))
			for _, id := range f.Instances {
				other.has[id] = true
			}
		}
	}
}

// contribute puts the weaker faults behind certain causes that explain all
// of their instances, circumstantial ones behind likely causes too.
func (r *ranking) contribute() {
	var certain, named []*fault
	for _, f := range r.faults {
		switch {
		case len(f.behind) > 0:
		case f.confidence == checks.Certain:
			certain, named = append(certain, f), append(named, f)
		case f.confidence == checks.Likely && !r.checks[f.Check].Circumstantial:
			named = append(named, f)
		}
	}
	for _, f := range r.faults {
		if f.confidence != checks.Likely && f.confidence != checks.Possible || len(f.behind) > 0 || r.checks[f.Check].Predictive || f.Unconditional && len(f.Instances) == 0 {
			continue
		}
		circumstantial := r.checks[f.Check].Circumstantial
		if f.behind = explainers(f, certain); circumstantial {
			f.behind = explainers(f, named)
		}
		for _, other := range f.behind {
			other.contributing = with(other.contributing, f.Check)
			if circumstantial {
				other.Evidence = append(slices.Clone(other.Evidence), checks.Evidence{What: r.checks[f.Check].Title, Value: f.Why})
			}
		}
	}
}

// explainers are those of the others that share something with a fault, if
// together they have all of its instances, or all that it covers.
func explainers(f *fault, others []*fault) []*fault {
	all := func(ids []string) bool {
		for _, id := range ids {
			if !slices.ContainsFunc(others, func(o *fault) bool { return o.has[id] }) {
				return false
			}
		}
		return len(ids) > 0
	}
	if !all(f.Instances) && !all(f.Covers) {
		return nil
	}
	var by []*fault
	for _, o := range others {
		if slices.ContainsFunc(f.Instances, func(id string) bool { return o.has[id] }) ||
			slices.ContainsFunc(f.Covers, func(id string) bool { return o.has[id] }) {
			by = append(by, o)
		}
	}
	return by
}

func with(list []checks.ID, id checks.ID) []checks.ID {
	if slices.Contains(list, id) {
		return list
	}
	return append(list, id)
}

// addUnknown adds a check that could not look; what one check says with the
// same failures again and again is one entry.
func addUnknown(list []Unknown, res checks.Result) []Unknown {
	i := slices.IndexFunc(list, func(u Unknown) bool {
		return u.Check == res.Check && slices.Equal(u.Blocked, res.Blocked)
	})
	if i < 0 {
		return append(list, Unknown{Check: res.Check, Covers: slices.Clone(res.Covers), Blocked: res.Blocked})
	}
	list[i].Covers = slices.Compact(slices.Sorted(slices.Values(append(list[i].Covers, res.Covers...))))
	return list
}
