package slack

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	slackgo "github.com/slack-go/slack"

	"rollcall/shared/catalog"
	"rollcall/shared/checkid"
	"rollcall/shared/node/spotreport"
	"rollcall/shared/outbox"
	"rollcall/shared/report"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/slack/slacktext"
)

// What a summary's message shows at most: it is to be read in ten seconds, the
// rest is in its thread.
const (
	mostWhys    = 2
	mostOpen    = 3
	mostRuled   = 6
	mostChanges = 3
	mostPools   = 5
	// maxSays is for one sentence, maxRuled for what is meant to be one line on a
	// desk's screen: 110 characters, and as much again for names that are long.
	maxSays  = 320
	maxRuled = 220
)

// DetailsNote is the note of the reply that has a summary's details.
const DetailsNote = "details"

// SummaryTag marks a summary's message, or its reply.
func SummaryTag(id, note string) slackapi.Tag { return slackapi.Tag{Key: "summary|" + id, Note: note} }

// RenderSummary is a summary's message, with its picture or the reason why it
// has none.
func RenderSummary(s report.Summary, picture outbox.Picture) slackapi.Message {
	if s.Kind == report.WeeklySummary {
		return renderWeekly(s)
	}
	if s.Kind == report.CleanupSummary {
		c := report.Cleanup{}
		if s.Cleanup != nil {
			c = *s.Cleanup
		}
		return renderCleanup(s, c)
	}
	top := summaryLine(s)
	return slackapi.Message{
		Text: slacktext.Notification(top),
		Blocks: slacktext.Fit(func(room int) []slackgo.Block {
			p := newPage(place{s.Partition, s.Region}, s.At, room)
			p.add(p.line().strong(top).section())
			if s.Quiet() {
				return p.blocks
			}
			p.whys(s.Spot)
			p.ruledOut(s.Spot.Explanations)
			p.changes(s.Spot.Change)
			p.worst(s.Spot.Pools)
			p.picture(picture, top)
			p.add(p.line().styled("All pools, bursts and assumptions: in the thread", &slackgo.RichTextSectionTextStyle{Italic: true}).section())
			return p.blocks
		}),
		Tag: SummaryTag(s.ID, ""),
	}
}

// summaryLine is the first line: where, since when, how many, and what most of
// them have in common.
func summaryLine(s report.Summary) string {
	f, failed := s.Spot.Spot, s.Failed()
	where := slacktext.Place(slacktext.Clip(slacktext.OneLine(s.Cluster), 60), s.Whose) + " · Spot in the last " + long(s.Spot.To.Sub(s.Spot.From)) + ": "
	if s.Quiet() {
		return quietColour(f) + " " + where + quiet(f) + slowest(s.Slowest)
	}
	what := fmt.Sprintf("%s of %s did not join", slacktext.Number(failed), slacktext.Count(f.Requested, "launch"))
	if shared := common(s.Spot, failed); shared != "" {
		what += ", " + shared
	}
	return orange + " " + where + what // never red: what is urgent has an incident of its own
}

// long is the time of a report: "24 h", "7 days".
func long(d time.Duration) string {
	const day = 24 * time.Hour
	if d > 2*day && d%day == 0 {
		return slacktext.Count(int(d/day), "day")
	}
	return slacktext.Span(d)
}

