package action

import (
	"cmp"
	"fmt"

	"rollcall/shared/remedy/call"
)

// Status is what came of a plan. The words are permanent: they stand in audit
// records.
type Status string

// The statuses.
const (
	Done Status = "done"
	// Refused: the precondition did not hold, or a limit or a rule forbade it.
	// Nothing was changed.
	Refused Status = "refused"
	// Failed: AWS refused it. Nothing was changed.
	Failed Status = "failed"
	// Partly: some steps were done, a later one was not: Says tells which.
	Partly Status = "partly"
	// Uncertain: no answer came that says whether it was done.
	Uncertain Status = "uncertain"
)

// Result is what came of doing a plan.
type Result struct {
	Status Status
	// Reason is AWS's code of an error.
	Reason string
	// Says is a sentence for people.
	Says string
	// Changed are the ids of what was changed, Requests AWS's request ids.
	Changed, Requests []string
}

// One is the result of a step of one call, which changes the thing of an id.
func One(id string, a call.Answer) Result {
	r := Result{Status: Done}
	if a.Request != "" {
		r.Requests = []string{a.Request}
	}
	switch a.Outcome {
	case call.Done:
		r.Changed = []string{id}
		return r
	case call.Uncertain:
		r.Status = Uncertain
		r.Says = "No answer came that says whether it was done."
	case call.NoRole:
		r.Status = Failed
		r.Says = fmt.Sprintf("Nothing was changed: the role in which it is done does not let Rollcall in (%s).", cmp.Or(a.Code, a.Message))
		r.Reason = string(RoleNotAssumed)
		return r
	default:
		r.Status = Failed
		r.Says = fmt.Sprintf("Nothing was changed: AWS says %s: %s", a.Code, a.Message)
	}
	r.Reason = a.Code
	return r
}
