// Package slack draws incidents as Slack messages: pure functions of an incident.
//
// Messages are made of rich_text blocks only. Text in them is never parsed, so
// nothing that comes from AWS can mention people or break the layout, and times
// are shown in each reader's own zone.
package slack

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"time"

	slackgo "github.com/slack-go/slack"

	"rollcall/shared/catalog"
	"rollcall/shared/checks/finding"
	"rollcall/shared/incident"
	"rollcall/shared/ownership"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	"rollcall/shared/shell"
	"rollcall/shared/slack/button"
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
				p.feedback(i, o)
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
	p.pods(i)
	p.reason(whyLabel(i), why)
	manual, below := p.offers(i, o)
	if manual {
		p.do(i.Cause.Fix)
	}
	p.handle(i, o)
	p.handled(i, o)
	p.owner(i.Owner)
	p.add(below...)
	p.reason("More", more)
	p.changed(i.RecentChanges, i.Key.Resource)
	p.sketch(i)
	p.effects(i)
	switch {
	case i.Key.Check == incident.CannotLook:
		p.evidence("", i.Cause.Evidence)
	case i.Cause.Confidence != catalog.Certain:
		// Where the cause is certain, what was not seen is for the thread.
		p.blind(i.Blind)
	}
}

// owner is who owns what it is about, in one line.
func (p *page) owner(o ownership.Owner) {
	l := p.label("Owner")
	for n, v := range o {
		if l.plain(pick(n > 0, " · ", "")); v.Link() != "" {
			l.link(v.Link(), ownerField(v), nil)
			continue
		}
		l.plain(ownerText(v))
	}
	if len(o) > 0 {
		p.add(l.section())
	}
}

func ownerField(v ownership.Value) string {
	return slacktext.Clip(slacktext.OneLine(string(v.Field)), mostOwner)
}

// ownerText is a value without its link.
func ownerText(v ownership.Value) string {
	return ownerField(v) + " " + slacktext.Clip(slacktext.OneLine(v.Text), mostOwner)
}

// mostOwner is how long a value of an owner may be: two lines of a phone.
const mostOwner = 80

// firstWhy is how long the reason may be above the buttons: six lines of a phone.
const firstWhy = 300

// parted is a text in two, at the end of a sentence: the first is as long as it may be,
// or one sentence. A quotation is not cut in two.
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
		from += end + 1
		if strings.Count(s[:from], `"`)%2 == 0 {
			at = from
		}
	}
	if at < 0 {
		return s, ""
	}
	return s[:at], s[at+1:]
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
	case i.Cause.Confidence == catalog.Likely:
		return "Likely cause"
	case i.Cause.Confidence == catalog.Possible:
		return "Possible cause"
	case i.Cause.Confidence == catalog.Symptom:
		return "Observed"
	}
	return "Why"
}

// hurts is what is lost, and since when: instances that are no nodes.
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

// pods is who is hurt.
func (p *page) pods(i incident.Incident) { p.reason("Pods", podsText(i)) }

// impact is what is lost: instances that are no nodes.
func impact(i incident.Incident, t tally) []string {
	var what []string
	n := i.Capacity.Missing()
	if n > 0 {
		missing := pick(t.early() && t.allMissing(n), "not Ready yet", "missing")
		what = append(what, slacktext.Number(n)+" of "+slacktext.Number(i.Capacity.Desired)+" desired nodes "+missing)
	}
	switch {
	case t.out() == 0:
	case catalog.Meaning(i.Key.Check).Breaks == catalog.Launching && t.joined == 0:
		what = append(what, slacktext.Count(t.out(), "failed launch"))
	case t.allMissing(n):
		// Said already, as the nodes that are missing.
	case t.joined > 0:
		what = append(what, slacktext.Number(t.out())+" of "+slacktext.Count(t.all, "new instance")+" not Ready")
	default:
		what = append(what, slacktext.Count(t.out(), "new instance")+pick(t.early(), " not Ready yet", " not Ready"))
	}
	return what
}

// do is the fix. A command is shown whole or not at all: half a command must
// not be pasted.
func (p *page) do(fix finding.Fix) {
	if fix.Text == "" && fix.Command == "" {
		return
	}
	h := byHand(fix)
	if h.text != "" {
		p.add(p.label("Do").prose(h.text).section())
	}
	switch {
	case h.command == "":
	case slacktext.Length(h.command) > p.room:
		p.add(p.label(h.label).plain("The command is too long to show here.").section())
	default:
		p.add(p.label(h.label).prose(h.about).section(), pre(h.command))
	}
}

