package slack

import (
	"html"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/incident"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/slack/slacktext"
)

// TestWordsAreTheMessages: whoever hears of an incident elsewhere reads what the message in
// Slack says: the same headline, and of each line the same beginning, as plain text that no
// mail program or card takes for anything else.
func TestWordsAreTheMessages(t *testing.T) {
	for _, s := range scenes() {
		w := Words(s.incident, s.options())
		m := Render(s.incident, s.options())
		// The notification's text begins with a colour.
		if _, said, _ := strings.Cut(html.UnescapeString(m.Text), " "); said != w.Headline && !strings.HasPrefix(w.Headline, strings.TrimSuffix(said, "…")) {
			t.Errorf("%s: Slack says %q, the others %q", s.name, said, w.Headline)
		}
		shown := strings.Join(strings.Fields(read([]slackapi.Message{m})), " ")
		for _, l := range append(w.Lines, incident.Line{Label: "Command", Text: w.Command}) {
			if strings.ContainsAny(l.Text, "`\n") && l.Label != "Command" || l.Label == "" || slacktext.Length(l.Text) > maxCommand {
				t.Errorf("%s: %s is no plain line: %q", s.name, l.Label, l.Text)
			}
			if l.Label == "Impact" || l.Label == "Since" || l.Label == "When" || l.Label == "Was" || l.Label == "Command" || l.Label == "Do" || strings.Contains(l.Text, " UTC") {
				continue // with times, which Slack shows in each reader's zone, and what is offered with buttons instead
			}
			if words := strings.Fields(l.Text); !strings.Contains(shown, strings.Join(words[:min(4, len(words))], " ")) {
				t.Errorf("%s: Slack does not say %q", s.name, l.Text)
			}
		}
		for _, address := range []string{w.Console, w.Docs} {
			if address != "" && !strings.HasPrefix(address, "https://") {
				t.Errorf("%s: leads to %q", s.name, address)
			}
		}
	}
}

func TestInUTC(t *testing.T) {
	at := time.Date(2026, 11, 20, 14, 59, 3, 0, time.FixedZone("", -8*3600))
	for want, from := range map[string]time.Time{"22:59 UTC": at.Add(time.Hour), "2026-11-20 22:59 UTC": at.Add(24 * time.Hour)} {
		if got := inUTC(at, from); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A command that is too long to be shown whole is not shown: half a command must not be
// pasted.
func TestWordsOfALongCommand(t *testing.T) {
	i := scenes()[0].incident
	i.State = incident.Open
	i.Cause.Fix.Command = "aws " + strings.Repeat("x", maxCommand)
	w := Words(i, Options{})
	if diff := cmp.Diff(incident.Line{Label: "Do", Text: "The command is too long to show here."}, w.Lines[len(w.Lines)-1]); diff != "" || w.Command != "" {
		t.Errorf("command of %d, (-want +got):\n%s", len(w.Command), diff)
	}
}
