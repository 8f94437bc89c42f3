package slack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	slackgo "github.com/slack-go/slack"

	"rollcall/shared/chart"
	"rollcall/shared/checkid"
	"rollcall/shared/node/spotreport"
	"rollcall/shared/outbox"
	"rollcall/shared/report"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/slack/slacktext"
	"rollcall/shared/snapshot"
	"rollcall/stage/fakeslack"
	"rollcall/tools/goldens"
)

func (s summaryScene) messages() []slackapi.Message {
	list := []slackapi.Message{RenderSummary(s.summary, s.picture)}
	if s.summary.Kind == report.WeeklySummary || s.summary.Kind != report.CleanupSummary && !s.summary.Quiet() {
		list = append(list, RenderSummaryDetails(s.summary)...)
	}
	return list
}

// TestSummaryGolden holds every summary: how it reads, and the blocks as they are sent.
func TestSummaryGolden(t *testing.T) {
	folder := goldens.New("testdata/summaries", "slack/summaries", update)
	var names []string
	for _, s := range summaryScenes() {
		folder.Sent(t, s.name, wire(t, s.messages()))
		folder.Text(t, s.name, []byte(read(s.messages())))
		names = append(names, s.name)
	}
	folder.Only(t, names...)
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
	for name, pools := range map[string][]spotreport.Pool{
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
		"burst":         "🟠 prod · Spot in the last 24 h: 31 of 412 launches did not join, 28 of them in one burst",
		"reclaimed":     "🟠 prod · Spot in the last 24 h: 14 of 254 launches did not join, 11 of them c5.large in us-west-2b",
		"failing-pool":  "🟠 prod · Spot in the last 24 h: 23 of 325 launches did not join, 22 of them r5b.large in us-west-2a",
		"route":         "🟠 prod · Spot in the last 24 h: 23 of 195 launches did not join, all of them in us-west-2c",
		"all-well":      "✅ prod · Spot in the last 24 h: 412 launches, all joined; slowest pool c5.large in us-west-2b, 95 s",
		"none-failed":   "⚪ prod · Spot in the last 24 h: 17 launches, none failed: 12 joined, 3 not due yet, 1 ended on purpose, 1 with unknown outcome",
		"nothing-known": "🟠 prod · Spot in the last 24 h: 3 of 5 launches did not join, all of them in us-west-2a",
		"week":          "🟠 prod · Spot in the last 7 days: 31 of 412 launches did not join, 28 of them in one burst",
	}
	for _, s := range summaryScenes() {
		if w, ok := want[s.name]; ok {
			if diff := cmp.Diff(w, RenderSummary(s.summary, s.picture).Text); diff != "" {
				t.Errorf("%s (-want +got):\n%s", s.name, diff)
			}
		}
	}
	one := spotSummary(pool("m5.large", "us-west-2a", 1, 0, 0, 0))
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
		got := judged(spotreport.Pool{Type: "m5.large", Zone: "us-west-2a", Spot: true, Funnel: spotreport.Funnel{Requested: 5, Joined: 1}, Low: test.low, High: test.high})
		if strings.Contains(got, "interval") != test.said || !strings.Contains(got, "1 of 5 joined") {
			t.Errorf("%g to %g: %q, want the interval %t", test.low, test.high, got, test.said)
		}
	}
}

var morning = time.Date(2026, 3, 15, 8, 0, 0, 0, time.UTC)

// summaryScene is a summary with what the chart needs beside it.
type summaryScene struct {
	name    string
	summary report.Summary
	samples []snapshot.Sample
	picture outbox.Picture
}

func pool(kind, zone string, joined, not, back, refused int) spotreport.Pool {
	n := joined + not + back + refused
	return spotreport.Pool{
		Type: kind, Zone: zone, Spot: true, Nodegroups: []string{"workers-spot"}, Low: 0, High: 1, P: 1,
		Funnel: spotreport.Funnel{Requested: n, Refused: refused, Launched: n - refused, Reclaimed: back, NotJoined: not, Joined: joined},
	}
}

func onDemand(joined int) spotreport.Pool {
	p := pool("m5.large", "us-west-2a", joined, 0, 0, 0)
	p.Spot = false
	return p
}

