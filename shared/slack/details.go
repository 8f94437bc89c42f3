package slack

import (
	"slices"
	"strings"

	"rollcall/shared/checks"
	"rollcall/shared/report"
	"rollcall/shared/slack/slacktext"
	"rollcall/shared/snapshot"
)

// The most lines of each list. Longer lists say what they leave out.
const (
	mostInstances = 25
	mostEvidence  = 40
	mostFacts     = 20
	mostFailures  = 6
)

// evidence is what a person would have looked up, as it is.
func (p *page) evidence(label string, list []checks.Evidence) {
	lines := table(list)
	p.listing(label, slacktext.FitLines(lines, len(lines), p.room, mostEvidence, "line"))
}

// listing is a heading over text in monospace.
func (p *page) listing(label, text string) {
	if text != "" {
		p.add(p.heading(label), pre(text))
	}
}

// narrow is how many characters of monospace fit beside each other in a
// thread, on a desk's screen; a phone has about as many.
const narrow = 46

// table sets each piece of evidence on a line, or, if that would be too wide,
// its value under its name, the parts of a list one by one.
func table(list []checks.Evidence) []string {
	var lines []string
	for _, e := range list {
		what, value := slacktext.OneLine(e.What), strings.TrimSpace(slacktext.Clean(e.Value))
		if row := what + colon(value); slacktext.Length(row) <= narrow && !strings.Contains(value, "\n") {
			lines = append(lines, row)
			continue
		}
		lines = append(lines, what)
		for row := range strings.SplitSeq(value, "\n") {
			for part := range strings.SplitSeq(row, "; ") {
				lines = append(lines, "  "+part)
			}
		}
	}
	return slices.DeleteFunc(lines, func(l string) bool { return strings.TrimSpace(l) == "" })
}

// roll lists launches. What they have in common is said once. Times are in
// UTC: preformatted text cannot hold times that Slack converts.
func (p *page) roll(list []report.Launch, total int) {
	columns := []func(report.Launch) string{
		func(l report.Launch) string { return l.Nodegroup },
		func(l report.Launch) string { return l.Type },
		func(l report.Launch) string { return l.Zone },
	}
	var common []string
	columns = slices.DeleteFunc(columns, func(of func(report.Launch) string) bool {
		for _, l := range list {
			if of(l) != of(list[0]) {
				return false
			}
		}
		if len(list) > 0 && of(list[0]) != "" {
			common = append(common, slacktext.Clip(slacktext.OneLine(of(list[0])), 60))
		}
		return true
	})
	lines := make([]string, len(list))
	for n, l := range byStart(list) {
		lines[n] = launchLine(l, columns)
	}
	text := slacktext.FitLines(lines, total, p.room, mostInstances, "instance")
	if text == "" {
		return
	}
	heading := p.label("Instances").plain(strings.Join(append(common, "by launch time"), ", "))
	p.add(heading.section(), pre(text))
}

func launchLine(l report.Launch, columns []func(report.Launch) string) string {
	words := []string{slacktext.OneLine(l.Instance)}
	if !l.Started.IsZero() {
		words = append(words, slacktext.Utc(l.Started))
	}
	for _, of := range columns {
		if c := slacktext.Clip(slacktext.OneLine(of(l)), 40); c != "" {
			words = append(words, c)
		}
	}
	if l.Status == report.Gone {
		ended := "\n  ended"
		if !l.Ended.IsZero() {
			ended += " " + slacktext.Utc(l.Ended)
		}
		words = append(words, ended+colon(slacktext.Clip(slacktext.OneLine(l.EndedWhy), 120)))
	}
	return strings.ReplaceAll(strings.Join(words, "  "), "  \n", "\n")
}

// facts are what the detectors looked up beside the cause.
func (p *page) facts(list []report.Fact) {
	lines := make([]*line, 0, len(list))
	for _, f := range list[:min(len(list), mostFacts)] {
		l := p.line().plain(slacktext.Clip(slacktext.OneLine(f.What), 80))
		if value := slacktext.Clip(slacktext.OneLine(f.Value), max(p.room/8, 40)); value != "" {
			l.plain(": ").prose(value)
		}
		if len(l.items) > 0 {
			lines = append(lines, l)
		}
	}
	if left := len(list) - mostFacts; left > 0 {
		lines = append(lines, p.line().plain("… and "+slacktext.Count(left, "more fact")+" left out here"))
	}
	if len(lines) > 0 {
		p.add(p.heading("Also checked"), bullets(lines...))
	}
}

// blind says what could not be looked at, and who can change that.
func (p *page) blind(list []snapshot.Failure) {
	if len(list) == 0 {
		return
	}
	lines := make([]*line, 0, mostFailures+1)
	for _, f := range list[:min(len(list), mostFailures)] {
		lines = append(lines, p.failure(f))
	}
	if left := len(list) - mostFailures; left > 0 {
		lines = append(lines, p.line().plain("… and "+slacktext.Count(left, "more source")))
	}
	p.add(
		p.label("Not checked").plain("Checks that need this did not run. It may be the cause.").section(),
		bullets(lines...),
	)
}

func (p *page) failure(f snapshot.Failure) *line {
	l := p.line().plain(slacktext.Clip(slacktext.OneLine(string(f.Source)), 60) + ": ")
	call := slacktext.Clip(slacktext.OneLine(f.Call), 120)
	switch {
	case f.Reason == snapshot.Denied && call != "":
		return l.plain("permission ").code(call).plain(" is missing: grant it to Rollcall.")
	case f.Reason == snapshot.Denied:
		l.plain("a permission is missing")
	case f.Reason == snapshot.Throttled:
		l.plain("throttled by the service")
	case f.Reason == snapshot.TimedOut:
		l.plain("no answer in time")
	case f.Reason == snapshot.Unreachable:
		l.plain("no connection")
	case f.Reason == snapshot.OverBudget:
		l.plain("too much to read")
	case f.Reason == snapshot.NotShown:
		l.plain("not shown")
	case f.Reason == snapshot.NotRead:
		l.plain("not read")
	default:
		l.plain("the answer was an error")
	}
	if call != "" && f.Reason != snapshot.Denied {
		l.plain(" (").code(call).plain(")")
	}
	if m := slacktext.Clip(slacktext.OneLine(f.Message), 160); m != "" {
		l.plain(": " + m)
	}
	return l.plain(".")
}
