package result

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/local/exit"
	"rollcall/local/result/page"
	"rollcall/shared/checks"
)

// ClustersToDraw are those whose networks are drawn: those with an incident, else all.
func (r Result) ClustersToDraw(all []string) []string {
	var list []string
	for _, i := range r.Incidents {
		if !slices.Contains(list, i.Cluster) {
			list = append(list, i.Cluster)
		}
	}
	if len(list) == 0 {
		return all
	}
	return list
}

// Page is a result as a page, without what only the account tells.
func (r Result) Page(subject string) page.Page {
	p := page.Page{Subject: subject, Mark: page.Well, Verdict: r.verdict()}
	switch r.Status() {
	case exit.Causes:
		p.Mark = page.Fault
	case exit.Unsure:
		p.Mark = page.Unsure
	}
	for _, i := range r.Incidents {
		where := i.Cluster
		if len(i.Nodegroups) > 0 {
			where += " / " + strings.Join(i.Nodegroups, ", ")
		}
		out := page.Incident{
			Mark: page.Fault, Label: r.Mark(i), Check: i.Cause, Confidence: i.Confidence, Where: where, Title: i.Title, Why: i.Why,
			Resources: i.Resources, Instances: i.Instances, Contributing: i.Contributing, Symptoms: i.Symptoms,
			Fix: i.Fix.Text, Command: i.Fix.Command, Console: i.Console,
		}
		switch i.Confidence {
		case string(checks.Advice):
			out.Mark = page.Advice
		case string(checks.Symptom):
			out.Mark = page.Symptom
		}
		for _, e := range i.Evidence {
			out.Evidence = append(out.Evidence, page.Evidence(e))
		}
		for _, h := range i.Hidden {
			out.Hidden = append(out.Hidden, page.Hidden(h))
		}
		p.Incidents = append(p.Incidents, out)
	}
	for _, u := range r.Unknown {
		p.Unknown = append(p.Unknown, page.Unknown(u))
	}
	return p
}

// verdict is the first line of a page.
func (r Result) verdict() string {
	count := map[string]int{}
	for _, i := range r.Incidents {
		switch checks.Confidence(i.Confidence) {
		case checks.Advice, checks.Symptom:
			count[i.Confidence]++
		default:
			count["cause"]++
		}
	}
	var parts []string
	for _, kind := range []string{"cause", string(checks.Symptom)} {
		switch n := count[kind]; {
		case n == 1:
			parts = append(parts, "1 "+kind)
		case n > 1:
			parts = append(parts, fmt.Sprintf("%d %ss", n, kind))
		}
	}
	switch {
	case r.Status() == exit.Unsure:
		return "could not tell, something needed could not be read"
	case len(parts) > 0:
		return strings.Join(parts, ", ") + " found"
	}
	return "every instance that should be a node is one, or has time left"
}
