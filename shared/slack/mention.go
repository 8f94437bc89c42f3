package slack

import (
	"strings"

	slackgo "github.com/slack-go/slack"
)

// mostMentions is how many are called at once: who needs more makes a group.
const mostMentions = 10

// called are the ids that can be called: users, user groups and "here".
// Anything else is left out: a mention that Slack does not take would keep the
// whole message from being sent.
func called(ids []string) []string {
	var list []string
	for _, id := range ids {
		if len(list) < mostMentions && (id == "here" || isUser(id) || isGroup(id)) {
			list = append(list, id)
		}
	}
	return list
}

// mention appends those who are called.
func (l *line) mention(ids []string) *line {
	for _, id := range called(ids) {
		switch {
		case id == "here":
			l.items = append(l.items, slackgo.NewRichTextSectionBroadcastElement("here"))
		case isGroup(id):
			l.items = append(l.items, slackgo.NewRichTextSectionUserGroupElement(id))
		default:
			l.items = append(l.items, slackgo.NewRichTextSectionUserElement(id, nil))
		}
		l.plain(" ")
	}
	return l
}

// calling is the same for the notification's text, in Slack's own marks:
// docs.slack.dev/messaging/formatting-message-text.
func calling(ids []string) string {
	var b strings.Builder
	for _, id := range called(ids) {
		switch {
		case id == "here":
			b.WriteString("<!here> ")
		case isGroup(id):
			b.WriteString("<!subteam^" + id + "> ")
		default:
			b.WriteString("<@" + id + "> ")
		}
	}
	return b.String()
}
