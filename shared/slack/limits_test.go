package slack

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	slackgo "github.com/slack-go/slack"

	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// TestNeverPastTheLimits draws odd and huge incidents and holds each message
// against Slack's limits.
func TestNeverPastTheLimits(t *testing.T) {
	for seed := range uint64(120) {
		w := wild{rand.New(rand.NewPCG(seed, 2))}
		i := w.incident()
		messages := []Message{Render(i)}
		for _, n := range i.Said.Notes {
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
func problems(m Message) []string {
	var list []string
	if m.Text == "" || length(m.Text) > maxText || strings.ContainsAny(m.Text, "<>\n") || strings.Contains(strings.NewReplacer("&amp;", "", "&lt;", "", "&gt;", "").Replace(m.Text), "&") {
		list = append(list, "text "+m.Text)
	}
	if len(m.Blocks) == 0 || len(m.Blocks) > maxBlocks {
		list = append(list, "number of blocks "+number(len(m.Blocks)))
	}
	if n := size(m.Blocks); n > maxSize {
		list = append(list, "size "+number(n))
	}
	for _, b := range m.Blocks {
		if image, is := b.(*slackgo.ImageBlock); is {
			if image.SlackFile == nil || image.SlackFile.ID == "" || image.AltText == "" || length(image.AltText) > maxAlt {
				list = append(list, "a picture without a file or a text")
			}
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

func partProblems(e slackgo.RichTextElement) []string {
	var items []slackgo.RichTextSectionElement
	switch e := e.(type) {
	case *slackgo.RichTextSection:
		items = e.Elements
	case *slackgo.RichTextPreformatted:
		items = e.Elements
	case *slackgo.RichTextList:
		var list []string
		for _, item := range e.Elements {
			list = append(list, partProblems(item)...)
		}
		if len(e.Elements) == 0 {
			list = append(list, "an empty list")
		}
		return list
	}
	var list []string
	if len(items) == 0 {
		list = append(list, "an empty section")
	}
	for _, item := range items {
		switch item := item.(type) {
		case *slackgo.RichTextSectionTextElement:
			list = append(list, textProblems(item.Text)...)
		case *slackgo.RichTextSectionLinkElement:
			list = append(list, textProblems(item.Text)...)
			if !strings.HasPrefix(item.URL, "https://") || length(item.URL) > 3000 {
				list = append(list, "link to "+item.URL)
			}
		case *slackgo.RichTextSectionDateElement:
			if item.Timestamp < 0 || item.Fallback == nil || !strings.HasSuffix(*item.Fallback, " UTC") {
				list = append(list, "a time that cannot be read")
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
	case length(s) > maxPiece:
		return []string{"a text of " + number(length(s))}
	case !utf8.ValidString(s):
		return []string{"a text that is not UTF-8"}
	case strings.ContainsFunc(s, func(r rune) bool {
		return r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r))
	}):
		return []string{"control characters"}
	}
	return nil
}

// wild makes incidents that nobody would.
type wild struct{ *rand.Rand }

func (w wild) text(most int) string {
	parts := []string{
		"subnet-0ab1c2d3e4f5a6b7c ", "<!channel> ", "`", "```", "🔥", "\x00", "\x1b[0m", "\u202e", "&<>", "\n", "\t", "é", "i-0ef3a5b ",
		"rtb-0cd2 ", "10.0.0.0/8 ", "\\\"", "\xff\xfe", "a very plain word ", "日本語", strings.Repeat("x", 300), "http://x.y/z ", ": ", "<@U1|x> ",
	}
	var b strings.Builder
	if w.IntN(4) == 0 {
		return ""
	}
	for b.Len() < w.IntN(most)+1 {
		b.WriteString(parts[w.IntN(len(parts))])
	}
	return b.String()
}

func (w wild) some(most int) []string {
	list := make([]string, w.IntN(most+1))
	for n := range list {
		list[n] = w.text(120)
	}
	return list
}

func (w wild) time() time.Time {
	switch w.IntN(6) {
	case 0:
		return time.Time{}
	case 1:
		return time.Unix(-5, 0)
	}
	return time.Unix(w.Int64N(4e9), 0)
}

func (w wild) evidence() []checks.Evidence {
	list := make([]checks.Evidence, w.IntN(40))
	for n := range list {
		list[n] = checks.Evidence{What: w.text(80), Value: w.text(900)}
	}
	return list
}

func (w wild) launch() report.Launch {
	standings := []report.Standing{report.Waiting, report.Missed, report.Joined, report.Gone, report.GivenUp, "", "odd"}
	return report.Launch{
		Instance: w.text(60), Nodegroup: w.text(80), Group: w.text(80), Subnet: w.text(40), Zone: w.text(40), Type: w.text(40),
		Started: w.time(), Standing: standings[w.IntN(len(standings))], Ready: w.time(), Ended: w.time(), EndedWhy: w.text(3000),
	}
}

func (w wild) blind() []snapshot.Failure {
	reasons := []snapshot.Reason{snapshot.Denied, snapshot.Throttled, snapshot.TimedOut, snapshot.Unreachable, snapshot.Broken, snapshot.NotRead, ""}
	list := make([]snapshot.Failure, w.IntN(20))
	for n := range list {
		list[n] = snapshot.Failure{
			Source: snapshot.Source(w.text(60)), Reason: reasons[w.IntN(len(reasons))], Call: w.text(200), Code: w.text(60), Message: w.text(5000),
		}
	}
	return list
}

func (w wild) facts() []report.Fact {
	list := make([]report.Fact, w.IntN(40))
	for n := range list {
		list[n] = report.Fact{What: w.text(300), Value: w.text(5000)}
	}
	return list
}

func (w wild) incident() report.Incident {
	pick := func(list ...string) string { return list[w.IntN(len(list))] }
	i := report.Incident{
		Key:    report.Key{Cluster: w.text(200), Check: checks.ID(pick("route/no-egress", string(report.CannotLook), "ip/leaked-interfaces", "ip/runway", w.text(200))), Resource: w.text(200)},
		Region: pick("us-west-2", "eu-central-1", w.text(30)), Partition: pick("aws", "aws-cn", "aws-us-gov", w.text(10)),
		State: report.State(pick("open", "cleared", "closed", "pending", "odd")), Ending: report.Ending(pick("proved", "unproved", "superseded", "withdrawn", "", "odd")),
		Number: w.IntN(5), Began: w.time(), Changed: w.time(), Cleared: w.time(), Resolved: w.time(),
		Cause: diagnose.Cause{
			Confidence: checks.Confidence(pick("certain", "likely", "possible", "symptom", "advice", "odd")),
			Title:      w.text(500), Why: w.text(9000), Evidence: w.evidence(), Nodegroups: w.some(40),
			Fix: checks.Fix{Text: w.text(4000), Command: w.text(8000), Console: pick("", "https://console.aws.amazon.com/"+strings.Repeat("a", w.IntN(4000)), "javascript:alert(1)", w.text(90))},
		},
		Affected: w.IntN(5000), ClearedBy: w.evidence(), Blind: w.blind(),
	}
	if w.IntN(2) == 0 {
		i.Sketch = &report.Sketch{File: pick("", "F0123456789"), Alt: w.text(5000)}
		i.By = &report.Key{Check: checks.ID(pick("ip/leaked-interfaces", "ip/subnet-exhausted", w.text(50))), Resource: w.text(90)}
	}
	for range w.IntN(12) {
		i.Effects = append(i.Effects, report.Effect{Check: checks.ID(pick("ip/runway", "launch/subnet-full", w.text(30))), Title: w.text(900), Since: w.time(), Last: w.time(), Told: w.time(), Apart: w.IntN(2) == 0})
	}
	for range w.IntN(400) {
		i.Launches = append(i.Launches, w.launch())
	}
	for _, s := range w.some(30) {
		i.Cause.Hidden = append(i.Cause.Hidden, diagnose.Hidden{Check: checks.ID(s)})
		i.Cause.Contributing = append(i.Cause.Contributing, checks.ID(s))
		i.Cause.Symptoms = append(i.Cause.Symptoms, checks.ID(s))
	}
	if w.IntN(2) == 0 {
		l := w.launch()
		i.Proof = &l
	}
	for _, r := range append(reasons(), "odd") {
		if w.IntN(3) > 0 {
			continue
		}
		n := report.Note{
			ID: string(r) + "-2", Reason: r, Says: w.text(900), At: w.time(), Count: w.IntN(3000), Evidence: w.evidence(), Facts: w.facts(), Launch: i.Proof, Blind: w.blind(),
		}
		for range w.IntN(report.MaxNamed) {
			n.Instances = append(n.Instances, w.text(60))
		}
		i.Said.Notes = append(i.Said.Notes, n)
	}
	return i
}

// TestSayWhatIsLeftOut: what does not fit is counted, and a command is whole
// or not there.
func TestSayWhatIsLeftOut(t *testing.T) {
	long := strings.Repeat("aws ec2 create-route --route-table-id rtb-0cd2 ", 100)
	i := incident(noEgress(), launches(200, report.Missed))
	i.Cause.Fix.Command = long
	got := read([]Message{Render(i)})
	if strings.Contains(got, "aws ec2 create-route") || !strings.Contains(got, "The command is too long for this message.") {
		t.Errorf("a long command was cut and not left out:\n%s", got)
	}
	got = read([]Message{RenderNote(i, note(i, report.Opened, began))})
	if want := "… and 175 more instances left out here"; !strings.Contains(got, want) {
		t.Errorf("the thread does not say %q:\n%s", want, got)
	}
}

func TestClip(t *testing.T) {
	for _, tt := range []struct {
		s    string
		n    int
		want string
	}{
		{"", 5, ""}, {"short", 5, "short"}, {"longer", 5, "long…"}, {"日本語", 3, "日本語"}, {"日本語です", 3, "日本…"},
		{"🔥🔥", 4, "🔥🔥"}, {"🔥🔥🔥", 4, "🔥…"}, {"a b c", 4, "a b…"}, {"ab  cd", 5, "ab…"},
	} {
		if got := clip(tt.s, tt.n); got != tt.want {
			t.Errorf("clip(%q, %d) = %q, want %q", tt.s, tt.n, got, tt.want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("a\x00b\u202ec\xff", 5)
	f.Add("🔥 日本語", 3)
	f.Fuzz(func(t *testing.T, s string, n int) {
		n = max(1, n%4000)
		got := clip(clean(s), n)
		if length(got) > n || !utf8.ValidString(got) || slices.ContainsFunc([]rune(got), func(r rune) bool { return r != '\n' && unicode.IsControl(r) }) {
			t.Errorf("clip(clean(%q), %d) = %q", s, n, got)
		}
	})
}

// TestSizeIsWhatIsSent keeps the measure honest.
func TestSizeIsWhatIsSent(t *testing.T) {
	m := Render(incident(noEgress(), nil))
	sent, err := json.Marshal(m.Blocks)
	if err != nil {
		t.Fatal(err)
	}
	if got := size(m.Blocks); got != len(sent) {
		t.Errorf("size = %d, want %d", got, len(sent))
	}
}
