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

// ByItself reports whether an incident ends when its check passes, without a node that joins:
// it is about what EKS or Karpenter says of its own objects, a Spot pool over days, a zone, a
// subnet's addresses that no launch lacked yet, or pods that wait on Ready nodes.
func (inc Incident) ByItself() bool {
	if inc.Affected == 0 && inc.Cause.OfPods() {
		return true
	}
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
