package slack

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/checks"
	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/slack/slacktext"
)

// maxAttached is the longest text of a file, in bytes. Slack shows texts up to
// 1 MB as snippets; nobody reads more than this of an incident.
const maxAttached = 256 << 10

// Attached is the whole of what a reply had to shorten, as a text to be shared
// below it; false where the reply says everything.
func Attached(i incident.Incident, n incident.Note) (slackapi.File, bool) {
	if !shortened(i, n) {
		return slackapi.File{}, false
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s / %s / %s\n", headline(i), slacktext.OneLine(i.Key.Of().String()), slacktext.OneLine(string(i.Key.Check)), slacktext.OneLine(i.Key.Resource))
	fmt.Fprintf(&b, "%s, %s\n", n.Reason, stamp(n.At))
	section := func(title string, lines []string) {
		if len(lines) > 0 {
			fmt.Fprintf(&b, "\n%s\n%s\n", title, strings.Repeat("-", slacktext.Length(title)))
			b.WriteString(strings.Join(lines, "\n") + "\n")
		}
	}
	section("Evidence", wholly(n.Evidence))
	section(fmt.Sprintf("Instances (%d of %d)", len(n.Instances), max(n.Count, len(n.Instances))), instances(i, n))
	var facts []checks.Evidence
	for _, f := range n.Facts {
		facts = append(facts, checks.Evidence{What: f.What, Value: f.Value})
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

// shortened tells that a reply has no room for all that its note holds: the
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
func wholly(list []checks.Evidence) []string {
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
