package slack

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	slackgo "github.com/slack-go/slack"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/finding"
	"rollcall/shared/incident"
	"rollcall/shared/overview"
	"rollcall/shared/ownership"
	"rollcall/shared/report"
	"rollcall/shared/shell"
	"rollcall/shared/silence"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/slack/slacktext"
	"rollcall/shared/snapshot"
)

// page collects the blocks of one message.
type page struct {
	place place
	room  int
	// asOf is when the message is about; older times are shown with their date.
	asOf time.Time
	// links is how many ids can still be linked.
	links int
	// left reports whether a list of it says how many more there are.
	left   bool
	blocks []slackgo.Block
}

func newPage(p place, asOf time.Time, room int) *page {
	return &page{place: p, asOf: asOf, room: room, links: min(room/100, 16)}
}

// add appends a block with these parts, unless there is nothing in them.
func (p *page) add(parts ...slackgo.RichTextElement) {
	parts = slices.DeleteFunc(parts, func(e slackgo.RichTextElement) bool {
		s, ok := e.(*slackgo.RichTextSection)
		return ok && len(s.Elements) == 0
	})
	if len(parts) > 0 {
		p.blocks = append(p.blocks, slackgo.NewRichTextBlock("", parts...))
	}
}

// line is one paragraph in the making.
type line struct {
	page  *page
	items []slackgo.RichTextSectionElement
}

func (p *page) line() *line { return &line{page: p} }

func (l *line) section() slackgo.RichTextElement {
	return slackgo.NewRichTextSection(l.items...)
}

// label starts a paragraph with a bold word. The space after it is one that
// no client folds.
func (p *page) label(word string) *line {
	return p.line().styled(word, &slackgo.RichTextSectionTextStyle{Bold: true}).plain("\u2003")
}

// heading is a bold line of its own.
func (p *page) heading(words string) slackgo.RichTextElement {
	return p.line().styled(words, &slackgo.RichTextSectionTextStyle{Bold: true}).section()
}

func (l *line) styled(s string, style *slackgo.RichTextSectionTextStyle) *line {
	if s != "" {
		l.items = append(l.items, slackgo.NewRichTextSectionTextElement(s, style))
	}
	return l
}

// plain appends our own words as they are.
func (l *line) plain(s string) *line { return l.styled(s, nil) }

// code appends an identifier in monospace.
func (l *line) code(s string) *line {
	return l.styled(slacktext.Clip(slacktext.OneLine(s), slacktext.MaxPiece), &slackgo.RichTextSectionTextStyle{Code: true})
}

// prose appends text with its ids in monospace, linked to the console. Text between backquotes is in monospace too.
func (l *line) prose(s string) *line { return l.words(s, false) }

// strong is prose in bold.
func (l *line) strong(s string) *line { return l.words(s, true) }

func (l *line) words(s string, bold bool) *line {
	s = slacktext.Clip(slacktext.Unbroken(s), l.page.room)
	for at, part := range strings.Split(s, "`") {
		if at%2 == 1 && strings.Count(s, "`")%2 == 0 {
			l.styled(part, &slackgo.RichTextSectionTextStyle{Code: true, Bold: bold})
			continue
		}
		l.withClocks(part, bold)
	}
	return l
}

func (l *line) withIDs(s string, bold bool) {
	style := func(code bool) *slackgo.RichTextSectionTextStyle {
		if !bold && !code {
			return nil
		}
		return &slackgo.RichTextSectionTextStyle{Bold: bold, Code: code}
	}
	from := 0
	for _, m := range codes.FindAllStringIndex(s, -1) {
		if m[0] > 0 && s[m[0]-1] == '=' {
			continue // key=value:Effect is a taint, whose tail looks like a call
		}
		l.styled(s[from:m[0]], style(false))
		l.id(s[m[0]:m[1]], style(true))
		from = m[1]
	}
	l.styled(s[from:], style(false))
}

