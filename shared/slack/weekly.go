package slack

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	slackgo "github.com/slack-go/slack"

	"rollcall/shared/incident"
	"rollcall/shared/overview"
	"rollcall/shared/report"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/slack/slacktext"
)

// weeklyThread is how many of each list the thread shows at most; the message shows what
// report.Shown says.
const weeklyThread = 25

// weeklyRooms are how much space the foreign texts of a week get, and with it how many lines
// its lists (listed): with the least each list is its count alone. So what must be said fits,
// whatever the clusters are called, and nothing is cut off at the end.
func weeklyRooms() []int {
	return []int{slacktext.WidestRoom, 2000, 1400, 1000, 700, 500, 350, 160, 140}
}

// listed is how many lines a list has.
func (p *page) listed(most int) int { return min(most, p.room/150) }

// part is a reply in a week's thread.
type part int

// The parts.
const (
	ofIncidents part = iota
	ofClusters
	ofBlindSpots
	parts
)

// renderWeekly is the message of a week in all that is watched: the result, what to do next,
// and what could not be looked at come first; the lists have what room there is.
func renderWeekly(s report.Summary) slackapi.Message {
	m, _ := weeklyMessage(s)
	return m
}

// weeklyMessage is the message, and of which parts it leaves something to the thread.
func weeklyMessage(s report.Summary) (_ slackapi.Message, left [parts]bool) {
	w := *s.Period
	top := weeklyLine(w)
	return slackapi.Message{
		Text: slacktext.Notification(top),
		Blocks: slacktext.FitTo(weeklyRooms(), func(room int) []slackgo.Block {
			p := newPage(place{}, s.At, room)
			draw := func(of part, lists func()) {
				p.left = false
				lists()
				left[of] = p.left
			}
			first := p.line()
			first.withClocks(top, true) // our own words, and whole whatever the room
			p.add(first.section())
			p.nextSteps(w)
			draw(ofBlindSpots, func() { p.blindSpots(w, report.ShownUnseen, mostUnread, report.ShownFaults) })
			p.launchesOf(w)
			p.looks(w)
			draw(ofIncidents, func() { p.weeklyIncidents(w, p.listed(report.ShownOpen), p.listed(report.ShownClosed)) })
			left[ofIncidents] = left[ofIncidents] || len(w.Causes) > shownCauses
			draw(ofClusters, func() {
				p.wrongClusters(w, p.listed(report.ShownClusters))
				p.remediesOf(w)
				p.feedbackOf(w)
				p.soonest(w, p.listed(report.ShownSubnets))
				p.quieted(w, p.listed(report.ShownSilences))
			})
			p.add(p.line().styled(daysOf(w)+pick(left == [parts]bool{}, "", " More in the thread."), italic()).section())
			return p.blocks
		}),
		Tag: SummaryTag(s.ID, ""),
	}, left
}

func daysOf(w report.Period) string {
	return "The days from " + w.From.UTC().Format("2 Jan") + " to " + w.To.UTC().Add(-time.Second).Format("2 Jan") + ", in UTC."
}

func italic() *slackgo.RichTextSectionTextStyle {
	return &slackgo.RichTextSectionTextStyle{Italic: true}
}

// blindSpots is what was not looked at, what could not be read, and who refuses what is said:
// at least one of each, and how many more.
func (p *page) blindSpots(w report.Period, unseen, unread, faults int) {
	p.unseen(w, max(p.listed(unseen), 1))
	p.notRead(w, max(p.listed(unread), 1))
	p.faults(w, max(p.listed(faults), 1))
}

// weeklyLine is the first line: which week, how many joined, what is open, what was not seen.
func weeklyLine(w report.Period) string {
	colour := map[report.Verdict]string{report.WeekCritical: red, report.WeekWrong: orange, report.WeekUnseen: white, report.WeekWell: green}[w.Verdict()]
	return colour + " " + weeklyResult(w)
}

