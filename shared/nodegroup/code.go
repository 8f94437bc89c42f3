// Package nodegroup decides what has changed about managed nodegroups since
// the last look, and says what EKS's codes mean. EKS itself sends no event when
// a nodegroup's status changes: what is decided here becomes that event.
//
// It is pure: no clock, no client, no state but the record it is given.
package nodegroup

import "cmp"

// Class is what kind of trouble a code tells of.
type Class string

// The classes.
const (
	Join    Class = "join"     // instances run and do not become nodes
	Launch  Class = "launch"   // instances are not started
	Network Class = "network"  // subnets, security groups, the way to the API
	Address Class = "address"  // no free addresses
	IAM     Class = "iam"      // roles, profiles, rights
	Quota   Class = "quota"    // a quota of the account
	Drift   Class = "drift"    // somebody changed or deleted what EKS made
	Config  Class = "config"   // what was asked for cannot be
	Update  Class = "update"   // an update cannot go on
	Limit   Class = "throttle" // a service asked EKS to slow down
	EKS     Class = "eks"      // a fault inside EKS
	Other   Class = "other"
)

// Code is what a code of EKS means.
type Code struct {
	Class Class
	// Meaning ends the sentence "EKS says: …", without a full stop.
	Meaning string
	// Next is the next step: whole sentences.
	Next string
	// Command is the command that the next step begins with, where it is the
	// same for every nodegroup.
	Command string
	// Symptom tells that the code says how something shows, not why.
	Symptom bool
	// Disproved tells that an instance that was started later and became a
	// node shows that it is over, whatever EKS still says.
	Disproved bool
	// Known is false for a code that this version does not know.
	Known bool
}

// OfIssue is the code of a nodegroup's health issue. One that nobody knows
// here is an Other.
func OfIssue(code string) Code { return of(issueCodes(), code) }

// OfUpdate is the code of an update's error.
func OfUpdate(code string) Code { return of(updateCodes(), code) }

func of(known map[string]Code, code string) Code {
	c, ok := known[code]
	if !ok {
		return Code{
			Class: Other, Meaning: "a code that Rollcall does not know: " + cmp.Or(code, "none is given"),
			Next: "Start from EKS's message and the resources that it names; newer versions of EKS's API reference list the code.",
		}
	}
	c.Known = true
	return c
}
