package report

import (
	"slices"
	"strings"
	"time"

	"rollcall/shared/audience"
	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
)

// Policy is what an operator may set.
type Policy struct {
	// ProofTime is how long an incident whose cause is gone waits for proof.
	ProofTime time.Duration
	// ReopenTime is how long a closed incident is reopened, not said anew.
	ReopenTime time.Duration
	// RemindAfter is after how long people are called again; 0 for never.
	RemindAfter time.Duration
	// Routes tell who hears of what. Of nodegroups' tags only TagKeys are kept.
	Routes  []audience.Route
	TagKeys []string
	// Channel is for what no route sends elsewhere.
	Channel string
}

// maxApplied is how many observations a record remembers. The queue drops
// repeats for five minutes (SQS FIFO); what it repeats later is among these,
// and would change nothing anyway but the count of a pending incident.
const maxApplied = 32

// Decide tells what an observation makes of the cluster's incidents. It gives
// a decision for each incident that the observation or the passing of time
// touches, in the order of previous, then the new ones.
//
// Observations may come late, twice, or not at all. So each subnet or instance
// has its own newest verdict, a launch never goes back, and an observation
// from before what is known changes nothing.
func Decide(previous []Incident, obs Observation, now time.Time, policy Policy) []Decision {
	d := reconciler{desk{obs: obs, now: now, policy: policy}}
	for _, inc := range previous {
		if inc.Key.Cluster != obs.Cluster {
			continue
		}
		f := &draft{Incident: inc.clone(), repeated: slices.Contains(inc.Applied, obs.ID)}
		if !f.repeated {
			d.follow(f)
		}
		d.drafts = append(d.drafts, f)
	}
	if obs.ClusterGone {
		return d.goneCluster()
	}
	causes := d.causes()
	for _, cause := range causes {
		if f := d.find(Key{Cluster: obs.Cluster, Check: cause.Check, Resource: cause.Resource}); f != nil && !f.repeated && f.State != Closed {
			d.relate(f, cause)
		}
	}
	for _, cause := range causes {
		d.take(cause)
	}
	for _, f := range d.drafts {
		if !f.repeated {
			d.look(f)
		}
	}
	for _, f := range d.drafts {
		if !f.repeated {
			d.verify(f)
			d.settle(f)
			d.verify(f) // a node that joined ended the incident
		}
	}
	// Last, because an incident can be superseded by any other.
	d.gather()
	for _, f := range d.drafts {
		if !f.repeated {
			d.supersede(f)
		}
	}
	for _, f := range d.drafts {
		if !f.repeated {
			d.draw(f)
		}
	}
	return d.decisions()
}

// decisions are what is to be recorded, said and told.
func (d *reconciler) decisions() (list []Decision) {
	for _, f := range d.drafts {
		if decision, touched := d.conclude(f); touched {
			list = append(list, decision)
		}
	}
	return list
}

// goneCluster is what is left to decide when the cluster does not exist.
func (d *reconciler) goneCluster() []Decision {
	for _, f := range d.drafts {
		if !f.repeated {
			f.take(f.AfterClusterDeleted(d.obs.At), d.now)
		}
	}
	return d.decisions()
}

// reconciler takes one observation in.
type reconciler struct{ desk }

// desk is one observation on its way through the incidents.
type desk struct {
	obs    Observation
	now    time.Time
	policy Policy
	drafts []*draft
}

// draft is an incident as it may become.
type draft struct {
	Incident
	reasons []Reason
	// missed are the launches that missed roll call now.
	missed   []string
	changed  bool
	repeated bool
	late     bool
	// joined are notes on what belongs to it from now on.
	joined []Note
}

// take makes a step, for its reason.
func (f *draft) take(t Transition, now time.Time) {
	if t.None() {
		return
	}
	f.Apply(t, now)
	f.because(t.Reason)
}

// because notes why it changes.
func (f *draft) because(r Reason) {
	f.changed = true
	if !slices.Contains(f.reasons, r) {
		f.reasons = append(f.reasons, r)
	}
}

func (inc *Incident) symptom() bool { return inc.Cause.Confidence == checks.Symptom }
func (inc *Incident) blind() bool   { return inc.Key.Check == CannotLook }

// ByItself tells that an incident is about what EKS says of itself, about a
// Spot pool over days, about a zone, or about a subnet's addresses that nobody lacked yet:
// that it is otherwise now is all the proof there is, and no node is waited for.
func (inc Incident) ByItself() bool {
	group, _, _ := strings.Cut(string(inc.Key.Check), "/")
	if group == "ip" && inc.Key.Check != subnetExhausted {
		return inc.Affected == 0
	}
	return group == "zone" || group == "addon" || group == "cluster" || group == "nodegroup" || inc.Key.Check == "spot/pool-failing"
}

// explains tells whether an incident can be the reason why instances did not
// join, so that their symptoms need no message of their own. A mere
// possibility is told beside the symptom, not instead of it.
func (inc *Incident) explains() bool {
	return !inc.blind() && (inc.Cause.Confidence == checks.Certain || inc.Cause.Confidence == checks.Likely)
}

// causes are the diagnosis's causes and what could not be looked at; symptoms
// come last, when it is known what explains them. Advice is no incident:
// nothing failed because of it, and nobody is to be called for it.
func (d *reconciler) causes() []diagnose.Cause {
	causes := slices.Concat(d.obs.Diagnosis.Causes, blindCauses(d.obs))
	causes = slices.DeleteFunc(causes, func(c diagnose.Cause) bool { return c.Confidence == checks.Advice })
	slices.SortStableFunc(causes, func(a, b diagnose.Cause) int {
		return addressesFirst(a) - addressesFirst(b)
	})
	return causes
}

func (d *desk) find(key Key) *draft {
	for _, f := range d.drafts {
		if f.Key == key {
			return f
		}
	}
	return nil
}
