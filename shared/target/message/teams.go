package message

import (
	"encoding/json"
	"fmt"
	"slices"

	"rollcall/shared/incident"
	"rollcall/shared/report"
)

// maxTeams is below what Teams takes: "the message size limit is approximately 28 KB", with
// all that Teams makes of it (learn.microsoft.com/connectors/teams, "Known issues and
// limitations with actions"); a client has measured 21 KB of its own (msteams_hermes,
// MSTEAMS_MESSAGE_SIZE_LIMIT). A workflow answers 202 before it posts: what it cannot post
// is in its own history alone, and nobody here would hear of it.
const maxTeams = 20_000

// Teams is what a workflow "When a Teams webhook request is received" takes: a message with
// an Adaptive Card (learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using).
// Workflows take no message cards of the connectors, which Microsoft has retired.
type Teams struct {
	Type        string            `json:"type"`
	Attachments []TeamsAttachment `json:"attachments"`
}

// TeamsAttachment is a card.
type TeamsAttachment struct {
	ContentType string `json:"contentType"`
	Content     Card   `json:"content"`
}

// Card is an Adaptive Card, of version 1.2 as Teams shows it everywhere.
type Card struct {
	Schema  string       `json:"$schema"`
	Type    string       `json:"type"`
	Version string       `json:"version"`
	Body    []CardText   `json:"body"`
	Actions []CardAction `json:"actions,omitempty"`
	Teams   CardWidth    `json:"msteams"`
}

// CardWidth has Teams use the whole width.
type CardWidth struct {
	Width string `json:"width"`
}

// CardText is a RichTextBlock. Its runs take no Markdown
// (learn.microsoft.com/adaptive-cards/schema-explorer/text-run), so that nothing that
// comes from AWS can be a link or break the card; a TextBlock would.
type CardText struct {
	Type    string    `json:"type"`
	Inlines []CardRun `json:"inlines"`
	Spacing string    `json:"spacing,omitempty"`
}

// CardRun is a run of text.
type CardRun struct {
	Type   string `json:"type"`
	Text   string `json:"text"`
	Weight string `json:"weight,omitempty"`
	Size   string `json:"size,omitempty"`
	Color  string `json:"color,omitempty"`
	Font   string `json:"fontType,omitempty"`
	Subtle bool   `json:"isSubtle,omitempty"`
}

// CardAction opens a page.
type CardAction struct {
	Type  string `json:"type"`
	Title string `json:"title"`
	URL   string `json:"url"`
}

// ToTeams is the message as JSON. Where it would be too large it goes without its command,
// and then without its lines: the headline always arrives.
func ToTeams(n News) ([]byte, error) {
	if n.Week != nil {
		return weekToTeams(n)
	}
	w := n.Words
	for _, shorter := range []func(){
		func() {},
		func() { w.Command = "" },
		func() { w.Lines = w.Lines[:min(1, len(w.Lines))] },
		func() { w.Lines, w.Headline = nil, clip(w.Headline, maxHeadline) },
	} {
		shorter()
		body, err := teams(n, w)
		if err != nil || len(body) <= maxTeams {
			return body, err
		}
	}
	return nil, fmt.Errorf("the card of %s is larger than the %d bytes that Teams takes", n.ID, maxTeams)
}

// weekToTeams is the card of a week: the first of its lines, which matter most, and how many
// more there are.
func weekToTeams(n News) ([]byte, error) {
	w := n.Words
	w.Headline = clip(w.Headline, maxHeadline)
	for left := 0; ; left++ {
		w.Lines = slices.Clone(n.Words.Lines[:len(n.Words.Lines)-left])
		if left > 0 {
			w.Lines = append(w.Lines, incident.Line{Label: "More", Text: fmt.Sprintf("%d lines that a card has no room for, in Slack", left)})
		}
		body, err := teams(n, w)
		if err != nil || len(body) <= maxTeams || left == len(n.Words.Lines) {
			return body, err
		}
	}
}

// teams is the card as JSON.
func teams(n News, w incident.Words) ([]byte, error) {
	body, err := json.Marshal(Teams{"message", []TeamsAttachment{{"application/vnd.microsoft.card.adaptive", card(n, w)}}})
	if err != nil {
		return nil, fmt.Errorf("write the card of %s: %w", n.ID, err)
	}
	return body, nil
}

// maxHeadline is more than any screen holds.
const maxHeadline = 1000

// clip cuts s to at most so many characters, the last of which is then "…".
func clip(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

func card(n News, w incident.Words) Card {
	c := Card{Schema: "http://adaptivecards.io/schemas/adaptive-card.json", Type: "AdaptiveCard", Version: "1.2", Teams: CardWidth{"Full"}}
	add := func(spacing string, runs ...CardRun) {
		for i := range runs {
			runs[i].Type = "TextRun"
		}
		c.Body = append(c.Body, CardText{"RichTextBlock", runs, spacing})
	}
	add("", CardRun{Text: Urgency(n) + " · ", Weight: "Bolder", Size: "Medium", Color: color(n)}, CardRun{Text: w.Headline, Weight: "Bolder", Size: "Medium"})
	for _, l := range w.Lines {
		switch {
		case l.Label == "": // of the list that a line without text began
			add("None", CardRun{Text: "•  " + l.Text})
		case l.Text == "":
			add("Small", CardRun{Text: l.Label, Weight: "Bolder"})
		default:
			add("Small", CardRun{Text: l.Label + "  ", Weight: "Bolder"}, CardRun{Text: l.Text})
		}
	}
	if w.Command != "" {
		add("Small", CardRun{Text: w.Command, Font: "Monospace"})
	}
	if footer := footer(n); footer != "" {
		add("Small", CardRun{Text: footer, Subtle: true, Size: "Small"})
	}
	for _, l := range links(w) {
		c.Actions = append(c.Actions, CardAction{"Action.OpenUrl", l.Text, l.Address})
	}
	return c
}

// Urgency is the state as a word: nobody has to see colours.
func Urgency(n News) string {
	switch e := n.Incident; {
	case n.Week != nil:
		return "Rollcall"
	case e == nil:
		return "Test"
	case e.Kind == incident.EventAcknowledged:
		return "Acknowledged"
	case e.Kind == incident.EventActed && e.Reason == incident.RemedyDone:
		return "Remedy done"
	case e.Kind == incident.EventActed:
		return "Remedy not done"
	case e.State == incident.Closed && (e.Resolution == incident.Proved || e.Resolution == incident.Unproved):
		return "Resolved"
	case e.State == incident.Closed && e.Resolution != incident.GivenUpOn:
		return "Closed"
	case e.State == incident.Cleared:
		return "Cause gone"
	case e.Severity == incident.Critical:
		return "Critical"
	case e.Severity == incident.Warning:
		return "Warning"
	}
	return "Info"
}

// color is one of Adaptive Cards' own.
func color(n News) string {
	if n.Week != nil {
		return map[report.Verdict]string{report.WeekCritical: "Attention", report.WeekWrong: "Warning", report.WeekWell: "Good"}[n.Week.Result]
	}
	switch Urgency(n) {
	case "Critical":
		return "Attention"
	case "Warning", "Cause gone", "Remedy not done":
		return "Warning"
	case "Resolved", "Remedy done":
		return "Good"
	}
	return "Accent"
}

// footer tells whose it is, and of which check.
func footer(n News) string {
	if n.Incident == nil {
		return ""
	}
	return fmt.Sprintf("%s · account %s · %s", n.Incident.Check, n.Incident.Account, n.Incident.Region)
}
