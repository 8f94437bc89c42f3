package slack

import (
	slackgo "github.com/slack-go/slack"

	"rollcall/shared/incident"
)

// handled says who has taken the incident on, and who muted it.
func (p *page) handled(i incident.Incident, o Options) {
	var parts []slackgo.RichTextElement
	if i.Ack != nil {
		l := p.line().plain("Acknowledged by ").person(i.Ack.By).plain(" ").at(i.Ack.At)
		if i.Ack.From != nil {
			l.plain(", taken over from ").person(*i.Ack.From)
		}
		parts = append(parts, l.plain(".").section())
	}
	if o.muted(i) {
		parts = append(parts, p.line().plain("Muted by ").person(i.Mute.By).plain(" until ").until(i.Mute.At, i.Mute.Until).plain(".").section())
	}
	p.add(parts...)
}