// common is what at least half of the failures have in common.
func common(r spotreport.Report, failed int) string {
	of := func(n int) string {
		if n >= failed {
			return pick(failed == 1, "", "all of them ")
		}
		return slacktext.Number(n) + " of them "
	}
	most := func(n int) bool { return n > 0 && 2*n >= failed }
	inBursts, bursts, inPools, pools := 0, 0, 0, []spotreport.Pool{}
	for _, b := range r.Bursts {
		if b.Exceeds() && b.Failed > 0 {
			inBursts += b.Failed
			bursts++
		}
	}
	zones, worst := map[string]int{}, ""
	for _, p := range r.Pools {
		n := report.Failed(p.Funnel)
		if !p.Spot || n == 0 {
			continue
		}
		if p.Failing {
			inPools += n
			pools = append(pools, p)
		}
		if zones[p.Zone] += n; zones[p.Zone] > zones[worst] || zones[p.Zone] == zones[worst] && p.Zone < worst {
			worst = p.Zone
		}
	}
	switch {
	case most(inBursts):
		return of(inBursts) + pick(bursts == 1, "in one burst", fmt.Sprintf("in %s bursts", slacktext.Number(bursts)))
	case most(inPools) && len(pools) == 1:
		return of(inPools) + poolName(pools[0])
	case most(inPools):
		return of(inPools) + "in " + slacktext.Number(len(pools)) + " pools"
	case most(r.Spot.Reclaimed):
		return of(r.Spot.Reclaimed) + "reclaimed by EC2"
	case most(r.Spot.Refused):
		return of(r.Spot.Refused) + "refused by EC2"
	case worst != "" && len(zones) > 0 && 10*zones[worst] >= 9*failed:
		return of(zones[worst]) + "in " + slacktext.Clip(slacktext.OneLine(worst), 40)
	}
	return ""
}

func poolName(p spotreport.Pool) string {
	return slacktext.Clip(slacktext.OneLine(cmp.Or(p.Type, "type unknown")), 40) + " in " + slacktext.Clip(slacktext.OneLine(cmp.Or(p.Zone, "zone unknown")), 40)
}

func quietColour(f spotreport.Funnel) string {
	if f.Unknown > 0 {
		return white
	}
	return green
}

// quiet is the first line where nothing failed.
func quiet(f spotreport.Funnel) string {
	if f.Joined == f.Requested {
		return pick(f.Requested == 1, "1 launch, joined", slacktext.Count(f.Requested, "launch")+", all joined")
	}
	parts := []string{slacktext.Number(f.Joined) + " joined"}
	add := func(n int, words string) {
		if n > 0 {
			parts = append(parts, slacktext.Number(n)+" "+words)
		}
	}
	add(f.Open, "not due yet")
	add(f.Terminated, "ended on purpose")
	add(f.Unknown, "with unknown outcome")
	return slacktext.Count(f.Requested, "launch") + ", none failed: " + strings.Join(parts, ", ")
}

func slowest(s *report.Slowest) string {
	if s == nil || s.Joined == 0 {
		return ""
	}
	return "; slowest pool " + poolName(spotreport.Pool{Type: s.Type, Zone: s.Zone}) + ", " + slacktext.Span(s.Median)
}

func (p *page) changes(list []string) {
	var lines []*line
	for _, c := range list[:min(len(list), mostChanges)] {
		if c = slacktext.OneLine(c); c != "" {
			lines = append(lines, p.line().prose(slacktext.Sentence(slacktext.Clip(c, min(maxSays, p.room)))))
		}
	}
	if len(lines) > 0 {
		p.add(p.heading("Change"), bullets(lines...))
	}
}

// picture shows the chart, or says why it does not.
func (p *page) picture(picture outbox.Picture, alt string) {
	switch {
	case picture.Missing != "":
		p.add(p.label("No picture").plain(slacktext.Sentence(slacktext.Clip(slacktext.OneLine(picture.Missing), 300))).section())
	case picture.File != "":
		p.blocks = append(p.blocks, slackgo.NewImageBlockSlackFile(&slackgo.SlackFileObject{ID: picture.File}, slacktext.Clip(alt, slackapi.MaxAlt), "", nil))
	}
}

// The most lines of the lists in a summary's thread.
const (
	mostBursts    = 8
	mostJudged    = 20
	mostExplained = 12
)

