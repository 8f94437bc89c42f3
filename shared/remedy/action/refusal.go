package action

import (
	"fmt"
	"time"

	"rollcall/shared/snapshot"
)

// Reason is a typed word for why there is no plan. The words are permanent:
// they stand in audit records.
type Reason string

// The reasons that are not one remedy's alone.
const (
	// CouldNotLook: something that the plan rests on was not read.
	CouldNotLook Reason = "could-not-look"
	// NotSo: the check that found the cause does not find it any more.
	NotSo Reason = "not-so"
	// NotCertain: it is found, but something unseen could make it harmless.
	NotCertain   Reason = "not-certain"
	NoSuchRemedy Reason = "no-such-remedy"
	Gone         Reason = "gone"
	OtherVPC     Reason = "other-vpc"
	OtherAccount Reason = "other-account"
	OtherCluster Reason = "other-cluster"
	// RoleNotAssumed: the role of the account in which it would be done does not let in.
	RoleNotAssumed Reason = "role-not-assumed"
	SharedVPC      Reason = "shared-vpc"
	CauseIsThere   Reason = "cause-is-there"
	TooSoon        Reason = "too-soon"
	GroupScales    Reason = "group-scales"
	NotTheGroups   Reason = "not-the-groups"
	Suspended      Reason = "suspended"
	NothingToDo    Reason = "nothing-to-do"
	AlreadyThere   Reason = "already-there"
	AnotherChange  Reason = "another-change"
	// NotLaunchedByIt: nothing of the cluster launched the instance.
	NotLaunchedByIt Reason = "not-launched-by-the-cluster"
)

// Refusal is why there is no plan.
type Refusal struct {
	Reason Reason
	// Says is a sentence for people.
	Says string
	// Blocked is what could not be looked at.
	Blocked []snapshot.Failure
	// Again is when it is worth trying again; zero where only a change helps.
	Again time.Time
}

// Refuse says why there is no plan: for people by a format and its values.
func Refuse(r Reason, format string, values ...any) *Refusal {
	return &Refusal{Reason: r, Says: fmt.Sprintf(format, values...)}
}

// Unread refuses what would rest on something that was not read.
func Unread(blocked ...snapshot.Failure) *Refusal {
	f := blocked[0]
	says := fmt.Sprintf("No plan is made where something could not be read: %s, %s", f.Source, f.Reason)
	if f.Call != "" {
		says += " (" + f.Call + ")"
	}
	return &Refusal{Reason: CouldNotLook, Says: says + ".", Blocked: blocked}
}

// Missing refuses what would rest on a part of a source that its answer, which
// was read, does not hold: a message says which.
func Missing(source snapshot.Source, message string) *Refusal {
	return Unread(snapshot.Failure{Source: source, Reason: snapshot.Broken, Message: message})
}