// cleared is the body while a proof is awaited.
func (p *page) cleared(i incident.Incident, o Options) {
	p.add(p.label("Was").prose(slacktext.Sentence(capital(title(i)))).plain(" From ").clock(i.Began).plain(" to ").clock(i.Cleared).plain(".").section())
	if i.Pods != nil && i.Pods.Count > 0 {
		p.pods(i)
	}
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
	l.plain(" " + slacktext.Count(out, "instance") + " launched before the change " + pick(out == 1, "is still not Ready. Replace it if it stays so.", "are still not Ready. Replace them one by one if they stay so."))
	if strings.HasPrefix(command, "kubectl ") {
		// kubernetes-sigs/karpenter pkg/controllers/nodeclaim/lifecycle/liveness.go, registrationTTL.
		l.plain(" Karpenter does it by itself 15 min after the launch.")
	}
	p.add(l.section(), p.label("Run").prose(shell.EffectOf(command).String()).section(), pre(command))
}

// replace is the command that launches another instance in the place of the first that is
// stuck: through its Auto Scaling group, or through its NodeClaim, which is known by its
// provider id (kubernetes-sigs/karpenter pkg/apis/v1/nodeclaim_status.go, status.providerID).
func replace(i incident.Incident) string {
	for _, l := range byStart(i.Launches) {
		stuck := l.Status == report.Missed || l.Status == report.GivenUp
		if !stuck || ids.FindString(l.Instance) != l.Instance || !region.MatchString(i.Region) {
			continue
		}
		switch {
		case l.Group != "":
			return shell.Command("aws", "autoscaling", "terminate-instance-in-auto-scaling-group", "--region", i.Region,
				"--instance-id", l.Instance, "--no-should-decrement-desired-capacity")
		case l.Nodegroup != "" && zoneName.MatchString(l.Zone):
			return shell.Command("kubectl", "delete", "nodeclaim", shell.Output(shell.Command("kubectl", "get", "nodeclaims", "-o",
				`jsonpath={.items[?(@.status.providerID=="aws:///`+l.Zone+"/"+l.Instance+`")].metadata.name}`)))
		}
	}
	return ""
}

// zoneName is the name of an Availability Zone or Local Zone.
var zoneName = regexp.MustCompile(`^[a-z]{2}(-[a-z]+)+-\d([a-z]|-[a-z0-9-]+)$`)

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
	if i.Proof != nil && at.Equal(i.Proof.Ready) {
		l.plain(" (").prose(slacktext.Clip(slacktext.OneLine(i.Proof.Instance), 40))
		if d, known := joinTime(*i.Proof); known {
			l.plain(", " + slacktext.Span(d) + " after its launch")
		}
		l.plain(")")
	}
	p.add(l.plain(".").section())
}

// feedback asks whether a closed incident was right, and shows what people said.
func (p *page) feedback(i incident.Incident, o Options) {
	value, fits := button.Value{Key: i.Key, Number: i.Number}.Text()
	if !o.Actions || !fits || !ratable(i) {
		return
	}
	l := p.label("Was this right?")
	said := map[report.Action]int{}
	for _, f := range i.Feedback {
		if f.Number == i.Number {
			said[f.Says]++
		}
	}
	p.add(l.plain(feedbackCounts(said[report.SayRight], said[report.SayWrong], said[report.SayNotUseful])).section())
	p.blocks = append(p.blocks, slackgo.NewActionBlock("feedback-"+strconv.Itoa(i.Number),
		newButton(report.SayRight, "Right", value), newButton(report.SayWrong, "Wrong cause", value), newButton(report.SayNotUseful, "Not useful", value)))
}

// ratable reports whether an incident ended with a cause that a person can judge.
func ratable(i incident.Incident) bool {
	switch i.Resolution {
	case incident.Superseded, incident.ClusterDeleted, incident.Unseen, incident.Unwatched:
		return false
	}
	return i.Key.Check != incident.CannotLook
}

// feedbackCounts says how many gave each answer; empty for none.
func feedbackCounts(right, wrong, useless int) string {
	var parts []string
	for _, x := range []struct {
		n    int
		says string
	}{{right, "right"}, {wrong, "wrong cause"}, {useless, "not useful"}} {
		if x.n > 0 {
			parts = append(parts, slacktext.Number(x.n)+" "+x.says)
		}
	}
	return strings.Join(parts, ", ")
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
		// puts a warning sign beside one without an acknowledgment
		// (slackapi/node-slack-sdk issue 869).
		l.plain(" · ").link(address, "Open in console", nil)
	}
	if logs := logsOf(i.Logs); logs != "" && i.State != incident.Closed {
		l.plain(" · ").link(logs, "Logs", nil)
	}
	p.add(l.section())
}