// id appends an id, linked to its page in the console. Links are long: of a
// message with many ids only the first are linked.
func (l *line) id(id string, style *slackgo.RichTextSectionTextStyle) *line {
	address := l.page.place.console(id)
	if address == "" || l.page.links == 0 {
		return l.styled(id, style)
	}
	l.page.links--
	return l.link(address, id, style)
}

// link appends a link. Slack refuses one with an empty text: what another version wrote may
// have a name of spaces or invisible characters only.
func (l *line) link(address, text string, style *slackgo.RichTextSectionTextStyle) *line {
	l.items = append(l.items, slackgo.NewRichTextSectionLinkElement(address, cmp.Or(text, "link"), style))
	return l
}

// clock appends a time: in the reader's own zone where Slack can, else in UTC.
func (l *line) clock(t time.Time) *line {
	if l.page.asOf.Sub(t) > 12*time.Hour {
		return l.dated(t)
	}
	return l.date(t, "{time}")
}

// clockOrDate appends when something happened.
func (l *line) clockOrDate(t time.Time) *line {
	if l.page.asOf.Sub(t) > 12*time.Hour && t.Unix() >= 0 {
		return l.plain("on ").dated(t)
	}
	return l.plain("at ").clock(t)
}

// until appends a time to come, with its date if it is not soon.
func (l *line) until(from, to time.Time) *line {
	if to.Sub(from) > 12*time.Hour {
		return l.dated(to)
	}
	return l.clock(to)
}

// dated appends a time with its date.
func (l *line) dated(t time.Time) *line { return l.date(t, "{date_short_pretty} at {time}") }

func (l *line) date(t time.Time, format string) *line {
	if t.IsZero() || t.Unix() < 0 {
		return l.plain("an unknown time")
	}
	fallback := t.UTC().Format("2006-01-02 15:04") + " UTC"
	l.items = append(l.items, slackgo.NewRichTextSectionDateElement(t.Unix(), format, nil, &fallback))
	return l
}

// pre is text as it is, in monospace: evidence, commands.
func pre(s string) slackgo.RichTextElement {
	return &slackgo.RichTextPreformatted{
		Type:     slackgo.RTEPreformatted,
		Elements: []slackgo.RichTextSectionElement{slackgo.NewRichTextSectionTextElement(s, nil)},
	}
}

// bullets is a list.
func bullets(lines ...*line) slackgo.RichTextElement {
	items := make([]slackgo.RichTextElement, len(lines))
	for i, l := range lines {
		items[i] = l.section()
	}
	return slackgo.NewRichTextList(slackgo.RTEListBullet, 0, items...)
}

// worksAgain says what can be looked at again.
func worksAgain(i incident.Incident) string {
	switch i.Key.Resource {
	case report.AssumeRole:
		return "access restored"
	case report.KubernetesAPI:
		return "its Kubernetes API responds again"
	}
	return slacktext.Clip(slacktext.OneLine(i.Key.Resource), 80) + " works again"
}

// closed is the first line of an incident that is over: how it ended, and what
// was seen.
func closed(i incident.Incident) (colour, what string) {
	switch i.Resolution {
	case incident.Proved:
		if i.Key.Check == incident.CannotLook {
			return green, worksAgain(i) + " after " + slacktext.Span(outage(i))
		}
		if addressesAre(i) != "" {
			what = addressesWell(i)
			if i.Proof != nil {
				what += "; a new node is Ready"
			}
			return green, what
		}
		if ofZone(i) {
			return green, zoneWell(i)
		}
		if i.ByItself() {
			return green, clearedWithoutNode(i)
		}
		// Whether any node had joined before is not known: it is not said that it does again.
		what = "fixed after " + slacktext.Span(outage(i)) + colon(change(i.ClearedBy))
		if by := fixer(i); by != "" {
			what += " (" + by + ")"
		}
		if i.Proof != nil {
			what += "; a new node is Ready"
		}
		return green, what
	case incident.Unproved:
		if well := addressesAre(i); well != "" {
			return white, well + ", no launch since to confirm it" + colon(cameBack(i))
		}
		return white, "cause is gone, no launch since to confirm it" + colon(change(i.ClearedBy))
	case incident.Superseded:
		return white, "closed, " + gaveWay(i)
	case incident.Withdrawn:
		return white, "closed, " + missingNow(i)
	case incident.ClusterDeleted:
		return white, "closed, cluster " + slacktext.Clip(slacktext.OneLine(i.Key.Cluster), 60) + " was deleted"
	case incident.Unwatched:
		return white, "closed, no longer watched, may still fail" + colon(continued(title(i)))
	case incident.Unseen:
		return white, "closed, not checked since " + heard(i) + ", may still fail" + colon(continued(title(i)))
	case incident.GivenUpOn:
		// Not green and not white: nothing got better, only the looking stopped.
		return red, slacktext.Count(i.Affected, "instance") + " never joined, no longer checked" + colon(continued(title(i)))
	}
	return white, "closed" + colon(continued(title(i)))
}

