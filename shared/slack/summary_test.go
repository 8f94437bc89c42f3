package slack

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	slackgo "github.com/slack-go/slack"

	"rollcall/local/fakeslack"
	"rollcall/shared/chart"
	"rollcall/shared/node/spot"
	"rollcall/shared/outbox"
	"rollcall/shared/report"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/slack/slacktext"
)

func (s summaryScene) messages() []slackapi.Message {
	list := []slackapi.Message{RenderSummary(s.summary, s.picture)}
	if s.summary.Kind == report.WeeklySummary || s.summary.Kind != report.CleanupSummary && !s.summary.Quiet() {
		list = append(list, RenderSummaryDetails(s.summary)...)
	}
	return list
}

// TestSummaryGolden holds every summary against its two files: the blocks as
// they are sent, and how they read.
func TestSummaryGolden(t *testing.T) {
	want := map[string]bool{}
	for _, s := range summaryScenes() {
		golden(t, filepath.Join("summaries", s.name+".golden.json"), wire(t, s.messages()))
		golden(t, filepath.Join("summaries", s.name+".txt"), []byte(read(s.messages())))
		want[s.name+".golden.json"], want[s.name+".txt"] = true, true
	}
	files, err := os.ReadDir("testdata/summaries")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !want[f.Name()] {
			t.Errorf("testdata/summaries/%s belongs to no scene", f.Name())
		}
	}
}

// TestSummariesAreShort: read in ten seconds. A person reads about four words
// a second.
func TestSummariesAreShort(t *testing.T) {
	for _, s := range summaryScenes() {
		if s.name == "hostile" || s.name == "huge" || s.summary.Kind != report.SpotSummary {
			continue
		}
		text := read(s.messages()[:1])
		// The table and the ruled out are looked at, not read.
		told, _, _ := strings.Cut(text, "Worst pools")
		told, _, _ = strings.Cut(told, "Ruled out")
		if n := len(strings.Fields(told)); n > 60 {
			t.Errorf("%s: %d words up to the explanation:\n%s", s.name, n, told)
		}
		if n := strings.Count(text, "\n"); n > 26 {
			t.Errorf("%s: %d lines", s.name, n)
		}
	}
}

// A phone does not wrap the table, whatever the pools are called.
func TestTableFitsAPhone(t *testing.T) {
	long := pool("u7in-24tb.224xlarge", "us-west-2a", 1030, 12, 3, 4)
	long.Lost = 20
	for name, pools := range map[string][]spot.Pool{
		"long names":         {long, pool("m5.large", "us-west-2b", 1, 1, 1, 1)},
		"numbers everywhere": {pool("c6gd.12xlarge", "us-west-2b", 127, 11, 1, 9)},
	} {
		p := newPage(place{"aws", "us-west-2"}, morning, slacktext.WidestRoom)
		for _, row := range p.fitting(pools) {
			if utf8.RuneCountInString(row) > phone {
				t.Errorf("%s: %q has %d characters", name, row, utf8.RuneCountInString(row))
			}
		}
	}
}

// What is ruled out takes a line each on a desk's screen, and nothing of it is cut.
func TestRuledOutIsShort(t *testing.T) {
	for _, s := range summaryScenes() {
		if s.name == "hostile" || s.name == "huge" || s.summary.Kind != report.SpotSummary {
			continue
		}
		_, ruled, _ := strings.Cut(read(s.messages()[:1]), "Ruled out\n")
		ruled, _, _ = strings.Cut(ruled, "\nChange")
		for line := range strings.SplitSeq(ruled, "\n") {
			if utf8.RuneCountInString(line) > 110 || strings.Contains(line, "…") {
				t.Errorf("%s: %q", s.name, line)
			}
		}
	}
}

