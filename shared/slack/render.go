// Package slack draws incidents as Slack messages: pure functions of an incident.
//
// Messages are made of rich_text blocks only. Text in them is never parsed, so
// nothing that comes from AWS can mention people or break the layout, and times
// are shown in each reader's own zone.
package slack

import (
	"strings"

	slackgo "github.com/slack-go/slack"

	"rollcall/shared/checks"
	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/shell"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/slack/slacktext"
)

// maxWhy is for one or two sentences; whoever writes more is cut.
const maxWhy = 800

// Render is the incident's message as it should stand in the channel now. It
// is a pure function: the same incident and options give the same message.
func Render(i incident.Incident, o Options) slackapi.Message {
	top := headline(i)
	return slackapi.Message{
		Text: slacktext.Notification(top),
		Blocks: slacktext.Fit(func(room int) []slackgo.Block {
			p := newPage(place{i.Partition, i.Region}, i.Changed, room)
			p.add(p.line().strong(top).section())
			switch i.State {
			case incident.Cleared:
				p.cleared(i, o)
			case incident.Closed:
				p.closed(i, o)
			default:
				p.open(i, o)
			}
			p.handle(i, o)
			p.footer(i)
			return p.blocks
		}),
		Tag: slackapi.Tag{Key: slackapi.KeyOf(i.Key)},
	}
}

// open is the body while the cause is there.
func (p *page) open(i incident.Incident, o Options) {
	p.why(i)
	p.sketch(i)
	p.since(i)
	p.changed(i.RecentChanges, i.Key.Resource)
	p.handled(i, o)
	p.effects(i)
	switch {
	case i.Key.Check == incident.CannotLook:
		p.evidence("", i.Cause.Evidence)
	case i.Cause.Confidence != checks.Certain:
		// Where the cause is certain, what was not seen is for the thread.
		p.blind(i.Blind)
	}
	if p.offers(i, o) {
		p.do(i.Cause.Fix)
	}
}

// why is the reason, and how sure it is.
func (p *page) why(i incident.Incident) {
	if i.Cause.Why != "" {
		p.add(p.label(whyLabel(i)).prose(slacktext.Sentence(slacktext.Clip(i.Cause.Why, maxWhy))).section())
	}
}

// whyLabel says how sure the reason is.
func whyLabel(i incident.Incident) string {
	switch {
	case i.Key.Check == incident.CannotLook:
		return "So"
	case stated(i):
		return "Why"
	case i.Cause.Confidence == checks.Likely:
		return "Likely because"
	case i.Cause.Confidence == checks.Possible:
		return "Possibly because"
	case i.Cause.Confidence == checks.Symptom:
		return "Seen"
	}
	return "Why"
}

func (p *page) since(i incident.Incident) {
	l := p.label("Since").clock(i.Began)
	if f, ok := first(i.Launches); ok {
		l.plain(pick(len(i.Launches) == 1 && i.Affected <= 1, ", ", ", first ")).prose(f.Instance)
		if f.Zone != "" {
			l.plain(" in " + slacktext.Clip(slacktext.OneLine(f.Zone), 40))
		}
	}
	l.plain(".")
	if parts := tallyOf(i).parts(); parts != nil {
		l.plain(" So far " + strings.Join(parts, ", ") + ".")
	}
	p.add(l.section())
}

// do is the fix. A command is shown whole or not at all: half a command must
// not be pasted.
func (p *page) do(fix checks.Fix) {
	if fix.Text == "" && fix.Command == "" {
		return
	}
	command := strings.TrimSpace(slacktext.Clean(fix.Command))
	text := strings.TrimSpace(fix.Text)
	l := p.label("Do")
	switch {
	case command == "":
		l.prose(slacktext.Sentence(text))
	case text == "":
		l.plain("run this:")
	case strings.HasSuffix(text, "."):
		l.prose(text)
	default: // why it is this command: "nat-0aa4: available, same zone"
		l.plain("run this (").prose(text).plain("):")
	}
	switch {
	case command == "":
		p.add(l.section())
	case slacktext.Length(command) > p.room:
		p.add(l.plain(" The command is too long for this message.").section())
	default:
		p.add(l.section(), pre(command))
	}
}

