package slack

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	slackgo "github.com/slack-go/slack"

	"rollcall/shared/catalog"
	"rollcall/shared/checkid"
	"rollcall/shared/checks/finding"
	"rollcall/shared/incident"
	"rollcall/shared/network/leak"
	"rollcall/shared/report"
	"rollcall/shared/shell"
	"rollcall/shared/slack/button"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/slack/slacktext"
)

// ofSubnet reports whether an incident is about the addresses of its resource.
func ofSubnet(i incident.Incident) bool {
	return catalog.Meaning(i.Key.Check).Breaks == catalog.Addresses
}

// addressesAre says in which way a subnet is healthy again; empty for checks
// without words of their own.
func addressesAre(i incident.Incident) string {
	subnet := slacktext.Clip(slacktext.OneLine(i.Key.Resource), 40)
	switch i.Key.Check {
	case checkid.IPLeakedInterfaces:
		return subnet + " has its addresses back"
	case checkid.IPRunway:
		return subnet + " no longer runs out"
	case checkid.IPFragmented:
		return subnet + " has free /28 blocks again"
	case checkid.IPScaleOutWillNotFit:
		return subnet + " is large enough again"
	}
	return ""
}

// addressesWell is the end of an incident about a subnet's addresses.
func addressesWell(i incident.Incident) string {
	left := slices.IndexFunc(i.ClearedBy, func(e finding.Evidence) bool { return e.What == incident.Left })
	if left >= 0 {
		return "no longer urgent after " + slacktext.Span(outage(i)) + colon(slacktext.Clip(slacktext.OneLine(i.ClearedBy[left].Value), 120))
	}
	what := addressesAre(i)
	if i.Key.Check != checkid.IPRunway { // how long it was foreseen is of no use
		what += " after " + slacktext.Span(outage(i))
	}
	return what + colon(cameBack(i))
}

// cameBack is what the passed check says of the subnet: "31 addresses, 12
// interfaces of 4 dead nodes".
func cameBack(i incident.Incident) string {
	for _, e := range i.ClearedBy {
		if e.What != i.Key.Resource && !strings.HasSuffix(e.What, " of "+i.Key.Resource) {
			continue
		}
		value := inShort(i.Key.Check, strings.TrimSpace(slacktext.Clean(e.Value)))
		if value != "" && slacktext.Length(value) <= 120 && !strings.Contains(value, "\n") {
			return value
		}
	}
	return ""
}

// inShort is what a check of addresses says of a subnet, for the first line: the
// whole sum is in the thread.
func inShort(check checkid.ID, value string) string {
	switch check {
	case checkid.IPLeakedInterfaces:
		value = strings.Replace(value, " addresses back; ", " addresses, ", 1)
		return strings.Replace(value, " address back; ", " address, ", 1)
	case checkid.IPRunway: // "1,204 at 15:13 UTC, and rising"
		return strings.Replace(value, " at ", " free at ", 1)
	case checkid.IPFragmented: // "6 of 16 whole /28 blocks free; 140 addresses free, …"
		first, _, _ := strings.Cut(value, ";")
		return strings.TrimSuffix(first, " whole /28 blocks free")
	case checkid.IPScaleOutWillNotFit: // "2 groups may launch …: 9 m5.4xlarge x 60 = 540; 4091 free"
		return strings.TrimSpace(value[strings.LastIndex(value, ";")+1:])
	}
	return value
}

// was is what was wrong. Of what a leak held, the last look before its end saw
// only what a cleanup had left; the first line has the sum.
func was(i incident.Incident) string {
	if i.Key.Check == checkid.IPLeakedInterfaces && cameBack(i) != "" {
		return "ENIs of terminated nodes held them"
	}
	return title(i)
}

// theirs names the message that says it now: by its check, and by its resource
// where that is another one.
func theirs(i incident.Incident) string {
	by := "another cause"
	if i.By != nil {
		by = slacktext.Clip(slacktext.OneLine(string(i.By.Check)), 60)
		if i.By.Resource != i.Key.Resource {
			by += " of " + slacktext.Clip(slacktext.OneLine(i.By.Resource), 60)
		}
	}
	return "a consequence of " + by + " (see its message)"
}

// gaveWay says why another message says it now.
func gaveWay(i incident.Incident) string {
	const other = "(see its message)"
	if i.By == nil {
		return continued(was(i)) + ": " + theirs(i)
	}
	subnet := slacktext.Clip(slacktext.OneLine(i.By.Resource), 40)
	short := i.By.Check.Family() != checkid.IP || i.By.Check == checkid.IPSubnetExhausted
	switch {
	case i.By.Check == checkid.IPLeakedInterfaces && i.Key.Check == checkid.IPRunway:
		return "ENIs of terminated nodes are part of why " + subnet + " runs out " + other
	case i.By.Check == checkid.IPLeakedInterfaces:
		return "ENIs of terminated nodes hold the addresses of " + subnet + " " + other
	case i.Key.Check == checkid.IPRunway:
		return "as predicted, " + subnet + " has too few addresses now " + other
	case i.Key.Check == checkid.IPLeakedInterfaces && !i.Cleared.IsZero() && short:
		return "the leaked addresses are back, and " + subnet + " still has too few " + other
	case i.Key.Check == checkid.IPLeakedInterfaces && short:
		return subnet + " is too small even without its leak " + other
	}
	return continued(was(i)) + ": " + theirs(i)
}