// spotSummary makes a summary of pools.
func spotSummary(pools ...spotreport.Pool) report.Summary {
	s := report.Summary{
		Format: report.SummaryFormat, Kind: report.SpotSummary, ID: "spot/prod/2026-03-15", By: "spot-report", At: morning.Add(2 * time.Minute),
		Account: "111122223333", Region: "us-west-2", Partition: "aws", Cluster: "prod",
		Spot: spotreport.Report{Cluster: "prod", From: morning.Add(-24 * time.Hour), To: morning, Pools: pools},
	}
	for _, p := range pools {
		f := &s.Spot.OnDemand
		if p.Spot {
			f = &s.Spot.Spot
		}
		f.Requested += p.Requested
		f.Refused += p.Refused
		f.Launched += p.Launched
		f.Reclaimed += p.Reclaimed
		f.NotJoined += p.NotJoined
		f.Joined += p.Joined
		f.Lost += p.Lost
		f.Open += p.Open
		f.Terminated += p.Terminated
		f.Unknown += p.Unknown
	}
	return s
}

const burstSubnet = "subnet-0ab1c2d3e4f5a6b7c"

func theBurst() spotreport.Burst {
	began := morning.Add(-18*time.Hour + 2*time.Minute)
	return spotreport.Burst{
		Subnet: burstSubnet, Zone: "us-west-2b", Began: began, Last: began.Add(80 * time.Second), Launches: 36, Nodegroups: []string{"workers-spot", "batch-spot"},
		Terms:  []spotreport.Term{{Type: "m5.4xlarge", Count: 8, Interfaces: 2, Addresses: 30, Each: 60}, {Type: "c5.large", Count: 28, Interfaces: 2, Addresses: 10, Each: 20}},
		Demand: 1040, Had: 251, HadKnown: true, Total: 251, Failed: 28,
	}
}

func baseLine(subnet string, total int, b ...spotreport.Burst) []snapshot.Sample {
	var list []snapshot.Sample
	for h := range 25 {
		list = append(list, snapshot.Sample{Subnet: subnet, At: morning.Add(time.Duration(h-24) * time.Hour), Free: total - h%4*5, Total: total})
	}
	for _, u := range b {
		for m, free := range []int{u.Had, u.Had / 2, 0, 0, 0, 40, 120} {
			list = append(list, snapshot.Sample{Subnet: subnet, At: u.Began.Add(time.Duration(m*m) * time.Minute), Free: free, Total: total})
		}
	}
	return list
}

// explain is an explanation in long and in short, as package spot writes them.
func explain(verdict spotreport.Verdict, of int, check checkid.ID, name, says, short string) spotreport.Explanation {
	return spotreport.Explanation{Name: name, Verdict: verdict, Says: says, Short: short, Of: of, Check: check}
}

