package result

import (
	"fmt"
	"strings"
	"unicode"

	"rollcall/local/exit"
	"rollcall/shared/checks"
	"rollcall/shared/preflight"
)

// What one page holds of a result; --all prints the rest too. The figures are of a
// terminal of some fifty lines: of a thousand findings a person reads the first few.
const (
	// mostTold is how many incidents are told with all that was seen.
	mostTold = 5
	// mostNamed is how many more are named, a line each.
	mostNamed = 15
	// mostSeen is how many pieces of evidence an incident has.
	mostSeen = 10
	// mostUnknown is how many lines tell what could not be looked at.
	mostUnknown = 15
	// shown is how many ids a line names.
	shown = 8
)

// Style is how a result is printed for a person.
type Style struct {
	// All prints what a page has no room for.
	All bool
	// Color is of a terminal.
	Color bool
}

// Words is the result for a person, an incident as a message in the channel
// would tell it.
func (r Result) Words(subject string, s Style) string {
	var b strings.Builder
	switch status := r.Status(); {
	case r.Plan != "" && status == exit.Healthy:
		made := "it would be made, and "
		if r.There {
			made = ""
		}
		fmt.Fprintf(&b, "%s: %s.\n", subject, s.Paint(Green, made+"its nodes would join"))
	case r.Plan != "" && status == exit.Unsure:
		fmt.Fprintf(&b, "%s: nothing is found that would fail, but something that is needed could not be looked at.\n", subject)
	case status == exit.Healthy:
		fmt.Fprintf(&b, "%s: %s.\n", subject, s.Paint(Green, "every instance that should be a node is one, or has time left"))
	case status == exit.Unsure:
		fmt.Fprintf(&b, "%s: %s.\n", subject, s.Paint(Yellow, "the cause cannot be told: something that is needed could not be looked at"))
	}
	told := r.Incidents
	if !s.All {
		told = told[:min(len(told), mostTold)]
	}
	for _, i := range told {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		i.words(&b, r.Mark(i), s)
	}
	r.rest(&b, r.Incidents[len(told):], s)
	r.blind(&b, s)
	if len(r.Notes) > 0 {
		b.WriteString("\nNot known here\n")
		for _, n := range r.Notes {
			fmt.Fprintf(&b, "  %s\n", Plain(n))
		}
	}
	return b.String()
}

// rest names the incidents that a page has no room for: those of one cause in one
// cluster in one line.
func (r Result) rest(b *strings.Builder, list []Incident, s Style) {
	if len(list) == 0 {
		return
	}
	type kind struct{ mark, cluster, cause string }
	var kinds []kind
	of := map[kind][]Incident{}
	for _, i := range list {
		k := kind{r.Mark(i), i.Cluster, i.Cause}
		if of[k] == nil {
			kinds = append(kinds, k)
		}
		of[k] = append(of[k], i)
	}
	fmt.Fprintf(b, "\nAnd %d more; --all tells each\n", len(list))
	for n, k := range kinds {
		if n == mostNamed {
			fmt.Fprintf(b, "  … %d more causes\n", len(kinds)-mostNamed)
			return
		}
		if same := of[k]; len(same) == 1 {
			fmt.Fprintf(b, "  %s %s · %s (%s)\n", s.Paint(tint(k.mark), k.mark), k.cluster, Plain(same[0].Title), k.cause)
			continue
		}
		var about []string
		for _, i := range of[k] {
			about = append(about, i.Resource)
		}
		fmt.Fprintf(b, "  %s %s · %d of %s: %s\n", s.Paint(tint(k.mark), k.mark), k.cluster, len(about), k.cause, Plain(Some(about)))
	}
}

// blind tells what could not be looked at: what is the same of many things in one line.
func (r Result) blind(b *strings.Builder, s Style) {
	if len(r.Unknown) == 0 {
		return
	}
	b.WriteString("\nCould not look\n")
	if s.All {
		for _, u := range r.Unknown {
			fmt.Fprintf(b, "  %s\n", Plain(strings.TrimSpace(u.Check+"  "+u.Resource+": "+u.Reason)))
		}
		return
	}
	type kind struct{ check, reason string }
	var kinds []kind
	of := map[kind][]Unknown{}
	for _, u := range r.Unknown {
		k := kind{u.Check, u.Reason}
		if u.Resource != "" {
			k.reason = strings.ReplaceAll(u.Reason, u.Resource, "it")
		}
		if of[k] == nil {
			kinds = append(kinds, k)
		}
		of[k] = append(of[k], u)
	}
	for n, k := range kinds {
		if n == mostUnknown {
			fmt.Fprintf(b, "  … %d more; --all tells each\n", len(kinds)-mostUnknown)
			return
		}
		same := of[k]
		if len(same) == 1 {
			fmt.Fprintf(b, "  %s\n", Plain(strings.TrimSpace(k.check+"  "+same[0].Resource+": "+same[0].Reason)))
			continue
		}
		var about []string
		for _, u := range same {
			about = append(about, u.Resource)
		}
		fmt.Fprintf(b, "  %s\n", Plain(strings.TrimSpace(fmt.Sprintf("%s  %d: %s: %s", k.check, len(same), Some(about), k.reason))))
	}
}

