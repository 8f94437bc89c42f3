package message

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/incident"
)

var update = flag.Bool("update", false, "write the golden files anew")

// samples are events of events/out, of each kind that people are told of.
func samples(t *testing.T) []News {
	t.Helper()
	var list []News
	for _, name := range []string{"incident-opened", "incident-changed", "incident-acknowledged", "remedy-acted", "incident-resolved", "incident-reopened", "test-message", "weekly-report"} {
		list = append(list, sample(t, name))
	}
	list[0].Words.Docs = "https://docs.example.com/checks/route-no-egress.html"
	return list
}

// TestGolden: each event as each form, whole.
func TestGolden(t *testing.T) {
	var mail, pager, teams bytes.Buffer
	for _, n := range samples(t) {
		m := ToMail(n)
		fmt.Fprintf(&mail, "=== %s\n%v\n%s\n\n%s\n", n.Type, m.Attributes, m.Subject, m.Body)
		for _, a := range []Action{Trigger, Acknowledge, Resolve} {
			if n.Week != nil {
				break // it hears of none (TestDecideWeek)
			}
			raw, err := json.MarshalIndent(ToPagerDuty(n, a), "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&pager, "=== %s: %s\n%s\n", n.Type, a, raw)
		}
		raw, err := ToTeams(n)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&teams, "=== %s\n", n.Type)
		if err := json.Indent(&teams, raw, "", "  "); err != nil {
			t.Fatal(err)
		}
		teams.WriteByte('\n')
	}
	for name, got := range map[string][]byte{"mail": mail.Bytes(), "pagerduty": pager.Bytes(), "teams": teams.Bytes()} {
		file := filepath.Join("testdata", name+".golden")
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s (-want +got, -update writes it anew):\n%s", file, diff)
		}
	}
}

// TestUrgency: the state as a word, in a color of Adaptive Cards, and as PagerDuty's severity.
func TestUrgency(t *testing.T) {
	for _, test := range []struct {
		of            incident.Event
		want, color   string
		pagerDutySays string
	}{
		{incident.Event{Kind: incident.EventOpened, State: incident.Open, Severity: incident.Critical}, "Critical", "Attention", "critical"},
		{incident.Event{Kind: incident.EventReopened, State: incident.Open, Severity: incident.Warning}, "Warning", "Warning", "warning"},
		{incident.Event{Kind: incident.EventOpened, State: incident.Open, Severity: incident.Info}, "Info", "Accent", "info"},
		{incident.Event{Kind: incident.EventAcknowledged, State: incident.Open, Severity: incident.Critical}, "Acknowledged", "Accent", "critical"},
		{incident.Event{Kind: incident.EventActed, Reason: incident.RemedyDone, Severity: incident.Critical}, "Remedy done", "Good", "critical"},
		{incident.Event{Kind: incident.EventActed, Reason: incident.RemedyFailed, Severity: incident.Critical}, "Remedy not done", "Warning", "critical"},
		{incident.Event{Kind: incident.EventChanged, Reason: incident.RemedyDone, State: incident.Open, Severity: incident.Critical}, "Critical", "Attention", "critical"},
		{incident.Event{Kind: incident.EventResolved, State: incident.Closed, Resolution: incident.Proved, Severity: incident.Critical}, "Resolved", "Good", "critical"},
		{incident.Event{Kind: incident.EventResolved, State: incident.Closed, Resolution: incident.Unproved, Severity: incident.Warning}, "Resolved", "Good", "warning"},
		{incident.Event{Kind: incident.EventResolved, State: incident.Closed, Resolution: incident.Withdrawn, Severity: incident.Warning}, "Closed", "Accent", "warning"},
		{incident.Event{Kind: incident.EventResolved, State: incident.Closed, Resolution: incident.Superseded, Severity: incident.Critical}, "Closed", "Accent", "critical"},
		{incident.Event{Kind: incident.EventResolved, State: incident.Closed, Resolution: incident.GivenUpOn, Severity: incident.Critical}, "Critical", "Attention", "critical"},
		{incident.Event{Kind: incident.EventOpened, State: incident.Open, Resolution: incident.Proved, Severity: incident.Warning}, "Warning", "Warning", "warning"},
		{incident.Event{Kind: incident.EventChanged, State: incident.Cleared, Severity: incident.Critical}, "Cause gone", "Warning", "critical"},
	} {
		n := News{Incident: &test.of, Type: test.of.Kind.DetailType(), At: time.Unix(0, 0)}
		if got := Urgency(n); got != test.want || color(n) != test.color || ToPagerDuty(n, Trigger).Payload.Severity != test.pagerDutySays {
			t.Errorf("%+v: %q, %q, %q; want %q, %q, %q", test.of, got, color(n), ToPagerDuty(n, Trigger).Payload.Severity, test.want, test.color, test.pagerDutySays)
		}
	}
}

