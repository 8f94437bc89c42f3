package slack

import (
	"strings"
	"time"

	"rollcall/shared/checks"
	"rollcall/shared/incident"
	"rollcall/shared/slack/slacktext"
)

// The most characters of a line of words, and of a command in it: what is longer is for
// the message in Slack.
const (
	maxWords   = 800
	maxCommand = 3000
)

// Words are the first lines of the incident's message as plain text, for those who hear of
// it elsewhere than in Slack: the same headline, what hurts, why and what to do, made by
// the same functions. Times are in UTC.
func Words(i incident.Incident, o Options) incident.Words {
	_, what := verdict(i)
	place := where(i)
	w := incident.Words{Headline: slacktext.OneLine(place + " · " + unnamed(what, place)), Docs: o.pageOf(i.Key.Check), Console: consoleOf(i)}
	add := func(label, text string) {
		if text = slacktext.Clip(slacktext.OneLine(strings.ReplaceAll(text, "`", "")), maxWords); text != "" {
			w.Lines = append(w.Lines, incident.Line{Label: label, Text: text})
		}
	}
	switch i.State {
	case incident.Cleared:
		add("Was", slacktext.Sentence(capital(title(i)))+" From "+inUTC(i.Began, i.Changed)+" to "+inUTC(i.Cleared, i.Changed)+".")
		return w
	case incident.Closed:
		add("Was", slacktext.Sentence(capital(was(i))))
		at, _ := end(i)
		add("When", "From "+inUTC(i.Began, i.Changed)+" to "+inUTC(at, i.Changed)+".")
		return w
	}
	since := inUTC(i.Began, i.Changed)
	if hurts := impact(i, tallyOf(i)); len(hurts) > 0 {
		add("Impact", strings.Join(hurts, ", ")+", since "+since+".")
	} else {
		add("Since", since+".")
	}
	add(whyLabel(i), slacktext.Sentence(i.Cause.Why))
	do := byHand(i.Cause.Fix)
	if slacktext.Length(do.command) > maxCommand {
		do = instruction{text: "The command is too long to show here."}
	}
	add("Do", do.String())
	w.Command = do.command
	return w
}

// inUTC is a time without a reader's zone, with its day where that is another than what it
// is seen from.
func inUTC(t, from time.Time) string {
	if y, m, d := from.UTC().Date(); t.UTC().Year() == y && t.UTC().Month() == m && t.UTC().Day() == d {
		return t.UTC().Format("15:04") + " UTC"
	}
	return t.UTC().Format("2006-01-02 15:04") + " UTC"
}

// consoleOf is the page of what is to be looked at in AWS's console; empty for none.
func consoleOf(i incident.Incident) string {
	if address := web(i.Cause.Fix.Console); address != "" {
		return address
	}
	return place{i.Partition, i.Region}.console(i.Key.Resource)
}

// instruction is what a person may do: a sentence, and the command that it introduces.
type instruction struct {
	// before and after stand around the text where it is only why it is this command:
	// "Run (nat-0aa4: available, same zone):".
	before, text, after string
	command             string
}

func (h instruction) String() string { return h.before + h.text + h.after }

func byHand(fix checks.Fix) instruction {
	h := instruction{text: strings.TrimSpace(fix.Text), command: strings.TrimSpace(slacktext.Clean(fix.Command))}
	switch {
	case h.command == "":
		h.text = slacktext.Sentence(h.text)
	case h.text == "":
		h.before = "Run:"
	case !strings.HasSuffix(h.text, "."):
		h.before, h.after = "Run (", "):"
	}
	return h
}
