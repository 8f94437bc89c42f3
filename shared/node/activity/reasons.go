package activity

import (
	"rollcall/shared/checkid"
	"strings"
)

// The pointers beside the classes of failed launches.
const (
	endedEarly = checkid.InstanceEndedEarly
	reclaimed  = checkid.SpotReclaimedBeforeJoin
)

// UserInitiated is the state reason code both of a person's call and of a
// group's scale-in.
const UserInitiated = "Client.UserInitiatedShutdown"

// reason is what a state reason code means that is no failed launch.
type reason struct {
	code          string // a code, or the part before a dot that codes begin with
	class         checkid.ID
	meaning, next string
	neverRan      bool
	vague         bool // the message may tell more
}

// reasons are the codes that EC2 gives for an instance that ended (API
// reference, StateReason; messages seen in the field). Those of failed
// launches stand in the table.
func reasons() []reason {
	const spot = "Nothing is wrong with the node. More instance types and zones make it rarer."
	return []reason{
		{code: "Server.SpotInstanceTermination", class: reclaimed, meaning: "EC2 took the Spot capacity back", next: spot},
		{code: "Server.SpotInstanceShutdown", class: reclaimed, meaning: "EC2 took the Spot capacity back", next: spot},
		{code: "Server.ScheduledStop", class: endedEarly, meaning: "EC2 stopped it for scheduled maintenance", next: "Let the group replace it."},
		{code: "Server.InternalError", class: endedEarly, meaning: "a fault inside EC2", neverRan: true, vague: true,
			next: "Let the group try again; where it repeats, look for a KMS key that the launcher may not use."},
		{code: "Client.InstanceInitiatedShutdown", class: endedEarly, meaning: "its own operating system shut it down",
			next: "Read the console output: user data or a boot script ends in a shutdown."},
		{code: "Client.InstanceTerminated", class: endedEarly, meaning: "it was shut down while it started", next: "Read the scaling activity of its group."},
		{code: "Client.UserInitiatedHibernate", class: endedEarly, meaning: "somebody hibernated it", next: "Ask CloudTrail for the StopInstances call."},
		{code: UserInitiated, class: endedEarly, meaning: "somebody, or its Auto Scaling group, ended it",
			next: "Ask CloudTrail for the TerminateInstances or StopInstances call, and read the scaling activity of its group."},
	}
}

// ClassifyReason tells why an instance ended, from EC2's state reason. The
// class is one of a failed launch, spot/reclaimed-before-join, or
// instance/ended-early for all other ends. The message counts only for a code
// that says nothing exact: EC2 gives Server.InternalError with a message that
// begins with Client.InternalError.
func ClassifyReason(code, message string) Verdict {
	text := strings.TrimPrefix(code+": "+message, ": ")
	if code != "" && strings.HasPrefix(message, code) {
		text = message
	}
	known, exact := reasonOf(code)
	if !exact || known.vague {
		if m, _, ok := match(text, table()); ok && m.class != checkid.LaunchUnclassified {
			return Classify(text)
		}
	}
	v := Verdict{Class: endedEarly, Text: Clean(text), Named: named(text)}
	switch {
	case exact:
		v.Class, v.Meaning, v.Next, v.NeverRan = known.class, known.meaning, known.next, known.neverRan
	case code != "":
		v.Meaning, v.Next = "EC2 says "+Clean(code), "Read the scaling activity of its group and the instance's state transition reason."
	default:
		v.Meaning, v.Next = "EC2 gives no reason", "Read the scaling activity of its group and the instance's state transition reason."
	}
	return v
}

func reasonOf(code string) (reason, bool) {
	for _, r := range reasons() {
		if code == r.code || strings.HasPrefix(code, r.code+".") {
			return r, true
		}
	}
	return reason{}, false
}

// Ended finds a state reason of an instance that ended in a text that somebody
// pasted.
func Ended(text string) (Verdict, bool) {
	for _, r := range reasons() {
		if coded(text, r.code) {
			return ClassifyReason(r.code, ""), true
		}
	}
	return Verdict{}, false
}