func TestSummariesKeepToLimits(t *testing.T) {
	for _, s := range summaryScenes() {
		for i, m := range s.messages() {
			if len(m.Blocks) > slacktext.MaxBlocks || slacktext.Size(m.Blocks) > slacktext.MaxSize || len(m.Text) > slacktext.MaxText {
				t.Errorf("%s, %d: %d blocks of %d bytes, text of %d", s.name, i, len(m.Blocks), slacktext.Size(m.Blocks), len(m.Text))
			}
			if strings.ContainsAny(m.Text, "<>\x00\u202e") {
				t.Errorf("%s: the notification is %q", s.name, m.Text)
			}
		}
	}
}

// The first lines, as people read them in a list of messages.
func TestFirstLines(t *testing.T) {
	want := map[string]string{
		"burst":         "🔴 prod · Spot in the last 24 h: 31 of 412 launches did not join, 28 of them in one burst",
		"reclaimed":     "🔴 prod · Spot in the last 24 h: 14 of 254 launches did not join, 11 of them c5.large in us-west-2b",
		"failing-pool":  "🔴 prod · Spot in the last 24 h: 23 of 325 launches did not join, 22 of them r5b.large in us-west-2a",
		"route":         "🔴 prod · Spot in the last 24 h: 23 of 195 launches did not join, all of them in us-west-2c",
		"all-well":      "✅ prod · Spot in the last 24 h: 412 launches, all joined; slowest pool c5.large in us-west-2b, 95 s",
		"none-failed":   "⚪ prod · Spot in the last 24 h: 17 launches, none failed: 12 joined, 3 not due yet, 1 ended on purpose, 1 of unknown end",
		"nothing-known": "🔴 prod · Spot in the last 24 h: 3 of 5 launches did not join, all of them in us-west-2a",
		"week":          "🔴 prod · Spot in the last 7 days: 31 of 412 launches did not join, 28 of them in one burst",
	}
	for _, s := range summaryScenes() {
		if w, ok := want[s.name]; ok {
			if diff := cmp.Diff(w, RenderSummary(s.summary, s.picture).Text); diff != "" {
				t.Errorf("%s (-want +got):\n%s", s.name, diff)
			}
		}
	}
	one := told(pool("m5.large", "us-west-2a", 1, 0, 0, 0))
	if got := RenderSummary(one, outbox.Picture{}); !strings.HasSuffix(got.Text, ": 1 launch, joined") || len(got.Blocks) != 1 {
		t.Errorf("one launch is %q in %d blocks", got.Text, len(got.Blocks))
	}
}

// Whatever a summary holds, rendering it ends in messages within the limits.
func FuzzRenderSummary(f *testing.F) {
	for _, s := range summaryScenes() {
		body, err := json.Marshal(s.summary)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var s report.Summary
		if json.Unmarshal(body, &s) != nil {
			return
		}
		for _, m := range (summaryScene{summary: s}).messages() {
			if m.Text == "" || len(m.Blocks) > slacktext.MaxBlocks || slacktext.Size(m.Blocks) > slacktext.MaxSize {
				t.Fatalf("%q, %d blocks of %d bytes", m.Text, len(m.Blocks), slacktext.Size(m.Blocks))
			}
		}
	})
}