// weeklyResult is that line without its colour.
func weeklyResult(w report.Period) string {
	joined := slacktext.Number(w.Launches.Joined) + " of " + slacktext.Count(w.Launches.All, "launch") + " joined"
	if w.Launches.All == 0 {
		joined = "no launches"
	}
	incidents := pick(len(w.Unseen)+len(w.Unread) > 0 || !w.Looks.Since.IsZero(), "no incident seen", "no incidents")
	if w.Seen > 0 {
		incidents = slacktext.Count(w.Seen, "incident") + ", " + pick(w.Open == 0, "none", slacktext.Number(w.Open)) + " open"
	}
	line := "Week of " + w.From.UTC().Format("2 Jan") + ": " + joined + "; " + incidents
	if blind := notLooked(w); blind > 0 {
		line += "; nothing checked for " + slacktext.Span(blind)
	}
	if at := w.Looks.Since; !at.IsZero() {
		line += "; Rollcall has run since " + at.UTC().Format("2 Jan 15:04 UTC")
	}
	return line
}

// notLooked is how long no cluster was looked at.
func notLooked(w report.Period) (sum time.Duration) {
	for _, u := range w.Unseen {
		if u.Reason == report.NothingLooked {
			sum += u.To.Sub(u.From)
		}
	}
	return sum
}

// nextSteps says what to do.
func (p *page) nextSteps(w report.Period) {
	next := w.Next()
	if len(next) == 0 {
		text := "Nothing to do."
		if w.Open > 0 {
			text = "Nothing new to do: every open incident has an owner."
		}
		p.add(p.label("Next").plain(text).section())
		return
	}
	var lines []*line
	for _, n := range next {
		l := p.line()
		switch n.Kind {
		case report.FixIncident:
			l = p.incidentTitle(l.plain("Fix "), *n.Incident).toMessage(w.Site, n.Incident.Channel, n.Incident.TS)
		case report.DecideOnPlans:
			l.plain("Approve or refuse " + slacktext.Count(n.N, "plan") + ": the buttons are under the incidents' messages in Slack.")
		case report.LookWhy:
			l.plain("Find out what was not checked, and why: ").code("rollcall doctor").plain(".")
		case report.FindRoom:
			l.plain("Make room in ").code(n.Subnet.ID).plain(" of " + p.clusterOf(n.Subnet.Cluster, n.Subnet.Whose) + ": at this rate it runs out ")
			if n.Subnet.Empty.After(w.At) {
				l.dated(n.Subnet.Empty)
			} else {
				l.plain("now")
			}
			l.plain(".")
		case report.MendDelivery:
			l.plain("Fix what Slack rejects: ").code("rollcall doctor --test-message").plain(".")
		}
		lines = append(lines, l)
	}
	p.add(p.heading("Next"), bullets(lines...))
}

// clusterOf is a cluster as people name it.
func (p *page) clusterOf(name, whose string) string {
	if name == report.AllClusters {
		name = "all clusters"
	}
	return slacktext.Place(p.shortName(name), p.short(whose, 40))
}

// mostName is how long a cluster's name is at most; EKS allows 100 characters.
const mostName = 60

// shortName is a cluster's name, whose end tells it apart from its neighbours as its
// beginning does: what is left out is in the middle.
func (p *page) shortName(name string) string {
	short := p.short(name, mostName)
	runes, most := []rune(slacktext.OneLine(name)), slacktext.Length(short)
	if !strings.HasSuffix(short, "…") || len(runes) <= most || most < 9 {
		return short
	}
	tail := most / 2
	return slacktext.Clip(name, most-tail) + string(runes[len(runes)-tail:])
}

// short is foreign text in a list: with little room left there is less of it, and never
// text in monospace, each piece of which takes a hundred characters on the wire.
func (p *page) short(text string, most int) string {
	return slacktext.Clip(strings.ReplaceAll(slacktext.OneLine(text), "`", "'"), min(most, max(most/3, p.room/8)))
}