// stated reports whether the reason is a fact, however likely it is that it matters:
// interfaces that are there, addresses that were counted.
func stated(i incident.Incident) bool {
	return i.Key.Check == checkid.IPLeakedInterfaces || i.Key.Check == checkid.IPRunway || i.Key.Check == checkid.IPScaleOutWillNotFit
}

// worse reports whether a subnet's trouble has reached launches or nodes. What is
// only foreseen has not, and what lets a leak stay is no effect of it.
func worse(i incident.Incident) bool {
	return slices.ContainsFunc(i.Effects, func(e incident.Effect) bool { return e.Present() && !catalog.Meaning(e.Check).Predictive })
}

// mostEffects is how many effects a message lists.
const mostEffects = 5

// effects are other failures that belong to the incident, in the order in which
// they came: what a person would else meet one by one.
func (p *page) effects(i incident.Incident) {
	var list []incident.Effect
	for _, e := range i.Effects {
		// What was foreseen has come: worth a line only with when it was said.
		foreseen := (e.Check == checkid.IPRunway || e.Check == checkid.IPScaleOutWillNotFit) && e.Title == "" && (worse(i) || i.Key.Check == checkid.IPSubnetExhausted)
		if e.Present() && e.Check != checkid.IPLeakCause && !foreseen && !whySays(i, e) && effectWords(e) != "" {
			list = append(list, e)
		}
	}
	slices.SortStableFunc(list, func(a, b incident.Effect) int {
		switch {
		case a.Since.IsZero() != b.Since.IsZero():
			return pickInt(a.Since.IsZero(), 1, -1)
		}
		return a.Since.Compare(b.Since)
	})
	var lines []*line
	for _, e := range list[:min(len(list), mostEffects)] {
		l := p.line()
		if !e.Since.IsZero() {
			l.clock(e.Since).plain("\u2002")
		}
		lines = append(lines, l.prose(slacktext.Clip(effectWords(e), min(160, p.room))))
	}
	if left := len(list) - len(lines); left > 0 {
		lines = append(lines, p.line().plain("… and "+slacktext.Number(left)+" more"))
	}
	if len(lines) > 0 {
		p.add(p.heading("Also failing"), bullets(lines...))
	}
}

// whySays reports whether the cause's reason says already what an effect does: in the same words,
// or, where no look saw the effect by itself, as the number of free addresses. The reason of
// leaked interfaces has it where they are certain to be the cause, that of branch interfaces
// always (checks/ip, explain and branchLeaked). An effect with a time is kept: it says when.
func whySays(i incident.Incident, e incident.Effect) bool {
	switch {
	case !e.Since.IsZero():
		return false
	case e.Title == "" && e.Check == checkid.IPSubnetExhausted:
		return i.Key.Check == checkid.IPLeakedInterfaces && i.Cause.Confidence == catalog.Certain || i.Key.Check == checkid.IPBranchLeaked
	}
	words := strings.ToLower(effectWords(e))
	return words != "" && strings.Contains(strings.ToLower(slacktext.OneLine(i.Cause.Why)), words)
}

// effectWords is what an effect says; of one that was never seen by itself,
// what its check says.
func effectWords(e incident.Effect) string {
	if t := slacktext.OneLine(e.Title); t != "" {
		return t // it begins with a time, or with a name
	}
	return catalog.Meaning(e.Check).Title
}

func pickInt(yes bool, a, b int) int {
	if yes {
		return a
	}
	return b
}

// sketch shows the subnet's chart.
func (p *page) sketch(i incident.Incident) {
	s := i.Chart
	if s == nil || s.File == "" || s.FileOf != "" && s.FileOf != i.Moment() {
		return
	}
	alt := slacktext.Clip(slacktext.OneLine(cmp.Or(s.FileAlt, s.Alt)), slackapi.MaxAlt)
	if alt == "" {
		alt = "Free addresses of the subnet over time"
	}
	p.blocks = append(p.blocks, slackgo.NewImageBlockSlackFile(&slackgo.SlackFileObject{ID: s.File}, alt, "", nil))
}

// RenderAnswer is the reply to a press, shown only to the person who pressed: what
// was done; or that nothing was, why, and what to do instead.
func RenderAnswer(a incident.Answer, now time.Time) slackapi.Message {
	p := newPage(place{}, now, slacktext.WidestRoom)
	l := p.line()
	if !a.Done() {
		l.styled("Nothing was done.", &slackgo.RichTextSectionTextStyle{Bold: true}).plain(" ")
	}
	l.answer(a)
	if says := slacktext.Clip(slacktext.OneLine(a.Says), 400); says != "" {
		l.plain(" ").prose(slacktext.Sentence(capital(says)))
	}
	p.add(l.section())
	return slackapi.Message{Text: slacktext.Notification(words(l)), Blocks: p.blocks}
}

