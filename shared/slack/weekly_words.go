package slack

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	slackgo "github.com/slack-go/slack"

	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/slack/slacktext"
)

// maxWeekWords is how large the words of a week may be, as JSON: a mail that somebody reads.
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