// notRead says what could not be read: it is not taken for nothing.
func (p *page) notRead(w report.Period, most int) {
	list := w.Unread
	var lines []*line
	for _, what := range list[:min(len(list), most)] {
		lines = append(lines, p.line().prose(p.short(what, 200)))
	}
	if len(lines) > 0 {
		p.add(p.heading("Could not be read"), bullets(p.cut(lines, len(list)+w.MoreUnread, "")...))
	}
}

// incidentTitle is an incident's place and title.
func (p *page) incidentTitle(l *line, i report.PeriodIncident) *line {
	place := p.clusterOf(i.Cluster, i.Whose)
	if groups := affected(i.Nodegroups); groups != "" {
		place += " / " + groups
	}
	return l.plain(place + ": ").prose(strings.TrimSuffix(p.short(i.Title, 160), "."))
}

// toMessage links to an incident's message, where it has one.
func (l *line) toMessage(site, channel, ts string) *line {
	if address := permalink(site, channel, ts); address != "" && l.page.links > 0 {
		l.page.links--
		l.plain(" · ").link(address, "message", nil)
	}
	return l
}

// launchesOf says how the launches ended, and how fast.
func (p *page) launchesOf(w report.Period) {
	t := w.Launches
	if t.All == 0 {
		return
	}
	l := p.label("Launches").plain(slacktext.Number(t.Joined) + " joined" + joiningTimes(w.Joining))
	add := func(n int, what string) {
		if n > 0 {
			l.plain("; " + slacktext.Number(n) + " " + what)
		}
	}
	add(t.Failed, "did not join"+causes(w))
	add(t.Reclaimed, "reclaimed by EC2 before they joined")
	add(t.Waiting, "not due yet")
	add(t.Other, "ended by a person, or unclear")
	p.add(l.plain(".").section())
}

// causesOf lists the causes of those that did not join.
func (p *page) causesOf(w report.Period) {
	var lines []*line
	for _, c := range w.Causes[:min(len(w.Causes), max(p.listed(10), 1))] {
		l := p.line().plain(slacktext.Count(c.N, "launch") + ": ")
		if c.Check == "" {
			lines = append(lines, l.plain("no cause found"))
			continue
		}
		lines = append(lines, l.code(string(c.Check)))
	}
	if len(lines) > 0 {
		p.add(p.heading("Why launches did not join"), bullets(p.cut(lines, len(w.Causes), "causes")...))
	}
}

// cut says how many of a list are left out.
func (p *page) cut(lines []*line, all int, what string) []*line {
	left := all - len(lines)
	if left <= 0 {
		return lines
	}
	p.left = true
	if len(lines) == 0 {
		return append(lines, p.line().plain(slacktext.Number(left)+" "+what))
	}
	return append(lines, p.line().plain(strings.TrimSpace("and "+slacktext.Number(left)+" more "+what)))
}

// weeklyIncidents lists those that are open, and those that closed, the worst first.
func (p *page) weeklyIncidents(w report.Period, mostOpen, mostClosed int) {
	var open, closed []*line
	for _, i := range w.Incidents {
		l := p.incidentTitle(p.line(), i)
		if i.Affected > 0 {
			l.plain(", " + slacktext.Count(i.Affected, "launch"))
		}
		if i.Number > 1 {
			l.plain(", the " + slacktext.Ordinal(i.Number) + " time")
		}
		switch {
		case i.IsOpen() && len(open) < mostOpen:
			l.plain("; open for " + slacktext.Span(i.Lasted(w.At)) + states(i))
			open = append(open, l.toMessage(w.Site, i.Channel, i.TS))
		case !i.IsOpen() && len(closed) < mostClosed:
			closed = append(closed, l.plain("; open for "+slacktext.Span(i.Lasted(w.At))+endingOf(i)).toMessage(w.Site, i.Channel, i.TS))
		}
	}
	if w.Open > 0 {
		p.add(p.heading("Open now"), bullets(p.cut(open, w.Open, "open")...))
	}
	if n := w.Seen - w.Open; n > 0 {
		p.add(p.heading("Closed"), bullets(p.cut(closed, n, "closed")...))
	}
}

// mostFeedback is how many checks the feedback names.
const mostFeedback = 5