// AnswerTo is the answer to a press. Below that to feedback is room for one line.
//
// An input block can stand in a message, and with dispatch_action it sends a block_actions
// payload on Enter, whose action has the text as its value
// (docs.slack.dev/reference/block-kit/blocks/input-block, …/block-elements/plain-text-input-element).
// A dialog would need the bot's token within three seconds of the press
// (docs.slack.dev/surfaces/modals, "trigger_id"), which slack-actions does not have.
func AnswerTo(a incident.ActRecord, now time.Time) slackapi.Message {
	m := RenderAnswer(a.Answer, now)
	id, fits := button.TextBlock(button.Value{Key: a.Key, Number: a.Number})
	if a.Answer.Reason != incident.AnswerFeedback || !fits {
		return m
	}
	element := slackgo.NewPlainTextInputBlockElement(label("What was it really?"), string(report.SayMore))
	element.MaxLength = button.MaxText
	element.DispatchActionConfig = &slackgo.DispatchActionConfig{TriggerActionsOn: []string{"on_enter_pressed"}}
	input := slackgo.NewInputBlock(id, label("One line about it, if you like; Enter sends it"), nil, element)
	input.DispatchAction, input.Optional = true, true
	m.Blocks = append(m.Blocks, input)
	return m
}

// answer appends the reason as a sentence, and the next step.
func (l *line) answer(a incident.Answer) *line {
	if done, known := doneWords(a); known {
		if remedy := slacktext.Clip(slacktext.OneLine(string(a.Remedy)), 60); remedy != "" && (a.Reason == incident.AnswerApproved || a.Reason == incident.AnswerRefused) {
			l.code(remedy).plain(": ")
		} else {
			done = capital(done)
		}
		l.plain(done)
		if a.Reason == incident.AnswerMuted {
			l.dated(a.Until).plain(". Nobody is paged until then. The message stays up to date, and the end is posted.")
		}
		if a.Reason == incident.AnswerTakenOver && a.By != (report.User{}) {
			l.plain(" ").person(a.By).plain(" had it before; the thread says so.")
		}
		return l
	}
	switch a.Reason {
	case incident.NotAllowed:
		return l.plain("You are not allowed to approve or refuse fixes here. Ask one of the approvers (setting approvers), or run the commands in the message.")
	case incident.NotResponder:
		return l.plain("You are not allowed to acknowledge, mute or recheck here. Ask one of the responders (setting responders).")
	case incident.OtherWorkspace:
		return l.plain("Only members of Rollcall’s Slack workspace can use these buttons, and Slack does not list you as one. Ask a member.")
	case incident.IsGuest:
		return l.plain("Guests of the workspace cannot mute: a mute hides later posts from everybody. Ask a member.")
	case incident.GuestNotRead:
		return l.plain("Could not read from Slack whether you are a guest of the workspace. Try again in a minute. If it keeps failing, give the Slack app the scope users:read.")
	case incident.WorkspaceNotRead:
		return l.plain("Could not read from Slack which workspace you belong to. Try again in a minute.")
	case incident.NobodyAllowed:
		return l.plain("Nobody can approve fixes yet: the setting approvers is empty. Set it to the ids of users (U…) or user groups (S…) and deploy. Or run the commands in the message.")
	case incident.GroupNotRead:
		return l.plain("Could not read the members of the approvers’ user group from Slack. Try again in a minute. If it keeps failing, give the Slack app the scope usergroups:read, or list users instead of groups in the setting approvers.")
	case incident.NothingRanOut:
		return l.plain("No offer has expired here. Use the buttons in the current message.")
	case incident.NoSuchPlan:
		return l.plain("This incident never had that plan. Use the buttons in the current message.")
	case incident.PlanChanged:
		return l.plain("The plan has changed since you saw it. Read the current one in the message, and approve that.")
	case incident.PlanExpired:
		return l.plain("The approval expired ").known(a.Until).plain(". Press “Offer again” in the message for a fresh one.")
	case incident.NotNow:
		return l.plain("Not now: the hourly limit is reached, or the recheck failed. The next button is due ").known(a.Until).plain(".")
	case incident.AlreadyDecided:
		return l.decided(a)
	case incident.IncidentClosed:
		return l.plain("This was closed ").clockOrDate(a.When).plain(". If it comes back, the message gets new buttons.")
	case incident.CauseIsGone:
		return l.plain("The cause is already gone; there is nothing to fix. This closes when a new instance is Ready.")
	case incident.IncidentNotFound:
		return l.plain("Rollcall no longer has a record of this incident. The cluster may no longer be watched; this message is no longer updated.")
	case incident.EarlierOpening:
		return l.plain("That button is from before this reopened ").clockOrDate(a.When).plain(". Use the buttons in the current message.")
	case incident.AlreadyTaken:
		return l.by(a, "Somebody", " acknowledged this").plain("; reminders stopped. To take it on yourself, press “Take over”.")
	case incident.AlreadyYours:
		return l.plain("You have it already, since ").known(a.When).plain(".")
	case incident.NotMuted:
		return l.plain("It is no longer muted.")
	case incident.AskedJustNow:
		return l.plain("A recheck is already running. Try again after ").known(a.Until).plain(".")
	case incident.NotPassedOn, incident.Incomplete:
		return l.plain("The request from Slack was incomplete. Press again.")
	case incident.TooLate:
		return l.plain("That click is from ").known(a.When).plain(", too old to act on. Read the message as it is now, and press again.")
	case incident.FromFuture:
		return l.plain("That press is dated ").known(a.When).plain(", in the future: clocks differ. Press again.")
	case incident.NotOver:
		return l.plain("It is open again. Answer “Was this right?” once it is closed.")
	case incident.NoFeedback:
		return l.plain("First press one of the three buttons under “Was this right?” in the message.")
	case incident.NoSuchTime:
		return l.plain("It can be muted for 1, 4 or 24 hours only.")
	case incident.UnknownAction:
		return l.plain("This version of Rollcall does not have that button. Use the newest message.")
	}
	if slacktext.OneLine(string(a.Reason)) == "" {
		return l.plain("The reason is in Rollcall’s log.")
	}
	return l.plain("Reason: ").code(slacktext.Clip(string(a.Reason), 80)).plain(".")
}

