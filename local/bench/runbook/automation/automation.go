// Package automation is AWSSupport-TroubleshootEKSWorkerNode as documented: a
// pure rule for each step of its document of June 2026. The steps' own code is
// an attachment that is not public. Where the document leaves open how a step
// judges, the rule takes the reading that is best for the runbook: it finds
// what the step's description covers.
package automation

import (
	"rollcall/shared/checks"
	"rollcall/shared/snapshot"
)

// Subject is one run: the runbook takes a cluster and one instance.
type Subject struct {
	// Account is what the APIs say to somebody who may read everything.
	Account *snapshot.Snapshot
	Node    snapshot.Instance
	// Secondary is how many addresses the node's interfaces have beside their
	// primary ones, delegated prefixes among them.
	Secondary int
	// Ready tells that it is a Ready node, and so has reached what it needs.
	Ready bool
	// Unreachable are the services that the node itself cannot reach: what a
	// command on the node would see.
	Unreachable []string
}

// Finding is one warning or error of the report.
type Finding struct {
	Step string // its number
	Text string
	// Names are the causes, by Rollcall's ids, that a reader of the warning
	// would know.
	Names []checks.ID
	// Symptom tells that the warning says what does not work, and not why.
	Symptom bool
}

// Skip is a step that did not look, or whose answer cannot be known here.
type Skip struct{ Step, Why string }

// Report is what a run comes to, in the order of the steps, which is that of
// the runbook's own report.
type Report struct {
	// Stopped is why no step ran; empty if they did.
	Stopped  string
	Findings []Finding
	Skipped  []Skip
}

// answer is what a step's rule says.
type answer struct {
	findings []Finding
	skipped  string
}

func passed() answer              { return answer{} }
func skipped(why string) answer   { return answer{skipped: why} }
func flagged(f ...Finding) answer { return answer{findings: f} }

func cause(text string, names ...checks.ID) Finding { return Finding{Text: text, Names: names} }

func symptom(text string, names ...checks.ID) Finding {
	return Finding{Text: text, Names: names, Symptom: true}
}

// Run goes through the steps.
func Run(s Subject) Report {
	if r, stopped := gates(s); stopped {
		return r
	}
	var r Report
	for _, step := range Steps() {
		if step.judge == nil {
			continue
		}
		a := step.judge(s)
		if a.skipped != "" {
			r.Skipped = append(r.Skipped, Skip{step.Number, a.skipped})
		}
		for _, f := range a.findings {
			f.Step = step.Number
			r.Findings = append(r.Findings, f)
		}
	}
	return r
}
