// Package call says what came of one call that changes something in AWS, in a
// way that one can decide on. It imports nothing of AWS.
package call

// Outcome is what came of a change.
type Outcome string

// The outcomes. All but Done and Uncertain are sure to have changed nothing.
const (
	Done      Outcome = "done"
	WouldDo   Outcome = "would do" // in a dry run
	InUse     Outcome = "in use"
	NotThere  Outcome = "not there"
	Throttled Outcome = "throttled"
	Denied    Outcome = "denied"
	Refused   Outcome = "refused" // for another reason: see Code
	// NoRole: the role in which the call is made, another account's, could not be assumed.
	// The call was not sent.
	NoRole Outcome = "no role"
	// Uncertain: no answer came, or one that does not say whether it was done.
	Uncertain Outcome = "uncertain"
)

// Answer is AWS's answer to a change.
type Answer struct {
	Outcome Outcome
	// Request is AWS's request id; empty where no answer came.
	Request string
	// Code and Message are those of an error.
	Code, Message string
}

// NotAsked is the answer to a change that is not asked of AWS, as what is wanted
// is not what the remedy does.
func NotAsked(code, message string) Answer {
	return Answer{Outcome: Refused, Code: code, Message: message}
}