// doneWords are what was done.
func doneWords(a incident.Answer) (string, bool) {
	switch a.Reason {
	case incident.AnswerApproved:
		return "approved. Rechecking before applying; the result will be in the thread.", true
	case incident.AnswerRefused:
		return "refused; Rollcall will not do this. The commands are in the message.", true
	case incident.AnswerAcknowledged:
		return "Acknowledged; reminders stopped.", true
	case incident.AnswerTakenOver:
		return "You have it now.", true
	case incident.AnswerMuted:
		return "Muted until ", true
	case incident.AnswerUnmuted:
		return "Unmuted.", true
	case incident.AnswerOffering:
		return "Making a fresh plan; the message will show it.", true
	case incident.AnswerChecking:
		return "Rechecking; the message will show the result.", true
	case incident.AnswerFeedback:
		return "Thank you, it is recorded. If you press another, the last one counts.", true
	case incident.AnswerNoted:
		return "Thank you, your line is recorded.", true
	}
	return "", false
}

// decided says who was faster, and how.
func (l *line) decided(a incident.Answer) *line {
	switch a.State {
	case incident.RefusedByUs:
		return l.by(a, "Somebody", " refused this plan").plain(". To do it anyway, run the commands in the message.")
	case incident.Approved, incident.Acted, incident.Helped, incident.Unhelpful:
		return l.by(a, "The policy auto", " approved this plan").plain(". It is applied once; the result will be in the thread.")
	}
	return l.by(a, "Somebody", " decided on this plan").plain(". The message says how.")
}

// by names who did something, and when: it has no subject without a name.
func (l *line) by(a incident.Answer, nobody, did string) *line {
	if a.By == (report.User{}) {
		l.plain(nobody)
	} else {
		l.person(a.By)
	}
	if l.plain(did); !a.When.IsZero() {
		l.plain(", ").clockOrDate(a.When)
	}
	return l
}

// known is a time, or that it is not known.
func (l *line) known(t time.Time) *line {
	if t.IsZero() {
		return l.plain("an unknown time")
	}
	return l.dated(t)
}

// words are a line as text alone. It mentions no one: ids of people stay ids.
func words(l *line) string {
	var b strings.Builder
	for _, item := range l.items {
		switch item := item.(type) {
		case *slackgo.RichTextSectionTextElement:
			b.WriteString(item.Text)
		case *slackgo.RichTextSectionLinkElement:
			b.WriteString(item.Text)
		case *slackgo.RichTextSectionUserElement:
			b.WriteString(item.UserID)
		case *slackgo.RichTextSectionDateElement:
			if item.Fallback != nil {
				b.WriteString(*item.Fallback)
			}
		}
	}
	return b.String()
}

// RenderRefusal is the reply to a command of a person who is not allowed to use it.
func RenderRefusal(a incident.Answer, now time.Time) slackapi.Message {
	return RenderSays(RefusalSays(a), now)
}

// RefusalSays is why a person is not allowed to request what they typed or pressed on the home page.
func RefusalSays(a incident.Answer) string {
	says := "Nothing was done. "
	switch a.Reason {
	case incident.NotResponder:
		return says + "You are not allowed to silence here. Ask one of the responders (setting responders)."
	case incident.IsGuest:
		return says + "Guests of the workspace cannot use commands: a response covers all accounts, and a silence hides them from everybody. Ask a member."
	case incident.GuestNotRead:
		return says + "Could not read from Slack whether you are a guest of the workspace. Try again in a minute. If it keeps failing, give the Slack app the scope users:read."
	case incident.OtherWorkspace:
		return says + "Only members of Rollcall’s Slack workspace can use commands, and Slack does not list you as one."
	case incident.GroupNotRead:
		return says + "Could not read the members of the responders’ user group from Slack. Try again in a minute. If it keeps failing, give the Slack app the scope usergroups:read."
	}
	return says + words(newPage(place{}, time.Time{}, slacktext.WidestRoom).line().answer(a))
}

// maxAttached is the longest text of a file, in bytes. Slack shows texts up to
// 1 MB as snippets; more than this of an incident is not read.
const maxAttached = 256 << 10

