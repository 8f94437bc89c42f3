package slack

import (
	"strings"

	"rollcall/shared/report"
)

// saying is a sentence that names people: in a message each is a mention, in
// the notification's text a name.
type saying []piece

type piece struct {
	text string
	who  report.User
}

func say(text string) saying { return saying{{text: text}} }

func (s saying) by(who report.User) saying { return append(s, piece{who: who}) }

func (s saying) and(text string) saying { return append(s, piece{text: text}) }

// String is the sentence without mentions.
func (s saying) String() string {
	var b strings.Builder
	for _, p := range s {
		b.WriteString(p.text)
		if p.who != (report.User{}) {
			b.WriteString(nameOf(p.who))
		}
	}
	return b.String()
}

// saying appends the sentence with its mentions.
func (l *line) saying(s saying) *line {
	for _, p := range s {
		if p.who != (report.User{}) {
			l.person(p.who)
			continue
		}
		l.prose(p.text)
	}
	return l
}
