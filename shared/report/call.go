package report

import (
	"slices"
	"time"
)

// MostCalls is how often people are called for one opening of an incident: when
// it opens, and three times after. With the default of 30 minutes that is an
// hour and a half; whoever has not come by then does not come because of a
// fifth call, and a channel that calls for ever is muted by everybody.
const MostCalls = 4

// leastCalm is how long it is calm after a call at the least, also when an
// incident is resolved and comes back meanwhile: the least of the setting
// remindAfter.
const leastCalm = 5 * time.Minute

// call calls the people whom a route names, in the thread and shown in the
// channel, while an incident is critical and nobody has taken it on.
func (inc *Incident) call(now time.Time, policy Policy) Reason {
	if !inc.calls(now) || inc.Calls >= MostCalls {
		return NothingNew
	}
	calm := max(policy.RemindAfter, leastCalm)
	switch {
	case inc.Calls > 0 && policy.RemindAfter <= 0:
		return NothingNew
	case !inc.Called.IsZero() && now.Sub(inc.Called) < calm:
		return NothingNew
	case slices.ContainsFunc(inc.Said.Notes, func(n Note) bool { return n.called() && n.TS == "" }):
		return NothingNew // Slack has not taken the last one yet
	}
	_, mentions := Route(*inc, policy)
	if len(mentions) == 0 {
		return NothingNew
	}
	reason := IsCalled
	if inc.Calls > 0 {
		reason = IsReminded
	}
	inc.Called, inc.Calls = now, inc.Calls+1
	if n := inc.addNote(reason, now); n != nil {
		n.Mention = mentions
	}
	return reason
}

// calls tells that people are to be called.
func (inc *Incident) calls(now time.Time) bool {
	return inc.State == Open && inc.Severity() == Critical && inc.Ack == nil && !inc.muted(now)
}

// uncall takes back calls that Slack was not given in time: nobody is called
// for what is over, or taken on.
func (inc *Incident) uncall(now time.Time) Reason {
	if inc.calls(now) {
		return NothingNew
	}
	before := len(inc.Said.Notes)
	inc.Said.Notes = slices.DeleteFunc(inc.Said.Notes, func(n Note) bool { return n.called() && n.TS == "" && n.Sending.IsZero() })
	if len(inc.Said.Notes) == before {
		return NothingNew
	}
	return IsCalmed
}

func (n Note) called() bool { return n.Reason == IsCalled || n.Reason == IsReminded }
