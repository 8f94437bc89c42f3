package response

import (
	"slices"
	"time"

	"rollcall/shared/incident"
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

// callPeople calls the people whom a route names, in the thread and shown in the
// channel, while an incident is critical and nobody has taken it on.
func callPeople(inc *incident.Incident, now time.Time, policy incident.Policy) incident.Reason {
	if !needsPeople(inc, now) || inc.Calls >= MostCalls {
		return incident.NothingNew
	}
	calm := max(policy.RemindAfter, leastCalm)
	switch {
	case inc.Calls > 0 && policy.RemindAfter <= 0:
		return incident.NothingNew
	case now.Sub(inc.Called) < calm: // never called is long ago
		return incident.NothingNew
	case slices.ContainsFunc(inc.Delivery.Notes, func(n incident.Note) bool { return (isCall(n) || len(n.Mention) > 0) && n.TS == "" }):
		return incident.NothingNew // Slack has not taken the last one yet
	}
	_, mentions := incident.Route(*inc, policy)
	if len(mentions) == 0 {
		return incident.NothingNew
	}
	reason := incident.IsCalled
	if inc.Calls > 0 {
		reason = incident.IsReminded
	}
	inc.Called, inc.Calls = now, inc.Calls+1
	if n := lineOf(inc, now); n != nil {
		n.Mention = mentions // one line for both
		return reason
	}
	if n := inc.AddNote(reason, now); n != nil {
		n.Mention = mentions
	}
	return reason
}

// lineOf is what everybody in the channel is told now anyway; nil for nothing.
func lineOf(inc *incident.Incident, now time.Time) *incident.Note {
	inc.Delivery.Notes = slices.Clone(inc.Delivery.Notes)
	for i := range slices.Backward(inc.Delivery.Notes) {
		if n := &inc.Delivery.Notes[i]; n.Line && n.TS == "" && n.Sending.IsZero() && n.At.Equal(now) {
			return n
		}
	}
	return nil
}

// needsPeople tells that people are to be called.
func needsPeople(inc *incident.Incident, now time.Time) bool {
	return inc.State == incident.Open && inc.Severity() == incident.Critical && inc.Ack == nil && !inc.Muted(now) && inc.Silence == nil
}

// withdrawCalls takes back calls that Slack was not given in time: nobody is called
// for what is over, or taken on.
func withdrawCalls(inc *incident.Incident, now time.Time) incident.Reason {
	if needsPeople(inc, now) {
		return incident.NothingNew
	}
	before, calmed := len(inc.Delivery.Notes), false
	inc.Delivery.Notes = slices.Clone(inc.Delivery.Notes)
	for i := range inc.Delivery.Notes {
		if n := &inc.Delivery.Notes[i]; !isCall(*n) && len(n.Mention) > 0 && n.TS == "" && n.Sending.IsZero() {
			n.Mention, calmed = nil, true
		}
	}
	inc.Delivery.Notes = slices.DeleteFunc(inc.Delivery.Notes, func(n incident.Note) bool { return isCall(n) && n.TS == "" && n.Sending.IsZero() })
	if len(inc.Delivery.Notes) == before && !calmed {
		return incident.NothingNew
	}
	return incident.IsCalmed
}

func isCall(n incident.Note) bool {
	return n.Reason == incident.IsCalled || n.Reason == incident.IsReminded
}