// feedbackOf says of which checks people said that they were right or wrong, the worst first.
func (p *page) feedbackOf(w report.Period) {
	if len(w.Feedback) == 0 {
		return
	}
	l := p.label("Was it right?")
	for i, c := range w.Feedback[:min(len(w.Feedback), mostFeedback)] {
		l.plain(pick(i > 0, "; ", "")).code(p.short(string(c.Check), 60)).plain(": " + feedbackCounts(c.Right, c.Wrong, c.NotUseful))
	}
	if left := len(w.Feedback) - mostFeedback; left > 0 {
		l.plain("; and " + slacktext.Count(left, "more check"))
	}
	p.add(l.plain(".").section())
}

// states says what people did about an incident.
func states(i report.PeriodIncident) string {
	var list []string
	for _, s := range []struct {
		yes   bool
		words string
	}{{i.Acked, "acknowledged"}, {i.Muted, "muted"}, {i.Silenced, "silenced"}, {i.Approval, "a plan waits for approval"}} {
		if s.yes {
			list = append(list, s.words)
		}
	}
	if len(list) == 0 {
		return ""
	}
	return " (" + strings.Join(list, ", ") + ")"
}

// endingOf says how a closed incident ended, where that is no good end.
func endingOf(i report.PeriodIncident) string {
	switch incident.Resolution(i.Ending) {
	case incident.GivenUpOn:
		return ", still failing when checking ended"
	case incident.Unproved:
		return ", not confirmed by a new node"
	case incident.Unseen:
		return ", no longer checked"
	case incident.ClusterDeleted:
		return ", the cluster was deleted"
	}
	return ""
}

// wrongClusters lists the clusters with something wrong.
func (p *page) wrongClusters(w report.Period, most int) {
	all := len(w.Wrong) + w.MoreWrong
	if all < 2 { // one says nothing that the incidents do not
		return
	}
	var lines []*line
	for _, c := range w.Wrong[:min(len(w.Wrong), most)] {
		l := p.line().strong(p.clusterOf(c.Cluster, c.Whose)).plain(": ")
		var parts []string
		if c.Launches.Failed > 0 {
			parts = append(parts, slacktext.Number(c.Launches.Failed)+" of "+slacktext.Count(c.Launches.All, "launch")+" did not join")
		}
		if c.Seen > 0 {
			parts = append(parts, slacktext.Count(c.Seen, "incident")+pick(c.Open > 0, fmt.Sprintf(", %d open", c.Open), ""))
		}
		lines = append(lines, l.plain(strings.Join(parts, "; ")))
	}
	p.add(p.line().strong("Clusters").plain(fmt.Sprintf(" with something wrong: %s of %s", slacktext.Number(all), slacktext.Number(max(w.Clusters, all)))).section(), bullets(p.cut(lines, all, "clusters")...))
}

// remediesOf says what remedies and the cleanup did.
func (p *page) remediesOf(w report.Period) {
	var parts []string
	for _, r := range w.Remedies {
		name, times := slacktext.Clip(slacktext.OneLine(r.Remedy), 40), pick(r.N == 1, "", " "+slacktext.Count(r.N, "time"))
		switch r.Came {
		case report.RemedyHelped:
			parts = append(parts, name+" helped"+times)
		case report.RemedyUnhelpful:
			parts = append(parts, name+" was done and did not help"+times)
		case report.RemedyUnverified:
			parts = append(parts, name+" was done"+times+", not verified yet")
		case report.RemedyNotDone:
			parts = append(parts, name+" was not done"+times)
		case report.RemedyWaits:
			parts = append(parts, name+" waits for approval"+times)
		}
	}
	if f := w.Freed; f.Interfaces > 0 {
		parts = append(parts, "eni-cleanup freed "+slacktext.Count(f.Addresses, "address")+" of "+slacktext.Count(f.Interfaces, "interface"))
	}
	if len(parts) > 0 {
		l := p.label("Remedies")
		for i, part := range parts { // each by itself: a long line is cut to the room
			l.prose(part).plain(pick(i < len(parts)-1, "; ", "."))
		}
		p.add(l.section())
	}
}

