// Package diagnosis is what package diagnose makes of the findings: plain data, which
// incidents, messages and records hold without the checks.
package diagnosis

import (
	"slices"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/finding"
	"rollcall/shared/snapshot"
)

// Diagnosis is what a set of results says of a cluster.
type Diagnosis struct {
	// Causes are ordered: the first is what a person should fix first.
	Causes []Cause `json:"causes,omitempty"`
	// Passed tells which resources a check found well, so that an incident
	// can be closed.
	Passed []Passed `json:"passed,omitempty"`
	// Unknown are the checks that could not run.
	Unknown []Unknown `json:"unknown,omitempty"`
}

// Cause is one cause and all that it explains.
type Cause struct {
	Check      checkid.ID         `json:"check"`
	Confidence finding.Confidence `json:"confidence"`
	// Resource, Covers, Title, Why, Evidence and Fix are the finding's.
	Resource  string             `json:"resource"`
	Covers    []string           `json:"covers"`
	Resources []string           `json:"resources,omitempty"`
	Title     string             `json:"title"`
	Why       string             `json:"why"`
	Evidence  []finding.Evidence `json:"evidence,omitempty"`
	Fix       finding.Fix        `json:"fix,omitzero"`

	Nodegroups []string `json:"nodegroups,omitempty"`
	Instances  []string `json:"instances,omitempty"`
	// Since is when it began, where that is known; else it is known by its instances.
	Since time.Time `json:"since,omitzero"`
	// Idle is the finding's: nothing waits for what it keeps from working.
	Idle bool `json:"idle,omitempty"`
	// Pods cannot start for it.
	Pods []string `json:"pods,omitempty"`
	// Workloads are the owners of Pods, those with most pods first.
	Workloads    []Workload   `json:"workloads,omitempty"`
	Contributing []checkid.ID `json:"contributing,omitempty"`
	Symptoms     []checkid.ID `json:"symptoms,omitempty"`
	Hidden       []Hidden     `json:"hidden,omitempty"`
	// Behind is the finding's: only these explain the cause away. Nil is all that
	// its check comes after.
	Behind []checkid.ID `json:"behind,omitempty"`
}

// Workload is what owns pods that cannot start.
type Workload struct {
	Namespace string `json:"namespace"`
	// Owner is its kind and name, "Deployment web"; a pod without an owner is its own.
	Owner string `json:"owner"`
	Pods  int    `json:"pods"`
}

// OfPods reports whether pods suffer from the cause on nodes that have joined: that these are
// Ready nodes says nothing against it.
func (c Cause) OfPods() bool {
	return c.Check == checkid.IPPodWithoutAddress || slices.Contains(c.Symptoms, checkid.IPPodWithoutAddress)
}

// Hidden is a failed check that a cause explains away.
type Hidden struct {
	Check   checkid.ID `json:"check"`
	Because checkid.ID `json:"because"`
}

// Passed is a check that found resources well.
type Passed struct {
	Check    checkid.ID         `json:"check"`
	Covers   []string           `json:"covers"`
	Evidence []finding.Evidence `json:"evidence,omitempty"`
}

// Unknown is a check that could not run.
type Unknown struct {
	Check   checkid.ID         `json:"check"`
	Covers  []string           `json:"covers,omitempty"`
	Blocked []snapshot.Failure `json:"blocked"`
}