// urgency is the colour as a word: readable without colors.
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
		actor = "someone"
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
		parts = append(parts, p.line().plain("No changes found. The cause may be older, or not an API call in this account.").section())
	}
	if blind != "" {
		parts = append(parts, p.line().plain("Not read: ").code(blind).plain(". There may be more changes.").section())
	}
	if t.Open {
		parts = append(parts, p.line().plain("CloudTrail can lag by some minutes; Rollcall searches it again.").section())
	}
	p.add(parts...)
}

// actLine is the first line of a reply about what people and remedies did;
// false for a note of another kind.
func actLine(i incident.Incident, n incident.Note) (saying, bool) {
	of, known := offerOf(i, n)
	what := planTitle(of)
	switch n.Reason {
	case incident.IsCalled:
		return say(slacktext.Sentence(continued(title(i)))), true
	case incident.IsReminded:
		return say("open for " + slacktext.Span(max(n.At.Sub(i.Began), 0)) + ", not acknowledged: " + slacktext.Sentence(continued(title(i)))), true
	case incident.IsEscalated:
		return say("open for " + slacktext.Span(max(n.At.Sub(i.Began), 0)) + ", nobody acknowledged it after the last reminder: " + slacktext.Sentence(continued(title(i)))), true
	case incident.IsTakenOver:
		if n.Ack == nil || n.Ack.From == nil {
			return nil, false
		}
		return say("").by(n.Ack.By).and(" took it over from ").by(*n.Ack.From).and("."), true
	case incident.IsAlertResolved:
		if n.Ack == nil {
			return nil, false
		}
		by := n.Ack.By
		by.Name = cmp.Or(by.Name, "somebody")
		return say("the alert was resolved in " + slacktext.Clip(slacktext.OneLine(n.Ack.In), 40) + " by ").by(by).and("; the incident stays open until Rollcall confirms the fix."), true
	case incident.HasChanges:
		return say(changesLine(trailOf(i, n))), true
	case incident.IsProposed, incident.IsApproved, incident.IsRefused, incident.RemedyDone, incident.RemedyFailed, incident.IsVerified, incident.IsUnhelpful, incident.IsDeferred:
		if !known {
			return nil, false
		}
	default:
		return nil, false
	}
	switch n.Reason {
	case incident.IsProposed:
		return say("Rollcall can " + slacktext.Sentence(what)), true
	case incident.IsApproved:
		if allowedItself(of) {
			return say("by the policy auto of " + slacktext.Clip(string(of.Plan.Remedy), 60) + ": " + slacktext.Sentence(what)), true
		}
		return say("by ").by(of.By).and(". Rechecking before applying: " + slacktext.Sentence(what)), true
	case incident.IsRefused:
		return say("by ").by(of.By).and(". Rollcall will not " + slacktext.Sentence(what)), true
	case incident.IsDeferred:
		return deferredLine(of, what), true
	case incident.IsVerified:
		return say("the check passes since Rollcall did this: " + slacktext.Sentence(what)), true
	case incident.IsUnhelpful:
		return say("the check still fails after this was done: " + slacktext.Sentence(what)), true
	}
	return remedyLine(of, what), true
}

// offerOf is the offer that a note is about, as it was then; without it, the
// newest that fits.
func offerOf(i incident.Incident, n incident.Note) (incident.Offer, bool) {
	runless := n.Reason == incident.IsProposed || n.Reason == incident.IsApproved || n.Reason == incident.IsRefused || n.Reason == incident.IsDeferred
	if n.Offer != nil {
		return *n.Offer, runless || n.Offer.Run != nil
	}
	fits := func(of incident.Offer) bool {
		switch n.Reason {
		case incident.IsProposed:
			return true
		case incident.IsRefused:
			return of.State == incident.RefusedByUs
		case incident.IsDeferred:
			return of.State == incident.Deferred
		case incident.IsApproved:
			return !of.Decided.IsZero() && of.State != incident.RefusedByUs
		}
		return of.Run != nil
	}
	for k := len(i.Offers) - 1; k >= 0; k-- {
		if fits(i.Offers[k]) {
			return i.Offers[k], true
		}
	}
	return incident.Offer{}, false
}

func allowedItself(of incident.Offer) bool {
	return of.Policy == optin.Auto && of.By == (report.User{})
}

