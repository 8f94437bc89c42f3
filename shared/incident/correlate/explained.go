package correlate

import (
	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
	"slices"
	"strings"
)

// Explained tells whether a symptom's instances are all among the launches of
// incidents that explain it: those that stand, and for a while those that
// ended well, since an instance that came too early may never join by itself.
func (d *Look) Explained(cause diagnose.Cause) bool {
	if d.attachToKnown(cause) || d.attachStarvedNodes(cause) {
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
		if !slices.ContainsFunc(d.Updates, func(f *incident.Update) bool {
			return (f.Explains() || saysOfInstances(f, cause)) && f.Affects(id) && d.stillExplains(f)
		}) {
			return false
		}
	}
	return len(ids) > 0
}

// saysOfInstances tells that an incident is a symptom of the instances themselves, and
// the cause what EKS says of their nodegroup: one message is enough.
func saysOfInstances(f *incident.Update, cause diagnose.Cause) bool {
	return f.IsSymptom() && !f.ByItself() && strings.HasPrefix(string(cause.Check), "nodegroup/")
}

func (d *Look) stillExplains(f *incident.Update) bool {
	switch f.State {
	case incident.Open, incident.Cleared:
		return true
	case incident.Closed:
		return f.Resolution == incident.Proved && d.Now.Sub(f.Resolved) < d.Policy.ProofTime
	}
	return false
}
