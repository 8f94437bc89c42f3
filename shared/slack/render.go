// Package slack draws incidents as Slack messages: pure functions of an incident.
//
// Messages are made of rich_text blocks only. Text in them is never parsed, so
// nothing that comes from AWS can mention people or break the layout, and times
// are shown in each reader's own zone.
package slack

import (
	"strings"
	"time"

	slackgo "github.com/slack-go/slack"

	"rollcall/shared/checks"
	"rollcall/shared/checks/check"
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
//
// When it was last checked is stamped on it, and makes it no other message: it is not
// edited for that alone.
func Render(i incident.Incident, o Options) slackapi.Message {
	m := render(i, o, i.LastLook())
	if !i.LastLook().IsZero() {
		m.Sum = render(i, o, time.Time{}).Digest()
	}
	return m
}

func render(i incident.Incident, o Options, checked time.Time) slackapi.Message {
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
			p.footer(i, o, checked)
			return p.blocks
		}),
		Tag: slackapi.Tag{Key: slackapi.KeyOf(i.Key)},
	}
}

// open is the body while the cause is there. What a phone shows first is what hurts, why,
// and the one thing to do, with its buttons; all else is below.
func (p *page) open(i incident.Incident, o Options) {
	why, more := parted(slacktext.Sentence(slacktext.Clip(i.Cause.Why, maxWhy)), firstWhy)
	p.hurts(i)
	p.reason(whyLabel(i), why)
	manual, below := p.offers(i, o)
	if manual {
		p.do(i.Cause.Fix)
	}
	p.handle(i, o)
	p.handled(i, o)
	p.add(below...)
	p.reason("More", more)
	p.changed(i.RecentChanges, i.Key.Resource)
	p.sketch(i)
	p.effects(i)
	switch {
	case i.Key.Check == incident.CannotLook:
		p.evidence("", i.Cause.Evidence)
	case i.Cause.Confidence != checks.Certain:
		// Where the cause is certain, what was not seen is for the thread.
		p.blind(i.Blind)
	}
}

// firstWhy is how long the reason may be above the buttons: six lines of a phone.
const firstWhy = 300

// parted is a text in two, at the end of a sentence: the first is as long as it may be,
// or one sentence.
func parted(s string, most int) (first, rest string) {
	if slacktext.Length(s) <= most {
		return s, ""
	}
	at := -1
	for from := 0; ; {
		end := strings.Index(s[from:], ". ")
		if end < 0 || at >= 0 && slacktext.Length(s[:from+end+1]) > most {
			break
		}
		at = from + end + 1
		from = at + 1
	}
	if at < 0 {
		return s, ""
	}
	return s[:at], s[at+1:]
}

// why is the reason, and how sure it is.
func (p *page) why(i incident.Incident) {
	p.reason(whyLabel(i), slacktext.Sentence(slacktext.Clip(i.Cause.Why, maxWhy)))
}

func (p *page) reason(label, text string) {
	if text != "" {
		p.add(p.label(label).prose(text).section())
	}
}

// whyLabel says how sure the reason is.
func whyLabel(i incident.Incident) string {
	switch {
	case i.Key.Check == incident.CannotLook:
		return "Impact"
	case stated(i):
		return "Why"
	case i.Cause.Confidence == checks.Likely:
		return "Likely cause"
	case i.Cause.Confidence == checks.Possible:
		return "Possible cause"
	case i.Cause.Confidence == checks.Symptom:
		return "Observed"
	}
	return "Why"
}

// hurts is what is lost, and since when: pods that wait, instances that are no nodes.
func (p *page) hurts(i incident.Incident) {
	t := tallyOf(i)
	what := impact(i, t)
	l := p.label("Since").clock(i.Began)
	if len(what) > 0 {
		l = p.label("Impact").plain(strings.Join(what, ", ") + ", since ").clock(i.Began)
	}
	if f, ok := first(i.Launches); ok {
		l.plain(pick(len(i.Launches) == 1 && i.Affected <= 1, ", ", ", first ")).prose(f.Instance)
		if f.Zone != "" {
			l.plain(" in " + slacktext.Clip(slacktext.OneLine(f.Zone), 40))
		}
	}
	l.plain(".")
	if parts := t.parts(); parts != nil {
		l.plain(" So far " + strings.Join(parts, ", ") + ".")
	}
	p.add(l.section())
}