func TestSubject(t *testing.T) {
	for text, want := range map[string]string{
		"a → b · c – d’s…":             "a -> b - c - d's...",
		"a\nb\rc\td\x00e\x7ff\x1b":     "a b c def",
		"~ ü 日本 }":                     "~ ? ?? }",
		strings.Repeat("x", 99):        strings.Repeat("x", 99),
		strings.Repeat("x", 100):       strings.Repeat("x", 96) + "...",
		strings.Repeat("→", 49) + "x":  strings.Repeat("->", 49) + "x",
		strings.Repeat("→", 49) + "xy": strings.Repeat("->", 48) + "...",
	} {
		if got := subject(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestCardsThatAreTooLarge: what is left out first is what people can do without, and the
// headline always arrives.
func TestCardsThatAreTooLarge(t *testing.T) {
	n := sample(t, "incident-opened")
	n.Words.Docs = ""
	large := strings.Repeat("x", maxTeams)
	short := incident.Words{Headline: "It broke.", Command: "fix it", Lines: []incident.Line{{Label: "Impact", Text: "first"}, {Label: "Why", Text: "second"}}}
	for name, test := range map[string]struct {
		change func(*incident.Words)
		want   string
	}{
		"it fits":             {func(*incident.Words) {}, "It broke.|first|second|fix it"},
		"a long command":      {func(w *incident.Words) { w.Command = large }, "It broke.|first|second"},
		"a long second line":  {func(w *incident.Words) { w.Lines[1].Text = large }, "It broke.|first"},
		"a long first line":   {func(w *incident.Words) { w.Lines[0].Text = large }, "It broke."},
		"a long line alone":   {func(w *incident.Words) { w.Lines = []incident.Line{{Label: "Why", Text: large}} }, "It broke."},
		"a long headline":     {func(w *incident.Words) { w.Headline = large; w.Lines = nil }, strings.Repeat("x", maxHeadline-1) + "…"},
		"a headline as it is": {func(w *incident.Words) { w.Headline = large[:maxHeadline]; w.Lines[0].Text = large }, large[:maxHeadline]},
	} {
		n := n
		n.Words = short
		n.Words.Lines = append([]incident.Line{}, short.Lines...)
		test.change(&n.Words)
		body, err := ToTeams(n)
		if err != nil {
			t.Fatal(err)
		}
		var sent Teams
		if err := json.Unmarshal(body, &sent); err != nil {
			t.Fatal(err)
		}
		var said []string
		blocks := sent.Attachments[0].Content.Body
		for _, block := range blocks[:len(blocks)-1] { // the last is whose it is
			said = append(said, block.Inlines[len(block.Inlines)-1].Text)
		}
		if got := strings.Join(said, "|"); got != test.want || len(body) > maxTeams {
			t.Errorf("%s: %d bytes: %.80q, want %.80q", name, len(body), got, test.want)
		}
	}
	n.Words = short
	overhead := func() int {
		body, err := ToTeams(n)
		if err != nil {
			t.Fatal(err)
		}
		return len(body) - len(n.Words.Command)
	}()
	n.Words.Command = strings.Repeat("x", maxTeams-overhead)
	if body, err := ToTeams(n); err != nil || len(body) != maxTeams || !bytes.Contains(body, []byte(n.Words.Command)) {
		t.Errorf("a card of just what Teams takes: %d bytes, %v", len(body), err)
	}
	n.Words = incident.Words{Headline: "x", Console: "https://example.com/" + large}
	if body, err := ToTeams(n); err == nil || !strings.Contains(err.Error(), "larger than the") {
		t.Errorf("an address that is too long: %d bytes, %v", len(body), err)
	}
}

// TestCardsOfWeeks: what has no room is at the end, and is counted; the headline and what to do
// next always arrive.
func TestCardsOfWeeks(t *testing.T) {
	n := sample(t, "weekly-report")
	first := len(n.Words.Lines)
	for range 300 {
		n.Words.Lines = append(n.Words.Lines, incident.Line{Text: strings.Repeat("<", 100)})
	}
	body, err := ToTeams(n)
	if err != nil || len(body) > maxTeams || len(body) < maxTeams-2000 {
		t.Fatalf("%d bytes, %v", len(body), err)
	}
	var sent Teams
	if err := json.Unmarshal(body, &sent); err != nil {
		t.Fatal(err)
	}
	blocks := sent.Attachments[0].Content.Body
	if blocks[1].Inlines[0].Text != "Next" || len(blocks) < first {
		t.Errorf("%d blocks of %d lines, the second is %+v", len(blocks), first, blocks[1])
	}
	if last := blocks[len(blocks)-1].Inlines; last[0].Text != "More  " || last[1].Text != fmt.Sprintf("%d lines that a card has no room for, in Slack", first+300-(len(blocks)-2)) {
		t.Errorf("the last block is %+v", last)
	}
}

// TestPagerDutyLimits: summaries and keys at the length that PagerDuty takes are as they are.
func TestPagerDutyLimits(t *testing.T) {
	n := sample(t, "incident-opened")
	n.Words.Headline = strings.Repeat("ü", maxSummary)
	if got := ToPagerDuty(n, Trigger).Payload.Summary; got != n.Words.Headline {
		t.Errorf("a summary of the limit is cut to %d characters", utf8.RuneCountInString(got))
	}
	n.Words.Headline += "ü"
	if got := ToPagerDuty(n, Trigger).Payload.Summary; utf8.RuneCountInString(got) != maxSummary || !strings.HasSuffix(got, "ü…") {
		t.Errorf("a longer one has %d characters", utf8.RuneCountInString(got))
	}
	about := strings.Repeat("a", maxDedup-len("rollcall/"))
	if got := dedupKey(about); got != "rollcall/"+about {
		t.Errorf("a key of the limit: %s", got)
	}
	if got := dedupKey(about + "a"); len(got) != len("rollcall/")+64 {
		t.Errorf("a longer one: %s", got)
	}
}

// TestDelivery: the name of a delivery is that of the documentation.
func TestDelivery(t *testing.T) {
	// printf 'webhook=x\nevent' | sha256sum | cut -c1-32
	if got := Delivery("webhook=x", "event"); got != "4b54d06dc31a35b91f57dd5e8732851f" {
		t.Error(got)
	}
}
