// Package response is what people and remedies do about an incident, and what
// becomes of it: who may acknowledge, mute, approve; which plan is offered, waits,
// expires, was done; who is called. All of it is pure.
package response

import (
	"slices"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/report"
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
	// Guest is a guest of the workspace; Unlisted is somebody of whom that could not be
	// looked up.
	Guest    May = "guest"
	Unlisted May = "unlisted"
)

// Who is what is known of the person who pressed.
type Who struct {
	May May
	// Says is what could not be looked up, and why.
	Says string
}

// Refusal is why a person may not do what they asked for with a command; the zero Answer
// if they may.
func (w Who) Refusal() incident.Answer { return w.refusal(report.MuteFor) }

// refusal is why a person may not do what they pressed; the zero Answer if they may.
func (w Who) refusal(a report.Action) incident.Answer {
	switch w.May {
	case MayYes:
		return incident.Answer{}
	case Nobody:
		return incident.Answer{Reason: incident.NobodyAllowed}
	case Unknown:
		return incident.Answer{Reason: incident.GroupNotRead, Says: w.Says}
	case Foreign:
		return incident.Answer{Reason: incident.OtherWorkspace}
	case Guest:
		return incident.Answer{Reason: incident.IsGuest}
	case Unlisted:
		return incident.Answer{Reason: incident.GuestNotRead, Says: w.Says}
	case Unplaced:
		return incident.Answer{Reason: incident.WorkspaceNotRead, Says: w.Says}
	}
	if a == report.ApprovePlan || a == report.RefusePlan {
		return incident.Answer{Reason: incident.NotAllowed}
	}
	return incident.Answer{Reason: incident.NotResponder}
}

// Workspace is where the app is installed, as auth.test tells it: its workspace,
// and its organization where it has one.
type Workspace struct {
	ID, Enterprise string
	// URL is its address, with which links to messages begin; empty where Slack did not say.
	URL string
}

// Has tells whether whoever pressed is of the workspace, or of its organization.
// Who Slack says nothing of is not.
func (w Workspace) Has(p report.Press) bool { return w.has(p.Home, p.Enterprise) }

// HasCommand is the same for whoever typed a command or opened the home page.
func (w Workspace) HasCommand(c report.Command) bool { return w.has(c.Home, c.Enterprise) }

func (w Workspace) has(home, enterprise string) bool {
	switch {
	case w.ID == "" || home == "":
		return false
	case home == w.ID:
		return true
	}
	return w.Enterprise != "" && (enterprise == w.Enterprise || home == w.Enterprise)
}

// askedAgain is how soon a check of an incident may be asked for again: each is
// a sweep of the cluster, and a press costs nothing.
const askedAgain = time.Minute

// Act tells what a press makes of its incident, and what the person is told.
// Nothing that the press says of itself is believed but who pressed what, which
// Slack has signed.
//
// What is refused changes nothing but the outbox: it is audited too.
func Act(inc incident.Incident, p report.Press, who Who, now time.Time) (incident.Decision, incident.Answer) {
	if slices.Contains(inc.Applied, p.ID) {
		return incident.Decision{Incident: inc, Reason: incident.AlreadyApplied}, incident.Answer{}
	}
	inc = inc.Clone()
	reason, answer := act(&inc, p, who, now)
	inc.MarkApplied(p.ID)
	inc.Acts = append(inc.Acts, acted(p, inc, answer, now))
	if reason != incident.PressRefused {
		inc.Delivery.Dirty = true
	}
	return incident.Decision{Incident: inc, Reason: reason, Changed: true}, answer
}