// impact is what is lost: pods that wait, instances that are no nodes.
func impact(i incident.Incident, t tally) []string {
	var what []string
	if n := len(i.Cause.Pods); n > 0 {
		what = append(what, slacktext.Count(n, "pod")+" pending")
	}
	if n := i.Capacity.Missing(); n > 0 {
		what = append(what, slacktext.Number(n)+" of "+slacktext.Number(i.Capacity.Desired)+" desired nodes missing")
	}
	switch {
	case t.out() == 0:
	case checks.Meaning(i.Key.Check).Breaks == check.Launching && t.joined == 0:
		what = append(what, slacktext.Count(t.out(), "failed launch"))
	case t.joined > 0:
		what = append(what, slacktext.Number(t.out())+" of "+slacktext.Count(t.all, "new instance")+" not Ready")
	default:
		what = append(what, slacktext.Count(t.out(), "new instance")+pick(t.early(), " not Ready yet", " not Ready"))
	}
	return what
}

// do is the fix. A command is shown whole or not at all: half a command must
// not be pasted.
func (p *page) do(fix checks.Fix) {
	if fix.Text == "" && fix.Command == "" {
		return
	}
	h := byHand(fix)
	command := h.command
	l := p.label("Do")
	if h.before != "" {
		l.plain(h.before)
	}
	if h.text != "" {
		l.prose(h.text)
	}
	if h.after != "" {
		l.plain(h.after)
	}
	switch {
	case command == "":
		p.add(l.section())
	case slacktext.Length(command) > p.room:
		p.add(l.plain(" The command is too long to show here.").section())
	default:
		p.add(l.section(), pre(command))
	}
}

// cleared is the body while a proof is awaited.
func (p *page) cleared(i incident.Incident, o Options) {
	p.add(p.label("Was").prose(slacktext.Sentence(capital(title(i)))).plain(" From ").clock(i.Began).plain(" to ").clock(i.Cleared).plain(".").section())
	manual, below := p.offers(i, o)
	defer func() {
		p.handle(i, o)
		p.handled(i, o)
		p.add(below...)
		p.changed(i.RecentChanges, i.Key.Resource)
		p.sketch(i)
		if change(i.ClearedBy) == "" {
			p.evidence("Found when it cleared", i.ClearedBy)
		}
	}()
	t := tallyOf(i)
	l := p.label("Next").plain("Closes when a new instance there becomes Ready.")
	if i.Replacing() {
		l = p.label("Next").plain("Closes when the instances that missed roll call are replaced (after a day at the latest) and a new one there is Ready.")
	}
	out := t.missed + t.givenUp
	command := replace(i)
	if out == 0 || command == "" || !manual {
		p.add(l.section())
		return
	}
	l.plain(" " + slacktext.Count(out, "instance") + " launched before the change " + pick(out == 1, "is still not Ready. Replace it if it stays so:", "are still not Ready. Replace them one by one if they stay so:"))
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
	p.offers(i, Options{})
	p.changed(i.RecentChanges, i.Key.Resource)
	byItself := addressesAre(i) != "" && i.Resolution == incident.Proved && i.Proof == nil
	if byItself {
		p.sketch(i)
	}
	if i.Key.Check == incident.CannotLook || byItself {
		at, _ := end(i)
		p.add(p.label("When").plain("from ").clock(i.Began).plain(" to ").clock(at).plain(".").section())
		return
	}
	if i.Resolution != incident.Superseded && i.Resolution != incident.Withdrawn {
		p.sketch(i)
	}
	// The first line says how long it took: from the first of these times to the last.
	at, what := end(i)
	l = p.label("When").plain("began ").clock(i.Began)
	if !i.Cleared.IsZero() && what != wellAgain {
		l.plain(", cause gone ").clock(i.Cleared)
	}
	l.plain(", " + what + " ").clock(at)
	p.add(l.plain(".").section())
}

// footer is how urgent it is, the check's name, and the way to the console.
func (p *page) footer(i incident.Incident, o Options, checked time.Time) {
	address := consoleOf(i)
	muted := &slackgo.RichTextSectionTextStyle{Italic: true}
	l := p.line().styled(urgency(i), muted)
	if check := slacktext.Clip(slacktext.OneLine(string(i.Key.Check)), 60); check != "" {
		if page := o.pageOf(i.Key.Check); page != "" {
			l.plain(" · ").link(page, check, muted)
		} else {
			l.plain(" · ").styled(check, muted)
		}
	}
	if !checked.IsZero() && i.State != incident.Closed {
		l.styled(" · checked ", muted).clock(checked)
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