// clearedWithoutNode is the end of what is over when it is otherwise, with no node to prove it.
func clearedWithoutNode(i incident.Incident) string {
	how, after := change(i.ClearedBy), " after "+slacktext.Span(outage(i))
	name := slacktext.Clip(slacktext.OneLine(i.Key.Resource), 80)
	switch i.Key.Check.Family() {
	case checkid.Addon:
		name = "add-on " + name
	case checkid.Nodegroup:
		name = "nodegroup " + name
	case checkid.Cluster:
		name = "the cluster"
	default:
		if how == "" {
			return "no longer failing" + after + colon(continued(title(i)))
		}
		return "healthy again" + after + colon(how)
	}
	// The evidence is of the same thing: its name is said once.
	how = strings.TrimPrefix(strings.TrimPrefix(how, slacktext.OneLine(i.Key.Resource)+": "), slacktext.OneLine(i.Key.Resource)+" is ")
	return name + " is healthy again" + after + colon(how)
}

// missingNow says what is there no more, and with it the cause.
func missingNow(i incident.Incident) string {
	names := slacktext.Distinct(i.Covers...)
	if len(names) == 0 {
		return "the affected resource no longer exists" + colon(continued(title(i)))
	}
	return slacktext.Few(names, 2, 40) + pick(len(names) == 1, " no longer exists", " no longer exist")
}

// heard is the day of the last that was heard of an incident that nothing is heard
// of any more.
func heard(i incident.Incident) string { return i.Heard().UTC().Format("2 January") }

// outage is from the first affected launch, or refused look, to its end: the same two
// times that "When" names.
func outage(i incident.Incident) time.Duration {
	at, _ := end(i)
	return at.Sub(i.Began)
}

// end is when it was over, and what was seen then: the first Ready node; that it is
// otherwise, where no node is waited for; else that it was closed.
func end(i incident.Incident) (at time.Time, what string) {
	switch {
	case i.Proof != nil && !i.Proof.Ready.IsZero():
		return i.Proof.Ready, "first Ready node"
	case (i.Key.Check == incident.CannotLook || i.ByItself()) && i.Resolution == incident.Proved && !i.Cleared.IsZero():
		return i.Cleared, wellAgain
	}
	return i.Resolved, "closed"
}

// wellAgain is the end of what is its own proof.
const wellAgain = "healthy again"

// proof says which launch showed that the cause is gone.
func proof(l report.Launch) string {
	if d, ok := joinTime(l); ok {
		return slacktext.Clip(slacktext.OneLine(l.Instance), 40) + " Ready " + slacktext.Span(d) + " after launch"
	}
	return slacktext.Clip(slacktext.OneLine(l.Instance), 40) + " is Ready"
}

// change is what made the cause go away, if it can be said in a few words:
// "rtb-0cd2 has 0.0.0.0/0 → nat-0aa4".
func change(list []finding.Evidence) string {
	const longest = 120
	if len(list) != 1 {
		return ""
	}
	what, value := slacktext.OneLine(list[0].What), strings.TrimSpace(slacktext.Clean(list[0].Value))
	if what == "" || value == "" || slacktext.Length(what+value) > longest || strings.Contains(value, "\n") {
		return ""
	}
	switch {
	case strings.HasPrefix(value, "has "), strings.HasPrefix(value, "is "):
		return what + " " + value
	case ids.FindString(what) == what && strings.ContainsAny(value[:1], "0123456789:"):
		return what + " has " + value // a row of a route table
	}
	return what + ": " + value
}

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

