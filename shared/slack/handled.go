package slack

import (
	slackgo "github.com/slack-go/slack"

	"rollcall/shared/incident"
	"rollcall/shared/slack/slacktext"
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
	if i.Silence != nil {
		l := p.line().plain("Silenced by ").person(i.Silence.By).plain(" until ").until(o.Now, i.Silence.Until)
		if why := slacktext.Clip(slacktext.OneLine(i.Silence.Reason), 300); why != "" {
			l.plain(": ").prose(why)
		}
		parts = append(parts, l.plain(". Nothing more is said of it in the channel until then.").section())
	}
	p.add(parts...)
}
