package report

import (
	"slices"
	"time"
)

// May is whether a person may approve and refuse remedies.
type May string

// The zero May is no: who was not looked up may not.
const (
	MayNot  May = ""
	MayYes  May = "yes"
	Nobody  May = "nobody"  // no approvers are set
	Unknown May = "unknown" // a user group could not be read
)

// Who is what is known of the person who pressed.
type Who struct {
	May May
	// Says is which user group could not be read, and why.
	Says string
}

// askedAgain is how soon a check of an incident may be asked for again: each is
// a sweep of the cluster, and a press costs nothing.
const askedAgain = time.Minute

// Act tells what a press makes of its incident, and what the person is told.
// Nothing that the press says of itself is believed but who pressed what, which
// Slack has signed.
//
// What is refused changes nothing but the outbox: it is audited too.
func Act(inc Incident, p Press, who Who, now time.Time) (Decision, Answer) {
	if slices.Contains(inc.Applied, p.ID) {
		return Decision{Incident: inc, Reason: AlreadyApplied}, Answer{}
	}
	inc = inc.clone()
	reason, answer := inc.act(p, who, now)
	inc.apply(p.ID)
	inc.Acts = append(inc.Acts, acted(p, inc, answer, now))
	if reason != PressRefused {
		inc.Said.Behind = true
	}
	return Decision{Incident: inc, Reason: reason, Changed: true}, answer
}

func (inc *Incident) act(p Press, who Who, now time.Time) (Reason, Answer) {
	if a, wrong := inc.misplaced(p); wrong {
		return PressRefused, a
	}
	switch p.Action {
	case Acknowledge:
		if inc.Ack != nil {
			return PressRefused, Answer{Reason: AlreadyTaken, By: inc.Ack.By, When: inc.Ack.At}
		}
		inc.Ack = &Ack{By: p.User, At: now}
		return IsAcknowledged, Answer{Reason: AnswerAcknowledged}
	case MuteFor:
		if p.For != time.Hour && p.For != 4*time.Hour && p.For != 24*time.Hour {
			return PressRefused, Answer{Reason: NoSuchTime}
		}
		// From the press on, so that a press that is delivered late or twice
		// does not last longer.
		inc.Mute = &Mute{By: p.User, At: p.At, Until: p.At.Add(p.For)}
		return IsMuted, Answer{Reason: AnswerMuted, Until: inc.Mute.Until}
	case Unmute:
		if !inc.muted(now) {
			return PressRefused, Answer{Reason: NotMuted}
		}
		inc.Mute = nil
		return IsUnmuted, Answer{Reason: AnswerUnmuted}
	case CheckAgain:
		if next := inc.Asked.Add(askedAgain); !inc.Asked.IsZero() && now.Before(next) {
			return PressRefused, Answer{Reason: AskedJustNow, Until: next}
		}
		inc.Asked = now
		inc.tell(IsAsked, now)
		return IsAsked, Answer{Reason: AnswerChecking}
	case ApprovePlan, RefusePlan:
		return inc.rule(p, who, now)
	}
	return PressRefused, Answer{Reason: UnknownAction}
}

// misplaced tells of a press that is not for this incident as it is now.
func (inc *Incident) misplaced(p Press) (Answer, bool) {
	said := inc.Said
	elsewhere := said.TS != "" && p.TS != said.TS && p.Thread != said.TS || said.Channel != "" && p.Channel != said.Channel
	switch {
	case inc.Number == 0 || inc.Key != p.Key:
		return Answer{Reason: IncidentNotFound}, true
	case inc.State == Closed:
		return Answer{Reason: IncidentClosed, When: inc.Resolved}, true
	case p.Number != 0 && p.Number != inc.Number, p.At.Before(inc.Opened.Truncate(time.Second)), elsewhere:
		// Slack tells the time of a press in seconds.
		return Answer{Reason: EarlierOpening, When: inc.Opened}, true
	}
	return Answer{}, false
}

// muted tells that nobody is to be called.
func (inc *Incident) muted(now time.Time) bool {
	return inc.Mute != nil && now.Before(inc.Mute.Until)
}

// apply remembers a message, so that it changes nothing when it comes again.
func (inc *Incident) apply(id string) {
	inc.Applied = append(inc.Applied, id)
	inc.Applied = inc.Applied[max(0, len(inc.Applied)-maxApplied):]
}
