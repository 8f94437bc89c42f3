package slack

import (
	"strings"
	"time"

	slackgo "github.com/slack-go/slack"

	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/slack/slacktext"
)

// RenderAnswer is what a person is told of their press, and only they: what
// was done; or that nothing was, why, and what to do instead.
func RenderAnswer(a incident.Answer, now time.Time) slackapi.Message {
	p := newPage(place{}, now, slacktext.WidestRoom)
	l := p.line()
	if !a.Done() {
		l.styled("Nothing was done.", &slackgo.RichTextSectionTextStyle{Bold: true}).plain(" ")
	}
	l.answer(a)
	if says := slacktext.Clip(slacktext.OneLine(a.Says), 400); says != "" {
		l.plain(" ").prose(slacktext.Sentence(capital(says)))
	}
	p.add(l.section())
	return slackapi.Message{Text: slacktext.Notification(words(l)), Blocks: p.blocks}
}

// answer appends the reason as a sentence, and the next step.
func (l *line) answer(a incident.Answer) *line {
	if done, known := doneWords(a); known {
		if remedy := slacktext.Clip(slacktext.OneLine(string(a.Remedy)), 60); remedy != "" && (a.Reason == incident.AnswerApproved || a.Reason == incident.AnswerRefused) {
			l.code(remedy).plain(": ")
		} else {
			done = capital(done)
		}
		l.plain(done)
		if a.Reason == incident.AnswerMuted {
			l.dated(a.Until).plain(". Nobody is called for it until then. Its message is kept up to date, and its end is said.")
		}
		if a.Reason == incident.AnswerTakenOver && a.By != (report.User{}) {
			l.plain(" ").person(a.By).plain(" had it; the thread says that you took it over.")
		}
		return l
	}
	switch a.Reason {
	case incident.NotAllowed:
		return l.plain("You are not among those who may approve or refuse a remedy here. Ask one of them; who they are stands in the setting approvers. The thread has the commands to do it by hand.")
	case incident.NotResponder:
		return l.plain("You are not among those who may acknowledge, mute or ask for a check here. Who they are stands in the setting responders.")
	case incident.OtherWorkspace:
		return l.plain("These buttons are for the people of the workspace that Rollcall is in, and Slack does not say that you are one of them. Ask somebody who is.")
	case incident.WorkspaceNotRead:
		return l.plain("Where you are from could not be looked up in Slack, and without that nobody may press. Press again in a minute.")
	case incident.NobodyAllowed:
		return l.plain("Nobody may approve a remedy yet: the setting approvers names no one. Set it to the ids of users (U…) or user groups (S…) and deploy. The thread has the commands to do it by hand.")
	case incident.GroupNotRead:
		return l.plain("Whether you may approve could not be looked up, and without that nobody may. Press again in a minute. If it stays so, give the Slack app the scope usergroups:read, or name users instead of groups in the setting approvers.")
	case incident.NoSuchPlan:
		return l.plain("This incident never had the plan of that button. Press the button of the message as it stands now.")
	case incident.PlanChanged:
		return l.plain("The plan is not the one that you saw: things have changed since. Read what the message offers now, and approve that.")
	case incident.PlanExpired:
		return l.plain("The plan could be approved until ").known(a.Until).plain(". Press “Check again”: if the cause is still there, it is offered anew.")
	case incident.NotNow:
		return l.plain("This is not to be approved now: the limit of an hour is reached, or a look failed. From ").known(a.Until).plain(" on the message has a new button.")
	case incident.AlreadyDecided:
		return l.decided(a)
	case incident.IncidentClosed:
		return l.plain("This was closed ").at(a.When).plain(". If it comes back, there will be new buttons.")
	case incident.CauseIsGone:
		return l.plain("The cause is gone already, so there is nothing to fix. This closes when a node proves it.")
	case incident.IncidentNotFound:
		return l.plain("Rollcall has no record of this incident, or no longer. The cluster may have left the list of those that are watched; the message stays as it was.")
	case incident.EarlierOpening:
		return l.plain("That button was of an earlier time. This was opened again ").at(a.When).plain(": press the button of the message as it stands now.")
	case incident.AlreadyTaken:
		return l.by(a, "Somebody", " acknowledged this").plain(". Nobody is reminded any more. If you take it on in their place, press “Take over”.")
	case incident.AlreadyYours:
		return l.plain("It is yours already, since ").known(a.When).plain(".")
	case incident.NotMuted:
		return l.plain("It is not muted: the time is over, or somebody was faster.")
	case incident.AskedJustNow:
		return l.plain("A check was asked for just now, and its result is on the way. You may ask again from ").known(a.Until).plain(" on.")
	case incident.OlderRelease:
		return l.plain("That press was taken just before Rollcall was updated, and the new version cannot tell that it came from Slack. Press again.")
	case incident.NotPassedOn, incident.Incomplete:
		return l.plain("That press did not come whole from Slack. Press the button of the message again.")
	case incident.TooLate:
		return l.plain("That press was on its way since ").known(a.When).plain(", which is too long to act on it. Look at the message as it stands now, and press again.")
	case incident.FromFuture:
		return l.plain("That press is dated ").known(a.When).plain(", which is still to come: the clocks of Rollcall’s functions differ. Press again.")
	case incident.NoSuchTime:
		return l.plain("It can be muted for 1, 4 or 24 hours, and for no other time.")
	case incident.UnknownAction:
		return l.plain("Rollcall does not know this button: the message may be older than this version. What can be done is in the newest message.")
	}
	if slacktext.OneLine(string(a.Reason)) == "" {
		return l.plain("Why is not known; Rollcall's log has it.")
	}
	return l.plain("Reason: ").code(slacktext.Clip(string(a.Reason), 80)).plain(".")
}

