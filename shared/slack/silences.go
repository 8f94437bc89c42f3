package slack

import (
	"fmt"
	"time"

	slackgo "github.com/slack-go/slack"

	"rollcall/shared/incident"
	"rollcall/shared/overview"
	"rollcall/shared/report"
	"rollcall/shared/silence"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/slack/slacktext"
)

// RenderSilences is what /rollcall silences answers.
func RenderSilences(o overview.Overview, actions bool) slackapi.Message {
	top := slacktext.Count(len(o.Silences), "silence") + "."
	if len(o.Silences) == 0 {
		top = pick(len(o.Unread) > 0, "No silence is known, and not everything could be read.", "Nothing is silenced.")
	}
	return answering(o, top, func(p *page) {
		p.add(p.line().strong(top).section())
		p.silences(o, actions)
		muted := p.muted(o)
		if len(muted) > 0 {
			p.add(p.heading("Muted incidents"), bullets(muted...))
		}
		p.unread(o.Unread)
	})
}

// silences lists what is silenced, each with its button.
func (p *page) silences(o overview.Overview, actions bool) {
	most := p.most(mostSilences, 3)
	for _, s := range o.Silences[:min(len(o.Silences), most)] {
		p.add(p.silence(p.line(), s.Silence, s.Whose).plain(" Undo: ").code("/rollcall unsilence " + s.ID).section())
		if actions {
			p.blocks = append(p.blocks, slackgo.NewActionBlock("silence-"+s.ID, endButton(s.Silence)))
		}
	}
	if left := len(o.Silences) - most; left > 0 {
		p.add(p.line().plain("and " + slacktext.Number(left) + " more, which end later").section())
	}
}

// muted lists the incidents that somebody muted.
func (p *page) muted(o overview.Overview) (lines []*line) {
	for _, i := range o.Incidents {
		if i.Muted(o.Now) && len(lines) < p.most(mostIncidents, 3) {
			lines = append(lines, p.incident(i, o))
		}
	}
	return lines
}

// endButton ends a silence. What its value says is an id; who may, report decides.
func endButton(s silence.Silence) *slackgo.ButtonBlockElement {
	b := button(report.EndSilence, "End silence", s.ID)
	b.Confirm = &slackgo.ConfirmationBlockObject{
		Title: label("End this silence?"), Text: label("What is still broken is then told in the channel."), Confirm: label("End it"), Deny: label("Cancel"),
	}
	return b
}

// silence is who silenced what, until when and why.
func (p *page) silence(l *line, s silence.Silence, whose string) *line {
	l.strong(scopeOf(s, whose)).plain(" is silenced ")
	if s.From.After(s.At.Add(time.Minute)) {
		l.plain("from ").dated(s.From).plain(" ")
	}
	l.plain("until ").until(p.asOf, s.Until)
	if s.Weekly != nil {
		l.plain(", " + weekly(*s.Weekly))
	}
	l.plain(", by ").person(report.User(s.By))
	if why := slacktext.Clip(slacktext.OneLine(s.Reason), 300); why != "" {
		return l.plain(": ").prose(slacktext.Sentence(why))
	}
	return l.plain(".")
}

// scopeOf is what a silence is of.
func scopeOf(s silence.Silence, whose string) string {
	text := clusterName(overview.Cluster{Cluster: s.Of(), Whose: whose})
	if s.Nodegroup != "" {
		text += " / " + slacktext.Clip(slacktext.OneLine(s.Nodegroup), 63)
	}
	if s.Tag != nil {
		text += ", nodegroups with " + slacktext.Clip(slacktext.OneLine(s.Tag.Key+"="+s.Tag.Value), 100)
	}
	if s.Check != "" {
		text += ", " + slacktext.Clip(slacktext.OneLine(string(s.Check)), 60)
	}
	return text
}

func weekly(w silence.Window) string {
	clock := func(d time.Duration) string { return fmt.Sprintf("%02d:%02d", int(d.Hours()), int(d.Minutes())%60) }
	return "each " + w.Day.String() + " " + clock(w.From) + " to " + clock(w.To) + " UTC"
}

// RenderSilence is the line of the channel about a silence: while it stands, and when it
// is over.
func RenderSilence(s silence.Silence, whose string, o Options) slackapi.Message {
	draw := func(room int) []slackgo.Block {
		p := newPage(place{}, o.Now, room)
		if !s.Standing(o.Now) {
			l := p.line().plain("🔔 ").plain("The silence of ").strong(scopeOf(s, whose)).plain(" is over")
			if !s.Ended.IsZero() {
				l.plain(": ended by ").person(report.User(s.EndedBy)).plain(" ").at(s.Ended)
			}
			p.add(l.plain(". What is still broken is told.").section())
			return p.blocks
		}
		p.add(p.silence(p.line().plain("🔕 "), s, whose).section(),
			p.line().plain("What is found is recorded, and told at the end if it is still there. Undo: ").code("/rollcall unsilence "+s.ID).section())
		if o.Actions {
			p.blocks = append(p.blocks, slackgo.NewActionBlock("silence-"+s.ID, endButton(s)))
		}
		return p.blocks
	}
	text := "🔕 " + scopeOf(s, whose) + " is silenced by " + nameOf(report.User(s.By)) + "."
	if !s.Standing(o.Now) {
		text = "🔔 The silence of " + scopeOf(s, whose) + " is over."
	}
	return slackapi.Message{Text: slacktext.Notification(text), Blocks: slacktext.Fit(draw), Tag: slackapi.Tag{Key: "silence|" + s.Of().String() + "|" + s.ID}}
}

// RenderSilenced is what whoever asked for a silence is told.
func RenderSilenced(s silence.Silence, whose string, hides []incident.Incident, now time.Time) slackapi.Message {
	o := overview.Overview{Now: now}
	return answering(o, "Silenced: "+scopeOf(s, whose)+".", func(p *page) {
		p.add(p.silence(p.line(), s, whose).section())
		switch n := len(hides); {
		case n > 0:
			p.add(p.line().plain(slacktext.Count(n, "open incident") + pick(n == 1, " is", " are") + " silenced with it. New ones are recorded and not told.").section())
		default:
			p.add(p.line().plain("Nothing that it would hide is open now.").section())
		}
		p.add(p.line().plain("Undo: ").code("/rollcall unsilence " + s.ID).section())
	})
}

// RenderSays is an answer of one sentence.
func RenderSays(says string, now time.Time) slackapi.Message {
	return answering(overview.Overview{Now: now}, says, func(p *page) { p.add(p.line().prose(says).section()) })
}
