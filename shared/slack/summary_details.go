package slack

import (
	"strings"
	"time"

	slackgo "github.com/slack-go/slack"

	"rollcall/shared/node/spot"
	"rollcall/shared/report"
)

// The most lines of the lists in a summary's thread.
const (
	mostBursts    = 8
	mostJudged    = 20
	mostExplained = 12
)

// RenderSummaryDetails is the reply in a summary's thread: how each
// explanation was weighed, the bursts with their arithmetic, all pools with
// their intervals, and what was assumed.
func RenderSummaryDetails(s report.Summary) Message {
	const top = "How this was weighed:"
	return Message{
		Text: notification(top),
		Blocks: fit(func(room int) []slackgo.Block {
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
	}
}

// weighed are all explanations, with the verdict on each.
func (p *page) weighed(list []spot.Explanation) {
	var lines []*line
	for _, e := range list[:min(len(list), mostExplained)] {
		l := p.line().styled(clip(oneLine(string(e.Verdict)), 40), &slackgo.RichTextSectionTextStyle{Bold: true}).
			plain(colon(clip(oneLine(named(e)), 160)) + ". ").prose(sentence(clip(begin(oneLine(e.Says)), min(maxSays, max(p.room/4, 120)))))
		if e.Check != "" && !strings.Contains(e.Name, string(e.Check)) {
			l.plain(" ").styled(clip(oneLine(string(e.Check)), 60), &slackgo.RichTextSectionTextStyle{Italic: true})
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
		if used += length(sum) + 100; i > 0 && used > p.room || i == mostBursts {
			parts = append(parts, p.line().plain("… and "+count(len(list)-i, "more burst")+" left out here").section())
			break
		}
		within := ""
		if d := b.Last.Sub(b.Began); d >= time.Second {
			within = " within " + span(d)
		}
		l := p.line().clock(b.Began).plain(": " + count(b.Launches, "launch") + within + " in ").prose(clip(oneLine(b.Subnet), 60))
		if groups := few(distinct(b.Nodegroups...), 4, 30); groups != "" {
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
		lines = append(lines, clip(oneLine(t), 60))
	}
	had := "nobody looked what it had"
	if b.HadKnown {
		had = "had " + number(b.Had)
		if b.Total > 0 {
			had += " of " + number(b.Total)
		}
	}
	last := "asked " + number(b.Demand) + ", " + had
	if b.Failed > 0 {
		last += "; " + number(b.Failed) + " failed"
	}
	return strings.Join(append(lines, last), "\n")
}

// entries is a list in monospace; each entry is shown whole or not at all.
func (p *page) entries(heading slackgo.RichTextElement, list []string, total, most int, what string) {
	var b strings.Builder
	shown := 0
	for _, e := range list[:min(len(list), most)] {
		if shown > 0 && length(b.String())+length(e) > p.room {
			break
		}
		b.WriteString(clip(e, maxPiece-100) + "\n")
		shown++
	}
	if shown == 0 {
		return
	}
	if left := total - shown; left > 0 {
		b.WriteString("… and " + count(left, "more "+what) + " left out here")
	}
	p.add(heading, pre(strings.TrimRight(b.String(), "\n")))
}

func (p *page) assumed(list []string) {
	const most = 8
	var lines []*line
	for _, a := range list[:min(len(list), most)] {
		if a = oneLine(a); a != "" {
			lines = append(lines, p.line().prose(sentence(clip(a, min(maxSays, max(p.room/2, 120))))))
		}
	}
	if len(lines) > 0 {
		p.add(p.heading("Assumed"), bullets(lines...))
	}
}