// doneWords are what was done.
func doneWords(a incident.Answer) (string, bool) {
	switch a.Reason {
	case incident.AnswerApproved:
		return "approved. Rechecking before applying; the result will be in the thread.", true
	case incident.AnswerRefused:
		return "refused, Rollcall will not do this. The fix is yours to do; the thread has the commands.", true
	case incident.AnswerAcknowledged:
		return "Acknowledged; reminders stopped.", true
	case incident.AnswerTakenOver:
		return "It is yours now.", true
	case incident.AnswerMuted:
		return "Muted until ", true
	case incident.AnswerUnmuted:
		return "No longer muted.", true
	case incident.AnswerChecking:
		return "Rollcall looks again now. What it finds will stand in the message.", true
	}
	return "", false
}

// decided says who was faster, and how.
func (l *line) decided(a incident.Answer) *line {
	switch a.State {
	case incident.RefusedByUs:
		return l.by(a, "Somebody", " refused this plan").plain(". Who wants it all the same finds the commands in the thread.")
	case incident.Approved, incident.Acted, incident.Helped, incident.Unhelpful:
		return l.by(a, "The policy auto", " approved this plan").plain(". It is done once only; the thread says what came of it.")
	}
	return l.by(a, "Somebody", " decided on this plan").plain(". The message says how.")
}

// by names who did something, and when: nobody is the subject without a name.
func (l *line) by(a incident.Answer, nobody, did string) *line {
	if a.By == (report.User{}) {
		l.plain(nobody)
	} else {
		l.person(a.By)
	}
	if l.plain(did); !a.When.IsZero() {
		l.plain(", ").at(a.When)
	}
	return l
}

// known is a time, or that it is not known.
func (l *line) known(t time.Time) *line {
	if t.IsZero() {
		return l.plain("an unknown time")
	}
	return l.dated(t)
}

// words are a line as text alone. It calls nobody: ids of people stay ids.
func words(l *line) string {
	var b strings.Builder
	for _, item := range l.items {
		switch item := item.(type) {
		case *slackgo.RichTextSectionTextElement:
			b.WriteString(item.Text)
		case *slackgo.RichTextSectionLinkElement:
			b.WriteString(item.Text)
		case *slackgo.RichTextSectionUserElement:
			b.WriteString(item.UserID)
		case *slackgo.RichTextSectionDateElement:
			if item.Fallback != nil {
				b.WriteString(*item.Fallback)
			}
		}
	}
	return b.String()
}
