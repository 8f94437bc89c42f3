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
			l.dated(a.Until).plain(". Nobody is called until then. The message stays up to date, and the end is announced.")
		}
		if a.Reason == incident.AnswerTakenOver && a.By != (report.User{}) {
			l.plain(" ").person(a.By).plain(" had it before; the thread says so.")
		}
		return l
	}
	switch a.Reason {
	case incident.NotAllowed:
		return l.plain("You may not approve or refuse fixes here. Ask one of the approvers (setting approvers), or run the commands in the message.")
	case incident.NotResponder:
		return l.plain("You may not acknowledge, mute or recheck here. Ask one of the responders (setting responders).")
	case incident.OtherWorkspace:
		return l.plain("Only people of Rollcall’s own Slack workspace may press these buttons, and Slack does not say that you are one. Ask somebody who is.")
	case incident.IsGuest:
		return l.plain("Guests of the workspace may not mute: it keeps what follows from everybody. Ask a member.")
	case incident.GuestNotRead:
		return l.plain("Slack did not say whether you are a guest of the workspace. Try again in a minute. If it stays so, give the Slack app the scope users:read.")
	case incident.WorkspaceNotRead:
		return l.plain("Slack did not say which workspace you belong to. Try again in a minute.")
	case incident.NobodyAllowed:
		return l.plain("Nobody may approve fixes yet: the setting approvers is empty. Set it to the ids of users (U…) or user groups (S…) and deploy. Or run the commands in the message.")
	case incident.GroupNotRead:
		return l.plain("Slack did not say who is in the approvers’ user group. Try again in a minute. If it stays so, give the Slack app the scope usergroups:read, or list users instead of groups in the setting approvers.")
	case incident.NothingRanOut:
		return l.plain("No offer has expired here. Use the buttons in the message as it is now.")
	case incident.NoSuchPlan:
		return l.plain("This incident never had that plan. Use the buttons in the message as it is now.")
	case incident.PlanChanged:
		return l.plain("The plan has changed since you saw it. Read the one in the message now, and approve that.")
	case incident.PlanExpired:
		return l.plain("The approval expired ").known(a.Until).plain(". Press “Offer again” in the message for a fresh one.")
	case incident.NotNow:
		return l.plain("Not now: the hourly limit is reached, or the recheck failed. A new button comes at ").known(a.Until).plain(".")
	case incident.AlreadyDecided:
		return l.decided(a)
	case incident.IncidentClosed:
		return l.plain("This was closed ").at(a.When).plain(". If it comes back, the message gets new buttons.")
	case incident.CauseIsGone:
		return l.plain("The cause is gone already; there is nothing to fix. This closes when a new instance is Ready.")
	case incident.IncidentNotFound:
		return l.plain("Rollcall has no record of this incident any more. The cluster may no longer be watched; this message is no longer updated.")
	case incident.EarlierOpening:
		return l.plain("That button is from before this reopened ").at(a.When).plain(". Use the buttons in the message as it is now.")
	case incident.AlreadyTaken:
		return l.by(a, "Somebody", " acknowledged this").plain("; reminders stopped. To take it on yourself, press “Take over”.")
	case incident.AlreadyYours:
		return l.plain("You have it already, since ").known(a.When).plain(".")
	case incident.NotMuted:
		return l.plain("It is not muted any more.")
	case incident.AskedJustNow:
		return l.plain("A recheck is already running. You can ask again at ").known(a.Until).plain(".")
	case incident.NotPassedOn, incident.Incomplete:
		return l.plain("Slack did not send the whole press. Press again.")
	case incident.TooLate:
		return l.plain("That press is from ").known(a.When).plain(", too old to act on. Read the message as it is now, and press again.")
	case incident.FromFuture:
		return l.plain("That press is dated ").known(a.When).plain(", in the future: clocks differ. Press again.")
	case incident.NoSuchTime:
		return l.plain("It can be muted for 1, 4 or 24 hours only.")
	case incident.UnknownAction:
		return l.plain("This version of Rollcall does not have that button. Use the newest message.")
	}
	if slacktext.OneLine(string(a.Reason)) == "" {
		return l.plain("The reason is in Rollcall’s log.")
	}
	return l.plain("Reason: ").code(slacktext.Clip(string(a.Reason), 80)).plain(".")
}

// doneWords are what was done.
func doneWords(a incident.Answer) (string, bool) {
	switch a.Reason {
	case incident.AnswerApproved:
		return "approved. Rechecking before applying; the result will be in the thread.", true
	case incident.AnswerRefused:
		return "refused; Rollcall will not do this. The commands are in the message.", true
	case incident.AnswerAcknowledged:
		return "Acknowledged; reminders stopped.", true
	case incident.AnswerTakenOver:
		return "You have it now.", true
	case incident.AnswerMuted:
		return "Muted until ", true
	case incident.AnswerUnmuted:
		return "Unmuted.", true
	case incident.AnswerOffering:
		return "Making a fresh plan; the message will show it.", true
	case incident.AnswerChecking:
		return "Rechecking; the message will show the result.", true
	}
	return "", false
}

// decided says who was faster, and how.
func (l *line) decided(a incident.Answer) *line {
	switch a.State {
	case incident.RefusedByUs:
		return l.by(a, "Somebody", " refused this plan").plain(". To do it anyway, run the commands in the message.")
	case incident.Approved, incident.Acted, incident.Helped, incident.Unhelpful:
		return l.by(a, "The policy auto", " approved this plan").plain(". It is applied once; the result will be in the thread.")
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

// RenderRefusal is what whoever typed a command is told who may not.
func RenderRefusal(a incident.Answer, now time.Time) slackapi.Message {
	return RenderSays(RefusalSays(a), now)
}

// RefusalSays is why somebody may not ask for what they typed or pressed on the home page.
func RefusalSays(a incident.Answer) string {
	says := "Nothing was done. "
	switch a.Reason {
	case incident.NotResponder:
		return says + "You may not silence here. Ask one of the responders (setting responders)."
	case incident.IsGuest:
		return says + "Guests of the workspace may not ask: an answer is about all accounts, and a silence hides them from everybody. Ask a member."
	case incident.GuestNotRead:
		return says + "Slack did not say whether you are a guest of the workspace. Try again in a minute. If it stays so, give the Slack app the scope users:read."
	case incident.OtherWorkspace:
		return says + "Only people of Rollcall’s own Slack workspace may ask, and Slack does not say that you are one."
	case incident.GroupNotRead:
		return says + "Slack did not say who is in the responders’ user group. Try again in a minute. If it stays so, give the Slack app the scope usergroups:read."
	}
	return says + words(newPage(place{}, time.Time{}, slacktext.WidestRoom).line().answer(a))
}