// renderWeeklyDetails are the replies in its thread: the lists that the message has no room
// for at length, each reply as large as Slack takes it.
func renderWeeklyDetails(s report.Summary) []slackapi.Message {
	w := *s.Period
	_, left := weeklyMessage(s)
	var list []slackapi.Message
	for of, part := range [parts]struct {
		top  string
		draw func(*page)
	}{
		ofIncidents: {"The week's incidents:", func(p *page) {
			p.causesOf(w)
			p.weeklyIncidents(w, p.listed(weeklyThread), p.listed(weeklyThread))
		}},
		ofClusters: {"The week's clusters, addresses and silences:", func(p *page) {
			p.wrongClusters(w, p.listed(weeklyThread))
			p.soonest(w, p.listed(weeklyThread))
			p.quieted(w, p.listed(weeklyThread))
		}},
		ofBlindSpots: {"What Rollcall could not check, read or post:", func(p *page) { p.blindSpots(w, weeklyThread, weeklyThread, weeklyThread) }},
	} {
		if !left[of] {
			continue
		}
		list = append(list, slackapi.Message{
			Text: slacktext.Notification(part.top),
			Blocks: slacktext.FitTo(weeklyRooms(), func(room int) []slackgo.Block {
				p := newPage(place{}, s.At, room)
				p.add(p.line().strong(part.top).section())
				if part.draw(p); p.left {
					p.add(p.line().plain("What is not listed: ").code("rollcall incidents").plain(", or of one cluster ").code("/rollcall report 7d cluster=NAME").plain(".").section())
				}
				return p.blocks
			}),
			Tag: SummaryTag(s.ID, detailsNote(len(list))),
		})
	}
	return list
}

// detailsNote is the note of a reply with details, the first of which is 0.
func detailsNote(i int) string {
	if i == 0 {
		return DetailsNote
	}
	return fmt.Sprintf("%s-%d", DetailsNote, i+1)
}

// soonest lists the subnets that run out first: where none does, the one that has least.
func (p *page) soonest(w report.Period, most int) {
	var lines []*line
	for _, s := range w.Soonest[:min(len(w.Soonest), most)] {
		if s.Empty.IsZero() && len(lines) > 0 {
			break
		}
		l := p.line().plain(p.clusterOf(s.Cluster, s.Whose) + ", ").code(s.ID)
		if s.Zone != "" {
			l.plain(" in " + slacktext.Clip(slacktext.OneLine(s.Zone), 40))
		}
		l.plain(": " + slacktext.Number(s.Free) + pick(s.Total > 0, " of "+slacktext.Number(s.Total), "") + " addresses free")
		switch {
		case s.Empty.IsZero():
			l.plain(", and no other is running out")
		case s.Empty.After(w.At):
			l.plain(", runs out ").dated(s.Empty)
		default:
			l.plain(", has run out")
		}
		lines = append(lines, l)
	}
	if n := len(lines); n < len(w.Soonest) && !w.Soonest[n].Empty.IsZero() {
		p.left = true
	}
	if len(lines) == 1 && w.Soonest[0].Empty.IsZero() {
		s := w.Soonest[0]
		p.add(p.label("Addresses").plain("No subnet is running out; the fewest are free in ").code(s.ID).
			plain(" of " + p.clusterOf(s.Cluster, s.Whose) + ": " + slacktext.Number(s.Free) + pick(s.Total > 0, " of "+slacktext.Number(s.Total), "") + ".").section())
		return
	}
	if len(lines) > 0 {
		p.add(p.heading("Addresses"), bullets(lines...))
	}
}

// quieted lists what is silenced.
func (p *page) quieted(w report.Period, most int) {
	var lines []*line
	for _, s := range w.Silences[:min(len(w.Silences), most)] {
		s.Reason = p.short(s.Reason, 200)
		lines = append(lines, p.silence(p.line(), s.Silence, p.short(s.Whose, 40)))
	}
	if w.Silenced > 0 {
		p.add(p.heading("Silenced"), bullets(p.cut(lines, w.Silenced, "silences")...))
	}
}

