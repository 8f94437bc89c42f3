package report

import (
	"slices"
	"time"
)

// May is whether a person may do what they pressed.
type May string

// The zero May is no: who was not looked up may not.
const (
	MayNot  May = ""
	MayYes  May = "yes"
	Nobody  May = "nobody"  // no approvers are set
	Unknown May = "unknown" // a user group could not be read
	// Foreign is somebody of another workspace, or of one that is not known;
	// Unplaced is somebody of whom that could not be looked up.
	Foreign  May = "foreign"
	Unplaced May = "unplaced"
)

// Who is what is known of the person who pressed.
type Who struct {
	May May
	// Says is what could not be looked up, and why.
	Says string
}

// refusal is why a person may not do what they pressed; the zero Answer if they may.
func (w Who) refusal(a Action) Answer {
	switch w.May {
	case MayYes:
		return Answer{}
	case Nobody:
		return Answer{Reason: NobodyAllowed}
	case Unknown:
		return Answer{Reason: GroupNotRead, Says: w.Says}
	case Foreign:
		return Answer{Reason: OtherWorkspace}
	case Unplaced:
		return Answer{Reason: WorkspaceNotRead, Says: w.Says}
	}
	if a == ApprovePlan || a == RefusePlan {
		return Answer{Reason: NotAllowed}
	}
	return Answer{Reason: NotResponder}
}

// Workspace is where the app is installed, as auth.test tells it: its workspace,
// and its organization where it has one.
type Workspace struct{ ID, Enterprise string }

// Has tells whether whoever pressed is of the workspace, or of its organization.
// Who Slack says nothing of is not.
func (w Workspace) Has(p Press) bool {
	switch {
	case w.ID == "" || p.Home == "":
		return false
	case p.Home == w.ID:
		return true
	}
	return w.Enterprise != "" && (p.Enterprise == w.Enterprise || p.Home == w.Enterprise)
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
	if a := who.refusal(p.Action); a.Reason != "" {
		return PressRefused, a
	}
	switch p.Action {
	case Acknowledge:
		if inc.Ack != nil {
			return PressRefused, Answer{Reason: AlreadyTaken, By: inc.Ack.By, When: inc.Ack.At}
		}
		inc.Ack = &Ack{By: p.User, At: now}
		return IsAcknowledged, Answer{Reason: AnswerAcknowledged}
	case TakeOver:
		return inc.takeOver(p, now)
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
		return inc.rule(p, now)
	}
	return PressRefused, Answer{Reason: UnknownAction}
}

// takeOver gives an incident to whoever pressed. Who had it stays on the record,
// and reads it in the thread.
func (inc *Incident) takeOver(p Press, now time.Time) (Reason, Answer) {
	if inc.Ack == nil {
		inc.Ack = &Ack{By: p.User, At: now}
		return IsAcknowledged, Answer{Reason: AnswerAcknowledged}
	}
	before := *inc.Ack
	if before.By.ID == p.User.ID {
		return PressRefused, Answer{Reason: AlreadyYours, When: before.At}
	}
	inc.Ack = &Ack{By: p.User, At: now, From: &before.By}
	if n := inc.addNote(IsTakenOver, now); n != nil {
		n.Ack = inc.Ack
	}
	return IsTakenOver, Answer{Reason: AnswerTakenOver, By: before.By, When: before.At}
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
