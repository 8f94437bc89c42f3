// Package diagnose ranks what the checks found: what is the cause, what only
// contributes, what is hidden behind a cause, and what is a symptom of it.
package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/catalog"
	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts/zones"
	"rollcall/shared/checks/finding"
	"rollcall/shared/diagnosis"
	"rollcall/shared/snapshot"
)

// causes are the faults that stand for themselves, in order.
func (r *ranking) causes() []diagnosis.Cause {
	var list []diagnosis.Cause
	for _, f := range r.faults {
		if len(f.behind) == 0 {
			c := r.cause(f)
			c.Evidence = append(c.Evidence, r.unread(c)...)
			list = append(list, c)
		}
	}
	for _, c := range r.bySymptom() {
		c.Evidence = append(c.Evidence, r.notChecked(c)...)
		list = append(list, c)
	}
	for i := range list {
		// What works anyway needs no word of who launched it.
		if c := &list[i]; c.Confidence != finding.Advice {
			c.Evidence = append(c.Evidence, bounded(check.ClaimEvidence(r.s, c.Instances))...)
		}
	}
	slices.SortStableFunc(list, func(a, b diagnosis.Cause) int {
		return cmp.Or(
			cmp.Compare(rank(a.Confidence), rank(b.Confidence)),
			r.circumstance(a)-r.circumstance(b),
			cmp.Compare(len(b.Instances), len(a.Instances)),
			cmp.Compare(len(b.Covers), len(a.Covers)),
			cmp.Compare(r.order[a.Check], r.order[b.Check]),
			cmp.Compare(a.Resource, b.Resource),
		)
	})
	return list
}