// cleared is the body while a proof is awaited.
func (p *page) cleared(i incident.Incident, o Options) {
	p.add(p.label("Was").prose(slacktext.Sentence(capital(title(i)))).plain(" From ").clock(i.Began).plain(" to ").clock(i.Cleared).plain(".").section())
	if change(i.ClearedBy) == "" {
		p.evidence("Found now", i.ClearedBy)
	}
	p.sketch(i)
	p.changed(i.RecentChanges, i.Key.Resource)
	p.handled(i, o)
	byHand := p.offers(i, o)
	t := tallyOf(i)
	l := p.label("Next").plain("This closes when an instance in the same place becomes a Ready node.")
	if i.Replacing() {
		l = p.label("Next").plain("This closes when the instances that missed the roll call are replaced, a day after the cause was gone at the latest, and one in the same place is a Ready node.")
	}
	out := t.missed + t.givenUp
	command := replace(i)
	if out == 0 || command == "" || !byHand {
		p.add(l.section())
		return
	}
	l.plain(" " + slacktext.Count(out, "instance") + " launched before the change " + pick(out == 1, "is still not a Ready node", "are still not Ready nodes") +
		". " + pick(out == 1, "If it stays out, replace it:", "If they stay out, replace them one by one:"))
	p.add(l.section(), pre(command))
}

// replace is the command that makes the Auto Scaling group launch another
// instance in the place of the first that is stuck.
func replace(i incident.Incident) string {
	for _, l := range byStart(i.Launches) {
		stuck := l.Status == report.Missed || l.Status == report.GivenUp
		if stuck && l.Group != "" && ids.FindString(l.Instance) == l.Instance && region.MatchString(i.Region) {
			return shell.Command("aws", "autoscaling", "terminate-instance-in-auto-scaling-group", "--region", i.Region,
				"--instance-id", l.Instance, "--no-should-decrement-desired-capacity")
		}
	}
	return ""
}

// closed is the body of an incident that is over: what it was, and how long.
func (p *page) closed(i incident.Incident, o Options) {
	l := p.label("Was").prose(slacktext.Sentence(capital(was(i))))
	if t := tallyOf(i); t.all > 0 {
		l.plain(" " + slacktext.Count(t.all, "instance") + " affected")
		if parts := t.parts(); parts != nil {
			l.plain(": " + strings.Join(parts, ", "))
		}
		l.plain(".")
	}
	p.add(l.section())
	p.changed(i.RecentChanges, i.Key.Resource)
	p.offers(i, Options{})
	byItself := addressesAre(i) != "" && i.Resolution == incident.Proved && i.Proof == nil
	if byItself {
		p.sketch(i)
	}
	if i.Key.Check == incident.CannotLook || byItself {
		p.add(p.label("When").plain("from ").clock(i.Began).plain(" to ").clock(i.Cleared).plain(".").section())
		return
	}
	if i.Resolution != incident.Superseded && i.Resolution != incident.Withdrawn {
		p.sketch(i)
	}
	l = p.label("When").plain("began ").clock(i.Began)
	if !i.Cleared.IsZero() {
		l.plain(", cause gone ").clock(i.Cleared)
	}
	if i.Proof != nil && !i.Proof.Ready.IsZero() {
		l.plain(", first Ready node ").clock(i.Proof.Ready)
	} else {
		l.plain(", closed ").clock(i.Resolved)
	}
	p.add(l.plain(".").section())
}

// footer is how urgent it is, the check's name, and the way to the console.
func (p *page) footer(i incident.Incident) {
	address := web(i.Cause.Fix.Console)
	if address == "" {
		address = p.place.console(i.Key.Resource)
	}
	muted := &slackgo.RichTextSectionTextStyle{Italic: true}
	l := p.line().styled(urgency(i), muted)
	if check := slacktext.Clip(slacktext.OneLine(string(i.Key.Check)), 60); check != "" {
		l.plain(" · ").styled(check, muted)
	}
	if address != "" {
		// A link and not a button: Slack sends a press of a link button too, and
		// puts a warning sign beside one that nobody acknowledges
		// (slackapi/node-slack-sdk issue 869).
		l.plain(" · ").link(address, "Open in console", nil)
	}
	p.add(l.section())
}

// urgency is the colour as a word: nobody has to see colours.
func urgency(i incident.Incident) string {
	switch colour, _ := verdict(i); colour {
	case red:
		return "Critical"
	case orange:
		return "Warning"
	case yellow:
		return "Cause gone"
	case green:
		return "Resolved"
	case white:
		return "Closed"
	}
	return "Info"
}
