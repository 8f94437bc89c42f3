// Package finding is what a check found: an outcome, what it is about, and what
// to do.
package finding

import (
	"fmt"
	"slices"
	"time"

	"rollcall/shared/catalog"
	"rollcall/shared/checkid"
	"rollcall/shared/snapshot"
)

// Outcome is what a check found. "Could not be checked" is an outcome.
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
	// Blocked is set on Unknown: what could not be read, and why.
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

// The parts of a failure, in the order in which a check is read: what failed, in
// words, by what it was seen, and what to do.

// Failed is the failure of a resource; covers are the subnets or instances in scope
// that it is about.
func Failed(resource string, covers ...string) Finding {
	return Finding{Outcome: Fail, Resource: resource, Covers: slices.Clone(covers)}
}

// Affecting adds the instances in scope that the failure keeps from joining.
func (f Finding) Affecting(instances ...string) Finding {
	f.Instances = slices.Clone(instances)
	return f
}

// Involving adds the other resources, in the order of the path.
func (f Finding) Involving(resources ...string) Finding {
	f.Resources = slices.Clone(resources)
	return f
}

// WithPods adds the pods that cannot start for it.
func (f Finding) WithPods(pods ...string) Finding {
	f.Pods = pods
	return f
}

// WithConfidence is the failure where it is weaker than its check; empty is its check's.
func (f Finding) WithConfidence(c Confidence) Finding {
	f.Confidence = c
	return f
}

// Titled ends the first line of the message.
func (f Finding) Titled(format string, args ...any) Finding {
	f.Title = Title(format, args...)
	return f
}

// Because adds one or two sentences with the facts.
func (f Finding) Because(format string, args ...any) Finding {
	f.Why = fmt.Sprintf(format, args...)
	return f
}

// Showing adds evidence.
func (f Finding) Showing(list ...Evidence) Finding {
	f.Evidence = append(slices.Clip(f.Evidence), list...)
	return f
}

// Noting adds one piece of evidence.
func (f Finding) Noting(what, value string) Finding {
	return f.Showing(Evidence{What: what, Value: value})
}

// Notingf adds one piece of evidence with a formatted value.
func (f Finding) Notingf(what, format string, args ...any) Finding {
	return f.Noting(what, fmt.Sprintf(format, args...))
}

// FixedBy is the failure with what to do about it.
func (f Finding) FixedBy(fix Fix) Finding {
	f.Fix = fix
	return f
}

// ToFix adds the text of the fix.
func (f Finding) ToFix(format string, args ...any) Finding {
	f.Fix.Text = fmt.Sprintf(format, args...)
	return f
}

// Command adds the command of the fix.
func (f Finding) Command(command string) Finding {
	f.Fix.Command = command
	return f
}

// Console adds the link of the fix.
func (f Finding) Console(link string) Finding {
	f.Fix.Console = link
	return f
}

// Remedy adds the remedy that can do the fix.
func (f Finding) Remedy(name string) Finding {
	f.Fix.Remedy = name
	return f
}

// Title cuts a title to the 70 runes that a message's first line has room for.
func Title(format string, args ...any) string {
	const limit = 70
	text := []rune(fmt.Sprintf(format, args...))
	if len(text) > limit {
		text = append(text[:limit-1], '…')
	}
	return string(text)
}
