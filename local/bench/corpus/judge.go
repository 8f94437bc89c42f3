package main

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/local/simaws/worldfile"
)

// verdict is what was found of a world against what was expected.
type verdict struct {
	subject
	Found found
	// Named tells that the first cause is the expected one; Alarms are causes
	// that the world does not have; Blind that it could not be told.
	Named  bool
	Alarms []string
	Blind  bool
	// Wrong is what is not as expected; empty if all is.
	Wrong string
}

// Healthy worlds have no incident but advice.
func (w subject) healthy() bool { return w.Expect.Healthy }

func judge(w subject, f found) verdict {
	v := verdict{subject: w, Found: f, Blind: f.status == 2}
	var wrong []string
	bad := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	want := w.Expect.Incidents
	for _, i := range f.Incidents {
		switch {
		case i.Confidence == "advice" && w.Check == i.Cause && !slices.Contains(w.Expect.Advice, i.Cause):
			// Advice about something else is no alarm: it works, and is said to.
			bad("advises %s, which is not expected", i.Cause)
		case i.Confidence == "advice":
		case !slices.ContainsFunc(want, func(e worldfile.ExpectedIncident) bool { return is(i, e) }):
			v.Alarms = append(v.Alarms, i.Cause)
			bad("%s (%s) is not in this world", i.Cause, i.Confidence)
		}
	}
	for n, e := range want {
		k := slices.IndexFunc(f.Incidents, func(i incident) bool { return is(i, e) && i.Confidence != "advice" })
		if k < 0 {
			bad("%s is not named", e.Cause)
			continue
		}
		if n == 0 && k > 0 {
			bad("%s comes first, not %s", f.Incidents[0].Cause, e.Cause)
		}
		lacks(f.Incidents[k], e, bad)
	}
	for _, id := range w.Expect.Advice {
		if !slices.ContainsFunc(f.Incidents, func(i incident) bool { return i.Cause == id && i.Confidence == "advice" }) {
			bad("does not advise %s", id)
		}
	}
	v.Named = len(want) > 0 && len(f.Incidents) > 0 && is(f.Incidents[0], want[0])
	switch {
	case w.Expect.Unknown && f.status != 2:
		bad("exit status %d, and it cannot be told", f.status)
	case w.Expect.Unknown:
	case v.Blind && len(want) == 0:
		bad("could not tell: %s", reasons(f))
	case w.healthy() && !f.Healthy:
		bad("not called healthy")
	case !w.healthy() && f.Healthy:
		bad("called healthy")
	}
	v.Wrong = strings.Join(wrong, "; ")
	return v
}

func is(i incident, e worldfile.ExpectedIncident) bool {
	return i.Cause == e.Cause || slices.Contains(e.Or, i.Cause)
}

// lacks says what an incident does not tell that it should.
func lacks(i incident, e worldfile.ExpectedIncident, bad func(string, ...any)) {
	for _, id := range e.Resources {
		if !slices.Contains(i.Resources, id) && !slices.Contains(i.Instances, id) && !slices.Contains(i.Nodegroups, id) {
			bad("%s does not name %s, but %s", i.Cause, id, strings.Join(i.Resources, " "))
		}
	}
	if e.Confidence != "" && i.Confidence != e.Confidence {
		bad("%s is %s, not %s", i.Cause, i.Confidence, e.Confidence)
	}
	for _, id := range e.Contributing {
		if !slices.Contains(i.Contributing, id) {
			bad("%s does not contribute to %s", id, i.Cause)
		}
	}
	for _, id := range e.Hidden {
		if !slices.ContainsFunc(i.Hidden, func(h struct{ Check, Because string }) bool { return h.Check == id }) {
			bad("%s is not hidden behind %s", id, i.Cause)
		}
	}
}

func reasons(f found) string {
	var list []string
	for _, u := range f.Unknown {
		list = append(list, fmt.Sprintf("%s %s: %s", u.Check, u.Resource, u.Reason))
	}
	if len(list) > 3 {
		list = append(list[:3], fmt.Sprintf("and %d more", len(list)-3))
	}
	return strings.Join(list, ", ")
}
