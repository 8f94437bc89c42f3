package slack

import (
	"slices"
	"strings"

	slackgo "github.com/slack-go/slack"

	"rollcall/shared/incident"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/slack/slacktext"
)

// planTitle is what a plan does, as the end of a sentence.
func planTitle(of incident.Offer) string {
	title := strings.TrimSuffix(slacktext.OneLine(of.Plan.Title()), ".") // its end may be cut, with "…"
	if title == "" {
		title = slacktext.OneLine(string(of.Plan.Remedy))
	}
	return continued(slacktext.Clip(title, 200))
}

// offers say what remedies would do or did, oldest first, and tells whether
// the plain fix is still for a person to do. Below is what belongs under the buttons.
func (p *page) offers(i incident.Incident, o Options) (byHand bool, below []slackgo.RichTextElement) {
	byHand = true
	var told []*line
	for n, of := range latest(i) {
		switch {
		case o.live(of) && (i.State == incident.Open || remedy.Of(of.Plan.Remedy).AfterCause):
			below = append(below, p.offered(i, of, n)...)
			byHand = false
		case of.State == incident.Offered && !o.ranOut(of):
			// Nobody can approve it here: the fix says what to do.
		default:
			if l := p.outcome(of); len(l.items) > 0 {
				told = append(told, l)
			}
			byHand = byHand && !inHand(of)
		}
	}
	switch len(told) {
	case 0:
	case 1:
		l := p.label("Fix")
		l.items = append(l.items, told[0].items...)
		p.add(l.section())
	default:
		p.add(p.heading("Fix"), bullets(told...))
	}
	return byHand, below
}

// latest is the newest offer of each remedy since the incident was opened.
func latest(i incident.Incident) []incident.Offer {
	var list []incident.Offer
	for n, of := range i.Offers {
		gone := of.Made.Before(i.Opened) // it was about an earlier time
		for _, later := range i.Offers[n+1:] {
			gone = gone || later.Plan.Remedy == of.Plan.Remedy
		}
		if !gone {
			list = append(list, of)
		}
	}
	return list
}

// inHand tells that the plan is being done, or was and is not judged yet:
// nobody is to do the same now. Where it helped and the cause is there again,
// or where only part of it was done, the fix is shown.
func inHand(of incident.Offer) bool {
	return of.State == incident.Approved || of.State == incident.Acted && of.Run != nil && of.Run.Result == action.Done
}

// offered is a plan that waits for a person: what it does, what it costs, until when, and
// its buttons. Its steps and the undo are in the thread; the commands are below.
func (p *page) offered(i incident.Incident, of incident.Offer, n int) (below []slackgo.RichTextElement) {
	l := p.label("Fix").plain("Rollcall can ").prose(slacktext.Sentence(planTitle(of)))
	if cost := slacktext.Clip(slacktext.OneLine(of.Plan.Cost()), 200); cost != "" {
		l.plain(" Cost and risk: ").prose(slacktext.Sentence(continued(cost)))
	}
	if says := slacktext.Clip(slacktext.OneLine(of.Says), 300); says != "" {
		l.plain(" ").prose(slacktext.Sentence(says))
	}
	if end := final(of); end != "" {
		l.plain(" ").prose(end)
	}
	if !of.Expires.IsZero() {
		l.plain(" Approval expires ").until(of.Made, of.Expires).plain(".")
	}
	p.add(l.section())
	p.decide(i, of, n)
	if i.Mute != nil { // the thread was not told
		if steps := p.steps(of); len(steps) > 0 {
			below = append(below, bullets(steps...))
		}
	}
	return append(below, p.commands("Or run", of.Plan.Commands())...)
}

// mostSteps is how many steps of a plan are listed.
const mostSteps = 8

// steps is what is done step by step.
func (p *page) steps(of incident.Offer) (steps []*line) {
	all := of.Plan.Steps()
	for _, s := range all[:min(len(all), mostSteps)] {
		if s = slacktext.Clip(slacktext.OneLine(s), max(p.room/6, 80)); s != "" {
			steps = append(steps, p.line().prose(s))
		}
	}
	if left := len(all) - mostSteps; left > 0 {
		steps = append(steps, p.line().plain("… and "+slacktext.Count(left, "more step")))
	}
	return steps
}

// plan is for the thread: the steps, what they cost, until when they may be approved.
func (p *page) plan(of incident.Offer) []slackgo.RichTextElement {
	steps := p.steps(of)
	if cost := slacktext.Clip(slacktext.OneLine(of.Plan.Cost()), 200); cost != "" {
		steps = append(steps, p.line().plain("Cost and risk: ").prose(slacktext.Sentence(continued(cost))))
	}
	if says := slacktext.Clip(slacktext.OneLine(of.Says), 300); says != "" && of.State == incident.Offered {
		steps = append(steps, p.line().prose(slacktext.Sentence(says)))
	}
	if end := final(of); end != "" {
		steps = append(steps, p.line().prose(end))
	}
	if !of.Expires.IsZero() {
		steps = append(steps, p.line().plain("Approval expires ").until(of.Made, of.Expires).plain("."))
	}
	if len(steps) == 0 {
		return nil
	}
	return []slackgo.RichTextElement{bullets(steps...)}
}