// unread names what the check of a cause requested and could not read, where the cause is
// less certain than the check can be: it may be why.
func (r *ranking) unread(c diagnosis.Cause) []finding.Evidence {
	of := r.checks[c.Check]
	if c.Confidence == finding.Advice || rank(c.Confidence) <= rank(of.Confidence) {
		return nil
	}
	var list []string
	for _, source := range slices.Concat(of.Needs, of.Uses, []snapshot.Source{snapshot.Nodes}) {
		f, failed := r.s.Failures[source]
		if !failed || f.Call == "" {
			continue
		}
		if text := fmt.Sprintf("%s (%s: %s)", source, f.Reason, f.Call); !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return []finding.Evidence{{What: "Not checked", Value: cut(strings.Join(list, ", "), maxValue)}}
}

// notChecked is what optional checks would have told of a symptom that has no cause, with
// the permission that is missing, or the call that was not captured: the checks that lack
// the same in one piece of evidence.
func (r *ranking) notChecked(c diagnosis.Cause) []finding.Evidence {
	var lacks []string
	lacking := map[string][]string{}
	for _, u := range r.unlooked {
		if len(c.Instances) == 0 || len(u.Covers) > 0 && !slices.ContainsFunc(c.Instances, func(id string) bool { return slices.Contains(u.Covers, id) || slices.Contains(u.Covers, r.subnet(id)) }) {
			continue
		}
		for _, f := range u.Blocked {
			text := fmt.Sprintf("%s (%s: %s)", f.Source, f.Reason, f.Call)
			if f.Call == "" {
				text = fmt.Sprintf("%s (%s)", f.Source, f.Reason)
			}
			if lacking[text] == nil {
				lacks = append(lacks, text)
			}
			if id := string(u.Check); !slices.Contains(lacking[text], id) {
				lacking[text] = append(lacking[text], id)
			}
		}
	}
	var list []finding.Evidence
	for _, text := range lacks {
		list = append(list, finding.Evidence{What: "Not checked", Value: cut(strings.Join(append(lacking[text], text), ", "), maxValue)})
	}
	return list
}

// subnet is where an instance stands; empty where that is not known.
func (r *ranking) subnet(id string) string {
	for _, i := range r.s.Instances {
		if i.ID == id {
			return i.Subnet
		}
	}
	return ""
}

// circumstance is 1 for a cause that tells only what launches share.
func (r *ranking) circumstance(c diagnosis.Cause) int {
	if r.checks[c.Check].Circumstantial {
		return 1
	}
	return 0
}

// rank orders the confidences, strongest first.
func rank(c finding.Confidence) int {
	order := []finding.Confidence{finding.Certain, finding.Likely, finding.Possible, finding.Symptom, finding.Advice}
	if i := slices.Index(order, c); i >= 0 {
		return i
	}
	return len(order)
}

func (r *ranking) cause(f *fault) diagnosis.Cause {
	return diagnosis.Cause{
		Check: f.Check, Confidence: f.confidence,
		Resource: f.Resource, Covers: f.Covers, Resources: f.Resources,
		Title: f.Title, Why: f.Why, Evidence: bounded(f.Evidence), Fix: f.Fix,
		Nodegroups: r.nodegroups(f.Instances, append(slices.Clone(f.Covers), f.Resource), r.checks[f.Check].Breaks == catalog.Launching), Instances: f.Instances, Pods: f.Pods,
		Contributing: f.contributing, Symptoms: f.signs, Hidden: f.hidden, Behind: f.NarrowedAfter,
		Since: f.Since, Idle: f.Idle,
	}
}

// nodegroups are those of the instances, else those whose groups are covered
// or that launch into the subnets that are covered.
func (r *ranking) nodegroups(instances, covers []string, launching bool) []string {
	var names []string
	for _, id := range instances {
		if owner := r.owners[id]; owner != "" {
			names = append(names, owner)
		}
	}
	if len(instances) == 0 {
		for _, g := range r.s.Nodegroups {
			if slices.ContainsFunc(slices.Concat(g.Subnets, g.Groups, []string{g.Name}), func(id string) bool { return slices.Contains(covers, id) }) {
				names = append(names, g.Name)
			}
		}
		// The nodegroups are read only where their instances are in trouble.
		for _, g := range r.s.Groups {
			if slices.ContainsFunc(append(slices.Clone(g.Subnets), g.Name), func(id string) bool { return slices.Contains(covers, id) }) {
				names = append(names, g.Owner())
			}
		}
	}
	for _, id := range covers {
		if pool, is := strings.CutPrefix(id, snapshot.PoolKey("")); is && launching {
			names = append(names, pool)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// bySymptom makes causes of the symptoms that nothing explains: one for each
// check and nodegroup, so that a burst is one message.
func (r *ranking) bySymptom() []diagnosis.Cause {
	type key struct {
		check checkid.ID
		owner string
	}
	var order []key
	groups := map[key][]*fault{}
	for _, f := range r.spare {
		k := key{check: f.Check, owner: f.Resource}
		for _, id := range f.Instances {
			if owner := r.owners[id]; owner != "" {
				k.owner = owner
				break
			}
		}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], f)
	}
	var list []diagnosis.Cause
	for _, k := range order {
		list = append(list, r.symptom(k.owner, groups[k]))
	}
	return list
}

// symptom is the cause that stands for a nodegroup's symptoms. Its words are
// those of the first, and say how many there are.
func (r *ranking) symptom(owner string, group []*fault) diagnosis.Cause {
	c := r.cause(group[0])
	c.Resource = owner
	if len(group) == 1 {
		return c
	}
	c.Covers, c.Instances, c.Evidence, c.Resources = nil, nil, nil, nil
	for _, f := range group {
		c.Covers = append(c.Covers, f.Covers...)
		c.Instances = append(c.Instances, f.Instances...)
		c.Evidence = append(c.Evidence, f.Evidence...)
	}
	slices.Sort(c.Covers)
	slices.Sort(c.Instances)
	c.Evidence = bounded(c.Evidence)
	c.Nodegroups = r.nodegroups(c.Instances, c.Covers, false)
	c.Title = cut(fmt.Sprintf("%d instances of %s: %s", len(group), owner, lower(r.checks[c.Check].Title)), maxTitle)
	c.Why = fmt.Sprintf("%s The same is true of %d more.", c.Why, len(group)-1)
	return c
}

// A diagnosis travels in a queue's message (SQS takes 1 MiB), and ends in a
// Slack thread: evidence is for a person to read.
const (
	maxEvidence = 30
	maxValue    = 1000 // runes
	maxTitle    = 70   // runes
)

// maxPassed is how much of a pass is reported: what an incident that it closes
// shows. There are dozens of passes in each diagnosis.
const maxPassed = 2

func first(list []finding.Evidence) []finding.Evidence { return list[:min(len(list), maxPassed)] }

func bounded(list []finding.Evidence) []finding.Evidence {
	if len(list) == 0 {
		return nil
	}
	more := len(list) - maxEvidence
	list = slices.Clone(list[:min(len(list), maxEvidence)])
	for i := range list {
		list[i].Value = cut(list[i].Value, maxValue)
	}
	if more > 0 {
		list = append(list, finding.Evidence{What: "More", Value: fmt.Sprintf("%d more lines were left out", more)})
	}
	return list
}

func cut(text string, limit int) string {
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	return string(runes[:limit-1]) + "…"
}

// lower makes a title the end of another sentence.
func lower(title string) string {
	runes := []rune(title)
	if len(runes) == 0 {
		return ""
	}
	if runes[0] >= 'A' && runes[0] <= 'Z' {
		runes[0] += 'a' - 'A'
	}
	return string(runes)
}

// Judge runs checks on a snapshot and ranks what they found. What is found about
// instances of which it is not proved that the cluster launched them is possible at
// most, and has no command: following one could open a network for whoever set a tag.
// Those that nothing of the cluster launched are one cause, and what is found about
// them is its evidence.
func Judge(list []check.Check, s *snapshot.Snapshot) diagnosis.Diagnosis {
	claimed, unowned := check.Provenance(s)
	if len(claimed)+len(unowned) == 0 {
		return Rank(list, check.Eval(list, s), s)
	}
	proved := check.Within(s, slices.Concat(claimed, unowned))
	proved.Scope.Unowned = unowned
	d := Rank(list, check.Eval(list, proved), proved)
	if len(claimed) > 0 {
		// Those that are proved stay in scope: what all of them share is seen as it is.
		with := check.Within(s, unowned)
		claim(&d, Rank(list, check.Eval(list, with), with), claimed, s)
	}
	i := slices.IndexFunc(d.Causes, func(c diagnosis.Cause) bool { return c.Check == checkid.InstanceUnowned })
	if i >= 0 {
		c := &d.Causes[i]
		c.Nodegroups = nil // their tags name them
		c.Evidence = bounded(append(possible(Rank(list, check.Eval(list, s), s), c.Instances), c.Evidence...))
	}
	slices.SortStableFunc(d.Causes, func(a, b diagnosis.Cause) int { return rank(a.Confidence) - rank(b.Confidence) })
	return d
}

// claim adds what another diagnosis has of instances that only their tags call the
// cluster's.
func claim(d *diagnosis.Diagnosis, other diagnosis.Diagnosis, claimed []string, s *snapshot.Snapshot) {
	theirs := func(id string) bool { return slices.Contains(claimed, id) }
	for _, c := range other.Causes {
		has := slices.ContainsFunc(d.Causes, func(x diagnosis.Cause) bool { return x.Check == c.Check && x.Resource == c.Resource })
		if has || !slices.ContainsFunc(c.Instances, theirs) {
			continue
		}
		d.Causes = append(d.Causes, unproved(c, s))
	}
	for _, p := range other.Passed {
		if slices.ContainsFunc(p.Covers, theirs) {
			d.Passed = append(d.Passed, p)
		}
	}
	for _, u := range other.Unknown {
		d.Unknown = addUnknown(d.Unknown, finding.Result{Check: u.Check, Finding: finding.Finding{Covers: u.Covers, Blocked: u.Blocked}})
	}
}

// unproved weakens a cause, unless it is about subnets into which the cluster launches.
func unproved(c diagnosis.Cause, s *snapshot.Snapshot) diagnosis.Cause {
	outside := func(id string) bool { return !strings.HasPrefix(id, "subnet-") || !check.LaunchesInto(s, id) }
	if len(c.Covers) > 0 && !slices.ContainsFunc(c.Covers, outside) {
		return c
	}
	if c.Confidence == finding.Certain || c.Confidence == finding.Likely {
		c.Confidence = finding.Possible
	}
	them := check.Verb(c.Instances, "it", "them")
	if c.Confidence != finding.Symptom {
		c.Fix.Text = fmt.Sprintf("Find out who started %s before anything is changed for %s.", check.Some(c.Instances, 3), them)
		c.Fix.Command, c.Fix.Remedy = "", ""
	}
	c.Evidence = bounded(append([]finding.Evidence{{What: "Launched by " + s.Cluster.Name, Value: "not proved: only tags say so, which anybody who can start an instance can set"}}, c.Evidence...))
	c.Why += fmt.Sprintf(" It is not proved that %s launched %s: no Auto Scaling group of the cluster has %s, and %s.", s.Cluster.Name, check.Some(c.Instances, 3), them, claimsOf(s, them))
	return c
}

// claimsOf says what the NodeClaims contribute to the proof. A detector without access to
// clusters, launch-watch for one, does not request them: nothing failed then.
func claimsOf(s *snapshot.Snapshot, them string) string {
	f, failed := s.Failures[snapshot.NodeClaimsOf]
	switch {
	case s.Has(snapshot.NodeClaimsOf):
		return "no NodeClaim names " + them
	case failed && f.Call != "":
		return fmt.Sprintf("its NodeClaims could not be read (%s: %s)", f.Call, f.Reason)
	case failed:
		return fmt.Sprintf("its NodeClaims could not be read (%s)", f.Reason)
	}
	return "NodeClaims, which could prove it, are not read at launch"
}

// mostPossible is how many causes of unowned instances are listed.
const mostPossible = 10

// possible lists what a diagnosis has of instances that nothing of the cluster launched.
func possible(d diagnosis.Diagnosis, instances []string) (list []finding.Evidence) {
	for _, c := range d.Causes {
		var of []string
		for _, id := range c.Instances {
			if slices.Contains(instances, id) {
				of = append(of, id)
			}
		}
		if len(of) == 0 || c.Confidence == finding.Symptom || c.Confidence == finding.Advice || len(list) == mostPossible {
			continue
		}
		list = append(list, finding.Evidence{What: "Possible cause of " + check.Some(of, 3), Value: fmt.Sprintf("%s: %s", c.Check, c.Title)})
	}
	return list
}

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
func Rank(list []check.Check, results []finding.Result, s *snapshot.Snapshot) diagnosis.Diagnosis {
	r := newRanking(list, s)
	var d diagnosis.Diagnosis
	for _, res := range results {
		switch res.Outcome {
		case finding.Pass:
			d.Passed = append(d.Passed, diagnosis.Passed{Check: res.Check, Covers: res.Covers, Evidence: bounded(first(res.Evidence))})
		case finding.Unknown:
			if r.checks[res.Check].Optional {
				r.unlooked = addUnknown(r.unlooked, res)
				continue
			}
			d.Unknown = addUnknown(d.Unknown, res)
		case finding.Fail:
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
	checks map[checkid.ID]check.Check
	order  map[checkid.ID]int
	owners map[string]string // instance to nodegroup
	ended  map[string]bool
	s      *snapshot.Snapshot

	// unlooked are the Unknowns of optional checks.
	unlooked []diagnosis.Unknown
	// faults are what failed and is no symptom; symptoms is the rest.
	faults   []*fault
	symptoms []*fault
	// spare are the symptoms that no cause explains.
	spare []*fault
}

// fault is a failed finding and its place among the others.
type fault struct {
	finding.Result
	confidence finding.Confidence
	has        map[string]bool // its instances and what it covers
	// behind are the faults that explain it away or that it contributes to;
	// such a fault is no cause of its own.
	behind []*fault

	// early reports whether it is not certain, and that all its instances still
	// have time to join.
	early bool

	contributing []checkid.ID
	signs        []checkid.ID
	hidden       []diagnosis.Hidden
}

func newRanking(list []check.Check, s *snapshot.Snapshot) *ranking {
	r := &ranking{
		checks: map[checkid.ID]check.Check{}, order: map[checkid.ID]int{},
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

func (r *ranking) add(res finding.Result) {
	f := &fault{Result: res, confidence: cmp.Or(res.Confidence, r.checks[res.Check].Confidence)}
	if f.confidence == finding.Symptom {
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
// where every node is Ready, they flag no node. What sees ahead explains
// nothing yet, and stays. Of an instance that still has time to join only what
// is certain is reported.
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
		if f.confidence != finding.Likely && f.confidence != finding.Possible || r.checks[f.Check].Predictive || f.Unconditional && len(f.Instances) == 0 {
			continue
		}
		if !slices.ContainsFunc(f.Instances, func(id string) bool { return failed[id] || r.ended[id] }) {
			f.confidence = finding.Advice
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
		if f.confidence == finding.Certain && len(f.Instances) > 0 && r.checks[f.Check].Breaks == catalog.Joining {
			f.confidence = finding.Likely
		}
	}
}

// hide puts faults behind those that explain them away.
func (r *ranking) hide() {
	for _, f := range r.faults {
		var by []*fault
		for _, other := range r.faults {
			if other != f && strong(other, f) &&
				r.checks[other.Check].Among(r.checks[f.Check].After) && (f.NarrowedAfter == nil || r.checks[other.Check].Among(f.NarrowedAfter)) && !slices.Contains(other.behind, f) {
				by = append(by, other)
			}
		}
		if by = explainers(f, by); len(by) == 0 {
			continue
		}
		f.behind = by
		for _, other := range by {
			h := diagnosis.Hidden{Check: f.Check, Because: other.Check}
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

// strong reports whether a fault may hide another one: a likely cause can be what a
// certain sign of it points to (a line of the console), a mere possibility
// cannot.
func strong(other, than *fault) bool {
	return rank(other.confidence) <= max(rank(finding.Likely), rank(than.confidence)) && other.confidence != finding.Advice
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
		case f.confidence == finding.Certain:
			certain, named = append(certain, f), append(named, f)
		case f.confidence == finding.Likely && !r.checks[f.Check].Circumstantial:
			named = append(named, f)
		}
	}
	for _, f := range r.faults {
		if f.confidence != finding.Likely && f.confidence != finding.Possible || len(f.behind) > 0 || r.checks[f.Check].Predictive || f.Unconditional && len(f.Instances) == 0 {
			continue
		}
		circumstantial := r.checks[f.Check].Circumstantial
		if f.behind = explainers(f, certain); circumstantial {
			f.behind = explainers(f, named)
		}
		for _, other := range f.behind {
			other.contributing = with(other.contributing, f.Check)
			if circumstantial {
				other.Evidence = append(slices.Clone(other.Evidence), finding.Evidence{What: r.checks[f.Check].Title, Value: f.Why})
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

func with(list []checkid.ID, id checkid.ID) []checkid.ID {
	if slices.Contains(list, id) {
		return list
	}
	return append(list, id)
}

// addUnknown adds a check that could not run; what one check says with the
// same failures again and again is one entry.
func addUnknown(list []diagnosis.Unknown, res finding.Result) []diagnosis.Unknown {
	i := slices.IndexFunc(list, func(u diagnosis.Unknown) bool {
		return u.Check == res.Check && slices.Equal(u.Blocked, res.Blocked)
	})
	if i < 0 {
		return append(list, diagnosis.Unknown{Check: res.Check, Covers: slices.Clone(res.Covers), Blocked: res.Blocked})
	}
	list[i].Covers = slices.Compact(slices.Sorted(slices.Values(append(list[i].Covers, res.Covers...))))
	return list
}

// attach gives each symptom to the causes that have its instance.
func (r *ranking) attach() {
	of := map[string][]*fault{}
	for _, f := range r.faults {
		if len(f.behind) > 0 || f.confidence == finding.Advice {
			continue
		}
		for _, id := range f.Instances {
			of[id] = append(of[id], f)
		}
	}
	for _, f := range r.symptoms {
		explained := len(f.Instances) > 0 || r.byResource(f)
		for _, id := range f.Instances {
			explained = explained && len(of[id]) > 0
			for _, cause := range of[id] {
				cause.signs = with(cause.signs, f.Check)
			}
		}
		if !explained {
			r.spare = append(r.spare, f)
		}
	}
}

// byResource gives a symptom that names no instance (none was ever started) to
// the causes that its check comes after, of a resource that it names.
func (r *ranking) byResource(f *fault) (explained bool) {
	for _, cause := range r.faults {
		if len(cause.behind) > 0 || cause.confidence == finding.Advice || !r.checks[cause.Check].Among(r.checks[f.Check].After) {
			continue
		}
		if slices.ContainsFunc(f.Resources, func(id string) bool { return cause.has[id] }) {
			cause.signs = with(cause.signs, f.Check)
			explained = true
		}
	}
	return explained
}

// unite puts symptoms that nothing explains behind those of the same things
// that their check comes after: one is only the sum of the other.
func (r *ranking) unite() {
	r.spare = slices.DeleteFunc(slices.Clone(r.spare), func(f *fault) bool {
		for _, other := range r.spare {
			if other != f && r.checks[other.Check].Among(r.checks[f.Check].After) && slices.Equal(f.Covers, other.Covers) {
				other.signs = with(other.signs, f.Check)
				return true
			}
		}
		return false
	})
}