// looks is the proof that the week was looked at.
func (p *page) looks(w report.Period) {
	if w.Looks.Made == 0 && w.Looks.Unnoted == 0 {
		return
	}
	l := p.label("Checks").plain(slacktext.Number(w.Looks.Made) + " in " + slacktext.Count(w.Clusters, "cluster"))
	if !w.Gaps() {
		l.plain(", never more than " + slacktext.Span(overview.Late) + " apart")
	}
	if w.Looks.New > 0 && w.Looks.Since.IsZero() {
		l.plain("; " + slacktext.Number(w.Looks.New) + " of them new this week")
	}
	if w.Looks.Unnoted > 0 {
		l.plain("; none recorded of " + slacktext.Count(w.Looks.Unnoted, "cluster"))
	}
	if w.LeftOut > 0 {
		l.plain("; " + slacktext.Count(w.LeftOut, "cluster") + " left out for lack of time: ").code("/rollcall report 7d cluster=NAME")
	}
	p.add(l.plain(".").section())
}

// unseen lists what could not be read.
func (p *page) unseen(w report.Period, most int) {
	var lines []*line
	for _, u := range w.Unseen[:min(len(w.Unseen), most)] {
		lines = append(lines, p.notSeen(u, w))
	}
	if len(lines) > 0 {
		p.add(p.heading("Not checked"), bullets(p.cut(lines, len(w.Unseen)+w.MoreUnseen, "")...))
	}
}

// notSeen is one thing that was not looked at, and why.
func (p *page) notSeen(u report.Unseen, w report.Period) *line {
	l := p.line()
	span := func() *line {
		if u.Still {
			return l.plain(" since ").dated(u.From)
		}
		return l.plain(" for " + slacktext.Span(u.To.Sub(u.From)) + " from ").dated(u.From)
	}
	share := slacktext.Number(u.N) + " of " + slacktext.Count(u.Of, "check")
	switch u.Reason {
	case report.NothingLooked:
		l.strong("No cluster was checked")
		return span().plain(": sweeps did not run. Only events were processed then.")
	case report.SpokeUnseen:
		l.strong(p.clusterOf(slacktext.Count(u.Clusters, "cluster"), u.Whose)).plain(": not checked")
		return span().plain(": the account may have denied Rollcall access")
	case report.SpokeUnknown:
		return l.strong(p.short(u.Whose, 60)).plain(": no cluster there was ever checked: there is none, or Rollcall has no access")
	case report.ClusterUnseen:
		l.strong(p.clusterOf(u.Cluster, u.Whose)).plain(": not checked")
		return span()
	case report.ClusterStopped:
		l.strong(p.clusterOf(u.Cluster, u.Whose)).plain(": not checked")
		return span().plain(", while others were: deleted, or no longer in the settings?")
	case report.APISilent:
		return l.strong(p.clusterOf(u.Cluster, u.Whose)).plain(": its Kubernetes API did not respond in " + share)
	case report.PartFailed:
		return l.strong(p.clusterOf(u.Cluster, u.Whose)).plain(": a part failed in " + share + "; the errors are in sweep's log")
	}
	l.strong(p.clusterOf(u.Cluster, u.Whose)).plain(": ").prose(strings.TrimSuffix(p.short(u.Says, 160), "."))
	return l.plain(pick(u.Still, "", " (over)")).toMessage(w.Site, u.Channel, u.TS)
}

// faults lists who refuses what Rollcall says.
func (p *page) faults(w report.Period, most int) {
	var lines []*line
	for _, f := range w.Faults[:min(len(w.Faults), most)] {
		lines = append(lines, p.line().strong(p.clusterOf(f.Cluster, f.Whose)).plain(": ").code(p.short(f.Target, 80)).
			plain(" rejects posts ("+p.short(f.Code, 60)+") since ").dated(f.Since))
	}
	if len(lines) > 0 {
		p.add(p.heading("Rollcall's own faults"), bullets(p.cut(lines, len(w.Faults)+w.MoreFaults, "faults")...))
	}
}

