package diagnose

import (
	"fmt"
	"strings"

	"rollcall/shared/checks"
	"rollcall/shared/preflight"
)

// words is the result for a person, an incident as a message in the channel
// would tell it.
func (r Result) words(subject string) string {
	var b strings.Builder
	switch status := r.status(); {
	case r.plan != "" && status == healthyStatus:
		made := "it would be made, and "
		if r.there {
			made = ""
		}
		fmt.Fprintf(&b, "%s: %sits nodes would join.\n", subject, made)
	case r.plan != "" && status == unsureStatus:
		fmt.Fprintf(&b, "%s: nothing is found that would fail, but something that is needed could not be looked at.\n", subject)
	case status == healthyStatus:
		fmt.Fprintf(&b, "%s: every instance that should be a node is one, or has time left.\n", subject)
	case status == unsureStatus:
		fmt.Fprintf(&b, "%s: the cause cannot be told: something that is needed could not be looked at.\n", subject)
	}
	for _, i := range r.Incidents {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		i.words(&b, r.mark(i))
	}
	if len(r.Unknown) > 0 {
		b.WriteString("\nCould not look\n")
		for _, u := range r.Unknown {
			fmt.Fprintf(&b, "  %s\n", strings.TrimSpace(u.Check+"  "+u.Resource+": "+u.Reason))
		}
	}
	if len(r.Notes) > 0 {
		b.WriteString("\nNot known here\n")
		for _, n := range r.Notes {
			fmt.Fprintf(&b, "  %s\n", n)
		}
	}
	return b.String()
}

// mark is what an incident is: of what is only planned, whether it would be refused
// or fail.
func (r Result) mark(i Incident) string {
	switch {
	case r.plan == "" || i.Confidence == string(checks.Advice):
		return mark(i.Confidence)
	case preflight.IsRefusal(checks.ID(i.Cause)):
		return "WOULD BE REFUSED"
	case i.Confidence == string(checks.Possible):
		return "MIGHT FAIL"
	}
	return "WOULD FAIL"
}

func (i Incident) words(b *strings.Builder, mark string) {
	where := i.Cluster
	if len(i.Nodegroups) > 0 {
		where += " / " + strings.Join(i.Nodegroups, ", ")
	}
	fmt.Fprintf(b, "%s %s · %s\n", mark, where, i.Title)
	line(b, "Cause", i.Cause+" ("+i.Confidence+")")
	line(b, "Why", i.why)
	line(b, "Where", strings.Join(i.Resources, ", "))
	line(b, "Nodes", some(i.Instances))
	for k, e := range i.Evidence {
		name := ""
		if k == 0 {
			name = "Seen"
		}
		line(b, name, e.What+": "+e.Value)
	}
	line(b, "Do", i.Fix.Text)
	if i.Fix.Command != "" {
		line(b, "", i.Fix.Command)
	}
	line(b, "Console", i.console)
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
		fmt.Fprintf(b, "  %-9s %s\n", name, text)
	}
}

// shown is how many instances a line names.
const shown = 8

func some(ids []string) string {
	if len(ids) <= shown {
		return strings.Join(ids, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(ids[:shown], ", "), len(ids)-shown)
}