// Attached is the whole of what a reply had to shorten, as a text to be shared
// below it; false where the reply says everything.
func Attached(i incident.Incident, n incident.Note) (slackapi.File, bool) {
	if !shortened(i, n) {
		return slackapi.File{}, false
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s / %s / %s\n", headline(i), slacktext.OneLine(i.Key.SpokeCluster().String()), slacktext.OneLine(string(i.Key.Check)), slacktext.OneLine(i.Key.Resource))
	fmt.Fprintf(&b, "%s, %s\n", n.Reason, stamp(n.At))
	section := func(title string, lines []string) {
		if len(lines) > 0 {
			fmt.Fprintf(&b, "\n%s\n%s\n", title, strings.Repeat("-", slacktext.Length(title)))
			b.WriteString(strings.Join(lines, "\n") + "\n")
		}
	}
	section("Evidence", wholly(n.Evidence))
	section(fmt.Sprintf("Instances (%d of %d)", len(n.Instances), max(n.Count, len(n.Instances))), instances(i, n))
	var facts []finding.Evidence
	for _, f := range n.Facts {
		facts = append(facts, finding.Evidence{What: f.What, Value: f.Value})
	}
	section("Also checked", wholly(facts))
	if t := trailOf(i, n); t != nil && n.Reason == incident.HasChanges {
		section("Changes, newest first", history(t))
	}
	if of, known := offerOf(i, n); known && n.Reason == incident.IsProposed {
		section("Steps", of.Plan.Steps())
		section("Or run", of.Plan.Commands())
		section("Undo", of.Plan.Undo())
	}
	text := slacktext.Clean(b.String())
	if len(text) > maxAttached {
		text = strings.ToValidUTF8(text[:maxAttached], "") + "\n… cut here, longer than " + slacktext.Number(maxAttached/1024) + " KB.\n"
	}
	return slackapi.File{
		Name:  "rollcall-" + fileWord(i.Key.Cluster) + "-" + fileWord(n.ID) + ".txt",
		Title: slacktext.Clip("In full: "+slacktext.OneLine(i.Key.Cluster)+", "+slacktext.OneLine(string(i.Key.Check)), 200),
		Data:  []byte(text),
	}, true
}

// shortened reports whether a reply has no room for all that its note holds: the
// bounds are those of RenderNote in its widest room.
func shortened(i incident.Incident, n incident.Note) bool {
	room := slacktext.WidestRoom
	switch n.Reason {
	case incident.HasChanges:
		t := trailOf(i, n)
		return t != nil && len(t.Changes) > mostTrail
	case incident.IsProposed:
		of, known := offerOf(i, n)
		tooLong := func(list []string) bool { return slacktext.Length(strings.Join(list, "\n")) > room }
		return known && (tooLong(of.Plan.Commands()) || tooLong(of.Plan.Undo()) || len(of.Plan.Steps()) > mostSteps)
	}
	lines := table(n.Evidence)
	if len(lines) > mostEvidence || slacktext.Length(strings.Join(lines, "\n")) > room || len(n.Instances) > mostInstances || len(n.Facts) > mostFacts {
		return true
	}
	return slices.ContainsFunc(n.Facts, func(f report.Fact) bool { return slacktext.Length(slacktext.OneLine(f.Value)) > room/8 }) ||
		slices.ContainsFunc(lines, func(l string) bool { return slacktext.Length(l) > room/2 })
}

// wholly writes evidence line by line, nothing left out.
func wholly(list []finding.Evidence) []string {
	var lines []string
	for _, e := range list {
		lines = append(lines, slacktext.OneLine(e.What)+":")
		for row := range strings.SplitSeq(strings.TrimSpace(e.Value), "\n") {
			lines = append(lines, "  "+row)
		}
	}
	return lines
}

func instances(i incident.Incident, n incident.Note) []string {
	var lines []string
	for _, id := range n.Instances {
		at := slices.IndexFunc(i.Launches, func(l report.Launch) bool { return l.Instance == id })
		if at < 0 {
			lines = append(lines, slacktext.OneLine(id))
			continue
		}
		l := i.Launches[at]
		lines = append(lines, strings.Join([]string{slacktext.OneLine(l.Instance), stamp(l.Started), slacktext.OneLine(l.Nodegroup), slacktext.OneLine(l.Type), slacktext.OneLine(l.Zone), slacktext.OneLine(l.Subnet), string(l.Status), slacktext.OneLine(l.EndedWhy)}, "  "))
	}
	return lines
}

func history(t *report.RecentChanges) []string {
	var lines []string
	for _, c := range t.Changes {
		row := []string{stamp(c.At), slacktext.OneLine(c.Call), slacktext.OneLine(c.Resource), slacktext.OneLine(c.Actor), slacktext.OneLine(c.Principal)}
		if c.By != "" {
			row = append(row, "through "+slacktext.OneLine(c.By))
		}
		if c.Times > 1 {
			row = append(row, slacktext.Count(c.Times, "time"))
		}
		if c.Error != "" {
			row = append(row, "refused: "+slacktext.OneLine(c.Error))
		}
		lines = append(lines, strings.Join(row, "  "))
	}
	if t.More > 0 {
		lines = append(lines, "and "+slacktext.Count(t.More, "more change")+" not kept")
	}
	return lines
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") + " UTC" }

// fileWord is a word that may stand in a file's name.
func fileWord(s string) string {
	return slacktext.Clip(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, s), 60)
}

// Limits of interactive elements, docs.slack.dev/reference/block-kit.
const (
	maxConfirmText = 300
	maxButtonLabel = 75
)

func label(s string) *slackgo.TextBlockObject {
	return slackgo.NewTextBlockObject(slackgo.PlainTextType, s, false, false)
}

func newButton(a report.Action, words, value string) *slackgo.ButtonBlockElement {
	return slackgo.NewButtonBlockElement(string(a), value, label(words))
}

// decide are the buttons of one offer. With no room for its value, none: what
// cannot be pressed rightly is not offered.
func (p *page) decide(i incident.Incident, of incident.Offer, n int) {
	value, fits := button.Value{Key: i.Key, Number: i.Number, Plan: of.Hash}.Text()
	if !fits || of.Hash == "" {
		return
	}
	yes := newButton(report.ApprovePlan, "Approve this fix", value)
	yes.Style = slackgo.StylePrimary
	yes.Confirm = &slackgo.ConfirmationBlockObject{
		Title: label("Approve this fix?"), Text: label(slacktext.Clip(slacktext.OneLine(question(of)), maxConfirmText)),
		Confirm: label("Approve"), Deny: label("Cancel"), Style: slackgo.StylePrimary,
	}
	// One block holds an action once, and an incident may have two offers.
	p.blocks = append(p.blocks, slackgo.NewActionBlock("offer-"+strconv.Itoa(n)+"-"+of.Hash, yes, newButton(report.RefusePlan, "Refuse", value)))
}

// question is the plan in one sentence.
func question(of incident.Offer) string {
	where := ""
	if of.Plan.Region != "" {
		where = " (" + slacktext.Clip(slacktext.OneLine(of.Plan.Region), 40) + ", account " + slacktext.Clip(slacktext.OneLine(of.Plan.Account), 20) + ")"
	}
	text := slacktext.Sentence("Rollcall will " + slacktext.Clip(planTitle(of), 200) + where)
	if follows := followsText(of); follows != "" {
		text += " " + follows
	}
	if end := final(of); end != "" {
		text += " " + end
	}
	if cost := slacktext.OneLine(of.Plan.Cost()); cost != "" {
		text += " " + slacktext.Sentence("Cost and risk: "+continued(cost))
	}
	return text
}

// handle are the buttons of the incident itself.
func (p *page) handle(i incident.Incident, o Options) {
	value, fits := button.Value{Key: i.Key, Number: i.Number}.Text()
	if !o.Actions || !fits || i.State == incident.Closed || i.State == incident.Pending {
		return
	}
	var elements []slackgo.BlockElement
	if i.Ack == nil {
		elements = append(elements, newButton(report.Acknowledge, "Acknowledge", value))
	} else {
		elements = append(elements, takeOver(*i.Ack, value))
	}
	if o.muted(i) {
		elements = append(elements, newButton(report.Unmute, "Unmute", value))
	} else {
		elements = append(elements, muteMenu())
	}
	if len(i.RanOut(o.Now)) > 0 {
		elements = append([]slackgo.BlockElement{newButton(report.OfferAgain, "Offer again", value)}, elements...)
	}
	// The menu's choice is read with the value of a button beside it, so one is
	// always there.
	elements = append(elements, newButton(report.CheckAgain, "Check again", value))
	p.blocks = append(p.blocks, slackgo.NewActionBlock(handleID(i), elements...))
}

func muteMenu() slackgo.BlockElement {
	var options []*slackgo.OptionBlockObject
	for _, m := range button.Mutes() {
		options = append(options, slackgo.NewOptionBlockObject(m.Value, label(m.Words), nil))
	}
	return slackgo.NewOptionsSelectBlockElement(slackgo.OptTypeStatic, label("Mute for"), string(report.MuteFor), options...)
}

// handleID is another one each time the menu was used: a client keeps what was chosen
// in a menu as long as the block has the same id. It changes with nothing else, or
// messages would be edited for an invisible id.
func handleID(i incident.Incident) string {
	return "incident-" + strconv.Itoa(i.Number) + "-" + strconv.Itoa(i.Mutes)
}

// takeOver is the button by which another person takes an incident on. It asks
// before: a slip of the hand would take it from who is at it.
func takeOver(a incident.Ack, value string) *slackgo.ButtonBlockElement {
	b := newButton(report.TakeOver, "Take over", value)
	b.Confirm = &slackgo.ConfirmationBlockObject{
		Title: label("Take this over?"), Text: label(slacktext.Clip(nameOf(a.By), 80) + " has it now. The thread will say that you took over."),
		Confirm: label("Take over"), Deny: label("Cancel"),
	}
	return b
}

// changeVerb is what a write call did to a resource: "created rtb-0cd2" for a
// CreateRouteTable, yet "called CreateRoute on rtb-0cd2" for a CreateRoute,
// which made no table. A call that was refused was only tried.
func changeVerb(call, kind string, refused bool) (verb string, named bool) {
	word, object := split(call)
	switch {
	case call == "":
		return "changed", false
	case refused:
		return "tried " + call + " on", true
	case !sameKind(object, kind):
		return "called " + call + " on", true
	}
	return past(word), false
}

// split parts a call into what it does and to what: Create, RouteTable.
func split(call string) (verb, object string) {
	for at, r := range call {
		if at > 0 && unicode.IsUpper(r) {
			return call[:at], call[at:]
		}
	}
	return call, ""
}

// sameKind reports whether the object of a call is the resource itself.
func sameKind(object, kind string) bool {
	kinds := map[string]string{
		"rtb": "RouteTable", "subnet": "Subnet", "nat": "NatGateway", "igw": "InternetGateway", "vpce": "VpcEndpoint", "vpc": "Vpc",
		"sg": "SecurityGroup", "acl": "NetworkAcl", "eni": "NetworkInterface", "i": "Instance", "lt": "LaunchTemplate", "vol": "Volume",
		"eigw": "EgressOnlyInternetGateway", "tgw": "TransitGateway", "pcx": "VpcPeeringConnection", "eipalloc": "Address",
	}
	name := kinds[kind]
	return name != "" && (object == name || object == name+"s")
}

// past is a call's verb as what was done.
func past(verb string) string {
	switch verb = strings.ToLower(verb); verb {
	case "put", "set", "reset":
		return verb
	case "run":
		return "ran"
	case "stop":
		return "stopped"
	case "modify":
		return "modified"
	}
	if strings.HasSuffix(verb, "e") {
		return verb + "d"
	}
	return verb + "ed"
}

const broom = "🧹"

// mostSubnets is how many subnets a cleanup's message lists.
const mostSubnets = 12

// renderCleanup is the message of what eni-cleanup did in a cluster on a day.
func renderCleanup(s report.Summary, c report.Cleanup) slackapi.Message {
	top := cleanupLine(s, c)
	return slackapi.Message{
		Text: slacktext.Notification(top),
		Blocks: slacktext.Fit(func(room int) []slackgo.Block {
			p := newPage(place{s.Partition, s.Region}, s.At, room)
			p.add(p.line().strong(top).section())
			if c.Stopped != nil {
				p.stopped(s, c)
				return p.blocks
			}
			p.returned(c)
			if c.Left > 0 {
				p.add(p.label("Next").plain(slacktext.Count(c.Left, "more interface") + " of terminated nodes " + pick(c.Left == 1, "waits", "wait") +
					" for the next run: the cap (setting cleanupCap) and the time of one run are used up.").section())
			}
			p.kept(c.Kept)
			day := p.line().styled("Counted since 00:00 UTC, last run ", &slackgo.RichTextSectionTextStyle{Italic: true}).clock(s.At)
			day.plain(".")
			if !c.Deletes() {
				day.plain(" Nothing is deleted in dry-run mode: this is what EC2's DryRun would allow.")
			}
			p.add(day.section())
			return p.blocks
		}),
		Tag: SummaryTag(s.ID, ""),
	}
}

// sums are the numbers of all subnets together. A node that had interfaces in
// several of them is one.
func sums(c report.Cleanup) (addresses, interfaces, nodes int) {
	for _, s := range c.Subnets {
		addresses, interfaces, nodes = addresses+s.Addresses, interfaces+s.Interfaces, nodes+s.Nodes
	}
	if c.Nodes > 0 {
		nodes = c.Nodes
	}
	return addresses, interfaces, nodes
}

// cleanupLine is the first line: where, how many came back, of whom.
func cleanupLine(s report.Summary, c report.Cleanup) string {
	where := slacktext.Place(slacktext.Clip(slacktext.OneLine(s.Cluster), 60), s.Whose) + " · "
	vpc := slacktext.Clip(slacktext.OneLine(c.VPC), 40)
	if stop := c.Stopped; stop != nil {
		what := fmt.Sprintf("%s of %s of %s look leaked", slacktext.Number(stop.Candidates), slacktext.Count(stop.Interfaces, "interface"), vpc)
		if !stop.Over.IsZero() {
			return green + " " + where + "the cleanup resumed; it had stopped when " + strings.Replace(what, " look ", " looked ", 1)
		}
		return red + " " + where + "the cleanup stopped and deleted nothing: " + what
	}
	addresses, interfaces, nodes := sums(c)
	if interfaces == 0 {
		return broom + " " + where + pick(!c.Deletes(), "dry run would free no addresses", "nothing to free")
	}
	in := slacktext.Clip(slacktext.OneLine(c.Subnets[0].Subnet), 40)
	if len(c.Subnets) > 1 {
		in = slacktext.Number(len(c.Subnets)) + " subnets"
	}
	of := "; " + slacktext.Count(interfaces, "interface") + " of " + slacktext.Count(nodes, "terminated node")
	if !c.Deletes() {
		return broom + " " + where + "dry run would free " + slacktext.Count(addresses, "address") + " in " + in + of
	}
	return broom + " " + where + slacktext.Count(addresses, "address") + " back in " + in + of
}

// returned lists what came back to each subnet, those that got most first.
func (p *page) returned(c report.Cleanup) {
	list := slices.Clone(c.Subnets)
	slices.SortStableFunc(list, func(a, b report.CleanupSubnet) int { return b.Addresses - a.Addresses })
	if len(list) == 1 {
		s := list[0]
		l := p.label("Now").prose(slacktext.Clip(slacktext.OneLine(s.Subnet), 40)).plain(" has " + slacktext.Count(s.Free, "free address"))
		if !c.Deletes() && s.Addresses > 0 {
			l.plain(", and would have " + slacktext.Number(s.Free+s.Addresses))
		}
		p.add(l.plain(".").section())
		return
	}
	var lines []*line
	for _, s := range list[:min(len(list), mostSubnets)] {
		l := p.line().prose(slacktext.Clip(slacktext.OneLine(s.Subnet), 40))
		if s.Zone != "" {
			l.plain(" in " + slacktext.Clip(slacktext.OneLine(s.Zone), 40))
		}
		lines = append(lines, l.plain(": "+slacktext.Count(s.Addresses, "address")+", "+slacktext.Count(s.Interfaces, "interface")+" of "+slacktext.Count(s.Nodes, "node")+"; "+slacktext.Number(s.Free)+" free now"))
	}
	if left := len(list) - len(lines); left > 0 {
		lines = append(lines, p.line().plain("… and "+slacktext.Count(left, "more subnet")))
	}
	if len(lines) > 0 {
		p.add(p.heading(pick(!c.Deletes(), "Would be freed", "Freed")), bullets(lines...))
	}
}

// kept says which interfaces no run deletes, and why not.
func (p *page) kept(kept map[string]int) {
	const most = 8
	reasons := slices.SortedFunc(maps.Keys(kept), func(a, b string) int {
		if kept[a] != kept[b] {
			return kept[b] - kept[a]
		}
		return strings.Compare(a, b)
	})
	reasons = slices.DeleteFunc(reasons, func(r string) bool { return kept[r] < 1 })
	var lines []*line
	for _, r := range reasons[:min(len(reasons), most)] {
		lines = append(lines, p.line().prose(slacktext.Number(kept[r])+" "+keptBecause(r, kept[r] == 1)))
	}
	if left := len(reasons) - len(lines); left > 0 {
		lines = append(lines, p.line().plain("… and "+slacktext.Count(left, "more reason")))
	}
	if len(lines) > 0 {
		p.add(p.heading("Not touched"), bullets(lines...))
	}
}

// keptBecause is a reason in words, after a number.
func keptBecause(reason string, one bool) string {
	has, is, its := pick(one, "has", "have"), pick(one, "is", "are"), pick(one, "its", "their")
	switch leak.Reason(reason) {
	case leak.Untagged:
		return pick(one, "names", "name") + " no cluster. If all clusters of the VPC are watched, add the VPC to the setting cleanupUntagged; to have new ones tagged, set CLUSTER_NAME on aws-node."
	case leak.Strangers:
		return pick(one, "names", "name") + " no cluster, and a cluster that is not watched has interfaces in the VPC: " + pick(one, "it", "they") + " can belong to that cluster, so cleanupUntagged does not apply. Watch all clusters of the VPC, or set CLUSTER_NAME on aws-node."
	case leak.OtherCluster:
		return pick(one, "belongs", "belong") + " to a cluster that is not watched."
	case leak.OwnerLives:
		return pick(one, "was made by a node that still exists", "were made by nodes that still exist") + " (a stopped one counts)."
	case leak.OwnerUnread:
		return "not checked: EC2 returned no state of " + its + " node."
	case leak.TagsDisagree:
		return has + " a description that names one node, and tags that name another."
	case leak.PublicAddress:
		return has + " an Elastic IP address, which the VPC CNI never assigns: somebody uses " + pick(one, "it", "them") + "."
	case leak.NotByCNI:
		return pick(one, "was", "were") + " not made by the VPC CNI."
	case leak.NoDate:
		return has + " no readable creation date."
	case leak.TooYoung:
		return is + " younger than the grace period (setting cleanupGrace)."
	case leak.NotSeenBefore:
		return pick(one, "was", "were") + " seen by only one run; the next one can delete " + pick(one, "it", "them") + "."
	case leak.RequesterManaged:
		return is + " managed by an AWS service."
	case leak.NotPlain:
		return is + " of another type than the VPC CNI makes."
	case leak.InUse:
		return is + " in use."
	case leak.OtherAccount:
		return pick(one, "belongs", "belong") + " to another account."
	case leak.OtherVPC:
		return is + " in another VPC."
	case leak.Changed:
		return "changed just before the delete."
	case leak.OverCap, leak.OverShare, leak.Leaked:
		return is + " left for a later run."
	}
	return slacktext.Clip(slacktext.OneLine(slacktext.Sentence(colonless(reason))), 120)
}

// colonless is a reason without words here: as it is.
func colonless(reason string) string {
	if reason == "" {
		return "for an unknown reason"
	}
	return "kept: " + reason
}

// stopped says why a run deleted nothing, and what a person has to look at.
func (p *page) stopped(s report.Summary, c report.Cleanup) {
	stop := *c.Stopped
	share := 0
	if stop.Interfaces > 0 {
		share = 100 * stop.Candidates / stop.Interfaces
	}
	if !stop.Over.IsZero() {
		p.add(p.label("Was").plain(fmt.Sprintf("%d %% of the VPC's interfaces; the limit for a run is %d %% (setting cleanupShare). Resumed at ", share, stop.Share)).clock(stop.Over).plain(".").section())
		return
	}
	p.add(p.label("Why").plain(fmt.Sprintf("That is %d %%; the limit for a run is %d %% (setting cleanupShare). That many at once is either a large leak or a mistake. Rollcall checks every 15 minutes and deletes nothing until a person has checked.", share, stop.Share)).section())
	p.add(p.heading("Check"), bullets(
		p.line().plain("Are the nodes that made them gone? This lists the interfaces; each one's description ends in its node's id:"),
	), pre(p.listLeft(c.VPC)))
	p.add(bullets(
		p.line().plain("Do other clusters share ").prose(slacktext.Clip(slacktext.OneLine(c.VPC), 40)).plain("? Their nodes may be in an account that Rollcall cannot read."),
		p.line().plain("Was a large nodegroup deleted today, or was Rollcall only just enabled? Then it is a real leak."),
	))
	p.add(p.label("Do").plain("If all of them are leaked, redeploy with a higher share, and lower it when they are gone. To the arguments of make deploy add:").section(),
		pre(fmt.Sprintf(`SET="cleanupShare=%d"`, min(share+5, 100))))
}

// listLeft is the command that lists what the VPC CNI made and nothing uses.
func (p *page) listLeft(vpc string) string {
	if ids.FindString(vpc) != vpc || !region.MatchString(p.place.region) {
		vpc = shell.Placeholder("VPC")
	}
	return shell.Command("aws", "ec2", "describe-network-interfaces", "--region", p.place.region, "--filters", "Name=vpc-id,Values="+vpc,
		"Name=status,Values=available", "Name=description,Values=aws-K8S-*", "--query", "NetworkInterfaces[].[NetworkInterfaceId,Description]", "--output", "text")
}
