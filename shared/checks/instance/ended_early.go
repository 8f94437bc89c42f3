package instance

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/node/activity"
	"rollcall/shared/snapshot"
)

func EndedEarly() check.Check {
	return usingStart(check.Check{
		ID:         checkid.InstanceEndedEarly,
		Proof:      check.Impossible,
		Title:      "The instance ended before it was a node",
		Confidence: finding.Certain,
		// Nodes are looked at where they were read: an instance that lived less
		// than the time to join was no node, whatever Kubernetes says later.
		Needs: []snapshot.Source{snapshot.Instances},
		// What an instance died of while it started is a failed launch.
		After:    []checkid.ID{checkid.AnyFailedLaunch},
		AtLaunch: true,
		Cause:    "The instance was stopped or terminated before a node registered for it: its own operating system shut it down, or somebody ended it. One that EC2 could not bring up is a failed launch (launch/…). What Spot took back is spot/reclaimed-before-join. A scale-in or a replacement through its group is no fault, and neither is the end of an instance that had been a node.",
		Fix:      "It depends on the reason that EC2 gives for the state; the finding names it.",
		Links: []string{
			"https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_StateReason.html",
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-instancelaunchfailure.html",
		},
		Run: runEndedEarly,
	})
}

// end is one instance that ended before it joined.
type end struct {
	instance *snapshot.Instance
	lived    time.Duration // zero if it is not known
	why      activity.Verdict
	sure     bool
	likely   bool // something else may be the cause
}

func runEndedEarly(s *facts.View) []finding.Finding {
	l := s.Index()
	var well, unseen []string
	var order []string
	groups := map[string][]end{}
	for _, i := range s.Scoped() {
		e, verdict := ended(l, i)
		switch verdict {
		case finding.Pass:
			well = append(well, i.ID)
		case finding.Unknown:
			unseen = append(unseen, i.ID)
		case finding.Fail:
			key := cmp.Or(i.Owner(), i.ID)
			if groups[key] == nil {
				order = append(order, key)
			}
			groups[key] = append(groups[key], e)
		}
	}
	var list []finding.Finding
	if len(well) > 0 {
		list = append(list, finding.Finding{Outcome: finding.Pass, Resource: s.Cluster.Name, Covers: well})
	}
	if len(unseen) > 0 {
		list = append(list, finding.Finding{
			Outcome: finding.Unknown, Resource: s.Cluster.Name, Covers: unseen,
			Blocked: unseenSources(l),
		})
	}
	if lost := l.Lost(); len(lost) > 0 {
		list = append(list, finding.Finding{
			Outcome: finding.Unknown, Resource: s.Cluster.Name, Covers: lost,
			Blocked: []snapshot.Failure{{
				Source: snapshot.Instances, Reason: snapshot.NotRead,
				Message: "EC2 does not list " + phrase.Some(lost, 3) + ": too new, or gone for more than an hour",
			}},
		})
	}
	for _, key := range order {
		list = append(list, endedEarlyFinding(l, key, groups[key]))
	}
	return list
}

// ended judges one instance. The empty outcome is "nothing to say".
func ended(l facts.InstanceIndex, i *snapshot.Instance) (end, finding.Outcome) {
	past, byCall := l.Past(i), i.StateReason.Code == facts.UserInitiated
	switch {
	case !i.Ended(), l.Warm[i.ID], past == facts.Served:
		return end{}, finding.Pass
	case l.Wanted[i.ID], l.TakenBack(i):
		return end{}, finding.Pass
	}
	why := l.Reason(i)
	refused := why.Class.Family() == checkid.Launch
	if refused && l.LaunchesKnown(i) {
		return end{}, "" // launch/… tells it, or tells that it is over
	}
	launch, remembered := l.Launches[i.ID]
	if !remembered {
		return end{}, "" // nobody waited for it; it may have been a node for months
	}
	e := end{instance: i, why: why, sure: true, likely: refused}
	at := i.StateReason.When
	if at.IsZero() {
		at = l.S.Time
	} else {
		e.lived = at.Sub(launch.Started)
	}
	inTime := at.Before(launch.Due)
	switch {
	case !inTime && past == facts.Unclear && l.Activity[i.ID] != "" && (failed(l, snapshot.Nodes) || failed(l, snapshot.NodeEventsOf)):
		return end{}, finding.Unknown
	case !inTime && !why.NeverRan && l.Activity[i.ID] != "":
		return end{}, "" // its group took it out of service: what it ran with is judged all the same (facts.Suspects)
	case byCall && !inTime && past == facts.Never && (launch.Cause != "" || nodesUnasked(l)):
		return end{}, "" // that it had not joined was told when it was due, and why may be mended since
	case byCall && !inTime && past == facts.Never:
		// A call ended it: a person's, or its group's. Past the time to join
		// that is mostly what follows from not joining (somebody gave up on it,
		// the group replaced it), so any cause that is found counts more.
		if !l.S.Has(snapshot.Activities) || !l.Reaches(i) {
			return end{}, ""
		}
		e.likely = true
		return e, finding.Fail
	case !inTime && !l.S.Has(snapshot.Nodes), !inTime && byCall && !l.S.Has(snapshot.NodeEventsOf):
		return end{}, finding.Unknown
	case !inTime && byCall:
		return end{}, "" // another instance was perhaps the node that events name
	case byCall && l.S.Has(snapshot.Activities) && !l.Reaches(i):
		return end{}, finding.Unknown
	case byCall:
		e.sure = l.S.Has(snapshot.Activities) && !failed(l, snapshot.Groups) // else it may be a scale-in
	case !l.S.Has(snapshot.Nodes) && !e.why.NeverRan:
		e.sure = false // it may have been a node for a minute
	}
	if past == facts.Unclear && !why.NeverRan && (!inTime || l.S.Has(snapshot.NodeEventsOf)) {
		e.sure = false // its node is gone with it, and the events that would tell cannot be read or told apart
	}
	return e, finding.Fail
}