// RenderSilences is what /rollcall silences answers.
func RenderSilences(o overview.Overview, actions bool) slackapi.Message {
	top := slacktext.Count(len(o.Silences), "silence") + "."
	if len(o.Silences) == 0 {
		top = pick(len(o.Unread) > 0, "No silences found, but not everything could be read.", "Nothing is silenced.")
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

// muted lists the muted incidents.
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
	b := newButton(report.EndSilence, "End silence", s.ID)
	b.Confirm = &slackgo.ConfirmationBlockObject{
		Title: label("End this silence?"), Text: label("What is still broken is then posted in the channel."), Confirm: label("End it"), Deny: label("Cancel"),
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
	text := clusterName(overview.Cluster{Cluster: s.SpokeCluster(), Whose: whose})
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
				l.plain(": ended by ").person(report.User(s.EndedBy)).plain(" ").clockOrDate(s.Ended)
			}
			p.add(l.plain(". What is still broken is posted.").section())
			return p.blocks
		}
		p.add(p.silence(p.line().plain("🔕 "), s, whose).section(),
			p.line().plain("Findings are recorded, and posted when it ends if they persist. Undo: ").code("/rollcall unsilence "+s.ID).section())
		if o.Actions {
			p.blocks = append(p.blocks, slackgo.NewActionBlock("silence-"+s.ID, endButton(s)))
		}
		return p.blocks
	}
	text := "🔕 " + scopeOf(s, whose) + " is silenced by " + nameOf(report.User(s.By)) + "."
	if !s.Standing(o.Now) {
		text = "🔔 The silence of " + scopeOf(s, whose) + " is over."
	}
	return slackapi.Message{Text: slacktext.Notification(text), Blocks: slacktext.Fit(draw), Tag: slackapi.Tag{Key: "silence|" + s.SpokeCluster().String() + "|" + s.ID}}
}

// RenderSilenced is the reply to a request for a silence.
func RenderSilenced(s silence.Silence, whose string, hides []incident.Incident, now time.Time) slackapi.Message {
	o := overview.Overview{Now: now}
	return answering(o, "Silenced: "+scopeOf(s, whose)+".", func(p *page) {
		p.add(p.silence(p.line(), s, whose).section())
		switch n := len(hides); {
		case n > 0:
			p.add(p.line().plain(slacktext.Count(n, "open incident") + pick(n == 1, " is", " are") + " silenced with it. New ones are recorded but not posted.").section())
		default:
			p.add(p.line().plain("It hides nothing that is open now.").section())
		}
		p.add(p.line().plain("Undo: ").code("/rollcall unsilence " + s.ID).section())
	})
}

// RenderSays is an answer of one sentence.
func RenderSays(says string, now time.Time) slackapi.Message {
	return answering(overview.Overview{Now: now}, says, func(p *page) { p.add(p.line().prose(says).section()) })
}

// tally counts how an incident's launches stand.
type tally struct {
	// all is every affected launch, also those not kept by name.
	all, waiting, missed, joined, gone, givenUp int
}

func tallyOf(i incident.Incident) tally {
	t := tally{all: max(i.Affected, len(i.Launches))}
	for _, l := range i.Launches {
		switch l.Status {
		case report.Waiting:
			t.waiting++
		case report.Joined:
			t.joined++
		case report.Gone:
			t.gone++
		case report.GivenUp:
			t.givenUp++
		default:
			t.missed++
		}
	}
	return t
}

// out is how many have not joined. Launches not kept by name count as such.
func (t tally) out() int { return t.all - t.joined }

// early reports whether no launch is due yet.
func (t tally) early() bool { return t.out() > 0 && t.missed+t.gone+t.givenUp == 0 && t.waiting > 0 }

