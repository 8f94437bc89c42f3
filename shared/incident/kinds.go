package incident

import (
	"rollcall/shared/checks"
	"rollcall/shared/checks/check"
)

// Left is the name of the evidence that says what is left of a cause that is
// not pressing any more.
const Left = "Left"

// CannotLook is the check id of the incidents about Rollcall's own sight: a
// permission that is missing, a service that does not answer. It is none of
// the catalogue's checks; its resource is the permission's name.
const CannotLook checks.ID = "rollcall/cannot-look"

func (inc *Incident) IsSymptom() bool { return inc.Cause.Confidence == checks.Symptom }

func (inc *Incident) IsBlind() bool { return inc.Key.Check == CannotLook }

// ByItself tells that an incident is about what EKS says of itself, about a
// Spot pool over days, about a zone, what Karpenter says of its own objects, or about a subnet's addresses that nobody lacked yet:
// that it is otherwise now is all the proof there is, and no node is waited for.
func (inc Incident) ByItself() bool {
	switch checks.Meaning(inc.Key.Check).Proof {
	case check.ByPassing:
		return true
	case check.ByPassingUnmet:
		return inc.Affected == 0
	}
	return false
}

// Explains tells whether an incident can be the reason why instances did not
// join, so that their symptoms need no message of their own. A mere
// possibility is told beside the symptom, not instead of it.
func (inc *Incident) Explains() bool {
	return !inc.IsBlind() && (inc.Cause.Confidence == checks.Certain || inc.Cause.Confidence == checks.Likely)
}
