package slack

import (
	"strings"

	slackgo "github.com/slack-go/slack"

	"rollcall/shared/report"
	"rollcall/shared/slack/slacktext"
)

// mostTrail is how many changes a reply lists.
const mostTrail = 12

// changed is the change that most likely did it, in one line. A call that was
// refused changed nothing, and that nothing was found is for the thread.
func (p *page) changed(t *report.RecentChanges, resource string) {
	if t == nil {
		return
	}
	var made []report.Change
	for _, c := range t.Changes {
		if c.Error == "" {
			made = append(made, c)
		}
	}
	if len(made) == 0 {
		return
	}
	shown := made[0] // the newest
	for _, c := range made {
		if c.Resource == resource {
			shown = c
			break
		}
	}
	l := p.label("Changed").clock(shown.At).plain(" ")
	l.change(shown)
	if left := len(made) - 1 + max(t.More, 0); left > 0 {
		l.plain("; more in the thread") // how many grows as CloudTrail tells them
	}
	p.add(l.plain(".").section())
}

// change is who did what: "ci-deploy created rtb-0cd2 (CreateRouteTable)".
func (l *line) change(c report.Change) {
	actor := slacktext.Clip(slacktext.OneLine(c.Actor), 80)
	if actor == "" {
		actor = "somebody"
	}
	call, resource := slacktext.Clip(slacktext.OneLine(c.Call), 80), slacktext.Clip(slacktext.OneLine(c.Resource), 120)
	kind := ""
	if ids.FindString(resource) == resource {
		kind, _, _ = strings.Cut(resource, "-")
	}
	verb, named := changeVerb(call, kind, c.Error != "")
	l.plain(actor + " " + verb + " ").prose(resource)
	if call != "" && !named {
		l.plain(" (" + call + ")")
	}
	if by := strings.TrimSuffix(slacktext.Clip(slacktext.OneLine(c.By), 80), ".amazonaws.com"); by != "" {
		l.plain(" through " + by)
	}
	if c.Times > 1 {
		l.plain(", " + slacktext.Count(c.Times, "time"))
	}
}

// trail is everything that CloudTrail knows, for the thread.
func (p *page) trail(t *report.RecentChanges) {
	if t == nil {
		return
	}
	l := p.label("Searched")
	if t.From.IsZero() {
		l.plain("changes to these resources until ")
	} else {
		l.plain("changes to these resources from ").clock(t.From).plain(" to ")
	}
	l.clock(t.To)
	if good := slacktext.Clip(slacktext.OneLine(t.LastGood), 40); good != "" {
		l.plain(", since ").prose(good).plain(" joined")
	}
	var lines []*line
	for _, c := range t.Changes[:min(len(t.Changes), mostTrail, max(p.room/60, 4))] {
		row := p.line().clock(c.At).plain(" ")
		row.change(c)
		if code := slacktext.Clip(slacktext.OneLine(c.Error), 60); code != "" {
			row.plain(": refused, ").code(code)
		}
		lines = append(lines, row)
	}
	if left := len(t.Changes) - len(lines) + max(t.More, 0); left > 0 {
		lines = append(lines, p.line().plain("… and "+slacktext.Count(left, "more change")+" left out here"))
	}
	parts := []slackgo.RichTextElement{l.plain(pick(len(lines) > 0, ":", ".")).section()}
	blind := slacktext.Clip(slacktext.OneLine(t.Blind), 300)
	switch {
	case len(lines) > 0:
		parts = append(parts, bullets(lines...))
	case blind != "":
		// It was not looked at: that nothing is listed says nothing.
	case t.Open:
		parts = append(parts, p.line().plain("None so far.").section())
	default:
		parts = append(parts, p.line().plain("None. The cause may be older, or no API call of this account.").section())
	}
	if blind != "" {
		parts = append(parts, p.line().plain("Not read: ").code(blind).plain(". There may be more changes.").section())
	}
	if t.Open {
		parts = append(parts, p.line().plain("CloudTrail can lag by some minutes; it is searched again.").section())
	}
	p.add(parts...)
}