// RenderSummaryDetails are the replies in a summary's thread: how each
// explanation was weighed, the bursts with their arithmetic, all pools with
// their intervals, and what was assumed; of a week, its lists.
func RenderSummaryDetails(s report.Summary) []slackapi.Message {
	if s.Kind == report.WeeklySummary {
		return renderWeeklyDetails(s)
	}
	const top = "How each explanation was weighed:"
	return []slackapi.Message{{
		Text: slacktext.Notification(top),
		Blocks: slacktext.Fit(func(room int) []slackgo.Block {
			p := newPage(place{s.Partition, s.Region}, s.At, room)
			p.weighed(s.Spot.Explanations)
			p.bursts(s.Spot.Bursts)
			var pools []string
			for _, pool := range s.Spot.Pools {
				pools = append(pools, judged(pool))
			}
			p.entries(p.line().strong("Pools").plain(", ").dated(s.Spot.From).plain(" to ").dated(s.Spot.To).section(),
				pools, len(pools)+s.MorePools, mostJudged, "pool")
			p.assumed(s.Spot.Assumed)
			return p.blocks
		}),
		Tag: SummaryTag(s.ID, DetailsNote),
	}}
}

// weighed are all explanations, with the verdict on each.
func (p *page) weighed(list []spotreport.Explanation) {
	var lines []*line
	for _, e := range list[:min(len(list), mostExplained)] {
		l := p.line().styled(slacktext.Clip(slacktext.OneLine(string(e.Verdict)), 40), &slackgo.RichTextSectionTextStyle{Bold: true}).
			plain(colon(slacktext.Clip(slacktext.OneLine(named(e)), 160)) + ". ").prose(slacktext.Sentence(slacktext.Clip(begin(slacktext.OneLine(e.Says)), min(maxSays, max(p.room/4, 120)))))
		if e.Check != "" && !strings.Contains(e.Name, string(e.Check)) {
			l.plain(" ").styled(slacktext.Clip(slacktext.OneLine(string(e.Check)), 60), &slackgo.RichTextSectionTextStyle{Italic: true})
		}
		lines = append(lines, l)
	}
	if len(lines) > 0 {
		p.add(p.heading("How each explanation was weighed"), bullets(lines...))
		return
	}
	p.add(p.heading("How each explanation was weighed"), p.line().plain("None: too little data.").section())
}

// bursts are what the bursts asked for, and what there was, each shown whole or
// not at all.
func (p *page) bursts(list []spotreport.Burst) {
	parts := []slackgo.RichTextElement{p.heading("Bursts")}
	used := 0
	for i, b := range list {
		sum := arithmetic(b)
		if used += slacktext.Length(sum) + 100; i > 0 && used > p.room || i == mostBursts {
			parts = append(parts, p.line().plain("… and "+slacktext.Count(len(list)-i, "more burst")+" left out here").section())
			break
		}
		within := ""
		if d := b.Last.Sub(b.Began); d >= time.Second {
			within = " within " + slacktext.Span(d)
		}
		l := p.line().clock(b.Began).plain(": " + slacktext.Count(b.Launches, "launch") + within + " in ").prose(slacktext.Clip(slacktext.OneLine(b.Subnet), 60))
		if groups := slacktext.Few(slacktext.Distinct(b.Nodegroups...), 4, 30); groups != "" {
			l.plain(", of " + groups)
		}
		parts = append(parts, l.section(), pre(sum))
	}
	if len(list) > 0 {
		p.add(parts...)
	}
}

// arithmetic is the terms of a burst and their sum.
func arithmetic(b spotreport.Burst) string {
	var lines []string
	for _, t := range b.ByType() {
		lines = append(lines, slacktext.Clip(slacktext.OneLine(t), 60))
	}
	had := "its free addresses were not read"
	if b.HadKnown {
		had = "had " + slacktext.Number(b.Had)
		if b.Total > 0 {
			had += " of " + slacktext.Number(b.Total)
		}
	}
	last := "needed " + slacktext.Number(b.Demand) + ", " + had
	if b.Failed > 0 {
		last += "; " + slacktext.Number(b.Failed) + " failed"
	}
	return strings.Join(append(lines, last), "\n")
}