// allMissing reports whether the instances that have not joined are the n nodes that their
// groups are short of. The count of a group's nodes covers every group of such an instance
// (incident.CapacityIn), so equal numbers are the same instances, unless one has ended, is no
// longer checked, or is not listed by name: another may be in its place by now.
func (t tally) allMissing(n int) bool { return n == t.out() && n == t.missed+t.waiting }

// ended reports whether all that have not joined no longer exist.
func (t tally) ended() bool { return t.gone > 0 && t.gone == t.out() }

// who is the subject of the sentence: "12 instances", "3 of 12 instances".
func (t tally) who() string {
	if t.joined > 0 && t.out() > 0 {
		return slacktext.Number(t.out()) + " of " + slacktext.Count(t.all, "instance")
	}
	return slacktext.Count(t.out(), "instance")
}

// parts tells how the launches stand, in words; nothing if all stand alike.
func (t tally) parts() []string {
	var parts []string
	add := func(n int, one, many string) {
		if n > 0 {
			parts = append(parts, slacktext.Number(n)+" "+pick(n == 1, one, many))
		}
	}
	add(t.joined, "joined", "joined")
	add(t.missed, "is not Ready", "are not Ready")
	add(t.waiting, "is not due yet", "are not due yet")
	add(t.givenUp, "is not Ready and no longer checked", "are not Ready and no longer checked")
	add(t.gone, "ended before joining", "ended before joining")
	if len(parts) < 2 {
		return nil
	}
	unnamed := t.all - t.joined - t.missed - t.waiting - t.givenUp - t.gone
	add(unnamed, "is not listed by name", "are not listed by name")
	return parts
}

// byStart are the launches, oldest first.
func byStart(launches []report.Launch) []report.Launch {
	list := slices.Clone(launches)
	slices.SortStableFunc(list, func(a, b report.Launch) int { return a.Started.Compare(b.Started) })
	return list
}

// first is the oldest launch that has not joined; with none, the oldest.
func first(launches []report.Launch) (report.Launch, bool) {
	list := byStart(launches)
	for _, l := range list {
		if l.Status != report.Joined {
			return l, true
		}
	}
	if len(list) > 0 {
		return list[0], true
	}
	return report.Launch{}, false
}

// joinTime is how long a launch took to become a Ready node.
func joinTime(l report.Launch) (time.Duration, bool) {
	if l.Ready.IsZero() || l.Started.IsZero() || l.Ready.Before(l.Started) {
		return 0, false
	}
	return l.Ready.Sub(l.Started), true
}

// RenderWhy is what /rollcall why answers.
func RenderWhy(w overview.Why) slackapi.Message {
	o := overview.Overview{Now: w.Now, Site: w.Site}
	top := w.Instance + ": "
	switch {
	case len(w.Found) > 0:
		top += endWords(w.Found[0])
	case len(w.Unread) > 0:
		top += "not found, but not everything could be read."
	default:
		top += "not found."
	}
	return answering(o, top, func(p *page) {
		p.add(p.line().strong(top).section())
		for _, f := range w.Found {
			p.found(f, o)
		}
		if len(w.Found) == 0 {
			p.add(p.line().plain("Rollcall remembers launches of watched clusters for 90 days. For any other, look now:").section(),
				pre(shell.Command("rollcall", "diagnose", "--cluster", shell.Placeholder("cluster"), "--region", shell.Placeholder("region"))))
		}
		p.unread(w.Unread)
	})
}

// endWords is how a launch stands or ended.
func endWords(f overview.Found) string {
	switch f.End {
	case snapshot.Joined:
		return green + " joined."
	case snapshot.NotJoined:
		return red + " did not join."
	case snapshot.Refused:
		return red + " was not started."
	case snapshot.Reclaimed:
		return orange + " was reclaimed before it joined."
	case snapshot.Terminated:
		return white + " was terminated before it was due."
	case snapshot.Open:
		return blue + " has not joined yet."
	}
	return white + " its outcome is unknown."
}

