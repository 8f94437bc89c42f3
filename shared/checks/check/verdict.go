package check

import (
	"fmt"
	"iter"
	"slices"

	"rollcall/shared/checks/finding"
	"rollcall/shared/snapshot"
)

// What a check found (package finding, which others import without the checks).
type (
	Finding    = finding.Finding
	Result     = finding.Result
	Outcome    = finding.Outcome
	Confidence = finding.Confidence
	Evidence   = finding.Evidence
	Fix        = finding.Fix
)

const (
	Pass     = finding.Pass
	Fail     = finding.Fail
	Unknown  = finding.Unknown
	Certain  = finding.Certain
	Likely   = finding.Likely
	Possible = finding.Possible
	Symptom  = finding.Symptom
	Advice   = finding.Advice
)

// Failed is the failure of a resource (finding.Failed).
func Failed(resource string, covers ...string) Finding { return finding.Failed(resource, covers...) }

// Passed is the Pass of a resource.
func Passed(resource string, covers ...string) Finding {
	return Finding{Outcome: Pass, Resource: resource, Covers: covers}
}

// NotRead is why something is unknown: what would decide it was not read.
func NotRead(source snapshot.Source, format string, args ...any) snapshot.Failure {
	return snapshot.Failure{Source: source, Reason: snapshot.NotRead, Message: fmt.Sprintf(format, args...)}
}

// Broken is why something is unknown: what was read cannot be understood.
func Broken(source snapshot.Source, format string, args ...any) snapshot.Failure {
	return snapshot.Failure{Source: source, Reason: snapshot.Broken, Message: fmt.Sprintf(format, args...)}
}

// Title cuts a title to what a message's first line has room for (finding.Title).
func Title(format string, args ...any) string { return finding.Title(format, args...) }

// Passing adds the Pass of what a check found well; none where that is nothing.
func Passing(list []Finding, resource string, covers []string) []Finding {
	if len(covers) == 0 {
		return list
	}
	return append(list, Finding{Outcome: Pass, Resource: resource, Covers: covers})
}

// Unread is the Unknown of what could not be judged, and why.
func Unread(resource string, covers []string, blocked ...snapshot.Failure) Finding {
	return Finding{Outcome: Unknown, Resource: resource, Covers: covers, Blocked: blocked}
}

// Verdicts are the findings of one check in the making. The same subnet can
// hold nodes that are kept out and nodes that are not: what failed, or could
// not be judged, does not pass as well.
type Verdicts struct{ list []Finding }

func (v *Verdicts) Pass(resource string, covers []string, evidence ...Evidence) {
	if len(covers) == 0 {
		return
	}
	i := slices.IndexFunc(v.list, func(f Finding) bool { return f.Outcome == Pass && f.Resource == resource })
	if i < 0 {
		i = len(v.list)
		v.list = append(v.list, Finding{Outcome: Pass, Resource: resource})
	}
	f := &v.list[i]
	f.Covers = append(f.Covers, covers...)
	const limit = 5
	for _, e := range evidence {
		if len(f.Evidence) < limit {
			f.Evidence = Adding(f.Evidence, e)
		}
	}
}

func (v *Verdicts) Unknown(resource string, covers []string, blocked ...snapshot.Failure) {
	if len(covers) == 0 || len(blocked) == 0 {
		return
	}
	blocked = Adding(nil, blocked...)
	v.list = append(v.list, Finding{Outcome: Unknown, Resource: resource, Covers: slices.Clone(covers), Blocked: blocked})
}

func (v *Verdicts) Fail(f Finding) { v.list = append(v.list, f) }

// Findings are the verdicts without contradictions.
func (v *Verdicts) Findings() []Finding {
	open := map[string]bool{}
	for _, f := range v.list {
		if f.Outcome != Pass {
			for _, id := range f.Covers {
				open[id] = true
			}
		}
	}
	var list []Finding
	for _, f := range v.list {
		if f.Outcome == Pass {
			f.Covers = slices.DeleteFunc(f.Covers, func(id string) bool { return open[id] })
			if len(f.Covers) == 0 {
				continue
			}
		}
		list = append(list, f)
	}
	return list
}

// Surer is the stronger of two confidences that a finding may have.
func Surer(a, b Confidence) Confidence {
	order := []Confidence{Certain, Likely, Possible, Advice}
	ia, ib := slices.Index(order, a), slices.Index(order, b)
	if ia < 0 || ib >= 0 && ib < ia {
		return b
	}
	return a
}

// Weaker is a finding's confidence as it stands in the finding: empty where
// it is its check's own.
func Weaker(c, own Confidence) Confidence {
	if c == own {
		return ""
	}
	return c
}

// Adding adds what the list does not have yet.
func Adding[T comparable](list []T, more ...T) []T {
	for _, m := range more {
		if !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
}

// Groups are values by a key, in the order in which the keys came.
type Groups[T any] struct {
	keys []string
	by   map[string][]T
}

// Add adds a value to the group of a key.
func (g *Groups[T]) Add(key string, value T) {
	if g.by == nil {
		g.by = map[string][]T{}
	}
	if g.by[key] == nil {
		g.keys = append(g.keys, key)
	}
	g.by[key] = append(g.by[key], value)
}

// All are the groups.
func (g *Groups[T]) All() iter.Seq2[string, []T] {
	return func(yield func(string, []T) bool) {
		for _, key := range g.keys {
			if !yield(key, g.by[key]) {
				return
			}
		}
	}
}