// Mark is what an incident is: of what is only planned, whether it would be refused
// or fail.
func (r Result) Mark(i Incident) string {
	switch {
	case r.Plan == "" || i.Confidence == string(checks.Advice):
		return mark(i.Confidence)
	case preflight.IsRefusal(checks.ID(i.Cause)):
		return "WOULD BE REFUSED"
	case i.Confidence == string(checks.Possible):
		return "MIGHT FAIL"
	}
	return "WOULD FAIL"
}

func (i Incident) words(b *strings.Builder, mark string, s Style) {
	list := Some
	if s.All {
		list = func(ids []string) string { return strings.Join(ids, ", ") }
	}
	where := i.Cluster
	if len(i.Nodegroups) > 0 {
		where += " / " + list(i.Nodegroups)
	}
	fmt.Fprintf(b, "%s %s · %s\n", s.Paint(tint(mark), mark), Plain(where), Plain(i.Title))
	line(b, "Cause", i.Cause+" ("+i.Confidence+")")
	line(b, "Why", i.Why)
	line(b, "Where", list(i.Resources))
	line(b, "Nodes", list(i.Instances))
	for k, e := range i.Evidence {
		name := ""
		if k == 0 {
			name = "Seen"
		}
		if k == mostSeen && len(i.Evidence) > mostSeen+1 && !s.All {
			line(b, "", fmt.Sprintf("… %d more; --all tells each", len(i.Evidence)-mostSeen))
			break
		}
		line(b, name, e.What+": "+e.Value)
	}
	line(b, "Do", i.Fix.Text)
	if i.Fix.Command != "" {
		line(b, "", i.Fix.Command)
	}
	line(b, "Console", i.Console)
	line(b, "Beside", strings.Join(i.Contributing, ", "))
	line(b, "Explains", strings.Join(i.Symptoms, ", "))
	for _, h := range i.Hidden {
		line(b, "Hidden", h.Check+" (because of "+h.Because+")")
	}
}

func mark(confidence string) string {
	switch confidence {
	case "advice":
		return "ADVICE"
	case "symptom":
		return "SYMPTOM"
	}
	return "FAULT"
}

// line writes one fact; a value of several lines is indented as a whole.
func line(b *strings.Builder, name, value string) {
	if value == "" {
		return
	}
	for k, text := range strings.Split(strings.TrimRight(value, "\n"), "\n") {
		if k > 0 {
			name = ""
		}
		fmt.Fprintf(b, "  %-9s %s\n", name, Plain(text))
	}
}

// Some names the first ids, and counts the rest.
func Some(ids []string) string {
	if len(ids) <= shown {
		return strings.Join(ids, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(ids[:shown], ", "), len(ids)-shown)
}

// Colors of a terminal (ECMA-48, SGR).
const (
	Red    = "1;31"
	Green  = "32"
	Yellow = "33"
	Blue   = "36"
)

// tint is the color of a mark.
func tint(mark string) string {
	switch mark {
	case "ADVICE":
		return Blue
	case "SYMPTOM", "MIGHT FAIL":
		return Yellow
	}
	return Red
}

// Paint colors a text on a terminal.
func (s Style) Paint(color, text string) string {
	if !s.Color {
		return text
	}
	return "\033[" + color + "m" + text + "\033[0m"
}

// Clean is a text without what would move a terminal's cursor, change its colors or turn
// the direction of its lines (Unicode's categories Cc and Cf but for line breaks and tabs,
// and its line and paragraph separators): anybody who may name a thing could write them.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == '\u2028', r == '\u2029':
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(text, string(unicode.ReplacementChar)))
}

// Plain is a clean text that cannot begin a line, which readers would take for Rollcall's
// own words.
func Plain(text string) string {
	return strings.NewReplacer("\n", string(unicode.ReplacementChar), "\t", " ").Replace(Clean(text))
}
