// Package reconcile tells what an observation makes of a cluster's incidents:
// which opens, changes, is resolved or comes back, and why.
package reconcile

import (
	"slices"
	"time"

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
	d := reconciler{correlate.Look{Observation: obs, Now: now, Policy: policy}}
	for _, inc := range previous {
		if inc.Key.Cluster != obs.Cluster {
			continue
		}
		f := &incident.Update{Incident: inc.Clone(), Repeated: slices.Contains(inc.Applied, obs.ID)}
		if !f.Repeated {
			d.updateLaunches(f)
		}
		d.Updates = append(d.Updates, f)
	}
	if obs.ClusterGone {
		return d.goneCluster()
	}
	causes := d.causes()
	for _, cause := range causes {
		if f := d.find(report.Key{Cluster: obs.Cluster, Check: cause.Check, Resource: cause.Resource}); f != nil && !f.Repeated && f.State != incident.Closed {
			d.RecordRelations(f, cause)
		}
	}
	for _, cause := range causes {
		d.applyCause(cause)
	}
	for _, f := range d.Updates {
		if !f.Repeated {
			d.applyVerdicts(f)
		}
	}
	for _, f := range d.Updates {
		if !f.Repeated {
			d.verifyRemedies(f)
			d.transition(f)
			d.verifyRemedies(f) // a node that joined ended the incident
		}
	}
	// Last, because an incident can be superseded by any other.
	d.AttachExplained()
	for _, f := range d.Updates {
		if !f.Repeated {
			d.Supersede(f)
		}
	}
	for _, f := range d.Updates {
		if !f.Repeated {
			d.updateChart(f)
		}
	}
	return d.decisions()
}

// decisions are what is to be recorded, said and told.
func (d *reconciler) decisions() (list []incident.Decision) {
	for _, f := range d.Updates {
		if decision, touched := d.decisionOn(f); touched {
			list = append(list, decision)
		}
	}
	return list
}

// goneCluster is what is left to decide when the cluster does not exist.
func (d *reconciler) goneCluster() []incident.Decision {
	for _, f := range d.Updates {
		if !f.Repeated {
			f.Apply(f.AfterClusterDeleted(d.Observation.At), d.Now)
		}
	}
	return d.decisions()
}

// reconciler takes one observation in.
type reconciler struct{ correlate.Look }

// causes are the diagnosis's causes and what could not be looked at; symptoms
// come last, when it is known what explains them. Advice is no incident:
// nothing failed because of it, and nobody is to be called for it.
func (d *reconciler) causes() []diagnose.Cause {
	causes := slices.Concat(d.Observation.Diagnosis.Causes, blindCauses(d.Observation))
	causes = slices.DeleteFunc(causes, func(c diagnose.Cause) bool { return c.Confidence == checks.Advice })
	slices.SortStableFunc(causes, func(a, b diagnose.Cause) int {
		return addressesFirst(a) - addressesFirst(b)
	})
	return causes
}

func (d *reconciler) find(key report.Key) *incident.Update {
	for _, f := range d.Updates {
		if f.Key == key {
			return f
		}
	}
	return nil
}

// addressesFirst orders the causes of one look: a leak is taken in before what
// belongs to it.
func addressesFirst(c diagnose.Cause) int {
	switch {
	case c.Check == incident.LeakedInterfaces:
		return -1
	case c.Check == incident.Runway:
		return 1
	case c.Confidence == checks.Symptom, c.Check == incident.CniNotReady:
		return 2
	}
	return 0
}