// postSummary does what report does: the picture, the message, its details.
func postSummary(t *testing.T, c *slackapi.Client, channel string, s summaryScene, drawn bool) {
	t.Helper()
	picture := s.picture
	if picture.File != "" {
		f := slackapi.File{Name: "spot.png", Title: "Spot", Alt: "a chart", Data: []byte("\x89PNG\r\n\x1a\nrest")}
		var err error
		if drawn {
			if f.Data, err = chart.Spot(s.summary.Spot, s.samples, chart.ForSlack()); err != nil {
				t.Fatal(err)
			}
		}
		if picture.File, err = c.Upload(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	ts, err := c.Post(t.Context(), channel, RenderSummary(s.summary, picture))
	if err != nil {
		t.Fatalf("%s: %v", s.name, err)
	}
	if s.summary.Kind == report.WeeklySummary || s.summary.Kind != report.CleanupSummary && !s.summary.Quiet() {
		for _, m := range RenderSummaryDetails(s.summary) {
			if _, err := c.Reply(t.Context(), channel, ts, m); err != nil {
				t.Fatalf("%s, details: %v", s.name, err)
			}
		}
	}
}

// TestSummariesAreTaken: the stand-in, which is as strict as Slack, takes them
// with their pictures. With ROLLCALL_SUMMARIES naming a file it writes the
// page's address there, and keeps the page up until the file is deleted.
func TestSummariesAreTaken(t *testing.T) {
	s, c := serveSlack(t, fakeslack.Config{Now: func() time.Time { return morning.Add(3 * time.Minute) }})
	file, only := os.Getenv("ROLLCALL_SUMMARIES"), os.Getenv("ROLLCALL_SUMMARY_SCENES")
	posted := 0
	for _, sc := range summaryScenes() {
		if only == "" || strings.Contains(","+only+",", ","+sc.name+",") {
			postSummary(t, c, "C0000000001", sc, file != "")
			posted++
		}
	}
	if n := len(s.Messages("C0000000001")); n != posted {
		t.Errorf("%d messages in the channel, want %d: the pictures are in them", n, posted)
	}
	if file != "" {
		hold(t, file, s.URL())
	}
}

// TestSummaryIsFound: after a lost answer the message is found by its tag.
func TestSummaryIsFound(t *testing.T) {
	s, c := serveSlack(t, fakeslack.Config{})
	scene := summaryScenes()[1]
	m := RenderSummary(scene.summary, scene.picture)
	if err := s.Inject(fakeslack.Fault{Method: "chat.postMessage", Times: 1, Reset: true, Applied: true}); err != nil {
		t.Fatal(err)
	}
	since := time.Now()
	if _, err := c.Post(t.Context(), "C0000000001", m); err == nil {
		t.Fatal("the answer was lost, and Post gave no error")
	}
	found, err := c.Find(t.Context(), slackapi.Search{Channel: "C0000000001", Tag: m.Tag, Since: since})
	if err != nil || found.TS == "" {
		t.Errorf("Find gave %+v, %v", found, err)
	}
	if found, err := c.Find(t.Context(), slackapi.Search{Channel: "C0000000001", Tag: SummaryTag("another", ""), Since: since}); err != nil || found.TS != "" {
		t.Errorf("Find of another summary gave %+v, %v", found, err)
	}
}

func TestReadingAPicture(t *testing.T) {
	m := RenderSummary(summaryScenes()[0].summary, outbox.Picture{File: "F0123456789"})
	if m.Picture() != "F0123456789" {
		t.Errorf("the picture is %q", m.Picture())
	}
	body, err := json.Marshal(m.Blocks)
	if err != nil || !bytes.Contains(body, []byte(`"slack_file":{"id":"F0123456789"}`)) {
		t.Errorf("%s, %v", body, err)
	}
	if (slackapi.Message{Blocks: []slackgo.Block{slackgo.NewDividerBlock()}}).Picture() != "" {
		t.Error("a line is a picture")
	}
}

// TestAnIntervalThatSaysNothingIsNotSaid: of few launches any share is possible.
func TestAnIntervalThatSaysNothingIsNotSaid(t *testing.T) {
	for _, test := range []struct {
		low, high float64
		said      bool
	}{{0.02, 1, false}, {0.2, 0.71, false}, {0.25, 0.75, true}, {0.04, 0.35, true}, {0, 0.04, true}, {0.3, 0.3, false}} {
		got := judged(spot.Pool{Type: "m5.large", Zone: "us-west-2a", Spot: true, Funnel: spot.Funnel{Requested: 5, Joined: 1}, Low: test.low, High: test.high})
		if strings.Contains(got, "interval") != test.said || !strings.Contains(got, "1 of 5 joined") {
			t.Errorf("%g to %g: %q, want the interval %t", test.low, test.high, got, test.said)
		}
	}
}
