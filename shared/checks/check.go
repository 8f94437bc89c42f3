// Package checks holds every check: what it means, what it needs to look at,
// and a pure function of a snapshot that tells pass, fail or unknown.
//
// One check, one file. The IDs are permanent: they stand in Slack, in finding
// events and in other people's rules.
package checks

import (
	"rollcall/shared/snapshot"
)

// ID names a check, e.g. "route/no-egress".
type ID string

// Outcome is what a check found. "Could not look" is an outcome.
type Outcome string

// The outcomes.
const (
	Pass    Outcome = "pass"
	Fail    Outcome = "fail"
	Unknown Outcome = "unknown"
)

// Confidence ranks how surely a failed check explains a node that did not join.
type Confidence string

// The confidences, strongest first.
const (
	Certain  Confidence = "certain"
	Likely   Confidence = "likely"
	Possible Confidence = "possible"
	Symptom  Confidence = "symptom"
	Advice   Confidence = "advice"
)

// Check is one check.
type Check struct {
	ID         ID
	Title      string // at most 70 runes, no full stop
	Confidence Confidence
	// Needs is what must have been read: anything less makes the result Unknown.
	Needs []snapshot.Source
	// Uses are read too, where they can be: they decide only for some
	// resources, and where one is missing the finding on those says so.
	Uses []snapshot.Source
	// After are the checks that explain this one away when they fail for the
	// same instances.
	After []ID
	// Adds are checks whose cause this one only adds facts to, when both fail
	// for the same resource: it then contributes, however certain it is.
	Adds []ID
	// AtLaunch tells that the check can judge before the node had time to join.
	AtLaunch bool
	// Ahead tells that the check sees what has not failed yet, or what is so
	// whether or not an instance fails for it: its findings need none to be told.
	Ahead bool
	// Cause and Fix are the catalogue's words, for any resource.
	Cause string
	Fix   string
	Links []string
	// Run judges everything in the snapshot's scope. It is called only when
	// all of Needs was read.
	Run func(*View) []Finding
}

// Finding is a verdict on one resource.
type Finding struct {
	Outcome Outcome `json:"outcome"`
	// Behind narrows the check's After for this finding: only these explain it
	// away. Nil is all of After.
	Behind []ID `json:"-"`
	// Confidence is set where this finding is weaker than its check: a fact
	// that the check cannot read could still make it harmless.
	Confidence Confidence `json:"confidence,omitempty"`
	// Stands tells that this finding needs no instance that failed for it, as
	// those of checks that see ahead.
	Stands bool `json:"-"`
	// Resource is what the verdict hangs on and what a fix would change:
	// a route table, a subnet, an instance.
	Resource string `json:"resource"`
	// Covers are the subnets or instances in scope that the verdict is about.
	// An incident's cause is gone when all that it covers pass.
	Covers []string `json:"covers"`
	// Instances are the instances in scope that a failure keeps from joining.
	Instances []string `json:"instances,omitempty"`
	// Resources are the others involved, in the order of the path.
	Resources []string `json:"resources,omitempty"`
	// Pods cannot start for it ("namespace/name"), by the scheduler's own word.
	// At most mostPods are named.
	Pods []string `json:"pods,omitempty"`
	// Title ends the first line of the message: "subnet-0ab1 has no way out".
	Title string `json:"title,omitempty"`
	// Why is one or two sentences with the facts.
	Why      string     `json:"why,omitempty"`
	Evidence []Evidence `json:"evidence,omitempty"`
	Fix      Fix        `json:"fix,omitzero"`
	// Blocked is set on Unknown: what could not be looked at, and why.
	Blocked []snapshot.Failure `json:"blocked,omitempty"`
}

// Evidence is one thing that a person would have looked up.
type Evidence struct {
	What  string `json:"what"`
	Value string `json:"value"`
}

// Fix is what to do about it.
type Fix struct {
	Text string `json:"text,omitempty"`
	// Command can be pasted into a shell.
	Command string `json:"command,omitempty"`
	// Console is a link to the resource.
	Console string `json:"console,omitempty"`
	// Remedy is the name of the remedy that can do it (package remedy), if any.
	Remedy string `json:"remedy,omitempty"`
}

// Result is a finding of a check.
type Result struct {
	Check ID `json:"check"`
	Finding
}