// entries is a list in monospace; each entry is shown whole or not at all.
func (p *page) entries(heading slackgo.RichTextElement, list []string, total, most int, what string) {
	var b strings.Builder
	shown := 0
	for _, e := range list[:min(len(list), most)] {
		if shown > 0 && slacktext.Length(b.String())+slacktext.Length(e) > p.room {
			break
		}
		b.WriteString(slacktext.Clip(e, slacktext.MaxPiece-100) + "\n")
		shown++
	}
	if shown == 0 {
		return
	}
	if left := total - shown; left > 0 {
		b.WriteString("… and " + slacktext.Count(left, "more "+what) + " left out here")
	}
	p.add(heading, pre(strings.TrimRight(b.String(), "\n")))
}

func (p *page) assumed(list []string) {
	const most = 8
	var lines []*line
	for _, a := range list[:min(len(list), most)] {
		if a = slacktext.OneLine(a); a != "" {
			lines = append(lines, p.line().prose(slacktext.Sentence(slacktext.Clip(a, min(maxSays, max(p.room/2, 120))))))
		}
	}
	if len(lines) > 0 {
		p.add(p.heading("Assumed"), bullets(lines...))
	}
}

// worst is a small table of the pools that do worst.
func (p *page) worst(pools []spotreport.Pool) {
	var bad []spotreport.Pool
	for _, pool := range pools {
		if pool.Spot && report.Failed(pool.Funnel) > 0 {
			bad = append(bad, pool)
		}
	}
	if len(bad) == 0 {
		return
	}
	rows := p.fitting(bad[:min(len(bad), mostPools)])
	text := strings.Join(rows, "\n")
	if head := rows[0] + " "; strings.Contains(head, " recl ") || strings.Contains(head, " ref ") {
		text += "\nrecl: reclaimed by EC2, ref: refused"
	}
	if left := len(bad) - mostPools; left > 0 {
		text += "\n… and " + slacktext.Count(left, "more pool") + " with failures"
	}
	p.add(p.heading("Worst pools"), pre(text))
}

// phone is how many characters of monospace a phone shows beside each other
// (Slack on a screen of 390 pixels: 42).
const phone = 40

// fitting are the pools' numbers so that a phone does not wrap them: with
// shorter words, without those that were lost, with shorter names of types, the
// first of these that is narrow enough.
func (p *page) fitting(pools []spotreport.Pool) []string {
	var rows []string
	for _, with := range []tableWords{
		{"failed", "reclaimed", "refused", true, 18}, {"fail", "recl", "ref", true, 18}, {"fail", "recl", "ref", false, 18}, {"fail", "recl", "ref", false, 10},
	} {
		rows = p.counts(pools, with)
		if !slices.ContainsFunc(rows, func(row string) bool { return utf8.RuneCountInString(row) > phone }) {
			break
		}
	}
	return rows
}

// tableWords is how much a table says.
type tableWords struct {
	failed, reclaimed, refused string

	lost bool
	kind int // characters for an instance type
}