// commands are shown whole or not at all: half a command must not be pasted.
// Where nothing can be run, the list says so in sentences.
func (p *page) commands(heading string, list []string) []slackgo.RichTextElement {
	var run, told []string
	for _, c := range list {
		switch c = strings.TrimSpace(slacktext.Clean(c)); {
		case c == "":
		case isCommand(c):
			run = append(run, c)
		default:
			told = append(told, slacktext.Clip(slacktext.OneLine(c), max(p.room/6, 80)))
		}
	}
	if len(told) > mostSteps {
		told = append(told[:mostSteps], "…")
	}
	text := strings.Join(run, "\n")
	l := p.line().plain(heading + ":")
	if len(told) > 0 {
		l.plain(" ").prose(strings.Join(told, " "))
	}
	switch {
	case len(run)+len(told) == 0:
		return nil
	case text == "":
		return []slackgo.RichTextElement{l.section()}
	case slacktext.Length(text) > p.room:
		return []slackgo.RichTextElement{l.plain(" " + slacktext.Count(len(run), "command") + ", too long for this message.").section()}
	}
	return []slackgo.RichTextElement{l.section(), pre(text)}
}

// final says that a plan cannot be taken back; empty where commands do it.
func final(of incident.Offer) string {
	undo := of.Plan.Undo()
	if len(undo) == 0 || slices.ContainsFunc(undo, isCommand) {
		return ""
	}
	return slacktext.Sentence(slacktext.Clip(slacktext.OneLine(strings.Join(undo, " ")), 200))
}

// isCommand tells what can be pasted into a shell from a sentence.
func isCommand(s string) bool {
	return strings.HasPrefix(s, "aws ") || strings.HasPrefix(s, "kubectl ")
}

// outcome is what became of an offer; empty for one that says nothing.
func (p *page) outcome(of incident.Offer) *line {
	l := p.line()
	what := planTitle(of)
	switch of.State {
	case incident.Approved:
		if allowedItself(of) {
			l.plain("Being done now (policy auto): ").prose(slacktext.Sentence(what))
			break
		}
		l.plain("Approved by ").person(of.By).plain(" ").at(of.Decided).plain(", being done: ").prose(slacktext.Sentence(what))
	case incident.RefusedByUs:
		l.plain("Refused by ").person(of.By).plain(" ").at(of.Decided).plain(": ").prose(slacktext.Sentence(what))
	case incident.Expired, incident.Offered:
		l.plain("Approval expired: ").prose(slacktext.Sentence(what))
	case incident.Outdated:
		l.plain("No longer offered: ").prose(slacktext.Sentence(what))
		if says := slacktext.Clip(slacktext.OneLine(of.Says), 300); says != "" {
			l.plain(" ").prose(slacktext.Sentence(capital(says)))
		}
	case incident.Deferred:
		p.deferred(l, of)
	case incident.Acted, incident.Helped, incident.Unhelpful:
		p.done(l, of)
	}
	return l
}

// done is a plan that was carried out, or tried.
func (p *page) done(l *line, of incident.Offer) {
	what := planTitle(of)
	if of.Run == nil {
		l.plain("Rollcall tried to ").prose(what).plain("; the result is not known.")
		return
	}
	d := *of.Run
	switch d.Result {
	case action.Done:
		l.plain("Done ").at(d.Ended)
		l.approval(of).plain(": ").prose(slacktext.Sentence(what))
	case action.Partly:
		l.plain("Done in part ").at(d.Ended)
		l.approval(of).plain(": ").prose(slacktext.Sentence(what)).says(d)
	case action.Refused:
		l.plain("Not done, nothing was changed: ").prose(slacktext.Sentence(what)).says(d)
	case action.Failed:
		l.plain("Failed, nothing was changed: ").prose(slacktext.Sentence(what)).says(d)
	default:
		l.plain("No answer says whether this was done: ").prose(slacktext.Sentence(what)).plain(" Check before doing it again.").says(d)
	}
	switch of.State {
	case incident.Helped:
		l.plain(" Its check passed ").at(of.Verified).plain(".")
	case incident.Unhelpful:
		l.plain(" Its check still failed ").at(of.Verified).plain(".")
	case incident.Acted:
		if d.Result == action.Done || d.Result == action.Partly {
			l.plain(" Rechecking.")
		}
	}
}

// approval says who allowed it.
func (l *line) approval(of incident.Offer) *line {
	if allowedItself(of) {
		return l.plain(" by Rollcall (policy auto)")
	}
	return l.plain(", approved by ").person(of.By)
}

func (l *line) says(d remedy.Run) *line {
	if s := slacktext.Clip(slacktext.OneLine(d.Says), 300); s != "" {
		return l.plain(" ").prose(slacktext.Sentence(capital(s)))
	}
	if s := slacktext.Clip(slacktext.OneLine(d.Reason), 80); s != "" {
		return l.plain(" Reason: ").code(s).plain(".")
	}
	return l
}

// fixer is who allowed what made the cause go away, for the first line; empty
// unless the check itself has shown that it helped.
func fixer(i incident.Incident) string {
	for _, of := range latest(i) {
		if of.State != incident.Helped || of.Run == nil || of.Run.Result != action.Done {
			continue
		}
		switch {
		case allowedItself(of):
			return "done by Rollcall"
		case slacktext.OneLine(of.By.Name) == "":
			return "approved in Slack"
		}
		return "approved by " + nameOf(of.By)
	}
	return ""
}
