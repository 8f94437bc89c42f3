package slack

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	slackgo "github.com/slack-go/slack"

	"rollcall/local/testfull"
	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/slack/slacktext"
)

// TestNeverPastTheLimits draws odd and huge incidents and holds each message
// against Slack's limits.
func TestNeverPastTheLimits(t *testing.T) {
	// Each of thirty wild incidents has all the texts too long, too odd or too many.
	for seed := range uint64(testfull.Of(120, 30)) {
		w := wild{rand.New(rand.NewPCG(seed, 2))}
		i := w.incident()
		messages := []slackapi.Message{Render(i, Options{Actions: true, Now: w.time()})}
		for _, n := range i.Delivery.Notes {
			messages = append(messages, RenderNote(i, n))
		}
		for n, m := range messages {
			for _, problem := range problems(m) {
				t.Errorf("seed %d, message %d: %s", seed, n, problem)
			}
		}
		if t.Failed() {
			return
		}
	}
}

// problems are the limits that a message breaks.
func problems(m slackapi.Message) []string {
	var list []string
	text := calls().ReplaceAllString(m.Text, "")
	if text == "" || slacktext.Length(m.Text) > slacktext.MaxText || strings.ContainsAny(text, "<>\n") || strings.Contains(strings.NewReplacer("&amp;", "", "&lt;", "", "&gt;", "").Replace(m.Text), "&") {
		list = append(list, "text "+m.Text)
	}
	if len(m.Blocks) == 0 || len(m.Blocks) > slacktext.MaxBlocks {
		list = append(list, "number of blocks "+slacktext.Number(len(m.Blocks)))
	}
	if n := slacktext.Size(m.Blocks); n > slacktext.MaxSize {
		list = append(list, "size "+slacktext.Number(n))
	}
	for _, b := range m.Blocks {
		if image, is := b.(*slackgo.ImageBlock); is {
			if image.SlackFile == nil || image.SlackFile.ID == "" || image.AltText == "" || slacktext.Length(image.AltText) > slackapi.MaxAlt {
				list = append(list, "a picture without a file or a text")
			}
			continue
		}
		if row, is := b.(*slackgo.ActionBlock); is {
			list = append(list, buttonProblems(row)...)
			continue
		}
		block := b.(*slackgo.RichTextBlock)
		if len(block.Elements) == 0 {
			list = append(list, "an empty block")
		}
		for _, e := range block.Elements {
			list = append(list, partProblems(e)...)
		}
	}
	return list
}

func partProblems(e slackgo.RichTextElement) (list []string) {
	var items []slackgo.RichTextSectionElement
	switch e := e.(type) {
	case *slackgo.RichTextSection:
		items = e.Elements
		for _, item := range items {
			text := ""
			switch item := item.(type) {
			case *slackgo.RichTextSectionTextElement:
				text = item.Text
			case *slackgo.RichTextSectionLinkElement:
				text = item.Text
			}
			// A line of its own in a sentence could be taken for one of Rollcall's.
			if strings.ContainsAny(text, "\n\r\v\f\u0085\u2028\u2029") {
				list = append(list, "a broken line: "+strconv.Quote(text))
			}
		}
	case *slackgo.RichTextPreformatted:
		items = e.Elements
	case *slackgo.RichTextList:
		for _, item := range e.Elements {
			list = append(list, partProblems(item)...)
		}
		if len(e.Elements) == 0 {
			list = append(list, "an empty list")
		}
		return list
	}
	if len(items) == 0 {
		list = append(list, "an empty section")
	}
	for _, item := range items {
		switch item := item.(type) {
		case *slackgo.RichTextSectionTextElement:
			list = append(list, textProblems(item.Text)...)
		case *slackgo.RichTextSectionLinkElement:
			list = append(list, textProblems(item.Text)...)
			if !strings.HasPrefix(item.URL, "https://") || slacktext.Length(item.URL) > 3000 {
				list = append(list, "link to "+item.URL)
			}
		case *slackgo.RichTextSectionDateElement:
			if item.Timestamp < 0 || item.Fallback == nil || !strings.HasSuffix(*item.Fallback, " UTC") {
				list = append(list, "a time that cannot be read")
			}
		case *slackgo.RichTextSectionUserElement:
			if !slices.Contains([]string{"U0ONCALL01", "U0DEV00001"}, item.UserID) {
				list = append(list, "a mention of "+item.UserID)
			}
		case *slackgo.RichTextSectionUserGroupElement:
			if item.UsergroupID != "S0LEADS001" {
				list = append(list, "a mention of the group "+item.UsergroupID)
			}
		case *slackgo.RichTextSectionBroadcastElement:
			if item.Range != "here" {
				list = append(list, "a mention of "+item.Range)
			}
		default:
			list = append(list, "an element that could mention people")
		}
	}
	return list
}

func textProblems(s string) []string {
	switch {
	case s == "":
		return []string{"an empty text"}
	case slacktext.Length(s) > slacktext.MaxPiece:
		return []string{"a text of " + slacktext.Number(slacktext.Length(s))}
	case !utf8.ValidString(s):
		return []string{"a text that is not UTF-8"}
	case strings.ContainsFunc(s, func(r rune) bool {
		return r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r))
	}):
		return []string{"control characters"}
	}
	return nil
}

// TestSayWhatIsLeftOut: what does not fit is counted, and a command is whole
// or not there.
func TestSayWhatIsLeftOut(t *testing.T) {
	long := strings.Repeat("aws ec2 create-route --route-table-id rtb-0cd2 ", 100)
	i := incidentOf(noEgress(), launches(200, report.Missed))
	i.Cause.Fix.Command = long
	got := read([]slackapi.Message{Render(i, Options{})})
	if strings.Contains(got, "aws ec2 create-route") || !strings.Contains(got, "The command is too long to show here.") {
		t.Errorf("a long command was cut and not left out:\n%s", got)
	}
	got = read([]slackapi.Message{RenderNote(i, note(i, incident.Opened, began))})
	if want := "… and 175 more instances left out here"; !strings.Contains(got, want) {
		t.Errorf("the thread does not say %q:\n%s", want, got)
	}
}

// TestSizeIsWhatIsSent keeps the measure honest.
func TestSizeIsWhatIsSent(t *testing.T) {
	m := Render(incidentOf(noEgress(), nil), Options{})
	sent, err := json.Marshal(m.Blocks)
	if err != nil {
		t.Fatal(err)
	}
	if got := slacktext.Size(m.Blocks); got != len(sent) {
		t.Errorf("size = %d, want %d", got, len(sent))
	}
}
