package slack

import (
	"strings"
	"time"

	slackgo "github.com/slack-go/slack"

	"rollcall/shared/node/spot"
	"rollcall/shared/report"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/slack/slacktext"
)

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
	const top = "How this was weighed:"
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
func (p *page) weighed(list []spot.Explanation) {
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
	p.add(p.heading("How each explanation was weighed"), p.line().plain("None was: too little is known.").section())
}

// bursts are what the bursts asked for, and what there was, each shown whole or
// not at all.
func (p *page) bursts(list []spot.Burst) {
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
func arithmetic(b spot.Burst) string {
	var lines []string
	for _, t := range b.ByType() {
		lines = append(lines, slacktext.Clip(slacktext.OneLine(t), 60))
	}
	had := "nobody looked what it had"
	if b.HadKnown {
		had = "had " + slacktext.Number(b.Had)
		if b.Total > 0 {
			had += " of " + slacktext.Number(b.Total)
		}
	}
	last := "asked " + slacktext.Number(b.Demand) + ", " + had
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
