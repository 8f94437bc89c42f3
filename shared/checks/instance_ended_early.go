package checks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/node/activity"
	"rollcall/shared/snapshot"
)

// userInitiated is the code both of a person's call and of a group's scale-in.
const userInitiated = activity.UserInitiated

func endedEarly() Check {
	return usingStart(Check{
		ID:         "instance/ended-early",
		Title:      "The instance ended before it was a node",
		Confidence: Certain,
		// Nodes are looked at where they were read: an instance that lived less
		// than the time to join was no node, whatever Kubernetes says later.
		Needs: []snapshot.Source{snapshot.Instances},
		// What an instance died of while it started is a failed launch.
		After:    []ID{AnyFailedLaunch},
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

func runEndedEarly(s *View) []Finding {
	l := s.Index()
	var well, unseen []string
	var order []string
	groups := map[string][]end{}
	for _, i := range s.Scoped() {
		e, verdict := l.ended(i)
		switch verdict {
		case Pass:
			well = append(well, i.ID)
		case Unknown:
			unseen = append(unseen, i.ID)
		case Fail:
			key := cmp.Or(i.Owner(), i.ID)
			if groups[key] == nil {
				order = append(order, key)
			}
			groups[key] = append(groups[key], e)
		}
	}
	var list []Finding
	if len(well) > 0 {
		list = append(list, Finding{Outcome: Pass, Resource: s.Cluster.Name, Covers: well})
	}
	if len(unseen) > 0 {
		list = append(list, Finding{
			Outcome: Unknown, Resource: s.Cluster.Name, Covers: unseen,
			Blocked: l.unseen(),
		})
	}
	if lost := l.lost(); len(lost) > 0 {
		list = append(list, Finding{
			Outcome: Unknown, Resource: s.Cluster.Name, Covers: lost,
			Blocked: []snapshot.Failure{{
				Source: snapshot.Instances, Reason: snapshot.NotRead,
				Message: "EC2 does not list " + some(lost, 3) + ": too new, or gone for more than an hour",
			}},
		})
	}
	for _, key := range order {
		list = append(list, l.endedEarly(key, groups[key]))
	}
	return list
}

// ended judges one instance. The empty outcome is "nothing to say".
func (l ledger) ended(i *snapshot.Instance) (end, Outcome) {
	switch {
	case !i.Ended(), l.warm[i.ID]:
		return end{}, Pass
	case l.wasNode(i):
		return end{}, Pass
	case l.wanted[i.ID], l.takenBack(i):
		return end{}, Pass
	}
	why := l.reason(i)
	if why.Class.Launch() && l.s.Has(snapshot.Groups) && l.s.Has(snapshot.Activities) {
		return end{}, "" // launch/… tells it, or tells that it is over
	}
	launch, remembered := l.launches[i.ID]
	if !remembered {
		return end{}, "" // nobody waited for it; it may have been a node for months
	}
	e := end{instance: i, why: why, sure: true}
	at := i.StateReason.When
	if at.IsZero() {
		at = l.s.Time
	} else {
		e.lived = at.Sub(launch.Started)
	}
	inTime := at.Before(launch.Due)
	switch {
	case i.StateReason.Code == userInitiated && !inTime:
		// A call ended it: a person's, or its group's. Past the time to join
		// that is mostly what follows from not joining (somebody gave up on it,
		// the group replaced it), so any cause that is found counts more.
		if !l.never(i, at) {
			return end{}, ""
		}
		e.likely = true
		return e, Fail
	case !inTime && !why.NeverRan && l.served(i, at.Sub(launch.Due)):
		return end{}, ""
	case !inTime && !l.s.Has(snapshot.Nodes):
		return end{}, Unknown
	case i.StateReason.Code == userInitiated && l.s.Has(snapshot.Activities) && !l.reaches(i):
		return end{}, Unknown
	case i.StateReason.Code == userInitiated:
		e.sure = l.s.Has(snapshot.Activities) // else it may be a scale-in
	case !l.s.Has(snapshot.Nodes) && !e.why.NeverRan:
		e.sure = false // it may have been a node for a minute
	}
	if _, unread := l.s.Failures[snapshot.NodeEventsOf]; !why.NeverRan && (!inTime && unread || l.perhapsNode(i, at)) {
		e.sure = false // its node is gone with it, and the events that would tell cannot be read or told apart
	}
	return e, Fail
}

// kept is how long Kubernetes keeps events (kube-apiserver, --event-ttl).
const kept = time.Hour

// served tells of an instance that ended past its time to join that it must be
// taken to have been a node: its group took it out of service, or it lived so
// long that no event of its joining is left. Its node went with it.
func (l ledger) served(i *snapshot.Instance, beyond time.Duration) bool {
	return l.activity[i.ID] != "" || beyond > kept
}

// never tells that nothing shows an instance to have been a node, although all
// that would is there: the nodes, its group's activities and the events of the
// time since its launch.
func (l ledger) never(i *snapshot.Instance, until time.Time) bool {
	if !l.s.Has(snapshot.Nodes) || !l.s.Has(snapshot.NodeEventsOf) || !l.s.Has(snapshot.Activities) {
		return false
	}
	return l.s.Time.Sub(l.launches[i.ID].Started) <= kept && l.activity[i.ID] == "" && l.reaches(i) && !l.perhapsNode(i, until)
}

// unseen is what keeps ends from being judged.
func (l ledger) unseen() []snapshot.Failure {
	if !l.s.Has(snapshot.Nodes) {
		return []snapshot.Failure{l.s.Why(snapshot.Nodes)}
	}
	return []snapshot.Failure{{
		Source: snapshot.Activities, Reason: snapshot.NotRead,
		Message: "the scaling activities that were read do not go back to the launch: it may be a scale-in",
	}}
}

func (l ledger) endedEarly(key string, ends []end) Finding {
	f := Finding{Outcome: Fail, Resource: key}
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
		f.Confidence = Possible
	case weak:
		f.Confidence = Likely
	}
	f.Instances = slices.Clone(f.Covers)
	// The reason that most of them have leads.
	first := slices.MaxFunc(ends, func(a, b end) int {
		return cmp.Or(cmp.Compare(counts[a.why.Meaning], counts[b.why.Meaning]), strings.Compare(b.why.Meaning, a.why.Meaning))
	})
	f.Title = title("%s ended before %s %s", subject(f.Covers, "instance"), verb(f.Covers, "it was", "they were"), verb(f.Covers, "a node", "nodes"))
	f.Why = fmt.Sprintf("%s%s: %s.", first.instance.ID, first.after(), first.why.Meaning)
	if message := first.instance.StateReason.Message; message != "" {
		f.Why += fmt.Sprintf(" EC2: %q.", clip(message))
	}
	if len(counts) > 1 {
		f.Why += fmt.Sprintf(" There are %d different reasons.", len(counts))
	}
	const limit = 5
	for n, e := range ends {
		if n == limit {
			f.Evidence = append(f.Evidence, Evidence{What: "Instances", Value: fmt.Sprintf("and %d more", len(ends)-limit)})
			break
		}
		f.Evidence = append(f.Evidence, Evidence{What: e.instance.ID, Value: e.line()})
		if cause := l.activity[e.instance.ID]; cause != "" {
			f.Evidence = append(f.Evidence, Evidence{What: "Scaling activity of " + e.instance.ID, Value: clip(cause)})
		}
	}
	f.Fix = Fix{
		Text:    first.why.Next,
		Console: ec2Console(l.s, "InstanceDetails:instanceId="+first.instance.ID),
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