// remedyLine is what came of a plan, and who allowed it.
func remedyLine(of incident.Offer, what string) saying {
	head := ""
	switch of.Run.Result {
	case remedy.Done:
		head = took(of.Run)
	case remedy.Partly: // the label says it all
	case remedy.Refused:
		head = "nothing was changed, "
	case remedy.Failed:
		head = "it failed, nothing was changed, "
	default:
		head = "check whether this was done, "
	}
	s := say(head + "policy auto")
	if !allowedItself(of) {
		s = say(head + "approved by ").by(of.By)
	}
	return s.and(": " + slacktext.Sentence(what))
}

// took is how long it took, if that is known.
func took(d *remedy.Run) string {
	if d.Began.IsZero() || d.Ended.Before(d.Began) {
		return ""
	}
	return "in " + slacktext.Span(max(d.Ended.Sub(d.Began), time.Second)) + ", "
}

func changesLine(t *report.RecentChanges) string {
	if t == nil {
		return "unknown."
	}
	made := 0
	for _, c := range t.Changes {
		if c.Error == "" {
			made++
		}
	}
	all := len(t.Changes) + max(t.More, 0)
	switch {
	case all > len(t.Changes):
		return slacktext.Count(all, "write call") + " before it began."
	case made < all:
		return slacktext.Count(made, "change") + " before it began, and " + slacktext.Count(all-made, "call") + " refused."
	case made > 0:
		return slacktext.Count(made, "change") + " before it began."
	case slacktext.OneLine(t.Blind) != "":
		return "could not be read."
	}
	return "none found before it began."
}

func trailOf(i incident.Incident, n incident.Note) *report.RecentChanges {
	if n.RecentChanges != nil {
		return n.RecentChanges
	}
	return i.RecentChanges
}

// act is the body of such a reply.
func (p *page) act(i incident.Incident, n incident.Note) {
	if n.Reason == incident.HasChanges {
		p.trail(trailOf(i, n))
		return
	}
	of, known := offerOf(i, n)
	if !known {
		return
	}
	switch n.Reason {
	case incident.IsProposed:
		p.add(p.plan(of)...)
		if final(of) == "" { // else the plan says it
			p.undo(of)
		}
	case incident.RemedyDone, incident.RemedyFailed:
		p.run(of)
	case incident.IsDeferred:
		p.waits(of)
	case incident.IsUnhelpful:
		p.undo(of)
	}
}

// head is the beginning of a hash, enough to find it in the audit.
func head(s string, n int) string { return strings.ToValidUTF8(s[:min(len(s), n)], "") }

// undo is how to take it back, or that it cannot be.
func (p *page) undo(of incident.Offer) {
	if end := final(of); end != "" {
		p.add(p.line().prose(end).section())
		return
	}
	p.add(p.commands("Undo", of.Plan.Undo())...)
}

// run is what AWS was asked to do, for whoever looks it up in CloudTrail.
func (p *page) run(of incident.Offer) {
	d := of.Run
	if s := slacktext.Clip(slacktext.OneLine(d.Says), 600); s != "" {
		p.add(p.line().prose(slacktext.Sentence(capital(s))).section())
	}
	if d.Result == remedy.Done || d.Result == remedy.Partly || d.Result == remedy.Uncertain {
		p.undo(of)
	}
	var lines []*line
	row := func(name, value string) {
		if value != "" {
			lines = append(lines, p.line().plain(name+": ").prose(value))
		}
	}
	row("Reason", slacktext.Clip(slacktext.OneLine(d.Reason), 120))
	row("Changed", slacktext.Few(d.Changed, 8, 120))
	if ids := slacktext.Few(d.Requests, 6, 80); ids != "" {
		lines = append(lines, p.line().plain("Request "+pick(len(d.Requests) == 1, "id", "ids")+": ").code(ids))
	}
	if !d.Approved.IsZero() && !allowedItself(of) {
		lines = append(lines, p.line().plain("Approved by ").person(of.By).plain(" ").clockOrDate(d.Approved))
	}
	row("Plan", strings.TrimSpace(slacktext.Clip(slacktext.OneLine(string(d.Plan.Remedy)), 60)+" "+head(slacktext.OneLine(d.Hash), 12)))
	if len(lines) > 0 {
		p.add(p.heading("Audit"), bullets(lines...))
	}
}

// replay tells with which command an incident is diagnosed again from what was kept of it.
func (p *page) replay(i incident.Incident) {
	if i.Evidence == nil {
		return
	}
	p.add(p.label("Diagnose again").code(shell.Command("rollcall", "replay", i.Key.Name())).plain(" from the data saved at the time, even if the resources no longer exist.").section())
}
