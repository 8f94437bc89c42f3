// Package finding is what a check found: an outcome, what it is about, and what
// to do.
package finding

import (
	"time"

	"rollcall/shared/catalog"
	"rollcall/shared/checkid"
	"rollcall/shared/snapshot"
)

// Outcome is what a check found. "Could not look" is an outcome.
type Outcome string

// The outcomes.
const (
	Pass    Outcome = "pass"
	Fail    Outcome = "fail"
	Unknown Outcome = "unknown"
)

// Confidence ranks how surely a failed check explains a node that did not join.
type Confidence = catalog.Confidence

// The confidences, strongest first.
const (
	Certain  = catalog.Certain
	Likely   = catalog.Likely
	Possible = catalog.Possible
	Symptom  = catalog.Symptom
	Advice   = catalog.Advice
)

// Finding is a verdict on one resource.
type Finding struct {
	Outcome Outcome `json:"outcome"`
	// NarrowedAfter narrows the check's After for this finding: only these explain it
	// away. Nil is all of After.
	NarrowedAfter []checkid.ID `json:"-"`
	// Confidence is set where this finding is weaker than its check: a fact
	// that the check cannot read could still make it harmless.
	Confidence Confidence `json:"confidence,omitempty"`
	// Unconditional reports whether this finding needs no instance that failed for it, as
	// those of checks that see ahead.
	Unconditional bool `json:"-"`
	// Idle reports that nothing waits for what it keeps from working: it is less urgent.
	Idle bool `json:"idle,omitempty"`
	// Since is when what was found began, where the check knows: launches that are
	// refused are reported once they go on.
	Since time.Time `json:"-"`
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
	// Title ends the first line of the message: "subnet-0ab1 has no route to the internet".
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
	Check checkid.ID `json:"check"`
	Finding
}