func summaryScenes() []summaryScene {
	burst := spotSummary(
		pool("m5.4xlarge", "us-west-2b", 52, 16, 1, 0), pool("c5.large", "us-west-2b", 71, 12, 0, 0), pool("c5.large", "us-west-2a", 103, 0, 1, 0),
		pool("m5.4xlarge", "us-west-2a", 88, 0, 0, 1), pool("m5.large", "us-west-2c", 67, 0, 0, 0), onDemand(96))
	burst.Spot.Bursts = []spotreport.Burst{theBurst()}
	burst.Spot.Explanations = []spotreport.Explanation{
		explain(spotreport.Supported, 28, "spot/burst-exceeds-subnet", "The subnet was too small for the burst", "36 launches at once needed 1,040 addresses (8 nodes × 2 interfaces × 30 addresses + 28 nodes × 2 interfaces × 10 addresses), "+burstSubnet+" had 251; this explains 28 of the 31 Spot launches that failed.", "8 nodes × 2 interfaces × 30 addresses + 28 nodes × 2 interfaces × 10 addresses = 1,040; "+burstSubnet+" had 251."),
		explain(spotreport.Open, 2, "spot/reclaimed-before-join", "Spot interruptions", "EC2 reclaimed 2 of the 31 Spot launches that failed before they joined: 1 of m5.4xlarge in us-west-2b and 1 of c5.large in us-west-2a.", "EC2 reclaimed 2 of the 31 before they joined, 1 of them m5.4xlarge in us-west-2b."),
		explain(spotreport.Open, 1, "launch/insufficient-capacity", "No Spot capacity", "EC2 refused 1 of the 31 Spot launches that failed for lack of Spot capacity: 1 of m5.4xlarge in us-west-2a.", "EC2 refused 1 of the 31 for that, all m5.4xlarge in us-west-2a."),
		explain(spotreport.RuledOut, 0, "spot/pool-failing", "Bad Spot pool", "None of the 31 Spot launches that failed correlates with its pool.", "none of the 31 correlates with its pool."),
		explain(spotreport.RuledOut, 0, "", "Zone-specific fault", "No zone has an unexplained failure: every one of the 31 Spot launches that failed has a cause.", "no, each of the 31 has a cause."),
		explain(spotreport.RuledOut, 0, "node/not-registered", "The join time is too short", "None of the 31 Spot launches that failed became Ready later; of those that joined 95 % took at most 2 min 20 s.", "none of the 31 became Ready later; 95 % join within 2 min 20 s."),
		explain(spotreport.RuledOut, 0, "", "Spot itself", "Of the same types on the same days 2 of 90 Spot launches failed and 3 of 96 on-demand: on-demand does about as badly.", "on-demand 3 of 96 failed, Spot 2 of 90 (same types, same days)."),
	}
	burst.Spot.Change = []string{
		"Give batch-spot and workers-spot a /21 in us-west-2b instead of " + burstSubnet + ".",
	}
	burst.Spot.Assumed = []string{"aws-node could not be read: its defaults are taken (WARM_ENI_TARGET=1, no prefixes)."}

	reclaimed := spotSummary(pool("c5.large", "us-west-2b", 3, 0, 11, 0), pool("m5.large", "us-west-2a", 140, 0, 1, 0), pool("m5a.large", "us-west-2c", 97, 0, 0, 2), onDemand(24))
	reclaimed.Spot.Pools[0].Failing, reclaimed.Spot.Pools[0].P, reclaimed.Spot.Pools[0].Low, reclaimed.Spot.Pools[0].High = true, 3e-11, 0.05, 0.51
	reclaimed.Spot.Pools[0].Causes = []spotreport.Cause{{Name: "reclaimed", Count: 11}}
	reclaimed.Spot.Explanations = []spotreport.Explanation{
		explain(spotreport.Supported, 11, "spot/pool-failing", "Bad Spot pool", "c5.large in us-west-2b: 11 of 14 were reclaimed before they joined; in the other pools of workers-spot 1 of 240 failed.", "c5.large in us-west-2b: 11 of 14 were reclaimed, elsewhere 1 of 240 failed."),
		explain(spotreport.Supported, 12, "spot/reclaimed-before-join", "Spot interruptions", "EC2 reclaimed 12 of the 14 Spot launches that failed before they joined: 11 of c5.large in us-west-2b and 1 of m5.large in us-west-2a.", "EC2 reclaimed 12 of the 14 before they joined."),
		explain(spotreport.Open, 2, "launch/insufficient-capacity", "No Spot capacity", "EC2 refused 2 of the 14 Spot launches that failed for lack of Spot capacity: 2 of m5a.large in us-west-2c.", "EC2 refused 2 of the 14 for that, all m5a.large in us-west-2c."),
		explain(spotreport.RuledOut, 0, "spot/burst-exceeds-subnet", "The subnet was too small for the burst", "No burst needed more than was free: the largest, of 20 launches, needed 1,200 addresses, and subnet-0b20000000000000b had 8,187.", "the largest needed 1,200 of 8,187 addresses."),
		explain(spotreport.RuledOut, 0, "", "Zone-specific fault", "No zone has an unexplained failure: every one of the 14 Spot launches that failed has a cause.", "no, each of the 14 has a cause."),
		explain(spotreport.RuledOut, 0, "node/not-registered", "The join time is too short", "None of the 14 Spot launches that failed became Ready later; of those that joined 95 % took at most 2 min 20 s.", "none of the 14 became Ready later; 95 % join within 2 min 20 s."),
	}
	reclaimed.Spot.Change = []string{"Remove c5.large in us-west-2b from workers-spot.", "Add types: workers-spot has 3 pools."}

	failing := spotSummary(pool("r5b.large", "us-west-2a", 4, 22, 0, 0), pool("m5.large", "us-west-2a", 150, 1, 0, 0), pool("m5.large", "us-west-2b", 148, 0, 0, 0))
	failing.Spot.Pools[0].Failing, failing.Spot.Pools[0].P, failing.Spot.Pools[0].Low, failing.Spot.Pools[0].High = true, 2.3e-19, 0.04, 0.35
	failing.Spot.Pools[0].Causes = []spotreport.Cause{{Name: "node/not-registered", Count: 22}}
	failing.Spot.Explanations = []spotreport.Explanation{
		explain(spotreport.Supported, 22, "spot/pool-failing", "Bad Spot pool", "r5b.large in us-west-2a: 22 of 26 did not join; in the other pools of workers-spot 1 of 299 failed.", "r5b.large in us-west-2a: 22 of 26 did not join, elsewhere 1 of 299 failed."),
		explain(spotreport.Open, 0, "", "Spot itself", "There is no on-demand launch of the same types on the same days to compare with.", "no on-demand launch to compare with."),
		explain(spotreport.RuledOut, 0, "spot/burst-exceeds-subnet", "The subnet was too small for the burst", "No burst needed more than was free: the largest, of 20 launches, needed 180 addresses, and subnet-0ab1c2d3e4f5a6b7c had 251.", "the largest needed 180 of 251 addresses."),
		explain(spotreport.RuledOut, 0, "", "Zone-specific fault", "No zone has an unexplained failure: every one of the 23 Spot launches that failed has a cause.", "no, each of the 23 has a cause."),
		explain(spotreport.RuledOut, 0, "spot/reclaimed-before-join", "Spot interruptions", "None of the 23 Spot launches that failed was interrupted.", "none of the 23 was interrupted."),
		explain(spotreport.RuledOut, 0, "launch/insufficient-capacity", "No Spot capacity", "None of the 23 Spot launches that failed was refused for capacity.", "none of the 23 was refused for capacity."),
		explain(spotreport.RuledOut, 0, "node/not-registered", "The join time is too short", "None of the 23 Spot launches that failed became Ready later; of those that joined 95 % took at most 2 min 20 s.", "none of the 23 became Ready later; 95 % join within 2 min 20 s."),
	}
	failing.Spot.Change = []string{"Remove r5b.large in us-west-2a from workers-spot."}

	route := spotSummary(pool("m5.large", "us-west-2c", 0, 14, 0, 0), pool("c5.large", "us-west-2c", 1, 9, 0, 0), pool("m5.large", "us-west-2a", 90, 0, 0, 0), pool("c5.large", "us-west-2b", 81, 0, 0, 0), onDemand(12))
	route.Spot.Explanations = []spotreport.Explanation{
		explain(spotreport.Supported, 23, "route/no-egress", "A fault in subnet-0cc1c2d3e4f5a6b7c: route/no-egress", "route/no-egress explains 23 of the 23 Spot launches that failed: all in subnet-0cc1c2d3e4f5a6b7c, where 1 of 24 launches joined.", "23 of the 23 failed there; 1 of 24 launches joined."),
		explain(spotreport.Open, 0, "", "Spot itself", "There is no on-demand launch of the same types on the same days to compare with.", "no on-demand launch to compare with."),
		explain(spotreport.RuledOut, 0, "spot/burst-exceeds-subnet", "The subnet was too small for the burst", "No burst needed more than was free: the largest, of 20 launches, needed 480 addresses, and subnet-0cc1c2d3e4f5a6b7c had 4,091.", "the largest needed 480 of 4,091 addresses."),
		explain(spotreport.RuledOut, 0, "spot/pool-failing", "Bad Spot pool", "None of the 23 Spot launches that failed correlates with its pool.", "none of the 23 correlates with its pool."),
		explain(spotreport.RuledOut, 0, "", "Zone-specific fault", "No zone has an unexplained failure: every one of the 23 Spot launches that failed has a cause.", "no, each of the 23 has a cause."),
		explain(spotreport.RuledOut, 0, "spot/reclaimed-before-join", "Spot interruptions", "None of the 23 Spot launches that failed was interrupted.", "none of the 23 was interrupted."),
		explain(spotreport.RuledOut, 0, "launch/insufficient-capacity", "No Spot capacity", "None of the 23 Spot launches that failed was refused for capacity.", "none of the 23 was refused for capacity."),
		explain(spotreport.RuledOut, 0, "node/not-registered", "The join time is too short", "None of the 23 Spot launches that failed became Ready later; of those that joined 95 % took at most 2 min 20 s.", "none of the 23 became Ready later; 95 % join within 2 min 20 s."),
	}
	route.Spot.Change = []string{"Fix route/no-egress in subnet-0cc1c2d3e4f5a6b7c as its own message describes: it cost 23 launches."}

	well := spotSummary(pool("m5.large", "us-west-2a", 212, 0, 0, 0), pool("c5.large", "us-west-2b", 200, 0, 0, 0))
	well.Slowest = &report.Slowest{Type: "c5.large", Zone: "us-west-2b", Median: 95 * time.Second, Joined: 200}
	almost := spotSummary(pool("m5.large", "us-west-2a", 12, 0, 0, 0))
	almost.Spot.Spot.Requested, almost.Spot.Spot.Open, almost.Spot.Spot.Terminated, almost.Spot.Spot.Unknown = 17, 3, 1, 1
	nothing := spotSummary(pool("", "us-west-2a", 2, 3, 0, 0))
	nothing.Spot.Pools[0].Unknown = 1
	open := spotSummary(pool("m5.large", "us-west-2a", 30, 2, 0, 0))
	open.Spot.Explanations = []spotreport.Explanation{
		explain(spotreport.Open, 2, "spot/pool-failing", "Bad Spot pool", "2 failures could be a pool's own, too few to compare it with the others.", "2 failures could be a pool's own, too few to compare."),
		explain(spotreport.Open, 2, "spot/burst-exceeds-subnet", "The subnet was too small for the burst", "The subnets' free addresses were not recorded for 1 burst with failed launches.", "the subnets' free addresses before 1 burst are unknown."),
	}
	week := burst
	week.Spot.From, week.ID = morning.Add(-7*24*time.Hour), "spot/prod/asked/1"

	hostile := burst
	hostile.Cluster = "<!channel> *prod* \u202eprod"
	hostile.Spot.Pools = []spotreport.Pool{pool("<@U1>`x`", "\x00zone\n\nx", 1, 9, 0, 0)}
	hostile.Spot.Explanations = []spotreport.Explanation{explain(spotreport.Supported, 1, "a|b<c>", "<!here>", strings.Repeat("says ", 300), ""), explain("else", 0, "", "", "", "")}
	hostile.Spot.Change = []string{"", "   ", strings.Repeat("wide ", 500), "`rm -rf`"}
	huge := burst
	huge.Spot.Pools, huge.Spot.Bursts = nil, nil
	for i := range 120 {
		huge.Spot.Pools = append(huge.Spot.Pools, pool(fmt.Sprintf("m5.%dxlarge", i), "us-west-2a", 50, 120-i, i, i%7))
		huge.Spot.Bursts = append(huge.Spot.Bursts, theBurst())
	}
	huge.MorePools = 400
	for i := range 30 {
		huge.Spot.Explanations = append(huge.Spot.Explanations, explain(spotreport.RuledOut, 0, "", fmt.Sprint("explanation ", i), strings.Repeat("numbers ", 40), ""))
	}
	var forty []spotreport.Pool
	for i := range 40 {
		kind := []string{"m5.4xlarge", "c6gd.12xlarge", "r5b.large", "i4i.24xlarge"}[i%4]
		forty = append(forty, pool(kind, "us-west-2"+string(rune('a'+i%3)), 130-3*i, max(12-i, 0), i%3, i%5/3))
	}
	many := spotSummary(forty...)
	many.Spot.Explanations, many.Spot.Change = burst.Spot.Explanations[1:], []string{"Add types: workers-spot has 4 pools."}
	picture := outbox.Picture{File: "F0STAGE0001"}
	return append([]summaryScene{
		{"burst", burst, baseLine(burstSubnet, 251, theBurst()), picture},
		{"burst-without-picture", burst, nil, outbox.Picture{Missing: "the Slack app lacks the scope files:write; add it and install the app again"}},
		{"reclaimed", reclaimed, baseLine(burstSubnet, 251), picture},
		{"failing-pool", failing, baseLine(burstSubnet, 251), picture},
		{"route", route, baseLine("subnet-0cc1c2d3e4f5a6b7c", 4091), picture},
		{"all-well", well, nil, outbox.Picture{}},
		{"none-failed", almost, nil, outbox.Picture{}},
		{"nothing-known", nothing, nil, picture},
		{"open", open, nil, picture},
		{"week", week, nil, picture},
		{"hostile", hostile, nil, picture},
		{"40-pools", many, nil, picture},
		{"huge", huge, nil, picture},
	}, append(cleanupScenes(), weeklyScenes()...)...)
}
