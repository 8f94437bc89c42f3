package slack

import (
	"strings"

	slackgo "github.com/slack-go/slack"

	"rollcall/shared/report"
	"rollcall/shared/slack/slacktext"
)

// Ids of Slack: a user's begins with U or W, a user group's with S.
func isUser(id string) bool  { return isID(id, "UW") }
func isGroup(id string) bool { return isID(id, "S") }

func isID(id, first string) bool {
	if len(id) < 3 || len(id) > 30 || !strings.ContainsRune(first, rune(id[0])) {
		return false
	}
	return strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == ""
}

// person appends who somebody is: the name that Slack shows of the id, else
// the name as we know it.
func (l *line) person(u report.User) *line {
	if isUser(u.ID) {
		l.items = append(l.items, slackgo.NewRichTextSectionUserElement(u.ID, nil))
		return l
	}
	return l.plain(nameOf(u))
}

// nameOf is for text that cannot hold a mention, and must not call anybody.
func nameOf(u report.User) string {
	switch name := slacktext.Clip(slacktext.OneLine(u.Name), 40); {
	case name != "":
		return "@" + name
	case u.ID != "":
		return slacktext.Clip(slacktext.OneLine(u.ID), 40)
	}
	return "somebody"
}
