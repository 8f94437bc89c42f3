package correlate

import (
	"rollcall/shared/checks"
	"rollcall/shared/checks/check"
	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
	"slices"
)

// Explained tells whether a symptom's instances are all among the launches of
// incidents that explain it: those that stand, and for a while those that
// ended well, since an instance that came too early may never join by itself.
func (look *Look) Explained(cause diagnose.Cause) bool {
	if look.attachToKnown(cause) || look.attachStarvedNodes(cause) {
		return true
	}
	if cause.Confidence != checks.Symptom {
		return false
	}
	ids := cause.Instances
	if len(ids) == 0 {
		ids = cause.Covers
	}
	for _, id := range ids {
		if !slices.ContainsFunc(look.Updates, func(u *incident.Update) bool {
			return (u.Explains() || saysOfInstances(u, cause)) && u.Affects(id) && look.stillExplains(u)
		}) {
			return false
		}
	}
	return len(ids) > 0
}

// saysOfInstances tells that an incident is a symptom of the instances themselves, and
// the cause what EKS says of their nodegroup: one message is enough.
func saysOfInstances(u *incident.Update, cause diagnose.Cause) bool {
	return u.IsSymptom() && !u.ByItself() && checks.Meaning(cause.Check).CoversToo == check.Nodegroups
}

func (look *Look) stillExplains(u *incident.Update) bool {
	switch u.State {
	case incident.Open, incident.Cleared:
		return true
	case incident.Closed:
		return u.Resolution == incident.Proved && look.Now.Sub(u.Resolved) < look.Policy.ProofTime
	}
	return false
}