// found is what is stored of one launch.
func (p *page) found(f overview.Found, o overview.Overview) {
	l := p.label("What").plain(clusterName(f.Cluster))
	var of []string
	for _, s := range []string{f.Nodegroup, f.Type, f.Zone, f.Subnet} {
		if s = slacktext.Clip(slacktext.OneLine(s), 80); s != "" {
			of = append(of, s)
		}
	}
	if len(of) > 0 {
		l.prose(", " + strings.Join(of, ", "))
	}
	when := p.label("When").plain("launched ").clockOrDate(f.Started)
	step := func(at time.Time, words string) {
		if !at.IsZero() {
			when.plain(", " + words + " ").clockOrDate(at)
		}
	}
	step(f.Registered, "registered")
	step(f.Ready, "Ready")
	if f.End == snapshot.Open {
		step(f.Due, "due")
	}
	step(f.Ended, "ended")
	parts := []slackgo.RichTextElement{l.section(), when.plain(".").section()}
	if says := slacktext.Clip(slacktext.OneLine(f.Says), 400); says != "" || f.Cause != "" {
		why := p.label("Why")
		if f.Cause != "" {
			why.code(string(f.Cause)).plain(pick(says == "", "", ": "))
		}
		parts = append(parts, why.prose(says).section())
	}
	p.add(parts...)
	var lines []*line
	for _, i := range f.Incidents[:min(len(f.Incidents), 3)] {
		if i.State == incident.Closed {
			lines = append(lines, p.incident(i, o).plain(" (closed)"))
			continue
		}
		lines = append(lines, p.incident(i, o))
	}
	if len(lines) > 0 {
		p.add(p.heading("Incidents"), bullets(lines...))
	}
	if !f.Joined() && f.Ended.IsZero() {
		command := []any{"rollcall", "diagnose", "--cluster", f.Cluster.Name}
		if f.Region != "" {
			command = append(command, "--region", f.Region)
		}
		p.add(p.line().plain("To look now:").section(), pre(shell.Command(command...)))
	}
}

// RenderReport is what /rollcall report answers.
func RenderReport(r report.Period) slackapi.Message {
	t := r.Launches
	top := slacktext.Count(t.All, "launch") + " in " + slacktext.Count(r.Clusters, "cluster") + " in the last " + slacktext.Span(r.To.Sub(r.From)) + "."
	return answering(overview.Overview{Now: r.To}, top, func(p *page) {
		p.add(p.line().strong(top).section())
		var lines []*line
		add := func(n int, what string) {
			if n > 0 {
				lines = append(lines, p.line().plain(slacktext.Number(n)+" "+what))
			}
		}
		add(t.Joined, "joined"+joiningTimes(r.Joining))
		add(t.Failed, "did not join"+causes(r))
		add(t.Reclaimed, "reclaimed before joining")
		add(t.Waiting, "outcome not known yet")
		add(t.Other, "ended by a person, or unclear")
		if len(lines) > 0 {
			p.add(bullets(lines...))
		}
		p.add(p.label("Incidents").plain(slacktext.Number(r.Opened) + " opened, " + slacktext.Number(r.Resolved) + " closed, " + slacktext.Number(r.Open) + " open now.").section())
		p.unseen(r, p.most(report.ShownUnseen, 2))
		if r.LeftOut > 0 {
			p.add(p.line().plain(slacktext.Count(r.LeftOut, "cluster") + " left out. For one cluster: ").code("/rollcall report cluster=NAME").plain(".").section())
		}
		p.unread(r.Unread)
	})
}

// joiningTimes says how long joining took.
func joiningTimes(j *report.Joining) string {
	if j == nil {
		return ""
	}
	return ": half within " + slacktext.Span(j.Median) + ", 95 of 100 within " + slacktext.Span(j.Most95)
}

// shownCauses is how many causes a line names.
const shownCauses = 4

