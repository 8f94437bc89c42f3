package slack

import (
	"slices"
	"strings"
	"time"

	slackgo "github.com/slack-go/slack"

	"rollcall/shared/catalog"
	"rollcall/shared/checkid"
	"rollcall/shared/incident"
	"rollcall/shared/overview"
	"rollcall/shared/remedy"
	"rollcall/shared/report"
	"rollcall/shared/slack/slackapi"
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

// offers say what remedies would do or did, oldest first, and reports whether
// the plain fix is still for a person to do. Below is what belongs under the buttons.
func (p *page) offers(i incident.Incident, o Options) (byHand bool, below []slackgo.RichTextElement) {
	byHand = true
	var told []*line
	for n, of := range latest(i) {
		switch {
		case o.live(of) && (i.State == incident.Open || remedy.ByName(of.Plan.Remedy).AfterCause):
			below = append(below, p.offered(i, of, n)...)
			byHand = false
		case of.State == incident.Offered && !o.ranOut(of):
			// It cannot be approved here: the fix says what to do.
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

// inHand reports whether the plan is being done, or was and is not judged yet:
// the same is not to be done now. Where it helped and the cause is there again,
// or where only part of it was done, the fix is shown.
func inHand(of incident.Offer) bool {
	return of.State == incident.Approved || of.State == incident.Acted && of.Run != nil && of.Run.Result == remedy.Done
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
	l.held(of)
	if follows := followsText(of); follows != "" {
		l.plain(" ").prose(follows)
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

// followsText is what will be done after a plan, or offered.
func followsText(of incident.Offer) string {
	if text := slacktext.Clip(slacktext.OneLine(of.Follows), 200); text != "" {
		return slacktext.Sentence(text)
	}
	return ""
}

// held says what a plan leaves, and why.
func (l *line) held(of incident.Offer) {
	if left := slacktext.Clip(slacktext.OneLine(of.Plan.Held()), 200); left != "" {
		l.plain(" ").prose(slacktext.Sentence(left))
	}
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
	if follows := followsText(of); follows != "" {
		steps = append(steps, p.line().prose(follows))
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
		l.plain("Approved by ").person(of.By).plain(" ").clockOrDate(of.Decided).plain(", being done: ").prose(slacktext.Sentence(what))
	case incident.RefusedByUs:
		l.plain("Refused by ").person(of.By).plain(" ").clockOrDate(of.Decided).plain(": ").prose(slacktext.Sentence(what))
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
	case remedy.Done:
		l.plain("Done ").clockOrDate(d.Ended)
		l.approval(of).plain(": ").prose(slacktext.Sentence(what))
	case remedy.Partly:
		l.plain("Done in part ").clockOrDate(d.Ended)
		l.approval(of).plain(": ").prose(slacktext.Sentence(what)).result(d)
	case remedy.Refused:
		l.plain("Not done, nothing was changed: ").prose(slacktext.Sentence(what)).result(d)
	case remedy.Failed:
		l.plain("Failed, nothing was changed: ").prose(slacktext.Sentence(what)).result(d)
	default:
		l.plain("Unknown whether this was done (no response): ").prose(slacktext.Sentence(what)).plain(" Check before doing it again.").result(d)
	}
	switch of.State {
	case incident.Helped:
		l.plain(" Verified ").clockOrDate(of.Verified).plain(".")
	case incident.Unhelpful:
		l.plain(" The check still failed ").clockOrDate(of.Verified).plain(".")
	case incident.Acted:
		if d.Result == remedy.Done || d.Result == remedy.Partly {
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

func (l *line) result(d remedy.Run) *line {
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
		if of.State != incident.Helped || of.Run == nil || of.Run.Result != remedy.Done {
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

// RenderNote is one reply in the incident's thread. It says what was known at
// the note's time, from what the note keeps. A reason that it does not know
// gives a plain update.
func RenderNote(i incident.Incident, n incident.Note) slackapi.Message {
	top, acted := actLine(i, n)
	if !acted {
		top = say(noteLine(i, n))
	}
	says, label := top, replyLabel(i, n)
	text := label + colon(top.String())
	if n.Line {
		top, label = lineTop(i, n, says), ""
		text = top.String()
	} else if label == "" {
		text = top.String()
	}
	return slackapi.Message{
		Text: calling(n.Mention) + slacktext.Notification(text),
		Blocks: slacktext.Fit(func(room int) []slackgo.Block {
			p := newPage(place{i.Partition, i.Region}, n.At, room)
			l := p.line().mention(n.Mention)
			if label != "" {
				l.styled(label, &slackgo.RichTextSectionTextStyle{Bold: true}).plain("\u2003")
			}
			p.add(l.saying(top).section())
			if n.Line {
				p.inChannel(i, n, says)
				return p.blocks
			}
			if acted {
				p.act(i, n)
			}
			if i.Key.Check != incident.CannotLook {
				p.blind(n.Blind)
			}
			if n.Reason == incident.Opened || n.Reason == incident.Reopened {
				p.also(i)
			}
			if n.Reason != incident.HasMissed {
				p.named(i, n)
			}
			p.facts(n.Facts)
			switch n.Reason {
			case incident.CauseGone, incident.IsProved, incident.IsUnproved:
				if change(n.Evidence) == "" {
					p.evidence("Evidence", n.Evidence)
				}
			default:
				p.evidence("Evidence", n.Evidence)
			}
			if n.Reason == incident.Opened || n.Reason == incident.Reopened {
				p.replay(i)
			}
			return p.blocks
		}),
		Tag: slackapi.Tag{Key: slackapi.KeyOf(i.Key), Note: n.ID},
	}
}

// noteLine is the first line of a reply.
func noteLine(i incident.Incident, n incident.Note) string {
	switch n.Reason {
	case incident.Opened:
		return "what was checked when this opened."
	case incident.Reopened:
		return "for the " + slacktext.Ordinal(max(i.Number, 2)) + " time."
	case incident.FailedAgain:
		return "the cause came back before a new node joined."
	case incident.IsWorse:
		return "from warning to critical."
	case incident.IsUnsilenced:
		return "it was silenced, and is still failing."
	case incident.HasJoined:
		return slacktext.Sentence(slacktext.Clip(slacktext.OneLine(n.Says), 160))
	case incident.HasMissed:
		if n.Count == 0 || len(n.Instances) == 0 {
			return "not Ready " + inTime(n.Within) + "."
		}
		return slacktext.Count(n.Count, "instance") + " not Ready " + inTime(n.Within) + ": " + missing(n) + "."
	case incident.CauseGone:
		return gone(i, n) + " Waiting for a new node to join."
	case incident.IsProved:
		if i.Key.Check == incident.CannotLook {
			return worksAgain(i) + ". The checks that need it run again."
		}
		line := gone(i, n)
		if n.Launch != nil {
			line += " " + slacktext.Sentence(proof(*n.Launch))
		}
		return line + " Resolved after " + slacktext.Span(outage(i)) + "."
	case incident.IsUnproved:
		return gone(i, n) + " No instance was launched since that could confirm it. Reopens if the cause comes back."
	case incident.IsSuperseded:
		if i.By == nil || !ofSubnet(i) && i.By.Check != checkid.IPLeakedInterfaces {
			return slacktext.Sentence(theirs(i))
		}
		return slacktext.Sentence(gaveWay(i))
	case incident.IsWithdrawn:
		switch i.Resolution {
		case incident.ClusterDeleted:
			return "EKS has no cluster " + slacktext.Clip(slacktext.OneLine(i.Key.Cluster), 60) + " any more."
		case incident.Unwatched:
			return notWatched(i)
		case incident.Unseen:
			return "not checked since " + heard(i) + ". Is the cluster still watched (setting clusters), and do the sweeps run? Reopens if it still fails."
		}
		return slacktext.Sentence(missingNow(i))
	case incident.IsGivenUpOn:
		return "still not Ready, and no longer checked (setting giveUp). Terminate what you don't need; new launches are checked as usual."
	}
	return "Update: " + headline(i)
}

// gone says what is well now.
func gone(i incident.Incident, n incident.Note) string {
	if well := addressesAre(i); well != "" && cameBack(i) != "" {
		return slacktext.Sentence(capital(well) + colon(cameBack(i)))
	}
	says := change(n.Evidence)
	if says == "" {
		says = pick(n.Reason == incident.CauseGone, "the check passes now", "the cause is gone")
	}
	says = slacktext.Sentence(says)
	if n.Offer != nil && n.Offer.Run != nil {
		says += " Fixed by Rollcall: " + slacktext.Sentence(planTitle(*n.Offer))
	}
	return says
}

// replyLabel is what a reply is about, in a word or two; empty for one of a newer release.
func replyLabel(i incident.Incident, n incident.Note) string {
	switch n.Reason {
	case incident.Opened:
		return "Evidence"
	case incident.Reopened, incident.FailedAgain:
		return "Recurred"
	case incident.IsWorse:
		return "Escalated"
	case incident.IsUnsilenced:
		return "Silence over"
	case incident.HasJoined:
		return "Also failing"
	case incident.HasMissed:
		return "Missed roll call"
	case incident.CauseGone:
		return "Cause gone"
	case incident.IsProved:
		return "Resolved"
	case incident.IsUnproved, incident.IsSuperseded, incident.IsWithdrawn, incident.IsGivenUpOn:
		return "Closed"
	case incident.IsProposed:
		return "Fix offered"
	case incident.IsApproved:
		return "Approved"
	case incident.IsRefused:
		return "Refused"
	case incident.RemedyDone:
		return "Done"
	case incident.RemedyFailed:
		of, known := offerOf(i, n)
		switch {
		case known && of.Run.Result == remedy.Partly:
			return "Done in part"
		case known && of.Run.Result == remedy.Uncertain:
			return "Result unknown"
		}
		return "Not done"
	case incident.IsVerified:
		return "Fixed"
	case incident.IsUnhelpful:
		return "Not fixed"
	case incident.IsDeferred:
		return "Waiting"
	case incident.HasChanges:
		return "Changes"
	case incident.IsCalled, incident.IsReminded:
		return "Needs an owner"
	case incident.IsEscalated:
		return "Escalated"
	case incident.IsTakenOver:
		return "New owner"
	case incident.IsAlertResolved:
		return "Still open"
	}
	return ""
}

// inTime is how long a launch had, where that is known.
func inTime(d time.Duration) string {
	if d < time.Minute {
		return "in time"
	}
	return "within " + slacktext.Span(d.Truncate(time.Minute))
}

// missing names who missed roll call.
func missing(n incident.Note) string {
	const most = 5
	names := slices.Clone(n.Instances[:min(len(n.Instances), most)])
	for k, name := range names {
		names[k] = slacktext.Clip(slacktext.OneLine(name), 40)
	}
	if left := max(n.Count, len(n.Instances)) - len(names); left > 0 {
		return strings.Join(names, ", ") + " and " + slacktext.Number(left) + " more"
	}
	return slacktext.Few(names, most, 40)
}

// named lists the instances that a note is about.
func (p *page) named(i incident.Incident, n incident.Note) {
	var list []report.Launch
	for _, id := range n.Instances {
		at := slices.IndexFunc(i.Launches, func(l report.Launch) bool { return l.Instance == id })
		if at < 0 {
			list = append(list, report.Launch{Instance: id})
			continue
		}
		list = append(list, i.Launches[at])
	}
	p.roll(list, n.Count)
}

// also names the checks that belong to this cause, so that they are not investigated.
func (p *page) also(i incident.Incident) {
	names := func(list []checkid.ID) []string {
		s := make([]string, len(list))
		for n, id := range list {
			s[n] = string(id)
		}
		return s
	}
	var hidden []checkid.ID
	for _, h := range i.Cause.Hidden {
		hidden = append(hidden, h.Check)
	}
	var parts []slackgo.RichTextElement
	add := func(label string, list []string) {
		if len(list) > 0 {
			parts = append(parts, p.label(label).plain(slacktext.Few(list, 8, 60)+".").section())
		}
	}
	add("Knock-on effects", slacktext.Distinct(append(names(i.Cause.Symptoms), names(hidden)...)...))
	add("Makes it worse", slacktext.Distinct(names(i.Cause.Contributing)...))
	p.add(parts...)
}

// notWatched says which setting ended the watch.
func notWatched(i incident.Incident) string {
	setting := "setting clusters"
	if !i.Key.Spoke.Hub() {
		setting = "setting spokes or clusters"
	}
	return "It was taken out of the settings (" + setting + ") and is no longer checked; it may still fail. Reopens if it is watched again and still fails."
}

// Options are what a message depends on beside the incident.
type Options struct {
	// Actions reports whether buttons are answered: slack-actions is deployed.
	Actions bool
	// Docs is the address of the documentation's site, which has a page for each check;
	// empty for none.
	Docs string
	// Now is what offers and mutes end by; zero: by what the record says alone.
	Now time.Time
}

// live reports whether an offer may still be approved.
func (o Options) live(of incident.Offer) bool {
	return o.Actions && of.State == incident.Offered && (of.Expires.IsZero() || o.Now.Before(of.Expires))
}

// ranOut reports whether an offer may be approved no more for its age alone.
func (o Options) ranOut(of incident.Offer) bool {
	return o.Actions && of.State == incident.Offered && !of.Expires.IsZero() && !o.Now.IsZero() && !o.Now.Before(of.Expires)
}

// muted reports whether mentions are muted now.
func (o Options) muted(i incident.Incident) bool {
	return i.Mute != nil && (o.Now.IsZero() || o.Now.Before(i.Mute.Until))
}

// pageOf is the address of a check's page; empty for what is no check, such as a record of
// a newer release may name.
func (o Options) pageOf(id checkid.ID) string {
	if _, known := catalog.ByID(id); !known || o.Docs == "" {
		return ""
	}
	ending := ".html"
	if strings.HasPrefix(o.Docs, "https://github.com/") {
		ending = ".md" // GitHub shows the page as it is in the repository
	}
	return o.Docs + "/checks/" + string(id) + ending
}

// The most that an answer lists: a phone shows twenty lines, and 50 clusters fit into a
// message with room to spare.
const (
	mostIncidents = 15
	mostClusters  = 50
	mostSilences  = 20
	mostUnread    = 5
)

// RenderStatus is what /rollcall status answers.
func RenderStatus(o overview.Overview) slackapi.Message {
	top := openWords(o)
	return answering(o, top, func(p *page) {
		p.add(p.line().strong(top).section())
		p.incidents(o, mostIncidents)
		p.watched(o)
		if n := len(o.Silences); n > 0 {
			p.add(p.line().plain(slacktext.Count(n, "silence") + ": ").code("/rollcall silences").section())
		}
		p.unread(o.Unread)
	})
}

// answering is an answer of which the first line is also the notification.
func answering(o overview.Overview, top string, draw func(*page)) slackapi.Message {
	return slackapi.Message{
		Text: slacktext.Notification(top),
		Blocks: slacktext.Fit(func(room int) []slackgo.Block {
			p := newPage(place{}, o.Now, room)
			draw(p)
			return p.blocks
		}),
	}
}

// openWords is how many incidents are open, in a sentence.
func openWords(o overview.Overview) string {
	n := o.Counts()
	if len(o.Incidents) == 0 {
		switch {
		case len(o.Unread) > 0:
			return "No open incidents found, but not everything could be read."
		case len(o.Clusters) == 0:
			return "No open incidents found."
		}
		return green + " No open incidents."
	}
	var parts []string
	add := func(n int, what string) {
		if n > 0 {
			parts = append(parts, slacktext.Number(n)+" "+what)
		}
	}
	add(n.Critical, "critical")
	add(n.Warning, pick(n.Warning == 1, "warning", "warnings"))
	add(n.Info, "for information")
	text := slacktext.Count(len(o.Incidents), "incident") + " open: " + strings.Join(parts, ", ") + "."
	parts = nil
	add(n.Muted, "muted")
	add(n.Silenced, "silenced")
	if len(parts) > 0 {
		text += " Of these " + strings.Join(parts, " and ") + "."
	}
	return pick(n.Critical > 0, red, pick(n.Warning > 0, orange, blue)) + " " + text
}

// watched says how many clusters are watched, and which are not looked at as they should.
func (p *page) watched(o overview.Overview) {
	n := o.States()
	if len(o.Clusters) == 0 {
		p.add(p.line().plain("No cluster has been checked yet: sweeps run every 5 min. If this stays so for 15 min, run ").code("rollcall doctor").plain(".").section())
		return
	}
	l := p.line().plain(slacktext.Count(len(o.Clusters), "cluster") + " watched")
	if n[overview.InTime] == len(o.Clusters) {
		p.add(l.plain(", " + pick(len(o.Clusters) == 1, "", "each ") + "last checked within " + slacktext.Span(overview.Late) + ".").section())
		return
	}
	p.add(l.plain("; " + slacktext.Number(n[overview.InTime]) + " last checked within " + slacktext.Span(overview.Late) + ".").section())
	var lines []*line
	left := 0
	for _, c := range o.Clusters {
		state := c.StateOf(o.Now)
		if state == overview.InTime {
			continue
		}
		if len(lines) == mostUnread {
			left++
			continue
		}
		lines = append(lines, p.look(p.line().strong(clusterName(c)).plain(": "), c, state))
	}
	if left > 0 {
		lines = append(lines, p.line().plain("and "+slacktext.Number(left)+" more: ").code("/rollcall clusters"))
	}
	p.add(bullets(lines...))
}

// look says when a cluster was last looked at.
func (p *page) look(l *line, c overview.Cluster, state overview.State) *line {
	switch state {
	case overview.Unknown:
		return l.plain("time of the last check unknown")
	case overview.TooLate:
		return l.plain("last checked ").clock(c.Swept).plain(" (late)")
	case overview.Partly:
		return l.plain("checked ").clock(c.Swept).plain(", but failed: " + slacktext.Few(c.Failed, 4, 40))
	}
	return l.plain("checked ").clock(c.Swept)
}

// clusterName is a cluster as people name it, and as a command takes it where it is of
// another account.
func clusterName(c overview.Cluster) string {
	name := slacktext.Clip(slacktext.OneLine(c.Name), 100)
	if c.ID.Hub() {
		return slacktext.Place(name, c.Whose)
	}
	if whose := slacktext.Clip(slacktext.OneLine(c.Whose), 40); whose != "" && !strings.HasPrefix(whose, c.Account) {
		return c.String() + " (" + whose + ")"
	}
	return c.String()
}

// most is how many lines of a list there are: with less room fewer, and some at least.
func (p *page) most(most, least int) int { return min(most, max(least, p.room/150)) }

// incidents lists what is open, the most urgent first.
func (p *page) incidents(o overview.Overview, most int) {
	var lines []*line
	for _, i := range o.Incidents[:min(len(o.Incidents), p.most(most, 4))] {
		lines = append(lines, p.incident(i, o))
	}
	if left := len(o.Incidents) - len(lines); left > 0 {
		lines = append(lines, p.line().plain("and "+slacktext.Number(left)+" more, in the channel"))
	}
	if len(lines) > 0 {
		p.add(bullets(lines...))
	}
}

// incident is one incident in a line.
func (p *page) incident(i incident.Incident, o overview.Overview) *line {
	l := p.line().prose(slacktext.Clip(headline(i), 200)).plain(", since ").clock(i.Began)
	if i.Ack != nil {
		l.plain("; ").taker(*i.Ack).plain(" has it")
	}
	if i.Muted(o.Now) {
		l.plain("; muted by ").person(i.Mute.By).plain(" until ").until(o.Now, i.Mute.Until)
	}
	if i.Silence != nil {
		l.plain("; silenced by ").person(i.Silence.By).plain(" until ").until(o.Now, i.Silence.Until)
	}
	if address := permalink(o.Site, i.Delivery.Channel, i.Delivery.TS); address != "" {
		l.plain(" · ").link(address, "message", nil)
	}
	return l
}

// permalink is the address of a message, as chat.getPermalink gives it
// (docs.slack.dev/reference/methods/chat.getPermalink): the workspace's own address, the
// channel, and the timestamp without its point.
func permalink(site, channel, ts string) string {
	if !strings.HasPrefix(site, "http") || channel == "" || ts == "" {
		return ""
	}
	return strings.TrimSuffix(site, "/") + "/archives/" + channel + "/p" + strings.ReplaceAll(ts, ".", "")
}

// unread says what could not be read: it is not taken for nothing.
func (p *page) unread(list []string) {
	if len(list) == 0 {
		return
	}
	var lines []*line
	for _, what := range list[:min(len(list), mostUnread)] {
		lines = append(lines, p.line().prose(slacktext.Clip(slacktext.OneLine(what), 200)))
	}
	if left := len(list) - len(lines); left > 0 {
		lines = append(lines, p.line().plain("and "+slacktext.Number(left)+" more, in report's log"))
	}
	p.add(p.heading("Could not be read"), bullets(lines...))
}

// RenderClusters is what /rollcall clusters answers.
func RenderClusters(o overview.Overview) slackapi.Message {
	top := slacktext.Count(len(o.Clusters), "cluster") + " watched."
	if len(o.Clusters) == 0 {
		top = "No cluster has been checked yet."
	}
	return answering(o, top, func(p *page) {
		p.add(p.line().strong(top).section())
		p.clusters(o, mostClusters)
		p.unread(o.Unread)
	})
}

// clusters lists the clusters: those with something open, or not looked at, first.
func (p *page) clusters(o overview.Overview, most int) {
	var first, rest []overview.Cluster
	for _, c := range o.Clusters {
		if c.Open > 0 || c.StateOf(o.Now) != overview.InTime {
			first = append(first, c)
		} else {
			rest = append(rest, c)
		}
	}
	// A line takes about 200 characters on the wire: with less room there are fewer.
	most = min(most, max(8, p.room/40))
	var lines []*line
	all := append(first, rest...)
	for _, c := range all[:min(len(all), most)] {
		l := p.line().strong(clusterName(c)).plain(pick(c.Open == 0, ": ", ": "+slacktext.Number(c.Open)+" open, "))
		lines = append(lines, p.look(l, c, c.StateOf(o.Now)))
	}
	if left := len(all) - len(lines); left > 0 {
		lines = append(lines, p.line().plain("and "+slacktext.Number(left)+" more, "+pick(len(lines) >= len(first), "with nothing open and checked in time", "some with incidents")))
	}
	if len(lines) > 0 {
		p.add(bullets(lines...))
	}
}

// Ids of Slack: a user's begins with U or W, a user group's with S.
func isUser(id string) bool  { return isID(id, "UW") }
func isGroup(id string) bool { return isID(id, "S") }

func isID(id, first string) bool {
	if len(id) < 3 || len(id) > 30 || !strings.ContainsRune(first, rune(id[0])) {
		return false
	}
	return strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == ""
}

// person appends a person: the name that Slack shows of the id, else
// the name as we know it.
func (l *line) person(u report.User) *line {
	if isUser(u.ID) {
		l.items = append(l.items, slackgo.NewRichTextSectionUserElement(u.ID, nil))
		return l
	}
	return l.plain(nameOf(u))
}

// taker is who acknowledged, and where if not in Slack.
func (l *line) taker(a incident.Ack) *line {
	if l.person(a.By); a.In != "" {
		l.plain(" in " + slacktext.Clip(slacktext.OneLine(a.In), 40))
	}
	return l
}

// nameOf is for text that cannot hold a mention, and must not call anybody.
func nameOf(u report.User) string {
	switch name := slacktext.Clip(slacktext.OneLine(u.Name), 40); {
	case name != "" && u.ID == "":
		return name // of another service, where it is no handle
	case name != "":
		return "@" + name
	case u.ID != "":
		return slacktext.Clip(slacktext.OneLine(u.ID), 40)
	}
	return "somebody"
}