// failed reports whether a source was requested and could not be read.
func failed(l facts.InstanceIndex, source snapshot.Source) bool {
	_, is := l.S.Failures[source]
	return is
}

// nodesUnasked tells that this look is one that asks for no nodes: the one that does
// was due before.
func nodesUnasked(l facts.InstanceIndex) bool {
	return !failed(l, snapshot.Nodes) && !l.S.Has(snapshot.Nodes)
}

// unseenSources is what keeps ends from being judged.
func unseenSources(l facts.InstanceIndex) []snapshot.Failure {
	for _, source := range []snapshot.Source{snapshot.Nodes, snapshot.NodeEventsOf} {
		if !l.S.Has(source) {
			return []snapshot.Failure{l.S.Why(source)}
		}
	}
	return []snapshot.Failure{{
		Source: snapshot.Activities, Reason: snapshot.NotRead,
		Message: "the scaling activities that were read do not go back to the launch: it may be a scale-in",
	}}
}

func endedEarlyFinding(l facts.InstanceIndex, key string, ends []end) finding.Finding {
	f := finding.Finding{Outcome: finding.Fail, Resource: key}
	counts := map[string]int{}
	sure, weak := false, true
	for _, e := range ends {
		f.Covers = append(f.Covers, e.instance.ID)
		counts[e.why.Meaning]++
		sure = sure || e.sure
		weak = weak && e.likely
	}
	switch {
	case !sure:
		f.Confidence = finding.Possible
	case weak:
		f.Confidence = finding.Likely
	}
	f.Instances = slices.Clone(f.Covers)
	// The reason that most of them have leads.
	first := slices.MaxFunc(ends, func(a, b end) int {
		return cmp.Or(cmp.Compare(counts[a.why.Meaning], counts[b.why.Meaning]), strings.Compare(b.why.Meaning, a.why.Meaning))
	})
	f.Title = phrase.Title("%s ended before %s %s", phrase.Subject(f.Covers, "instance"), phrase.Verb(f.Covers, "it was", "they were"), phrase.Verb(f.Covers, "a node", "nodes"))
	f.Why = fmt.Sprintf("%s%s: %s.", first.instance.ID, first.after(), first.why.Meaning)
	if message := first.instance.StateReason.Message; message != "" {
		f.Why += fmt.Sprintf(" EC2: %q.", phrase.Clip(message))
	}
	if len(counts) > 1 {
		f.Why += fmt.Sprintf(" There are %d different reasons.", len(counts))
	}
	const limit = 5
	for n, e := range ends {
		if n == limit {
			f.Evidence = append(f.Evidence, finding.Evidence{What: "Instances", Value: fmt.Sprintf("and %d more", len(ends)-limit)})
			break
		}
		f.Evidence = append(f.Evidence, finding.Evidence{What: e.instance.ID, Value: e.line()})
		if cause := l.Activity[e.instance.ID]; cause != "" {
			f.Evidence = append(f.Evidence, finding.Evidence{What: "Scaling activity of " + e.instance.ID, Value: phrase.Clip(cause)})
		}
	}
	f.Fix = finding.Fix{
		Text:    first.why.Next,
		Console: link.EC2(l.S, "InstanceDetails:instanceId="+first.instance.ID),
	}
	return f
}

func (e end) after() string {
	text := " is " + e.instance.State
	if e.lived > 0 {
		text += fmt.Sprintf(", %s after its launch", e.lived.Round(time.Second))
	}
	return text
}

func (e end) line() string {
	parts := []string{e.instance.State}
	if code := e.instance.StateReason.Code; code != "" {
		parts = append(parts, code)
	}
	if e.lived > 0 {
		parts = append(parts, fmt.Sprintf("lived %s", e.lived.Round(time.Second)))
	}
	for _, p := range []string{e.instance.Type, e.instance.Zone} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, ", ")
}
