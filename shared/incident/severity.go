package incident

import (
	"slices"

	"rollcall/shared/checks"
	"rollcall/shared/checks/check"
	"rollcall/shared/report"
)

// Severity is how urgent an incident is now. It goes with the colour of its
// message: red is critical, orange a warning, everything else information.
type Severity string

// The severities.
const (
	Critical Severity = "critical" // nodes do not join, and it is known or certain
	Warning  Severity = "warning"  // nodes may not join, or nobody is affected yet
	Info     Severity = "info"     // advice, or over
)

// Severity is how urgent it is that somebody looks. It changes while an
// incident lasts: what was foreseen comes true, the cause goes away.
func (inc Incident) Severity() Severity {
	meaning := checks.Meaning(inc.Key.Check)
	switch {
	case inc.State == Closed && inc.Resolution == GivenUpOn:
		return Critical // nothing got better, only the looking stopped
	case inc.State == Closed, inc.State == Cleared:
		return Info
	case inc.Key.Check == CannotLook:
		return Warning
	case meaning.Proof == check.Impossible:
		return Critical
	case inc.Cause.Confidence == checks.Advice:
		return Info
	}
	affected := max(inc.Affected, len(inc.Launches))
	joined, waiting, due := 0, 0, false
	for _, l := range inc.Launches {
		switch l.Status {
		case report.Joined:
			joined++
		case report.Waiting:
			waiting++
		default:
			due = true
		}
	}
	certain := inc.Cause.Confidence == checks.Certain
	switch {
	case affected == 0:
		return inc.unmet(meaning.Breaks)
	case joined >= affected && meaning.Breaks == check.Launching:
		return Warning // they came all the same
	case joined >= affected:
		return inc.unmet(meaning.Breaks) // as if it had met none: what it holds back may be pods
	case !due && waiting > 0 && !certain:
		return Warning // not due yet, and they may still join
	}
	return Critical
}

// unmet is the severity of a cause that no launch has met yet.
func (inc Incident) unmet(breaks check.Breaks) Severity {
	switch {
	case breaks == check.Launching && inc.Cause.Idle:
		return Warning // no pod waits for what cannot be launched
	case breaks == check.Launching, breaks == check.Addresses && inc.reached(), inc.PodsWait():
		return Critical
	}
	return Warning
}

// PodsWait tells that an incident is about a zone or a NodePool, and that pods
// cannot start for it: that is no foresight any more.
func (inc Incident) PodsWait() bool {
	return checks.Meaning(inc.Key.Check).Breaks == check.Pods && len(inc.Cause.Pods) > 0
}

// reached tells that a subnet's trouble has come to launches or nodes. What is
// only foreseen has not, and what lets a leak stay is no effect of it.
func (inc Incident) reached() bool {
	return slices.ContainsFunc(inc.Effects, func(e Effect) bool { return e.Here() && !checks.Meaning(e.Check).Predictive })
}
