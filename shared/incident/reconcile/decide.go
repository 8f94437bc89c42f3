// Package reconcile tells what an observation makes of a cluster's incidents:
// which opens, changes, is resolved or comes back, and why.
package reconcile

import (
	"slices"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
	"rollcall/shared/incident/correlate"
	"rollcall/shared/report"
)

// Decide tells what an observation makes of the cluster's incidents. It gives
// a decision for each incident that the observation or the passing of time
// touches, in the order of previous, then the new ones.
//
// Observations may come late, twice, or not at all. So each subnet or instance
// has its own newest verdict, a launch never goes back, and an observation
// from before what is known changes nothing.
func Decide(previous []incident.Incident, obs report.Observation, now time.Time, policy incident.Policy) []incident.Decision {
	rec := reconciler{correlate.Look{Observation: obs, Now: now, Policy: policy}}
	rec.begin(previous)
	if obs.ClusterGone {
		rec.each(rec.closeWithCluster)
		return rec.decisions()
	}
	causes := rec.causes()
	rec.relate(causes)
	for _, cause := range causes {
		rec.applyCause(cause)
	}
	rec.each(rec.applyVerdicts)
	rec.each(rec.advance)
	// Last, because an incident can be superseded by any other.
	rec.AttachExplained()
	rec.each(rec.Supersede)
	rec.each(rec.updateCapacity)
	rec.each(rec.worsen)
	rec.each(rec.updateChart)
	return rec.decisions()
}

// CloseUnwatched closes the incidents of a cluster that is not watched any more, with the
// first that is observed of it: by a function that began before, or by report's own clock.
// What was observed is not taken in.
func CloseUnwatched(previous []incident.Incident, obs report.Observation, now time.Time, policy incident.Policy) []incident.Decision {
	rec := reconciler{correlate.Look{Observation: obs, Now: now, Policy: policy}}
	rec.begin(previous)
	rec.each(func(u *incident.Update) { u.Apply(u.AfterUnwatched(now), now) })
	return rec.decisions()
}

// begin takes in the cluster's incidents, and how their launches stand now.
func (rec *reconciler) begin(previous []incident.Incident) {
	for _, inc := range previous {
		if inc.Key.Of() == rec.Observation.Of() {
			u := &incident.Update{Incident: inc.Clone(), Repeated: slices.Contains(inc.Applied, rec.Observation.ID)}
			if inc.State == incident.Open {
				u.Was = inc.Severity()
			}
			rec.Updates = append(rec.Updates, u)
		}
	}
	rec.each(rec.updateLaunches)
}

// each makes a step of every incident that the observation is new to.
func (rec *reconciler) each(step func(*incident.Update)) {
	for _, u := range rec.Updates {
		if !u.Repeated {
			step(u)
		}
	}
}

// relate takes in which failures the look explains with which, before any of them
// is taken in.
func (rec *reconciler) relate(causes []diagnose.Cause) {
	for _, cause := range causes {
		key := rec.Observation.Key(cause.Check, cause.Resource)
		if u := rec.find(key); u != nil && !u.Repeated && u.State != incident.Closed {
			rec.RecordRelations(u, cause)
		}
	}
}

// advance verifies remedies and takes an incident as far as it goes; a node that
// joined may end it, which verifies the remedy that replaced one.
func (rec *reconciler) advance(u *incident.Update) {
	rec.verifyRemedies(u)
	rec.transition(u)
	rec.verifyRemedies(u)
}

// worsen tells of an incident that has become critical.
func (rec *reconciler) worsen(u *incident.Update) {
	if u.GotWorse(rec.Now) {
		u.Because(incident.IsWorse)
	}
}

// closeWithCluster ends an incident whose cluster does not exist any more.
func (rec *reconciler) closeWithCluster(u *incident.Update) {
	u.Apply(u.AfterClusterDeleted(rec.Observation.At), rec.Now)
}

// decisions are what is to be recorded, said and told.
func (rec *reconciler) decisions() (list []incident.Decision) {
	for _, u := range rec.Updates {
		if decision, touched := rec.decisionOn(u); touched {
			list = append(list, decision)
		}
	}
	return list
}

// reconciler takes one observation in.
type reconciler struct{ correlate.Look }

// causes are the diagnosis's causes and what could not be looked at; symptoms
// come last, when it is known what explains them. Advice is no incident:
// nothing failed because of it, and nobody is to be called for it.
func (rec *reconciler) causes() []diagnose.Cause {
	causes := slices.Concat(rec.Observation.Diagnosis.Causes, blindCauses(rec.Observation))
	causes = slices.DeleteFunc(causes, func(c diagnose.Cause) bool { return c.Confidence == checks.Advice })
	slices.SortStableFunc(causes, func(a, b diagnose.Cause) int {
		return addressesFirst(a) - addressesFirst(b)
	})
	return causes
}

func (rec *reconciler) find(key report.Key) *incident.Update {
	for _, u := range rec.Updates {
		if u.Key == key {
			return u
		}
	}
	return nil
}

// addressesFirst orders the causes of one look: a leak is taken in before what
// belongs to it.
func addressesFirst(c diagnose.Cause) int {
	switch {
	case c.Check == checkid.IPLeakedInterfaces:
		return -1
	case c.Check == checkid.IPRunway:
		return 1
	case c.Confidence == checks.Symptom, c.Check == checkid.NodeCNINotReady:
		return 2
	}
	return 0
}
