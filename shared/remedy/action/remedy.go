package action

import (
	"context"

	"rollcall/shared/spec"

	"rollcall/shared/remedy/optin"
	"rollcall/shared/snapshot"
)

// Remedy is all that is known of a remedy: P is its own part of a plan, C the
// calls of AWS by which it is done. What is nil or empty does not apply to it.
type Remedy[P, C any] struct {
	Name optin.Remedy
	// Cures says what it is for: "Subnets whose route table has no route to the internet."
	Cures string
	// AfterCause: it is for what failed while a cause was there that is gone now.
	// All others are for a cause that is there.
	AfterCause bool
	// Elsewhere is the function that does it once it is approved, where remediate
	// does not: "eni-cleanup".
	Elsewhere string

	// Sources are those without which it is not planned, whatever its check needs.
	Sources []snapshot.Source
	// Uses are read where they can be: they prove what else a person decides.
	Uses []snapshot.Source
	// More is what it is planned from beside them.
	More More

	// Plan plans it from a fresh look, or says why not.
	Plan func(Look) (*P, *Refusal)
	// Most is how many things one plan changes at most; 0: one.
	Most int
	// Left is how many things more would be planned, if one plan could hold any
	// number.
	Left func(Look) int
	// Quiet are its own reasons which say that there is nothing to do: nobody needs
	// to hear them.
	Quiet []Reason

	// VPC is the VPC in which a plan changes the network: it must be one of those
	// that the operator named (setting remedyVpcs).
	VPC func(P) string
	// PersonDecides says why a person decides on a plan although the policy is
	// auto; empty where the policy may.
	PersonDecides func(P) string
	// Things is how many things a plan changes, as the limit of an hour counts
	// them; nil: one.
	Things func(P) int
	// Applied tells whether the world is now as a plan makes it. Known is false
	// where that could not be looked at.
	Applied func(P, *snapshot.Snapshot) (done, known bool)

	// Words are a plan's words for people.
	Words func(P, Place) Words
	// Do does a plan. By the token EKS knows a call that it has had already.
	Do func(ctx context.Context, calls C, p P, at Place, token string) Result
	// Grants allow what Do calls, as narrowly as the settings have it.
	Grants func(OptIn) []spec.Grant
}

// Make plans the remedy, where all that a plan rests on was read, or says why not.
func (r Remedy[P, C]) Make(l Look) (*P, *Refusal) {
	if no := l.Whole(r.Sources); no != nil {
		return nil, no
	}
	return r.Plan(l)
}

// More is what is read for a remedy beside sources of a snapshot, which do not
// hold all of it.
type More struct {
	// GroupMembers are all instances of the cluster's Auto Scaling groups.
	GroupMembers bool
	// Sightings are what runs of eni-cleanup remember of the VPC's interfaces.
	Sightings bool
	// WearersOf are the security groups of which all interfaces are looked for.
	WearersOf func(*snapshot.Snapshot, Subject) []string
}

// Place is where a plan is done.
type Place struct{ Region, Cluster string }
