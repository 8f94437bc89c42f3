package slack

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	slackgo "github.com/slack-go/slack"

	"rollcall/shared/node/spot"
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
			p.add(p.line().styled("All pools, bursts and what was assumed: in the thread", &slackgo.RichTextSectionTextStyle{Italic: true}).section())
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
	colour := orange
	if serious(s.Spot) {
		colour = red
	}
	what := fmt.Sprintf("%s of %s did not join", slacktext.Number(failed), slacktext.Count(f.Requested, "launch"))
	if shared := common(s.Spot, failed); shared != "" {
		what += ", " + shared
	}
	return colour + " " + where + what
}

// long is the time of a report: "24 h", "7 days".
func long(d time.Duration) string {
	const day = 24 * time.Hour
	if d > 2*day && d%day == 0 {
		return slacktext.Count(int(d/day), "day")
	}
	return slacktext.Span(d)
}

// serious tells that something can be done, or that much is lost: a burst that
// could not fit, a pool that fails, one launch in twenty.
func serious(r spot.Report) bool {
	for _, b := range r.Bursts {
		if b.Exceeds() && b.Failed > 0 {
			return true
		}
	}
	for _, p := range r.Pools {
		if p.Spot && p.Failing {
			return true
		}
	}
	return report.Failed(r.Spot)*20 >= r.Spot.Requested
}

// common is what at least half of the failures have in common.
func common(r spot.Report, failed int) string {
	of := func(n int) string {
		if n >= failed {
			return pick(failed == 1, "", "all of them ")
		}
		return slacktext.Number(n) + " of them "
	}
	most := func(n int) bool { return n > 0 && 2*n >= failed }
	inBursts, bursts, inPools, pools := 0, 0, 0, []spot.Pool{}
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
		return of(r.Spot.Reclaimed) + "taken back by EC2"
	case most(r.Spot.Refused):
		return of(r.Spot.Refused) + "refused by EC2"
	case worst != "" && len(zones) > 0 && 10*zones[worst] >= 9*failed:
		return of(zones[worst]) + "in " + slacktext.Clip(slacktext.OneLine(worst), 40)
	}
	return ""
}

func poolName(p spot.Pool) string {
	return slacktext.Clip(slacktext.OneLine(cmp.Or(p.Type, "type unknown")), 40) + " in " + slacktext.Clip(slacktext.OneLine(cmp.Or(p.Zone, "zone unknown")), 40)
}

func quietColour(f spot.Funnel) string {
	if f.Unknown > 0 {
		return white
	}
	return green
}

// quiet is the first line where nothing failed.
func quiet(f spot.Funnel) string {
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
	add(f.Unknown, "of unknown end")
	return slacktext.Count(f.Requested, "launch") + ", none failed: " + strings.Join(parts, ", ")
}

func slowest(s *report.Slowest) string {
	if s == nil || s.Joined == 0 {
		return ""
	}
	return "; slowest pool " + poolName(spot.Pool{Type: s.Type, Zone: s.Zone}) + ", " + slacktext.Span(s.Median)
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
