// Package deploy installs Rollcall from a release, without Go, Node, make or a clone: it decides
// from what is there which step is next, so that a run that was interrupted goes on where it
// ended.
package deploy

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
)

// Kind is a step of a deployment.
type Kind string

// The steps, in their order.
const (
	MakeBucket  Kind = "make the bucket"
	Upload      Kind = "upload the release"
	Wait        Kind = "wait for the stack"
	DeleteStack Kind = "delete the failed stack"
	Change      Kind = "change the stack"
	FillSecret  Kind = "store the Slack token"
	GrantAccess Kind = "give access to Kubernetes"
	Examine     Kind = "check the deployment"
	// Stop ends the run: a person has to act first.
	Stop Kind = "stop"
)

// Reason is why a step is next.
type Reason string

// The reasons.
const (
	NoBucket        Reason = "there is no bucket"
	NotConfigured   Reason = "the bucket was not made private in this run"
	NotUploaded     Reason = "objects of the release are not in the bucket"
	InProgress      Reason = "CloudFormation is at work"
	NeverCreated    Reason = "the stack's creation failed, and such a stack takes no update"
	DeletionFailed  Reason = "the stack's deletion failed"
	RollbackFailed  Reason = "the stack's rollback failed"
	NotThere        Reason = "there is no stack"
	Differs         Reason = "the stack is not of this release and these settings"
	SecretEmpty     Reason = "the secret of the Slack token is empty"
	AccessNotGiven  Reason = "Rollcall's rights were not applied in this run"
	EverythingThere Reason = "everything is there"
)

// State is what is there of a deployment.
type State struct {
	// Bucket is set where the bucket is there.
	Bucket bool
	// Missing are the keys of the release that the bucket does not have.
	Missing []string
	// Status is the stack's, "" where there is none.
	Status types.StackStatus
	// Current is set where the stack has this release's template, parameters and tags.
	Current bool
	// SecretEmpty is set where the stack's secret holds no Slack token.
	SecretEmpty bool
	// Done are the steps of this run that leave nothing to see, or that a person declined.
	Done []Kind
}

// Step is the next step and why.
type Step struct {
	Kind   Kind
	Reason Reason
}

// inProgress reports whether CloudFormation is working on a stack. REVIEW_IN_PROGRESS is not:
// such a stack waits for its first change set to be executed (CloudFormation user guide, "Stack
// status codes").
func inProgress(s types.StackStatus) bool {
	return slices.Contains([]types.StackStatus{
		types.StackStatusCreateInProgress, types.StackStatusRollbackInProgress, types.StackStatusDeleteInProgress,
		types.StackStatusUpdateInProgress, types.StackStatusUpdateCompleteCleanupInProgress,
		types.StackStatusUpdateRollbackInProgress, types.StackStatusUpdateRollbackCompleteCleanupInProgress,
	}, s)
}

// Next decides the next step.
func Next(s State) Step {
	done := func(k Kind) bool { return slices.Contains(s.Done, k) }
	switch {
	case inProgress(s.Status):
		return Step{Wait, InProgress}
	case s.Status == types.StackStatusRollbackComplete, s.Status == types.StackStatusRollbackFailed, s.Status == types.StackStatusCreateFailed:
		return Step{DeleteStack, NeverCreated}
	case s.Status == types.StackStatusDeleteFailed:
		return Step{Stop, DeletionFailed}
	case s.Status == types.StackStatusUpdateRollbackFailed:
		return Step{Stop, RollbackFailed}
	case !s.Bucket:
		return Step{MakeBucket, NoBucket}
	case !done(MakeBucket):
		return Step{MakeBucket, NotConfigured}
	case len(s.Missing) > 0:
		return Step{Upload, NotUploaded}
	case s.Status == "" || s.Status == types.StackStatusReviewInProgress:
		return Step{Change, NotThere}
	case !s.Current && !done(Change):
		return Step{Change, Differs}
	case s.SecretEmpty && !done(FillSecret):
		return Step{FillSecret, SecretEmpty}
	case !done(GrantAccess):
		return Step{GrantAccess, AccessNotGiven}
	}
	return Step{Examine, EverythingThere}
}
