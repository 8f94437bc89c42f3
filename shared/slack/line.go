package slack

import (
	"strings"

	"rollcall/shared/incident"
)

// lineTop is the first line of a reply that the channel shows too: there it stands
// alone, so that it says whose it is, and how things stand.
func lineTop(i incident.Incident, n incident.Note, says saying) saying {
	if restates(n) {
		return say(headline(i))
	}
	colour, _ := verdict(i)
	if n.Reason == incident.IsProposed {
		return append(say(colour+" "+where(i)+" · needs a decision: "), says...)
	}
	return append(say(colour+" "+where(i)+" · "+continued(replyLabel(n.Reason))+": "), says...)
}

// restates tells of a line that says what the message says, and why it is said again.
func restates(n incident.Note) bool {
	switch n.Reason {
	case incident.Reopened, incident.FailedAgain, incident.IsWorse, incident.HasMissed, incident.IsUnsilenced:
		return true
	}
	return false
}

// inChannel is what a reader of the channel needs beside the first line that restates the
// message: why, and the one action. Slack shows no buttons there (docs.slack.dev/reference/events/message/thread_broadcast).
func (p *page) inChannel(i incident.Incident, n incident.Note, says saying) {
	if text := strings.TrimSuffix(says.String(), ":"); text != "" {
		p.add(p.label(replyLabel(n.Reason)).prose(text).section())
	}
	p.why(i)
	p.do(i.Cause.Fix)
}