func act(inc *incident.Incident, p report.Press, who Who, now time.Time) (incident.Reason, incident.Answer) {
	if a, wrong := misplaced(inc, p); wrong {
		return incident.PressRefused, a
	}
	if a := who.refusal(p.Action); a.Reason != "" {
		return incident.PressRefused, a
	}
	switch p.Action {
	case report.Acknowledge:
		if inc.Ack != nil {
			return incident.PressRefused, incident.Answer{Reason: incident.AlreadyTaken, By: inc.Ack.By, When: inc.Ack.At}
		}
		inc.Ack = &incident.Ack{By: p.User, At: now}
		inc.AddEvent(incident.IsAcknowledged, now)
		return incident.IsAcknowledged, incident.Answer{Reason: incident.AnswerAcknowledged}
	case report.TakeOver:
		return takeOver(inc, p, now)
	case report.MuteFor:
		if p.For != time.Hour && p.For != 4*time.Hour && p.For != 24*time.Hour {
			return incident.PressRefused, incident.Answer{Reason: incident.NoSuchTime}
		}
		// From the press on, so that a press that is delivered late or twice
		// does not last longer.
		inc.Mute = &incident.Mute{By: p.User, At: p.At, Until: p.At.Add(p.For)}
		inc.Mutes++
		return incident.IsMuted, incident.Answer{Reason: incident.AnswerMuted, Until: inc.Mute.Until}
	case report.Unmute:
		if !inc.Muted(now) {
			return incident.PressRefused, incident.Answer{Reason: incident.NotMuted}
		}
		inc.Mute = nil
		return incident.IsUnmuted, incident.Answer{Reason: incident.AnswerUnmuted}
	case report.CheckAgain:
		if next := inc.Asked.Add(askedAgain); now.Before(next) {
			return incident.PressRefused, incident.Answer{Reason: incident.AskedJustNow, Until: next}
		}
		inc.Asked = now
		inc.AddEvent(incident.IsAsked, now)
		planAnew(inc, now)
		return incident.IsAsked, incident.Answer{Reason: incident.AnswerChecking}
	case report.OfferAgain:
		if next := inc.Asked.Add(askedAgain); now.Before(next) {
			return incident.PressRefused, incident.Answer{Reason: incident.AskedJustNow, Until: next}
		}
		if !planAnew(inc, now) {
			return incident.PressRefused, incident.Answer{Reason: incident.NothingRanOut}
		}
		inc.Asked = now
		return incident.IsDue, incident.Answer{Reason: incident.AnswerOffering}
	case report.ApprovePlan, report.RefusePlan:
		return decideOffer(inc, p, now)
	}
	return incident.PressRefused, incident.Answer{Reason: incident.UnknownAction}
}

// planAnew has remediate look again at what ran out: it makes a fresh plan, which is
// offered for its own time, or says why there is none. Nothing of the old approval's
// time is carried over, and what a person refused stays refused.
func planAnew(inc *incident.Incident, now time.Time) bool {
	if len(inc.RanOut(now)) == 0 {
		return false
	}
	inc.AddEvent(incident.IsDue, now)
	return true
}

// takeOver gives an incident to whoever pressed. Who had it stays on the record,
// and reads it in the thread.
func takeOver(inc *incident.Incident, p report.Press, now time.Time) (incident.Reason, incident.Answer) {
	if inc.Ack == nil {
		inc.Ack = &incident.Ack{By: p.User, At: now}
		inc.AddEvent(incident.IsAcknowledged, now)
		return incident.IsAcknowledged, incident.Answer{Reason: incident.AnswerAcknowledged}
	}
	before := *inc.Ack
	if before.By.ID == p.User.ID {
		return incident.PressRefused, incident.Answer{Reason: incident.AlreadyYours, When: before.At}
	}
	inc.Ack = &incident.Ack{By: p.User, At: now, From: &before.By}
	inc.AddEvent(incident.IsTakenOver, now)
	if n := inc.AddNote(incident.IsTakenOver, now); n != nil {
		n.Ack = inc.Ack
	}
	return incident.IsTakenOver, incident.Answer{Reason: incident.AnswerTakenOver, By: before.By, When: before.At}
}

// misplaced tells of a press that is not for this incident as it is now.
func misplaced(inc *incident.Incident, p report.Press) (incident.Answer, bool) {
	said := inc.Delivery
	elsewhere := said.TS != "" && p.TS != said.TS && p.Thread != said.TS || said.Channel != "" && p.Channel != said.Channel
	switch {
	case inc.Number == 0 || inc.Key != p.Key:
		return incident.Answer{Reason: incident.IncidentNotFound}, true
	case inc.State == incident.Closed:
		return incident.Answer{Reason: incident.IncidentClosed, When: inc.Resolved}, true
	case p.Number != 0 && p.Number != inc.Number, p.At.Before(inc.Opened.Truncate(time.Second)), elsewhere:
		// Slack tells the time of a press in seconds.
		return incident.Answer{Reason: incident.EarlierOpening, When: inc.Opened}, true
	}
	return incident.Answer{}, false
}
