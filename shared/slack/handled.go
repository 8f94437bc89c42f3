package slack

import (
	slackgo "github.com/slack-go/slack"

	"rollcall/shared/report"
)

// handled says who has taken the incident on, and who muted it.
func (p *page) handled(i report.Incident, o Options) {
	var parts []slackgo.RichTextElement
	if i.Ack != nil {
		parts = append(parts, p.line().plain("Acknowledged by ").person(i.Ack.By).plain(" ").at(i.Ack.At).plain(".").section())
	}
	if o.muted(i) {
		parts = append(parts, p.line().plain("Muted by ").person(i.Mute.By).plain(" until ").until(i.Mute.At, i.Mute.Until).plain(".").section())
	}
	p.add(parts...)
}