// counts are pools with their numbers, in columns; those that are zero
// everywhere are left out. Zones are written without the region that all of
// them share.
func (p *page) counts(pools []spotreport.Pool, with tableWords) []string {
	area := p.place.region[:strings.LastIndex(p.place.region, "-")+1]
	type column struct {
		head string
		of   func(spotreport.Pool) string
		all  bool
	}
	columns := []column{
		{"", func(p spotreport.Pool) string {
			return slacktext.Clip(slacktext.OneLine(cmp.Or(p.Type, "type unknown")), with.kind)
		}, true},
		{"", func(p spotreport.Pool) string {
			return slacktext.Clip(slacktext.OneLine(cmp.Or(strings.TrimPrefix(p.Zone, area), "zone unknown")), 16)
		}, true},
		{"joined", func(p spotreport.Pool) string {
			return slacktext.Number(p.Joined) + "/" + slacktext.Number(p.Requested)
		}, true},
		{with.failed, func(p spotreport.Pool) string { return slacktext.Number(p.NotJoined) }, false},
		{with.reclaimed, func(p spotreport.Pool) string { return slacktext.Number(p.Reclaimed) }, false},
		{with.refused, func(p spotreport.Pool) string { return slacktext.Number(p.Refused) }, false},
	}
	if with.lost {
		columns = append(columns, column{"lost", func(p spotreport.Pool) string { return slacktext.Number(p.Lost) }, false})
	}
	lines := make([]string, len(pools)+1)
	for i, c := range columns {
		cells := []string{c.head}
		there := c.all
		for _, p := range pools {
			cells = append(cells, c.of(p))
			there = there || c.of(p) != "0"
		}
		if !there {
			continue
		}
		left := i < 2
		for k, cell := range aligned(cells, left) {
			if i > 0 {
				lines[k] += " "
			}
			lines[k] += cell
		}
	}
	for k := range lines {
		lines[k] = strings.TrimRight(lines[k], " ")
	}
	return lines
}

// aligned makes cells equally wide.
func aligned(cells []string, left bool) []string {
	width := 0
	for _, c := range cells {
		width = max(width, utf8.RuneCountInString(c))
	}
	out := make([]string, len(cells))
	for i, c := range cells {
		gap := strings.Repeat(" ", width-utf8.RuneCountInString(c))
		out[i] = gap + c
		if left {
			out[i] = c + gap
		}
	}
	return out
}

// widestInterval is from when on an interval says nothing: "1 of 5 joined, 2 % to 100 %"
// is a riddle beside the 1 of 5.
const widestInterval = 0.5

// judged is a pool with what the test made of it, for the thread.
func judged(p spotreport.Pool) string {
	words := []string{slacktext.Clip(slacktext.OneLine(cmp.Or(p.Type, "type unknown")), 24), slacktext.Clip(slacktext.OneLine(cmp.Or(p.Zone, "zone unknown")), 24)}
	if !p.Spot {
		words = append(words, "on demand")
	}
	lines := []string{strings.Join(words, " ")}
	numbers := fmt.Sprintf("%s of %s joined", slacktext.Number(p.Joined), slacktext.Number(p.Requested))
	if p.High > p.Low && p.High-p.Low <= widestInterval {
		numbers += fmt.Sprintf(", 95 %% interval %s to %s", percent(p.Low), percent(p.High))
	}
	lines = append(lines, "  "+numbers)
	var ends []string
	add := func(n int, what string) {
		if n > 0 {
			ends = append(ends, slacktext.Number(n)+" "+what)
		}
	}
	add(p.NotJoined, "not joined")
	add(p.Reclaimed, "reclaimed")
	add(p.Refused, "refused")
	add(p.Lost, "lost within 1 h")
	add(p.Terminated, "ended on purpose")
	add(p.Unknown, "unknown")
	add(p.Open, "open")
	if len(ends) > 0 {
		lines = append(lines, "  "+strings.Join(ends, ", "))
	}
	for _, c := range p.Causes[:min(len(p.Causes), 3)] {
		lines = append(lines, "  "+slacktext.Number(c.Count)+" × "+slacktext.Clip(slacktext.OneLine(c.Name), 40))
	}
	if p.Failing {
		lines = append(lines, "  fails by more than chance"+colon(chance(p.P)))
	}
	return strings.Join(lines, "\n")
}

func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

// chance is how likely it is that a pool does as badly as this for no reason.
func chance(p float64) string {
	switch {
	case p <= 0 || p > 1:
		return ""
	case p < 1e-6:
		return "under 1 in 1,000,000"
	}
	return "1 in " + slacktext.Number(int(1/p))
}