// causes names the causes of those that did not join.
func causes(r report.Period) string {
	var names []string
	for _, c := range r.Causes {
		if c.Check != "" {
			names = append(names, string(c.Check)+" "+slacktext.Number(c.N))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return ": " + slacktext.Few(names, shownCauses, 60)
}

// The most characters of a line of words, and of a command in it: what is longer is for
// the message in Slack.
const (
	maxWords   = 800
	maxCommand = 3000
)

// Words are the first lines of the incident's message as plain text, for those who hear of
// it elsewhere than in Slack: the same headline, what hurts, why and what to do, made by
// the same functions. Times are in UTC.
func Words(i incident.Incident, o Options) incident.Words {
	_, what := verdict(i)
	place := where(i)
	w := incident.Words{Headline: slacktext.OneLine(place + " · " + unnamed(what, place)), Docs: o.pageOf(i.Key.Check), Console: consoleOf(i)}
	if i.State != incident.Closed {
		w.Logs = logsOf(i.Logs)
	}
	add := func(label, text string) {
		if text = slacktext.Clip(slacktext.OneLine(strings.ReplaceAll(text, "`", "")), maxWords); text != "" {
			w.Lines = append(w.Lines, incident.Line{Label: label, Text: text})
		}
	}
	switch i.State {
	case incident.Cleared:
		add("Was", slacktext.Sentence(capital(title(i)))+" From "+inUTC(i.Began, i.Changed)+" to "+inUTC(i.Cleared, i.Changed)+".")
		return w
	case incident.Closed:
		add("Was", slacktext.Sentence(capital(was(i))))
		at, _ := end(i)
		add("When", "From "+inUTC(i.Began, i.Changed)+" to "+inUTC(at, i.Changed)+".")
		return w
	}
	since := inUTC(i.Began, i.Changed)
	if hurts := impact(i, tallyOf(i)); len(hurts) > 0 {
		add("Impact", strings.Join(hurts, ", ")+", since "+since+".")
	} else {
		add("Since", since+".")
	}
	add("Pods", podsText(i))
	add(whyLabel(i), slacktext.Sentence(i.Cause.Why))
	var owner []string
	for _, v := range i.Owner {
		switch {
		case v.Field == ownership.Runbook && v.Link() != "":
			w.Runbook = v.Link()
		case v.Field == ownership.Dashboard && v.Link() != "":
			w.Dashboard = v.Link()
		default:
			owner = append(owner, ownerText(v))
		}
	}
	do := byHand(i.Cause.Fix)
	if slacktext.Length(do.command) > maxCommand {
		do = instruction{text: "The command is too long to show here."}
	}
	add("Do", do.text)
	add(do.label, do.about)
	add("Owner", strings.Join(owner, " · "))
	w.Command = do.command
	return w
}

// inUTC is a time without a reader's zone, with its day where that is another than what it
// is seen from.
func inUTC(t, from time.Time) string {
	if y, m, d := from.UTC().Date(); t.UTC().Year() == y && t.UTC().Month() == m && t.UTC().Day() == d {
		return t.UTC().Format("15:04") + " UTC"
	}
	return t.UTC().Format("2006-01-02 15:04") + " UTC"
}

// consoleOf is the page of what is to be looked at in AWS's console; empty for none.
func consoleOf(i incident.Incident) string {
	if address := web(i.Cause.Fix.Console); address != "" {
		return address
	}
	return place{i.Partition, i.Region}.console(i.Key.Resource)
}

// instruction is what a person may do: a sentence, and a command with what it does.
type instruction struct {
	text    string
	command string
	// label is "Run" for a command that changes something and "Look" for one that does not;
	// about is what to know before it is run.
	label, about string
}

// byHand is a fix as a person does it. A text that is no sentence is why it is this command:
// "nat-0aa4: available, same zone".
func byHand(fix finding.Fix) instruction {
	h := instruction{text: strings.TrimSpace(fix.Text), command: strings.TrimSpace(slacktext.Clean(fix.Command))}
	if h.command == "" {
		h.text = slacktext.Sentence(h.text)
		return h
	}
	does := shell.EffectOf(h.command)
	h.label, h.about = "Look", "This changes nothing."
	if does.Changes {
		h.label, h.about = "Run", does.String()
	}
	if h.text != "" && !strings.HasSuffix(h.text, ".") {
		h.about = strings.TrimSpace(slacktext.Sentence(capital(h.text)) + " " + h.about)
		h.text = ""
	}
	return h
}
