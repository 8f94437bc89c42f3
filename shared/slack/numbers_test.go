package slack

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	slackgo "github.com/slack-go/slack"

	"rollcall/shared/incident"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/slack/slacktext"
)

// TestEveryNumberIsOfTheRecord: no message makes a number up, and none mixes two looks:
// each stands in the one record that it is drawn from, or is counted there.
func TestEveryNumberIsOfTheRecord(t *testing.T) {
	for _, s := range scenes() {
		known := numbersOf(t, s.incident)
		for _, n := range s.notes {
			for number := range numbersOf(t, n) {
				known[number] = true
			}
			// A reply tells of its own moment.
			for _, d := range []time.Duration{n.Within, n.At.Sub(s.incident.Began)} {
				spanned(known, d)
			}
		}
		messages := []slackapi.Message{Render(s.incident, s.options())}
		for _, n := range s.notes {
			messages = append(messages, RenderNote(s.incident, n))
		}
		for _, m := range messages {
			for _, number := range shownNumbers(m) {
				if !known[number] {
					t.Errorf("%s: %s stands in the message, and in nothing that it is drawn from:\n%s", s.name, number, read([]slackapi.Message{m}))
				}
			}
		}
	}
}

// TestANumberThatIsNotOfTheRecordIsSeen: the property is one that a message can break.
func TestANumberThatIsNotOfTheRecordIsSeen(t *testing.T) {
	i := incidentOf(noEgress(), nil)
	other := i
	other.Affected = 4711
	known := numbersOf(t, i)
	for _, number := range shownNumbers(Render(other, Options{})) {
		if !known[number] {
			return
		}
	}
	t.Error("a message of another record breaks nothing")
}

var number = regexp.MustCompile(`\d[\d,]*`)

// numbersOf are the numbers of a record, those counted of it, and the spans between its
// times.
func numbersOf(t *testing.T, record any) map[string]bool {
	t.Helper()
	body, err := json.Marshal(record)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, n := range number.FindAllString(string(body), -1) {
		known[strings.ReplaceAll(strings.TrimRight(n, ","), ",", "")] = true
	}
	i, is := record.(incident.Incident)
	if !is {
		return known
	}
	count := func(n int) { known[strconv.Itoa(n)] = true }
	k := tallyOf(i)
	for _, n := range []int{k.all, k.waiting, k.missed, k.joined, k.gone, k.givenUp, k.out(), len(i.Cause.Pods), len(i.Cause.Pods) - 1, len(i.Covers), i.Number} {
		count(n)
	}
	count(max(k.all-k.joined-k.missed-k.waiting-k.givenUp-k.gone, 0))
	for _, of := range i.Offers {
		count(len(of.Plan.Commands()))
		for _, text := range append(append(of.Plan.Steps(), of.Plan.Title(), of.Plan.Cost()), of.Plan.Undo()...) {
			for _, n := range number.FindAllString(text, -1) {
				known[strings.ReplaceAll(n, ",", "")] = true
			}
		}
	}
	if i.RecentChanges != nil {
		count(len(i.RecentChanges.Changes) + i.RecentChanges.More)
		count(len(i.RecentChanges.Changes) - 1 + i.RecentChanges.More)
	}
	spanned(known, outage(i))
	if i.Proof != nil {
		if d, ok := joinTime(*i.Proof); ok {
			spanned(known, d)
		}
	}
	return known
}

func spanned(known map[string]bool, d time.Duration) {
	for _, n := range number.FindAllString(slacktext.Span(d), -1) {
		known[n] = true
	}
}

// shownNumbers are the numbers of a message that a reader takes for facts: not those of
// ids, of times, of commands, of lists that say how much they leave out.
func shownNumbers(m slackapi.Message) (list []string) {
	var take func(e any)
	take = func(e any) {
		switch e := e.(type) {
		case *slackgo.RichTextSection:
			for _, x := range e.Elements {
				take(x)
			}
		case *slackgo.RichTextList:
			for _, x := range e.Elements {
				take(x)
			}
		case *slackgo.RichTextSectionTextElement:
			if (e.Style != nil && e.Style.Code) || strings.Contains(e.Text, "more ") || strings.Contains(e.Text, "left out") {
				return
			}
			for _, word := range strings.FieldsFunc(e.Text, func(r rune) bool { return strings.ContainsRune(" \u2003();:%×+→\n", r) }) {
				word = strings.ReplaceAll(strings.Trim(word, ".,\"'"), ",", "")
				if _, err := strconv.Atoi(word); err == nil {
					list = append(list, word)
				}
			}
		}
	}
	for _, b := range m.Blocks {
		if rich, is := b.(*slackgo.RichTextBlock); is {
			for _, e := range rich.Elements {
				take(e)
			}
		}
	}
	return list
}
