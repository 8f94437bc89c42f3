package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/checks"
	"rollcall/shared/checks/check"
	"rollcall/shared/snapshot"
)

// causes are the faults that stand for themselves, in order.
func (r *ranking) causes() []Cause {
	var list []Cause
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
		if c := &list[i]; c.Confidence != checks.Advice {
			c.Evidence = append(c.Evidence, bounded(checks.ClaimEvidence(r.s, c.Instances))...)
		}
	}
	slices.SortStableFunc(list, func(a, b Cause) int {
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
func (r *ranking) unread(c Cause) []checks.Evidence {
	of := r.checks[c.Check]
	if c.Confidence == checks.Advice || rank(c.Confidence) <= rank(of.Confidence) {
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
	return []checks.Evidence{{What: "Not checked", Value: cut(strings.Join(list, ", "), maxValue)}}
}

// notChecked is what optional checks would have told of a symptom that has no cause, with
// the permission that is missing, or the call that was not captured.
func (r *ranking) notChecked(c Cause) []checks.Evidence {
	var list []checks.Evidence
	for _, u := range r.unlooked {
		if len(c.Instances) == 0 || len(u.Covers) > 0 && !slices.ContainsFunc(c.Instances, func(id string) bool { return slices.Contains(u.Covers, id) || slices.Contains(u.Covers, r.subnet(id)) }) {
			continue
		}
		for _, f := range u.Blocked {
			e := checks.Evidence{What: "Not checked", Value: fmt.Sprintf("%s, %s (%s: %s)", u.Check, f.Source, f.Reason, f.Call)}
			if f.Call == "" {
				e.Value = fmt.Sprintf("%s, %s (%s)", u.Check, f.Source, f.Reason)
			}
			if !slices.Contains(list, e) {
				list = append(list, e)
			}
		}
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
func (r *ranking) circumstance(c Cause) int {
	if r.checks[c.Check].Circumstantial {
		return 1
	}
	return 0
}

// rank orders the confidences, strongest first.
func rank(c checks.Confidence) int {
	order := []checks.Confidence{checks.Certain, checks.Likely, checks.Possible, checks.Symptom, checks.Advice}
	if i := slices.Index(order, c); i >= 0 {
		return i
	}
	return len(order)
}

func (r *ranking) cause(f *fault) Cause {
	return Cause{
		Check: f.Check, Confidence: f.confidence,
		Resource: f.Resource, Covers: f.Covers, Resources: f.Resources,
		Title: f.Title, Why: f.Why, Evidence: bounded(f.Evidence), Fix: f.Fix,
		Nodegroups: r.nodegroups(f.Instances, append(slices.Clone(f.Covers), f.Resource), r.checks[f.Check].Breaks == check.Launching), Instances: f.Instances, Pods: f.Pods,
		Contributing: f.contributing, Symptoms: f.signs, Hidden: f.hidden, Behind: f.Behind,
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
func (r *ranking) bySymptom() []Cause {
	type key struct {
		check checks.ID
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
	var list []Cause
	for _, k := range order {
		list = append(list, r.symptom(k.owner, groups[k]))
	}
	return list
}

// symptom is the cause that stands for a nodegroup's symptoms. Its words are
// those of the first, and say how many there are.
func (r *ranking) symptom(owner string, group []*fault) Cause {
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

// maxPassed is how much of a pass is told: what an incident that it closes
// shows. There are dozens of passes in each diagnosis.
const maxPassed = 2

func first(list []checks.Evidence) []checks.Evidence { return list[:min(len(list), maxPassed)] }

func bounded(list []checks.Evidence) []checks.Evidence {
	if len(list) == 0 {
		return nil
	}
	more := len(list) - maxEvidence
	list = slices.Clone(list[:min(len(list), maxEvidence)])
	for i := range list {
		list[i].Value = cut(list[i].Value, maxValue)
	}
	if more > 0 {
		list = append(list, checks.Evidence{What: "More", Value: fmt.Sprintf("%d more lines were left out", more)})
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