// maxWeekWords is how large the words of a week may be, as JSON: a mail for people.
const maxWeekWords = 40_000

// weeklyLines is how many lines a list has there at most: a mail has no thread.
const weeklyLines = 10

// WeekEvent is the event of a week, with its words.
func WeekEvent(s report.Summary) incident.Week { return incident.NewWeek(s, WeekWords(s)) }

// WeekWords are a week's message as plain text, for those who hear of it elsewhere than in
// Slack, made by the same functions: counts and what to do before the lists, as a card of Teams
// may have no room for all of these. Times are in UTC. A line without text
// begins a list, the lines of which have no label.
func WeekWords(s report.Summary) incident.Words {
	w := *s.Period
	p := newPage(place{}, s.At, slacktext.WidestRoom)
	p.links = 0
	p.nextSteps(w)
	p.launchesOf(w)
	p.looks(w)
	p.blindSpots(w, report.ShownUnseen, mostUnread, report.ShownFaults)
	p.weeklyIncidents(w, weeklyLines, weeklyLines)
	p.wrongClusters(w, weeklyLines)
	p.remediesOf(w)
	p.feedbackOf(w)
	p.soonest(w, weeklyLines)
	p.quieted(w, weeklyLines)
	p.causesOf(w)
	p.add(p.label("Days").plain(daysOf(w)).section())
	return incident.Words{Headline: weeklyResult(w), Lines: fittingLines(plainLines(p.blocks, people(w)), maxWeekWords)}
}

// people are the names of those whom a message mentions.
func people(w report.Period) map[string]string {
	names := map[string]string{}
	for _, s := range w.Silences {
		names[s.By.ID] = slacktext.Clip(slacktext.OneLine(s.By.Name), 60)
	}
	return names
}

// fittingLines are the lines that fit, and how many do not.
func fittingLines(lines []incident.Line, most int) []incident.Line {
	size := 0
	for i, l := range lines {
		text, err := json.Marshal(l)
		if size += len(text) + 1; err != nil || size > most {
			return append(lines[:i:i], incident.Line{Text: "and " + slacktext.Count(len(lines)-i, "more line")})
		}
	}
	return lines
}

// plainLines reads blocks of rich text as lines.
func plainLines(blocks []slackgo.Block, people map[string]string) (lines []incident.Line) {
	for _, b := range blocks {
		rich, ok := b.(*slackgo.RichTextBlock)
		if !ok {
			continue
		}
		for _, part := range rich.Elements {
			switch part := part.(type) {
			case *slackgo.RichTextSection:
				label, text := labelled(part.Elements, people)
				lines = append(lines, incident.Line{Label: label, Text: text})
			case *slackgo.RichTextList:
				for _, item := range part.Elements {
					if one, ok := item.(*slackgo.RichTextSection); ok {
						lines = append(lines, incident.Line{Text: plainText(one.Elements, people)})
					}
				}
			}
		}
	}
	return lines
}

// labelled parts the bold word that begins a paragraph from the rest.
func labelled(items []slackgo.RichTextSectionElement, people map[string]string) (label, text string) {
	if len(items) == 0 {
		return "", ""
	}
	return plainText(items[:1], people), plainText(items[1:], people)
}

// plainText is rich text without its styles; times in UTC.
func plainText(items []slackgo.RichTextSectionElement, people map[string]string) string {
	var b strings.Builder
	for _, item := range items {
		switch item := item.(type) {
		case *slackgo.RichTextSectionTextElement:
			b.WriteString(item.Text)
		case *slackgo.RichTextSectionLinkElement:
			b.WriteString(item.Text)
		case *slackgo.RichTextSectionDateElement:
			b.WriteString(time.Unix(int64(item.Timestamp), 0).UTC().Format("2 Jan 15:04 UTC"))
		case *slackgo.RichTextSectionUserElement:
			b.WriteString(cmp.Or(people[item.UserID], item.UserID))
		}
	}
	return strings.TrimSpace(b.String())
}
