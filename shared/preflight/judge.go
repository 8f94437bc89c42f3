package preflight

import (
	"slices"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/snapshot"
)

// ofLaunched are the sources of what only a launched instance has, and of what
// was launched before.
func ofLaunched(source snapshot.Source) bool {
	switch source {
	case snapshot.Consoles, snapshot.Statuses, snapshot.Activities, snapshot.NodeEventsOf, snapshot.CSRs, snapshot.Updates,
		snapshot.LaunchHistory, snapshot.NodeClaimsOf, snapshot.WaitingPods:
		return true
	}
	return false
}

// List are the checks that are asked: those of every launch and of the subnets'
// addresses that can judge without what only a launched instance has.
func List() []checks.Check {
	var list []checks.Check
	for _, c := range slices.Concat(checks.OfLaunches(), checks.OfAddresses()) {
		again := slices.ContainsFunc(list, func(have checks.Check) bool { return have.ID == c.ID })
		if !again && !slices.ContainsFunc(c.Needs, ofLaunched) {
			list = append(list, c)
		}
	}
	return list
}

// Then are the sources that the checks ask for, beside those that are planned, and the
// settings of the account that refuse launches.
func (d *Draft) Then() []snapshot.Source {
	list := []snapshot.Source{snapshot.MetadataDefaultsOf}
	for _, c := range List() {
		for _, source := range slices.Concat(c.Needs, c.Uses) {
			if !slices.Contains(list, source) && !ofLaunched(source) {
				list = append(list, source)
			}
		}
	}
	slices.Sort(list)
	return list
}

// Verdict is what is said of a plan.
type Verdict struct {
	Plan Plan
	// Refused is what AWS would refuse when the thing is made; Causes is what
	// would keep its nodes from joining, or is advice, the first to be mended
	// first.
	Refused []Refusal
	Causes  []diagnose.Cause
	Unknown []diagnose.Unknown
}

// Fails tells that it would not be made, or that nodes would not join. What is
// only possible may do harm to nodes that join.
func (v Verdict) Fails() bool {
	return len(v.Refused) > 0 || slices.ContainsFunc(v.Causes, func(c diagnose.Cause) bool {
		return c.Confidence == checks.Certain || c.Confidence == checks.Likely
	})
}

// Judge asks the checks of what Complete has left.
func (d *Draft) Judge() Verdict {
	v := Verdict{Plan: d.Plan}
	r := d.refusals()
	unknown := r.unknown
	v.Refused = r.list
	if len(d.planned) == 0 {
		v.Causes, v.Unknown = r.advice, unknown
		return v
	}
	list, optional := List(), map[checkid.ID]bool{}
	for i := range list {
		// Nodes that have joined do not show that what was not read is in order.
		optional[list[i].ID], list[i].Optional = list[i].Optional, false
	}
	if slices.ContainsFunc(d.fleets, func(n *nodes) bool { return n.bare }) {
		list = slices.DeleteFunc(list, func(c checks.Check) bool { return !ofPlace(c.ID) })
	}
	found := diagnose.Rank(list, checks.Eval(list, d.S), d.S)
	for _, c := range found.Causes {
		if c.Confidence != checks.Symptom && !v.told(c) && !d.byDesign(c) {
			v.Causes = append(v.Causes, would(c))
		}
	}
	v.Causes = append(v.Causes, r.advice...)
	for _, u := range found.Unknown {
		u.Blocked = slices.DeleteFunc(slices.Clone(u.Blocked), func(f snapshot.Failure) bool {
			return ofLaunched(f.Source) || (len(v.Refused) > 0 || optional[u.Check]) && !kept(f.Reason)
		})
		if len(u.Blocked) > 0 {
			unknown = append(unknown, u)
		}
	}
	v.Unknown = unknown
	return v
}

// byDesign tells that a cause is how Karpenter and EKS Auto Mode set nodes up where
// nobody says otherwise: pods do not reach the metadata service (Karpenter,
// "spec.metadataOptions", defaults; EKS best practices, "Restrict access to the instance
// profile assigned to the worker node").
func (d *Draft) byDesign(c diagnose.Cause) bool {
	return c.Check == checkid.InstanceIMDS && c.Confidence == checks.Possible && len(d.fleets) > 0 &&
		!slices.ContainsFunc(d.fleets, func(n *nodes) bool { return n.class == nil || n.class.Metadata.HopLimit != 0 })
}

// kept tells that somebody was kept from looking. What is unknown for another
// reason beside a refusal follows from it: of a subnet that is not there no check
// can tell anything.
func kept(r snapshot.Reason) bool {
	return r == snapshot.Denied || r == snapshot.Throttled || r == snapshot.TimedOut || r == snapshot.Unreachable
}

// told tells that a refusal says already what a cause says.
func (v Verdict) told(c diagnose.Cause) bool {
	return slices.ContainsFunc(v.Refused, func(r Refusal) bool {
		return slices.ContainsFunc(append(slices.Clone(c.Resources), c.Resource), func(id string) bool { return slices.Contains(r.about, id) })
	})
}

// would words a cause for what is only planned: nothing of it is to be replaced,
// and there is no instance to be looked at or to change.
func would(c diagnose.Cause) diagnose.Cause {
	c.Symptoms = nil
	if strings.Contains(c.Fix.Command, plannedPrefix) {
		c.Fix.Command = ""
	}
	if strings.Contains(c.Fix.Console, plannedPrefix) {
		c.Fix.Console = ""
	}
	c.Fix.Remedy = "" // there is nothing yet to be remedied
	c.Fix.Text = withoutReplacing(c.Fix.Text)
	return c
}

// plannedPrefix begins the names of planned nodes and images.
const plannedPrefix = "planned-"

// withoutReplacing leaves out the sentences, and the ends of sentences, that tell
// to replace instances that run.
func withoutReplacing(text string) string {
	var kept []string
	for _, sentence := range strings.SplitAfter(text, ". ") {
		bare := strings.TrimRight(sentence, ". ")
		if i := replacing(bare); i == 0 {
			continue
		} else if i > 0 {
			sentence = strings.TrimRight(bare[:i], " ,;") + ". "
		}
		kept = append(kept, sentence)
	}
	return strings.TrimSpace(strings.Join(kept, ""))
}

// replacing is where a sentence begins to tell of instances that run; -1 for
// none.
func replacing(sentence string) int {
	for _, phrase := range []string{
		"Then replace the instances", "Replace the instances", "The nodes that wait join by themselves", "For the instances that run", "To give one to a running instance",
		"; then replace the instances", ", and replace the instances",
	} {
		if i := strings.Index(sentence, phrase); i >= 0 {
			return i
		}
	}
	return -1
}