// whys are the explanations that the numbers support; without one, what they
// leave open.
func (p *page) whys(r spotreport.Report) {
	supported, open := withVerdict(r.Explanations, spotreport.Supported), withVerdict(r.Explanations, spotreport.Open)
	for i, e := range supported[:min(len(supported), mostWhys)] {
		l := p.explained(pick(i == 0, "Why", "And"), e)
		if e.Check == checkid.SpotBurstExceedsSubnet {
			l.firstOf(r.Bursts)
		}
		p.add(l.section())
	}
	switch {
	case len(supported) > 0:
	case len(open) > 0:
		names := make([]string, len(open))
		for i, e := range open {
			names[i] = slacktext.Clip(within(slacktext.OneLine(e.Name)), 80)
		}
		p.add(p.label("Why").plain(slacktext.Sentence("Unknown so far. Still possible: " + strings.Join(names[:min(len(names), mostOpen)], "; "))).section())
	default:
		p.add(p.label("Why").plain("Unknown: the history supports no explanation.").section())
	}
}

func (p *page) explained(label string, e spotreport.Explanation) *line {
	l := p.label(label)
	if name := slacktext.Clip(slacktext.OneLine(named(e)), 160); name != "" {
		l.strong(slacktext.Sentence(capital(name))).plain(" ")
	}
	return l.prose(slacktext.Sentence(slacktext.Clip(begin(slacktext.OneLine(brief(e))), min(maxSays, p.room))))
}

// brief is what an explanation says in few words; those that were queued before
// there were short forms have only the long one.
func brief(e spotreport.Explanation) string { return cmp.Or(e.Short, e.Says) }

// named is an explanation's name. One that ends in the id of a check ends in
// what the check says instead: who reads it need not know the ids.
func named(e spotreport.Explanation) string {
	what, is := strings.CutSuffix(e.Name, ": "+string(e.Check))
	if !is || e.Check == "" {
		return e.Name
	}
	if c, known := catalog.ByID(e.Check); known {
		return what + ": " + continued(c.Title) + " (" + string(e.Check) + ")"
	}
	return e.Name
}

// firstOf says when the first of the bursts was that asked too much.
func (l *line) firstOf(bursts []spotreport.Burst) {
	var first time.Time
	n := 0
	for _, b := range bursts {
		if !b.Exceeds() || b.Failed == 0 {
			continue
		}
		if n++; first.IsZero() || b.Began.Before(first) {
			first = b.Began
		}
	}
	if n > 0 {
		l.plain(pick(n == 1, " It began ", " The first began ")).clock(first).plain(".")
	}
}

// within is a name in the middle of a sentence. Spot is one of its own.
func within(s string) string {
	if strings.HasPrefix(s, "Spot") {
		return s
	}
	return continued(s)
}

// begin is capital, but for the ids of checks and for instance types.
func begin(s string) string {
	if first, _, _ := strings.Cut(s, " "); strings.ContainsAny(first, "/.") {
		return s
	}
	return capital(s)
}

func withVerdict(list []spotreport.Explanation, v spotreport.Verdict) []spotreport.Explanation {
	var some []spotreport.Explanation
	for _, e := range list {
		if e.Verdict == v {
			some = append(some, e)
		}
	}
	return some
}

// ruledOut are the explanations that need no follow-up, a line each.
func (p *page) ruledOut(list []spotreport.Explanation) {
	ruled := withVerdict(list, spotreport.RuledOut)
	var lines []*line
	for _, e := range ruled[:min(len(ruled), mostRuled)] {
		lines = append(lines, p.line().prose(slacktext.Sentence(slacktext.Clip(capital(slacktext.OneLine(e.Name))+colon(continued(slacktext.OneLine(brief(e)))), maxRuled))))
	}
	if left := len(ruled) - len(lines); left > 0 {
		lines = append(lines, p.line().plain("… and "+slacktext.Number(left)+" more, in the thread"))
	}
	if len(lines) > 0 {
		p.add(p.heading("Ruled out"), bullets(lines...))
	}
}
