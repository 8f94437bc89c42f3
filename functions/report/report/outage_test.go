package report

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/local/fakeslack"
	"rollcall/local/testfull"
)

// story is what a reader sees of one incident: its message and its thread,
// without times.
type story struct {
	text  string
	notes []string
}

// read is the channel by cluster, in the order of the messages.
func (o outage) read() (stories map[string]story, order map[string][]string, twice int) {
	stories, order = map[string]story{}, map[string][]string{}
	clock := regexp.MustCompile(`"block_id":"[^"]*"|<!date[^>]*>|\d+:\d\d(:\d\d)?|"fallback":"[^"]*"|"timestamp":\d+|\d+ (s|min|h)\b|\b\d{10}(\.\d+)?\b`)
	plain := func(m fakeslack.Message) string { return clock.ReplaceAllString(m.Text+string(m.Blocks), "T") }
	name := regexp.MustCompile(`subnet-[0-9a-f]{17}`)
	cluster := regexp.MustCompile(`cluster-\d\d`)
	for _, m := range o.channel {
		text := m.Text + string(m.Blocks)
		key, of := name.FindString(text), cluster.FindString(text)
		if _, known := stories[key]; known {
			twice++
		}
		st := story{text: plain(m)}
		seen := map[string]bool{}
		for _, r := range m.Replies {
			text := plain(r)
			if seen[text] {
				twice++
			}
			seen[text] = true
			st.notes = append(st.notes, text)
		}
		stories[key] = st
		order[of] = append(order[of], key)
	}
	return stories, order, twice
}

// The page and the number of incidents of "make outage"; a test without them
// plays a smaller one, which takes seconds.
var (
	outagePage   = flag.String("outage.page", "", "write the table into this file")
	outageFaults = flag.Int("outage.faults", testfull.Of(48, 24), "how many incidents open while Slack is away")
)

// Slack is away for an hour while incidents open, change, end and come back:
// afterwards the channel is what it would have been.
func TestOutage(t *testing.T) {
	if testing.Short() {
		t.Skip("it plays hours of many incidents")
	}
	var page []outageRow
	for _, clusters := range []int{6, 1} {
		script := newScript(clusters, *outageFaults)
		as := onSlack(t, script, well)
		page = append(page, as.row(clusters))
		tally := as.tally
		t.Logf("%d clusters, Slack is there: %+v", clusters, tally)
		if tally.Unseen > 0 {
			t.Errorf("%d clusters: %d edits show nothing new", clusters, tally.Unseen)
		}
		want, order, _ := as.read()
		if len(want) != *outageFaults {
			t.Errorf("%d messages while Slack is well, want %d", len(want), *outageFaults)
		}
		for _, how := range []away{noDoor, errors5xx, waits} {
			o := onSlack(t, script, how)
			page = append(page, o.row(clusters))
			// An edit whose answer was lost is made again.
			tally := o.tally
			t.Logf("%d clusters, %s: %+v", clusters, how, tally)
			if tally.Unseen > 0 && how != errors5xx {
				t.Errorf("%d clusters, %s: %d edits show nothing new", clusters, how, tally.Unseen)
			}
			got, gotOrder, twice := o.read()
			if twice > 0 || o.lost > 0 {
				t.Errorf("%d clusters, %s: %d said twice, %d lost", clusters, how, twice, o.lost)
			}
			wrong := 0
			for key, st := range want {
				if diff := cmp.Diff(st, got[key], cmp.AllowUnexported(story{})); diff != "" {
					if wrong++; wrong == 1 {
						t.Errorf("%d clusters, %s: %s (-well +got):\n%s", clusters, how, key, clip(diff))
					}
				}
			}
			if wrong > 0 {
				t.Errorf("%d clusters, %s: %d of %d are told otherwise", clusters, how, wrong, len(want))
			}
			if diff := cmp.Diff(order, gotOrder); diff != "" {
				t.Errorf("%d clusters, %s: the order (-well +got):\n%s", clusters, how, clip(diff))
			}
			// Slack takes one message a second: twice the time of what was unsaid is
			// all that searches, edits and waiting may cost.
			backlog := time.Duration(len(want)+o.counts["SlackNotes"]) * time.Second
			if o.drained > 2*backlog+outageSweep+lambdaTime {
				t.Errorf("%d clusters, %s: it took %s to say what %s would do for", clusters, how, o.drained, backlog)
			}
		}
	}
	if *outagePage == "" {
		return
	}
	// What the stage measured stands below, and is the stage's.
	old, err := os.ReadFile(*outagePage)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	text := pageOf(page, *outageFaults)
	if i := strings.Index(string(old), "\n## "); i >= 0 {
		text += string(old[i:])
	}
	if err := os.WriteFile(*outagePage, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// onSlack plays a script on a Slack of its own, with Slack's limits.
func onSlack(t *testing.T, script outageScript, how away) (o outage) {
	t.Helper()
	stand, err := fakeslack.New(fakeslack.Config{
		Token: "xoxb-1", Channels: []fakeslack.Channel{{ID: "C0123456789", Name: "alerts"}}, Now: time.Now, Wall: time.Now,
		Limits: fakeslack.Limits{PostsPerSecond: 1, PostBurst: 3, UpdatesPerMinute: 50, UpdateBurst: 5},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := stand.Close(); err != nil {
			t.Error(err)
		}
	}()
	synctest.Test(t, func(t *testing.T) { o = play(t, script, how, stand) })
	o.how = how
	return o
}

func clip(s string) string {
	lines := strings.Split(s, "\n")
	return strings.Join(lines[:min(len(lines), 40)], "\n")
}
