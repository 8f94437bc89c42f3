package slack

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"rollcall/shared/node/spot"
	"rollcall/shared/report"
	"rollcall/shared/slack/slacktext"
)

// worst is a small table of the pools that do worst.
func (p *page) worst(pools []spot.Pool) {
	var bad []spot.Pool
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
func (p *page) fitting(pools []spot.Pool) []string {
	var rows []string
	for _, with := range []tableWords{{"refused", true, 18}, {"ref.", true, 18}, {"ref.", false, 18}, {"ref.", false, 10}} {
		rows = p.counts(pools, with)
		if !slices.ContainsFunc(rows, func(row string) bool { return utf8.RuneCountInString(row) > phone }) {
			break
		}
	}
	return rows
}

// tableWords is how much a table says.
type tableWords struct {
	refused string
	lost    bool
	kind    int // characters for an instance type
}

// counts are pools with their numbers, in columns; those that are zero
// everywhere are left out. Zones are written without the region that all of
// them share.
func (p *page) counts(pools []spot.Pool, with tableWords) []string {
	area := p.place.region[:strings.LastIndex(p.place.region, "-")+1]
	type column struct {
		head string
		of   func(spot.Pool) string
		all  bool
	}
	columns := []column{
		{"", func(p spot.Pool) string {
			return slacktext.Clip(slacktext.OneLine(cmp.Or(p.Type, "type unknown")), with.kind)
		}, true},
		{"", func(p spot.Pool) string {
			return slacktext.Clip(slacktext.OneLine(cmp.Or(strings.TrimPrefix(p.Zone, area), "zone unknown")), 16)
		}, true},
		{"joined", func(p spot.Pool) string { return slacktext.Number(p.Joined) + "/" + slacktext.Number(p.Requested) }, true},
		{"not", func(p spot.Pool) string { return slacktext.Number(p.NotJoined) }, false},
		{"back", func(p spot.Pool) string { return slacktext.Number(p.Reclaimed) }, false},
		{with.refused, func(p spot.Pool) string { return slacktext.Number(p.Refused) }, false},
	}
	if with.lost {
		columns = append(columns, column{"lost", func(p spot.Pool) string { return slacktext.Number(p.Lost) }, false})
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
func judged(p spot.Pool) string {
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
	add(p.Reclaimed, "taken back")
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
