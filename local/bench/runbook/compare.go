package main

import (
	"slices"

	"rollcall/local/bench/runbook/automation"
	"rollcall/local/simaws/worldfile"
	"rollcall/shared/checks"
)

// row is one world and what both say of it.
type row struct {
	name   string
	check  string
	expect worldfile.Expect
	// runs are the runbook's, one for each instance that could be named to it.
	runs []automation.Report
	ours diagnosis
	own  ownWords
}

// kind says which part of the page a world belongs to.
type kind int

const (
	broken  kind = iota // a cause must be named
	healthy             // nothing must be named
	untold              // no cause can be told: left out of the figures
)

func (r row) kind() kind {
	switch {
	case r.expect.Healthy:
		return healthy
	case len(r.expect.Incidents) == 0 || isSymptom(r.truth()[0]):
		return untold
	}
	return broken
}

// isSymptom tells that a check names no cause: that a node is missing is why
// somebody looks.
func isSymptom(id string) bool {
	return slices.ContainsFunc(checks.All(), func(c checks.Check) bool {
		return string(c.ID) == id && c.Confidence == checks.Symptom
	})
}

// truth is the first cause of a broken world, as it may be named.
func (r row) truth() []string {
	i := r.expect.Incidents[0]
	return append([]string{i.Cause}, i.Or...)
}

// theirs is how far a run of the runbook gets, best last.
type theirs int

const (
	noInstance  theirs = iota // there is nobody to ask about
	didNotRun                 // a branch ended it
	nothing                   // no warning about it
	onlySymptom               // what does not work, and not why
	amongOthers               // the cause, behind other warnings
	causeFirst
)

func (t theirs) found() bool { return t >= amongOthers }

// judge holds a report against the cause.
func judge(r automation.Report, truth []string) theirs {
	symptom := false
	for i, f := range r.Findings {
		switch {
		case !names(f, truth):
		case f.Symptom:
			symptom = true
		case i == 0:
			return causeFirst
		default:
			return amongOthers
		}
	}
	switch {
	case symptom:
		return onlySymptom
	case r.Stopped != "":
		return didNotRun
	}
	return nothing
}

func names(f automation.Finding, truth []string) bool {
	return slices.ContainsFunc(f.Names, func(id checks.ID) bool { return slices.Contains(truth, string(id)) })
}

// best is the run that serves the runbook best: who runs it may have luck
// with the instance.
func (r row) best() (automation.Report, theirs) {
	var report automation.Report
	level := noInstance
	for _, run := range r.runs {
		if l := judge(run, r.truth()); l > level {
			report, level = run, l
		}
	}
	return report, level
}

// named tells whether Rollcall's first incident is the cause, and whether any
// is.
func (r row) named() (first, any bool) {
	for i, in := range r.ours.Incidents {
		if slices.Contains(r.truth(), in.Cause) {
			return i == 0, true
		}
	}
	return false, false
}

// warnings are the steps of the runbook that warn in a healthy world. That it
// does not run is no warning.
func (r row) warnings() []string {
	var steps []string
	for _, run := range r.runs {
		if run.Stopped != "" {
			continue
		}
		for _, f := range run.Findings {
			if !slices.Contains(steps, f.Step) {
				steps = append(steps, f.Step)
			}
		}
	}
	return steps
}

// accused are the causes that Rollcall names in a healthy world.
func (r row) accused() []string {
	var list []string
	for _, in := range r.ours.Incidents {
		if in.Confidence != string(checks.Advice) {
			list = append(list, in.Cause)
		}
	}
	return list
}

// by tells whether one step of the best run names the cause.
func (r row) by(step string) bool {
	report, _ := r.best()
	return slices.ContainsFunc(report.Findings, func(f automation.Finding) bool {
		return f.Step == step && !f.Symptom && names(f, r.truth())
	})
}
